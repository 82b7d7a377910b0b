#include "runtime/engine/journal_writers.hpp"

#include <algorithm>
#include <utility>

namespace flow::detail {

journal_writers::journal_writers(store& s, std::size_t count, std::function<void(log_level, std::string const&)> const& log)
{
    for (std::size_t i = 0; i < std::max<std::size_t>(count, 1); ++i) all_.push_back(std::make_unique<journal_writer>(s, log));
}

void journal_writers::start()
{
    for (auto const& w : all_) w->start();
}

bool journal_writers::is_busy() const
{
    return std::any_of(all_.begin(), all_.end(), [](auto const& w) { return w->is_busy(); });
}

std::uint64_t journal_writers::commits() const noexcept
{
    std::uint64_t sum = 0;
    for (auto const& w : all_) sum += w->commits();
    return sum;
}

void journal_writers::give(std::shared_ptr<group_owner> who, group g)
{
    auto& writer = of(g.num);
    writer.give(std::move(who), std::move(g));
}

void journal_writers::wake()
{
    for (auto const& w : all_)
        if (all_.size() == 1 || w->has_work()) w->wake();
}

bool journal_writers::flush(time_limit limit)
{
    bool did = false;
    for (auto const& w : all_) did = w->flush(limit) || did;
    return did;
}

bool journal_writers::has_work() const
{
    return std::any_of(all_.begin(), all_.end(), [](auto const& w) { return w->has_work(); });
}

void journal_writers::join()
{
    for (auto const& w : all_) w->join();
}

std::optional<error> journal_writers::trouble() const
{
    for (auto const& w : all_)
        if (auto e = w->trouble()) return e;
    return std::nullopt;
}

}  // namespace flow::detail
