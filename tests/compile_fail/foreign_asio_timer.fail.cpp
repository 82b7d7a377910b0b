// UX-02: the body of a workflow awaits an Asio timer.
// refused: flow: a workflow body may await durable operations only. Wrap it: co_await flow::step(
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
    asio::steady_timer timer{asio::system_executor{}, std::chrono::seconds{1}};
    co_await timer.async_wait(asio::use_awaitable);
}
