#include "flow/publish.hpp"

#include "src/names.hpp"
#include "src/room.hpp"

namespace flow::detail {

publish_operation::publish_operation(name key, std::string value, std::string_view shape)
    : key_(std::move(key)), value_(std::move(value)), shape_(shape)
{
    check_name(key_.view());
}

bool publish_operation::start(scope& s, continuation& c) { return proceed(s, c, s.next(key_.view())); }

bool publish_operation::proceed(scope& s, continuation& c, position at)
{
    auto& r = s.owner();
    std::span<journal_entry const* const> entries;
    auto const what = r.find(s, c, at, {entry_kind::published, key_.view(), effect::none, {}, shape_}, *this, entries);
    if (what == run::found::stopped) return false;
    if (what == run::found::finished) return true;
    if (what == run::found::recorded) {
        r.consumed(at);
        return true;
    }
    if (!r.go_live()) return false;
    if (value_.size() > r.settings().max_payload) {
        fail(error(errc::payload_too_large, "publish \"" + printable(key_.view(), 256) + "\" was given " + std::to_string(value_.size()) +
                                                " bytes; the limit is " + std::to_string(r.settings().max_payload)));
        return true;
    }
    if (r.window_full()) {
        live = pending_ptr(new waits_for_room(*this, key_.view(), s, c, at, [this, &r, at] { write(r, at, true); }));
        return false;
    }
    write(r, at, false);
    return true;
}

void publish_operation::write(run& r, position const& at, bool late)
{
    auto e = r.make(entry_kind::published, at);
    e.attempt = late ? 1 : 0;  // replay must know that it was not there at once
    e.name = key_.view();
    e.shape_out = shape_;
    e.encoding = encoding::json;
    e.payload = std::move(value_);
    r.append(std::move(e));
    r.submit();
}

}  // namespace flow::detail
