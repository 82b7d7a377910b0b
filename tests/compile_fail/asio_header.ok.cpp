// The legal twin.
#include <boost/asio/awaitable.hpp>

#include <flow/step.hpp>
#include <flow/workflow.hpp>

#include <flow/asio.hpp>

flow::workflow<int> body()
{
    co_return co_await flow::step("fetch", flow::replayable, []() -> boost::asio::awaitable<int> { co_return 1; });
}
