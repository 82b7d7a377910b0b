// The journal writers of an engine: one, or as many as its store gains by. A run's groups go to one of them, so they stay in order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/engine/journal_writer.hpp"

namespace flow::detail {

/// Calls as of journal_writer, for all of them together.
class journal_writers {
public:
    journal_writers(store& s, std::size_t count, std::function<void(log_level, std::string const&)> const& log);

    void start();
    /// There is one then.
    void start_apart(std::function<void()> beside) { all_.front()->start_apart(std::move(beside)); }
    void ask() { all_.front()->ask(); }
    bool is_busy() const;
    std::uint64_t commits() const noexcept;
    void give(std::shared_ptr<group_owner> who, group g);
    /// Those that have something to commit.
    void wake();
    /// What has queued together with groups of this run.
    bool commit_here(std::int64_t run) { return of(run).commit_here(); }
    bool flush(time_limit limit);
    bool has_work() const;
    void join();
    std::optional<error> trouble() const;

private:
    journal_writer& of(std::int64_t run) const { return *all_[static_cast<std::size_t>(run) % all_.size()]; }
    std::vector<std::unique_ptr<journal_writer>> all_;
};

}  // namespace flow::detail
