// Stores that answer what the contract allows and no store of ours does every time.
#pragma once

#include "flow/store_reader.hpp"
#include "flow/stores.hpp"
#include "support/fault_store.hpp"

namespace flow::test {

/// Its lists are those of an empty store: a read replica that has not heard of anything yet.
class lagging_store final : public fault_store {
public:
    explicit lagging_store(store_ptr wrapped) : fault_store(std::move(wrapped)) {}
    store_reader& reader() override { return old_->reader(); }

private:
    store_ptr const old_ = flow::memory();
};

/// Tells every wake and request twice, as two looks do of which the second comes before the first was acted on.
class stuttering_store final : public fault_store {
public:
    explicit stuttering_store(store_ptr wrapped) : fault_store(std::move(wrapped)) {}
    outcome<std::vector<notice>> look(owner_id owner, std::size_t limit) override
    {
        auto first = fault_store::look(owner, limit);
        if (!first) return first;
        auto all = *first;
        all.insert(all.end(), first->begin(), first->end());
        return all;
    }
};

}  // namespace flow::test
