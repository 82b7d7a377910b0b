// The store in one SQLite file. Its calls are spread over files by what they are about, as in store/memory.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "flow/store_reader.hpp"
#include "flow/stores.hpp"
#include "runtime/store/secrets.hpp"
#include "runtime/store/sqlite/database.hpp"
#include "runtime/store/sqlite/owner_locks.hpp"

namespace flow::sqlite_detail {

class sqlite_reader final : public store_reader {
public:
    sqlite_reader(database& db, owner_locks const& locks) : db_(db), locks_(locks) {}

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
    owner_locks const& locks_;
};

class sqlite_store final : public store {
public:
    sqlite_store(std::string file, sqlite_options const& options);
    ~sqlite_store() override;

    std::string name() const override { return name_; }

    outcome<owner_id> add_owner(owner_info const& who) override;
    outcome<void> announce(owner_id owner, std::span<workflow_version const> all) override;
    void retire_owner(owner_id owner) noexcept override;

    outcome<std::vector<answer>> apply(std::span<group const> groups, time_limit limit) override;
    outcome<started> start(new_run const& what) override;
    outcome<completion_answer> complete(completion const& what) override;
    outcome<completed> complete_and_claim(completion const& what, claim_request const& takes) override;
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
    outcome<std::string> secret_of(waitpoint_id id) override;
    std::string warning() override;
    store_reader& reader() override { return reader_; }

    /// A test's question: 0 between calls.
    int open_statements() { return db_.open_statements(); }

private:
    struct dead_owner {
        owner_id owner;
        file_lock lock;  ///< held until what was taken from it is committed
    };
    outcome<std::vector<dead_owner>> find_dead_owners();

    std::string const name_;
    database db_;
    owner_locks locks_;
    sqlite_reader reader_{db_, locks_};

    std::mutex made_mutex_;
    std::vector<owner_id> made_;  ///< owners of this object, still alive

    // What a claim wrote whose COMMIT is in doubt: the next one hands it out if it landed (protocol P8).
    std::mutex doubt_mutex_;
    std::map<owner_id, std::vector<claimed>> in_doubt_;

    using file_identity = std::pair<std::uint64_t, std::uint64_t>;  ///< device and inode
    static file_identity identity_of(std::string const& file, sqlite_options const& options);
    file_identity const identity_;
    std::string const log_file_;
    std::uint64_t const log_warning_;
    std::string const key_file_;
    std::mutex key_mutex_;
    std::optional<store_detail::store_key> key_;
};

}  // namespace flow::sqlite_detail
