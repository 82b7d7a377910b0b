// Whose a secret is, as an answer is judged (protocol P39, P61).
#include <catch2/catch.hpp>

#include "src/asking.hpp"
#include "src/hmac.hpp"
#include "src/question_secrets.hpp"

using namespace flow;
using detail::secret_of_person;

namespace {

std::string const question_secret(64, 'a');

waitpoint_row question_to(std::vector<std::string> assignees, bool secrets = true, std::uint32_t needed = 1)
{
    question_terms t;
    t.text = "Well?";
    t.assignees = std::move(assignees);
    t.needed = needed;
    waitpoint_row w;
    w.purpose = waitpoint_purpose::approval;
    w.shape = "void";
    if (secrets) detail::keep_secret_hashes(w, t, question_secret);
    w.options = detail::write_terms(t);
    return w;
}

response shows(std::string_view secret, std::string by)
{
    response r;
    r.by = std::move(by);
    r.secret_hash = sha256(secret);
    r.at = time_point{std::chrono::seconds{7}};
    return r;
}

response_answer answer_to(waitpoint_row const& w, response const& r, std::vector<response> const& before = {})
{
    return detail::judge(w, before, r).told.answer;
}

}  // namespace

TEST_CASE("the keyed hash is HMAC-SHA-256", "[people][secrets]")
{
    // RFC 4231, cases 1, 2 and 6: a short key, a short text, a key longer than a block.
    CHECK(to_string(detail::hmac_sha256(std::string(20, '\x0b'), "Hi There")) == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    CHECK(to_string(detail::hmac_sha256("Jefe", "what do ya want for nothing?")) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    CHECK(to_string(detail::hmac_sha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")) ==
          "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST_CASE("of a question with secrets the hashes alone are kept, in the order of those who are asked", "[people][secrets]")
{
    auto const w = question_to({"bob", "ann"});
    CHECK(w.secret_hash.is_none());
    auto const t = *detail::read_terms(w.options);
    REQUIRE(t.secret_hashes);
    CHECK(*t.secret_hashes == std::vector{to_string(sha256(secret_of_person(question_secret, "bob"))), to_string(sha256(secret_of_person(question_secret, "ann")))});
    for (std::string const& secret : {question_secret, secret_of_person(question_secret, "bob"), secret_of_person(question_secret, "ann")})
        CHECK(w.options.find(secret) == std::string::npos);
    CHECK(detail::has_secrets(w, t));

    auto const everybodys = question_to({});
    CHECK(everybodys.secret_hash == sha256(question_secret));
    CHECK_FALSE(detail::read_terms(everybodys.options)->secret_hashes);
}

TEST_CASE("a secret counts for the person it was made for, and for nobody else", "[people][secrets]")
{
    auto const w = question_to({"ann", "bob"});
    auto const of = [](std::string_view person) { return secret_of_person(question_secret, person); };
    CHECK(answer_to(w, shows(of("ann"), "ann")) == response_answer::decided);
    for (auto const& [secret, by] : std::vector<std::pair<std::string, std::string>>{{of("bob"), "ann"}, {of("ann"), "bob"}, {of("ann"), ""},
                                                                                     {of("eve"), "eve"}, {of("ann"), "eve"}, {question_secret, "ann"},
                                                                                     {"", "ann"}, {of("ann") + "0", "ann"}, {of(""), ""}}) {
        CAPTURE(secret, by);
        CHECK(answer_to(w, shows(secret, by)) == response_answer::wrong_secret);
    }
    auto const other = secret_of_person(std::string(64, 'b'), "ann");
    CHECK(answer_to(w, shows(other, "ann")) == response_answer::wrong_secret);  // of ann, for another question
    response operators;
    operators.by = "ann";
    CHECK(answer_to(w, operators) == response_answer::decided);
}

TEST_CASE("everybody's secret is one, and does not say who answers", "[people][secrets]")
{
    auto const w = question_to({});
    CHECK(answer_to(w, shows(question_secret, "anyone")) == response_answer::decided);
    CHECK(answer_to(w, shows(secret_of_person(question_secret, "anyone"), "anyone")) == response_answer::wrong_secret);
    CHECK(answer_to(w, shows(question_secret, "")) == response_answer::not_asked);
}

TEST_CASE("no secret fits a question that was asked without", "[people][secrets]")
{
    bool const of_everybody = GENERATE(false, true);
    auto w = question_to(of_everybody ? std::vector<std::string>{} : std::vector<std::string>{"ann"}, false);
    CHECK_FALSE(detail::has_secrets(w, *detail::read_terms(w.options)));
    for (auto const& secret : {question_secret, secret_of_person(question_secret, "ann"), std::string()})
        CHECK(answer_to(w, shows(secret, "ann")) == response_answer::wrong_secret);
    auto r = shows("", "ann");
    r.secret_hash = digest{};  // as the row has it
    CHECK(answer_to(w, r) == response_answer::wrong_secret);
}

TEST_CASE("without the secret nothing is learnt of a question: not how it stands, nor what it is", "[people][secrets]")
{
    auto w = question_to({"ann", "bob"});
    auto wrong = shows("a guess", "ann"), right = shows(secret_of_person(question_secret, "ann"), "ann");
    SECTION("about something else")
    {
        wrong.about = right.about = sha256("something else");
        CHECK(answer_to(w, right) == response_answer::other_arguments);
    }
    SECTION("answered before")
    {
        CHECK(answer_to(w, right, {right}) == response_answer::already_same);
        CHECK(answer_to(w, wrong, {right}) == response_answer::wrong_secret);
    }
    SECTION("decided, timed out, withdrawn")
    {
        auto const [status, told] = GENERATE(table<waitpoint_status, response_answer>({{waitpoint_status::completed, response_answer::decided_before},
                                                                                       {waitpoint_status::timed_out, response_answer::timed_out},
                                                                                       {waitpoint_status::withdrawn, response_answer::withdrawn}}));
        w.status = status;
        CHECK(answer_to(w, right) == told);
    }
    SECTION("no question at all")
    {
        w.purpose = waitpoint_purpose::token;
        w.secret_hash = sha256("a guess");  // a token's own secret is none of a question
        right = wrong;
        CHECK(answer_to(w, right) == response_answer::wrong_secret);
    }
    SECTION("terms that cannot be read") { w.options = "{"; }
    CHECK(answer_to(w, wrong) == response_answer::wrong_secret);
}

TEST_CASE("a question stored before there were secrets is read as one without", "[people][secrets]")
{
    waitpoint_row w;
    w.purpose = waitpoint_purpose::approval;
    w.shape = "void";
    w.options = R"({"subject":"approval","text":"Pay?","choices":[],"assignees":["ann","bob"],"needed":2,"channel":"","sla_at":null,)"
                R"("at_deadline":"fail","default_approves":null,"default_value":"","about":"","about_hash":""})";
    auto const t = detail::read_terms(w.options);
    REQUIRE(t);
    CHECK_FALSE(t->secret_hashes);
    CHECK(t->assignees == std::vector<std::string>{"ann", "bob"});
    response r;
    r.by = "ann";
    CHECK(answer_to(w, r) == response_answer::counted);
    r.secret_hash = sha256("a guess");
    CHECK(answer_to(w, r) == response_answer::wrong_secret);
}
