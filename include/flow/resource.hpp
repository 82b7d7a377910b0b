// What a run holds outside memory: a robot's arm, a sandbox, a session on a GPU. Opened once, snapshot and closed when the run leaves memory,
// restored when it comes back.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "flow/codec.hpp"
#include "flow/detail/operation.hpp"
#include "flow/detail/scope.hpp"
#include "flow/detail/storable.hpp"
#include "flow/error.hpp"
#include "flow/start.hpp"

#pragma GCC visibility push(default)

namespace flow {

/// A class whose objects a run can hold: `static std::unique_ptr<R> open(args...)`, and, if it wants to be told, `void close() noexcept`.
template <class R, class... A>
concept resource_class = requires(A... a) {
    { R::open(std::move(a)...) } -> std::convertible_to<std::unique_ptr<R>>;
};
/// One that survives its run's leaving memory: `snapshot()` gives a value that can be stored, and `static std::unique_ptr<R> restore(it)` an
/// object that stands as that one stood.
template <class R>
concept resumable_resource = requires(R& r) {
    { R::restore(r.snapshot()) } -> std::convertible_to<std::unique_ptr<R>>;
};

namespace detail {

class run;

/// One resource of a run, without its type. On the run's strand, but for what functions of steps do with the object.
class resource_slot {
public:
    resource_slot() = default;
    resource_slot(resource_slot const&) = delete;
    resource_slot& operator=(resource_slot const&) = delete;
    virtual ~resource_slot() = default;

    virtual bool is_open() const noexcept = 0;
    virtual bool is_resumable() const noexcept = 0;
    /// Throws what the class throws.
    virtual void open() = 0;
    virtual std::string snapshot() = 0;
    virtual void restore(std::string_view snapshot) = 0;
    virtual void close() noexcept = 0;

    /// From here on the run sees to it.
    void hold(run& r, position at, std::string name);
    /// What was recorded of it; it is restored when the run goes live. `damaged`: why it cannot be.
    void sleep(std::string snapshot, std::string damaged);
    /// Nothing: it is open. Else why it cannot be.
    std::optional<error> wake();
    /// For its user: it is open, or is now. Holds the run where it is replayed. Throws flow::error: usage, snapshot_unavailable, resource_lost.
    void need();
    void let_go() noexcept;

    position const& at() const noexcept { return at_; }
    std::string const& name() const noexcept { return name_; }
    bool is_asleep() const noexcept { return asleep_; }
    /// The snapshot that is written last; empty: not known.
    std::string const& written() const noexcept { return written_; }
    void is_written(std::string snapshot) { written_ = std::move(snapshot); }

private:
    run* run_ = nullptr;
    position at_;
    std::string name_, written_, damaged_;
    bool asleep_ = false;
};

template <class R, class... A>
class typed_slot final : public resource_slot {
public:
    explicit typed_slot(std::tuple<A...> arguments) : arguments_(std::move(arguments)) {}
    ~typed_slot() override
    {
        let_go();
        close();
    }

    bool is_open() const noexcept override { return object_ != nullptr; }
    bool is_resumable() const noexcept override { return resumable_resource<R>; }
    void open() override
    {
        object_ = std::apply([](auto const&... a) { return R::open(a...); }, arguments_);
        if (!object_) throw error(errc::usage, "open() gave nothing");
    }
    std::string snapshot() override
    {
        std::string text;
        if constexpr (resumable_resource<R>) encode(encoding::json, object_->snapshot(), text);
        return text;
    }
    void restore([[maybe_unused]] std::string_view snapshot) override
    {
        if constexpr (resumable_resource<R>) {
            std::decay_t<decltype(std::declval<R&>().snapshot())> value{};
            decode(encoding::json, snapshot, value).value();
            object_ = R::restore(std::move(value));
            if (!object_) throw error(errc::usage, "restore() gave nothing");
        }
    }
    void close() noexcept override
    {
        if constexpr (requires { object_->close(); })
            if (object_) object_->close();
        object_.reset();
    }
    R& object() noexcept { return *object_; }

private:
    std::tuple<A...> arguments_;
    std::unique_ptr<R> object_;
};

class open_resource_base : public journaled_operation {
public:
    bool start(scope& s, continuation& c);
    bool proceed(scope& s, continuation& c, position at) override;
    outcome<void> accept(encoding, std::string_view) override { return {}; }
    std::string_view shape() const override { return shape_; }

protected:
    open_resource_base(name n, std::string_view shape) : name_(std::move(n)), shape_(shape) {}
    virtual resource_slot& slot() noexcept = 0;

private:
    void open(run& r, position const& at, bool late);
    void wake_later(run& r, position const& at, journal_entry const& opened);

