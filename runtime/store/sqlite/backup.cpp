#include "flow/backup.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <sqlite3.h>

#include "runtime/store/key_file.hpp"
#include "runtime/store/sqlite/connection.hpp"
#include "runtime/store/sqlite/errors.hpp"
#include "runtime/store/sqlite/schema.hpp"

namespace flow {

namespace {

using namespace sqlite_detail;

// What a writer of a rollback-mode file, or a process that recovers a log, may keep us waiting.
constexpr std::chrono::milliseconds patience{5000};

store_detail::store_key key_of(connection& source, std::string const& key_file)
{
    digest expected;
    auto r = source.prepare("select value from meta where name = 'key_fingerprint'");
    if (r.step()) expected = r.hash(0);
    return store_detail::read_key(key_file, expected);
}

/// A name in a folder is on disk when the folder is.
void sync_folder_of(std::string const& file)
{
    auto const folder = std::filesystem::absolute(file).parent_path();
    int const fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool const synced = fd >= 0 && ::fsync(fd) == 0;
    if (fd >= 0) ::close(fd);
    if (!synced) throw refusal(errc::store_unavailable, folder.string() + " could not be written to disk");
}

/// Under its final name without replacing what another process may have put there meanwhile.
void put_in_place(std::string const& part, std::string const& target)
{
    if (::link(part.c_str(), target.c_str()) != 0) {
        int const why = errno;
        throw refusal(why == EEXIST ? errc::usage : errc::store_unavailable, target + " could not be made: " + std::strerror(why));
    }
    ::unlink(part.c_str());
}

void copy_database(connection& source, std::string const& part)
{
    for (auto const* tail : {"", "-journal", "-wal", "-shm"}) ::unlink((part + tail).c_str());  // an earlier one was killed
    try {
        connection copy(part, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, {});
        copy.run("pragma synchronous = full");
        source.copy_to(copy);
    } catch (failure const& f) {
        // What is wrong with the source was said when it was opened; but for these it is the copy that cannot be written.
        if (is_busy(f.code) || code_of(f.code) == errc::store_corrupt) throw;
        throw error_of(part, f.code, f.what());
    }
}

void back_up(std::string const& file, std::string const& target, backup_options const& options)
{
    if (std::filesystem::exists(target)) throw refusal(errc::usage, target + " is there already; a back-up replaces nothing");
    connection source(file, SQLITE_OPEN_READWRITE, {});
    source.leave_untouched();
    source.busy_timeout(patience);
    check_header(source, file);
    check_schema(source, file);
    if (options.with_key) {
        auto const key = key_of(source, options.key_file.empty() ? file + ".key" : options.key_file);
        // Before the database: a copy that is there has its key.
        store_detail::write_key(target + ".key", key);
    }
    auto const part = target + ".part";
    try {
        copy_database(source, part);
        put_in_place(part, target);
    } catch (...) {
        ::unlink(part.c_str());
        if (options.with_key) ::unlink((target + ".key").c_str());
        throw;
    }
    sync_folder_of(target);
}

}  // namespace

void backup(std::string const& file, std::string const& target, backup_options options)
{
    try {
        back_up(file, target, options);
    } catch (failure const& f) {
        throw error_of(file, f.code, f.what());
    } catch (refusal const& r) {
        throw error(r.code, r.what());
    }
}

}  // namespace flow
