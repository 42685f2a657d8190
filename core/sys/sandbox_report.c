/* SPDX-License-Identifier: MIT */
#include "base/alloc.h"
#include "base/buf.h"
#include "sys/sandbox.h"

static const struct {
    enum sandbox_gap gap;
    const char *name;
} gap_names[] = {
    {SANDBOX_GAP_FILES, "files"},         {SANDBOX_GAP_NETWORK, "network"},
    {SANDBOX_GAP_EXEC, "exec"},           {SANDBOX_GAP_SIGNALS, "signals"},
    {SANDBOX_GAP_PROCESSES, "processes"}, {SANDBOX_GAP_MEMORY, "memory"},
    {SANDBOX_GAP_KERNEL, "kernel"},
};

void sandbox_report_text(const struct sandbox_report *report, struct buf *text)
{
    if (report->landlock_abi > 0)
        buf_addf(text, "Landlock %d", report->landlock_abi);
    else
        buf_add_str(text, "no Landlock");
    buf_add_str(text, report->has_seccomp ? ", seccomp" : ", no seccomp");
    const char *before = "; not enforced: ";
    for (size_t i = 0; i < COUNT_OF(gap_names); i++) {
        if (!(report->gaps & gap_names[i].gap))
            continue;
        buf_addf(text, "%s%s", before, gap_names[i].name);
        before = ", ";
    }
}
