#!/bin/sh
# SPDX-License-Identifier: MIT
# gudgeon-worker --describe by hand: its output, its exit statuses, and what the plugin's code
# finds around it.
set -u
cd "$(dirname "$0")/../.." || exit 2
B=${B:-build}
worker=$B/gudgeon-worker
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
failed=0

# expect NAME STATUS TEXT FILE…: describes FILE, compares the status and looks for TEXT
expect() {
    name=$1 status=$2 text=$3
    shift 3
    "$worker" --describe "$@" >"$scratch/out" 2>"$scratch/err"
    have=$?
    if [ $have = "$status" ] && cat "$scratch/out" "$scratch/err" | grep -qF -- "$text"; then
        echo "ok worker: $name"
    else
        echo "not ok worker: $name"
        echo "#   status $have, wanted $status with: $text"
        head -3 "$scratch/out" "$scratch/err" | sed 's/^/#   /'
        failed=1
    fi
}

expect 'a plugin' 0 '"name":"ordinary","version":"1.0.0","licence":"MIT","abi":[0,1]' \
    "$B/tests/abi/ordinary.so"
expect 'a refused one' 1 '{"refused":"offers no component","lasting":true,' \
    "$B/tests/abi/no_components.so"
expect 'not there' 1 'No such file or directory","lasting":false,' "$scratch/none.so"
expect 'no plugin name' 2 '"Bad.so" is no plugin' "$scratch/Bad.so"
expect 'no file' 2 'usage:'
expect 'two files' 2 'usage:' a.so b.so

cp "$B/tests/abi/ordinary.so" "$scratch/ordinary.so"
chmod o+w "$scratch/ordinary.so"
expect 'a file that others can write' 1 "can be written to by others; run: chmod go-w" \
    "$scratch/ordinary.so"

# The limits that the constructors live under; the descriptors are given on purpose.
cat >"$scratch/look.c" <<'END'
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static __attribute__((constructor)) void look(void)
{
    struct rlimit core, cpu, file;
    int signal = 0, open_fds = 0;
    getrlimit(RLIMIT_CORE, &core);
    getrlimit(RLIMIT_CPU, &cpu);
    getrlimit(RLIMIT_FSIZE, &file);
    prctl(PR_GET_PDEATHSIG, &signal);
    for (int fd = 5; fd < 64; fd++)
        open_fds += fcntl(fd, F_GETFD) >= 0;
    fprintf(stderr, "no core %d cpu %d file %d new privileges %d dies with %d others %d\n",
            core.rlim_max <= 1, (int)cpu.rlim_cur, (int)file.rlim_max,
            !prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), signal == SIGKILL, open_fds);
}
END
${CC:-cc} -shared -fPIC -o "$scratch/look.so" "$scratch/look.c"
expect 'limits' 1 'no core 1 cpu 10 file 1048576 new privileges 0 dies with 1 others 0' \
    "$scratch/look.so" 7</dev/null 8</dev/null 9</dev/null
exit $failed
