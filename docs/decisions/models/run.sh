#!/usr/bin/env bash
# Builds and runs the model. Ends with an error if a property fails, or a removed rule is not missed.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"${CXX:-g++}" -std=c++20 -O2 -Wall -Wextra "$here/departures.cpp" -o "$out/departures"
"$out/departures"
