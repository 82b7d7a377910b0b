#include "flow/send.hpp"

#include <algorithm>

#include "src/events.hpp"
#include "src/host.hpp"
#include "src/names.hpp"
#include "src/outside.hpp"

namespace flow::detail {

namespace {

/// The first half of the step's key: the same at every attempt and after every crash (P2).
event_id id_from(std::string_view key)
{
    auto const hash = sha256(key);
    event_id id;
    std::copy_n(hash.bytes.begin(), id.value.bytes.size(), id.value.bytes.begin());
    return id;
}

}  // namespace

delivery_answer sending::operator()(attempt& a) const
{
    auto e = told_to({}, to_);
    e.id = id_from(a.key());
    e.topic = topic_;
    e.payload = json_;
    auto const told = deliver_here(std::move(e));
    switch (told.answer) {
    case delivery_answer::unknown_run: throw permanent_error("no run " + to_string(to_) + " in this store");
    case delivery_answer::run_ended: throw permanent_error("run " + to_string(to_) + " has ended: event \"" + printable(topic_, 256) + "\" was not taken");
    case delivery_answer::conflict: throw permanent_error("event \"" + printable(topic_, 256) + "\" was sent before with another value");
    case delivery_answer::inbox_full: throw not_started("the inbox is full of events \"" + printable(topic_, 256) + "\"");
    default: return told.answer;
    }
}

}  // namespace flow::detail
