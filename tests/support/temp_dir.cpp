#include "support/temp_dir.hpp"

#include <cstdlib>
#include <system_error>

namespace flow::test {

temp_dir::temp_dir()
{
    auto name = (std::filesystem::temp_directory_path() / "flow-test-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::system_error(errno, std::generic_category(), name);
    path_ = name;
}

temp_dir::~temp_dir()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace flow::test
