// A coroutine type that is not ours.
#pragma once

#include <coroutine>

struct plain_task {
    struct promise_type {
        plain_task get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
};
