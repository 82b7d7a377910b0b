// Hostile payloads: whatever bytes come, decoding answers. Worth most under ASan and UBSan.
#include "support/pch.hpp"

#include <cstdint>
#include <random>
#include <tuple>

#include <cereal/types/memory.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>

#include "flow/cereal.hpp"
#include "flow/codec.hpp"

using namespace flow;
using namespace flow::detail;

namespace {

enum class colour { red, green, blue = 200 };
enum plain { first, second, third };

class sealed {
public:
    template <class Archive>
    void serialize(Archive& ar)
    {
        ar(texts, numbers, next, flag);
    }
    std::vector<std::string> texts{"a", "b"};
    std::vector<double> numbers{1, 2};
    std::unique_ptr<sealed> next;
    bool flag = true;
    sealed() = default;
};

struct leaf {
    std::optional<std::int16_t> small;
    float real = 1.5F;
};
struct everything {
    std::string text = "text \" \\ \n ü";
    std::vector<std::uint64_t> numbers{0, ~std::uint64_t{0}};
    std::vector<leaf> leaves{{5, 0.1F}, {}};
    std::vector<everything> kids;
    std::map<std::string, colour> map{{"k", colour::blue}, {"\xff", colour::red}};
    std::unordered_map<int, bool> pairs{{1, true}};
    std::set<int> set{1, 2};
    std::variant<plain, std::string, leaf> one = second;
    std::tuple<bool, char, std::array<double, 2>> tuple{true, 'x', {1, -2.5}};
    std::unique_ptr<leaf> pointer = std::make_unique<leaf>();
    std::optional<std::optional<unit>> nested{std::optional<unit>{unit{}}};
    std::vector<std::byte> bytes{std::byte{1}, std::byte{2}};
    std::vector<bool> bits{true, false};
    std::chrono::milliseconds time{5};
    run_id id;
    sealed opaque;
};

std::string mutated(std::string text, std::mt19937& random)
{
    auto const below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
    static constexpr std::string_view parts[] = {"[", "]", "{", "}", "\"", ",", ":", "null", "-", "1e9", "\\u", "\\", "0", "99999999999999999999",
                                                 "{\"$bytes\":\"", "true", "\"inf\"", "\xff\xff\xff\xff\xff\xff\xff\xff", " "};
    for (auto n = 1 + below(4); n-- > 0 && !text.empty();) {
        auto const at = below(text.size());
        switch (below(6)) {
            case 0: text[at] = static_cast<char>(below(256)); break;
            case 1: text.erase(at, 1 + below(8)); break;
            case 2: text.insert(at, parts[below(std::size(parts))]); break;
            case 3: text.resize(at); break;
            case 4: text.insert(at, text.substr(below(text.size()), below(40))); break;
            default: text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        }
    }
    return text;
}

}  // namespace

TEST_CASE("no payload, however broken, does more than be refused", "[codec][fuzz]")
{
    everything value;
    value.kids.emplace_back();
    value.opaque.next = std::make_unique<sealed>();
    std::mt19937 random(20261130);
    for (auto const how : {encoding::json, encoding::binary}) {
        std::string text;
        encode(how, value, text);
        everything same;
        decode(how, text, same).value();

        for (std::size_t n = 0; n < text.size(); ++n) {
            everything into;
            CHECK_FALSE(decode(how, std::string_view(text).substr(0, n), into));
        }
        int accepted = 0;
        for (int i = 0; i < 20000; ++i) {
            auto const broken = mutated(text, random);
            everything into;
            auto const result = decode(how, broken, into);
            if (!result) {
                if (result.error().code() != errc::undecodable) FAIL("another error: " << result.error().what());
                continue;
            }
            ++accepted;
            // What was read can be written, and is then read to the same.
            std::string once, twice;
            encode(how, into, once);
            everything again;
            decode(how, once, again).value();
            encode(how, again, twice);
            if (once != twice) FAIL("not stable: " << once);
        }
        CHECK(accepted > 0);
    }
}

TEST_CASE("compact_json and check_shape agree with decode about broken texts", "[codec][shape][fuzz]")
{
    std::string text;
    encode(encoding::json, everything{}, text);
    std::string const shape(shape_of<everything>());
    REQUIRE(check_shape(text, shape, true));
    std::mt19937 random(7);
    for (int i = 0; i < 20000; ++i) {
        auto const broken = mutated(text, random);
        auto const compact = compact_json(broken);
        everything into;
        bool const decoded{decode(encoding::json, broken, into)};
        bool const fits{check_shape(broken, shape, false)};
        if ((decoded || fits) && !compact) FAIL("no JSON, but taken: " << broken);
        // An opaque's bytes are beyond what a shape can tell, and enumerators come by name from outside.
        if (fits && !decoded && broken.find("opaque") == broken.npos) FAIL("fits, but cannot be read: " << broken);
        if (compact && !compact_json(*compact)) FAIL("compact, but no JSON: " << *compact);
        ignore(check_shape(text, mutated(shape, random), true), "any answer will do, so that it is one");
    }
}

TEST_CASE("a payload that nests for ever overflows no stack", "[codec][fuzz]")
{
    std::string deep;
    for (int i = 0; i < 200000; ++i) deep += R"({"kids":[)";
    everything into;
    CHECK_FALSE(decode(encoding::json, deep, into));
    CHECK_FALSE(compact_json(deep));
    CHECK_FALSE(check_shape(deep, shape_of<everything>(), false));
    CHECK_FALSE(check_shape("1", std::string(100000, '[') + "i8", false));
    CHECK_FALSE(check_shape("1", "i8" + std::string(100000, '?'), false));

    // The opaque archive has no end of `next` either.
    sealed chain;
    for (int i = 0; i < 40; ++i) {
        auto longer = std::make_unique<sealed>(std::move(chain));
        chain = sealed();
        chain.next = std::move(longer);
    }
    std::string text;
    encode(encoding::binary, chain, text);
    sealed again;
    CHECK(decode(encoding::binary, text, again));
}
