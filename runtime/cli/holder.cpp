#include "runtime/cli/holder.hpp"

namespace flow::cli {

std::optional<owner_row> holder_of(session const& s, run_row const& row)
{
    if (row.owner == owner_id::nobody) return std::nullopt;
    auto owners = s.on.data().reader().owners().value();
    for (auto& o : owners)
        if (o.id == row.owner) return std::move(o);
    // Its row is gone: it said good-bye.
    owner_row gone;
    gone.id = row.owner;
    return gone;
}

std::string holder_text(owner_row const& o)
{
    if (o.name.empty()) return "number " + std::to_string(static_cast<std::int64_t>(o.id));
    return o.name + " (pid " + std::to_string(o.pid) + ")";
}

}  // namespace flow::cli
