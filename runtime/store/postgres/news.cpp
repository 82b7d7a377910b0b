#include "runtime/store/postgres/news.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <utility>

namespace flow::postgres_detail {

namespace {

// A burst of commits is told once in this long, the first of it at once.
constexpr std::chrono::milliseconds breath{2};
// A server that is gone: until it is back, whoever wants to know asks more often.
constexpr std::chrono::milliseconds connect_again{500};
constexpr std::chrono::milliseconds forever{-1};

}  // namespace

news::news(std::function<std::unique_ptr<listener>()> connect)
    : connect_(std::move(connect)), bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
    if (bell_ < 0) throw error(errc::store_unavailable, "the operating system gives no eventfd");
}

news::~news()
{
    {
        std::scoped_lock lock(mutex_);
        ending_ = true;
    }
    ring();
    if (thread_.joinable()) thread_.join();
    ::close(bell_);
}

void news::when_changed(owner_id owner, std::function<void()> then)
{
    {
        std::scoped_lock alone(calling_);
        if (!then) {
            concerned_.erase(owner);
            return;
        }
        concerned_[owner] = std::move(then);
    }
    std::scoped_lock lock(mutex_);
    begin();
}

void news::changed(bool everybody)
{
    {
        std::scoped_lock lock(mutex_);
        to_call_ = true;
        to_tell_ = to_tell_ || everybody;
        if (everybody) begin();
    }
    ring();
}

void news::begin()
{
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
}

void news::ring() const noexcept
{
    std::uint64_t const one = 1;
    (void)!::write(bell_, &one, sizeof one);
}

void news::sleep(int socket, std::chrono::milliseconds limit) const
{
    pollfd on[] = {{bell_, POLLIN, 0}, {socket, POLLIN, 0}};
    ::poll(on, socket < 0 ? 1 : 2, static_cast<int>(limit.count()));
    std::uint64_t rung = 0;
    (void)!::read(bell_, &rung, sizeof rung);
}

void news::call_all()
{
    std::scoped_lock alone(calling_);
    for (auto const& [_, then] : concerned_) then();
}

void news::work()
{
    std::unique_ptr<listener> ear;
    for (;;) {
        bool tell = false, call = false, end = false;
        try {
            if (!ear) {
                ear = connect_();
                listens_ = true;
                call = true;  // who knows what was told before
            }
            {
                std::scoped_lock lock(mutex_);
                tell = to_tell_;
                end = ending_;
            }
            if (tell) {
                ear->tell();
                std::scoped_lock lock(mutex_);
                to_tell_ = false;
            }
            call = ear->heard() || call;
        } catch (std::exception const&) {
            ear.reset();
            listens_ = false;
        }
        {
            std::scoped_lock lock(mutex_);
            call = std::exchange(to_call_, false) || call;
            end = end || (ending_ && !ear);
        }
        if (end) return;
        if (call) call_all();
        if (tell || call) std::this_thread::sleep_for(breath);
        sleep(ear ? ear->socket() : -1, ear ? forever : connect_again);
    }
}

}  // namespace flow::postgres_detail
