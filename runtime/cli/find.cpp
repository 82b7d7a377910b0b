#include "runtime/cli/find.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "flow/store_reader.hpp"
#include "runtime/cli/text.hpp"

namespace flow::cli {

namespace {

constexpr std::string_view key_mark = "key:", schedule_mark = "schedule:";
// The store finds waitpoints by whole ids only; so many it is quick to look through.
constexpr std::size_t most_looked_through = 10'000;

/// The words and codes of the two kinds a person can answer.
struct kind_words {
    errc unknown;
    std::string_view one;
};
kind_words words_of(waitpoint_purpose p)
{
    if (p == waitpoint_purpose::intervention) return {errc::unknown_intervention, "intervention"};
    if (p == waitpoint_purpose::approval) return {errc::unknown_request, "question"};
    return {errc::unknown_token, "token"};
}

std::vector<waitpoint_row> open_of(session const& s, run_id run, waitpoint_purpose purpose)
{
    waitpoint_filter which;
    which.run = run;
    which.status = waitpoint_status::pending;
    which.purpose = purpose;
    return s.on.waitpoints(which);
}

waitpoint_row only_one_of(session const& s, run_id run, waitpoint_purpose purpose)
{
    auto const words = words_of(purpose);
    auto open = open_of(s, run, purpose);
    if (open.size() == 1) return std::move(open.front());
    auto message = "run " + to_string(run) + " has ";
    if (open.empty()) throw error(words.unknown, message + "no open " + std::string(words.one));
    message += counted(open.size(), std::string("open ") + std::string(words.one)) + ", name one of them:";
    for (auto const& w : open) message += " " + w.place + " (" + to_string(w.id) + ")";
    throw error(words.unknown, std::move(message));
}

std::string lower(std::string_view text)
{
    std::string out(text);
    for (auto& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

/// Those whose id begins so. Open ones come before decided ones: about the latter one can only be told that they are decided.
std::vector<waitpoint_row> waitpoints_like(session const& s, std::string_view text, waitpoint_purpose purpose)
{
    auto const prefix = lower(text);
    std::vector<waitpoint_row> found;
    for (bool const open_only : {true, false}) {
        waitpoint_filter which;
        if (open_only) which.status = waitpoint_status::pending;
        which.purpose = purpose;
        which.limit = most_looked_through + 1;
        auto rows = s.on.waitpoints(which);
        if (rows.size() > most_looked_through)
            throw error(words_of(purpose).unknown,
                        "there are too many to find one by the beginning of its id: give the whole id, or its run");
        for (auto& w : rows)
            if (to_string(w.id).starts_with(prefix)) found.push_back(std::move(w));
        if (!found.empty()) break;
    }
    return found;
}

}  // namespace

run_id find_run(session const& s, std::string_view text)
{
    if (text.starts_with(key_mark)) return s.on.find_by_key(text.substr(key_mark.size()), s.asked.tenant).id();
    if (text.starts_with(schedule_mark)) return s.on.schedule_of(text.substr(schedule_mark.size())).run;
    return s.on.find(text).id();
}

waitpoint_row find_waitpoint(session const& s, std::string_view text, waitpoint_purpose purpose)
{
    auto const words = words_of(purpose);
    auto const none = [&] {
        return error(words.unknown, "no " + std::string(words.one) + " and no run " + shown(text, 200) + " in this store");
    };
    if (text.starts_with(key_mark)) return only_one_of(s, find_run(s, text), purpose);
    auto& reader = s.on.data().reader();
    if (auto const whole = parse_uuid(text)) {
        if (auto row = s.on.data().waitpoint(waitpoint_id{*whole}).value(); row && row->purpose == purpose) return *std::move(row);
        if (!s.on.data().run(run_id{*whole}).value()) throw none();
        return only_one_of(s, run_id{*whole}, purpose);
    }
    auto found = text.empty() ? std::vector<waitpoint_row>{} : waitpoints_like(s, text, purpose);
    auto const runs = reader.runs_like(text).value();
    if (found.empty() && runs.empty()) throw none();
    if (found.size() + runs.size() > 1)
        throw error(words.unknown, "more than one " + std::string(words.one) + " or run begins with " + shown(text, 200) +
                                       ": give more of the id");
    return found.empty() ? only_one_of(s, runs.front().id, purpose) : std::move(found.front());
}

namespace {

[[noreturn]] void refuse_time(std::string_view option, std::string_view text)
{
    throw misuse(std::string(option) + ' ' + std::string(text) + ": write 90m, 2h, 3d, 1d12h, 2026-11-30 or 2026-11-30T09:10:34Z");
}

}  // namespace

std::optional<duration> read_length(std::string_view text)
{
    struct unit {
        std::string_view name;
        std::int64_t micros;
    };
    static constexpr unit units[] = {{"s", 1'000'000},     {"min", 60'000'000},   {"m", 60'000'000},
                                     {"h", 3'600'000'000}, {"d", 86'400'000'000}, {"w", 604'800'000'000}};
    std::int64_t total = 0;
    if (text.empty()) return std::nullopt;
    while (!text.empty()) {
        std::int64_t n = 0;
        auto const r = std::from_chars(text.data(), text.data() + text.size(), n);
        if (r.ec != std::errc{} || n < 0) return std::nullopt;
        text.remove_prefix(static_cast<std::size_t>(r.ptr - text.data()));
        auto const u =
            std::find_if(std::begin(units), std::end(units), [&](unit const& x) { return text.starts_with(x.name); });
        if (u == std::end(units)) return std::nullopt;
        text.remove_prefix(u->name.size());
        std::int64_t part = 0;
        if (__builtin_mul_overflow(n, u->micros, &part) || __builtin_add_overflow(total, part, &total)) return std::nullopt;
    }
    return duration(total);
}

time_point read_time(std::string_view option, std::string_view text, time_point now)
{
    if (auto const length = read_length(text)) {
        std::int64_t at = 0;
        if (__builtin_sub_overflow(now.time_since_epoch().count(), length->count(), &at)) refuse_time(option, text);
        return time_point(duration(at));
    }
    std::string whole(text);
    constexpr std::size_t date = 10, offset = 6;  // of "2026-11-30", of "+01:00"
    auto away = duration::zero();
    if (whole.size() == date) {
        whole += "T00:00:00Z";
    } else if (whole.size() > date + offset) {
        auto const tail = whole.substr(whole.size() - offset);
        auto const digits = [&](std::size_t at) {
            int n = -1;
            auto const from = tail.data() + at;
            return std::from_chars(from, from + 2, n).ptr == from + 2 ? n : -1;
        };
        if ((tail[0] == '+' || tail[0] == '-') && tail[3] == ':') {
            auto const hours = digits(1), minutes = digits(4);
            if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) refuse_time(option, text);
            away = std::chrono::hours{hours} + std::chrono::minutes{minutes};
            if (tail[0] == '-') away = -away;
            whole.replace(whole.size() - offset, offset, "Z");
        }
    }
    try {
        return parse_time(whole) - away;
    } catch (error const&) {
        refuse_time(option, text);
    }
}

std::string short_id(session const& s, run_id id)
{
    auto const whole = to_string(id);
    auto& reader = s.on.data().reader();
    // The first eight digits of a run's id are the minute it was started in, thirteen characters the millisecond.
    for (std::size_t const n : {8u, 13u, 15u, 16u, 17u, 18u, 20u, 23u})
        if (reader.runs_like(whole.substr(0, n)).value().size() == 1) return whole.substr(0, n);
    return whole;
}

}  // namespace flow::cli
