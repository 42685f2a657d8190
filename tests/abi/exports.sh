#!/bin/sh
# SPDX-License-Identifier: MIT
# Every plugin that is built exports exactly one symbol.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
failed=0
count=0
for plugin in "$B"/plugins/*.so; do
    [ -e "$plugin" ] || break
    count=$((count + 1))
    symbols=$(nm -D --defined-only "$plugin" | awk '{print $3}')
    if [ "$symbols" = gudgeon_plugin ]; then
        echo "ok exports: $(basename "$plugin")"
    else
        echo "not ok exports: $(basename "$plugin")"
        printf '%s\n' "$symbols" | sed 's/^/#   /'
        failed=1
    fi
done
if [ "$count" = 0 ]; then
    echo "not ok exports: no plugin in $B/plugins"
    failed=1
fi
exit $failed
