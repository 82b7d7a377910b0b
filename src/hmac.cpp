#include "src/hmac.hpp"

#include <openssl/evp.h>
#include <openssl/hmac.h>

namespace flow::detail {

digest hmac_sha256(std::string_view key, std::string_view bytes)
{
    digest out;
    unsigned size = 0;
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), reinterpret_cast<unsigned char const*>(bytes.data()), bytes.size(),
         out.bytes.data(), &size);
    return out;
}

}  // namespace flow::detail
