// Identifiers: each its own type, so that one cannot be passed where another is meant.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace flow {

/// 128 bits, printed as `0190f5c0-…` (RFC 9562). All zero means "none".
struct uuid {
    std::array<std::uint8_t, 16> bytes{};

    bool is_nil() const noexcept { return *this == uuid{}; }
    friend auto operator<=>(uuid const&, uuid const&) = default;
};

std::string to_string(uuid const& id);

/// Reads the printed form, upper or lower case. Nothing else is accepted, no braces, no missing dashes.
std::optional<uuid> parse_uuid(std::string_view text) noexcept;

/// Sixteen random bytes with the version and variant bits of RFC 9562, version 4.
constexpr uuid as_uuid4(uuid random) noexcept
{
    random.bytes[6] = static_cast<std::uint8_t>((random.bytes[6] & 0x0F) | 0x40);
    random.bytes[8] = static_cast<std::uint8_t>((random.bytes[8] & 0x3F) | 0x80);
    return random;
}

/// A run, from outside: a UUIDv7, so ids sort by the time they were made. A child's is derived from where its parent started it (version 8).
struct run_id {
    uuid value;
    friend auto operator<=>(run_id const&, run_id const&) = default;
};

/// A waitpoint: for a token 128 random bits, unguessable (protocol P39).
struct waitpoint_id {
    uuid value;
    friend auto operator<=>(waitpoint_id const&, waitpoint_id const&) = default;
};

/// A request to a run (cancel, resume, …), chosen by who asks before the first try: asking twice finds it (P4).
struct request_id {
    uuid value;
    friend auto operator<=>(request_id const&, request_id const&) = default;
};

/// Something that happened outside, named by who tells of it: told again under one id, it happened once.
struct event_id {
    uuid value;
    friend auto operator<=>(event_id const&, event_id const&) = default;
};

inline std::string to_string(run_id id) { return to_string(id.value); }
inline std::string to_string(waitpoint_id id) { return to_string(id.value); }
inline std::string to_string(request_id id) { return to_string(id.value); }
inline std::string to_string(event_id id) { return to_string(id.value); }

/// An engine's number in one store. Never used twice there; 0 means nobody.
enum class owner_id : std::int64_t { nobody = 0 };

/// Rises at each claim, release and end of a run; a write with an older one is refused (P6).
enum class epoch_no : std::int64_t {};

/// Position in a run's journal, from 1, without gaps.
enum class seq_no : std::int64_t { none = 0 };

constexpr seq_no next(seq_no s) noexcept { return seq_no{static_cast<std::int64_t>(s) + 1}; }
constexpr epoch_no next(epoch_no e) noexcept { return epoch_no{static_cast<std::int64_t>(e) + 1}; }

/// SHA-256. All zero means "none": no payload hashes to that.
struct digest {
    std::array<std::uint8_t, 32> bytes{};

    bool is_none() const noexcept { return *this == digest{}; }
    friend bool operator==(digest const&, digest const&) = default;
};

/// 64 lower-case hexadecimal digits.
std::string to_string(digest const& d);

/// SHA-256 of some bytes. Any thread.
digest sha256(std::string_view bytes);

}  // namespace flow

#pragma GCC visibility pop
