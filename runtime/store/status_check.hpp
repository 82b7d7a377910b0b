// What the databases' run rows may hold.
#pragma once

#include <string>

#pragma GCC visibility push(default)

namespace flow::store_detail {

/// The pairs of statuses that the tables of status.hpp can reach, as a CHECK in SQL.
std::string status_check();

}  // namespace flow::store_detail

#pragma GCC visibility pop
