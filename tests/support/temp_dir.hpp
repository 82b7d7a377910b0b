// A folder of a test's own, gone with it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace flow::test {

class temp_dir {
public:
    temp_dir();
    ~temp_dir();
    temp_dir(temp_dir const&) = delete;
    temp_dir& operator=(temp_dir const&) = delete;

    std::filesystem::path const& path() const noexcept { return path_; }
    std::string file(std::string_view name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

}  // namespace flow::test
