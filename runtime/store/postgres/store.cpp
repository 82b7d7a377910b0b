#include "runtime/store/postgres/key.hpp"
#include "runtime/store/postgres/postgres_store.hpp"
#include "runtime/store/postgres/rows.hpp"

namespace flow {

namespace postgres_detail {

postgres_store::postgres_store(std::string connection, postgres_options const& options)
    : options_(options), db_(std::move(connection), options),
      leases_(options.lease, options.renew_every, [this](auto const& living) { return renew(living); }), news_([this] { return db_.listen(); })
{
}

postgres_store::~postgres_store()
{
    for (auto const owner : leases_.owners()) retire_owner(owner);
}

std::chrono::milliseconds postgres_store::ask_every() const noexcept
{
    // While others' commits are told, what nobody told is still found within the bound of P38.
    return std::chrono::milliseconds{news_.listens() ? 50 : 10};
}

outcome<std::string> postgres_store::secret_of(waitpoint_id id)
{
    std::scoped_lock guard(key_mutex_);
    if (key_) return store_detail::secret_of(*key_, id);
    try {
        auto const key = find_key(options_.key_file);
        auto const mine = store_detail::fingerprint(key);
        digest expected;
        // A schema made without a key takes the first that comes.
        auto const done = db_.write("secret_of", db_.patience(), [&](transaction& t) {
            t.quiet();
            t.c.run("insert into meta(name, value) values ('key_fingerprint', $1) on conflict do nothing", params{} << mine);
            auto r = t.c.run("select value from meta where name = 'key_fingerprint'");
            if (r.step()) expected = r.hash(0);
        });
        if (!done) return done.error();
        if (mine != expected) return error(errc::store_key, db_.name() + ": the store key is another store's");
        key_ = key;
        return store_detail::secret_of(key, id);
    } catch (error const& e) {
        return e;
    }
}

}  // namespace postgres_detail

store_ptr postgres(std::string connection, postgres_options options)
{
    return std::make_shared<postgres_detail::postgres_store>(std::move(connection), options);
}

}  // namespace flow
