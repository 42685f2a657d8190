#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The files plugin as on a kernel that lacks openat2: the same tests hold.
# Run at the root of the tree; $B is the build directory.
exec "${B:-build}/tests/plugins/test_files" --no-openat2
