#!/bin/sh
# SPDX-License-Identifier: MIT
# Every public header compiles alone as C11, C17 and C++11 without a warning, those of the ABI also
# without hidden padding; and the layout of the ABI is what it was (offsets.c).
set -u
cd "$(dirname "$0")/../.." || exit 2
strict='-Wall -Wextra -Wpedantic -Wshadow -Wundef -Werror -Iinclude -fsyntax-only'
failed=0

# check NAME COMMAND…
check() {
    name=$1
    shift
    if output=$("$@" 2>&1); then
        echo "ok headers: $name"
    else
        echo "not ok headers: $name"
        printf '%s\n' "$output" | head -5 | sed 's/^/#   /'
        failed=1
    fi
}

# alone NAME HEADER COMPILER…: a file that includes nothing else, twice
alone() {
    name=$1 header=$2
    shift 2
    printf '#include <%s>\n#include <%s>\n' "$header" "$header" >"$scratch/alone.$extension"
    check "$name" "$@" "$scratch/alone.$extension"
}

scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
for compiler in ${CC:-gcc clang}; do
    command -v "$compiler" >/dev/null || continue
    case $compiler in
    *clang*) plus=clang++ ;;
    *) plus=${CXX:-g++} ;;
    esac
    for path in include/gudgeon/*.h include/gudgeon/ext/*.h; do
        header=${path#include/}
        case $header in
        gudgeon/plugin.h | gudgeon/ext/*) padded=-Wpadded ;;
        *) padded= ;; # conveniences: nothing of theirs crosses
        esac
        extension=c
        for std in c11 c17; do
            alone "$header, $compiler -std=$std" "$header" "$compiler" $strict $padded -std=$std
        done
        command -v "$plus" >/dev/null || continue
        extension=cc
        alone "$header, $plus -std=c++11" "$header" "$plus" $strict $padded -std=c++11
    done
    check "offsets, $compiler" "$compiler" $strict -std=c11 tests/abi/offsets.c
done
exit $failed
