// What a run's body and its steps' functions ask of its store.
#pragma once

#include <memory>
#include <utility>

#include "runtime/engine/client_core.hpp"
#include "src/outside.hpp"

namespace flow::detail {

class store_access final : public outside_access {
public:
    store_access(std::shared_ptr<client_core> core, run_id from) : core_(std::move(core)), from_(from) {}

    outcome<std::string> secret_of(waitpoint_id id) override { return core_->data->secret_of(id); }
    outcome<delivered> deliver(event e) override
    {
        e.by = "run " + to_string(from_);
        e.at = core_->time().now();
        e.expires_at = never;
        auto told = client_core::insist([&] { return core_->data->deliver(e); });
        if (told && told->answer == delivery_answer::matched) core_->look();
        return told;
    }

private:
    std::shared_ptr<client_core> const core_;
    run_id const from_;
};

}  // namespace flow::detail
