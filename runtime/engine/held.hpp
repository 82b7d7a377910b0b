// Whether today's code replays a held run: tried without writing anything (P19, P41).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "flow/detail/body.hpp"
#include "flow/store.hpp"
#include "src/run.hpp"

namespace flow::detail {

/// What a run was started with, from its first entry or that entry's blob.
struct stored_arguments {
    flow::encoding how = flow::encoding::json;
    std::string text;
};
stored_arguments load_arguments(loaded_run const& loaded, store& s);

/// undecodable: a sentence for whoever looks at the held run.
outcome<std::unique_ptr<body>> make_body(workflow_functions const& functions, stored_arguments const& arguments, run_row const& row);

/// The name and version a workflow function is registered under.
using workflow_names = std::function<outcome<workflow_version>(workflow_functions const&)>;

/// Whether a retry would change anything: the body reaches the end of what is recorded, or is held for another reason than `so_far`.
bool worth_retrying(loaded_run loaded, workflow_functions const& functions, run_settings const& settings, store& s, clock const& c,
                    std::string_view so_far, workflow_names const& names);

}  // namespace flow::detail
