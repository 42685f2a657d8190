#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What plugins/template/README.md says, done: the template is copied out of the tree, renamed and
# built with a compiler and the headers alone (by its Makefile and by hand), and loads and works.
# Run at the root of the tree; $B is the build directory.
set -eu

build=$(cd "${B:-build}" && pwd)
tree=$PWD
there=$(mktemp -d)
trap "rm -rf '$there'" EXIT

say() { # ok|"not ok" NAME
    echo "$1 template outside the tree: $2"
    [ "$1" = ok ]
}

# The commands of step $1, as they stand in the README: its blocks of code.
commands_of() {
    awk -v step="## $1." 'index($0, "## ") == 1 { on = index($0, step) == 1 }
                          on && sub(/^    /, "")' "$tree/plugins/template/README.md"
}

# In one shell, because the second block of step 1 uses what the first has set.
{
    commands_of 1 | grep -v '^cc '
    echo "\"$build/tests/plugins/test_template\" ./mytools.so"
    echo 'rm mytools.so'
    commands_of 1 | grep '^cc '
    echo "\"$build/tests/plugins/test_template\" ./mytools.so"
    echo "PATH=$build:\$PATH"
    commands_of 2
} >"$there/commands"
export HOME="$there" GUDGEON_CACHE_DIR="$there/cache"
if CFLAGS='-O2 -Wall -Wextra -Werror' sh -e "$there/commands" >"$there/log" 2>&1; then
    grep '^ok' "$there/log"
    say ok "built and shown by the README's commands"
else
    sed 's/^/# /' "$there/log"
    say "not ok" "built and shown by the README's commands"
fi

there=$there/mytools
cd "$there"

awk '/^    agent: greeter/ { yes = 1 } /^Then$/ { exit } yes { sub(/^    /, ""); print }' \
    README.md >agent.yaml
answer=$(GUDGEON_STATE_DIR="$there/state" "$build/gudgeon" run --quiet --plugin-path "$there" \
    agent.yaml "Greet the world" 2>log || true)
if [ "$answer" = "The tool said: Good morning, World!" ]; then
    say ok "the README's agent runs"
else
    sed 's/^/# /' log
    say "not ok" "the README's agent runs: $answer"
fi

exported=$(nm -D --defined-only mytools.so | awk '{print $3}')
if [ "$exported" = gudgeon_plugin ]; then
    say ok "exports one symbol"
else
    say "not ok" "exports one symbol: $exported"
fi
