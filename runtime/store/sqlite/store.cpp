#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "runtime/store/key_file.hpp"
#include "runtime/store/sqlite/sqlite_store.hpp"

namespace flow {

namespace sqlite_detail {

namespace {

// Its one name: a relative one would move with the working directory, and under a second name (a symbolic link) the
// owners' locks would not be found and living owners be taken for dead.
std::string absolute(std::string const& file)
{
    if (file.empty()) throw error(errc::usage, "name the database file");
    if (file == ":memory:") throw error(errc::usage, ":memory: is no file; a store in memory is flow::memory()");
    std::error_code failed;
    auto const name = std::filesystem::weakly_canonical(std::filesystem::absolute(file), failed);
    return (failed ? std::filesystem::absolute(file) : name).string();
}

sqlite_options with_key_file(sqlite_options options, std::string const& file)
{
    options.key_file = options.key_file.empty() ? absolute(file) + ".key" : absolute(options.key_file);
    return options;
}

}  // namespace

sqlite_store::sqlite_store(std::string file, sqlite_options const& options)
    : name_("sqlite:" + file), db_(absolute(file), with_key_file(options, file)), locks_(db_.file()),
      identity_(identity_of(db_.file(), options)), log_file_(db_.file() + "-wal"), log_warning_(options.log_warning), key_file_(with_key_file(options, file).key_file)
{
}

sqlite_store::file_identity sqlite_store::identity_of(std::string const& file, sqlite_options const& options)
{
    struct stat found{};
    if (!options.vfs.empty() || ::stat(file.c_str(), &found) != 0) return {};  // a VFS of a test's own may keep it elsewhere
    return {found.st_dev, found.st_ino};
}

sqlite_store::~sqlite_store()
{
    for (auto const owner : std::vector(made_)) retire_owner(owner);
}

std::string sqlite_store::warning()
{
    struct stat now{};
    if (identity_ != file_identity{} && (::stat(db_.file().c_str(), &now) != 0 || file_identity{now.st_dev, now.st_ino} != identity_))
        return db_.file() + " was deleted, moved or replaced while it was open: what is written now is lost. End this program, put "
                            "the file and its -wal back, and start again";
    struct stat log{};
    if (::stat(log_file_.c_str(), &log) != 0) return {};  // no log: nothing to say
    auto const size = static_cast<std::uint64_t>(log.st_size);
    if (size <= log_warning_) return {};
    return log_file_ + " has grown to " + std::to_string(size >> 20) + " MiB: one large write made it so, or some process reads " + db_.file() +
           " all the time and keeps it from being reset; then end that reader";
}

outcome<std::string> sqlite_store::secret_of(waitpoint_id id)
{
    std::scoped_lock guard(key_mutex_);
    if (!key_) {
        digest expected;
        auto const read = db_.read([&](connection& c) {
            auto r = c.prepare("select value from meta where name = 'key_fingerprint'");
            if (r.step()) expected = r.hash(0);
        });
        if (!read) return read.error();
        try {
            key_ = store_detail::read_key(key_file_, expected);
        } catch (error const& e) {
            return e;
        }
    }
    return store_detail::secret_of(*key_, id);
}

}  // namespace sqlite_detail

store_ptr sqlite(std::string file, sqlite_options options)
{
    return std::make_shared<sqlite_detail::sqlite_store>(std::move(file), options);
}

}  // namespace flow
