#!/bin/sh
# SPDX-License-Identifier: MIT
# Every fuzz target over its corpus, in the build $B (default: build).
cd "$(dirname "$0")/../.." || exit 1
failed=0
for source in tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    name=${name#fuzz_}
    if output=$("${B:-build}/tests/fuzz/$name" "tests/fuzz/corpus/$name" 2>&1); then
        echo "ok fuzz corpus: $name"
    else
        failed=1
        echo "not ok fuzz corpus: $name"
        echo "$output" | tail -n 30 | sed 's/^/#   /'
    fi
done
exit $failed
