#include "flow/attempt.hpp"

#include "src/host.hpp"

namespace flow {

std::string detail::key_of(run_id run, std::uint32_t segment, std::string_view place)
{
    std::string text(reinterpret_cast<char const*>(run.value.bytes.data()), run.value.bytes.size());
    text += '/' + std::to_string(segment) + '/';
    text += place;
    return to_string(sha256(text));
}

std::string_view attempt::key() const noexcept
{
    std::lock_guard const lock(data_->guard);
    if (data_->key.empty()) data_->key = detail::key_of(data_->run, data_->segment, data_->place);
    return data_->key;
}

std::string_view attempt::step_key() const noexcept
{
    std::lock_guard const lock(data_->guard);
    if (data_->step_key.empty()) data_->step_key = detail::key_of(data_->run, data_->segment, data_->step_place);
    return data_->step_key;
}

int attempt::number() const noexcept { return data_->number; }
bool attempt::stop_requested() const noexcept { return data_->stop.stop_requested(); }
std::stop_token attempt::stop_token() const noexcept { return data_->stop.get_token(); }
epoch_no attempt::epoch() const noexcept { return data_->epoch; }

duration attempt::time_left() const noexcept
{
    if (data_->deadline == duration::max()) return duration::max();
    auto const left = data_->deadline - data_->clock->steady();
    return left > duration::zero() ? left : duration::zero();
}

void attempt::heartbeat() noexcept
{
    std::lock_guard const lock(data_->guard);
    data_->last_heartbeat = data_->clock->steady();
}

void attempt::commit_ref(std::string reference)
{
    std::lock_guard const lock(data_->guard);
    data_->commit_ref = std::move(reference);
}

}  // namespace flow
