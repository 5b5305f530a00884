#!/bin/sh
# Builds the benchmark of symbol reading against a build tree, makes the large PDB, and runs it.
#
#   bench/sym_bench.sh [BUILD_FOLDER] [WORK_FOLDER]     defaults: build/release, build/bench-sym
set -eu
cd "$(dirname "$0")/.."
build=${1:-build/release}
work=${2:-build/bench-sym}
mkdir -p "$work/tables"
bench/sym_make_pdb.sh "$work"
# shellcheck disable=SC2046 # one flag a word
cc -O2 -std=c17 -D_POSIX_C_SOURCE=200809L -D_FILE_OFFSET_BITS=64 -Isrc bench/sym_bench.c \
    "$build/libetw_sym.a" "$build/libetw_base.a" \
    $(pkg-config --libs libzstd zlib libmspack) -lpthread -ldl -lm -o "$work/sym_bench"
rm -f "$work"/tables/*/*.symtab
"$work/sym_bench" "$work/large.pdb" "$work/tables" 7
