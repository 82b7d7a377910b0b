// refused: flow: begin_step<T> takes a function that is called with flow::token<T> const&, and with flow::attempt& if it likes
#include <flow/begin_step.hpp>
#include <flow/workflow.hpp>

flow::workflow<int> body()
{
    co_return co_await flow::begin_step<int>("render", flow::idempotent, [] {});
}
