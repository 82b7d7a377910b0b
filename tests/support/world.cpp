#include "support/world.hpp"

#include <catch2/catch.hpp>

#include "flow/store_reader.hpp"

namespace flow::test {

ledger& outside()
{
    static ledger l;
    return l;
}

world::world(store_ptr store, registration add, engine_options options)
    : store_(std::move(store)), add_(std::move(add)), options_(std::move(options))
{
    outside().clear();
    options_.threads = 0;
    options_.clock = &clock_;
    options_.name = "test";
    options_.log = [this](log_level, std::string_view line) { log.emplace_back(line); };
    if (!options_.random) options_.random = [](std::uint8_t* bytes, std::size_t n) {
        for (; n > 0; --n, ++bytes) {  // splitmix64: the same bytes in the same order, in every run of the test
            std::uint64_t z = (seed_ += 0x9E3779B97F4A7C15ULL);
            z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
            z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
            *bytes = static_cast<std::uint8_t>(z >> 56);
        }
    };
    make();
}

world::~world() = default;

void world::make()
{
    engine_.emplace(store_, options_);
    add_(*engine_);
}

void world::settle()
{
    while (engine_->poll(std::chrono::seconds{10}).work_left) {
    }
}

void world::pass(duration d)
{
    auto const end = clock_.steady() + d;
    for (;;) {
        auto const r = engine_->poll(std::chrono::seconds{10});
        if (!store_->change_counter()) return;  // the store is gone: nothing will come of it
        if (r.work_left) continue;
        auto const left = end - clock_.steady();
        if (left <= duration::zero()) return;
        clock_.advance(std::min(left, std::max(r.next_due, duration{1})));
    }
}

void world::restart(store_ptr on, registration add)
{
    engine_.reset();
    if (on) store_ = std::move(on);
    if (add) add_ = std::move(add);
    make();
}

waitpoint_id world::open_token(std::string_view name)
{
    waitpoint_filter which;
    which.status = waitpoint_status::pending;
    which.purpose = waitpoint_purpose::token;
    std::vector<waitpoint_row> found;
    for (auto& w : engine().waitpoints(which))
        if (name.empty() || w.name == name) found.push_back(w);
    REQUIRE(found.size() == 1);
    return found.front().id;
}

int world::entries(run_id id, entry_kind k)
{
    int n = 0;
    for (auto const& e : journal(id)) n += e.kind == k;
    return n;
}

}  // namespace flow::test
