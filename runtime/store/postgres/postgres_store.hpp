// The store on a PostgreSQL server. Its calls are spread over files by what they are about, as in store/sqlite.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flow/postgres.hpp"
#include "flow/store_reader.hpp"
#include "runtime/store/postgres/database.hpp"
#include "runtime/store/postgres/leases.hpp"
#include "runtime/store/postgres/news.hpp"
#include "runtime/store/secrets.hpp"

namespace flow::postgres_detail {

class postgres_reader final : public store_reader {
public:
    explicit postgres_reader(database& db) : db_(db) {}

    outcome<std::optional<run_row>> run_by_key(std::string_view tenant, std::string_view key) override;
    outcome<std::vector<run_row>> runs_like(std::string_view prefix) override;
    outcome<std::vector<run_row>> runs(run_filter const& which) override;
    outcome<std::vector<waitpoint_row>> waitpoints(waitpoint_filter const& which) override;
    outcome<std::vector<request_row>> requests(run_id run) override;
    outcome<std::vector<owner_row>> owners() override;
    outcome<std::vector<journal_entry>> published(run_id run) override;
    outcome<std::vector<journal_entry>> publications(run_id run, seq_no after, std::size_t limit) override;
    outcome<std::vector<response>> responses(waitpoint_id to) override;
    outcome<std::vector<event_row>> events(event_filter const& which) override;
    outcome<std::vector<child_row>> children(run_id parent, std::optional<run_id> after, std::size_t limit) override;
    outcome<std::vector<workflow_version>> versions_to_claim() override;

private:
    database& db_;
};

class postgres_store final : public store {
public:
    postgres_store(std::string connection, postgres_options const& options);
    ~postgres_store() override;

    std::string name() const override { return db_.name(); }

    outcome<owner_id> add_owner(owner_info const& who) override;
    outcome<void> announce(owner_id owner, std::span<workflow_version const> all) override;
    void retire_owner(owner_id owner) noexcept override;
    bool may_act(owner_id owner) const noexcept override { return leases_.stands(owner); }

    outcome<std::vector<answer>> apply(std::span<group const> groups, time_limit limit) override;
    std::size_t writers() const noexcept override { return options_.writers; }
    outcome<started> start(new_run const& what) override;
    outcome<completion_answer> complete(completion const& what) override;
    outcome<delivered> deliver(event const& what) override;
    outcome<responded> respond(response const& what) override;
    outcome<request_fate> ask(request const& what) override;
    outcome<std::vector<claimed>> claim(claim_request const& what) override;
    outcome<std::size_t> scan(time_point now, std::size_t limit) override;
    outcome<void> ping(owner_id owner, time_limit limit) override;

    outcome<std::optional<run_row>> run(run_id id) override;
    outcome<std::optional<waitpoint_row>> waitpoint(waitpoint_id id) override;
    outcome<std::vector<journal_entry>> journal(run_id run, seq_no after, std::size_t limit) override;
    outcome<std::optional<loaded_run>> load(run_id run) override;
    std::vector<outcome<std::optional<loaded_run>>> load_all(std::span<run_id const> runs) override;
    outcome<std::string> load_blob(digest const& hash) override;
    outcome<std::vector<notice>> look(owner_id owner, std::size_t limit) override;
    outcome<time_point> next_due() override;
    outcome<std::uint64_t> change_counter() override { return db_.change_counter(); }
    std::chrono::milliseconds ask_every() const noexcept override;
    void when_changed(owner_id owner, std::function<void()> then) override { news_.when_changed(owner, std::move(then)); }
    outcome<std::string> secret_of(waitpoint_id id) override;
    std::string warning() override { return leases_.trouble(); }
    store_reader& reader() override { return reader_; }

private:
    /// Those that are there, as they were at one moment.
    outcome<std::map<run_id, loaded_run>> load_moment(std::span<run_id const> runs);
    std::string renew(std::vector<leases::living> const& living);
    void bury(std::vector<owner_id> const& dead);
    outcome<void> decide_due_waits(time_point now, std::vector<std::int64_t> const& due);
    /// Throws refusal(store_unavailable) once this owner's lease has ended by our clock.
    void must_stand(owner_id owner) const;

    postgres_options const options_;
    database db_;
    std::unique_ptr<connection> renewer_;  // the leases' thread alone: it must never wait for a call
    leases leases_;
    news news_;
    postgres_reader reader_{db_};

    // What a claim wrote whose COMMIT is in doubt: the next one hands it out if it landed (protocol P8).
    std::mutex doubt_mutex_;
    std::map<owner_id, std::vector<claimed>> in_doubt_;

    std::mutex key_mutex_;
    std::optional<store_detail::store_key> key_;
};

}  // namespace flow::postgres_detail
