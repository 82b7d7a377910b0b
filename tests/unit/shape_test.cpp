#include "support/pch.hpp"

#include <cstddef>
#include <cstdint>
#include <tuple>

#include "flow/codec.hpp"

using namespace flow;
using namespace flow::detail;

namespace {

struct approval {
    bool approved = false;
    std::string by;
};
struct tree {
    std::string name;
    std::vector<tree> kids;
};
struct branch;
struct twig {
    std::vector<branch> back;
    std::vector<twig> more;
};
struct branch {
    twig end;
    std::unique_ptr<branch> next;
};
struct empty {};
enum class colour : std::uint8_t { red, green, blue = 7 };
enum plain { small = -3, large = 4 };
enum class nameless : int {};
template <class T>
struct boxed {
    enum class state { on, off };
    T value{};
    state now{};
};

std::string misfit(std::string_view json, std::string_view shape, bool strict = false)
{
    auto const result = check_shape(json, shape, strict);
    if (result) return "";
    CHECK(result.error().code() == errc::wrong_shape);
    return result.error().message();
}

}  // namespace

TEST_CASE("P53 shapes are the same text on every compiler", "[shape]")
{
    CHECK(shape_of<approval>() == "{approved:bool,by:str}");
    CHECK(shape_of<tree>() == "{name:str,kids:[^1]}");
    CHECK(shape_of<branch>() == "{end:{back:[^2],more:[^1]},next:^1?}");
    CHECK(shape_of<twig>() == "{back:[{end:^2,next:^1?}],more:[^1]}");
    CHECK(shape_of<std::tuple<std::int8_t, std::int16_t, std::int32_t, std::int64_t>>() == "(i8,i16,i32,i64)");
    CHECK(shape_of<std::tuple<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>>() == "(u8,u16,u32,u64)");
    CHECK(shape_of<std::tuple<char, signed char, long, long long, unsigned long, std::byte>>() == "(i8,i8,i64,i64,u64,u8)");
    CHECK(shape_of<std::pair<float, double>>() == "(f32,f64)");
    CHECK(shape_of<std::tuple<>>() == "()");
    CHECK(shape_of<std::variant<int, std::string, approval>>() == "one(i32|str|{approved:bool,by:str})");
    CHECK(shape_of<std::map<std::string, std::vector<int>>>() == "map<str,[i32]>");
    CHECK(shape_of<std::unordered_map<std::string, bool>>() == "map<str,bool>");
    CHECK(shape_of<std::map<int, bool>>() == "[(i32,bool)]");
    CHECK(shape_of<std::set<int>>() == "[i32]");
    CHECK(shape_of<std::array<int, 3>>() == "[i32*3]");
    CHECK(shape_of<std::optional<std::unique_ptr<int>>>() == "i32??");
    CHECK(shape_of<unit>() == "void");
    CHECK(shape_of<empty>() == "{}");
    CHECK(shape_of<std::monostate>() == "{}");
    CHECK(shape_of<std::vector<std::byte>>() == "bytes");
    CHECK(shape_of<run_id>() == "uuid");
    CHECK(shape_of<colour>() == "<red|green|blue=7>");
    CHECK(shape_of<plain>() == "<small=-3|large=4>");
    CHECK(shape_of<nameless>() == "<>");
    CHECK(shape_of<boxed<std::pair<int, bool>>>() == "{value:(i32,bool),now:<on|off>}");
    CHECK(shape_of<std::chrono::milliseconds>() == "duration(i64,1/1000)");
    CHECK(shape_of<std::chrono::duration<double>>() == "duration(f64,1/1)");
    CHECK(shape_of<time_point>() == "time(i64,1/1000000)");
}

TEST_CASE("a shape is made once", "[shape]") { CHECK(shape_of<tree>().data() == shape_of<tree>().data()); }

