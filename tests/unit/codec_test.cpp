// What values become, and that they come back. Broken and changed payloads: codec_decode_test.cpp, codec_fuzz_test.cpp.
#include "support/pch.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <sstream>
#include <tuple>

#include <cereal/archives/portable_binary.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

#include "flow/cereal.hpp"
#include "flow/codec.hpp"

using namespace flow;
using namespace flow::detail;

namespace {

struct approval {
    bool approved = false;
    std::string by;
    friend bool operator==(approval const&, approval const&) = default;
};
struct tree {
    std::string name;
    std::vector<tree> kids;
    friend bool operator==(tree const&, tree const&) = default;
};
struct chain {
    int value = 0;
    std::unique_ptr<chain> next;
};
struct empty {
    friend bool operator==(empty, empty) { return true; }
};
enum class colour : std::uint8_t { red, green, blue = 7 };
enum plain { small = -3, large = 4 };

/// Neither an aggregate nor made of what is: only its own function knows it.
class sealed {
public:
    sealed() = default;
    sealed(std::string text, std::vector<double> numbers) : text_(std::move(text)), numbers_(std::move(numbers)) {}
    template <class Archive>
    void serialize(Archive& ar)
    {
        ar(text_, numbers_);
    }
    friend bool operator==(sealed const&, sealed const&) = default;

private:
    std::string text_;
    std::vector<double> numbers_;
};

struct celsius {
    double degrees = 0;
    friend bool operator==(celsius, celsius) = default;
};

template <class T>
std::string json(T const& value)
{
    std::string out;
    encode(encoding::json, value, out);
    return out;
}

template <class T>
T back(encoding how, T const& value)
{
    std::string text;
    encode(how, value, text);
    T again{};
    decode(how, text, again).value();
    return again;
}

/// Comes back equal in both encodings.
template <class T>
bool exact(T const& value)
{
    return back(encoding::json, value) == value && back(encoding::binary, value) == value;
}

template <class Real>
bool same_bits(Real value)
{
    auto const bits = [](Real v) {
        std::string out(sizeof v, '\0');
        std::memcpy(out.data(), &v, sizeof v);
        return out;
    };
    auto const json_bits = bits(back(encoding::json, value)), binary_bits = bits(back(encoding::binary, value));
    return binary_bits == bits(value) && (json_bits == bits(value) || (std::isnan(value) && std::isnan(back(encoding::json, value))));
}

}  // namespace

template <>
struct flow::codec_traits<celsius> {
    static constexpr std::string_view shape = "celsius";
    static std::string to_text(celsius const& c) { return std::to_string(static_cast<int>(c.degrees)) + "C"; }
    static bool from_text(std::string_view text, celsius& c)
    {
        if (!text.ends_with('C')) return false;
        c.degrees = std::stoi(std::string(text));
        return true;
    }
};

TEST_CASE("P13 payloads are written as the reference page says", "[codec]")
{
    CHECK(json(approval{true, "alice"}) == R"({"approved":true,"by":"alice"})");
    CHECK(json(tree{"a", {tree{"b", {}}}}) == R"({"name":"a","kids":[{"name":"b","kids":[]}]})");
    CHECK(json(std::string("\"\\\n\t\x01\x7f/ü")) == "\"\\\"\\\\\\n\\t\\u0001\x7f/ü\"");
    CHECK(json(std::string("\xff\0x", 3)) == R"({"$bytes":"/wB4"})");
    CHECK(json(std::vector<std::byte>{std::byte{1}}) == R"({"$bytes":"AQ=="})");
    CHECK(json(std::vector<std::uint8_t>{1, 255}) == "[1,255]");
    CHECK(json(std::tuple{1, 'a', 2.5F, std::string("x")}) == R"([1,97,2.5,"x"])");
    CHECK(json(std::map<std::string, int>{{"b", 2}, {"a", 1}}) == R"({"a":1,"b":2})");
    CHECK(json(std::map<std::string, int>{{"\xff", 1}, {"$bytes:", 2}}) == R"({"$bytes:JGJ5dGVzOg==":2,"$bytes:/w==":1})");
    CHECK(json(std::map<int, bool>{{2, true}}) == "[[2,true]]");
    CHECK(json(std::variant<int, std::string>("x")) == R"({"1":"x"})");
    CHECK(json(std::optional<int>{}) == "null");
    CHECK(json(std::optional<std::optional<int>>{std::optional<int>{}}) == "[null]");
    CHECK(json(std::chrono::milliseconds(1500)) == "1500");
    CHECK(json(time_point(duration(-1))) == "-1");
    CHECK(json(colour::blue) == R"("blue")");
    CHECK(json(static_cast<colour>(9)) == "9");
    CHECK(json(plain::small) == R"("small")");
    CHECK(json(celsius{21}) == R"("21C")");
    CHECK(json(run_id{}) == R"("00000000-0000-0000-0000-000000000000")");
    CHECK(json(unit{}) == "null");
    CHECK(json(empty{}) == "{}");
    CHECK(json(std::monostate{}) == "{}");
}

