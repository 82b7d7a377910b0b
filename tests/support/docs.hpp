// The reference pages in the source tree, for tests that keep them true.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace flow::test {

inline std::string docs_page(std::string_view name)
{
    return (std::filesystem::path(FLOW_SOURCE_DIR) / "docs/reference" / name).string();
}

}  // namespace flow::test
