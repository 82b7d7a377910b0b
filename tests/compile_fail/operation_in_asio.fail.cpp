// UX-01: a step inside the Asio coroutine of a step. The hook leans on a detail of Asio: losing it costs the sentence only.
// refused: flow: a durable operation cannot be awaited inside a step's function or any asio coroutine. Return from the step first, or make this function a flow::workflow
// errors: 2 (Asio adds its own)
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <flow/asio.hpp>
#include <flow/step.hpp>
#include <flow/workflow.hpp>

namespace asio = boost::asio;

flow::workflow<int> body()
{
    co_return co_await flow::step("outer", flow::replayable, [&]() -> asio::awaitable<int> {
        co_return co_await flow::step("inner", flow::replayable, [] { return 1; });
    });
}
