// The command line: what the program `flow` does, and the same verbs for a program of one's own. Reference:
// docs/reference/command_line.md.
#pragma once

#pragma GCC visibility push(default)

namespace flow {

class client;

/// What a call of the command line ends with. Scripts rely on the numbers: never renumber.
enum class exit_code : int {
    done = 0,
    no = 1,        ///< what was named is not there: an unknown run, token or intervention
    usage = 2,     ///< the command line itself is wrong
    refused = 3,   ///< conflict, ended, wrong shape, a choice that is not offered
    store = 4,     ///< the store cannot be opened, read or written
    internal = 5,
};

/// Carries out one verb on the runs of this client's store (an engine is a client): `PROGRAM runs`, `PROGRAM show RUN` and so on,
/// `argv[0]` being what is to be typed before a verb. Writes to standard output, what went wrong to standard error (with `--json`
/// to standard output). Any thread. Throws nothing; returns an exit_code for `main`.
int command_line(int argc, char const* const* argv, client& on);

/// The same on the store that `--store TEXT` or `--db FILE` names, or else FLOW_STORE or FLOW_DB, and that must exist: the program
/// `flow`. TEXT is what flow::open_store takes; call flow::use_postgres() before, if postgresql://… is to be among it.
int command_line(int argc, char const* const* argv);

}  // namespace flow

#pragma GCC visibility pop
