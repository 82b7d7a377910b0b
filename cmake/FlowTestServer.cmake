# flow_needs_postgres(TEST...): these run while the PostgreSQL server of the tests does (tests/postgres/server), and find it by
# FLOW_TEST_POSTGRES. Where it does not start, they fail: none is left out.
function(flow_needs_postgres)
    set(server ${PROJECT_SOURCE_DIR}/tests/postgres/server)
    execute_process(COMMAND ${server} where ${PROJECT_BINARY_DIR} OUTPUT_VARIABLE where OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    set_tests_properties(${ARGN} PROPERTIES FIXTURES_REQUIRED postgres ENVIRONMENT "FLOW_TEST_POSTGRES=${where}")
endfunction()
