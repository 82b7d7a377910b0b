#include "runtime/engine/async.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include <optional>
#include <thread>
#include <utility>

#include "flow/asio.hpp"

namespace asio = boost::asio;

namespace flow::detail {

struct async_executor::impl {
    std::optional<asio::io_context> context;  ///< our own
    asio::any_io_executor on;
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work;
    std::thread thread;
};

async_executor::async_executor(bool with_thread) : impl_(std::make_unique<impl>())
{
    auto& own = impl_->context.emplace(1);
    impl_->on = own.get_executor();
    if (!with_thread) return;
    impl_->work.emplace(own.get_executor());
    impl_->thread = std::thread([&own] { own.run(); });
}

async_executor::async_executor(outer_executor const& on) : impl_(std::make_unique<impl>()) { impl_->on = on.get(); }

async_executor::~async_executor() { join(); }

namespace {

/// What one coroutine needs while it runs.
struct running {
    std::function<void(call_result)> back;  // first, and so destroyed last: it keeps the frame that all else refers to
    call_order order;
    attempt handed_out;
    call_result result;
    asio::cancellation_signal cancel;
    std::optional<std::stop_callback<std::function<void()>>> on_stop;

    running(call_order o, std::function<void(call_result)> b) : back(std::move(b)), order(std::move(o)), handed_out(*order.attempt) {}
};

void begin(asio::any_io_executor const& on, std::shared_ptr<running> const& r)
{
    if (r->handed_out.stop_requested()) {
        r->result.end = call_end::not_started;
        r->result.error.code = errc::step_failed;
        r->result.error.message = "asked to stop before it began";
        r->back(std::move(r->result));
        return;
    }
    auto ended = [r](std::exception_ptr) {
        r->on_stop.reset();
        r->back(std::move(r->result));
    };
    asio::co_spawn(on, r->order.what->as_async()->drive(r->handed_out, r->result),
                   asio::bind_cancellation_slot(r->cancel.slot(), std::move(ended)));
    // The signal belongs to the coroutine's executor: a stop asked for elsewhere is carried there.
    r->on_stop.emplace(r->handed_out.stop_token(), [on, weak = std::weak_ptr(r)] {
        asio::post(on, [weak] {
            if (auto alive = weak.lock()) alive->cancel.emit(asio::cancellation_type::terminal);
        });
    });
}

}  // namespace

void async_executor::spawn(call_order order, std::function<void(call_result)> back)
{
    // The caller's executor may have many threads: each step gets a strand of its own.
    asio::any_io_executor on = impl_->on;
    if (!impl_->context) on = asio::make_strand(impl_->on);
    asio::post(on, [on, r = std::make_shared<running>(std::move(order), std::move(back))] { begin(on, r); });
}

bool async_executor::poll()
{
    impl_->context->restart();
    return impl_->context->poll() > 0;
}

void async_executor::join()
{
    impl_->work.reset();
    if (impl_->thread.joinable()) impl_->thread.join();
}

}  // namespace flow::detail
