// What others have committed, told by NOTIFY (protocol P48): a thread and a connection of its own for each store object. Hints only:
// who misses one finds it by the change counter.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "flow/rows.hpp"
#include "runtime/store/postgres/connection.hpp"

namespace flow::postgres_detail {

class news {
public:
    explicit news(std::function<std::unique_ptr<listener>()> connect);
    /// What was committed by then is told, if the server can be reached.
    ~news();

    /// Begins to listen. Once this returns, what was given before for this owner is not called any more. Empty: nothing is.
    void when_changed(owner_id owner, std::function<void()> then);

    // After the commit, any thread; never waits for the server. Many are told as one.
    void concerns_everybody() { changed(true); }
    void concerns_us() { changed(false); }

    /// What others commit is told just now, as far as we know.
    bool listens() const noexcept { return listens_; }

private:
    void changed(bool everybody);
    void begin();  ///< mutex_ is held
    void work();
    void call_all();
    void sleep(int socket, std::chrono::milliseconds limit) const;
    void ring() const noexcept;

    std::function<std::unique_ptr<listener>()> const connect_;
    int const bell_;  ///< an eventfd: the thread has something to do
    std::atomic<bool> listens_{false};
    std::mutex mutex_;
    bool to_tell_ = false, to_call_ = false, ending_ = false;
    std::mutex calling_;  ///< held while they are called
    std::map<owner_id, std::function<void()>> concerned_;
    std::thread thread_;  ///< begun when somebody is to be told, or wants to be
};

}  // namespace flow::postgres_detail
