// A store whose lists are those of an empty store: a read replica that has not heard of anything yet.
#pragma once

#include "flow/store_reader.hpp"
#include "flow/stores.hpp"
#include "support/fault_store.hpp"

namespace flow::test {

class lagging_store final : public fault_store {
public:
    explicit lagging_store(store_ptr wrapped) : fault_store(std::move(wrapped)) {}
    store_reader& reader() override { return old_->reader(); }

private:
    store_ptr const old_ = flow::memory();
};

}  // namespace flow::test
