#include "runtime/store/sqlite/errors.hpp"

#include <sqlite3.h>

namespace flow::sqlite_detail {

errc code_of(int sqlite_code) noexcept
{
    if (sqlite_code == SQLITE_IOERR_SHMSIZE) return errc::store_full;  // no room for the log's index
    switch (sqlite_code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return errc::store_busy;
    case SQLITE_FULL: return errc::store_full;
    case SQLITE_READONLY:
    case SQLITE_PERM: return errc::store_read_only;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return errc::store_corrupt;
    case SQLITE_TOOBIG: return errc::payload_too_large;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISUSE:
    case SQLITE_RANGE:
    case SQLITE_ERROR: return errc::usage;
    default: return errc::store_unavailable;
    }
}

bool needs_reopening(int sqlite_code) noexcept
{
    int const primary = sqlite_code & 0xff;
    return primary == SQLITE_IOERR || primary == SQLITE_FULL || primary == SQLITE_CANTOPEN;
}

bool is_busy(int sqlite_code) noexcept { return code_of(sqlite_code) == errc::store_busy; }

error error_of(std::string const& file, int sqlite_code, std::string const& message)
{
    // Every statement is ours: a table or column that is not there was taken away by somebody else.
    if (sqlite_code == SQLITE_ERROR && message.find("no such ") != message.npos)
        return error(errc::store_corrupt, file + ": " + message);
    if ((sqlite_code & 0xff) == SQLITE_CANTOPEN)
        return error(errc::store_unavailable, file + " cannot be opened: is it a file, is its folder there, and may this user write in it?");
    return error(code_of(sqlite_code), file + ": " + message + " (SQLite error " + std::to_string(sqlite_code) + ")");
}

}  // namespace flow::sqlite_detail
