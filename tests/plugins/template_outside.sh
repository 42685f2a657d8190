#!/bin/sh
# SPDX-License-Identifier: MIT
#
# What plugins/template/README.md says, done: the template is copied out of the tree, renamed and
# built with a compiler and the headers alone (by its Makefile and by hand), and loads and works.
# Run at the root of the tree; $B is the build directory.
set -eu

build=$(cd "${B:-build}" && pwd)
headers=$PWD/include
there=$(mktemp -d)
trap 'rm -rf "$there"' EXIT

say() { # ok|"not ok" NAME
    echo "$1 template outside the tree: $2"
    [ "$1" = ok ]
}

cp -r plugins/template/. "$there"
cd "$there"
mv template.c mytools.c
sed -i 's/template/mytools/g' mytools.c

if make -s NAME=mytools GUDGEON_INCLUDE="$headers" CFLAGS='-O2 -Wall -Wextra -Werror' >log 2>&1; then
    say ok "built by its Makefile"
else
    sed 's/^/# /' log
    say "not ok" "built by its Makefile"
fi
"$build/tests/plugins/test_template" "$there/mytools.so"

rm mytools.so
${CC:-cc} -shared -fPIC -fvisibility=hidden -Wl,-z,defs -I "$headers" -o mytools.so mytools.c
"$build/tests/plugins/test_template" "$there/mytools.so"

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
