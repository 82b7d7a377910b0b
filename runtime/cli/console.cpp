#include "runtime/cli/console.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace flow::cli {

std::string console::paint(style how, std::string_view text) const
{
    std::string const plain(text);
    if (!colour || how == style::plain) return plain;
    auto const code = [how] {
        switch (how) {
        case style::strong: return "1";
        case style::dim: return "2";
        case style::good: return "32";
        case style::bad: return "31";
        default: return "33";
        }
    }();
    return "\x1b[" + std::string(code) + "m" + plain + "\x1b[0m";
}

console standard_console()
{
    console io{std::cout, std::cerr};
    if (::isatty(STDOUT_FILENO) == 0) return io;
    auto const* no_colour = std::getenv("NO_COLOR");  // set and not empty: https://no-color.org
    io.colour = no_colour == nullptr || *no_colour == '\0';
    ::winsize size{};
    // Narrower than 80 columns lines wrap: cut so short a table says nothing.
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) io.width = std::max<std::size_t>(80, size.ws_col);
    return io;
}

}  // namespace flow::cli
