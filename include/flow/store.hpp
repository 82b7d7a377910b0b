// The contract every store keeps: what the engine may rely on (docs/reference/protocol.md, P4 to P12, P35 to P39, P57).
//
// A store keeps rows and answers facts. It decides nothing but what its locks decide: who was first. Statuses it computes
// by the public tables of status.hpp only. Calls are synchronous and may come from any thread; a store has no threads,
// but PostgreSQL's, which has one for its leases and one that hears of others' commits. The rows are rows.hpp, what people look at is store_reader.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flow/responses.hpp"
#include "flow/rows.hpp"

#pragma GCC visibility push(default)

namespace flow {

class store_reader;

/// Points inside a store's transaction where a test may look, wait or die (P57). Called with the locks held.
enum class probe_point : std::uint8_t { locked, written, before_commit, after_commit };
using probe = std::function<void(std::string_view call, probe_point)>;

/// Durations are real time: how long a call may wait for another process's lock. Zero: not at all.
using time_limit = std::chrono::milliseconds;

class store {
public:
    virtual ~store() = default;

    /// For people and messages: "sqlite:flow.db".
    virtual std::string name() const = 0;

    // Owners. An owner lives until `retire_owner`, until this store object is destroyed, or until its process dies.

    /// Makes an owner that is alive from before its first claim on (P46). Errors: as for any write, below.
    virtual outcome<owner_id> add_owner(owner_info const& who) = 0;
    /// What this owner executes, in place of what it said before: others look whether a run's version is anywhere (P47). Errors: as for
    /// any write.
    virtual outcome<void> announce(owner_id owner, std::span<workflow_version const> all) = 0;
    /// Says good-bye. Runs it still holds are taken over by the next claim.
    virtual void retire_owner(owner_id owner) noexcept = 0;
    /// May it still act, by what is known here without asking anybody? The last thing before a function is called that acts outside (P46).
    virtual bool may_act(owner_id) const noexcept { return true; }

    // Writing. Errors of every call that writes: store_busy, store_full, store_read_only, store_unavailable (nothing was
    // written); store_corrupt; commit_unknown (call again with the same arguments: P8; it is told what the first try did).

    /// Applies each group whole or not at all, in order; one transaction, durable when it returns (group commit).
    /// A group that was applied before (same run, epoch, seqs, checksums) is answered `applied` and not written again.
    /// Groups of one run must come in the order of their seqs; behind one that is not applied the run's rest is not.
    virtual outcome<std::vector<answer>> apply(std::span<group const> groups, time_limit limit) = 0;

    /// How many calls of `apply` gain by being under way at once. The engine divides its runs among so many writers.
    virtual std::size_t writers() const noexcept { return 1; }

    /// Starts a run: its row, its `start` entry, its first snapshot. Unique by id, and by (tenant, key). Its first event, if one is given, is
    /// delivered to it, or to the run that is there, in the same transaction.
    virtual outcome<started> start(new_run const& what) = 0;

    /// Completes a waitpoint and wakes who is blocked by it, in one transaction. First wins. A suspended run may be queued by it at once,
    /// or is by the next `scan`.
    virtual outcome<completion_answer> complete(completion const& what) = 0;

    /// The same, for one who executes what it wakes: suspended runs that it queues are claimed as by `claim`, in the same transaction. That
    /// is one commit instead of three. A store may leave them to `scan` and `claim`; this one does.
    virtual outcome<completed> complete_and_claim(completion const& what, claim_request const& /*takes*/)
    {
        auto const answer = complete(what);
        if (!answer) return answer.error();
        return completed{*answer, {}};
    }

    /// Puts an event into the inbox and completes the wait it is for, if there is one, in one transaction (P36). Unique by event id. Events
    /// reach waiters in the order in which they were delivered.
    virtual outcome<delivered> deliver(event const& what) = 0;

    /// One person's answer to a question of a run; what completes it is decided with it, in one transaction (src/asking.hpp). Once a person.
    virtual outcome<responded> respond(response const& what) = 0;

    /// Asks something of a run (P4). Unique by request id: asked again, it answers what became of the first.
    virtual outcome<request_fate> ask(request const& what) = 0;

    /// Takes runs: those whose owner is dead, whatever their status, and queued ones, by priority, then by `due_at` (P62). Each in a
    /// transaction that raises its epoch and appends the snapshot that names the owner; a `recovered` entry where the body or a step was
    /// executing.
    virtual outcome<std::vector<claimed>> claim(claim_request const& what) = 0;

    /// For runs nobody holds: decides waitpoints that fell due, queues suspended runs whose wait is over, ends or cancels those whose
    /// deadline has passed, clears up, forgets expired events. Returns how many runs it changed.
    virtual outcome<std::size_t> scan(time_point now, std::size_t limit) = 0;

    /// Writes one small row and commits, to see whether the store can. `owner` says which row.
    virtual outcome<void> ping(owner_id owner, time_limit limit) = 0;

    // Reading what decides: never old.

    virtual outcome<std::optional<run_row>> run(run_id id) = 0;
    virtual outcome<std::optional<waitpoint_row>> waitpoint(waitpoint_id id) = 0;
    /// Entries after `after`, at most `limit`; payloads in blobs are left out.
    virtual outcome<std::vector<journal_entry>> journal(run_id run, seq_no after, std::size_t limit) = 0;

    /// The run's row and its whole journal, by one statement each (P56). Nothing if there is no such run.
    /// Verifies nothing: src/ does, so that every store is judged alike.
    virtual outcome<std::optional<loaded_run>> load(run_id run) = 0;
    /// The same for each of these, in their order. A store that is far away does it in fewer messages.
    virtual std::vector<outcome<std::optional<loaded_run>>> load_all(std::span<run_id const> runs)
    {
        std::vector<outcome<std::optional<loaded_run>>> all;
        for (auto const id : runs) all.push_back(load(id));
        return all;
    }

    /// The payload under this hash, unverified; store_corrupt if there is none.
    virtual outcome<std::string> load_blob(digest const& hash) = 0;

    /// Wake rows and untaken mail of the runs this owner holds.
    virtual outcome<std::vector<notice>> look(owner_id owner, std::size_t limit) = 0;

    /// The nearest due instant among waitpoints and deadlines of runs nobody holds, and of delayed runs; `never` if there is none.
    virtual outcome<time_point> next_due() = 0;

    /// Another number whenever something was committed by another process or another store object on the same data.
    virtual outcome<std::uint64_t> change_counter() = 0;

    /// How long one may go without asking `change_counter`: asked rarely where a store tells by itself. Cheap.
    virtual std::chrono::milliseconds ask_every() const noexcept { return std::chrono::milliseconds{10}; }
    /// From now on `then` is called soon after something was committed that may concern this owner, on a thread of the store's; it
    /// returns at once. Once this returns, what was given before is not called any more; empty: nothing is. A hint: it may be late,
    /// or for nothing, and a store that cannot tell never calls it.
    virtual void when_changed(owner_id, std::function<void()> /*then*/) {}

    /// HMAC-SHA-256(store key, id), 32 bytes as 64 hexadecimal digits (P39). store_key: the key is missing or another's.
    virtual outcome<std::string> secret_of(waitpoint_id id) = 0;

    /// Nothing that fails yet, but somebody should look at: a sentence, or empty. Cheap.
    virtual std::string warning() { return {}; }

    virtual store_reader& reader() = 0;

protected:
    store() = default;
    store(store const&) = delete;
    store& operator=(store const&) = delete;
};

/// Engines and clients share a store.
using store_ptr = std::shared_ptr<store>;

}  // namespace flow

#pragma GCC visibility pop
