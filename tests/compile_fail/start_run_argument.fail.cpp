// refused: flow: start_run<fn>(...): this argument is not what the workflow takes there
#include <string>

#include <flow/child.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> ship(std::string what) { co_return static_cast<int>(what.size()); }

flow::workflow<> body()
{
    co_await flow::start_run<ship>(7);
}
