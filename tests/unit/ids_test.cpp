#include "flow/ids.hpp"
#include "support/pch.hpp"

using namespace flow;

TEST_CASE("a uuid is printed and read back in one form only", "[ids]")
{
    std::string const text = "0190f5c0-1234-7abc-8def-0123456789ab";
    auto const id = parse_uuid(text);
    REQUIRE(id);
    CHECK(to_string(*id) == text);
    CHECK(id->bytes.front() == 0x01);
    CHECK(id->bytes.back() == 0xab);
    CHECK(parse_uuid("0190F5C0-1234-7ABC-8DEF-0123456789AB") == id);
    CHECK(to_string(run_id{*id}) == text);
    CHECK(to_string(uuid{}) == "00000000-0000-0000-0000-000000000000");
    CHECK(parse_uuid(to_string(uuid{}))->is_nil());

    for (auto const* wrong : {"", "0190f5c0", "{0190f5c0-1234-7abc-8def-0123456789ab}", "0190f5c012347abc8def0123456789ab",
                              "0190f5c0-1234-7abc-8def-0123456789a", "0190f5c0-1234-7abc-8def-0123456789abc", "0190f5c0-1234-7abc-8def-0123456789ag",
                              "0190f5c01-234-7abc-8def-0123456789ab", "0190f5c0-1234-7abc-8def-0123456789-b", " 190f5c0-1234-7abc-8def-0123456789ab"})
        CHECK_FALSE(parse_uuid(wrong));
}

TEST_CASE("sha256 gives the published digests", "[ids]")
{
    CHECK(to_string(sha256("")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    CHECK(to_string(sha256("abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    CHECK(to_string(sha256(std::string(1000000, 'a'))) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    CHECK(digest{}.is_none());
    CHECK_FALSE(sha256("").is_none());
}

TEST_CASE("sha256 may be asked by many threads at once", "[ids]")
{
    std::vector<std::thread> threads;
    std::vector<digest> results(4);
    for (auto& result : results)
        threads.emplace_back([&result] {
            for (int i = 0; i < 1000; ++i) result = sha256("abc");
        });
    for (auto& thread : threads) thread.join();
    for (auto const& result : results) CHECK(result == sha256("abc"));
}

TEST_CASE("counters go up by one", "[ids]")
{
    CHECK(next(seq_no::none) == seq_no{1});
    CHECK(next(epoch_no{41}) == epoch_no{42});
}
