// Payloads that changed, are wrong, or come from outside.
#include "support/pch.hpp"

#include <cstdint>
#include <limits>
#include <tuple>

#include "flow/codec.hpp"

using namespace flow;
using namespace flow::detail;

namespace {

struct line {
    int id = 0;
    double price = 0;
};
struct order {
    std::string name;
    std::vector<line> lines;
    std::optional<std::string> note;
    std::map<std::string, line> by_key;
};
enum class colour { red, green };

template <class T>
std::string fault(std::string_view text, encoding how = encoding::json)
{
    T into{};
    auto const result = decode(how, text, into);
    if (result) return "";
    CHECK(result.error().code() == errc::undecodable);
    return result.error().message();
}

std::string refused(std::string_view json)
{
    auto const result = compact_json(json);
    if (result) return "";
    CHECK(result.error().code() == errc::bad_payload);
    return result.error().message();
}

}  // namespace

TEST_CASE("P13 JSON may lack optional fields, have removed ones and another order", "[codec]")
{
    order o{"old", {{1, 2}}, "stays?", {{"k", {}}}};
    REQUIRE(decode(encoding::json,
                   R"({"gone":{"a":[1,"]"]}, "by_key" : {} ,"lines":[{"price":1.5,"x":null,"id":7}],"name":"n"})", o));
    CHECK(o.name == "n");
    CHECK(o.lines.at(0).id == 7);
    CHECK(o.lines.at(0).price == 1.5);
    CHECK(!o.note);
    CHECK(o.by_key.empty());
}

TEST_CASE("P13 integers may be widened, and must fit", "[codec]")
{
    CHECK(fault<std::int64_t>("-128").empty());
    CHECK(fault<std::uint64_t>("18446744073709551615").empty());
    CHECK(fault<std::int64_t>("9223372036854775808") == "the number does not fit");
    CHECK(fault<std::uint64_t>("-1") == "the number does not fit");
    CHECK(fault<std::uint64_t>("18446744073709551616") == "the number does not fit");
    CHECK(fault<std::int8_t>("128") == "the number does not fit");
    CHECK(fault<std::int8_t>("-129") == "the number does not fit");
    CHECK(fault<std::uint8_t>("256") == "the number does not fit");
    CHECK(fault<int>("1.0") == "expected a whole number");
    CHECK(fault<int>("1e2") == "expected a whole number");
    CHECK(fault<double>("1e999") == "the number does not fit");
    CHECK(fault<double>("7").empty());
}

TEST_CASE("P13 any other difference names the field", "[codec]")
{
    CHECK(fault<order>(R"({"name":"n","lines":[{"id":1,"price":2},{"id":1,"price":"2"}],"note":null,"by_key":{}})") ==
          "at 'lines[1].price': expected a number");
    CHECK(fault<order>(R"({"name":"n","lines":[],"note":5,"by_key":{}})") == "at 'note': expected a string");
    CHECK(fault<order>(R"({"name":"n","note":null,"by_key":{}})") == "at 'lines': missing");
    CHECK(fault<order>(R"({"name":"n","lines":[],"by_key":{"a\nb":{"id":true,"price":1}}})") ==
          "at 'by_key[\"a\\nb\"].id': expected a number");
    CHECK(fault<order>(R"({"name":"n","lines":[],"name":"m","by_key":{}})") == "at 'name': given twice");
    CHECK(fault<colour>(R"("purple")") == "expected the name of an enumerator");
    CHECK(fault<std::tuple<int, int>>("[1]") == "expected an array of 2");
    CHECK(fault<std::tuple<int, int>>("[1,2,3]") == "expected an array of 2");
    CHECK(fault<std::vector<std::tuple<int, int>>>("[[1],2]") == "at '[0]': expected an array of 2");
    CHECK(fault<std::array<int, 2>>("[1]") == "expected an array of 2");
    CHECK(fault<std::variant<int, bool>>(R"({"2":1})") == "no such alternative");
    CHECK(fault<std::variant<int, bool>>(R"({"01":true})") == "expected the number of an alternative");
    CHECK(fault<std::variant<int, bool>>(R"({"1":1})") == "at '[\"1\"]': expected true or false");
    CHECK(fault<run_id>(R"("x")") == "expected a text of the kind 'uuid'");
    CHECK(fault<int>("1 2") == "more than one value");
    CHECK(fault<unit>("{}") == "expected null");
    CHECK(fault<std::vector<int>>("[1,]") == "at '[1]': expected a number");
    CHECK(fault<std::string>(R"({"$bytes":"/w=="})").empty());
    CHECK(fault<std::string>(R"({"$bytes":"/x=="})") == R"(expected a string or {"$bytes":"base64"})");
}

TEST_CASE("numbers and strings are JSON's, not what a library happens to take", "[codec]")
{
    for (auto const* text : {"01", "+1", "1.", ".5", "1e", "0x10", "inf", "nan", "-", "1_000", "--1"}) {
        CHECK(!fault<double>(text).empty());
        CHECK(!refused(text).empty());
    }
    for (auto const* text : {R"("\x")", R"("\ud800")", R"("\ud800 \udc00")", R"("\udc00")", R"("\u12g4")", "\"\n\"", "\"\xff\"", "\"", "'a'"}) {
        CHECK(!fault<std::string>(text).empty());
        CHECK(!refused(text).empty());
    }
    std::string s;
    REQUIRE(decode(encoding::json, R"("\ud83d\ude00\u00fc\/\b\f")", s));
    CHECK(s == "😀ü/\b\f");
}

TEST_CASE("P13 binary takes no difference at all", "[codec]")
{
    std::string text;
    encode(encoding::binary, line{1, 2.5}, text);
    CHECK(fault<line>(text, encoding::binary).empty());
    CHECK(fault<line>(text + '\0', encoding::binary) == "more than one value");
    CHECK(fault<line>(text.substr(0, 11), encoding::binary) == "at 'price': ends too early");
    CHECK(fault<bool>("\2", encoding::binary) == "expected true or false");
    std::string huge(8, '\xff');
    CHECK(fault<std::vector<int>>(huge, encoding::binary) == "counts more items than there are");
    CHECK(fault<std::vector<double>>(std::string("\2\0\0\0\0\0\0\0\1\1", 10), encoding::binary) == "counts more items than there are");
    CHECK(fault<std::string>(huge, encoding::binary) == "ends too early");
    CHECK(fault<std::vector<line>>(huge, encoding::binary) == "counts more items than there are");
}

TEST_CASE("compact_json strips white space and nothing else", "[codec]")
{
    CHECK(compact_json(" { \"a b\" : [ 1.50 , \"x \\\" y\" ,\n null ] } ").value() == "{\"a b\":[1.50,\"x \\\" y\",null]}");
    CHECK(refused("{\"a\":1,}") == "at offset 7: expected a field's name");
    CHECK(refused("[1 2]") == "at offset 3: expected ',' or ']'");
    CHECK(refused("") == "at offset 0: the text ends too early");
    CHECK(refused("1 x") == "at offset 2: more than one value");
    CHECK(refused("[tru]") == "at offset 1: expected a value");
    auto const nested = [](unsigned n) { return std::string(n, '[') + std::string(n, ']'); };
    CHECK(refused(nested(max_depth)).empty());
    CHECK(refused(nested(max_depth + 1)) == "at offset 65: nested deeper than 64");
    CHECK(!refused(std::string(1 << 20, '[')).empty());
}