TEST_CASE("equal unordered containers have equal payloads", "[codec]")
{
    std::unordered_map<std::string, int> one, other;
    std::unordered_set<int> ones, others;
    for (int i = 0; i < 100; ++i) one[std::to_string(i)] = i, ones.insert(i);
    for (int i = 100; i-- > 0;) other[std::to_string(i)] = i, others.insert(i);
    one.rehash(1000), ones.rehash(1000);
    CHECK(json(one) == json(other));
    CHECK(json(ones) == json(others));
    CHECK(exact(one));
    CHECK(exact(ones));
}

TEST_CASE("PL-05 doubles come back bit for bit", "[codec]")
{
    using limits = std::numeric_limits<double>;
    for (double const v : {1.5, limits::quiet_NaN(), limits::infinity(), -limits::infinity(), -0.0, 0.0, 1e50, limits::denorm_min(),
                           limits::max(), limits::min(), 0.1 + 0.2, 9007199254740992.0, 9007199254740993e10, 1e22, 1e23, -1.0 / 3})
        CHECK(same_bits(v));
    for (float const v : {1.5F, std::numeric_limits<float>::quiet_NaN(), -0.0F, 16777216.0F, 0.1F, 3e38F, 1e-45F}) CHECK(same_bits(v));
    CHECK(json(std::numeric_limits<double>::quiet_NaN()) == R"("nan")");
    CHECK(json(std::vector{limits::infinity(), -limits::infinity()}) == R"(["inf","-inf"])");
    CHECK(json(100000.0) == "100000");
    CHECK(json(-0.0) == "-0");

    std::uint64_t seed = 42;
    for (int i = 0; i < 20000; ++i) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        auto const v = std::bit_cast<double>(seed);
        if (!same_bits(v)) FAIL("bits changed: " << seed);
    }
}

TEST_CASE("PL-05 empty values come back empty", "[codec]")
{
    CHECK(exact(std::vector<int>{}));
    CHECK(exact(std::string{}));
    CHECK(exact(std::optional<int>{}));
    CHECK(exact(std::map<std::string, int>{}));
    CHECK(exact(std::array<int, 0>{}));
    CHECK(exact(std::tuple<>{}));
    CHECK(exact(std::vector<empty>(5)));
}

