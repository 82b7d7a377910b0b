#include "runtime/engine/async.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <optional>
#include <thread>
#include <utility>

#include "flow/asio.hpp"

namespace asio = boost::asio;

namespace flow::detail {

struct async_executor::impl {
    asio::io_context context{1};
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work;
    std::thread thread;
};

async_executor::async_executor(bool with_thread) : impl_(std::make_unique<impl>())
{
    if (!with_thread) return;
    impl_->work.emplace(impl_->context.get_executor());
    impl_->thread = std::thread([this] { impl_->context.run(); });
}

async_executor::~async_executor() { join(); }

namespace {

/// What one coroutine needs while it runs.
struct running {
    call_order order;
    attempt handed_out;
    call_result result;
    asio::cancellation_signal cancel;

    explicit running(call_order o) : order(std::move(o)), handed_out(*order.attempt) {}
};

}  // namespace

void async_executor::spawn(async_call& c, call_order order, std::function<void(call_result)> back)
{
    auto r = std::make_shared<running>(std::move(order));
    asio::post(impl_->context, [this, &c, r, back = std::move(back)]() mutable {
        auto const executor = impl_->context.get_executor();
        // The signal belongs to this executor's thread: a stop asked for elsewhere is carried there.
        auto stop = std::make_shared<std::optional<std::stop_callback<std::function<void()>>>>();
        auto ended = [r, stop, back = std::move(back)](std::exception_ptr) {
            stop->reset();
            back(std::move(r->result));
        };
        asio::co_spawn(executor, c.drive(r->handed_out, r->result), asio::bind_cancellation_slot(r->cancel.slot(), std::move(ended)));
        stop->emplace(r->order.attempt->stop.get_token(), [executor, weak = std::weak_ptr(r)] {
            asio::post(executor, [weak] {
                if (auto alive = weak.lock()) alive->cancel.emit(asio::cancellation_type::terminal);
            });
        });
    });
}

bool async_executor::poll()
{
    impl_->context.restart();
    return impl_->context.poll() > 0;
}

void async_executor::join()
{
    impl_->work.reset();
    if (impl_->thread.joinable()) impl_->thread.join();
}

}  // namespace flow::detail
