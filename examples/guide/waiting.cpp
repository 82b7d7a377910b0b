// For docs/guide/waiting.md: sleeps, tokens that are sent out, waits that end.
#include <flow/flow.hpp>

#include <mutex>

#include "../scratch.hpp"
#include "../store_option.hpp"

using namespace std::chrono_literals;

struct answer {
    bool agreed = false;
};

/// Stands for a mail: what was sent out.
struct letter {
    flow::waitpoint_id token;
    std::string secret;
};
std::mutex guard;
std::vector<letter> letters;

void send(letter l)
{
    std::lock_guard const lock(guard);
    letters.push_back(std::move(l));
}

// [sleeps]
flow::workflow<int> remind()
{
    co_await flow::sleep_for(20ms);

    auto const start = co_await flow::now();  // the clock of the machine must not be asked: replay would get another answer
    co_await flow::sleep_until(start + 30ms);
    co_return 2;
}
// [/sleeps]

// [token]
flow::workflow<std::string> invite(std::string guest)
{
    auto const reply = co_await flow::make_token<answer>("reply");
    co_await flow::step("send", flow::idempotent, [&] { send({reply.id(), reply.secret().text()}); });

    auto const said = co_await flow::wait_for_token(reply);
    co_return said.agreed ? guest + " comes" : guest + " does not come";
}
// [/token]

// [keyed]
flow::workflow<int> confirm(std::vector<std::string> orders)
{
    int mails = 0;
    for (auto const& order : orders) {
        auto const reply = co_await flow::make_token<answer>("confirm", {.idempotency_key = order, .idempotency_key_ttl = 24h});
        if (reply.is_cached()) continue;  // asked for this order before
        co_await flow::step("send", flow::idempotent, [&] { send({reply.id(), reply.secret().text()}); });
        ++mails;
    }
    co_return mails;
}
// [/keyed]

// [timeout]
flow::workflow<std::string> ask_briefly()
{
    auto const said = co_await flow::as_outcome(flow::wait_for_token<answer>("reply", {.timeout = 30ms}));
    if (!said) co_return said.error().code() == flow::errc::wait_timeout ? "nobody answered" : "cancelled";
    co_return "answered";
}
// [/timeout]

/// Stands for a robot: where its arm is.
class arm {
public:
    std::optional<double> position()
    {
        if (++asked_ < 5) return std::nullopt;
        return 0.25;
    }

private:
    int asked_ = 0;
};
arm left_arm;

// [poll]
flow::workflow<double> reach()
{
    auto const metres = co_await flow::poll_until("arm there", [] { return left_arm.position(); }, {.every = 5ms, .timeout = 5min});
    co_return metres;
}
// [/poll]

/// Stands for a game that draws frames: what was begun in one is done some frames later.
class game {
public:
    explicit game(flow::engine& e) : engine_(e) {}

    // [frame]
    void draw(std::string const& scene, flow::token<std::string> const& ends_by)
    {
        std::lock_guard const lock(guard_);
        drawn_.push_back({scene, ends_by, 3});
    }
    void frame()
    {
        std::lock_guard const lock(guard_);
        for (auto& d : drawn_)
            if (d.frames_left-- == 0) engine_.complete(d.ends_by, d.scene + ".png");
            else engine_.heartbeat(d.ends_by);
    }
    // [/frame]

private:
    struct job {
        std::string scene;
        flow::token<std::string> ends_by;
        int frames_left;
    };
    std::mutex guard_;
    flow::engine& engine_;
    std::vector<job> drawn_;
};
game* screen = nullptr;

// [begin]
flow::workflow<std::string> picture(std::string scene)
{
    auto const file = co_await flow::begin_step<std::string>(
        "draw", flow::idempotent, [&](flow::token<std::string> const& ends_by) { screen->draw(scene, ends_by); }, {.heartbeat = 10s});
    co_return file;
}
// [/begin]

// [cancel]
flow::workflow<std::string> rent(std::string car)
{
    auto const key = co_await flow::step("take key", flow::idempotent, [&] { return "key of " + car; });

    auto const returned = co_await flow::as_outcome(flow::wait_for_token<void>("returned"));
    if (!returned) {  // cancelled: what must still happen goes under a shield
        co_await flow::shield(flow::step("lock", flow::idempotent, [&] { send({{}, "locked: " + key}); }));
        co_return "given up";
    }
    co_return "returned";
}
// [/cancel]

int main(int argc, char** argv)
{
    flow::engine engine{flow::open_store(store_text(argc, argv, "memory")), {.threads = 2}};
    engine.add<remind>("remind");
    engine.add<invite>("invite");
    engine.add<ask_briefly>("ask_briefly");
    engine.add<confirm>("confirm");
    engine.add<rent>("rent");
    engine.add<reach>("reach");
    engine.add<picture>("picture");

    expect(engine.start<remind>().result() == 2, "sleeps end");

    auto const run = engine.start<invite>("Ada");
    while (run.status().run != flow::run_status::waiting) run.wait(10ms);
    // [complete]
    auto const [token, secret] = letters.front();
    engine.complete(flow::token<answer>{token}, flow::token_secret{secret}, answer{true});
    // [/complete]
    expect(run.result() == "Ada comes", "a token is completed with its secret");
    letters.clear();

    expect(engine.start<confirm>({"A", "B", "A"}).result() == 2, "a token under a used key is the one made before");
    letters.clear();

    expect(engine.start<ask_briefly>().result() == "nobody answered", "a wait ends at its time limit");

    expect(engine.start<reach>().result() == 0.25, "a poll ends when it is so");

    game shown(engine);
    screen = &shown;
    auto const drawn = engine.start<picture>("harbour");
    while (!drawn.wait(5ms)) shown.frame();
    expect(drawn.result() == "harbour.png", "a step ends some frames after it was begun");

    auto const rented = engine.start<rent>("blue car");
    while (rented.status().run != flow::run_status::waiting) rented.wait(10ms);
    rented.cancel("the garage burns");
    while (!rented.wait(1s)) {}
    expect(rented.status().run == flow::run_status::cancelled, "a cancelled run ends cancelled");
    expect(letters.size() == 1 && letters.front().secret == "locked: key of blue car", "and its clean-up ran");
}
