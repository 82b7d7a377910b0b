// For the examples: every one takes `--store memory`, `--store sqlite:FILE` or `--store postgresql://…`.
#pragma once

#include <flow/open_store.hpp>
#ifdef FLOW_POSTGRES  // set by CMake where flow::postgres is built
#include <flow/postgres.hpp>
#endif

#include <cstdio>
#include <cstdlib>
#include <string>

/// From here on flow::open_store takes every text that it can take in this build.
inline void use_every_store()
{
#ifdef FLOW_POSTGRES
    flow::use_postgres();
#endif
}

/// What `--store` says, else `otherwise`; for flow::open_store.
inline std::string store_text(int argc, char** argv, std::string const& otherwise)
{
    use_every_store();
    if (argc == 1) return otherwise;
    if (argc == 3 && std::string(argv[1]) == "--store") return argv[2];
    std::fprintf(stderr, "usage: %s [--store memory|sqlite:FILE|postgresql://USER@HOST/DATABASE]\n", argv[0]);
    std::exit(2);
}

/// The same, for an example that another process goes on with.
inline std::string shared_store_text(int argc, char** argv, std::string const& otherwise)
{
    auto const text = store_text(argc, argv, otherwise);
    if (text != "memory") return text;
    std::fprintf(stderr, "%s: not in memory: a second process goes on here, and such a store ends with the first. "
                         "Name a file or a server: --store sqlite:FILE\n", argv[0]);
    std::exit(2);
}
