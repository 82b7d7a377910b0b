#include "flow/open_store.hpp"

#include <map>
#include <mutex>

#include "flow/error.hpp"
#include "flow/stores.hpp"
#include "runtime/store/store_text.hpp"

namespace flow {

namespace {

struct kinds {
    std::mutex guard;
    std::map<std::string, store_opener> openers;
};
kinds& known()
{
    static kinds all;
    return all;
}

store_opener opener_of(std::string const& scheme)
{
    auto& all = known();
    std::scoped_lock const lock(all.guard);
    auto const at = all.openers.find(scheme);
    return at == all.openers.end() ? nullptr : at->second;
}

}  // namespace

void add_store_kind(std::string scheme, store_opener opener)
{
    auto& all = known();
    std::scoped_lock const lock(all.guard);
    all.openers[std::move(scheme)] = opener;
}

store_ptr open_store(std::string_view text, open_store_options options)
{
    auto const [kind, rest] = store_detail::read_store_text(text);
    if (kind == "memory") {
        if (options.must_exist) throw error(errc::bad_argument, "a store in memory lives in the process that made it: no other can open it");
        return memory();
    }
    if (kind == "sqlite") {
        sqlite_options o;
        o.must_exist = options.must_exist;
        return sqlite(rest, std::move(o));
    }
    if (auto const opener = opener_of(kind)) return opener(std::string(text), options);
    if (kind == "postgres" || kind == "postgresql")
        throw error(errc::bad_argument, "this program has no PostgreSQL store: link flow::postgres to it and call flow::use_postgres() "
                                        "(flow/postgres.hpp) before it opens a store");
    throw error(errc::bad_argument, "there is no kind of store " + kind + ": say memory, sqlite:FILE or postgresql://USER@HOST/DATABASE; "
                                    "a file with a colon in its name is sqlite:FILE too");
}

}  // namespace flow
