// SE-10: the function that takes the log's lines is somebody else's; what it throws is not the engine's matter.
#include <catch2/catch.hpp>

#include "engine/grumbling_store.hpp"
#include "flow/flow.hpp"
#include "support/stores.hpp"
#include "support/world.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

flow::workflow<int> pays()
{
    co_return co_await flow::step("pay", flow::non_replayable, [] { return outside().note("pay"), 1; });
}
flow::workflow<int> asks()
{
    auto const token = co_await flow::make_token<int>("reply");
    co_return co_await flow::wait_for_token(token);
}

void add_all(flow::engine& e)
{
    e.add<pays>("pays");
    e.add<asks>("asks");
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("SE-10 a log sink that throws breaks nothing", "[engine][log]", every_store)
{
    struct failure {
        char const* call;
        flow::errc code;
    };
    for (auto const& f : {failure{"apply", flow::errc::store_unavailable}, failure{"change_counter", flow::errc::store_corrupt},
                          failure{"scan", flow::errc::store_full}, failure{"look", flow::errc::store_busy},
                          failure{"claim", flow::errc::store_read_only}, failure{"secret_of", flow::errc::store_key}}) {
        CAPTURE(f.call);
        outside().clear();
        grumbling_place<TestType> place("not now");
        int lines = 0;
        flow::engine_options o;
        o.threads = 0;
        o.log = [&](flow::log_level, std::string_view) {
            ++lines;
            throw std::runtime_error("the disk of the log is full");
        };
        flow::engine engine(place.store(), o);
        add_all(engine);
        auto const settle = [&] {
            while (engine.poll(10s).work_left) {
            }
        };
        settle();
        place.refuse(f.call, f.code);
        auto const asks_id = engine.start<asks>().id();
        auto const pays_id = engine.start<pays>().id();
        CHECK_NOTHROW(settle());
        engine.start<pays>();
        CHECK_NOTHROW(settle());
        CHECK(lines > 0);
        CHECK(engine.find(pays_id).status().run == flow::run_status::succeeded);
        auto const expected = f.code == flow::errc::store_key ? flow::run_status::held : flow::run_status::waiting;
        CHECK(engine.find(asks_id).status().run == expected);
        CHECK(outside().count("pay") == 2);
    }
}
