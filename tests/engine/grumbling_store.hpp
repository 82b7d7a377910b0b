// A store that refuses calls by name, in words of a test's choosing: any store, wrapped.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "flow/store_reader.hpp"
#include "flow/stores.hpp"
#include "support/fault_store.hpp"

namespace flow::test {

/// Which calls are refused next, and how. Any thread.
class grudge {
public:
    explicit grudge(std::string words) : words_(std::move(words)) {}

    void refuse(std::string call, errc code)
    {
        std::lock_guard const lock(guard_);
        refused_[std::move(call)].push_back(code);
    }
    template <class Call>
    auto unless_refused(std::string const& name, Call const& call) -> decltype(call())
    {
        std::optional<errc> code;
        {
            std::lock_guard const lock(guard_);
            if (auto& waiting = refused_[name]; !waiting.empty()) {
                code = waiting.front();
                waiting.pop_front();
            }
        }
        if (code) return error(*code, words_);
        return call();
    }

private:
    std::string const words_;
    std::mutex guard_;
    std::map<std::string, std::deque<errc>> refused_;
};

class grumbling_reader final : public store_reader {
public:
    grumbling_reader(store_reader& wrapped, grudge& g) : wrapped_(wrapped), grudge_(g) {}

    outcome<std::optional<run_row>> run_by_key(std::string_view tenant, std::string_view key) override
    {
        return wrapped_.run_by_key(tenant, key);
    }
    outcome<std::vector<run_row>> runs_like(std::string_view prefix) override { return wrapped_.runs_like(prefix); }
    outcome<std::vector<run_row>> runs(run_filter const& which) override
    {
        return grudge_.unless_refused("runs", [&] { return wrapped_.runs(which); });
    }
    outcome<std::vector<waitpoint_row>> waitpoints(waitpoint_filter const& which) override { return wrapped_.waitpoints(which); }
    outcome<std::vector<request_row>> requests(run_id run) override { return wrapped_.requests(run); }
    outcome<std::vector<owner_row>> owners() override { return wrapped_.owners(); }
    outcome<std::vector<response>> responses(waitpoint_id to) override { return wrapped_.responses(to); }
    outcome<std::vector<event_row>> events(event_filter const& which) override { return wrapped_.events(which); }
    outcome<std::vector<journal_entry>> published(run_id run) override { return wrapped_.published(run); }
    outcome<std::vector<journal_entry>> publications(run_id run, seq_no after, std::size_t limit) override
    {
        return wrapped_.publications(run, after, limit);
    }
    outcome<std::vector<child_row>> children(run_id parent, std::optional<run_id> after, std::size_t limit) override
    {
        return wrapped_.children(parent, after, limit);
    }
    outcome<std::vector<workflow_version>> versions_to_claim() override { return wrapped_.versions_to_claim(); }

private:
    store_reader& wrapped_;
    grudge& grudge_;
};

/// Any thread.
class grumbling_store final : public fault_store {
public:
    grumbling_store(store_ptr wrapped, std::string words)
        : fault_store(wrapped), grudge_(std::move(words)), reader_(wrapped->reader(), grudge_)
    {
    }

    /// The next call of this name fails with this code and the store's words; said again, the one after it too.
    void refuse(std::string call, errc code) { grudge_.refuse(std::move(call), code); }
    /// Payloads of steps of that name are damaged when a run is loaded.
    void spoil(std::string step) { spoiled_ = std::move(step); }

    outcome<std::vector<answer>> apply(std::span<group const> groups, time_limit limit) override
    {
        return grudge_.unless_refused("apply", [&] { return fault_store::apply(groups, limit); });
    }
    outcome<std::vector<claimed>> claim(claim_request const& what) override
    {
        return grudge_.unless_refused("claim", [&] { return fault_store::claim(what); });
    }
    outcome<std::size_t> scan(time_point now, std::size_t limit) override
    {
        return grudge_.unless_refused("scan", [&] { return fault_store::scan(now, limit); });
    }
    outcome<std::optional<loaded_run>> load(run_id id) override
    {
        auto loaded = grudge_.unless_refused("load", [&] { return fault_store::load(id); });
        if (loaded && *loaded)
            for (auto& e : (*loaded)->entries)
                if (e.kind == entry_kind::step && e.name == spoiled_) e.payload += ' ';
        return loaded;
    }
    outcome<std::vector<notice>> look(owner_id owner, std::size_t limit) override
    {
        return grudge_.unless_refused("look", [&] { return fault_store::look(owner, limit); });
    }
    outcome<std::uint64_t> change_counter() override
    {
        return grudge_.unless_refused("change_counter", [&] { return fault_store::change_counter(); });
    }
    outcome<std::string> secret_of(waitpoint_id id) override
    {
        return grudge_.unless_refused("secret_of", [&] { return fault_store::secret_of(id); });
    }
    store_reader& reader() override { return reader_; }

private:
    grudge grudge_;
    grumbling_reader reader_;
    std::string spoiled_;
};

/// `Stores`: one of every_store.
template <class Stores>
class grumbling_place {
public:
    explicit grumbling_place(std::string words) : store_(std::make_shared<grumbling_store>(stores_.store, std::move(words))) {}

    store_ptr store() const { return store_; }
    void refuse(std::string call, errc code) { store_->refuse(std::move(call), code); }
    void spoil(std::string step) { store_->spoil(std::move(step)); }
    /// The same data, as another process sees it.
    store_ptr again() const { return stores_.again(); }

private:
    Stores stores_;
    std::shared_ptr<grumbling_store> store_;
};

}  // namespace flow::test
