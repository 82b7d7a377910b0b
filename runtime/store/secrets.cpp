#include "runtime/store/secrets.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "flow/error.hpp"

namespace flow::store_detail {

namespace {

int value_of(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return -1;
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

digest fingerprint(store_key const& key)
{
    return sha256(std::string_view(reinterpret_cast<char const*>(key.data()), key.size()));
}

std::string secret_of(store_key const& key, waitpoint_id id)
{
    digest out;
    unsigned size = 0;
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), id.value.bytes.data(), id.value.bytes.size(),
         out.bytes.data(), &size);
    return to_string(out);
}

}  // namespace flow::store_detail
