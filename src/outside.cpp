#include "src/outside.hpp"

#include "flow/token.hpp"

namespace flow::detail {

namespace {
thread_local outside_access* here = nullptr;
}

outside_here::outside_here(std::shared_ptr<outside_access> const& access) noexcept : before_(here) { here = access.get(); }
outside_here::~outside_here() { here = before_; }

std::string secret_here(waitpoint_id id)
{
    if (!here)
        throw error(errc::usage, "token.secret() can be asked for in a workflow body or in the function of one of its steps; "
                                 "in an Asio step, read it in the body first");
    return here->secret_of(id).value();
}

delivered deliver_here(event e)
{
    if (!here) throw error(errc::usage, "flow::send works in a workflow body only");
    return here->deliver(std::move(e)).value();
}

}  // namespace flow::detail
