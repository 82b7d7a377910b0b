// Questions to people, as a client answers them.
#include <algorithm>

#include "flow/client.hpp"
#include "runtime/engine/client_core.hpp"
#include "src/asking.hpp"
#include "src/names.hpp"
#include "src/question_secrets.hpp"

namespace flow {

namespace {

digest read_digest(std::string_view hex)
{
    digest d;
    auto const digit = [](char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; };
    bool good = hex.size() == 2 * d.bytes.size();
    for (std::size_t i = 0; good && i < d.bytes.size(); ++i) {
        auto const high = digit(hex[2 * i]), low = digit(hex[2 * i + 1]);
        good = high >= 0 && low >= 0;
        d.bytes[i] = static_cast<std::uint8_t>(high * 16 + low);
    }
    if (!good) throw error(errc::bad_argument, "`about` is a SHA-256 as it was shown: 64 hexadecimal digits");
    return d;
}

[[noreturn]] void refuse(waitpoint_row const* row, response const& r, response_answer why)
{
    auto const about = row ? row->place + " of run " + to_string(row->run) : std::string();
    switch (why) {
    case response_answer::not_asked: throw error(errc::not_asked, r.by + " is none of those whom " + about + " asks");
    case response_answer::already_other: throw error(errc::token_conflict, r.by + " answered " + about + " otherwise before");
    case response_answer::decided_before: throw error(errc::token_conflict, about + " was decided before, by " + row->by);
    case response_answer::timed_out: throw error(errc::token_ended, about + " was not decided in time: it takes no answer any more");
    case response_answer::withdrawn: throw error(errc::token_ended, about + " was withdrawn: its run does not ask any more");
    case response_answer::other_arguments: throw error(errc::bad_argument, about + " is about something else than you saw: look at it again");
    case response_answer::not_a_choice:
        throw error(errc::wrong_shape, !r.approves ? "who rejects gives no value" : about + (row->shape == "void" ? " takes no value" : " wants a value: " + row->shape));
    default: break;
    }
    // One error for all who show a secret: failures do not tell what exists (P61).
    throw error(errc::unknown_request, r.secret_hash ? "no such question, or not its secret" : "no question " + to_string(r.to) + " in this store");
}

struct asked_question {
    waitpoint_row row;
    question_terms terms;
};
/// What a question was asked with does not change: what is read here holds.
std::optional<asked_question> find_question(store& s, waitpoint_id id)
{
    auto row = s.waitpoint(id).value();
    auto terms = row && row->purpose == waitpoint_purpose::approval ? detail::read_terms(row->options) : std::nullopt;
    if (!terms) return std::nullopt;
    return asked_question{*std::move(row), *std::move(terms)};
}

}  // namespace

responded client::respond(waitpoint_id which, bool approves, respond_options o)
{
    response r;
    r.to = which;
    r.approves = approves;
    r.by = o.by.empty() ? core()->by : std::string(o.by);
    if (o.secret) {
        r.secret_hash = sha256(*o.secret);
        auto const q = find_question(data(), which);
        auto const who = q ? detail::shown_by(q->row, q->terms, *r.secret_hash, r.by) : std::nullopt;
        if (!who || (!o.by.empty() && *who != o.by)) refuse(nullptr, r, response_answer::wrong_secret);
        r.by = *who;
    }
    if (!o.value.empty()) r.value = detail::compact_json(o.value).value();
    r.why = o.why;
    if (!o.about.empty()) r.about = read_digest(o.about);
    r.at = core()->time().now();
    auto const told = core()->insist([&] { return data().respond(r); }).value();
    switch (told.answer) {
    case response_answer::decided:
    case response_answer::counted:
    case response_answer::already_same: break;
    case response_answer::unknown:
    case response_answer::wrong_secret: refuse(nullptr, r, told.answer);
    default: {
        auto const row = data().waitpoint(which).value();
        refuse(row ? &*row : nullptr, r, told.answer);
    }
    }
    core()->look();
    return told;
}

std::vector<open_wait> client::questions_for(std::string_view who, std::size_t limit)
{
    waitpoint_filter open;
    open.status = waitpoint_status::pending;
    open.purpose = waitpoint_purpose::approval;
    open.limit = 10'000;  // those of others are passed over here
    auto const now = core()->time().now();
    std::vector<open_wait> out;
    for (auto& row : waitpoints(open)) {
        if (out.size() >= limit) break;
        auto w = detail::as_open_wait(std::move(row));
        auto asked = w.asks ? detail::asked_at(*w.asks, now) : std::vector<std::string>{};
        if (!who.empty() && !asked.empty() && std::find(asked.begin(), asked.end(), who) == asked.end()) continue;
        if (w.asks) {
            w.asks->channel = detail::channel_at(*w.asks, now);
            w.asks->assignees = std::move(asked);
        }
        out.push_back(std::move(w));
    }
    return out;
}

std::vector<response> client::responses(waitpoint_id which) { return data().reader().responses(which).value(); }

token_secret client::secret_for(waitpoint_id question, std::string_view person)
{
    auto const q = find_question(data(), question);
    if (!q) throw error(errc::unknown_request, "no question " + to_string(question) + " in this store");
    auto const about = q->row.place + " of run " + to_string(q->row.run);
    auto const asked = detail::asked_at(q->terms, never);
    if (!detail::has_secrets(q->row, q->terms)) throw error(errc::usage, about + " was asked without secrets: flow::question(...).secrets()");
    if (!asked.empty() && std::find(asked.begin(), asked.end(), person) == asked.end())
        throw error(errc::not_asked, person.empty() ? about + " has a secret for each person it asks: say for whom"
                                                    : detail::printable(person, 100) + " is none of those whom " + about + " asks");
    auto secret = data().secret_of(question).value();
    return token_secret(asked.empty() ? std::move(secret) : detail::secret_of_person(secret, person));
}

}  // namespace flow
