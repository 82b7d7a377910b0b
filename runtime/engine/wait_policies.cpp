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

stored_wait_policies read_version(store& data, run_row const& row, std::uint32_t version)
{
    auto const loaded = data.load(row.id).value();
    if (!loaded || loaded->entries.empty()) throw error(errc::store_corrupt, "run " + to_string(row.id) + " has no entries");
    auto const arguments = detail::load_arguments(*loaded, data);
    version_arguments document;
    detail::decode(arguments.how, arguments.text, document).value();
    auto const& start = loaded->entries.front();
    return {version, parse_wait_policies(std::get<0>(document)), start.by, start.why, start.at};
}

}  // namespace

namespace detail {

std::shared_ptr<stored_wait_policies const> client_core::policies() const
{
    std::lock_guard const lock(guard_);
    return policies_;
}

void client_core::read_policies()
{
    std::lock_guard const alone(reading_policies_);
    auto const known = policies();
    auto version = known ? known->version : 0;
    std::optional<run_row> newest;
    while (auto row = data->reader().run_by_key({}, policy_key(version + 1)).value()) {
        newest = std::move(row);
        ++version;
    }
    if (!newest) return;
    auto const read = std::make_shared<stored_wait_policies const>(read_version(*data, *newest, version));
    std::lock_guard const lock(guard_);
    policies_ = read;
}

}  // namespace detail

std::uint32_t client::set_wait_policies(wait_policies const& policies, policy_change const& o)
{
    detail::check_wait_policies(policies);
    auto const document = to_json(policies);
    for (int again = 0;; ++again) {
        core_->read_policies();
        auto const now = core_->policies();
        if (now && to_json(now->policies) == document) return now->version;
        auto const version = now ? now->version + 1 : 1;
        auto const key = policy_key(version);
        start_options how;
        how.idempotency_key = key;
        how.by = o.by;
        how.why = o.why;
        try {
            core_->start({detail::policies_workflow, 1}, encoded(version_arguments(document)), detail::shape_of<version_arguments>(), how);
        } catch (error const& e) {  // somebody else made this version meanwhile
            if (e.code() != errc::start_conflict || again == 3) throw;
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
        all.push_back(read_version(data(), *row, version));
    }
}

std::uint32_t client::roll_back_wait_policies(std::uint32_t version, policy_change const& o)
{
    auto const row = data().reader().run_by_key({}, policy_key(version)).value();
    if (!row)
        throw error(errc::bad_argument, "there is no version " + std::to_string(version) + " of the wait policies; client::wait_policy_versions() and "
                                        "`flow policies` list them");
    auto const why = o.why.empty() ? "back to version " + std::to_string(version) : std::string(o.why);
    return set_wait_policies(read_version(data(), *row, version).policies, {o.by, why});
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
