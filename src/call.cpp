#include "flow/detail/call.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <mutex>
#include <typeindex>
#include <typeinfo>


namespace flow::detail {

namespace {

std::string demangled(char const* mangled)
{
    int status = 0;
    std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled, nullptr, nullptr, &status), &std::free);
    return status == 0 ? text.get() : mangled;
}

struct tag_table {
    std::mutex guard;
    std::map<std::type_index, std::string_view> tags;
};
tag_table& tags()
{
    static tag_table table;
    return table;
}

std::string tag_of(std::type_info const& type)
{
    auto& table = tags();
    std::lock_guard const lock(table.guard);
    auto const at = table.tags.find(type);
    return at != table.tags.end() ? std::string(at->second) : demangled(type.name());
}

}  // namespace

bool remember_error_tag(std::type_info const& type, std::string_view tag)
{
    auto& table = tags();
    std::lock_guard const lock(table.guard);
    return table.tags.insert_or_assign(type, tag).second;
}

void take_exception(call_result& r) noexcept
try {
    auto const* type = abi::__cxa_current_exception_type();
    r.end = call_end::threw;
    r.payload.clear();
    r.error = {};
    r.not_before = {};
    r.error.code = errc::step_failed;
    r.error.tag = type ? tag_of(*type) : "unknown";
    try {
        throw;
    } catch (flow::retry_after const& e) {
        r.end = call_end::not_started;
        r.error.message = e.why();
        r.not_before = e.at_least();
    } catch (flow::not_started const& e) {
        r.end = call_end::not_started;
        r.error.message = e.why();
    } catch (permanent_error const& e) {
        r.end = call_end::permanent;
        r.error.message = e.why();
    } catch (flow::error const& e) {
        r.error = e.detail();
        if (r.error.tag.empty()) r.error.tag = row_of(e.code()).name;
    } catch (std::exception const& e) {
        r.error.message = e.what() ? e.what() : "";
    } catch (std::string const& text) {
        r.error.message = text;
    } catch (char const* text) {
        r.error.message = text ? text : "";
    } catch (...) {
        r.error.message = "an exception that is not a std::exception";
    }
    if (r.error.message.size() > (64u << 10)) r.error.message.resize(64u << 10);  // P18
} catch (...) {
    r.end = call_end::threw;  // out of memory while taking it down: what is known of it is that it was thrown
}

}  // namespace flow::detail
