// patched, deprecate_patch: one answer a run, segment and id (P3).
#include "flow/versions.hpp"
#include "src/names.hpp"
#include "src/run.hpp"

namespace flow::detail {

std::optional<bool> run::recorded_patch(std::string_view id) const
{
    auto const at = patches_.find(id);
    return at == patches_.end() ? std::nullopt : std::optional(at->second);
}

bool run::answer_patch(branch const& b, std::string_view id)
{
    // What is recorded behind this place was recorded by code without the patch.
    bool const fresh = !history_.has_more(b.prefix);
    patches_.emplace(std::string(id), fresh);
    if (dry_) return fresh;
    auto e = make(entry_kind::patch, {});
    e.name = id;
    e.encoding = encoding::json;
    e.payload = fresh ? "true" : "false";
    append(std::move(e));
    return fresh;
}

patch_base::patch_base(name id, bool old_code_is_gone) : id_(std::move(id)), old_code_is_gone_(old_code_is_gone)
{
    check_name(id_.view());
}

bool patch_base::start(scope& s, continuation&)
{
    auto& r = s.owner();
    if (r.now_in() != run::phase::live) return false;
    auto const recorded = r.recorded_patch(id_.view());
    if (!old_code_is_gone_) {
        answer_ = recorded ? *recorded : r.answer_patch(s.in_branch(), id_.view());
        return true;
    }
    if (recorded ? *recorded : !r.recorded().has_more(s.in_branch().prefix)) return true;
    r.hold("nondeterminism", "workflow " + r.row().workflow + " version " + std::to_string(r.row().version) + " no longer has the code from before patch \"" +
                                 printable(id_.view(), 100) + "\", and this run began with it. Put the old branch back and start again, or register the new "
                                 "code as another version");
    return false;
}

}  // namespace flow::detail
