// For what other threads or processes bring about: waits for it, generously, and no longer than needed.
#pragma once

#include <chrono>
#include <thread>

namespace flow::test {

template <class F>
bool eventually(F f)
{
    for (int i = 0; i < 5000; ++i) {
        if (f()) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds{3});
    }
    return false;
}

}  // namespace flow::test
