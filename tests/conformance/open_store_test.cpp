// A store named by a text: what each text opens, and what is said of one that names none.
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

#include "flow/open_store.hpp"
#include "runtime/store/store_text.hpp"
#include "support/runs.hpp"
#include "support/stores.hpp"

using namespace flow;
using namespace flow::test;
using Catch::Contains;

namespace {

/// What is said of a text that opens nothing.
error refused(std::string const& text, open_store_options options = {})
{
    try {
        open_store(text, options);
    } catch (error const& e) {
        return e;
    }
    FAIL("it was opened: " << text);
    return {errc::usage, {}};
}

std::string sentence(std::string const& text)
{
    auto const e = refused(text);
    CHECK(e.code() == errc::bad_argument);
    return e.message();
}

}  // namespace

TEST_CASE("each text opens the store that it names", "[store][open]")
{
    temp_dir dir;
    CHECK(open_store("memory")->name() == memory()->name());
    CHECK(open_store("memory") != open_store("memory"));
    for (auto const& text : {"sqlite:" + dir.file("a.db"), dir.file("b.db"), "sqlite:" + dir.file("a:b.db")}) {
        INFO(text);
        auto const file = text.starts_with("sqlite:") ? text.substr(7) : text;
        CHECK_FALSE(std::filesystem::exists(file));
        CHECK(open_store(text)->name() == flow::sqlite(file)->name());
        CHECK(std::filesystem::exists(file));
    }
}

TEST_CASE("what must exist is never made", "[store][open]")
{
    temp_dir dir;
    CHECK(refused("sqlite:" + dir.file("none.db"), {.must_exist = true}).code() == errc::store_unavailable);
    CHECK_FALSE(std::filesystem::exists(dir.file("none.db")));
    auto const in_memory = refused("memory", {.must_exist = true});
    CHECK(in_memory.code() == errc::bad_argument);
    CHECK_THAT(in_memory.message(), Contains("no other can open it"));
}

TEST_CASE("of a text that names no store it is said what is wrong and what to write", "[store][open]")
{
    CHECK_THAT(sentence(""), Contains("memory, sqlite:FILE or postgresql://"));
    CHECK_THAT(sentence("redis://me:secret@host/0"), Contains("no kind of store redis") && Contains("sqlite:FILE") && !Contains("secret"));
    CHECK_THAT(sentence("my:notes.db"), Contains("no kind of store my") && Contains("a file with a colon"));
    CHECK_THAT(sentence("sqlite:"), Contains("names no file"));
    CHECK_THAT(sentence("sqlite"), Contains("sqlite:FILE"));
    CHECK_THAT(sentence("postgres"), Contains("postgresql://USER@HOST/DATABASE"));
    CHECK_THAT(sentence("memory:here"), Contains("nothing follows"));
    CHECK_THAT(sentence("sqlite:///home/me/flow.db"), Contains("without two slashes"));
}

TEST_CASE("a store of one's own is opened by a scheme of its own", "[store][open]")
{
    add_store_kind("test-kind", [](std::string const& text, open_store_options const& o) -> store_ptr {
        return o.must_exist ? nullptr : text == "test-kind:x" ? memory() : nullptr;
    });
    CHECK(open_store("test-kind:x") != nullptr);
    CHECK(open_store("test-kind:x", {.must_exist = true}) == nullptr);
    CHECK(open_store("test-kind:y") == nullptr);
}

TEST_CASE("a text is shown without the password in it", "[store][open]")
{
    using store_detail::without_password;
    CHECK(without_password("postgresql://ada:s3cret@db/work") == "postgresql://ada:PASSWORD@db/work");
    CHECK(without_password("postgresql://ada:s3@cret@db/work?a=b@c") == "postgresql://ada:PASSWORD@db/work?a=b@c");
    CHECK(without_password("postgresql://ada@db/work?password=s3cret&schema=x") == "postgresql://ada@db/work?password=PASSWORD&schema=x");
    for (std::string const open : {"postgresql://ada@db:5432/work", "postgresql:///work?host=/tmp", "sqlite:a:b@c", "memory", "postgresql://db:5432/x@y"})
        CHECK(without_password(open) == open);
}

#if FLOW_POSTGRES
namespace {

/// The tests' server as a URI; `more` goes behind it.
std::string uri(std::string const& more)
{
    auto const words = postgres_server();  // host=FOLDER dbname=postgres user=postgres
    auto const host = words.substr(5, words.find(' ') - 5);
    return "postgresql://postgres@/postgres?host=" + host + more;
}

}  // namespace

TEST_CASE("a PostgreSQL text opens a schema once the program has said that it may", "[store][open][postgres]")
{
    CHECK_THAT(sentence("postgresql://ada:secret@host/db"), Contains("link flow::postgres") && Contains("flow::use_postgres()") && !Contains("secret"));
    CHECK_THAT(sentence("postgres://host/db"), Contains("flow::use_postgres()"));

    use_postgres();
    postgres_schema const one, two;
    temp_dir dir;
    std::string const key = "&key_file=" + dir.file("store.key");
    CHECK(refused(uri("&schema=" + one.name()), {.must_exist = true}).code() == errc::store_foreign);
    auto const store = open_store(uri("&schema=" + one.name() + "&connect_timeout=10&lease=60" + key));
    auto const run = some_run();
    CHECK(store->start(run).has_value());
    CHECK(open_store(uri("&schema=" + one.name()), {.must_exist = true})->run(run.id).value().has_value());
    CHECK_FALSE(open_store(uri("&schema=" + two.name()))->run(run.id).value().has_value());
    CHECK(std::filesystem::exists(dir.file("store.key")));
    auto const encoded = uri("&schema=%74" + one.name().substr(1));  // %74 is a t
    CHECK(open_store("postgres" + encoded.substr(10), {.must_exist = true})->run(run.id).value().has_value());

    CHECK_THAT(sentence(uri("&lease=soon")), Contains("number of seconds"));
    CHECK_THAT(sentence(uri("&schema=")), Contains("schema in the store's text is empty"));
    CHECK_THAT(sentence(uri("&schema=%7")), Contains("two hexadecimal digits"));
    CHECK_THAT(sentence("postgresql:host=db"), Contains("named by a URI"));
    CHECK(refused(uri("&nonsense=1")).code() == errc::store_unavailable);  // libpq's own word for it
}
#endif
