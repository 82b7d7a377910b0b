#include "runtime/store/postgres/errors.hpp"

namespace flow::postgres_detail {

errc code_of(failure const& f) noexcept
{
    std::string_view const state = f.sqlstate;
    auto const is_in = [&](std::string_view prefix) { return state.starts_with(prefix); };
    if (f.connection_lost || state.empty()) return errc::store_unavailable;
    if (is_in("40") || state == "55P03" || state == "57014") return errc::store_busy;
    if (state == "53100") return errc::store_full;
    if (is_in("08") || is_in("53") || is_in("57") || is_in("58") || is_in("28") || is_in("3D") || is_in("25P0"))
        return errc::store_unavailable;
    if (is_in("25") || state == "42501") return errc::store_read_only;
    // Every statement is ours: a table or column that is not there was taken away by somebody else.
    if (is_in("42") || is_in("3F") || is_in("XX001") || is_in("XX002")) return errc::store_corrupt;
    if (is_in("54")) return errc::payload_too_large;
    if (is_in("22") || is_in("23")) return errc::usage;
    return errc::store_unavailable;
}

bool is_collision(failure const& f) noexcept { return !f.connection_lost && f.sqlstate.starts_with("40"); }

error error_of(std::string const& store, failure const& f)
{
    std::string message = f.what();
    while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
    if (!f.sqlstate.empty()) message += " (SQLSTATE " + f.sqlstate + ")";
    return error(code_of(f), store + ": " + message);
}

}  // namespace flow::postgres_detail
