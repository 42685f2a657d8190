#!/bin/sh
# SPDX-License-Identifier: MIT
#
# Every plugin exports one symbol, and includes nothing of the host's or of another plugin's.
# Run at the root of the tree; $B is the build directory.
set -eu
failed=0

judge() { # WHAT FINDINGS
    if [ -z "$2" ]; then
        echo "ok plugins: $1"
    else
        echo "not ok plugins: $1"
        echo "$2" | sed 's/^/#   /'
        failed=1
    fi
}

for plugin in "${B:-build}"/plugins/*.so; do
    # AddressSanitizer marks each global by a symbol of its own.
    exported=$(nm -D --defined-only "$plugin" | awk '{print $NF}' |
        grep -Ev '^(__odr_asan\.)?gudgeon_plugin$' || true)
    judge "$(basename "$plugin") exports nothing but gudgeon_plugin" "$exported"
done

# Their own headers stand beside them; all else comes in angle brackets, and core/ is not on the path.
strays=$(grep -En '^#include "' plugins/*/*.[ch] | grep -E '"[^"]*/' || true)
judge "no plugin includes a header of another directory" "$strays"
exit $failed