TEST_CASE("P53 an answer is checked without its type", "[shape]")
{
    auto const shape = shape_of<approval>();
    CHECK(misfit(R"({"approved":true,"by":"a"})", shape).empty());
    CHECK(misfit(R"( {"by":"a", "approved":false} )", shape).empty());
    CHECK(misfit(R"({"approved":1,"by":"a"})", shape) == "at 'approved': expected true or false");
    CHECK(misfit(R"({"approved":true})", shape) == "at 'by': missing");
    CHECK(misfit(R"({"approved":true,"by":"a","by":"b"})", shape) == "at 'by': given twice");
    CHECK(misfit("[]", shape) == "expected an object");
    CHECK(misfit("", shape) == "expected an object");
    CHECK(misfit(R"({"approved":true,"by":"a"} x)", shape) == "more than one value");
}

TEST_CASE("P13 unknown fields from outside are ignored unless strict", "[shape]")
{
    auto const shape = shape_of<approval>();
    auto const* json = R"({"approved":true,"by":"a","extra":{"x":[1]}})";
    CHECK(misfit(json, shape).empty());
    CHECK(misfit(json, shape, true) == "at 'extra': unknown field");
    CHECK(!misfit(R"({"approved":true,"by":"a","extra":{"x":[1}})", shape).empty());
}

TEST_CASE("every kind of shape is checked", "[shape]")
{
    CHECK(misfit("[1,2]", "[u8]").empty());
    CHECK(misfit("[1,256]", "[u8]") == "at '[1]': the number does not fit");
    CHECK(misfit("[1]", "[i32*2]") == "expected an array of 2");
    CHECK(misfit("[1,true]", "(i32,bool)").empty());
    CHECK(misfit("[1,2]", "(i32,bool)") == "at '[1]': expected true or false");
    CHECK(misfit("[]", "()").empty());
    CHECK(misfit("null", "i32?").empty());
    CHECK(misfit("5", "i32?").empty());
    CHECK(misfit("5", "i32??") == "expected an array");
    CHECK(misfit("[null]", "i32??").empty());
    CHECK(misfit("[null]", "void?").empty());
    CHECK(misfit("{}", "{a:i32?}").empty());
    CHECK(misfit(R"({"k":1})", "map<str,i8>").empty());
    CHECK(misfit(R"({"k":"1"})", "map<str,i8>") == R"(at '["k"]': expected a number)");
    CHECK(misfit(R"({"1":"x"})", "one(i32|str)").empty());
    CHECK(misfit(R"({"0":"x"})", "one(i32|str)") == R"(at '["0"]': expected a number)");
    CHECK(misfit(R"({"2":0})", "one(i32|str)") == "no such alternative");
    CHECK(misfit(R"("green")", "<red|green=5>").empty());
    CHECK(misfit(R"("grey")", "<red|green=5>") == "expected the name of an enumerator");
    CHECK(misfit("1", "<red|green>") == "expected the name of an enumerator");
    CHECK(misfit("1", "<>").empty());
    CHECK(misfit("1500", "duration(i64,1/1000)").empty());
    CHECK(misfit("1.5", "time(i64,1/1000)") == "expected a whole number");
    CHECK(misfit(R"("inf")", "f64").empty());
    CHECK(misfit("null", "void").empty());
    CHECK(misfit(R"({"$bytes":"AQ=="})", "bytes").empty());
    CHECK(misfit(R"("text")", "opaque") == R"(expected {"$bytes":"base64"})");
    CHECK(misfit(R"("0190f5c0-1234-7abc-8def-0123456789ab")", "uuid").empty());
    CHECK(misfit(R"("0190")", "uuid") == "expected a text of the kind 'uuid'");
    CHECK(misfit(R"("anything")", "a_word_of_a_user").empty());
    CHECK(misfit(R"({"name":"a","kids":[{"name":"b","kids":[]},{"name":1,"kids":[]}]})", "{name:str,kids:[^1]}") ==
          "at 'kids[1].name': expected a string");
}

TEST_CASE("a text that is no shape is said to be none", "[shape]")
{
    for (auto const* text : {"", "{", "{a}", "{a:}", "[i32", "[i32*]", "(i32", "one()", "<a|>", "map<i32,str>", "map<str,i32", "^1", "{a:^2}", "{a:^0}",
                             "i32x ", "duration(i64,1)", "i32]", "{a:i32,}"})
        CHECK(misfit("1", text) == "'" + std::string(text) + "' is no shape");
}
