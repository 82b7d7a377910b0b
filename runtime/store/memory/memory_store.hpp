// The store in memory. Its calls are spread over files by what they are about, as in store/sqlite.
#pragma once

#include <mutex>
#include <string>
#include <string_view>

#include "flow/store_reader.hpp"
#include "flow/stores.hpp"
#include "runtime/store/memory/tables.hpp"
#include "runtime/store/secrets.hpp"

namespace flow::memory_detail {

/// The rows under their mutex.
struct shared_tables {
    std::mutex mutex;
    tables rows;
};

class memory_reader final : public store_reader {
public:
    explicit memory_reader(shared_tables& t) : t_(t) {}

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
    shared_tables& t_;
};

class memory_store final : public store {
public:
    explicit memory_store(memory_options options) : probe_(std::move(options.probe)), key_(store_detail::random_key()) {}

    std::string name() const override { return "memory"; }

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
    outcome<std::string> load_blob(digest const& hash) override;
    outcome<std::vector<notice>> look(owner_id owner, std::size_t limit) override;
    outcome<time_point> next_due() override;
    outcome<std::uint64_t> change_counter() override;
    outcome<std::string> secret_of(waitpoint_id id) override { return store_detail::secret_of(key_, id); }
    store_reader& reader() override { return reader_; }

private:
    /// One transaction under the mutex: all of `what`, or nothing of it if it throws.
    template <class What>
    outcome<void> write(std::string_view call, What const& what)
    {
        std::scoped_lock guard(shared_.mutex);
        auto& t = shared_.rows;
        auto const at = [&](probe_point point) {
            if (probe_) probe_(call, point);
        };
        try {
            at(probe_point::locked);
            what(t);
            at(probe_point::written);
            at(probe_point::before_commit);
        } catch (refusal const& r) {
            t.rollback();
            return error(r.code, r.what());
        } catch (...) {
            t.rollback();
            throw;
        }
        if (t.changed()) ++changes_;
        t.commit();
        at(probe_point::after_commit);
        return {};
    }

    flow::probe const probe_;
    store_detail::store_key const key_;
    shared_tables shared_;
    std::uint64_t changes_ = 0;  ///< under the mutex
    memory_reader reader_{shared_};
};

}  // namespace flow::memory_detail
