/* SPDX-License-Identifier: MIT */

/* The script backend: which rule answers, what it says, how it fails. */

#include "mock_model.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <gudgeon/json.h>

#include "base/clock.h"
#include "unit.h"

/* In these texts ' stands for ". */

struct line {
    const char *role, *content, *origin;
};

enum { MAX_LINES = 8 };

#define T(text) "{'type':'text','text':'" text "'}"
#define RESULT(name, text, is_error)                                                               \
    "[{'type':'tool_result','id':'a','name':'" name                                                \
    "','content':[" T(text) "],'is_error':" is_error "}]"
#define MARK(number) "[" T("x") ",{'type':'opaque','kind':'script.rule','data':'" number "'}]"

struct row {
    const char *name;
    const char *config;
    struct line lines[MAX_LINES];
    /* What is due. */
    int32_t class;
    uint32_t finish;
    const char *content; /* NULL = not looked at */
    const char *message; /* a part of it */
    uint32_t choice;
};

#define HELLO                                                                                      \
    {                                                                                              \
        "user", "[" T("Hello, 42 worlds") "]", NULL                                                \
    }

static const struct row rows[] = {
    {"the first rule that fits",
     "{'rules':[{'when':{'contains':'bye'},'say':'1'},{'when':{'contains':'Hello'},'say':'2'},"
     "{'say':'3'}]}",
     {HELLO},
     .finish = GUDGEON_FINISH_STOP,
     .content = "[" T("2") "]"},
    {"a rule without conditions", "{'rules':[{'say':'1'}]}", {HELLO}, .content = "[" T("1") "]"},
    {"the default",
     "{'rules':[{'when':{'contains':'bye'},'say':'1'}],'default':{'say':'d'}}",
     {HELLO},
     .content = "[" T("d") "]"},
    {"nothing fits",
     "{'rules':[{'when':{'contains':'bye'},'say':'1'}]}",
     {HELLO},
     .class = GUDGEON_INVALID,
     .message = "no rule fits turn 1, after the user message \"Hello, 42 worlds\""},
    {"groups by number and name, \\\\d as in Perl, case by flag",
     "{'rules':[{'when':{'matches':'(?i)hello, (\\\\d+) (?<what>\\\\w+)( more)?$'},"
     "'say':'{{1}} {{what}}|{{0}}|{{3}}|{{2}} $1 \\\\{{1}}'}]}",
     {HELLO},
     .content = "[" T("42 worlds|Hello, 42 worlds||worlds $1 {{1}}") "]"},
    {"texts of the conversation",
     "{'rules':[{'say':'{{task}};{{user}};{{last}}'}]}",
     {{"system", "[" T("s") "]", NULL},
      {"user", "[" T("a") "," T("b") "]", NULL},
      {"assistant", "[" T("c") "]", NULL},
      {"user", "[" T("d") "]", NULL},
      {"assistant", "[]", NULL},
      {"tool", RESULT("f", "one", "false"), NULL},
      {"tool", RESULT("g", "two", "false"), NULL}},
     .content = "[" T("a\\nb;d;one\\ntwo") "]"},
    {"arguments are escaped and keep their digits",
     "{'rules':[{'when':{'matches':'(?s)(.*)'},'calls':[{'tool':'f','arguments':"
     "{'q':'<{{1}}>','n':812345678901234567,'deep':[{'x':'{{last}}'},true,1.0],'y':{}}}]}]}",
     {{"user", "[" T("say \\'hi\\'\\n\\\\ \\u00e9") "]", NULL}},
     .finish = GUDGEON_FINISH_CALLS,
     .content =
         "[{'type':'tool_call','wire_id':'call_1_0','name':'f','arguments':'{\\'q\\':\\'<say "
         "\\\\\\'hi\\\\\\'\\\\n\\\\\\\\ \xc3\xa9>\\',\\'n\\':812345678901234567,\\'deep\\':[{"
         "\\'x\\':\\'say \\\\\\'hi\\\\\\'\\\\n\\\\\\\\ \xc3\xa9\\'},true,1.0],\\'y\\':{}}'}]"},
    {"arguments as any text, and none",
     "{'rules':[{'think':'hm','say':'so','calls':[{'tool':'f','arguments':'{\\'p\\': /t'},"
     "{'tool':'g'}]}]}",
     {HELLO},
     .finish = GUDGEON_FINISH_CALLS,
     .content = "[{'type':'reasoning','text':'hm'}," T(
         "so") ",{'type':'tool_call','wire_id':"
               "'call_1_0','name':'f','arguments':'{\\'p\\': /t'},{'type':'tool_call','wire_id':"
               "'call_1_1','name':'g','arguments':'{}'}]"},
    {"the role of the last message",
     "{'rules':[{'when':{'last':'tool'},'say':'t'},{'when':{'last':'user'},'say':'u'}]}",
     {HELLO},
     .content = "[" T("u") "]"},
    {"a result of a tool, among several",
     "{'rules':[{'when':{'tool':'g','contains':'one'},'say':'no'},"
     "{'when':{'tool':'g','matches':'t(wo)'},'say':'{{1}} {{last}}'}]}",
     {HELLO,
      {"tool", RESULT("f", "one", "false"), NULL},
      {"tool", RESULT("g", "two", "false"), NULL}},
     .content = "[" T("wo two") "]"},
    {"results of an earlier turn do not count",
     "{'rules':[{'when':{'tool':'f'},'say':'no'},{'say':'yes'}]}",
     {{"tool", RESULT("f", "one", "false"), NULL}, HELLO},
     .content = "[" T("yes") "]"},
    {"a result that is an error",
     "{'rules':[{'when':{'is_error':false},'say':'no'},{'when':{'is_error':true},'say':'{{last}}'}]"
     "}",
     {HELLO, {"tool", RESULT("f", "broken", "true"), NULL}},
     .content = "[" T("broken") "]"},
    {"a message is no result, neither good nor bad",
     "{'rules':[{'when':{'is_error':false},'say':'no'},{'say':'yes'}]}",
     {HELLO},
     .content = "[" T("yes") "]"},
    {"the turn",
     "{'rules':[{'when':{'turn':1},'say':'1'},{'when':{'turn':3},'say':'3'}]}",
     {HELLO, {"assistant", "[]", NULL}, HELLO, {"assistant", "[]", NULL}, HELLO},
     .content = "[" T("3") "]"},
    {"the step since the user spoke",
     "{'rules':[{'when':{'step':1},'say':'1'},{'when':{'step':2},'say':'2'}]}",
     {HELLO,
      {"assistant", "[]", NULL},
      HELLO,
      {"assistant", "[]", NULL},
      {"tool", RESULT("f", "one", "false"), NULL}},
     .content = "[" T("2") "]"},
    {"a rule that may answer twice marks its replies",
     "{'rules':[{'times':2,'say':'1'},{'say':'2'}]}",
     {HELLO, {"assistant", MARK("0"), "script"}, HELLO},
     .content = "[" T("1") ",{'type':'opaque','kind':'script.rule','data':'0'}]"},
    {"and is used up by its marks",
     "{'rules':[{'say':'0','when':{'contains':'bye'}},{'times':2,'say':'1'},{'say':'2'}]}",
     {HELLO,
      {"assistant", MARK("1"), "script"},
      {"assistant", MARK("0"), "script"},
      {"assistant", MARK("1"), "script"}},
     .content = "[" T("2") "]"},
    {"not by the marks of other rules or models",
     "{'rules':[{'say':'0','when':{'contains':'bye'}},{'times':2,'say':'1'},{'say':'2'}]}",
     {HELLO,
      {"assistant", MARK("1"), "script"},
      {"assistant", MARK("0"), "script"},
      {"assistant", MARK("1"), "openai"}},
     .content = "[" T("1") ",{'type':'opaque','kind':'script.rule','data':'1'}]"},
    {"once",
     "{'rules':[{'once':true,'say':'1'},{'say':'2'}]}",
     {HELLO, {"assistant", MARK("0"), "script"}},
     .content = "[" T("2") "]"},
    {"where no tool may be called, rules that call are passed over",
     "{'rules':[{'calls':[{'tool':'f'}]},{'say':'final'}]}",
     {HELLO},
     .content = "[" T("final") "]",
     .choice = GUDGEON_CHOICE_NONE},
    {"a refusal",
     "{'rules':[{'refuse':'no {{last}}'}]}",
     {HELLO},
     .finish = GUDGEON_FINISH_REFUSAL,
     .content = "[{'type':'refusal','text':'no Hello, 42 worlds'}]"},
    {"cut by a limit",
     "{'rules':[{'say':'half','calls':[{'tool':'f','arguments':'{\\'a'}],'finish':'length'}]}",
     {HELLO},
     .finish = GUDGEON_FINISH_LENGTH},
    {"nothing said is an empty reply", "{'rules':[{}]}", {HELLO}, .content = "[]"},
    {"an error",
     "{'rules':[{'error':{'class':'quota','status':429,'message':'no {{1}}\\nleft','code':'q'},"
     "'when':{'matches':'(\\\\d+)'}}]}",
     {HELLO},
     .class = GUDGEON_QUOTA,
     .message = "no 42 left"},
    {"an error that says nothing", "{'rules':[{'error':{}}]}", {HELLO}, .class = GUDGEON_RETRY},
    {"a pattern that would never end is no match",
     "{'rules':[{'when':{'matches':'^(a|a)*$'},'say':'no'},{'say':'yes'}]}",
     {{"user", "[" T("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab") "]", NULL}},
     .content = "[" T("yes") "]"},
};

