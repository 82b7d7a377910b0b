// The secrets by which people answer a question without the store in their hands (protocol P39, P61). Pure. Only SHA-256s are stored.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "flow/responses.hpp"
#include "flow/rows.hpp"

#pragma GCC visibility push(default)

namespace flow::detail {

/// Of one who is asked: HMAC-SHA-256(the question's secret as it is printed, the name), as hexadecimal digits.
std::string secret_of_person(std::string_view question_secret, std::string_view person);

/// Puts the hashes where answers are judged: of those who are asked into the terms, of everybody's one secret into the row.
void keep_secret_hashes(waitpoint_row& w, question_terms& t, std::string_view question_secret);

bool has_secrets(waitpoint_row const& w, question_terms const& t);

/// Who shows a secret with this hash: one of those who are asked; `otherwise`, where it is everybody's. Nothing: it is none of this question.
std::optional<std::string> shown_by(waitpoint_row const& w, question_terms const& t, digest const& secret_hash, std::string_view otherwise);

}  // namespace flow::detail

#pragma GCC visibility pop
