// Schemas on the server of the tests (tests/postgres/server), each for one test.
#pragma once

#include <string>

#include "flow/postgres.hpp"

namespace flow::test {

/// The connection string in FLOW_TEST_POSTGRES. A test that needs it and does not find it fails.
std::string postgres_server();

/// A name no other test uses. The schema stays until the server goes: dropping sixty relations takes longer than most tests.
class postgres_schema {
public:
    postgres_schema();
    postgres_schema(postgres_schema const&) = delete;

    std::string const& name() const noexcept { return name_; }

private:
    std::string const name_;
};

store_ptr postgres_store(std::string const& schema, std::string const& key_file, flow::probe probe = {});

/// Runs statements in that schema; the first column of the first row, "" if there is none.
std::string ask_postgres(std::string const& schema, std::string const& sql);

}  // namespace flow::test
