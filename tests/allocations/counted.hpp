// Every allocation of this program by operator new: counted, or refused.
#pragma once

#include <cstddef>

namespace flow::test {

/// How many allocations there have been, in any thread.
std::size_t allocations() noexcept;

/// While it lives, the nth allocation by operator new, in any thread, of at least so many bytes is refused: std::bad_alloc. Once.
class refused_allocation {
public:
    explicit refused_allocation(std::size_t at_least, std::size_t nth = 1) noexcept;
    ~refused_allocation();
    refused_allocation(refused_allocation const&) = delete;
    refused_allocation& operator=(refused_allocation const&) = delete;
    bool happened() const noexcept;
};

}  // namespace flow::test
