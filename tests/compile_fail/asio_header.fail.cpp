// refused: flow: this step's function is an Asio coroutine: #include <flow/asio.hpp>
#include <boost/asio/awaitable.hpp>

#include <flow/step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body()
{
    co_return co_await flow::step("fetch", flow::replayable, []() -> boost::asio::awaitable<int> { co_return 1; });
}
