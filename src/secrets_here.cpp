#include "src/secrets_here.hpp"

#include "flow/token.hpp"

namespace flow::detail {

namespace {
thread_local secret_source const* here = nullptr;
}

secrets_here::secrets_here(secret_source const& source) noexcept : before_(here) { here = &source; }
secrets_here::~secrets_here() { here = before_; }

std::string secret_here(waitpoint_id id)
{
    if (!here || !*here)
        throw error(errc::usage, "token.secret() can be asked for in a workflow body or in the function of one of its steps; "
                                 "in an Asio step, read it in the body first");
    auto secret = (*here)(id);
    if (!secret) throw secret.error();
    return *std::move(secret);
}

}  // namespace flow::detail
