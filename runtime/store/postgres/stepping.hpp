// Tests only: who sends a thread's statements one at a time, when it is told to.
#pragma once

#include <functional>
#include <string_view>

#pragma GCC visibility push(default)

namespace flow::postgres_detail {

/// Called on the thread that sends, before each statement, `commit` and `rollback` too. `backend`: the session's process on the server.
/// Throws nothing.
using stepper = std::function<void(std::string_view statement, int backend)>;

/// From now on each statement that this thread sends goes in a message of its own, behind a call of `before`; statements of one message
/// are statements of their own on the server too, and others' come between. Null, as at first: nothing is held up.
void step_statements(stepper const* before) noexcept;

}  // namespace flow::postgres_detail

#pragma GCC visibility pop
