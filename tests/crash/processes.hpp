// Real processes, to be really killed.
#pragma once

#include <catch2/catch.hpp>

#include <sys/wait.h>
#include <unistd.h>

namespace flow::test {

/// Runs `body` in a process of its own; its exit status as waitpid gives it.
template <class Body>
pid_t in_a_process(Body body)
{
    pid_t const child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        int code = 1;
        try {
            code = body();
        } catch (...) {
        }
        ::_exit(code);  // nothing of the test's own is torn down here
    }
    return child;
}
inline int wait_for(pid_t child)
{
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return status;
}

}  // namespace flow::test
