#include "src/payloads.hpp"

#include "flow/codec.hpp"

namespace flow::detail {

failure_payload to_payload(error_detail const& e)
{
    return {std::string(row_of(e.code).name), e.tag, e.message, e.place, e.attempts, {}, {}, {}};
}

error_detail from_payload(failure_payload const& p)
{
    auto code = errc::step_failed;
    for (auto const& row : errors)
        if (row.name == p.code) code = row.code;
    return {code, p.tag, p.message, p.place, p.attempts};
}

template <class T>
std::string write_payload(T const& p)
{
    std::string text;
    encode(encoding::json, p, text);
    return text;
}

template <class T>
std::optional<T> read_payload(std::string_view text)
{
    T p;
    if (!decode(encoding::json, text, p)) return std::nullopt;
    return p;
}

template std::string write_payload(failure_payload const&);
template std::string write_payload(wait_payload const&);
template std::string write_payload(child_payload const&);
template std::string write_payload(resource_payload const&);
template std::string write_payload(intervention_payload const&);
template std::string write_payload(decision_payload const&);
template std::string write_payload(due_payload const&);
template std::string write_payload(look_payload const&);
template std::string write_payload(begun_payload const&);
template std::string write_payload(void_payload const&);
template std::optional<failure_payload> read_payload(std::string_view);
template std::optional<wait_payload> read_payload(std::string_view);
template std::optional<child_payload> read_payload(std::string_view);
template std::optional<resource_payload> read_payload(std::string_view);
template std::optional<intervention_payload> read_payload(std::string_view);
template std::optional<decision_payload> read_payload(std::string_view);
template std::optional<due_payload> read_payload(std::string_view);
template std::optional<look_payload> read_payload(std::string_view);
template std::optional<begun_payload> read_payload(std::string_view);

}  // namespace flow::detail
