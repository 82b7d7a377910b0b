#include "runtime/store/postgres/key.hpp"

#include <cstdlib>

#include "flow/error.hpp"
#include "runtime/store/key_file.hpp"

namespace flow::postgres_detail {

namespace {

constexpr auto variable = "FLOW_STORE_KEY";

std::optional<store_detail::store_key> from_environment()
{
    auto const* const value = std::getenv(variable);
    if (!value || !*value) return std::nullopt;
    auto key = store_detail::parse_key(value);
    if (!key) throw error(errc::store_key, std::string(variable) + " does not hold 64 hexadecimal digits");
    return key;
}

}  // namespace

std::optional<digest> first_fingerprint(std::string const& key_file)
{
    if (!key_file.empty()) return store_detail::make_key(key_file);
    auto const key = from_environment();
    return key ? std::optional(store_detail::fingerprint(*key)) : std::nullopt;
}

store_detail::store_key find_key(std::string const& key_file)
{
    if (!key_file.empty()) return store_detail::read_key(key_file);
    if (auto const key = from_environment()) return *key;
    throw error(errc::store_key, std::string("no store key: name postgres_options::key_file, or set ") + variable);
}

}  // namespace flow::postgres_detail
