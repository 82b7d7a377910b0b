// From a token's completion to the code behind it: the run in memory, out of it, and completed by another process.
#include <sys/wait.h>
#include <unistd.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <type_traits>

#include "bench/bench.hpp"
#include "flow/flow.hpp"

namespace flow::bench {

namespace {

constexpr auto patience = std::chrono::seconds{30};

/// Where the body has come to; it is told on the engine's thread.
class place {
public:
    void waits_for(waitpoint_id id)
    {
        std::lock_guard const lock(guard_);
        id_ = id;
        changed_.notify_all();
    }
    void went_on()
    {
        std::lock_guard const lock(guard_);
        at_ = steady::now();
        changed_.notify_all();
    }
    waitpoint_id next_wait()
    {
        std::unique_lock lock(guard_);
        if (!changed_.wait_for(lock, patience, [&] { return id_.has_value(); })) throw std::runtime_error("the run does not wait");
        return *std::exchange(id_, std::nullopt);
    }
    steady::time_point next_waking()
    {
        std::unique_lock lock(guard_);
        if (!changed_.wait_for(lock, patience, [&] { return at_.has_value(); })) throw std::runtime_error("the run was not woken");
        return *std::exchange(at_, std::nullopt);
    }
    void forget()
    {
        std::lock_guard const lock(guard_);
        id_.reset(), at_.reset();
    }

private:
    std::mutex guard_;
    std::condition_variable changed_;
    std::optional<waitpoint_id> id_;
    std::optional<steady::time_point> at_;
};
place body;

workflow<int> waits(int steps, int times)
{
    int sum = 0;
    for (int i = 0; i < steps; ++i) sum += co_await step("step", idempotent, [&] { return i; });
    for (int i = 0; i < times; ++i) {
        auto const t = co_await make_token<int>("token");
        body.waits_for(t.id());
        sum += co_await wait_for_token(t);
        body.went_on();
    }
    co_return sum;
}

/// Completes it, and says when it began to.
using completion = std::function<steady::time_point(waitpoint_id)>;

/// Microseconds of one wait, from when it is quiet.
double wake(flow::engine& engine, any_run_handle const& run, execution_status quiet, std::chrono::milliseconds later, completion const& complete,
            raw_commits& raw)
{
    auto const id = body.next_wait();
    // The status alone may still be that of the wait before.
    auto const rests = [&] { return engine.data().waitpoint(id).value() && run.status().execution == quiet; };
    for (auto const end = steady::now() + patience; !rests();) {
        if (steady::now() > end) throw std::runtime_error("the run does not come to rest");
        std::this_thread::sleep_for(std::chrono::microseconds{500});
    }
    std::this_thread::sleep_for(later);
    raw.once();
    auto const begin = complete(id);
    return microseconds(body.next_waking() - begin);
}

completion by(flow::engine& engine)
{
    return [&engine](waitpoint_id id) {
        auto const begin = steady::now();
        engine.complete_json(id, "1");
        return begin;
    };
}

constexpr int wakes = 300;

/// One run that stays in memory and waits again and again.
double wake_in_memory(flow::engine& engine, completion const& complete, raw_commits& raw)
{
    body.forget();
    std::vector<double> all;
    auto const run = engine.start<waits>(0, wakes);
    // At another moment each time, so that it meets what happens every 10 ms anywhere between two.
    for (int i = 0; i < wakes; ++i)
        all.push_back(wake(engine, run, execution_status::executing_with_waitpoints, std::chrono::milliseconds{2 + i * 7 % 11}, complete, raw));
    run.result();
    return median(std::move(all));
}

/// Another process with a client of its own. Forked before this one has threads or an open file of the store.
class other_process {
public:
    explicit other_process(std::string const& file)
    {
        int there[2], back[2];
        if (::pipe(there) != 0 || ::pipe(back) != 0) throw std::runtime_error("no pipe");
        child_ = ::fork();
        if (child_ < 0) throw std::runtime_error("no child process");
        if (child_ == 0) {
            ::close(there[1]), ::close(back[0]);
            ::_exit(serve(file, there[0], back[1]));
        }
        ::close(there[0]), ::close(back[1]);
        to_ = there[1], from_ = back[0];
    }
    ~other_process()
    {
        ::close(to_), ::close(from_);
        ::waitpid(child_, nullptr, 0);
    }
    other_process(other_process const&) = delete;

    steady::time_point complete(waitpoint_id id) const
    {
        steady::time_point begin;
        if (::write(to_, &id, sizeof id) != sizeof id || ::read(from_, &begin, sizeof begin) != sizeof begin)
            throw std::runtime_error("the other process is gone");
        return begin;
    }

private:
    static int serve(std::string const& file, int from, int to) noexcept
    try {
        std::optional<client> c;
        for (waitpoint_id id; ::read(from, &id, sizeof id) == sizeof id;) {
            if (!c) c.emplace(sqlite(file));
            auto const begin = steady::now();  // one clock for all processes of a machine
            c->complete_json(id, "1");
            if (::write(to, &begin, sizeof begin) != sizeof begin) return 1;
        }
        return 0;
    } catch (...) {
        return 1;
    }
    static_assert(std::is_trivially_copyable_v<waitpoint_id> && std::is_trivially_copyable_v<steady::time_point>);

    ::pid_t child_ = -1;
    int to_ = -1, from_ = -1;
};

}  // namespace

row wake_hot()
{
    scratch dir;
    flow::engine engine(sqlite(dir.file("flow.db")));
    engine.add<waits>("waits");
    raw_commits raw(dir.file("raw.db"));
    auto const value = wake_in_memory(engine, by(engine), raw);
    return {"wake-hot", value, "us", raw.median(), 50, bar_of::over_raw};
}

row wake_cold()
{
    scratch dir;
    engine_options o;
    o.evict_after = std::chrono::seconds{0};
    flow::engine engine(sqlite(dir.file("flow.db")), o);
    engine.add<waits>("waits");
    raw_commits raw(dir.file("raw.db"));
    std::vector<double> all;
    for (int i = 0; i < 200; ++i) {
        body.forget();
        auto const run = engine.start<waits>(10, 1);
        all.push_back(wake(engine, run, execution_status::suspended, std::chrono::milliseconds{2 + i * 7 % 11}, by(engine), raw));
        run.result();
    }
    return {"wake-cold", median(std::move(all)), "us", raw.median(), 300, bar_of::over_raw};
}

row wake_foreign()
{
    scratch dir;
    other_process const other(dir.file("flow.db"));
    flow::engine engine(sqlite(dir.file("flow.db")));
    engine.add<waits>("waits");
    raw_commits raw(dir.file("raw.db"));
    auto const value = wake_in_memory(engine, [&](waitpoint_id id) { return other.complete(id); }, raw) / 1000;
    return {"wake-foreign", value, "ms", raw.median() / 1000, 50, bar_of::value};
}

}  // namespace flow::bench
