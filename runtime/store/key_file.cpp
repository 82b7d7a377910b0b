#include "runtime/store/key_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <unistd.h>

#include "flow/error.hpp"

namespace flow::store_detail {

namespace {

[[noreturn]] void fail(std::string const& key_file, std::string const& what)
{
    throw error(errc::store_key, "store key " + key_file + ": " + what);
}

store_key parse(std::string const& key_file)
{
    std::ifstream in(key_file, std::ios::binary);
    std::string line;
    if (!in || !std::getline(in, line)) fail(key_file, "is missing or cannot be read");
    auto const key = parse_key(line);
    if (!key) fail(key_file, "does not hold 64 hexadecimal digits");
    return *key;
}

void write_synced(std::string const& name, std::string const& text)
{
    int const fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0) fail(name, std::strerror(errno));
    bool const written = ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(fd) == 0;
    ::close(fd);
    if (!written) {
        ::unlink(name.c_str());
        fail(name, "could not be written");
    }
}

}  // namespace

digest make_key(std::string const& key_file)
{
    // Under another name first: a key cut off by a crash is never seen. Called inside the transaction that makes the
    // tables, so one process of this name at a time.
    auto const draft = key_file + ".new";
    ::unlink(draft.c_str());
    write_synced(draft, to_hex(random_key()) + "\n");
    int const linked = ::link(draft.c_str(), key_file.c_str());
    int const why = errno;
    ::unlink(draft.c_str());
    if (linked != 0 && why != EEXIST) fail(key_file, std::strerror(why));
    return fingerprint(parse(key_file));
}

void write_key(std::string const& key_file, store_key const& key) { write_synced(key_file, to_hex(key) + "\n"); }

store_key read_key(std::string const& key_file) { return parse(key_file); }

store_key read_key(std::string const& key_file, digest const& expected)
{
    auto const key = parse(key_file);
    if (fingerprint(key) != expected) fail(key_file, "is another store's");
    return key;
}

}  // namespace flow::store_detail
