// The legal twin.
#include <string>

#include <flow/ask.hpp>
#include <flow/workflow.hpp>

struct refund {
    std::string to;
    int cents = 0;
};

flow::workflow<bool> body(std::string who)
{
    refund const what{who, 120};
    auto const v = co_await flow::ask("refund", flow::question("Refund?").about(what).to("ann", "bob").otherwise(false));
    auto const w = co_await flow::ask<std::string>("way", flow::question("Which way?").choices("left", "right").otherwise(true, "left"));
    co_return v.approved && w.approved;
}
