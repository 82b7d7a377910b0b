// What every recorder of journals does: a file whose process can die, and what is known about the runs in it afterwards.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "flow/flow.hpp"
#include "support/fault_store.hpp"
#include "support/world.hpp"

namespace flow::test::journals {

/// Ids from a seed that no test's world draws from.
engine_options recording_options();

/// A file whose process can die (engine/dying.hpp, on a file that is kept).
class place {
public:
    explicit place(std::string f) : file(std::move(f)) {}
    store_ptr open();
    /// From here on nothing is written.
    void cut_off();
    /// The n-th write from now on is the last, and who made it does not hear of it.
    void cut_off_after(int nth);
    void die(world& w);
    /// A cosmic ray: changes one row.
    void spoil(std::string const& sql) const;

    std::string const file;

private:
    std::weak_ptr<fault_store> newest_;
};

/// Writes the folder of that name, which must be empty: what `all` does to the file, and what comes of it, found on a copy by the code
/// that `add_now` registers and by what people do in `finish_all`. Does nothing unless the environment asks for it (README.md). `all`
/// returns the instant at which its last process died.
void record(std::string const& name, world::registration add_now, std::function<time_point(place&)> all,
            std::function<void(world&)> finish_all);

}  // namespace flow::test::journals
