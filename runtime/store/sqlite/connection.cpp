#include "runtime/store/sqlite/connection.hpp"

#include <algorithm>
#include <cstring>

#include <sqlite3.h>

namespace flow::sqlite_detail {

rows::~rows()
{
    sqlite3_reset(stmt_);
    sqlite3_clear_bindings(stmt_);
}

void rows::check(int code) const
{
    if (code != SQLITE_OK) {
        auto* db = sqlite3_db_handle(stmt_);
        throw failure(sqlite3_extended_errcode(db), sqlite3_errmsg(db));
    }
}

rows& rows::operator<<(std::int64_t value)
{
    check(sqlite3_bind_int64(stmt_, ++bound_, value));
    return *this;
}
rows& rows::operator<<(std::string_view text)
{
    // A null pointer would bind NULL, an empty view may hold one.
    check(sqlite3_bind_text64(stmt_, ++bound_, text.empty() ? "" : text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8));
    return *this;
}
rows& rows::operator<<(std::nullptr_t)
{
    check(sqlite3_bind_null(stmt_, ++bound_));
    return *this;
}
rows& rows::operator<<(uuid const& id)
{
    check(sqlite3_bind_blob64(stmt_, ++bound_, id.bytes.data(), id.bytes.size(), SQLITE_STATIC));
    return *this;
}
rows& rows::operator<<(digest const& d)
{
    if (d.is_none()) return *this << nullptr;
    check(sqlite3_bind_blob64(stmt_, ++bound_, d.bytes.data(), d.bytes.size(), SQLITE_STATIC));
    return *this;
}
rows& rows::bytes(std::string_view value)
{
    check(sqlite3_bind_blob64(stmt_, ++bound_, value.empty() ? "" : value.data(), value.size(), SQLITE_STATIC));
    return *this;
}

bool rows::step()
{
    int const code = sqlite3_step(stmt_);
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    auto* db = sqlite3_db_handle(stmt_);
    throw failure(sqlite3_extended_errcode(db), sqlite3_errmsg(db));
}
void rows::run()
{
    while (step()) {
    }
}

std::int64_t rows::number(int column) const noexcept { return sqlite3_column_int64(stmt_, column); }
std::string_view rows::view(int column) const noexcept
{
    auto const* data = static_cast<char const*>(sqlite3_column_blob(stmt_, column));
    return data ? std::string_view(data, static_cast<std::size_t>(sqlite3_column_bytes(stmt_, column))) : std::string_view{};
}
std::string rows::text(int column) const { return std::string(view(column)); }
bool rows::is_null(int column) const noexcept { return sqlite3_column_type(stmt_, column) == SQLITE_NULL; }
uuid rows::id(int column) const noexcept
{
    uuid out;
    if (auto const bytes = view(column); bytes.size() == out.bytes.size())
        std::memcpy(out.bytes.data(), bytes.data(), bytes.size());
    return out;
}
digest rows::hash(int column) const noexcept
{
    digest out;
    if (auto const bytes = view(column); bytes.size() == out.bytes.size())
        std::memcpy(out.bytes.data(), bytes.data(), bytes.size());
    return out;
}

namespace {

/// SQLite counts the memory it uses, and to do so takes one lock of the whole process with every allocation: several threads on several
/// connections wait for each other there. Refused, and left as it is, where the program has used SQLite before.
void count_no_memory() { static int const code [[maybe_unused]] = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

}  // namespace

connection::connection(std::string const& file, int flags, std::string const& vfs)
{
    count_no_memory();
    int const code = sqlite3_open_v2(file.c_str(), &db_, flags | SQLITE_OPEN_NOMUTEX, vfs.empty() ? nullptr : vfs.c_str());
    if (code != SQLITE_OK) {
        failure const f(db_ ? sqlite3_extended_errcode(db_) : code, db_ ? sqlite3_errmsg(db_) : sqlite3_errstr(code));
        sqlite3_close_v2(db_);
        throw f;
    }
    sqlite3_extended_result_codes(db_, 1);
    // Replaces SQLite's own checkpoint after a commit, whose errors nobody would see (database.cpp).
    sqlite3_wal_hook(
        db_,
        [](void* self, sqlite3*, char const*, int pages) {
            static_cast<connection*>(self)->log_pages_ = pages;
            return SQLITE_OK;
        },
        this);
}

connection::~connection()
{
    for (auto& [sql, stmt] : statements_) sqlite3_finalize(stmt);
    sqlite3_close_v2(db_);
}

rows connection::prepare(char const* sql)
{
    auto& stmt = statements_[sql];
    if (!stmt) {
        int const code = sqlite3_prepare_v3(db_, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, nullptr);
        if (code != SQLITE_OK) throw failure(sqlite3_extended_errcode(db_), sqlite3_errmsg(db_));
    }
    return rows(stmt);
}

void connection::run(std::string const& sql)
{
    if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
        throw failure(sqlite3_extended_errcode(db_), sqlite3_errmsg(db_));
}

std::int64_t connection::number(char const* sql)
{
    auto r = prepare(sql);
    return r.step() ? r.number(0) : 0;
}

void connection::busy_timeout(std::chrono::milliseconds limit)
{
    sqlite3_busy_timeout(db_, static_cast<int>(std::clamp<std::int64_t>(limit.count(), 0, 1'000'000'000)));
}

bool connection::in_transaction() const noexcept { return sqlite3_get_autocommit(db_) == 0; }
std::int64_t connection::changes() const noexcept { return sqlite3_changes64(db_); }
std::int64_t connection::last_rowid() const noexcept { return sqlite3_last_insert_rowid(db_); }
bool connection::read_only() const noexcept { return sqlite3_db_readonly(db_, "main") == 1; }

int connection::checkpoint(bool truncate) noexcept
{
    int pages = 0;
    int const code = sqlite3_wal_checkpoint_v2(db_, "main", truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE,
                                               &pages, nullptr);
    if (code == SQLITE_OK && truncate) log_pages_ = 0;
    return code == SQLITE_OK ? SQLITE_OK : sqlite3_extended_errcode(db_);
}

std::size_t connection::raw_bytes(unsigned char* into, std::size_t count)
{
    sqlite3_file* file = nullptr;
    sqlite3_int64 size = 0;
    if (sqlite3_file_control(db_, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || file->pMethods == nullptr) return 0;
    if (int const code = file->pMethods->xFileSize(file, &size); code != SQLITE_OK) throw failure(code, sqlite3_errstr(code));
    auto const there = std::min(count, static_cast<std::size_t>(size));
    int const code = there == 0 ? SQLITE_OK : file->pMethods->xRead(file, into, static_cast<int>(there), 0);
    if (code != SQLITE_OK) throw failure(code, sqlite3_errstr(code));
    return there;
}

void connection::copy_to(connection& copy)
{
    auto* const pages = sqlite3_backup_init(copy.db_, "main", db_, "main");
    if (pages == nullptr) throw failure(sqlite3_extended_errcode(copy.db_), sqlite3_errmsg(copy.db_));
    int const code = sqlite3_backup_step(pages, -1);
    sqlite3_backup_finish(pages);
    if (code != SQLITE_DONE) throw failure(code, sqlite3_errstr(code));
}

void connection::leave_untouched() noexcept { sqlite3_db_config(db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr); }

int connection::open_statements() const noexcept
{
    int open = 0;
    for (auto* s = sqlite3_next_stmt(db_, nullptr); s; s = sqlite3_next_stmt(db_, s)) open += sqlite3_stmt_busy(s) != 0;
    return open;
}

}  // namespace flow::sqlite_detail
