#include "runtime/engine/outer_executor.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <utility>

#include "flow/asio.hpp"

namespace asio = boost::asio;

namespace flow {

executor asio_executor(asio::any_io_executor on)
{
    if (!on) throw error(errc::usage, "asio_executor takes an executor that is there: io_context.get_executor()");
    return executor(std::make_shared<detail::outer_executor const>(std::move(on)));
}

}  // namespace flow

namespace flow::detail {

asio::any_io_executor stop_access::executor_of(engine const& e)
{
    if (!e.on()) throw error(errc::usage, "async_stop is for an engine on an executor of yours: call stop()");
    return e.on().get()->get();
}

outer_executor::outer_executor(asio::any_io_executor on) : on_(std::make_unique<asio::any_io_executor>(std::move(on))) {}
outer_executor::~outer_executor() = default;

void outer_executor::post(std::function<void()> task) const { asio::post(*on_, std::move(task)); }

bool outer_executor::runs_here() const
{
    if (auto const* e = on_->target<asio::io_context::executor_type>()) return e->running_in_this_thread();
    if (auto const* e = on_->target<asio::thread_pool::executor_type>()) return e->running_in_this_thread();
    return false;
}

struct outer_executor::timer::impl {
    asio::steady_timer alarm;
};

outer_executor::timer::timer(outer_executor const& on) : impl_(std::make_unique<impl>(impl{asio::steady_timer(on.get())})) {}
outer_executor::timer::~timer() = default;

void outer_executor::timer::set(duration from_now, std::function<void()> ring)
{
    impl_->alarm.expires_after(from_now);
    impl_->alarm.async_wait([ring = std::move(ring)](boost::system::error_code e) {
        if (!e) ring();
    });
}

}  // namespace flow::detail
