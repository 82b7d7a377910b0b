// The legal twin.
#include <boost/asio/awaitable.hpp>

#include <flow/step.hpp>
#include <flow/workflow.hpp>

#include <flow/asio.hpp>

flow::workflow<int> body()
{
    co_return co_await flow::step("pay", flow::non_replayable, [] { return 1; })
        .compensate([]() -> boost::asio::awaitable<void> { co_return; });
}
