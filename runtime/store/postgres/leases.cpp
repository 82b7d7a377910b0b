#include "runtime/store/postgres/leases.hpp"

namespace flow::postgres_detail {

using std::chrono::steady_clock;

leases::leases(std::chrono::milliseconds lease, std::chrono::milliseconds every, renewal renew)
    : lease_(lease), every_(every), renew_(std::move(renew))
{
}

leases::~leases()
{
    {
        std::scoped_lock lock(mutex_);
        ending_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void leases::add(living who, instant since)
{
    std::scoped_lock lock(mutex_);
    until_[who.owner] = since + lease_;
    living_.insert_or_assign(who.owner, std::move(who));
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
}

void leases::announced(owner_id owner, std::string workflows)
{
    std::scoped_lock lock(mutex_);
    if (auto const it = living_.find(owner); it != living_.end()) it->second.workflows = std::move(workflows);
}

bool leases::remove(owner_id owner)
{
    std::scoped_lock lock(renewing_, mutex_);
    until_.erase(owner);
    return living_.erase(owner) != 0;
}

std::vector<owner_id> leases::owners() const
{
    std::scoped_lock lock(mutex_);
    std::vector<owner_id> out;
    for (auto const& [owner, _] : living_) out.push_back(owner);
    return out;
}

bool leases::stands(owner_id owner) const noexcept
{
    std::scoped_lock lock(mutex_);
    auto const it = until_.find(owner);
    return it == until_.end() || steady_clock::now() < it->second;
}

std::string leases::trouble() const
{
    std::scoped_lock lock(mutex_);
    return trouble_;
}

void leases::work()
{
    // Soon after a failure: what is left of the lease is short.
    auto const again_after = std::max(std::chrono::milliseconds{50}, every_ / 10);
    auto pause = every_;
    for (;;) {
        {
            std::unique_lock lock(mutex_);
            if (changed_.wait_for(lock, pause, [&] { return ending_; })) return;
        }
        std::scoped_lock alone(renewing_);
        std::vector<living> now_living;
        {
            std::scoped_lock lock(mutex_);
            for (auto const& [_, who] : living_) now_living.push_back(who);
        }
        auto const since = steady_clock::now();
        auto told = now_living.empty() ? std::string{} : renew_(now_living);
        std::scoped_lock lock(mutex_);
        trouble_ = std::move(told);
        pause = trouble_.empty() ? every_ : again_after;
        if (!trouble_.empty()) continue;
        for (auto const& who : now_living) until_[who.owner] = since + lease_;
    }
}

}  // namespace flow::postgres_detail
