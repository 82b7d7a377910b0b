// For the examples: a folder that is gone afterwards, and checks that end the program if they fail.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

class scratch_folder {
public:
    scratch_folder()
    {
        auto name = (std::filesystem::temp_directory_path() / "flow-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr) std::perror("mkdtemp"), std::exit(1);
        path_ = name;
    }
    ~scratch_folder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    scratch_folder(scratch_folder const&) = delete;
    scratch_folder& operator=(scratch_folder const&) = delete;

    std::string file(std::string const& name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

inline void expect(bool ok, char const* what)
{
    std::printf("%s %s\n", ok ? "  ok  " : "FAILED", what);
    std::fflush(stdout);
    if (!ok) std::exit(1);
}

inline void append_line(std::string const& file, std::string const& line) { std::ofstream(file, std::ios::app) << line << '\n'; }

inline int lines_with(std::string const& file, std::string const& what)
{
    std::ifstream in(file);
    int n = 0;
    for (std::string line; std::getline(in, line);) n += line.find(what) != std::string::npos;
    return n;
}
