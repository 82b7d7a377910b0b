// Files that are there whole or not at all, and a mailbox in maildir form.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace report {

namespace fs = std::filesystem;

inline void must(bool ok, std::string const& what)
{
    if (!ok) throw std::system_error(errno, std::generic_category(), what);
}

inline void sync(fs::path const& file_or_folder)
{
    int const fd = ::open(file_or_folder.c_str(), O_RDONLY | O_CLOEXEC);
    must(fd >= 0, file_or_folder);
    bool const ok = ::fsync(fd) == 0;
    ::close(fd);
    must(ok, file_or_folder);
}

/// Moves a finished file to its place: after this returns, a loss of power does not lose it.
inline void put_in_place(fs::path const& from, fs::path const& to)
{
    sync(from);
    fs::rename(from, to);
    sync(to.parent_path());
}

inline std::string read_file(fs::path const& file)
{
    std::ifstream in(file, std::ios::binary);
    must(in.is_open(), file);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// A maildir: a mail is written in tmp/, moved to new/, and a mail reader moves it on to cur/, adding flags to its name.
class maildir {
public:
    explicit maildir(fs::path folder) : folder_(std::move(folder)) {}

    /// Where the mail of this name lies by now, whoever has moved it.
    std::optional<fs::path> find(std::string_view name) const
    {
        for (auto const* sub : {"new", "cur"}) {
            std::error_code none;
            for (auto const& entry : fs::directory_iterator(folder_ / sub, none))
                if (entry.path().filename().string().starts_with(name)) return entry.path();
        }
        return std::nullopt;
    }

    fs::path deliver(std::string const& name, std::string const& mail) const
    {
        for (auto const* sub : {"tmp", "new", "cur"}) fs::create_directories(folder_ / sub);
        auto const draft = folder_ / "tmp" / name;
        std::ofstream out(draft, std::ios::binary | std::ios::trunc);
        out << mail;
        out.close();
        must(!out.fail(), draft);
        put_in_place(draft, folder_ / "new" / name);
        return folder_ / "new" / name;
    }

private:
    fs::path folder_;
};

}  // namespace report
