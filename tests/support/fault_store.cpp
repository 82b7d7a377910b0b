#include "support/fault_store.hpp"

namespace flow::test {

void fault_store::plan(int nth, fault what, errc error)
{
    what_ = what;
    error_ = error;
    reached_ = false;
    nth_ = writes_ + nth;
}

template <class Call>
auto fault_store::write(Call const& call) -> decltype(call())
{
    if (gone_) return gone();
    if (++writes_ != nth_) return call();
    reached_ = true;
    switch (what_.load()) {
    case fault::fail: return flow::error(error_.load(), name() + " fails on purpose");
    case fault::lose: gone_ = true; return gone();
    case fault::crash: ignore(call(), "its answer is what is lost"); gone_ = true; return gone();
    case fault::doubt: ignore(call(), "its answer is what is lost"); break;
    }
    return flow::error(errc::commit_unknown, name() + " lost the answer on purpose");
}

template <class Call>
auto fault_store::read(Call const& call) -> decltype(call())
{
    if (gone_) return gone();
    return call();
}

outcome<owner_id> fault_store::add_owner(owner_info const& who)
{
    return write([&] { return wrapped_->add_owner(who); });
}
void fault_store::retire_owner(owner_id owner) noexcept
{
    if (!gone_) wrapped_->retire_owner(owner);
}
outcome<std::vector<answer>> fault_store::apply(std::span<group const> groups, time_limit limit)
{
    return write([&] { return wrapped_->apply(groups, limit); });
}
outcome<started> fault_store::start(new_run const& what)
{
    return write([&] { return wrapped_->start(what); });
}
outcome<completed> fault_store::complete_and_claim(completion const& what, claim_request const& takes)
{
    return write([&] { return wrapped_->complete_and_claim(what, takes); });
}
outcome<completion_answer> fault_store::complete(completion const& what)
{
    return write([&] { return wrapped_->complete(what); });
}
outcome<delivered> fault_store::deliver(event const& what)
{
    return write([&] { return wrapped_->deliver(what); });
}
outcome<responded> fault_store::respond(response const& what)
{
    return write([&] { return wrapped_->respond(what); });
}
outcome<request_fate> fault_store::ask(request const& what)
{
    return write([&] { return wrapped_->ask(what); });
}
outcome<std::vector<claimed>> fault_store::claim(claim_request const& what)
{
    return write([&] { return wrapped_->claim(what); });
}
outcome<std::size_t> fault_store::scan(time_point now, std::size_t limit)
{
    return write([&] { return wrapped_->scan(now, limit); });
}
outcome<void> fault_store::announce(owner_id owner, std::span<workflow_version const> all)
{
    return write([&] { return wrapped_->announce(owner, all); });
}
outcome<void> fault_store::ping(owner_id owner, time_limit limit)
{
    return write([&] { return wrapped_->ping(owner, limit); });
}
outcome<std::optional<run_row>> fault_store::run(run_id id)
{
    return read([&] { return wrapped_->run(id); });
}
outcome<std::optional<waitpoint_row>> fault_store::waitpoint(waitpoint_id id)
{
    return read([&] { return wrapped_->waitpoint(id); });
}
outcome<std::vector<journal_entry>> fault_store::journal(run_id run, seq_no after, std::size_t limit)
{
    return read([&] { return wrapped_->journal(run, after, limit); });
}
outcome<std::optional<loaded_run>> fault_store::load(run_id run)
{
    return read([&] { return wrapped_->load(run); });
}
outcome<std::string> fault_store::load_blob(digest const& hash)
{
    return read([&] { return wrapped_->load_blob(hash); });
}
outcome<std::vector<notice>> fault_store::look(owner_id owner, std::size_t limit)
{
    return read([&] { return wrapped_->look(owner, limit); });
}
outcome<time_point> fault_store::next_due()
{
    return read([&] { return wrapped_->next_due(); });
}
outcome<std::uint64_t> fault_store::change_counter()
{
    return read([&] { return wrapped_->change_counter(); });
}

}  // namespace flow::test
