#include "runtime/engine/held.hpp"

#include <algorithm>

namespace flow::detail {

namespace {

class reading_access final : public outside_access {
public:
    explicit reading_access(store& s) : store_(s) {}
    outcome<std::string> secret_of(waitpoint_id id) override { return store_.secret_of(id); }
    outcome<delivered> deliver(event) override { return error(errc::usage, "a replay sends nothing"); }

private:
    store& store_;
};

/// Lets a body read and refuses everything else; a replay asks for nothing else.
class reading_host final : public host {
public:
    reading_host(store& s, flow::clock const& c, workflow_names const& names) : store_(s), clock_(c), names_(names) {}

    flow::clock const& clock() const override { return clock_; }
    void fill_random(std::span<std::uint8_t>) override {}
    void write(group) override {}
    void call_out(call_order) override {}
    std::shared_ptr<void> join_line(ticket, limit const&) override { return nullptr; }
    void arm_at(ticket, time_point) override {}
    void arm_in(ticket, duration) override {}
    void disarm(ticket) override {}
    outcome<std::string> load_blob(digest const& hash) override { return store_.load_blob(hash); }
    outcome<std::optional<waitpoint_row>> find_waitpoint(waitpoint_id id) override { return store_.waitpoint(id); }
    outcome<std::uint32_t> version_for(std::string_view, std::uint32_t version, encoding, std::string_view) override { return version; }
    outcome<workflow_version> workflow_of(workflow_functions const& f) override { return names_(f); }
    std::shared_ptr<outside_access> outside() override { return std::make_shared<reading_access>(store_); }
    void warn(std::string_view) override {}

private:
    store& store_;
    flow::clock const& clock_;
    workflow_names const& names_;
};

}  // namespace

stored_arguments load_arguments(loaded_run const& loaded, store& s)
{
    stored_arguments a;
    if (loaded.entries.empty() || loaded.entries.front().kind != entry_kind::start) return a;
    auto const newest = std::find_if(loaded.entries.rbegin(), loaded.entries.rend(), [](auto const& e) { return e.kind == entry_kind::continued; });
    auto const& first = newest == loaded.entries.rend() ? loaded.entries.front() : *newest;
    a.how = first.encoding;
    a.text = first.payload;
    if (first.in_blob)
        if (auto blob = s.load_blob(first.hash)) a.text = *std::move(blob);
    return a;
}

outcome<std::unique_ptr<body>> make_body(workflow_functions const& functions, stored_arguments const& arguments, run_row const& row)
{
    auto b = functions.make(arguments.how, arguments.text);
    if (b) return b;
    return error(errc::undecodable, "the arguments of workflow " + row.workflow + " version " + std::to_string(row.version) + " (shape now " +
                                        std::string(functions.arguments_shape()) + ") cannot be read: " + b.error().message());
}

bool worth_retrying(loaded_run loaded, workflow_functions const& functions, run_settings const& settings, store& s, clock const& c,
                    std::string_view so_far, workflow_names const& names)
{
    auto const arguments = load_arguments(loaded, s);
    if (!functions.make(arguments.how, arguments.text)) return false;
    reading_host host(s, c, names);
    auto const outside = host.outside();
    outside_here const here(outside);
    run r(std::move(loaded), settings, host);
    r.replay_only();
    r.enter([&] { return functions.make(arguments.how, arguments.text); });
    return r.would_go_on() || r.would_be_held_by() != so_far;
}

}  // namespace flow::detail
