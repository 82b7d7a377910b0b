// The workflows whose journals are recorded in v3/: those that hold something outside memory. Fixed like those of v2/, whose helpers they use,
// and whose people finish them (v2::finish_all).
#pragma once

#include "flow/flow.hpp"

namespace flow::test::journals::v3 {

void add_all(engine& e);

}  // namespace flow::test::journals::v3
