// The program `flow`.
#include "flow/command_line.hpp"

int main(int argc, char** argv) { return flow::command_line(argc, argv); }