/* ---- asking -------------------------------------------------------------------------------- */

static const gudgeon_tool some_tool = {.size = sizeof some_tool, .name = {"f", 1}};
static const gudgeon_tool *const some_tools[] = {&some_tool};

static bool open_script(struct mock_model *model, const char *quoted)
{
    char *config = mock_json(quoted);
    int32_t class = mock_model_open(model, "script", config, NULL);
    free(config);
    CU_ASSERT_EQUAL(class, GUDGEON_OK);
    return class == GUDGEON_OK;
}

static void ask(struct mock_model *model, const struct line *lines, uint32_t choice,
                struct mock_reply *reply)
{
    gudgeon_msg msgs[MAX_LINES];
    const gudgeon_msg *pointers[MAX_LINES];
    char *contents[MAX_LINES] = {NULL};
    gudgeon_generate request = {.size = sizeof request,
                                .stream = 1,
                                .msgs = pointers,
                                .tools = some_tools,
                                .tool_count = 1,
                                .tool_choice = choice};
    for (size_t i = 0; i < MAX_LINES && lines[i].role != NULL; i++) {
        contents[i] = mock_json(lines[i].content);
        msgs[i] = (gudgeon_msg){.size = sizeof msgs[i],
                                .id = i + 1,
                                .role = gudgeon_text(lines[i].role),
                                .content = gudgeon_text(contents[i]),
                                .origin = gudgeon_text(lines[i].origin)};
        pointers[i] = &msgs[i];
        request.msg_count++;
    }
    mock_model_generate(model, &request, reply);
    for (size_t i = 0; i < MAX_LINES; i++)
        free(contents[i]);
}

