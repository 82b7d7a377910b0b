#include "runtime/store/memory/memory_store.hpp"

namespace flow {

namespace memory_detail {

outcome<std::uint64_t> memory_store::change_counter()
{
    std::scoped_lock guard(shared_.mutex);
    return changes_;
}

}  // namespace memory_detail

store_ptr memory(memory_options options) { return std::make_shared<memory_detail::memory_store>(std::move(options)); }

}  // namespace flow
