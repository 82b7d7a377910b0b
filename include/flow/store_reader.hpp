// What people look at: lists and details for the command line and, later, pages. Never changes anything, never decides.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flow/error.hpp"
#include "flow/ids.hpp"
#include "flow/journal.hpp"
#include "flow/status.hpp"
#include "flow/store.hpp"
#include "flow/time.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// Which runs. Empty fields do not filter. Newest first.
struct run_filter {
    std::optional<run_status> status{};
    std::string workflow{}, tenant{};
    std::string tag{};                     ///< one of its tags (start_options::tags)
    std::optional<owner_id> owner{};       ///< held by this engine
    time_point since{duration::min()};   ///< created at or after
    time_point until = never;              ///< created before
    std::optional<run_id> before{};        ///< paging: runs older than this one
    std::size_t limit = 100;
};

struct waitpoint_filter {
    std::optional<run_id> run{};
    std::optional<waitpoint_status> status{};
    std::optional<waitpoint_purpose> purpose{};
    std::size_t limit = 100;
};

struct owner_row {
    owner_id id{};
    std::string name;
    std::int64_t pid = 0;
    time_point started_at{};
    bool alive = false;
    std::vector<workflow_version> workflows{};  ///< what it executes (store::announce)
};

struct request_row {
    request what;
    request_fate fate{};
    seq_no entry = seq_no::none;  ///< the entry it became
};

/// Any thread. Each call is one short read; no snapshot is held between calls. What it answers may be a moment old: what decides
/// is read from the store itself.
class store_reader {
public:
    virtual ~store_reader() = default;

    virtual outcome<std::optional<run_row>> run_by_key(std::string_view tenant, std::string_view key) = 0;
    /// Runs whose printed id begins with `prefix` (at most two are returned: none, one, or "not unique").
    virtual outcome<std::vector<run_row>> runs_like(std::string_view prefix) = 0;
    virtual outcome<std::vector<run_row>> runs(run_filter const& which) = 0;
    virtual outcome<std::vector<waitpoint_row>> waitpoints(waitpoint_filter const& which) = 0;
    virtual outcome<std::vector<request_row>> requests(run_id run) = 0;
    virtual outcome<std::vector<owner_row>> owners() = 0;
    /// What a run has published: the newest entry of each key, in the order of the keys. A payload in a blob is left out.
    virtual outcome<std::vector<journal_entry>> published(run_id run) = 0;
    /// The same as it came, after `after`, at most `limit`.
    virtual outcome<std::vector<journal_entry>> publications(run_id run, seq_no after, std::size_t limit) = 0;
    /// The answers to one question so far, in their order.
    virtual outcome<std::vector<response>> responses(waitpoint_id to) = 0;
    /// What is in the inbox, and what became of it, until it expires.
    virtual outcome<std::vector<event_row>> events(event_filter const& which) = 0;
    /// A run's children in the order they were started, behind `after` if given, at most `limit`.
    virtual outcome<std::vector<child_row>> children(run_id parent, std::optional<run_id> after, std::size_t limit) = 0;
    /// Of runs that stand in the queue, or whose owner is dead: each pair once.
    virtual outcome<std::vector<workflow_version>> versions_to_claim() = 0;
};

}  // namespace flow

#pragma GCC visibility pop
