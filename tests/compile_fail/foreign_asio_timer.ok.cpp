// UX-02: the body of a workflow awaits an Asio timer.
// The legal twin.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <flow/asio.hpp>
#include <flow/step.hpp>
#include <flow/workflow.hpp>

namespace asio = boost::asio;

flow::workflow<> wait()
{
    co_await flow::step("wait", flow::replayable, [&]() -> asio::awaitable<void> {
        asio::steady_timer timer{co_await asio::this_coro::executor, std::chrono::seconds{1}};
        co_await timer.async_wait(asio::use_awaitable);
    });
}
