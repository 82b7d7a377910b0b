// Wait policies: the file, what it cannot say, and what they mean for one wait.
#include <catch2/catch.hpp>

#include "flow/error.hpp"
#include "src/wait_policy.hpp"

using namespace std::chrono_literals;
using namespace flow;
using namespace flow::detail;
using Catch::Contains;
using enum timeout_action;

namespace {

constexpr time_point now{duration{1'000'000'000}};

planned_wait plan(wait_policy p, code_terms const& code = {}, wait_reason::kind type = wait_reason::kind::approval)
{
    stored_wait_policies known;
    known.version = 4;
    (type == wait_reason::kind::approval ? known.policies.approval : known.policies.external) = std::move(p);
    return plan_wait(&known, type, code, now);
}

}  // namespace

TEST_CASE("wait policies: what is written is read again, and equal policies are equal texts", "[policy]")
{
    wait_policies all;
    all.approval = wait_policy{.snapshot = false, .sla = 90s, .timeout = 1500ms, .on_timeout = {{escalate, {"ann", "bob"}, "desk", 2h}, {default_answer}, {expire}}};
    all.tool = wait_policy{.release_compute = false, .heartbeat = 15s, .on_timeout = {{cancel_tool}}};
    all.external = wait_policy{.resumable = false};
    auto const text = to_json(all);
    CHECK(to_json(parse_wait_policies(text)) == text);
    CHECK(text == R"({"approval":{"release_compute":true,"snapshot":false,"resumable":true,"sla_s":90,"heartbeat_s":null,"timeout_s":1.5,"on_timeout":[)"
                  R"({"action":"escalate","to":["ann","bob"],"channel":"desk","for_s":7200},{"action":"default_answer","to":null,"channel":null,"for_s":null},)"
                  R"({"action":"expire","to":null,"channel":null,"for_s":null}]},"input":null,)"
                  R"("tool":{"release_compute":false,"snapshot":true,"resumable":true,"sla_s":null,"heartbeat_s":15,"timeout_s":null,)"
                  R"("on_timeout":[{"action":"cancel_tool","to":null,"channel":null,"for_s":null}]},)"
                  R"("external":{"release_compute":true,"snapshot":true,"resumable":false,"sla_s":null,"heartbeat_s":null,"timeout_s":null,"on_timeout":[]}})");
    CHECK(to_json(parse_wait_policies("{}")) == to_json(wait_policies{}));
}

TEST_CASE("wait policies: times stay as they are, however often they are read and written", "[policy]")
{
    for (std::int64_t ms = 1; ms < 70'000; ms += 7) {
        wait_policies all;
        all.external = wait_policy{.timeout = std::chrono::milliseconds{ms}};
        all.tool = wait_policy{.sla = std::chrono::microseconds{ms * 1001}, .heartbeat = std::chrono::milliseconds{ms}};
        auto const again = parse_wait_policies(to_json(all));
        REQUIRE(again.external->timeout.get() == std::chrono::milliseconds{ms});
        REQUIRE(again.tool->sla.get() == std::chrono::microseconds{ms * 1001});
        REQUIRE(again.tool->heartbeat.get() == std::chrono::milliseconds{ms});
    }
    CHECK(parse_wait_policies(R"({"external":{"timeout_s":1.1}})").external->timeout.get() == 1100ms);
}

TEST_CASE("wait policies: what cannot be is refused by name", "[policy]")
{
    auto const [text, why] = GENERATE(table<std::string, std::string>({
        {"{", "bad_payload"},
        {R"({"aproval":{}})", "aproval"},
        {R"({"approval":{"sla":3600}})", "sla"},
        {R"({"approval":{"sla_s":"1h"}})", "approval.sla_s"},
        {R"({"approval":{"on_timeout":[{"action":"explode"}]}})", "action"},
        {R"({"approval":{"on_timeout":[{}]}})", "action"},
        {R"({"approval":{"timeout_s":0}})", "a time is more than 0"},
        {R"({"approval":{"timeout_s":-1}})", "a time is more than 0"},
        {R"({"approval":{"timeout_s":1e300}})", "timeout_s"},
        {R"({"approval":{"heartbeat_s":15}})", "heartbeat_s belongs to \"tool\""},
        {R"({"tool":{"resumable":false}})", "side-effect class"},
        {R"({"tool":{"timeout_s":9,"on_timeout":[{"action":"escalate","to":["x"]}]}})", "\"escalate\" ends no wait of this type"},
        {R"({"external":{"timeout_s":9,"on_timeout":[{"action":"expire"}]}})", "\"expire\" ends no wait of this type"},
        {R"({"input":{"timeout_s":9,"on_timeout":[{"action":"cancel_tool"}]}})", "\"cancel_tool\" ends no wait of this type"},
        {R"({"input":{"timeout_s":9,"on_timeout":[{"action":"escalate"}]}})", "to whom"},
        {R"({"input":{"timeout_s":9,"on_timeout":[{"action":"escalate","to":[""]}]}})", "empty name"},
        {R"({"input":{"timeout_s":9,"on_timeout":[{"action":"escalate","to":[")" + std::string(257, 'x') + R"("]}]}})", "at most 256 bytes"},
        {R"({"input":{"timeout_s":9,"on_timeout":[{"action":"fail","to":["x"]}]}})", "only escalate has"},
        {R"({"input":{"timeout_s":9,"on_timeout":[{"action":"escalate","to":["x"],"for_s":0}]}})", "for_s is more than 0"},
        {R"({"input":{"on_timeout":[{"action":"escalate","to":["x"]}]}})", "escalate needs timeout_s or sla_s"},
        {R"({"input":{"timeout_s":9,"on_timeout":[{"action":"expire"},{"action":"fail"}]}})", "after \"expire\" nothing is done any more"},
    }));
    INFO(text);
    CHECK_THROWS_WITH(parse_wait_policies(text), Contains(why));
}

TEST_CASE("wait policies: the time-out, and what follows it", "[policy]")
{
    CHECK(plan_wait(nullptr, wait_reason::kind::approval, {.timeout = 1h, .sla = 1min}, now).due_at == now + 1h);
    CHECK(plan({}).due_at == never);
    CHECK(plan({.sla = 1h}).due_at == never);
    CHECK(plan({.sla = 1h}).terms.sla_at == now + 1h);
    CHECK(plan({.sla = 1h}, {.sla = 2h}).terms.sla_at == now + 2h);
    CHECK(plan({.timeout = 1h}).due_at == now + 1h);
    CHECK(plan({.timeout = 1h}).then == std::nullopt);
    CHECK(plan({.sla = 1h, .on_timeout = {{expire}}}).due_at == now + 1h);
    CHECK(plan({.sla = 1h, .timeout = 2h, .on_timeout = {{expire}}}).due_at == now + 2h);
    CHECK(plan({.sla = 1h, .on_timeout = {{expire}}}, {.sla = 8h}).due_at == now + 8h);

    auto const twice = plan({.timeout = 1h, .on_timeout = {{escalate, {"a"}, "", 2h}, {escalate, {"b"}}, {fail}}});
    CHECK(twice.terms.escalations == std::vector<escalation>{{now + 1h, {"a"}, ""}, {now + 3h, {"b"}, ""}});
    CHECK(twice.due_at == now + 4h);
    CHECK(twice.then == on_deadline::fail);
    auto const open = plan({.timeout = 1h, .on_timeout = {{escalate, {"a"}}}});
    CHECK(open.due_at == never);
    auto const far = plan({.timeout = 24h * 365 * 200'000, .on_timeout = {{escalate, {"a"}}, {fail}}});
    CHECK(far.terms.escalations.at(0).at == now + 24h * 365 * 200'000);
    CHECK(far.due_at == never);
}

TEST_CASE("wait policies: a default answer counts where there is one", "[policy]")
{
    wait_policy const p{.timeout = 1h, .on_timeout = {{default_answer}, {escalate, {"a"}}, {expire}}};
    CHECK(plan(p, {.has_default = true}).then == on_deadline::default_answer);
    CHECK(plan(p, {.has_default = true}).due_at == now + 1h);
    CHECK(plan(p).then == on_deadline::expire);
    CHECK(plan(p).due_at == now + 2h);
    CHECK(plan({.timeout = 1h, .on_timeout = {{default_answer}}}).then == std::nullopt);
    CHECK(plan({.timeout = 1h, .on_timeout = {{default_answer}}}).due_at == now + 1h);
    CHECK(plan(p, {.timeout = 5h}).due_at == now + 5h);
    CHECK(plan(p, {.timeout = 5h}).then == on_deadline::expire);
    CHECK(plan(p, {.timeout = 5h}).terms.escalations.empty());
    CHECK(plan(p, {.timeout = 5h, .then = on_deadline::fail}).then == on_deadline::fail);
    CHECK(plan(p, {.then = on_deadline::default_answer, .has_default = true}).then == on_deadline::default_answer);
}

TEST_CASE("wait policies: which runs may leave memory", "[policy]")
{
    using external = wait_policy;
    auto const leaves = [](external p) { return plan(std::move(p), {}, wait_reason::kind::external).terms.leaves; };
    CHECK(leaves({}) == parting::freely);
    CHECK(leaves({.release_compute = false}) == parting::never);
    CHECK(leaves({.resumable = false}) == parting::never);
    CHECK(leaves({.snapshot = false}) == parting::without_resources);
    CHECK(plan({}, {}, wait_reason::kind::external).terms.policy == 4);
}

TEST_CASE("a wait reason keeps what its policy says", "[policy]")
{
    wait_reason r;
    r.type = wait_reason::kind::external;
    r.since = now;
    r.sla_at = now + 1h;
    r.policy = 3;
    r.resumable = false;
    r.escalations = {{now + 2h, {"ann \"the\" boss", "bob"}, "desk"}, {now + 3h, {}, "mail"}};
    CHECK(parse_wait_reason(to_json(r)) == r);
}