static void test_rows(void)
{
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct mock_model model;
        struct mock_reply reply;
        if (!open_script(&model, rows[i].config))
            continue;
        ask(&model, rows[i].lines, rows[i].choice, &reply);
        char *want = rows[i].content != NULL ? mock_json(rows[i].content) : NULL;
        bool ok = reply.class == rows[i].class &&
                  (rows[i].finish == 0 || reply.finish == rows[i].finish) &&
                  (want == NULL || strcmp(reply.content.data, want) == 0) &&
                  (rows[i].message == NULL || strstr(reply.message.data, rows[i].message) != NULL);
        if (!ok)
            printf("#   in: %s\n#   class %d, finish %u: %s\n#   have: %s\n#   want: %s\n",
                   rows[i].name, reply.class, reply.finish, reply.message.data, reply.content.data,
                   want != NULL ? want : "");
        CU_ASSERT(ok);
        free(want);
        mock_reply_fini(&reply);
        mock_model_close(&model);
    }
}

static const struct line hello[MAX_LINES] = {HELLO};

/* ---- what a definition may get wrong ------------------------------------------------------- */

static void test_refused(void)
{
    static const struct {
        const char *config, *message;
    } refused[] = {
        {"{'rules':[{},{'when':{'matches':'(a'}}]}", "script: rules[1].when.matches: missing"},
        {"{'rules':[{'say':'{{1}}'}]}", "script: rules[0].say: {{1}} is neither"},
        {"{'rules':[{'when':{'matches':'(a)'},'calls':[{'tool':'f','arguments':{'x':['{{2}}']}}]}]"
         "}",
         "script: rules[0].calls: {{2}} is neither"},
        {"{'rules':[],'default':{'think':'{{lst}}'}}", "script: default.think: {{lst}} is neither"},
        {"{'rules':[{'when':{'matches':'(?<a>b)'},'error':{'message':'{{b}}'}}]}",
         "script: rules[0].error: {{b}} is neither"},
    };
    for (size_t i = 0; i < COUNT_OF(refused); i++) {
        struct mock_model model;
        struct mock_reply reply;
        mock_reply_init(&reply);
        char *config = mock_json(refused[i].config);
        CU_ASSERT_EQUAL(mock_model_open(&model, "script", config, &reply), GUDGEON_INVALID);
        CU_ASSERT(strncmp(reply.message.data, refused[i].message, strlen(refused[i].message)) == 0);
        if (strncmp(reply.message.data, refused[i].message, strlen(refused[i].message)) != 0)
            printf("#   %s\n", reply.message.data);
        free(config);
        mock_reply_fini(&reply);
        mock_model_close(&model);
    }
}

