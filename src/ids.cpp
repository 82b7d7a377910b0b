#include "flow/ids.hpp"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <memory>

namespace flow {
namespace {

constexpr std::string_view hex = "0123456789abcdef";

void append_hex(std::string& out, std::uint8_t byte)
{
    out += hex[byte >> 4];
    out += hex[byte & 15];
}

int value_of(char digit) noexcept
{
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

bool dash_before(std::size_t byte) noexcept { return byte == 4 || byte == 6 || byte == 8 || byte == 10; }

/// Fetching the algorithm and making a context cost three times as much as a short hash itself: once a process, once a
/// thread (OpenSSL 3.0).
struct sha256_context {
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context{EVP_MD_CTX_new(), &EVP_MD_CTX_free};

    bool hash(std::string_view bytes, digest& into) noexcept
    {
        static EVP_MD const* const algorithm = EVP_MD_fetch(nullptr, "SHA256", nullptr);
        return context && algorithm && EVP_DigestInit_ex2(context.get(), algorithm, nullptr) == 1 &&
               EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1 &&
               EVP_DigestFinal_ex(context.get(), into.bytes.data(), nullptr) == 1;
    }
};

}  // namespace

std::string to_string(uuid const& id)
{
    std::string out;
    out.reserve(36);
    for (std::size_t i = 0; i < id.bytes.size(); ++i) {
        if (dash_before(i)) out += '-';
        append_hex(out, id.bytes[i]);
    }
    return out;
}

std::optional<uuid> parse_uuid(std::string_view text) noexcept
{
    if (text.size() != 36) return std::nullopt;
    uuid id;
    std::size_t at = 0;
    for (std::size_t i = 0; i < id.bytes.size(); ++i) {
        if (dash_before(i) && text[at++] != '-') return std::nullopt;
        int const high = value_of(text[at]), low = value_of(text[at + 1]);
        if (high < 0 || low < 0) return std::nullopt;
        id.bytes[i] = static_cast<std::uint8_t>(high << 4 | low);
        at += 2;
    }
    return id;
}

std::string to_string(digest const& d)
{
    std::string out;
    out.reserve(64);
    for (auto const byte : d.bytes) append_hex(out, byte);
    return out;
}

digest sha256(std::string_view bytes)
{
    thread_local sha256_context context;
    digest d;
    // Without a provider that can be fetched (a hardened configuration), the function that OpenSSL has compiled in.
    if (!context.hash(bytes, d)) SHA256(reinterpret_cast<unsigned char const*>(bytes.data()), bytes.size(), d.bytes.data());
    return d;
}

}  // namespace flow
