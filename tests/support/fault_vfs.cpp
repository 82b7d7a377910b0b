#include "support/fault_vfs.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <sqlite3.h>

namespace flow::test {

namespace {

/// Our file: SQLite's own stands in the same block behind it.
struct wrapped_file {
    sqlite3_file base;
    fault_vfs* owner;
    bool is_remembered;
    char name[1024];
};

sqlite3_file* real(sqlite3_file* f) { return reinterpret_cast<sqlite3_file*>(reinterpret_cast<wrapped_file*>(f) + 1); }
fault_vfs& owner(sqlite3_file* f) { return *reinterpret_cast<wrapped_file*>(f)->owner; }
sqlite3_io_methods const& methods(sqlite3_file* f) { return *real(f)->pMethods; }

int x_close(sqlite3_file* f) { return methods(f).xClose(real(f)); }
int x_read(sqlite3_file* f, void* to, int n, sqlite3_int64 at)
{
    return owner(f).powerless() ? SQLITE_IOERR_READ : methods(f).xRead(real(f), to, n, at);
}
int x_write(sqlite3_file* f, void const* from, int n, sqlite3_int64 at)
{
    int const code = owner(f).before_write();
    return code != SQLITE_OK ? code : methods(f).xWrite(real(f), from, n, at);
}
int x_truncate(sqlite3_file* f, sqlite3_int64 size)
{
    int const code = owner(f).before_write();
    return code != SQLITE_OK ? code : methods(f).xTruncate(real(f), size);
}
int x_sync(sqlite3_file* f, int flags)
{
    int code = owner(f).before_sync();
    if (code == SQLITE_OK) code = methods(f).xSync(real(f), flags);
    auto* w = reinterpret_cast<wrapped_file*>(f);
    if (code == SQLITE_OK && w->is_remembered) owner(f).remember(w->name);
    return code;
}
int x_size(sqlite3_file* f, sqlite3_int64* size) { return methods(f).xFileSize(real(f), size); }
int x_lock(sqlite3_file* f, int l) { return methods(f).xLock(real(f), l); }
int x_unlock(sqlite3_file* f, int l) { return methods(f).xUnlock(real(f), l); }
int x_reserved(sqlite3_file* f, int* out) { return methods(f).xCheckReservedLock(real(f), out); }
int x_control(sqlite3_file* f, int op, void* arg) { return methods(f).xFileControl(real(f), op, arg); }
int x_sector(sqlite3_file* f) { return methods(f).xSectorSize(real(f)); }
int x_device(sqlite3_file* f) { return methods(f).xDeviceCharacteristics(real(f)); }
int x_shm_map(sqlite3_file* f, int page, int size, int extend, void volatile** out)
{
    return methods(f).xShmMap(real(f), page, size, extend, out);
}
int x_shm_lock(sqlite3_file* f, int offset, int n, int flags) { return methods(f).xShmLock(real(f), offset, n, flags); }
void x_shm_barrier(sqlite3_file* f) { methods(f).xShmBarrier(real(f)); }
int x_shm_unmap(sqlite3_file* f, int remove) { return methods(f).xShmUnmap(real(f), remove); }

// Version 2: with shared memory, without memory-mapped reads, which would pass us by.
constexpr sqlite3_io_methods our_methods{2,         x_close,    x_read,    x_write,    x_truncate, x_sync,     x_size,
                                         x_lock,    x_unlock,   x_reserved, x_control, x_sector,   x_device,   x_shm_map,
                                         x_shm_lock, x_shm_barrier, x_shm_unmap, nullptr, nullptr};

fault_vfs& owner(sqlite3_vfs* v) { return *static_cast<fault_vfs*>(v->pAppData); }

int x_open(sqlite3_vfs* v, sqlite3_filename name, sqlite3_file* f, int flags, int* out)
{
    auto* w = reinterpret_cast<wrapped_file*>(f);
    std::memset(w, 0, sizeof *w);
    if (owner(v).powerless()) return SQLITE_CANTOPEN;
    auto* system = sqlite3_vfs_find("unix");
    int const code = system->xOpen(system, name, real(f), flags, out);
    if (real(f)->pMethods) {
        w->base.pMethods = &our_methods;
        w->owner = &owner(v);
        w->is_remembered = name && (flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL));
        if (w->is_remembered) {
            std::strncpy(w->name, name, sizeof w->name - 1);
            owner(v).opened(w->name);
        }
    }
    return code;
}
int x_delete(sqlite3_vfs* v, char const* name, int sync)
{
    if (owner(v).powerless()) return SQLITE_IOERR_DELETE;
    auto* system = sqlite3_vfs_find("unix");
    owner(v).forget(name);
    return system->xDelete(system, name, sync);
}

std::vector<char> content(std::string const& file)
{
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

fault_vfs::fault_vfs()
{
    static std::atomic<int> count{0};
    name_ = "fault-" + std::to_string(++count);
    auto* vfs = new sqlite3_vfs(*sqlite3_vfs_find("unix"));
    vfs->zName = name_.c_str();
    vfs->pNext = nullptr;
    vfs->pAppData = this;
    vfs->szOsFile += static_cast<int>(sizeof(wrapped_file));
    vfs->xOpen = x_open;
    vfs->xDelete = x_delete;
    sqlite3_vfs_register(vfs, 0);
    vfs_ = vfs;
}

fault_vfs::~fault_vfs()
{
    auto* vfs = static_cast<sqlite3_vfs*>(vfs_);
    sqlite3_vfs_unregister(vfs);
    delete vfs;
}

void fault_vfs::plan(int nth, what fault, bool lasting)
{
    lasting_ = lasting;
    reached_ = false;
    fault_ = fault;
    nth_ = operations_ + nth;
}

void fault_vfs::heal()
{
    fault_ = what::none;
    cut_ = false;
}

int fault_vfs::operate(bool sync)
{
    int const now = ++operations_;
    auto const fault = fault_.load();
    if (cut_) return SQLITE_IOERR;
    if (fault == what::none || (lasting_ ? now < nth_ : now != nth_)) return SQLITE_OK;
    switch (fault) {
    case what::none: break;
    case what::io_error: reached_ = true; return sync ? SQLITE_IOERR_FSYNC : SQLITE_IOERR_WRITE;
    case what::full:
        if (sync) return SQLITE_OK;  // a full disk refuses room, not the sync of what is there
        reached_ = true;
        return SQLITE_FULL;
    case what::read_only:
        if (sync) return SQLITE_OK;
        reached_ = true;
        return SQLITE_READONLY;
    case what::sync_error:
        if (!sync) {  // the next sync is meant
            nth_ = now + 1;
            return SQLITE_OK;
        }
        reached_ = true;
        return SQLITE_IOERR_FSYNC;
    case what::power_cut: reached_ = cut_ = true; return SQLITE_IOERR;
    }
    return SQLITE_OK;
}

int fault_vfs::before_write() { return operate(false); }
int fault_vfs::before_sync()
{
    ++syncs_;
    return operate(true);
}

void fault_vfs::remember(std::string const& file)
{
    std::scoped_lock guard(mutex_);
    synced_[file] = content(file);
}
void fault_vfs::opened(std::string const& file)
{
    std::scoped_lock guard(mutex_);
    if (!synced_.contains(file)) synced_[file] = content(file);
}
void fault_vfs::forget(std::string const& file)
{
    std::scoped_lock guard(mutex_);
    synced_.erase(file);
}

void fault_vfs::lose_unsynced(std::size_t torn)
{
    std::scoped_lock guard(mutex_);
    for (auto const& [file, kept] : synced_) {
        auto now = content(file);
        auto survives = kept;
        // What was appended behind the synced part may have reached the disk in part.
        if (now.size() > kept.size()) survives.insert(survives.end(), now.begin() + static_cast<std::ptrdiff_t>(kept.size()),
                                                      now.begin() + static_cast<std::ptrdiff_t>(std::min(now.size(), kept.size() + torn)));
        std::ofstream(file, std::ios::binary | std::ios::trunc).write(survives.data(), static_cast<std::streamsize>(survives.size()));
    }
    // The index of the log is memory: the machine was off.
    for (auto const& [file, kept] : synced_)
        if (auto const shm = file + "-shm"; std::filesystem::exists(shm)) std::filesystem::remove(shm);
}

}  // namespace flow::test