    name name_;
    std::string_view shape_;
};

}  // namespace detail

/// A resource that this run holds. Move-only; lives in the body, and closes it at the end of its scope.
template <class R>
class [[nodiscard]] held {
public:
    explicit held(std::unique_ptr<detail::resource_slot> slot, R& (*object)(detail::resource_slot&)) : slot_(std::move(slot)), object_(object) {}
    held(held&&) noexcept = default;
    held& operator=(held&&) noexcept = default;

    /// In functions of steps. In the body what it gives is not what it gave when that part of the body ran first: used where the run is replayed
    /// it holds the run (nondeterminism).
    R& operator*() const
    {
        slot_->need();
        return object_(*slot_);
    }
    R* operator->() const { return &**this; }
    /// Before the end of the scope. Nothing happens the second time.
    void close()
    {
        slot_->let_go();
        slot_->close();
    }

private:
    std::unique_ptr<detail::resource_slot> slot_;
    R& (*object_)(detail::resource_slot&);
};

namespace detail {

template <class R>
constexpr std::string_view snapshot_shape()
{
    if constexpr (resumable_resource<R>) return shape_of<std::decay_t<decltype(std::declval<R&>().snapshot())>>();
    else return {};
}

template <class R, class... A>
class [[nodiscard("a resource is opened only when it is awaited")]] open_resource_operation final : public open_resource_base {
public:
    open_resource_operation(name n, std::tuple<A...> arguments)
        : open_resource_base(std::move(n), snapshot_shape<R>()), slot_(std::make_unique<typed_slot<R, A...>>(std::move(arguments)))
    {
    }
    open_resource_operation(open_resource_operation&&) noexcept = default;

    held<R> take()
    {
        check();
        return held<R>(std::move(slot_), [](resource_slot& s) -> R& { return static_cast<typed_slot<R, A...>&>(s).object(); });
    }

private:
    resource_slot& slot() noexcept override { return *slot_; }
    std::unique_ptr<resource_slot> slot_;
};

}  // namespace detail

/// `auto hand = co_await flow::open_resource<gripper>("hand", serial)`: calls gripper::open(serial), on this run's strand, and holds what it
/// gives until `hand` goes out of scope. Once: on replay it is not opened again.
///
/// `snapshot()` is called when it is opened, and after each step: if it gives something new, that is stored in the transaction of the step's
/// outcome. So after a crash the resource stands as the journal does. When the run leaves memory, because it only waits or its engine stops,
/// the resource is closed: a wait of days holds nothing. When it comes back, here or in another process, `restore(snapshot)` is called
/// before anything new begins. While functions of several branches are at work at once, it is taken when the last of them has returned.
///
/// A resource that has no `snapshot` keeps its run in memory. If the process ends all the same, the run fails with resource_lost. One whose
/// snapshot cannot be read or restored fails its run with snapshot_unavailable: never a silent new beginning. Both end the run; there is nothing
/// to catch.
///
/// A `checkpoint` ends the scopes of its segment: what is held is closed, and opened anew in the next.
///
/// Awaited it throws what `open` or the first `snapshot` throws, as flow::step_error; flow::cancelled.
template <class R, class... A>
    requires resource_class<R, detail::argument_of<A>...>
auto open_resource(detail::name name, A const&... arguments)
{
    if constexpr (resumable_resource<R>) static_assert(detail::check_storable<std::decay_t<decltype(std::declval<R&>().snapshot())>>());
    return detail::open_resource_operation<R, detail::argument_of<A>...>(std::move(name), std::tuple<detail::argument_of<A>...>(arguments...));
}

}  // namespace flow

#pragma GCC visibility pop
