#include "allocations/counted.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace flow::test {

namespace {

std::atomic<std::size_t> count{0};
std::atomic<std::size_t> refused_from{0};  // bytes
std::atomic<std::size_t> before_refusal{0};  // 0: none is refused

bool is_refused(std::size_t bytes) noexcept
{
    if (bytes < refused_from) return false;
    auto left = before_refusal.load();
    while (left > 0 && !before_refusal.compare_exchange_weak(left, left - 1)) {
    }
    return left == 1;
}

/// Under a sanitizer too: it watches malloc.
void* allocate(std::size_t bytes, std::size_t alignment) noexcept
{
    ++count;
    if (is_refused(bytes)) return nullptr;
    if (alignment <= alignof(std::max_align_t)) return std::malloc(bytes > 0 ? bytes : 1);
    return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}

void* allocate_or_throw(std::size_t bytes, std::size_t alignment)
{
    if (auto* const p = allocate(bytes, alignment)) return p;
    throw std::bad_alloc{};
}

}  // namespace

std::size_t allocations() noexcept { return count; }

refused_allocation::refused_allocation(std::size_t at_least, std::size_t nth) noexcept
{
    refused_from = at_least;
    before_refusal = nth;
}
refused_allocation::~refused_allocation() { before_refusal = 0; }
bool refused_allocation::happened() const noexcept { return before_refusal == 0; }

}  // namespace flow::test

using flow::test::allocate;
using flow::test::allocate_or_throw;

// Every form: a sanitizer's own would not call the others.
void* operator new(std::size_t n) { return allocate_or_throw(n, 0); }
void* operator new[](std::size_t n) { return allocate_or_throw(n, 0); }
void* operator new(std::size_t n, std::align_val_t a) { return allocate_or_throw(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return allocate_or_throw(n, static_cast<std::size_t>(a)); }
void* operator new(std::size_t n, std::nothrow_t const&) noexcept { return allocate(n, 0); }
void* operator new[](std::size_t n, std::nothrow_t const&) noexcept { return allocate(n, 0); }
void* operator new(std::size_t n, std::align_val_t a, std::nothrow_t const&) noexcept { return allocate(n, static_cast<std::size_t>(a)); }
void* operator new[](std::size_t n, std::align_val_t a, std::nothrow_t const&) noexcept { return allocate(n, static_cast<std::size_t>(a)); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::nothrow_t const&) noexcept { std::free(p); }
void operator delete[](void* p, std::nothrow_t const&) noexcept { std::free(p); }