TEST_CASE("PL-06 integers of 64 bits come back exactly", "[codec]")
{
    for (auto const v : {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), std::int64_t{9007199254740993}})
        CHECK(exact(v));
    CHECK(exact(std::numeric_limits<std::uint64_t>::max()));
    CHECK(json(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
    CHECK(exact(std::tuple<std::int8_t, std::uint8_t, std::int16_t, char, wchar_t, char32_t>(-128, 255, -32768, 'z', L'w', U'😀')));
}

TEST_CASE("PL-10 void, nothing, an empty string and an empty struct stay distinct", "[codec]")
{
    CHECK(json(unit{}) == "null");
    CHECK(json(std::optional<unit>{unit{}}) == "[null]");
    CHECK(json(std::string{}) == R"("")");
    CHECK(json(empty{}) == "{}");
    CHECK(exact(std::optional<std::optional<std::string>>{std::optional<std::string>{}}));
    CHECK(exact(std::optional<std::optional<std::string>>{}));
    CHECK(exact(std::optional<unit>{unit{}}));
}

TEST_CASE("PL-10 a move-only value comes back", "[codec]")
{
    for (auto const how : {encoding::json, encoding::binary}) {
        std::string text;
        encode(how, chain{1, std::make_unique<chain>(chain{2, nullptr})}, text);
        chain again;
        REQUIRE(decode(how, text, again));
        CHECK(again.value == 1);
        REQUIRE(again.next);
        CHECK(again.next->value == 2);
        CHECK(!again.next->next);
    }
}

TEST_CASE("PL-01 PL-10 strings of any bytes and of ten megabytes come back byte for byte", "[codec]")
{
    CHECK(exact(std::string("a\0b", 3)));
    CHECK(json(std::string("a\0b", 3)) == R"("a\u0000b")");
    std::string every;
    for (int i = 0; i < 256; ++i) every += static_cast<char>(i);
    CHECK(exact(every));
    for (auto const* text : {"\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80", "😀", "ü€"}) CHECK(exact(std::string(text)));
    CHECK(exact(std::string(10 << 20, 'x')));
    CHECK(exact(std::map<std::string, std::string>{{every, every}, {std::string("\0", 1), ""}}));
}

TEST_CASE("every kind of type comes back in both encodings", "[codec]")
{
    CHECK(exact(approval{true, "bob"}));
    CHECK(exact(tree{"a", {tree{"b", {}}, tree{"c", {tree{"d", {}}}}}}));
    CHECK(exact(std::vector<bool>{true, false, true}));
    CHECK(exact(std::set<std::string>{"x", "y"}));
    CHECK(exact(std::map<colour, std::vector<double>>{{colour::red, {1, 2.5}}, {colour::blue, {}}}));
    CHECK(exact(std::unordered_map<int, approval>{{1, {true, "a"}}, {2, {}}}));
    CHECK(exact(std::pair<std::optional<int>, std::variant<std::monostate, int, approval>>(3, approval{true, "x"})));
    CHECK(exact(std::array<std::string, 2>{"a", "b"}));
    CHECK(exact(std::chrono::system_clock::time_point(std::chrono::nanoseconds(123456789))));
    CHECK(exact(std::chrono::duration<double>(1.25)));
    CHECK(exact(waitpoint_id{*parse_uuid("0190f5c0-1234-7abc-8def-0123456789ab")}));
    CHECK(exact(std::vector{colour::red, static_cast<colour>(200)}));
    CHECK(exact(std::vector{plain::small, plain::large}));
    CHECK(exact(celsius{-4}));
    CHECK(exact(std::vector<std::byte>{std::byte{0}, std::byte{255}}));
    CHECK(*back(encoding::json, std::make_shared<tree>(tree{"s", {}})) == tree{"s", {}});
}

TEST_CASE("a class with cereal's serialize alone is stored opaque, and cereal itself can read it", "[codec]")
{
    sealed const value("text", {1.5, -0.0});
    CHECK(exact(value));
    CHECK(exact(std::vector{value, sealed{}}));
    CHECK(shape_of<sealed>() == "opaque");

    auto text = json(value);
    std::string bytes;
    REQUIRE(decode_base64(std::string_view(text).substr(11, text.size() - 13), bytes));
    std::istringstream in(bytes);
    cereal::PortableBinaryInputArchive archive(in);
    sealed again;
    archive(again);
    CHECK(again == value);
}

TEST_CASE("a value nested too deeply is refused when it is written", "[codec]")
{
    chain head;
    auto* last = &head;
    for (unsigned i = 1; i < max_depth; ++i) last = (last->next = std::make_unique<chain>()).get();
    std::string out = "kept";
    encode(encoding::json, head, out);
    chain again;
    CHECK(decode(encoding::json, std::string_view(out).substr(4), again));

    last->next = std::make_unique<chain>();
    out = "kept";
    for (auto const how : {encoding::json, encoding::binary}) {
        CHECK_THROWS_AS(encode(how, head, out), flow::error);
        CHECK(out == "kept");
    }
}

TEST_CASE("an enum without an underlying type takes the values of its bits only", "[codec]")
{
    CHECK(exact(static_cast<plain>(7)));
    plain into{};
    CHECK(decode(encoding::json, "-8", into));
    CHECK_FALSE(decode(encoding::json, "8", into));
    CHECK_FALSE(decode(encoding::json, "-9", into));
    CHECK_FALSE(decode(encoding::json, "1000000", into));
}

TEST_CASE("bytes are stored raw, and nothing but strings and bytes is", "[codec]")
{
    std::string out, again;
    encode(encoding::bytes, std::string("\xff\0", 2), out);
    CHECK(out == std::string("\xff\0", 2));
    REQUIRE(decode(encoding::bytes, out, again));
    CHECK(again == out);
    CHECK_THROWS_AS(encode(encoding::bytes, 1, out), flow::error);
    CHECK_THROWS_AS(encode(encoding::none, std::string("x"), out), flow::error);
}
