// What of workflows and operations does not depend on a type.
#include "flow/workflow.hpp"

#include <cstring>
#include <new>
#include <typeinfo>

#include "flow/detail/call.hpp"
#include "src/pending.hpp"

namespace flow::detail {

void* promise_base::operator new(std::size_t size) { return ::operator new(size); }
void promise_base::operator delete(void* frame, std::size_t size) noexcept { ::operator delete(frame, size); }

void destroy_frame(std::coroutine_handle<> frame, promise_base& p) noexcept
{
    bool thrown = false;
    p.let_go(thrown);
    frame.destroy();
    // A destructor that throws while the frame is taken down leads to unhandled_exception and on to the final suspension, on g++
    // 12 and clang 19 alike: the frame is still there. Its locals are gone; the rest is destroyed now.
    if (thrown) frame.destroy();
}

name::name(std::string_view text, int) : size_(text.size()), owned_(std::make_unique<char[]>(text.size()))
{
    if (!text.empty()) std::memcpy(owned_.get(), text.data(), text.size());
    text_ = owned_.get();
}

void pending_deleter::operator()(pending* p) const noexcept { delete p; }

scope& inner_scope::open(scope& outer)
{
    return scope_.emplace(outer, outer.next("workflow"));
}

error describe(std::exception_ptr const& failure)
{
    try {
        std::rethrow_exception(failure);
    } catch (error const& e) {
        return e;
    } catch (cancelled const&) {
        return error(errc::cancelled, "the run was cancelled");
    } catch (...) {
        call_result r;
        take_exception(r);
        return error(r.error);
    }
}

}  // namespace flow::detail
