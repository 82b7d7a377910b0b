// Where wait policies are kept (docs/decisions/wait-policies.md): each version is a run of the workflow "flow.wait_policies", whose argument is the
// document and whose key, "flow.wait_policies/VERSION", makes it the only one of its number.
#include <algorithm>
#include <tuple>

#include "flow/client.hpp"
#include "flow/store_reader.hpp"
#include "runtime/engine/client_core.hpp"
#include "runtime/engine/held.hpp"
#include "src/names.hpp"
#include "src/wait_policy.hpp"
#include "src/wait_texts.hpp"

namespace flow {

namespace {

using version_arguments = std::tuple<std::string>;

std::string policy_key(std::uint32_t version) { return std::string(detail::policies_workflow) + '/' + std::to_string(version); }

/// wrong_shape, bad_argument and others: this program cannot read it, or it is none.
outcome<stored_wait_policies> read_version(store& data, run_row const& row, std::uint32_t version)
{
    if (row.workflow != detail::policies_workflow) return error(errc::bad_argument, "the key " + row.key + " is another run's, " + to_string(row.id));
    auto const loaded = data.load(row.id).value();
    if (!loaded || loaded->entries.empty()) return error(errc::journal_corrupt, "run " + to_string(row.id) + " has no entries");
    auto const& start = loaded->entries.front();
    auto const arguments = detail::load_arguments(*loaded, data);
    if (sha256(arguments.text) != start.hash) return error(errc::journal_corrupt, "run " + to_string(row.id) + " is damaged");
    version_arguments document;
    if (auto const ok = detail::decode(arguments.how, arguments.text, document); !ok) return ok.error();
    try {
        return stored_wait_policies{version, parse_wait_policies(std::get<0>(document)), start.by, start.why, start.at};
    } catch (error const& e) {
        return e;
    }
}

}  // namespace

namespace detail {

std::shared_ptr<stored_wait_policies const> client_core::policies() const
{
    std::lock_guard const lock(guard_);
    return policies_;
}

std::uint32_t client_core::read_policies()
{
    std::lock_guard const alone(reading_policies_);
    if (next_policies_key_.empty()) next_policies_key_ = policy_key(1);  // kept: an idle poll allocates nothing
    std::optional<run_row> newest;
    while (auto row = data->reader().run_by_key({}, next_policies_key_).value()) {
        newest = std::move(row);
        next_policies_key_ = policy_key(++policy_versions_ + 1);
    }
    if (!newest) return policy_versions_;
    if (auto read = read_version(*data, *newest, policy_versions_)) {
        std::lock_guard const lock(guard_);
        policies_ = std::make_shared<stored_wait_policies const>(*std::move(read));
    } else {
        log(log_level::error, "version " + std::to_string(policy_versions_) + " of the wait policies cannot be read by this program, and the one it has stays in force: " +
                                  read.error().what());
    }
    return policy_versions_;
}

}  // namespace detail

std::uint32_t client::set_wait_policies(wait_policies const& policies, policy_change const& o)
{
    detail::check_wait_policies(policies);
    auto const document = to_json(policies);
    constexpr int most_tries = 100;
    for (int again = 1;; ++again) {
        auto const newest = core_->read_policies();
        auto const now = core_->policies();
        if (now && now->version == newest && to_json(now->policies) == document) return newest;
        auto const key = policy_key(newest + 1);
        start_options how;
        how.idempotency_key = key;
        how.by = o.by;
        how.why = o.why;
        try {
            core_->start({detail::policies_workflow, 1}, encoded(version_arguments(document)), detail::shape_of<version_arguments>(), how);
            core_->read_policies();
            return newest + 1;
        } catch (error const& e) {  // somebody else made this version meanwhile
            if (e.code() != errc::start_conflict) throw;
            if (again == most_tries) throw error(errc::store_busy, "others change the wait policies all the time; try again");
        }
    }
}

stored_wait_policies client::current_wait_policies()
{
    core_->read_policies();
    auto const now = core_->policies();
    return now ? *now : stored_wait_policies{};
}

std::vector<stored_wait_policies> client::wait_policy_versions()
{
    std::vector<stored_wait_policies> all;
    for (std::uint32_t version = 1;; ++version) {
        auto const row = data().reader().run_by_key({}, policy_key(version)).value();
        if (!row) return all;
        auto read = read_version(data(), *row, version);
        all.push_back(read ? *std::move(read) : stored_wait_policies{version, {}, {}, "it cannot be read by this program: " + read.error().message(), row->created_at});
    }
}

std::uint32_t client::roll_back_wait_policies(std::uint32_t version, policy_change const& o)
{
    auto const row = data().reader().run_by_key({}, policy_key(version)).value();
    if (!row)
        throw error(errc::bad_argument, "there is no version " + std::to_string(version) + " of the wait policies; client::wait_policy_versions() and "
                                        "`flow policies` list them");
    auto const why = o.why.empty() ? "back to version " + std::to_string(version) : std::string(o.why);
    return set_wait_policies(read_version(data(), *row, version).value().policies, {o.by, why});
}

std::vector<late_run> client::late_runs(std::size_t limit)
{
    auto const now = core_->time().now();
    run_filter waiting;
    waiting.status = run_status::waiting;
    std::vector<late_run> late;
    for (auto& row : core_->all_runs(waiting).value()) {
        if (late.size() >= limit) break;
        auto reason = parse_wait_reason(row.reason);
        if (!detail::is_late(reason, now)) continue;
        auto const route = detail::name_of(detail::words_of(reason.type).late);
        late.push_back({std::move(row), std::move(reason), std::string(route)});
    }
    return late;
}

}  // namespace flow
