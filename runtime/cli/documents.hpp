// Rows and views as JSON. The names are listed in docs/reference/command_line.md and stay.
#pragma once

#include <string>

#include "flow/inspect.hpp"
#include "flow/store_reader.hpp"

namespace flow::cli {

std::string json_of(run_row const& row);
/// null for `none`.
std::string json_of(wait_reason const& w);
std::string json_of(step_view const& v);
std::string json_of(resume_result const& r);
std::string json_of(open_wait const& o);
std::string json_of(happening const& h);
std::string json_of(request_row const& r);
std::string json_of(journal_entry const& e);
std::string json_of(waitpoint_row const& w);
std::string json_of(error_detail const& e);

}  // namespace flow::cli
