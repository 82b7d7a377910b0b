#include "runtime/store/sqlite/owner_locks.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "runtime/store/sqlite/connection.hpp"

namespace flow::sqlite_detail {

std::optional<file_lock> file_lock::try_lock(std::string const& name)
{
    int const fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) throw refusal(errc::store_unavailable, name + ": " + std::strerror(errno));
    file_lock lock(fd, name);
    while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) return std::nullopt;
        if (errno != EINTR) throw refusal(errc::store_unavailable, name + ": " + std::strerror(errno));
    }
    return lock;
}

bool file_lock::is_held(std::string const& name) noexcept
{
    int const fd = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return false;
    // Shared: two who look at once do not take each other for the owner.
    bool const held = ::flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    ::close(fd);
    return held;
}

file_lock::file_lock(file_lock&& other) noexcept : fd_(std::exchange(other.fd_, -1)), name_(std::move(other.name_)) {}

file_lock& file_lock::operator=(file_lock&& other) noexcept
{
    std::swap(fd_, other.fd_);
    std::swap(name_, other.name_);
    return *this;
}

file_lock::~file_lock()
{
    if (fd_ >= 0) ::close(fd_);
}

void file_lock::remove() noexcept { ::unlink(name_.c_str()); }

std::string owner_locks::name_of(owner_id owner) const
{
    return file_ + ".owner-" + std::to_string(static_cast<std::int64_t>(owner));
}

void owner_locks::keep(owner_id owner, file_lock lock)
{
    std::scoped_lock guard(mutex_);
    held_.emplace(owner, std::move(lock));
}

std::optional<file_lock> owner_locks::let_go(owner_id owner)
{
    std::scoped_lock guard(mutex_);
    auto node = held_.extract(owner);
    return node ? std::optional(std::move(node.mapped())) : std::nullopt;
}

bool owner_locks::holds(owner_id owner) const
{
    std::scoped_lock guard(mutex_);
    return held_.contains(owner);
}

}  // namespace flow::sqlite_detail
