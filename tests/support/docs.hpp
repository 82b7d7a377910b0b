// The reference pages in the source tree, for tests that keep them true.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace flow::test {

inline std::string docs_page(std::string_view name)
{
    return (std::filesystem::path(__FILE__).parent_path() / "../../docs/reference" / name).lexically_normal().string();
}

}  // namespace flow::test
