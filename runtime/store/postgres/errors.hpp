// PostgreSQL's error classes as flow's (protocol P9).
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "flow/error.hpp"

namespace flow::postgres_detail {

/// What the server answered, or that it did not. Thrown inside the store only; database.cpp turns it into a flow::error.
struct failure : std::runtime_error {
    failure(std::string state, bool lost, std::string const& message)
        : std::runtime_error(message), sqlstate(std::move(state)), connection_lost(lost)
    {
    }
    std::string sqlstate;  ///< five characters; "" where the server said nothing
    bool connection_lost;
};

/// The caller broke the store's contract, or asks for what cannot be: becomes the flow::error it names.
struct refusal : std::runtime_error {
    refusal(errc c, std::string const& message) : std::runtime_error(message), code(c) {}
    errc code;
};

errc code_of(failure const& f) noexcept;

/// Others were in the way and the server undid the transaction: the same again may well pass.
bool is_collision(failure const& f) noexcept;

/// "postgres:work/flow: deadlock detected (SQLSTATE 40P01)"
error error_of(std::string const& store, failure const& f);

}  // namespace flow::postgres_detail
