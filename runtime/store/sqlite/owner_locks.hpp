// An owner lives as long as it holds the lock on NAME.owner-N, which the kernel drops when its process dies (protocol P46).
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "flow/ids.hpp"

namespace flow::sqlite_detail {

/// A locked file; closing it gives the lock up. Not inherited through exec.
class file_lock {
public:
    /// Nothing if another open file holds the lock. Throws refusal(store_unavailable) if the file cannot be made.
    static std::optional<file_lock> try_lock(std::string const& name);

    /// Is it locked by anybody? Takes nothing and makes nothing.
    static bool is_held(std::string const& name) noexcept;

    file_lock(file_lock&& other) noexcept;
    file_lock& operator=(file_lock&& other) noexcept;
    ~file_lock();

    /// Takes the name away; the lock is held until this object goes.
    void remove() noexcept;

private:
    file_lock(int fd, std::string name) : fd_(fd), name_(std::move(name)) {}
    int fd_;
    std::string name_;
};

/// The locks of the owners that one store object made. Any thread.
class owner_locks {
public:
    explicit owner_locks(std::string file) : file_(std::move(file)) {}

    std::string name_of(owner_id owner) const;
    void keep(owner_id owner, file_lock lock);
    std::optional<file_lock> let_go(owner_id owner);
    bool holds(owner_id owner) const;

private:
    std::string const file_;
    mutable std::mutex mutex_;
    std::map<owner_id, file_lock> held_;
};

}  // namespace flow::sqlite_detail
