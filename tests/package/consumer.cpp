// A program of somebody else's, that has nothing of flow but its package: what it is built with is the folders beside this file.
#include <flow/asio.hpp>
#include <flow/cereal.hpp>
#include <flow/flow.hpp>
#ifdef WITH_POSTGRES
#include <flow/postgres.hpp>
#endif

#include <boost/asio/awaitable.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

using namespace std::chrono_literals;

struct no_paper : std::runtime_error {
    using std::runtime_error::runtime_error;
};

flow::workflow<std::string> print(std::string page)
{
    auto const sheets = co_await flow::step("count", flow::replayable, [&] { return static_cast<int>(page.size()); });
    auto const twice = co_await flow::step("double", flow::replayable,
                                           [&](flow::attempt&) -> boost::asio::awaitable<int> { co_return 2 * sheets; });
    flow::step_options const once{.retry = {.max_attempts = 1}};
    auto const printed = co_await flow::as_outcome(flow::step("print", flow::idempotent, []() -> int { throw no_paper("no paper"); }, once));
    if (printed.error().tag() != "no_paper") co_return "the exception came back as " + printed.error().tag();
    try {
        co_await flow::wait_for_token<bool>("more paper?", {.timeout = 1ms});
    } catch (flow::wait_timeout const& e) {
        co_return std::to_string(twice) + " pages wait";
    }
    co_return "somebody answered";
}

void expect(bool ok, char const* what)
{
    if (ok) return;
    std::printf("FAILED: %s\n", what);
    std::exit(1);
}

/// The exception's class, thrown in the library and caught here.
bool refuses(std::string const& text, flow::errc code)
try {
    flow::open_store(text);
    return false;
} catch (std::exception const& e) {
    auto const* known = dynamic_cast<flow::error const*>(&e);
    return known != nullptr && known->code() == code;
}

int main()
{
    for (auto const* text : {"memory", "sqlite:consumer.db"}) {
        flow::engine engine{flow::open_store(text), {.threads = 2}};
        engine.add<print>("print");
        expect(engine.start<print>("four").result() == "8 pages wait", text);
        char const* words[] = {"consumer", "--json", "runs"};
        expect(flow::command_line(3, words, engine) == 0, "the command line");
        try {
            engine.find("no such run");
            expect(false, "an unknown run was found");
        } catch (flow::error const& e) {
            expect(e.code() == flow::errc::unknown_run, "unknown_run");
        }
    }
    expect(std::filesystem::exists("consumer.db"), "the file is there");
    expect(refuses("redis://here", flow::errc::bad_argument), "a text of no kind of store");
    // Without the component, or before it was asked for.
    expect(refuses("postgresql://here", flow::errc::bad_argument), "no PostgreSQL store yet");
#ifdef WITH_POSTGRES
    flow::use_postgres();
    expect(refuses("postgresql:///nothing?host=/nowhere", flow::errc::store_unavailable), "a server that is not there");
#endif
    std::puts("consumer: ok");
}
