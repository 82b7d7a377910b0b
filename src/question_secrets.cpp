#include "src/question_secrets.hpp"

#include <algorithm>
#include <vector>

#include "src/asking.hpp"
#include "src/hmac.hpp"

namespace flow::detail {

std::string secret_of_person(std::string_view question_secret, std::string_view person) { return to_string(hmac_sha256(question_secret, person)); }

void keep_secret_hashes(waitpoint_row& w, question_terms& t, std::string_view question_secret)
{
    if (t.assignees.empty()) {
        w.secret_hash = sha256(question_secret);
        return;
    }
    auto& hashes = t.secret_hashes.emplace();
    for (auto const& person : asked_at(t, never)) hashes.push_back(to_string(sha256(secret_of_person(question_secret, person))));
}

bool has_secrets(waitpoint_row const& w, question_terms const& t) { return t.assignees.empty() ? !w.secret_hash.is_none() : t.secret_hashes.has_value(); }

std::optional<std::string> shown_by(waitpoint_row const& w, question_terms const& t, digest const& secret_hash, std::string_view otherwise)
{
    if (!has_secrets(w, t)) return std::nullopt;
    if (t.assignees.empty()) return secret_hash == w.secret_hash ? std::optional<std::string>(otherwise) : std::nullopt;
    auto const& all = *t.secret_hashes;
    auto const mine = static_cast<std::size_t>(std::find(all.begin(), all.end(), to_string(secret_hash)) - all.begin());
    auto const asked = asked_at(t, never);
    return mine < std::min(all.size(), asked.size()) ? std::optional(asked[mine]) : std::nullopt;
}

}  // namespace flow::detail
