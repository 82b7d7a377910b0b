#include "flow/token.hpp"

#include "src/names.hpp"
#include "src/pending.hpp"
#include "src/wait_policy.hpp"
#include "src/waits.hpp"

namespace flow::detail {

outcome<void> make_token_base::accept(encoding, std::string_view payload)
{
    auto const id = payload.size() > 2 ? parse_uuid(payload.substr(1, payload.size() - 2)) : std::nullopt;
    if (!id) return error(errc::undecodable, "expected a token's id");
    id_ = waitpoint_id{*id};
    return {};
}

bool make_token_base::start(scope& s, continuation& c)
{
    // Before the position is taken: what is refused here leaves no trace in the run.
    auto const* under_key = s.owner().find_keyed(options_.idempotency_key);
    if (under_key && under_key->answer != answer_()) {
        fail(error(errc::usage, "the idempotency key \"" + printable(options_.idempotency_key, 100) + "\" was used for a token of " +
                                    under_key->answer + "; this one is of " + std::string(answer_())));
        return true;
    }
    return proceed(s, c, s.next(name_.view()));
}

bool make_token_base::proceed(scope& s, continuation& c, position at)
{
    auto& r = s.owner();
    auto const* under_key = r.find_keyed(options_.idempotency_key);
    std::span<journal_entry const* const> entries;
    auto const what = r.find(s, c, at, {entry_kind::token, name_.view(), effect::none, {}, answer_()}, *this, entries);
    if (what == run::found::stopped) return false;
    if (what == run::found::finished) return true;
    if (what == run::found::recorded) {
        auto const& e = *entries.back();
        auto const text = r.intact_payload(e);
        if (!text || !accept(encoding::json, *text)) {
            r.hold("corrupt", "the recorded token at " + at.place + " is damaged (payload)");
            return false;
        }
        is_cached_ = under_key && under_key->id == id_;
        if (!is_cached_) keep_key(r, e.at);
        r.consumed(at);
        return true;
    }
    if (!r.go_live()) return false;
    if (under_key && r.now() < under_key->until) {
        id_ = under_key->id;
        is_cached_ = true;
    } else if (!make(r, at)) {
        return false;
    }
    auto e = r.make(entry_kind::token, at);
    e.name = name_.view();
    e.shape_out = answer_();
    e.payload = '"' + to_string(id_) + '"';
    e.encoding = encoding::json;
    if (!is_cached_) keep_key(r, r.now());
    r.append(std::move(e));
    r.submit();
    return true;
}

void make_token_base::keep_key(run& r, time_point made_at) const
{
    if (!options_.idempotency_key.empty())
        r.keep_keyed(options_.idempotency_key, {id_, limit_from(made_at, options_.idempotency_key_ttl), std::string(answer_())});
}

bool make_token_base::make(run& r, position const& at)
{
    uuid id;
    r.hosted_by().fill_random(id.bytes);
    id_ = waitpoint_id{id};
    auto const secret = r.secret_of(id_);
    if (!secret) return false;
    auto row = token_row(r.row().id, id_, at, name_.view(), answer_(), options_.strict, r.now());
    row.secret_hash = sha256(*secret);
    row.due_at = limit_from(r.now(), options_.lifetime);
    // The place tells it from an older one whose key no longer counts.
    if (!options_.idempotency_key.empty()) {
        auto const segment = r.segment() == 0 ? std::string() : std::to_string(r.segment()) + '/';
        row.idempotency_key = std::string(options_.idempotency_key) + '@' + segment + at.place;
    }
    r.remember_token(id_, {row.due_at, at.place});
    r.add(insert_waitpoint{std::move(row)});
    return true;
}

}  // namespace flow::detail
