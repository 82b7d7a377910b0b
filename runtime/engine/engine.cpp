#include "flow/engine.hpp"

#include <signal.h>

#include <atomic>
#include <thread>
#include <utility>

#include "runtime/engine/core.hpp"
#include "src/names.hpp"

namespace flow {

std::string_view to_string(health_report::cause c) noexcept
{
    using enum health_report::cause;
    switch (c) {
    case store_locked: return "store_locked";
    case store_read_only: return "store_read_only";
    case store_full: return "store_full";
    case store_unreachable: return "store_unreachable";
    case store_damaged: return "store_damaged";
    case ownership_lost: return "ownership_lost";
    case stopped: return "stopped";
    case store_warning: return "store_warning";
    }
    return "unknown";
}

engine::engine(store_ptr store, engine_options options)
    : client(std::make_shared<detail::client_core>(std::move(store), options.name, options.clock, options.random, options.log)),
      engine_(std::make_shared<detail::engine_core>(core(), options))
{
    auto* const e = engine_.get();
    std::function<void()> drive;
    if (e->is_polled()) drive = [e] { e->poll(std::chrono::milliseconds{1}); };
    core()->attach({[e] { e->look_soon(); }, std::move(drive), [e](completion const& c) { return e->complete(c); }});
}

engine::~engine() { engine_->end(); }

void engine::add_functions(std::string_view name, workflow_options options, detail::workflow_functions const& functions)
{
    if (detail::is_internal(name)) throw error(errc::bad_name, "a workflow cannot be named \"" + detail::printable(name, 100) + "\": \"flow.\" is for the library's own");
    engine_->add(name, options, functions);
}

any_run_handle engine::schedule_functions(std::string_view name, timing const& when, detail::workflow_functions const& functions,
                                          std::string arguments, schedule_options const& options)
{
    return schedule_encoded(name, when, engine_->registered(functions), std::move(arguments), functions.arguments_shape(), options);
}

any_run_handle engine::start_encoded(detail::workflow_functions const& functions, std::string arguments, start_options const& o)
{
    auto const w = engine_->registered(functions);
    return engine_->start(w, std::move(arguments), functions.arguments_shape(), o);
}

any_run_handle engine::start(std::string_view workflow, args const& arguments, start_options o)
{
    auto const [w, functions] = engine_->find(workflow, o.version.number);
    auto text = detail::compact_json(arguments.text()).value();
    if (auto const ok = detail::check_shape(text, functions->arguments_shape(), false); !ok)
        throw error(errc::bad_argument, "workflow \"" + w.workflow + "\" takes " + std::string(functions->arguments_shape()) +
                                            ": " + ok.error().message());
    return engine_->start(w, std::move(text), functions->arguments_shape(), o);
}

poll_result engine::poll(std::chrono::microseconds budget) { return engine_->poll(budget); }
executor const& engine::on() const noexcept { return engine_->on(); }
void engine::stop_then(std::chrono::milliseconds limit, std::function<void(bool)> done) { engine_->stop_then(limit, std::move(done)); }
bool engine::stop(std::chrono::milliseconds limit) { return engine_->stop(limit); }
std::vector<std::string> engine::still_running() const { return engine_->still_running(); }
bool engine::heartbeat(waitpoint_id of) noexcept { return engine_->life.beat(of, engine_->clock().steady()); }
health_report engine::health() { return engine_->health(); }

// ---- until a signal ----------------------------------------------------------------------------------------------------------

namespace {

std::atomic<int> asked_to_end{0};
extern "C" void on_signal(int) { asked_to_end.fetch_add(1); }

class signals {
public:
    signals()
    {
        struct sigaction a = {};
        a.sa_handler = on_signal;
        sigaction(SIGINT, &a, &interrupt_);
        sigaction(SIGTERM, &a, &terminate_);
    }
    ~signals()
    {
        sigaction(SIGINT, &interrupt_, nullptr);
        sigaction(SIGTERM, &terminate_, nullptr);
    }
    signals(signals const&) = delete;

private:
    struct sigaction interrupt_ = {}, terminate_ = {};
};

}  // namespace

void engine::run()
{
    signals const listening;
    int const before = asked_to_end;
    while (asked_to_end == before) {
        if (engine_->is_polled()) {
            auto const r = poll(std::chrono::milliseconds{10});
            if (r.work_left) continue;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds{10});  // a signal handler can wake nothing portably
    }
    stop();
}

}  // namespace flow
