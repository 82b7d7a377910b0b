// flow policies
#include <fstream>
#include <iterator>
#include <ostream>

#include "runtime/cli/json.hpp"
#include "runtime/cli/table.hpp"
#include "runtime/cli/text.hpp"
#include "runtime/cli/verbs.hpp"

namespace flow::cli {

namespace {

std::string text_of_file(std::string const& name)
{
    std::ifstream file(name, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (!file) throw misuse("--set " + name + ": it cannot be read");
    return text;
}

void tell_version(session const& s, std::uint32_t version, bool is_new)
{
    if (s.asked.json) {
        json_object o;
        return s.print_json(o.number("version", version).raw("is_new", is_new ? "true" : "false").str());
    }
    s.io.out << "Version " << version << " of the wait policies " << (is_new ? "is" : "was already") << " in force. Waits that are registered keep what they had.\n";
}

std::string document_of(stored_wait_policies const& v)
{
    json_object o;
    return o.number("version", v.version).text("by", v.by).text("why", v.why).text("at", to_string(v.at)).raw("policies", to_json(v.policies)).str();
}

void list(session const& s)
{
    auto const all = s.on.wait_policy_versions();
    if (s.asked.json) {
        std::vector<std::string> documents;
        for (auto const& v : all) documents.push_back(document_of(v));
        json_object o;
        return s.print_json(o.raw("versions", json_list(documents)).str());
    }
    if (all.empty()) {
        s.io.out << "No wait policies: waits are as the code has them. Set some: " << s.asked.typed << " policies --set FILE\n";
        return;
    }
    table t({{"VERSION"}, {"SINCE (UTC)"}, {"BY"}, {"WHY", true}});
    for (auto const& v : all)
        t.add({{std::to_string(v.version), v.version == all.back().version ? style::strong : style::plain}, {time_text(v.at)}, {v.by}, {v.why}});
    t.print(s.io);
    s.io.out << "\nIn force: " << to_json(all.back().policies) << '\n';
}

}  // namespace

void manage_policies(session const& s)
{
    auto const& a = s.asked;
    if (a.set.empty() && a.roll_back == 0) return list(s);
    auto const before = s.on.current_wait_policies().version;
    policy_change const how{a.by, a.why};
    auto const version = a.set.empty() ? s.on.roll_back_wait_policies(a.roll_back, how) : s.on.set_wait_policies(parse_wait_policies(text_of_file(a.set)), how);
    tell_version(s, version, version > before);
}

}  // namespace flow::cli
