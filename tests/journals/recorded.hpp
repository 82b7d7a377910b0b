// The recorded files of one version of the journal format: where they lie, and what is known about the runs in them.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "flow/flow.hpp"
#include "support/temp_dir.hpp"
#include "support/world.hpp"

namespace flow::test::journals {

/// The recorded status of a run that another one starts only later.
inline constexpr std::string_view not_yet = "not yet";

/// A line of expected.tsv.
struct known_run {
    std::string name;      ///< its idempotency key; where it has none, its tags
    std::string workflow;
    std::string status;    ///< as recorded: "suspended/waiting"; or not_yet
    std::string end;       ///< its status after finish_all
    std::string result;    ///< and its result, or its error
    friend bool operator==(known_run const&, known_run const&) = default;
};

struct known {
    time_point until;                ///< when the recording ended
    std::vector<known_run> runs;     ///< by name
    std::vector<std::string> ran;    ///< what the functions of steps noted in finish_all, sorted
};

std::filesystem::path folder(std::string const& version);
known read_known(std::filesystem::path const& in);
void write_known(std::filesystem::path const& in, known const& what);

/// Copies runs.db and its key, and returns the copy's name.
std::string copy_of(std::filesystem::path const& from, std::filesystem::path const& to);

/// The engine that the copy is opened with; its clock stands where the recording ended.
class replayed : public world {
public:
    replayed(std::string const& file, time_point until, registration add);
};

std::string name_of(run_row const& row);
std::string status_of(run_row const& row);
/// Both statuses, and what has come of it.
known_run what_became_of(world& w, run_row const& row);
std::vector<run_row> all_runs(world& w);

/// What the library writes: its kinds of entries, by name, with those of which the enumeration says "later" once a source file names them.
std::vector<std::string> kinds_written();

}  // namespace flow::test::journals
