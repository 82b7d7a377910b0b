// For game_loop: a terminal drawn sixty times a second, or lines of plain text where there is none; and its keys.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include <poll.h>
#include <termios.h>
#include <unistd.h>

/// Keys as they are pressed, without Enter. Does nothing where standard input is no terminal.
class keyboard {
public:
    keyboard()
    {
        if (::isatty(STDIN_FILENO) == 0 || ::tcgetattr(STDIN_FILENO, &before_) != 0) return;
        is_there_ = true;
        auto raw = before_;
        raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    ~keyboard()
    {
        if (is_there_) ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    }
    keyboard(keyboard const&) = delete;
    keyboard& operator=(keyboard const&) = delete;

    /// 0: none.
    char pressed() const
    {
        ::pollfd input{STDIN_FILENO, POLLIN, 0};
        char key = 0;
        return is_there_ && ::poll(&input, 1, 0) == 1 && ::read(STDIN_FILENO, &key, 1) == 1 ? key : '\0';
    }

private:
    bool is_there_ = false;
    ::termios before_{};
};

/// What there is to see. Two equal ones look the same.
struct scene {
    std::string place{};    ///< where the hero is
    int road = 0;           ///< how far along the way, in hundredths
    std::string who{}, says{};  ///< who speaks; empty: nobody
    std::vector<std::string> choices{};
    std::string note{};     ///< about the game, not of it

    friend bool operator==(scene const&, scene const&) = default;
};

class terminal {
public:
    terminal() : is_there_(::isatty(STDOUT_FILENO) != 0)
    {
        if (is_there_) std::fputs("\x1b[?1049h\x1b[?25l", stdout);  // a screen of its own, no cursor
    }
    ~terminal()
    {
        if (is_there_) std::fputs("\x1b[?25h\x1b[?1049l", stdout);
    }
    terminal(terminal const&) = delete;
    terminal& operator=(terminal const&) = delete;

    void draw(scene const& now)
    {
        if (frame_ == 0) hero_ = now.road;
        if (frame_ % 2 == 0 && hero_ != now.road) hero_ += hero_ < now.road ? 1 : -1;  // walks there, thirty steps a second
        is_there_ ? paint(now) : tell(now);
        std::fflush(stdout);
        ++frame_;
        last_ = now;
    }

private:
    void paint(scene const& now) const
    {
        constexpr std::size_t width = 60;
        auto const hero = static_cast<std::size_t>(hero_) * (width - 1) / 100;
        std::string const sky(width, ' ');
        std::string path(width, '.');
        path[hero] = '@';
        std::string water;
        for (std::size_t x = 0; x < width; ++x) water += (x + frame_ / 8) % 4 == 0 ? '~' : ' ';
        std::string out = "\x1b[H\x1b[2K  \x1b[1m" + now.place + "\x1b[0m\n";
        auto const row = [&](std::string const& colour, std::string const& text) { out += "\x1b[2K  " + colour + text + "\x1b[0m\n"; };
        row("", sky);
        row("\x1b[32m", "  /\\      /\\/\\          /\\        /\\/\\/\\       /\\      |>  ");
        row("\x1b[33m", path);
        row("\x1b[36m", water);
        row("", sky);
        row("\x1b[1m", now.who.empty() ? "" : now.who + ": " + now.says);
        for (std::size_t i = 0; i < 4; ++i) row("", i < now.choices.size() ? "  " + std::to_string(i + 1) + "  " + now.choices[i] : "");
        row("\x1b[2m", now.note);
        row("\x1b[2m", "1-9 choose   s save a copy   q leave (the quest goes on when you come back)");
        std::fputs((out + "\x1b[J").c_str(), stdout);
    }
    /// What has changed, a line each.
    void tell(scene const& now) const
    {
        if (now.place != last_.place) std::printf("%s\n", now.place.c_str());
        if (!now.note.empty() && now.note != last_.note) std::printf("  (%s)\n", now.note.c_str());
        if (now.who.empty() || now.says == last_.says) return;
        std::printf("  %s: %s\n", now.who.c_str(), now.says.c_str());
        for (std::size_t i = 0; i < now.choices.size(); ++i) std::printf("    %zu  %s\n", i + 1, now.choices[i].c_str());
    }

    bool const is_there_;
    std::size_t frame_ = 0;
    int hero_ = 0;
    scene last_;
};
