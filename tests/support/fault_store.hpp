// A store that fails on purpose: any store, wrapped, with the n-th call that writes spoiled.
#pragma once

#include <atomic>
#include <optional>

#include "flow/stores.hpp"

namespace flow::test {

/// What becomes of the n-th call that writes.
enum class fault : std::uint8_t {
    fail,   ///< an error before anything is written; later calls work
    lose,   ///< nothing is written, and the store is gone: every later call fails
    crash,  ///< it is written, the answer is lost, and the store is gone
    doubt,  ///< it is written, commit_unknown is answered; later calls work
};

/// Any thread. Owners made through it are the wrapped store's.
class fault_store : public store {
public:
    explicit fault_store(store_ptr wrapped) : wrapped_(std::move(wrapped)) {}

    /// The n-th write from now on, counted from 1.
    void plan(int nth, fault what, errc error = errc::store_unavailable);
    /// Calls that write so far.
    int writes() const noexcept { return writes_; }
    /// The n-th came.
    bool reached() const noexcept { return reached_; }

    std::string name() const override { return "fault:" + wrapped_->name(); }
    outcome<owner_id> add_owner(owner_info const& who) override;
    void retire_owner(owner_id owner) noexcept override;
    bool may_act(owner_id owner) const noexcept override { return wrapped_->may_act(owner); }
    std::size_t writers() const noexcept override { return wrapped_->writers(); }
    std::chrono::milliseconds ask_every() const noexcept override { return wrapped_->ask_every(); }
    void when_changed(owner_id owner, std::function<void()> then) override { wrapped_->when_changed(owner, std::move(then)); }
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
    outcome<void> announce(owner_id owner, std::span<workflow_version const> all) override;
    outcome<std::optional<loaded_run>> load(run_id run) override;
    outcome<std::string> load_blob(digest const& hash) override;
    outcome<std::vector<notice>> look(owner_id owner, std::size_t limit) override;
    outcome<time_point> next_due() override;
    outcome<std::uint64_t> change_counter() override;
    outcome<std::string> secret_of(waitpoint_id id) override { return wrapped_->secret_of(id); }
    std::string warning() override { return wrapped_->warning(); }
    store_reader& reader() override { return wrapped_->reader(); }

private:
    template <class Call>
    auto write(Call const& call) -> decltype(call());
    template <class Call>
    auto read(Call const& call) -> decltype(call());
    error gone() const { return error(errc::store_unavailable, name() + " is gone"); }

    store_ptr const wrapped_;
    std::atomic<int> writes_{0}, nth_{0};
    std::atomic<fault> what_{fault::fail};
    std::atomic<errc> error_{errc::store_unavailable};
    std::atomic<bool> reached_{false}, gone_{false};
};

}  // namespace flow::test
