// The report as one HTML page: the same history gives the same bytes.
#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "git_log.hpp"

namespace report {

inline std::string escaped(std::string_view text)
{
    std::string out;
    for (char const c : text) {
        if (c == '<') out += "&lt;";
        else if (c == '>') out += "&gt;";
        else if (c == '&') out += "&amp;";
        else if (c == '"') out += "&quot;";
        else out += c;
    }
    return out;
}

inline std::string day_of(flow::time_point t) { return flow::to_string(t).substr(0, 10); }

struct bar {
    std::string day;
    int commits = 0;
};

/// One bar a day, the days without commits too.
inline std::vector<bar> bars_of(history const& h)
{
    std::vector<bar> all;
    for (auto t = h.from; t <= h.until; t += std::chrono::days{1}) all.push_back({day_of(t), 0});
    for (auto const& c : h.commits) {
        auto const day = day_of(c.at);
        for (auto& b : all) b.commits += b.day == day;
    }
    return all;
}

inline std::string head(history const& h, std::size_t days)
{
    return "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n<title>Weekly report</title>\n"
           "<style>body{font:16px sans-serif;max-width:48em;margin:2em auto}td{padding:.1em .6em;vertical-align:top}"
           "td:first-child{white-space:nowrap}rect{fill:#36c}text{font:11px sans-serif;text-anchor:middle}</style>\n<h1>" +
           std::to_string(h.commits.size()) + " commits in " + std::to_string(days) + " days</h1>\n<p>" + escaped(h.title) + ", " +
           day_of(h.from) + " to " + day_of(h.until) + "</p>\n<svg width=\"" + std::to_string(days * 60) +
           "\" height=\"190\" role=\"img\" aria-label=\"commits a day\">\n";
}

inline std::string drawn(bar const& b, std::size_t position, int highest)
{
    int const height = highest == 0 ? 0 : b.commits * 140 / highest;
    auto const x = std::to_string(position * 60 + 10), middle = std::to_string(position * 60 + 30);
    return "<rect x=\"" + x + "\" y=\"" + std::to_string(160 - height) + "\" width=\"40\" height=\"" + std::to_string(height) +
           "\"/><text x=\"" + middle + "\" y=\"" + std::to_string(155 - height) + "\">" + std::to_string(b.commits) +
           "</text><text x=\"" + middle + "\" y=\"178\">" + b.day.substr(5) + "</text>\n";
}

inline std::string tail(history const& h)
{
    std::map<std::string, int> authors;
    for (auto const& c : h.commits) ++authors[c.author];
    std::string out = "</svg>\n<h2>Who</h2>\n<table>\n";
    for (auto const& [who, n] : authors) out += "<tr><td>" + escaped(who) + "<td>" + std::to_string(n) + "\n";
    out += "</table>\n<h2>What</h2>\n<table>\n";
    for (auto const& c : h.commits)
        out += "<tr><td>" + day_of(c.at) + "<td>" + escaped(c.author) + "<td>" + escaped(c.subject.substr(0, 200)) + "\n";
    return out + "</table>\n</html>\n";
}

}  // namespace report
