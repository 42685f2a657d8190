/* SPDX-License-Identifier: MIT */
/* The program's own files are no library: they are compiled in. */
#include "cli/progress.c"
#include "cli/terminal.c"
#include "unit.h"

/* A progress on a terminal of 80 columns that writes into memory. */
struct rig {
    struct progress progress;
    char *text;
    size_t len;
};

static void rig_init(struct rig *rig)
{
    *rig = (struct rig){.text = NULL};
    progress_init(&rig->progress, open_memstream(&rig->text, &rig->len), true);
    rig->progress.terminal.columns = 80;
    rig->progress.live = true;
}

static void rig_fini(struct rig *rig)
{
    fclose(rig->progress.terminal.file);
    progress_fini(&rig->progress);
    free(rig->text);
}

static void show(struct rig *rig, const char *record)
{
    CLEANUP(free_ptr)
    char *line =
        xasprintf("{\"v\":1,\"run\":\"r\",\"seq\":1,\"time\":\"t\",\"at_ms\":0,%s}", record);
    struct event event;
    CU_ASSERT_EQUAL_FATAL(event_parse(str_of(line), &event, NULL), 0);
    progress_event(&rig->progress, &event);
    event_release(&event);
}

static void stream(struct rig *rig, const char *bytes)
{
    gudgeon_delta delta = {.size = sizeof delta, .channel = GUDGEON_TEXT, .bytes = str_of(bytes)};
    progress_delta(&rig->progress, &(struct listener_delta){.delta = &delta});
}

#define ASKED "\"type\":\"model.requested\",\"model\":\"m\""

/* A character that comes in pieces is shown whole, and the answer is known again. */
static void test_pieces(void)
{
    struct rig rig;
    rig_init(&rig);
    show(&rig, ASKED);
    for (const char *p = "a\xc3\xa9\xf0\x9f\x98\x80z"; *p != '\0'; p++)
        stream(&rig, (char[]){*p, '\0'});
    CHECK_STR(rig.text, "again · m\n  a\xc3\xa9\xf0\x9f\x98\x80z");
    CU_ASSERT_TRUE(progress_streamed(&rig.progress, "a\xc3\xa9\xf0\x9f\x98\x80z"));
    CU_ASSERT_FALSE(progress_streamed(&rig.progress, "a"));
    rig_fini(&rig);
}

static void test_controls(void)
{
    struct rig rig;
    rig_init(&rig);
    show(&rig, ASKED);
    stream(&rig, "\x1b[31m");
    stream(&rig, "\xff\xc2");
    stream(&rig, "\x9b z");
    CHECK_STR(rig.text, "again · m\n  ·[31m·· z");
    rig_fini(&rig);
}

/* What was shown of an attempt that failed is no part of the next one. */
static void test_retracted(void)
{
    struct rig rig;
    rig_init(&rig);
    show(&rig, ASKED);
    stream(&rig, "Half\xc3");
    show(&rig, "\"type\":\"model.failed\",\"message\":\"cut\",\"then\":\"retry\",\"retry_ms\":5");
    show(&rig, ASKED);
    stream(&rig, "Whole");
    CHECK_STR(rig.text, "again · m\n  Half\n  (what was shown above does not count)\n"
                        "  ✗ cut; trying again in 5 ms\nagain · m\n  Whole");
    CU_ASSERT_TRUE(progress_streamed(&rig.progress, "Whole"));
    rig_fini(&rig);
}

/* A plugin's words do not stand in the middle of the model's. */
static void test_log(void)
{
    struct rig rig;
    rig_init(&rig);
    show(&rig, ASKED);
    stream(&rig, "Half");
    progress_log(&rig.progress, "files", GUDGEON_LOG_INFO, "not shown");
    progress_log(&rig.progress, "files", GUDGEON_LOG_WARN, "odd\x1b");
    stream(&rig, " more");
    CHECK_STR(rig.text, "again · m\n  Half\ngudgeon: files: warning: odd·\n more");
    rig_fini(&rig);
}

static void test_lines(void)
{
    static const struct {
        const char *text, *line;
        size_t width;
    } rows[] = {
        {"  a \n\t b  ", "a b", 80},
        {"abcdefg", "abcde…", 6},
        {"\xe2\x80\xae", "·", 80},
        {"", "", 80},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct rig rig;
        rig_init(&rig);
        terminal_line(&rig.progress.terminal, str_of(rows[i].text), rows[i].width);
        fflush(rig.progress.terminal.file);
        CHECK_STR(rig.text, rows[i].line);
        rig_fini(&rig);
    }
}

static void test_numbers(void)
{
    char out[HUMAN_SIZE];
    CHECK_STR(human_duration(999, out), "999 ms");
    CHECK_STR(human_duration(1290, out), "1.2 s");
    CHECK_STR(human_duration(185000, out), "3 min 05 s");
    CHECK_STR(human_count(0, out), "0");
    CHECK_STR(human_count(999, out), "999");
    CHECK_STR(human_count(1234567, out), "1,234,567");
    CHECK_STR(human_count(-123456, out), "-123,456");
    CHECK_STR(human_count(INT64_MIN, out), "-9,223,372,036,854,775,808");
}

int main(void)
{
    UNIT_MAIN("progress", {"characters in pieces", test_pieces},
              {"control characters", test_controls}, {"a failed attempt", test_retracted},
              {"diagnostics in between", test_log}, {"one line", test_lines},
              {"numbers for people", test_numbers});
}
