// The legal twin.
#include <flow/poll_until.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body()
{
    co_await flow::poll_until("arm there", [](flow::attempt& a) { return a.number() > 0; });
    co_return co_await flow::poll_until("arm there", []() -> std::optional<int> { return 1; });
}
