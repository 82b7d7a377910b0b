#include "support/postgres.hpp"

#include <atomic>
#include <cstdlib>
#include <stdexcept>

#include <unistd.h>

#include "support/pqxx.hpp"

namespace flow::test {

namespace {

std::string fresh_name()
{
    static std::atomic<int> count{0};
    return "t" + std::to_string(::getpid()) + "_" + std::to_string(++count);
}

}  // namespace

std::string postgres_server()
{
    auto const* const where = std::getenv("FLOW_TEST_POSTGRES");
    if (!where || !*where)
        throw std::runtime_error("FLOW_TEST_POSTGRES names no server: run the tests by ctest, or set it to what `tests/postgres/server start` prints");
    return where;
}

std::string ask_postgres(std::string const& schema, std::string const& sql)
{
    pqxx::connection c(postgres_server());
    pqxx::nontransaction t(c);
    t.exec("set client_min_messages = error; set search_path = \"" + schema + "\"");
    auto const r = t.exec(sql);
    return r.empty() || r[0][0].is_null() ? std::string{} : std::string(r[0][0].c_str());
}

postgres_schema::postgres_schema() : name_(fresh_name()) {}

store_ptr postgres_store(std::string const& schema, std::string const& key_file, flow::probe probe)
{
    postgres_options options;
    options.schema = schema;
    options.key_file = key_file;
    options.probe = std::move(probe);
    return flow::postgres(postgres_server(), options);
}

}  // namespace flow::test
