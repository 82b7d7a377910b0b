#include "src/names.hpp"
#include "support/pch.hpp"

#include "flow/detail/codec_io.hpp"
#include "flow/error.hpp"

using namespace flow;
using namespace flow::detail;

namespace {

std::string refusal(std::string_view name)
{
    try {
        check_name(name);
    } catch (error const& e) {
        CHECK(e.code() == errc::bad_name);
        return e.message();
    }
    return "";
}

std::string placed(std::string_view name)
{
    std::string out = "at/";
    append_place_name(out, name);
    return out;
}

}  // namespace

TEST_CASE("P1 a name of 1 to 256 bytes of UTF-8 is taken", "[names]")
{
    CHECK(refusal("a").empty());
    CHECK(refusal("send mail/über 100%").empty());
    CHECK(refusal(std::string(256, 'x')).empty());
}

TEST_CASE("P1 any other name is refused with what is wrong", "[names]")
{
    CHECK(refusal("") == "a name must not be empty");
    CHECK(refusal(std::string(257, 'x')).ends_with("…' has 257 bytes: at most 256 are allowed"));
    CHECK(refusal("a\nb") == "the name 'a\\nb' has a control character at byte 1");
    CHECK(refusal("a\x7f") == "the name 'a\\x7F' has a control character at byte 1");
    CHECK(refusal("\xc2\x9bx") == "the name '\\xC2\\x9Bx' has a control character at byte 0");
    CHECK(refusal("a\xff") == "the name 'a\\xFF' is not UTF-8");
}

TEST_CASE("PL-01 a name with NUL is refused", "[names]")
{
    CHECK(refusal(std::string_view("a\0b", 3)) == "the name 'a\\x00b' has a control character at byte 1");
}

TEST_CASE("P1 a place holds other bytes percent-encoded", "[names]")
{
    CHECK(placed("render_2-b") == "at/render_2-b");
    CHECK(placed("a/b#c.d %") == "at/a%2Fb%23c%2Ed%20%25");
    CHECK(placed("über") == "at/über");
}

TEST_CASE("SE-10 printable text is one line, escaped", "[names]")
{
    CHECK(printable("plain über 😀", 100) == "plain über 😀");
    CHECK(printable("a\r\nroot: ok", 100) == "a\\x0D\\nroot: ok");
    CHECK(printable("\x1b[31mred", 100) == "\\x1B[31mred");
    CHECK(printable("\xc2\x9b", 100) == "\\xC2\\x9B");                    // CSI in one character
    CHECK(printable("a\xe2\x80\xa8" "b\xe2\x80\xae" "c", 100) == "a\\xE2\\x80\\xA8b\\xE2\\x80\\xAEc");  // line separator, override
    CHECK(printable("\\n", 100) == "\\\\n");
    CHECK(printable(std::string_view("\0", 1), 100) == "\\x00");
    CHECK(printable("\xff\xe2\x82", 100) == "\\xFF\\xE2\\x82");
}

TEST_CASE("SE-10 printable text is bounded", "[names]")
{
    CHECK(printable("12345678", 8) == "12345678");
    CHECK(printable("123456789", 8) == "12345…");
    CHECK(printable("über-lang", 7) == "übe…");
    CHECK(printable("123", 2).size() <= 2);
    for (std::size_t max = 0; max < 40; ++max) {
        auto const text = printable("a\n\x01ü😀\xff-more of the same", max);
        CHECK(text.size() <= max);
        CHECK(valid_utf8(text));
    }
}
