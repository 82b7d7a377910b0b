// Which run's token secrets this thread may ask for: set while a body or a step's function runs on it.
#pragma once

#include <functional>
#include <string>

#include "flow/error.hpp"
#include "flow/ids.hpp"

namespace flow::detail {

using secret_source = std::function<outcome<std::string>(waitpoint_id)>;

class secrets_here {
public:
    explicit secrets_here(secret_source const& source) noexcept;
    ~secrets_here();
    secrets_here(secrets_here const&) = delete;

private:
    secret_source const* before_;
};

}  // namespace flow::detail
