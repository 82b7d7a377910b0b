#include "flow/error.hpp"

#include "flow/detail/codec_io.hpp"

namespace flow {
namespace {

constexpr std::size_t longest_message = 64 * 1024;

/// Cuts a message to its limit (P18), not within a character.
void cut(std::string& message)
{
    if (message.size() <= longest_message) return;
    auto end = longest_message;
    // A character has at most three bytes behind its first. Where there are more of them, it is no UTF-8: cut anywhere.
    for (std::size_t i = 0; i < 3 && (static_cast<unsigned char>(message[end]) & 0xC0) == 0x80; ++i) --end;
    if ((static_cast<unsigned char>(message[end]) & 0xC0) == 0x80) end = longest_message;
    message.resize(end);
}

}  // namespace

error::error(errc code, std::string message)
    : error(error_detail{.code = code, .tag = {}, .message = std::move(message), .place = {}, .attempts = 0})
{
}

error::error(error_detail detail)
{
    cut(detail.message);
    auto const& row = row_of(detail.code);
    std::string text(row.name);
    text += ": ";
    if (!detail.place.empty()) text += "at " + detail.place + ": ";
    text += detail.message.empty() ? std::string(row.meaning) : detail.message;
    if (row.next == remedy::correct || row.next == remedy::ask_a_person)
        if (!detail.message.empty()) text += std::string(" (") += std::string(row.meaning) += ")";
    auto made = std::make_shared<shown>();
    static_cast<error_detail&>(*made) = std::move(detail);
    made->text = std::move(text);
    detail_ = std::move(made);
}

char const* error::what() const noexcept { return detail_->text.c_str(); }

void raise(error const& e)
{
    switch (e.code()) {
        case errc::cancelled: throw cancelled{};
        case errc::wait_timeout: throw wait_timeout(e.detail());
        case errc::step_skipped: throw step_skipped(e.detail());
        case errc::child_failed: throw child_error(e.detail());
        case errc::step_failed:
        case errc::step_timeout:
        case errc::output_unstorable: throw step_error(e.detail());
        default: throw e;
    }
}

}  // namespace flow
