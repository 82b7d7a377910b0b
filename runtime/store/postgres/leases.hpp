// Owners live by leases (protocol P46): a row each, which this object's thread renews. A lease is counted from before its renewal
// was sent, so this process never thinks it longer than the server does.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "flow/rows.hpp"

namespace flow::postgres_detail {

class leases {
public:
    using instant = std::chrono::steady_clock::time_point;
    struct living {
        owner_id owner;
        owner_info info;
        std::string workflows;  ///< what it announced
    };
    /// Renews them in the database, all or none; a sentence if it could not.
    using renewal = std::function<std::string(std::vector<living> const&)>;

    leases(std::chrono::milliseconds lease, std::chrono::milliseconds every, renewal renew);
    ~leases();

    /// Lives already, since `since`.
    void add(living who, instant since);
    void announced(owner_id owner, std::string workflows);
    /// False: it is not one of ours. Behind it no renewal of this owner is under way.
    bool remove(owner_id owner);
    std::vector<owner_id> owners() const;

    /// May it still write, by this process's clock? Owners of other stores: theirs to judge.
    bool stands(owner_id owner) const noexcept;
    /// Why leases are not renewed just now; empty when they are.
    std::string trouble() const;

private:
    void work();
    std::chrono::milliseconds const lease_, every_;
    renewal const renew_;

    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<owner_id, living> living_;
    std::map<owner_id, instant> until_;
    std::string trouble_;
    bool ending_ = false;
    std::mutex renewing_;  // before mutex_; held while the database is asked
    std::thread thread_;   // begun with the first owner
};

}  // namespace flow::postgres_detail
