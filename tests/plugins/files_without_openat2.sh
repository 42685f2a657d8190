#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The files plugin as on a kernel that lacks openat2: the same tests hold.
# Run at the root of the tree; $B is the build directory.
failed=0
for test in files files_paths files_write files_find; do
    "${B:-build}/tests/plugins/test_$test" --no-openat2 || failed=1
done
exit $failed
