// SX-01: a crash between an effect and its record. Nobody can tell whether it happened, so only a person has it repeated.
#include <catch2/catch.hpp>

#include <utility>

#include "engine/dying.hpp"
#include "flow/flow.hpp"
#include "src/payloads.hpp"
#include "support/invariants.hpp"
#include "support/stores.hpp"

using namespace std::chrono_literals;
using namespace flow::test;

namespace {

std::function<void()> after_effect;

flow::workflow<std::string> pays_and_mails()
{
    auto const receipt = co_await flow::step("pay", flow::non_replayable, [](flow::attempt& a) {
        if (a.number() == 1) throw flow::not_started("the bank is closed");
        outside().note("pay");
        if (auto const dies = std::exchange(after_effect, nullptr)) dies();
        return std::string("bank-1");
    });
    co_await flow::step("mail", flow::idempotent, [] { outside().note("mail"); });
    co_return receipt;
}

void add_all(flow::engine& e) { e.add<pays_and_mails>("pays_and_mails"); }

std::vector<flow::journal_entry> of_kind(world& w, flow::run_id id, flow::entry_kind k)
{
    auto all = w.journal(id);
    std::erase_if(all, [k](auto const& e) { return e.kind != k; });
    return all;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("SX-01 an effect whose record was lost is repeated by a person's decision only", "[engine][step][intervention]",
                        every_store)
{
    dying_place<TestType> place;
    world w(place.open(), add_all);
    after_effect = [&] { place.cut_off(); };  // K3
    auto const id = w.engine().template start<pays_and_mails>().id();
    w.pass(1min);
    REQUIRE(outside().count("pay") == 1);
    place.die(w);
    w.clock().advance(1h);
    w.settle();
    place.die(w);
    w.pass(24h);
    REQUIRE(outside().all() == std::vector<std::string>{"pay"});

    auto const intents = of_kind(w, id, flow::entry_kind::intent);
    REQUIRE(intents.size() == 2);
    CHECK(intents.back().attempt == 2);
    auto const v = w.view(id);
    CHECK(v.waits_for.type == flow::wait_reason::kind::intervention);
    CHECK(v.waits_for.name == "pay#0");
    CHECK_THAT(v.waits_for.detail, Catch::Contains("not known whether pay#0 happened"));
    REQUIRE(v.open.size() == 1);
    CHECK(v.open.front().row.place == "pay#0");
    auto const shown = flow::detail::read_payload<flow::detail::intervention_payload>(v.open.front().row.options);
    REQUIRE(shown);
    CHECK(shown->step == "pay#0");
    CHECK(shown->attempt == 2);
    CHECK(shown->intent_at == intents.back().at.time_since_epoch().count());  // not when it was asked: an hour later
    CHECK(shown->choices == std::vector<std::string>{"retry", "complete", "skip", "fail", "cancel"});

    std::string choice;
    auto const decide = [&](std::string what, std::optional<std::string_view> output = std::nullopt) {
        choice = std::move(what);
        w.engine().decide(w.engine().intervention_of(id), choice, output, "asked the bank", "alice");
        w.pass(24h);
    };
    int pays = 1;
    SECTION("it happened, and its output is X")
    {
        decide("complete", R"("bank-9")");
        CHECK(w.view(id).result == R"("bank-9")");
        CHECK(outside().count("mail") == 1);
    }
    SECTION("it did not happen: run it")
    {
        decide("retry");
        pays = 2;
        CHECK(w.view(id).result == R"("bank-1")");
        CHECK(outside().count("mail") == 1);
        CHECK(of_kind(w, id, flow::entry_kind::intent).size() == 3);
    }
    SECTION("fail the run")
    {
        decide("fail");
        REQUIRE(w.status(id) == flow::run_status::failed);
        CHECK(w.view(id).failure->code == flow::errc::effect_unknown);
        CHECK(outside().count("mail") == 0);
    }
    CHECK(outside().count("pay") == pays);

    auto const decisions = of_kind(w, id, flow::entry_kind::decision);
    REQUIRE(decisions.size() == 1);
    auto const& d = decisions.front();
    CHECK(d.place == "pay#0");
    CHECK(flow::detail::read_payload<flow::detail::decision_payload>(d.payload)->choice == choice);
    CHECK(d.by == "alice");
    CHECK(d.why == "asked the bank");
    auto const happened = w.view(id).happened;
    CHECK(std::any_of(happened.begin(), happened.end(), [&](auto const& h) {
        return h.text == "pay#0 was decided: " + choice + "." && h.by == "alice" && h.why == "asked the bank";
    }));

    place.die(w);
    w.pass(24h);
    CHECK(outside().count("pay") == pays);
    check_invariants(*place.look());
}
