#include "flow/values.hpp"

#include <charconv>
#include <functional>
#include <utility>

#include "src/room.hpp"

namespace flow::detail {

namespace {
std::string_view name_of(drawn what)
{
    return what == drawn::now ? "now" : what == drawn::uuid ? "uuid" : "random";
}
}  // namespace

void check_range(bool ok)
{
    if (!ok) throw error(errc::bad_argument, "random(low, high) needs low <= high, both finite");
}

std::string_view value_base::shape() const
{
    return what_ == drawn::now ? "time" : what_ == drawn::uuid ? "uuid" : "u64";
}

outcome<void> value_base::accept(encoding, std::string_view text)
{
    if (what_ == drawn::uuid) {
        if (text.size() < 2) return error(errc::undecodable, "expected a UUID");
        auto const id = parse_uuid(text.substr(1, text.size() - 2));
        if (!id) return error(errc::undecodable, "expected a UUID");
        whole_ = *id;
        return {};
    }
    std::int64_t number = 0;
    auto const [end, failure] = what_ == drawn::now ? std::from_chars(text.data(), text.data() + text.size(), number)
                                                    : std::from_chars(text.data(), text.data() + text.size(), low_);
    if (failure != std::errc{} || end != text.data() + text.size()) return error(errc::undecodable, "expected a number");
    if (what_ == drawn::now) low_ = static_cast<std::uint64_t>(number);
    return {};
}

bool value_base::start(scope& s, continuation& c) { return proceed(s, c, s.next(name_of(what_))); }

bool value_base::proceed(scope& s, continuation& c, position at)
{
    auto& r = s.owner();
    auto const limits = bounds();
    std::span<journal_entry const* const> entries;
    auto const what = r.find(s, c, at, {entry_kind::value, name_of(what_), effect::none, limits, shape()}, *this, entries);
    if (what == run::found::stopped) return false;
    if (what == run::found::finished) return true;
    if (what == run::found::recorded) {
        auto const text = r.intact_payload(*entries.back());
        if (auto const ok = text ? accept(encoding::json, *text) : outcome<void>(error(errc::journal_corrupt, "hash")); !ok) {
            r.hold("corrupt", "the recorded " + std::string(name_of(what_)) + " at " + at.place + " (entry " +
                                  std::to_string(static_cast<std::int64_t>(entries.back()->seq)) + ") is damaged (payload)");
            return false;
        }
        r.consumed(at);
        return true;
    }
    if (!r.go_live()) return false;
    if (r.window_full()) {
        live = pending_ptr(new waits_for_room(*this, name_of(what_), s, c, at, [this, &r, at] { draw(r, at, true); }));
        return false;
    }
    draw(r, at, false);
    return true;
}

void value_base::draw(run& r, position const& at, bool late)
{
    auto e = r.make(entry_kind::value, at);
    e.attempt = late ? 1 : 0;  // replay must know that it was not there at once
    e.name = name_of(what_);
    e.shape_in = bounds();
    e.shape_out = shape();
    e.encoding = encoding::json;
    if (what_ == drawn::now) {
        auto const count = r.now().time_since_epoch().count();
        low_ = static_cast<std::uint64_t>(count);
        e.payload = std::to_string(count);
    } else if (what_ == drawn::uuid) {
        whole_ = r.draw_uuid();
        e.payload = '"' + to_string(whole_) + '"';
    } else {
        std::uint8_t bytes[8];
        r.hosted_by().fill_random(bytes);
        low_ = 0;
        for (auto b : bytes) low_ = low_ << 8 | b;
        e.payload = std::to_string(low_);
    }
    r.append(std::move(e));
    r.submit();
}

}  // namespace flow::detail
