// flow backup
#include <ostream>

#include "flow/backup.hpp"
#include "runtime/cli/json.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/verbs.hpp"

namespace flow::cli {

void back_up(session const& s)
{
    auto const store = s.on.data().name();
    constexpr std::string_view sqlite = "sqlite:";
    if (!store.starts_with(sqlite))
        throw misuse("backup copies a SQLite file, and this is " + store + "; a PostgreSQL schema is copied by pg_dump -n");
    auto const file = store.substr(sqlite.size());
    auto const& target = s.asked.which;
    backup(file, target);
    if (s.asked.json) {
        json_object o;
        return s.print_json(o.text("file", file).text("backup", target).text("key", target + ".key").str());
    }
    s.io.out << shown(file, 300) << " is copied to " << shown(target, 300) << ", its key to " << shown(target, 300)
             << ".key: keep that as a secret.\n";
}

}  // namespace flow::cli
