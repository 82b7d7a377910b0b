// refused: returns bool, or std::optional<T> for a value
#include <flow/poll_until.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body()
{
    co_return co_await flow::poll_until("arm there", [] { return 1; });
}
