#include "flow/journal.hpp"

#include <algorithm>
#include <vector>
#include <bit>
#include <concepts>
#include <cstring>

#include <xxhash.h>

namespace flow {

std::string_view to_string(entry_kind k) noexcept
{
    switch (k) {
    case entry_kind::start: return "start";
    case entry_kind::snapshot: return "snapshot";
    case entry_kind::intent: return "intent";
    case entry_kind::started: return "started";
    case entry_kind::attempt_failed: return "attempt_failed";
    case entry_kind::step: return "step";
    case entry_kind::step_failed: return "step_failed";
    case entry_kind::step_skipped: return "step_skipped";
    case entry_kind::returned: return "returned";
    case entry_kind::value: return "value";
    case entry_kind::sleep: return "sleep";
    case entry_kind::woken: return "woken";
    case entry_kind::token: return "token";
    case entry_kind::wait: return "wait";
    case entry_kind::waited: return "waited";
    case entry_kind::wait_failed: return "wait_failed";
    case entry_kind::intervention: return "intervention";
    case entry_kind::decision: return "decision";
    case entry_kind::request: return "request";
    case entry_kind::cancel_delivered: return "cancel_delivered";
    case entry_kind::recovered: return "recovered";
    case entry_kind::healed: return "healed";
    case entry_kind::void_: return "void";
    case entry_kind::override_: return "override";
    case entry_kind::abandoned: return "abandoned";
    case entry_kind::result: return "result";
    case entry_kind::failure: return "failure";
    case entry_kind::group: return "group";
    case entry_kind::patch: return "patch";
    case entry_kind::checkpoint: return "checkpoint";
    case entry_kind::continued: return "continued";
    case entry_kind::child: return "child";
    case entry_kind::child_ended: return "child_ended";
    case entry_kind::published: return "published";
    case entry_kind::phase: return "phase";
    case entry_kind::sent: return "sent";
    case entry_kind::event: return "event";
    case entry_kind::budget: return "budget";
    case entry_kind::evidence: return "evidence";
    case entry_kind::fact: return "fact";
    case entry_kind::plan: return "plan";
    case entry_kind::resource: return "resource";
    }
    return "?";  // a number written by a newer flow
}

std::string_view to_string(effect e) noexcept
{
    switch (e) {
    case effect::none: return "none";
    case effect::replayable: return "replayable";
    case effect::idempotent: return "idempotent";
    case effect::non_replayable: return "non_replayable";
    }
    return "?";
}

std::string_view to_string(encoding e) noexcept
{
    switch (e) {
    case encoding::none: return "none";
    case encoding::json: return "json";
    case encoding::binary: return "binary";
    case encoding::bytes: return "bytes";
    }
    return "?";
}

namespace {

// The encoding of docs/reference/journal_format.md, "Checksum": integers little-endian, texts behind their length.
/// The columns one after another, little-endian, texts behind their length. Written by pointer into a buffer that is large enough
/// from the start: this runs once for every entry written or read.
class checksum_text {
public:
    explicit checksum_text(std::size_t size)
    {
        if (buffer().size() < size) buffer().resize(size);
        at_ = buffer().data();
    }
    template <std::integral T>
    void number(T value)
    {
        if constexpr (std::endian::native == std::endian::big) {
            auto const bits = static_cast<std::uint64_t>(value);
            for (std::size_t i = 0; i < sizeof(T); ++i) *at_++ = static_cast<char>((bits >> (8 * i)) & 0xff);
        } else {
            std::memcpy(at_, &value, sizeof value);
            at_ += sizeof value;
        }
    }
    void text(std::string_view value)
    {
        number(static_cast<std::uint32_t>(value.size()));
        at_ = std::copy(value.begin(), value.end(), at_);
    }
    template <std::size_t N>
    void raw(std::array<std::uint8_t, N> const& value)
    {
        std::memcpy(at_, value.data(), N);
        at_ += N;
    }
    std::uint64_t hash() const { return XXH3_64bits(buffer().data(), static_cast<std::size_t>(at_ - buffer().data())); }

private:
    static std::vector<char>& buffer()
    {
        thread_local std::vector<char> bytes(1024);
        return bytes;
    }
    char* at_;
};

}  // namespace

std::uint64_t checksum_of(journal_entry const& e, run_id run)
{
    constexpr std::size_t numbers_and_lengths = 256;  // more than all fixed columns together
    checksum_text t(numbers_and_lengths + e.path.size() + e.place.size() + e.name.size() + e.shape_in.size() + e.shape_out.size() +
                    e.commit_ref.size() + e.by.size() + e.why.size());
    t.raw(run.value.bytes);
    t.number(static_cast<std::int64_t>(e.seq));
    t.number(static_cast<std::int64_t>(e.epoch));
    t.number(e.segment);
    t.number(static_cast<std::uint8_t>(e.kind));
    t.text(e.path);
    t.text(e.place);
    t.text(e.name);
    t.number(static_cast<std::uint8_t>(e.cls));
    t.number(e.attempt);
    t.text(e.shape_in);
    t.text(e.shape_out);
    t.number(static_cast<std::uint8_t>(e.encoding));
    t.number(static_cast<std::uint8_t>(e.in_blob));
    t.raw(e.hash.bytes);
    t.raw(e.input_hash.bytes);
    t.text(e.commit_ref);
    t.text(e.by);
    t.text(e.why);
    t.number(static_cast<std::int64_t>(e.at.time_since_epoch().count()));
    return t.hash();
}

void seal(journal_entry& e, run_id run)
{
    e.hash = e.encoding == encoding::none ? digest{} : sha256(e.payload);
    e.checksum = checksum_of(e, run);
}

}  // namespace flow
