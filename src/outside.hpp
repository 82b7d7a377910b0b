// What a body or a step's function may ask of the store its run lies in: set while one runs on this thread.
#pragma once

#include <memory>
#include <string>

#include "flow/error.hpp"
#include "flow/events.hpp"
#include "flow/ids.hpp"

namespace flow::detail {

/// Any thread; also after the run and its engine are gone.
class outside_access {
public:
    virtual ~outside_access() = default;
    /// The secret of a token (P39).
    virtual outcome<std::string> secret_of(waitpoint_id id) = 0;
    /// Delivers an event, told now by the run it comes from.
    virtual outcome<delivered> deliver(event e) = 0;
};

class outside_here {
public:
    explicit outside_here(std::shared_ptr<outside_access> const& access) noexcept;
    ~outside_here();
    outside_here(outside_here const&) = delete;

private:
    outside_access* before_;
};

/// Throws flow::error: the store's, or usage where nothing is set.
delivered deliver_here(event e);

}  // namespace flow::detail
