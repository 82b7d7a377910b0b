// The program `flow`.
#include "flow/command_line.hpp"
#ifdef FLOW_POSTGRES
#include "flow/postgres.hpp"
#endif

int main(int argc, char** argv)
{
#ifdef FLOW_POSTGRES
    flow::use_postgres();
#endif
    return flow::command_line(argc, argv);
}
