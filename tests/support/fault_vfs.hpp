// SQLite's file layer with faults: a write or sync fails, the disk is full or read-only, or the power goes.
//
// It wraps the real files. For the power cut it remembers what was in each file at its last sync and puts that back, with a
// torn piece of what came later where asked for. One process; SQLite's locks and shared memory are the real ones.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

struct sqlite3_file;

namespace flow::test {

class fault_vfs {
public:
    enum class what : std::uint8_t { none, io_error, full, read_only, sync_error, power_cut };

    /// Registers a VFS of a name of its own.
    fault_vfs();
    ~fault_vfs();
    fault_vfs(fault_vfs const&) = delete;
    fault_vfs& operator=(fault_vfs const&) = delete;

    std::string const& name() const noexcept { return name_; }

    /// From the n-th write or sync from now on (counted from 1). `lasting`: every later one too, until `heal`.
    void plan(int nth, what fault, bool lasting = false);
    /// Faults end here. After a power cut: the machine is on again, with what the disks kept.
    void heal();
    /// After the power cut: puts every file back to what was synced, and `torn` bytes of what was written behind it.
    void lose_unsynced(std::size_t torn = 0);

    /// Writes and syncs so far.
    int operations() const noexcept { return operations_; }
    int syncs() const noexcept { return syncs_; }
    bool reached() const noexcept { return reached_; }

    // For the file layer below.
    int before_write();
    int before_sync();
    void remember(std::string const& file);
    void opened(std::string const& file);  ///< what it holds when first seen counts as synced
    void forget(std::string const& file);
    bool powerless() const noexcept { return cut_; }

private:
    int operate(bool sync);

    std::string name_;
    void* vfs_ = nullptr;
    std::atomic<int> operations_{0}, syncs_{0}, nth_{0};
    std::atomic<what> fault_{what::none};
    std::atomic<bool> lasting_{false}, reached_{false}, cut_{false};
    std::mutex mutex_;
    std::map<std::string, std::vector<char>> synced_;  ///< by file: what survives
};

}  // namespace flow::test
