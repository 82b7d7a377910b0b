#include "flow/error.hpp"
#include "support/pch.hpp"

#include "flow/detail/codec_io.hpp"

using namespace flow;

namespace {

struct thrown {
    std::string kind;
    error_detail detail;
};

thrown raised(errc code)
{
    try {
        raise(error({.code = code, .tag = "t", .message = "m", .place = "p#0", .attempts = 3}));
    } catch (cancelled const&) {
        return {"cancelled", {}};
    } catch (wait_timeout const& e) {
        return {"wait_timeout", e.detail()};
    } catch (step_skipped const& e) {
        return {"step_skipped", e.detail()};
    } catch (step_error const& e) {
        return {"step_error", e.detail()};
    } catch (error const& e) {
        return {"error", e.detail()};
    }
}

}  // namespace

TEST_CASE("each code has one row, in the order of the numbers", "[error]")
{
    for (std::size_t i = 0; i < errors.size(); ++i) {
        if (i != 0) CHECK(errors[i - 1].code < errors[i].code);
        CHECK(&row_of(errors[i].code) == &errors[i]);
        CHECK(!errors[i].meaning.empty());
    }
    CHECK(static_cast<int>(errc::store_busy) == 101);
    CHECK(static_cast<int>(errc::nondeterminism) == 201);
    CHECK(static_cast<int>(errc::step_failed) == 301);
    CHECK(static_cast<int>(errc::bad_payload) == 415);
}

TEST_CASE("P60 what is raised has the class that belongs to its code, with the detail untouched", "[error]")
{
    CHECK(raised(errc::cancelled).kind == "cancelled");
    CHECK(raised(errc::wait_timeout).kind == "wait_timeout");
    CHECK(raised(errc::step_skipped).kind == "step_skipped");
    CHECK(raised(errc::step_failed).kind == "step_error");
    CHECK(raised(errc::step_timeout).kind == "step_error");
    CHECK(raised(errc::output_unstorable).kind == "step_error");
    CHECK(raised(errc::store_full).kind == "error");
    CHECK(raised(errc::wait_timeout).detail ==
          error_detail{.code = errc::wait_timeout, .tag = "t", .message = "m", .place = "p#0", .attempts = 3});
}

TEST_CASE("what() begins with the name of the code and says what to do", "[error]")
{
    CHECK(std::string(error(errc::step_failed, "no disk").what()) == "step_failed: no disk");
    CHECK(std::string(error(errc::store_full, "").what()) == "store_full: the disk is full; nothing was written. Make room, then go on");
    CHECK(std::string(error(errc::store_full, "flow.db").what()) ==
          "store_full: flow.db (the disk is full; nothing was written. Make room, then go on)");
    CHECK(std::string(error({.code = errc::step_failed, .tag = {}, .message = "m", .place = "render#0", .attempts = 1}).what()) ==
          "step_failed: at render#0: m");
}

TEST_CASE("P18 messages are cut at 64 KB, not within a character", "[error]")
{
    CHECK(error(errc::step_failed, std::string(65536, 'x')).message().size() == 65536);
    CHECK(error(errc::step_failed, std::string(65537, 'x')).message().size() == 65536);
    auto const cut = error(errc::step_failed, std::string(65535, 'x') + "ü").message();
    CHECK(cut.size() == 65535);
    CHECK(detail::valid_utf8(cut));
    CHECK(error(errc::step_failed, std::string(70000, '\x80')).message().size() == 65536);
}

TEST_CASE("PL-01 an error's message keeps its bytes", "[error]")
{
    std::string const bytes("a\0\xff", 3);
    CHECK(error(errc::step_failed, bytes).message() == bytes);
}

TEST_CASE("an outcome holds a value or throws its error", "[error]")
{
    outcome<int> good = 5, bad = error(errc::wait_timeout, "late");
    CHECK(good.value() == 5);
    CHECK_FALSE(bad);
    CHECK_THROWS_AS(bad.value(), wait_timeout);
    outcome<void> nothing;
    CHECK(nothing);
    nothing = error(errc::store_busy, "");
    CHECK(nothing.error().code() == errc::store_busy);
}
