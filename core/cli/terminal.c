/* SPDX-License-Identifier: MIT */
#include "cli/terminal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/utf8.h"

enum { DEFAULT_COLUMNS = 80 };

struct terminal terminal_on(FILE *file)
{
    struct terminal terminal = {.file = file, .columns = SIZE_MAX};
    if (!isatty(fileno(file)))
        return terminal;
    const char *no_colour = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    terminal.colour =
        (no_colour == NULL || no_colour[0] == '\0') && (term == NULL || strcmp(term, "dumb") != 0);
    struct winsize size;
    bool known = ioctl(fileno(file), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    terminal.columns = known ? size.ws_col : DEFAULT_COLUMNS;
    return terminal;
}

void terminal_style(const struct terminal *terminal, enum style style)
{
    static const char *const codes[] = {
        [STYLE_PLAIN] = "\033[0m", [STYLE_DIM] = "\033[2m",  [STYLE_BOLD] = "\033[1m",
        [STYLE_GOOD] = "\033[32m", [STYLE_BAD] = "\033[31m",
    };
    if (terminal->colour)
        fputs(codes[style], terminal->file);
}

/* One character of possibly broken text; returns its length. */
static size_t next(gudgeon_str text, size_t at, uint32_t *ret)
{
    size_t n = utf8_decode(text.ptr + at, text.len - at, ret);
    if (n == 0) {
        *ret = 0x80; /* shown as a control */
        return 1;
    }
    return n;
}

void terminal_text(const struct terminal *terminal, gudgeon_str text)
{
    for (size_t at = 0; at < text.len;) {
        uint32_t c;
        size_t n = next(text, at, &c);
        if (!utf8_is_shown(c) && c != '\n' && c != '\t')
            fputs("·", terminal->file);
        else
            fwrite(text.ptr + at, 1, n, terminal->file);
        at += n;
    }
}

void terminal_line(const struct terminal *terminal, gudgeon_str text, size_t width)
{
    size_t printed = 0;
    bool space = false;
    for (size_t at = 0; at < text.len;) {
        uint32_t c;
        size_t n = next(text, at, &c);
        if (c < 0x80 && isspace((int)c)) {
            space = printed > 0;
        } else {
            if (printed + space + 1 >= width) {
                fputs("…", terminal->file);
                return;
            }
            if (space)
                fputc(' ', terminal->file);
            if (!utf8_is_shown(c))
                fputs("·", terminal->file);
            else
                fwrite(text.ptr + at, 1, n, terminal->file);
            printed += 1 + space;
            space = false;
        }
        at += n;
    }
}

const char *human_duration(int64_t ms, char out[HUMAN_SIZE])
{
    if (ms < 1000)
        snprintf(out, HUMAN_SIZE, "%d ms", (int)ms);
    else if (ms < 60 * 1000)
        snprintf(out, HUMAN_SIZE, "%d.%d s", (int)(ms / 1000), (int)(ms % 1000 / 100));
    else
        snprintf(out, HUMAN_SIZE, "%lld min %02d s", (long long)(ms / 60000),
                 (int)(ms / 1000 % 60));
    return out;
}

const char *human_count(int64_t count, char out[HUMAN_SIZE])
{
    char digits[HUMAN_SIZE];
    int len = snprintf(digits, sizeof digits, "%lld", (long long)count);
    char *p = out;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0 && digits[i - 1] != '-')
            *p++ = ',';
        *p++ = digits[i];
    }
    *p = '\0';
    return out;
}
