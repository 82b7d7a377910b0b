// The stores a suite is run against: each a place for one store's data, with a store open on it.
//
//     TEMPLATE_LIST_TEST_CASE("…", "[store]", every_store)
//     {
//         TestType place;
//         flow::store& store = *place.store;
#pragma once

#include <tuple>

#include "flow/stores.hpp"
#include "support/temp_dir.hpp"
#if FLOW_POSTGRES
#include "support/postgres.hpp"
#endif

namespace flow::test {

class memory_stores {
public:
    explicit memory_stores(flow::probe probe = {}) : store(flow::memory({std::move(probe)})) {}

    /// Another handle on the same data: in memory there is only the one.
    store_ptr again(flow::probe = {}) const { return store; }

    static constexpr bool on_disk = false;
    static constexpr int threads = 0;  // of the store's own, while it has owners
    store_ptr const store;
};

class sqlite_stores {
public:
    explicit sqlite_stores(flow::probe probe = {}) : file(dir_.file("flow.db")), store(again(std::move(probe))) {}

    /// Another store object on the same file, as another process would have.
    store_ptr again(flow::probe probe = {}) const
    {
        sqlite_options options;
        options.synchronous = sqlite_options::sync::normal;  // the tests count rows, not what survives a power cut
        options.probe = std::move(probe);
        return flow::sqlite(file, options);
    }

    static constexpr bool on_disk = true;
    static constexpr int threads = 0;

private:
    temp_dir dir_;

public:
    std::string const file;
    store_ptr const store;
};

#if FLOW_POSTGRES
/// Each in a schema of its own, on the server that FLOW_TEST_POSTGRES names.
class postgres_stores {
public:
    explicit postgres_stores(flow::probe probe = {}) : store(again(std::move(probe))) {}

    /// Another store object on the same schema, as another process would have.
    store_ptr again(flow::probe probe = {}) const { return postgres_store(schema_.name(), dir_.file("store.key"), std::move(probe)); }

    std::string const& schema() const noexcept { return schema_.name(); }

    static constexpr bool on_disk = false;  // no file that a test could look into
    static constexpr int threads = 2;       // renews leases, hears of others' commits

private:
    temp_dir dir_;
    postgres_schema schema_;

public:
    store_ptr const store;
};

using every_store = std::tuple<memory_stores, sqlite_stores, postgres_stores>;
#else
using every_store = std::tuple<memory_stores, sqlite_stores>;
#endif

}  // namespace flow::test
