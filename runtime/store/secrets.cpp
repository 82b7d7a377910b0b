#include "runtime/store/secrets.hpp"

#include <openssl/rand.h>

#include "flow/error.hpp"
#include "src/hmac.hpp"

namespace flow::store_detail {

namespace {

int value_of(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
}

template <std::size_t N>
std::string_view bytes_of(std::array<std::uint8_t, N> const& a)
{
    return {reinterpret_cast<char const*>(a.data()), a.size()};
}

}  // namespace

store_key random_key()
{
    store_key key;
    if (RAND_priv_bytes(key.data(), static_cast<int>(key.size())) != 1)
        throw error(errc::store_unavailable, "the system gives no random bytes for a store key");
    return key;
}

std::string to_hex(store_key const& key) { return to_string(digest{key}); }

std::optional<store_key> parse_key(std::string_view hex)
{
    store_key key;
    if (hex.size() != 2 * key.size()) return std::nullopt;
    for (std::size_t i = 0; i < key.size(); ++i) {
        int const high = value_of(hex[2 * i]), low = value_of(hex[2 * i + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        key[i] = static_cast<std::uint8_t>(high * 16 + low);
    }
    return key;
}

digest fingerprint(store_key const& key) { return sha256(bytes_of(key)); }

std::string secret_of(store_key const& key, waitpoint_id id)
{
    return to_string(detail::hmac_sha256(bytes_of(key), bytes_of(id.value.bytes)));
}

}  // namespace flow::store_detail