/* ---- streaming, waiting, failing ----------------------------------------------------------- */

static void test_chunks(void)
{
    struct mock_model model;
    struct mock_reply reply;
    open_script(&model, "{'rules':[{'think':'abc','say':'defgh','chunk':2,'pace_ms':1,"
                        "'calls':[{'tool':'f','arguments':{'x':1}},{'tool':'g'}]}]}");
    ask(&model, hello, 0, &reply);
    CHECK_STR(reply.reasoning.data, "abc");
    CHECK_STR(reply.text.data, "defgh");
    CHECK_STR(reply.call_names[0].data, "f");
    CHECK_STR(reply.call_arguments[0].data, "{\"x\":1}");
    CHECK_STR(reply.call_names[1].data, "g");
    CU_ASSERT_EQUAL(reply.deltas, 2 + 3 + 4 + 1);
    mock_reply_fini(&reply);
    model.stop_after = 3;
    ask(&model, hello, 0, &reply);
    CU_ASSERT_EQUAL(reply.class, GUDGEON_CANCELLED);
    CU_ASSERT_EQUAL(reply.deltas, 3);
    mock_reply_fini(&reply);
    mock_model_close(&model);
}

static void test_error_after_text(void)
{
    struct mock_model model;
    struct mock_reply reply;
    open_script(&model,
                "{'rules':[{'times':2,'say':'Here is','error':{'class':'retry','status':503,"
                "'retry_after_ms':7}},{'say':'Here it is'}]}");
    for (int i = 0; i < 2; i++) {
        ask(&model, hello, 0, &reply);
        CU_ASSERT_EQUAL(reply.class, GUDGEON_RETRY);
        CU_ASSERT_EQUAL(reply.http_status, 503);
        CU_ASSERT_EQUAL(reply.retry_after_ms, 7);
        CHECK_STR(reply.text.data, "Here is");
        mock_reply_fini(&reply);
    }
    ask(&model, hello, 0, &reply);
    CU_ASSERT_EQUAL(reply.class, GUDGEON_OK);
    mock_reply_fini(&reply);
    mock_model_close(&model);
}

static void test_usage(void)
{
    struct mock_model model;
    struct mock_reply reply;
    open_script(&model, "{'rules':[{'say':'12345'}]}");
    ask(&model, hello, 0, &reply);
    CU_ASSERT_EQUAL(reply.usage_known, GUDGEON_USAGE_INPUT | GUDGEON_USAGE_OUTPUT);
    CU_ASSERT_EQUAL(reply.output, 2);
    CU_ASSERT(reply.input > 0);
    CHECK_STR(reply.model_served.data, "script");
    CHECK_STR(reply.finish_raw.data, "stop");
    CU_ASSERT(mock_model_can(&model, "", NULL) & GUDGEON_IS_SCRIPTED);
    mock_reply_fini(&reply);
    mock_model_close(&model);
}

static void test_deadline(void)
{
    struct mock_model model;
    struct mock_reply reply;
    open_script(&model, "{'rules':[{'say':'late','delay_ms':3600000}]}");
    model.deadline_ns = clock_monotonic_ns() + 5000000;
    ask(&model, hello, 0, &reply);
    CU_ASSERT_EQUAL(reply.class, GUDGEON_TIMEOUT);
    CU_ASSERT_EQUAL(reply.deltas, 0);
    mock_reply_fini(&reply);
    mock_model_close(&model);
}

struct asker {
    struct mock_model *model;
    struct mock_reply *reply;
};

static void *ask_on_a_thread(void *payload)
{
    struct asker *asker = payload;
    ask(asker->model, hello, 0, asker->reply);
    return NULL;
}

static void test_cancel(void)
{
    struct mock_model model;
    struct mock_reply reply;
    pthread_t thread;
    open_script(&model, "{'rules':[{'say':'late','delay_ms':3600000}]}");
    model.cancel_fd = eventfd(0, EFD_CLOEXEC);
    struct asker asker = {&model, &reply};
    pthread_create(&thread, NULL, ask_on_a_thread, &asker);
    atomic_store(&model.cancelled, true);
    eventfd_write(model.cancel_fd, 1);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(reply.class, GUDGEON_CANCELLED);
    close(model.cancel_fd);
    mock_reply_fini(&reply);
    mock_model_close(&model);
}

int main(void)
{
    UNIT_MAIN("script", {"rules", test_rows}, {"what create refuses", test_refused},
              {"deltas in chunks", test_chunks}, {"an error after text", test_error_after_text},
              {"usage and capabilities", test_usage}, {"a deadline", test_deadline},
              {"a cancel while it waits", test_cancel});
}
