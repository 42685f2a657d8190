/* SPDX-License-Identifier: MIT */

/* What the openai backend sends: messages, dialects, fields, headers, and what it keeps. */

#include "mock_model.h"

#include <stdlib.h>

#include <gudgeon/json.h>

#include "unit.h"

/* In these texts ' stands for ". */

static const char done[] = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},"
                           "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/* ---- conversations ------------------------------------------------------------------------- */

struct line {
    const char *role, *content, *origin;
};

enum { MAX_LINES = 10 };

/* The messages of a conversation that lives as long as the test. */
struct conversation {
    gudgeon_msg msgs[MAX_LINES];
    const gudgeon_msg *pointers[MAX_LINES];
    char *contents[MAX_LINES];
    uint64_t count;
};

static void conversation_init(struct conversation *conversation, const struct line *lines)
{
    memset(conversation, 0, sizeof *conversation);
    for (size_t i = 0; i < MAX_LINES && lines[i].role != NULL; i++) {
        conversation->contents[i] = mock_json(lines[i].content);
        conversation->msgs[i] = (gudgeon_msg){.size = sizeof(gudgeon_msg),
                                              .id = i + 1,
                                              .role = gudgeon_text(lines[i].role),
                                              .content = gudgeon_text(conversation->contents[i]),
                                              .origin = gudgeon_text(lines[i].origin)};
        conversation->pointers[i] = &conversation->msgs[i];
        conversation->count++;
    }
}

static void conversation_fini(struct conversation *conversation)
{
    for (size_t i = 0; i < conversation->count; i++)
        free(conversation->contents[i]);
}

/* ---- messages ------------------------------------------------------------------------------ */

#define T(text) "{'type':'text','text':'" text "'}"
#define CALL(id, name, arguments)                                                                  \
    "{'type':'tool_call','id':'" id "','wire_id':'w','name':'" name "','arguments':'" arguments "'}"
#define RESULT(id, blocks)                                                                         \
    "[{'type':'tool_result','id':'" id "','name':'f','content':[" blocks "],'is_error':false}]"
#define IMAGE      "{'type':'image','media_type':'image/png','data':'QUJD'}"
#define WIRE_IMAGE "{'type':'image_url','image_url':{'url':'data:image/png;base64,QUJD'}}"
#define WIRE_CALL(id, name, arguments)                                                             \
    "{'id':'" id "','type':'function','function':{'name':'" name "','arguments':'" arguments "'}}"
#define OWN "chat http://h/v1 m"

struct message_row {
    const char *name;
    const char *dialect; /* JSON object */
    struct line lines[MAX_LINES];
    const char *messages; /* what is sent */
    uint32_t choice;
};

static const struct message_row message_rows[] = {
    {"a task",
     "{}",
     {{"system", "[" T("be good") "]", NULL}, {"user", "[" T("hi \\u00e9\\n") "]", NULL}},
     .messages =
         "[{'role':'system','content':'be good'},{'role':'user','content':'hi \\u00e9\\n'}]"},
    {"a turn with a call: content null, our id, arguments as they were",
     "{}",
     {{"user", "[" T("u") "]", NULL},
      {"assistant", "[" CALL("abc123xyz", "f", "{\\'id\\':812345678901234567, \\'x\\':1.0}") "]",
       NULL},
      {"tool", RESULT("abc123xyz", T("ok")), NULL}},
     .messages =
         "[{'role':'user','content':'u'},{'role':'assistant','content':null,'tool_calls':"
         "[" WIRE_CALL("abc123xyz", "f",
                       "{\\'id\\':812345678901234567, \\'x\\':1.0}") "]},"
                                                                     "{'role':'tool','tool_call_id'"
                                                                     ":'abc123xyz','"
                                                                     "content':'ok'}]"},
    {"content empty",
     "{'tool_content':'empty'}",
     {{"assistant", "[" CALL("a", "f", "{}") "]", NULL}},
     .messages =
         "[{'role':'assistant','content':'','tool_calls':[" WIRE_CALL("a", "f", "{}") "]}]"},
    {"text beside calls is kept; several calls",
     "{}",
     {{"assistant", "[" T("so") "," CALL("a", "f", "{}") "," CALL("b", "g", "{}") "]", NULL}},
     .messages = "[{'role':'assistant','content':'so','tool_calls':[" WIRE_CALL(
         "a", "f", "{}") "," WIRE_CALL("b", "g", "{}") "]}]"},
    {"empty results and blank blocks",
     "{}",
     {{"user", "[" T("\\n ") "," T("a") "," T("") "," T("b") "]", NULL},
      {"tool", RESULT("a", ""), NULL},
      {"tool", RESULT("b", T("\\n\\t ")), NULL}},
     .messages = "[{'role':'tool','tool_call_id':'a','content':'(no output)'},"
                 "{'role':'tool','tool_call_id':'b','content':'(no output)'},"
                 "{'role':'user','content':'a\\n\\nb'}]"},
    {"an assistant that said nothing",
     "{}",
     {{"assistant", "[]", NULL}},
     .messages = "[{'role':'assistant','content':'(no answer)'}]"},
    {"a refusal is said again as text",
     "{}",
     {{"assistant", "[{'type':'refusal','text':'no'}]", NULL}},
     .messages = "[{'role':'assistant','content':'no'}]"},
    {"users and systems side by side become one",
     "{}",
     {{"system", "[" T("s1") "]", NULL},
      {"system", "[" T("s2") "]", NULL},
      {"user", "[" T("u1") "]", NULL},
      {"user", "[" T("u2") "," IMAGE "]", NULL}},
     .messages = "[{'role':'system','content':'s1\\n\\ns2'},{'role':'user','content':[{'type':'"
                 "text','text':"
                 "'u1'},{'type':'text','text':'u2'}," WIRE_IMAGE "]}]"},
    {"an image by address, a resource with text, one without",
     "{}",
     {{"user",
       "[{'type':'image','url':'https://x/i.png'},{'type':'resource','uri':'file:///a','text':'A'},"
       "{'type':'resource','uri':'b:c','media_type':'image/gif','data':'R0lG'},"
       "{'type':'resource','uri':'d','media_type':'a/b','data':'AA=='},{'type':'new','x':1}]",
       NULL}},
     .messages =
         "[{'role':'user','content':[{'type':'image_url','image_url':{'url':'https://x/i.png'}},"
         "{'type':'text','text':'[resource file:///a]\\nA'},"
         "{'type':'image_url','image_url':{'url':'data:image/gif;base64,R0lG'}},"
         "{'type':'text','text':'[resource d: binary, not shown]'}]}]"},
    {"images of results follow all results of the turn, and join what the user says",
     "{}",
     {{"assistant", "[" CALL("a", "f", "{}") "," CALL("b", "f", "{}") "]", NULL},
      {"tool", RESULT("a", IMAGE), NULL},
      {"tool", RESULT("b", T("x")), NULL},
      {"user", "[" T("go on") "]", NULL}},
     .messages = "[{'role':'assistant','content':null,'tool_calls':[" WIRE_CALL(
         "a", "f", "{}") "," WIRE_CALL("b", "f",
                                       "{}") "]},"
                                             "{'role':'tool','tool_call_id':'a','content':'(the "
                                             "image follows)'},"
                                             "{'role':'tool','tool_call_id':'b','content':'x'},"
                                             "{'role':'user','content':[{'type':'text','text':'["
                                             "result of f]'}," WIRE_IMAGE
                                             ",{'type':'text','text':'go on'}]}]"},
    {"images of results before the next turn",
     "{}",
     {{"tool", RESULT("a", T("t") "," IMAGE), NULL}, {"assistant", "[" T("nice") "]", NULL}},
     .messages = "[{'role':'tool','tool_call_id':'a','content':'t'},{'role':'user','content':[{'"
                 "type':'text',"
                 "'text':'[result of f]'}," WIRE_IMAGE "]},{'role':'assistant','content':'nice'}]"},
    {"images inside the tool message",
     "{'tool_images':'inline'}",
     {{"tool", RESULT("a", T("t") "," IMAGE), NULL}},
     .messages =
         "[{'role':'tool','tool_call_id':'a','content':[{'type':'text','text':'t'}," WIRE_IMAGE
         "]}]"},
    {"no images",
     "{'tool_images':'none'}",
     {{"tool", RESULT("a", IMAGE), NULL}},
     .messages =
         "[{'role':'tool','tool_call_id':'a','content':'(an image that cannot be shown)'}]"},
    {"the developer role",
     "{'system_role':'developer'}",
     {{"system", "[" T("s") "]", NULL}},
     .messages = "[{'role':'developer','content':'s'}]"},
    {"no system role at all",
     "{'system_role':'user'}",
     {{"system", "[" T("s") "]", NULL}, {"user", "[" T("u") "]", NULL}},
     .messages = "[{'role':'user','content':'s\\n\\nu'}]"},
    {"reasoning goes back with a turn that calls",
     "{}",
     {{"assistant", "[{'type':'reasoning','text':'hm'}," CALL("a", "f", "{}") "]", OWN},
      {"assistant", "[{'type':'reasoning','text':'hm'}," T("t") "]", OWN}},
     .messages =
         "[{'role':'assistant','content':null,'reasoning_content':'hm','tool_calls':[" WIRE_CALL(
             "a", "f", "{}") "]},{'role':'assistant','content':'t'}]"},
    {"in the field that it came in, be it empty",
     "{}",
     {{"assistant",
       "[{'type':'reasoning','text':'hm'},{'type':'opaque','kind':'chat.reasoning_field','data':"
       "'reasoning'}," CALL("a", "f", "{}") "]",
       OWN},
      {"assistant",
       "[{'type':'opaque','kind':'chat.reasoning_field','data':'reasoning_content'}," CALL(
           "b", "f", "{}") "]",
       OWN}},
     .messages = "[{'role':'assistant','content':null,'reasoning':'hm','tool_calls':[" WIRE_CALL(
         "a", "f", "{}") "]},{'role':'assistant','content':null,'reasoning_content':'',"
                         "'tool_calls':[" WIRE_CALL("b", "f", "{}") "]}]"},
    {"nothing opaque and no reasoning of another origin",
     "{}",
     {{"assistant",
       "[{'type':'reasoning','text':'hm'},{'type':'opaque','kind':'chat.reasoning_details','data':"
       "'[]'},{'type':'opaque','kind':'x','data':'y'}," CALL("a", "f", "{}") "]",
       "chat http://other m"}},
     .messages =
         "[{'role':'assistant','content':null,'tool_calls':[" WIRE_CALL("a", "f", "{}") "]}]"},
    {"details go back byte for byte",
     "{}",
     {{"assistant",
       "[{'type':'opaque','kind':'chat.reasoning_details','data':'[{\\'text\\': \\'a\\\\u00e9\\',"
       "\\'signature\\':\\'S=\\'}]'}," T("t") "]",
       OWN}},
     .messages = "[{'role':'assistant','content':'t','reasoning_details':[{'text': "
                 "'a\\u00e9','signature':'S='}"
                 "]}]"},
    {"no echo",
     "{'echo_reasoning':'never'}",
     {{"assistant",
       "[{'type':'reasoning','text':'hm'},{'type':'opaque','kind':'chat.reasoning_details','data':"
       "'[]'}," CALL("a", "f", "{}") "]",
       OWN}},
     .messages =
         "[{'role':'assistant','content':null,'tool_calls':[" WIRE_CALL("a", "f", "{}") "]}]"},
    {"an echo on every turn with calls, whoever gave it",
     "{'echo_reasoning':'tool_turns','reasoning_field':'reasoning'}",
     {{"assistant", "[" CALL("a", "f", "{}") "]", "x"},
      {"assistant", "[{'type':'reasoning','text':'hm'}," T("t") "]", "x"}},
     .messages = "[{'role':'assistant','content':null,'reasoning':'','tool_calls':[" WIRE_CALL(
         "a", "f", "{}") "]},{'role':'assistant','content':'t'}]"},
    {"an echo on all turns that have some",
     "{'echo_reasoning':'always'}",
     {{"assistant", "[{'type':'reasoning','text':'hm'}," T("t") "]", "x"},
      {"assistant", "[" T("t") "]", "x"}},
     .messages = "[{'role':'assistant','content':'t','reasoning_content':'hm'},"
                 "{'role':'assistant','content':'t'}]"},
    {"calls told as text where no tools may be listed",
     "{'choice_none':'text'}",
     {{"user", "[" T("u") "]", NULL},
      {"assistant", "[" T("so") "," CALL("a", "f", "{\\'x\\':1}") "]", NULL},
      {"tool", RESULT("a", T("ok")), NULL},
      {"user", "[" T("now answer") "]", NULL}},
     .messages =
         "[{'role':'user','content':'u'},{'role':'assistant','content':'so\\n\\n[called f with "
         "{\\'x\\':1}]'},{'role':'user','content':'[result of f]\\nok\\n\\nnow answer'}]",
     .choice = GUDGEON_CHOICE_NONE},
    {"calls of tools that are not listed, told as text beside those that are",
     "{'unlisted_calls':'text'}",
     {{"assistant", "[" CALL("a", "f", "{}") "," CALL("b", "nope", "{\\'x\\':1}") "]", NULL},
      {"tool", RESULT("a", T("ok")), NULL},
      {"tool",
       "[{'type':'tool_result','id':'b','name':'nope','content':[" T(
           "no such tool") "],"
                           "'is_error':true}]",
       NULL},
      {"user", "[" T("go on") "]", NULL}},
     .messages =
         "[{'role':'assistant','content':'[called nope with {\\'x\\':1}]','tool_calls':[" WIRE_CALL(
             "a", "f",
             "{}") "]},{'role':'tool','tool_call_id':'a','content':'ok'},"
                   "{'role':'user','content':'[result of nope]\\nno such tool\\n\\ngo on'}]"},
};

/* What stands between "messages": and the end of its array. */
static char *sent_messages(const struct mock_model *model)
{
    gudgeon_str root =
        gudgeon_json_root((gudgeon_str){model->http.sent_body.data, model->http.sent_body.len});
    CU_ASSERT_EQUAL(gudgeon_json_scan(root, 0), GUDGEON_JSON_SOUND);
    gudgeon_str messages = gudgeon_json_get(root, "messages");
    return messages.ptr != NULL ? xstrndup(messages.ptr, messages.len) : xstrdup("");
}

static void serve(struct mock_model *model)
{
    model->http.body = done;
    model->http.body_len = sizeof done - 1;
}

static const gudgeon_tool listed_tool = {.size = sizeof listed_tool, .name = {"f", 1}};
static const gudgeon_tool *const listed[] = {&listed_tool};

static void run_messages(const struct message_row *row)
{
    struct mock_model model;
    struct mock_reply reply;
    struct conversation conversation;
    char *quoted = xasprintf("{'base_url':'http://h/v1','dialect':%s}", row->dialect);
    CLEANUP(free_ptr) char *config = mock_json(quoted);
    CLEANUP(free_ptr) char *want = mock_json(row->messages);
    free(quoted);
    CU_ASSERT_EQUAL(mock_model_open(&model, "openai", config, NULL), GUDGEON_OK);
    conversation_init(&conversation, row->lines);
    serve(&model);
    gudgeon_generate request = {.size = sizeof request,
                                .model = {"m", 1},
                                .msgs = conversation.pointers,
                                .msg_count = conversation.count,
                                .tools = listed,
                                .tool_count = 1,
                                .tool_choice = row->choice};
    /* Twice: what comes from the memo is the same. */
    for (int round = 0; round < 2; round++) {
        CU_ASSERT_EQUAL(mock_model_generate(&model, &request, &reply), GUDGEON_OK);
        CLEANUP(free_ptr) char *have = sent_messages(&model);
        CHECK_STR(have, want);
        if (strcmp(have, want) != 0)
            printf("#   in: %s\n", row->name);
        mock_reply_fini(&reply);
    }
    CU_ASSERT_EQUAL(model.memo_hits, model.memo_puts);
    mock_model_close(&model);
    conversation_fini(&conversation);
}

static void test_messages(void)
{
    for (size_t i = 0; i < COUNT_OF(message_rows); i++)
        run_messages(&message_rows[i]);
}

/* ---- the other fields ---------------------------------------------------------------------- */

#define STR(literal)                                                                               \
    {                                                                                              \
        literal, sizeof(literal) - 1                                                               \
    }

static const gudgeon_tool tool_f = {
    .size = sizeof tool_f,
    .name = STR("f"),
    .description = STR("Does \"f\"."),
    .parameters = STR("{\"type\":\"object\",\"properties\":{\"x\":{\"$ref\":\"#/$defs/X\"}},"
                      "\"$defs\":{\"X\":{}}}"),
};
static const gudgeon_tool tool_g = {.size = sizeof tool_g, .name = STR("g")};
static const gudgeon_tool *const two_tools[] = {&tool_f, &tool_g};

#define TOOLS                                                                                      \
    "'tools':[{'type':'function','function':{'name':'f','description':'Does \\'f\\'.',"            \
    "'parameters':{'type':'object','properties':{'x':{'$ref':'#/$defs/X'}},'$defs':{'X':{}}}}},"   \
    "{'type':'function','function':{'name':'g','parameters':{'type':'object','properties':{}}}}]"

struct field_row {
    const char *name;
    const char *config;
    gudgeon_generate request;
    const char *parameters, *extra, *schema; /* NULL = absent */
    const char *body;                        /* all of it */
};

static const struct field_row field_rows[] = {
    {"the least",
     "{'base_url':'http://h/v1'}",
     {.stream = 0},
     .body = "{'model':'m','messages':[]}"},
    {"a stream with usage",
     "{'base_url':'http://h/v1'}",
     {.stream = 1},
     .body = "{'model':'m','messages':[],'stream':true,'stream_options':{'include_usage':true}}"},
    {"a stream without",
     "{'base_url':'http://h/v1','dialect':{'include_usage':false}}",
     {.stream = 1},
     .body = "{'model':'m','messages':[],'stream':true}"},
    {"a server that refuses stream_options",
     "{'base_url':'https://api.mistral.ai/v1'}",
     {.stream = 1},
     .body = "{'model':'m','messages':[],'stream':true}"},
    {"tools",
     "{'base_url':'http://h/v1'}",
     {.tools = two_tools, .tool_count = 2, .tools_revision = 1},
     .parameters = "{'parallel_tool_calls':false}",
     .body = "{'model':'m','messages':[]," TOOLS ",'parallel_tool_calls':false}"},
    {"a choice: none, tools stay listed",
     "{'base_url':'http://h/v1'}",
     {.tools = two_tools, .tool_count = 2, .tool_choice = GUDGEON_CHOICE_NONE},
     .body = "{'model':'m','messages':[]," TOOLS ",'tool_choice':'none'}"},
    {"a choice: none, said otherwise",
     "{'base_url':'http://h/v1','dialect':{'choice_none':'text'}}",
     {.tools = two_tools, .tool_count = 2, .tool_choice = GUDGEON_CHOICE_NONE},
     .parameters = "{'parallel_tool_calls':false}",
     .body = "{'model':'m','messages':[]}"},
    {"a choice: required",
     "{'base_url':'http://h/v1'}",
     {.tools = two_tools, .tool_count = 2, .tool_choice = GUDGEON_CHOICE_REQUIRED},
     .body = "{'model':'m','messages':[]," TOOLS ",'tool_choice':'required'}"},
    {"a choice: this one",
     "{'base_url':'http://h/v1'}",
     {.tools = two_tools,
      .tool_count = 2,
      .tool_choice = GUDGEON_CHOICE_NAMED,
      .choice_name = {"g", 1}},
     .body = "{'model':'m','messages':[]," TOOLS
             ",'tool_choice':{'type':'function','function':{'name':'g'}}}"},
    {"no choice and no parallel calls without tools",
     "{'base_url':'http://h/v1'}",
     {.tool_choice = GUDGEON_CHOICE_NONE},
     .parameters = "{'parallel_tool_calls':true}",
     .body = "{'model':'m','messages':[]}"},
    {"parameters as they are written",
     "{'base_url':'http://h/v1'}",
     {.stream = 0},
     .parameters = "{'temperature':0.10,'seed':18446744073709551617,'stop':['a','b'],'top_p':null}",
     .body = "{'model':'m','messages':[],'temperature':0.10,'seed':18446744073709551617,"
             "'stop':['a','b']}"},
    {"the output limit",
     "{'base_url':'http://h/v1'}",
     {.max_output_tokens = 4096},
     .body = "{'model':'m','messages':[],'max_tokens':4096}"},
    {"the output limit by its newer name, and the cache key, at the home of both",
     "{}",
     {.max_output_tokens = 4096, .conversation_id = {"s1", 2}},
     .body = "{'model':'m','messages':[],'max_completion_tokens':4096,'prompt_cache_key':'s1'}"},
    {"the output limit by switch",
     "{'base_url':'http://h/v1','dialect':{'max_tokens_field':'max_completion_tokens'}}",
     {.max_output_tokens = 1},
     .body = "{'model':'m','messages':[],'max_completion_tokens':1}"},
    {"a schema for the answer",
     "{'base_url':'http://h/v1'}",
     {.stream = 0},
     .schema = "{'type':'object'}",
     .body = "{'model':'m','messages':[],'response_format':{'type':'json_schema','json_schema':"
             "{'name':'answer','schema':{'type':'object'}}}}"},
    {"a strict schema",
     "{'base_url':'http://h/v1','dialect':{'output_format':'strict_json_schema'}}",
     {.stream = 0},
     .schema = "{}",
     .body = "{'model':'m','messages':[],'response_format':{'type':'json_schema','json_schema':"
             "{'name':'answer','strict':true,'schema':{}}}}"},
    {"a server that knows no schemas",
     "{'base_url':'http://h/v1','dialect':{'output_format':'none'}}",
     {.stream = 0},
     .schema = "{}",
     .body = "{'model':'m','messages':[]}"},
    {"extra is merged and wins",
     "{'base_url':'http://h/v1'}",
     {.stream = 1, .max_output_tokens = 5},
     .parameters = "{'temperature':0,'seed':1}",
     .extra = " {'service_tier':'flex','seed':2,'max_tokens':7,'model':'n','stream_options':{}} ",
     .body = "{'messages':[],'stream':true,'temperature':0,'service_tier':'flex','seed':2,"
             "'max_tokens':7,'model':'n','stream_options':{}}"},
};

static gudgeon_str absent_or(const char *text)
{
    return text != NULL ? gudgeon_text(text) : (gudgeon_str){NULL, 0};
}

static void run_fields(const struct field_row *row)
{
    struct mock_model model;
    struct mock_reply reply;
    gudgeon_generate request = row->request;
    CLEANUP(free_ptr) char *config = mock_json(row->config);
    CLEANUP(free_ptr) char *want = mock_json(row->body);
    CLEANUP(free_ptr) char *parameters = row->parameters ? mock_json(row->parameters) : NULL;
    CLEANUP(free_ptr) char *extra = row->extra ? mock_json(row->extra) : NULL;
    CLEANUP(free_ptr) char *schema = row->schema ? mock_json(row->schema) : NULL;
    CU_ASSERT_EQUAL(mock_model_open(&model, "openai", config, NULL), GUDGEON_OK);
    serve(&model);
    request.size = sizeof request;
    request.model = gudgeon_text("m");
    request.parameters = absent_or(parameters);
    request.extra = absent_or(extra);
    request.output_schema = absent_or(schema);
    CU_ASSERT_EQUAL(mock_model_generate(&model, &request, &reply), GUDGEON_OK);
    CHECK_STR(model.http.sent_body.data, want);
    if (strcmp(model.http.sent_body.data, want) != 0)
        printf("#   in: %s\n", row->name);
    mock_reply_fini(&reply);
    mock_model_close(&model);
}

static void test_fields(void)
{
    for (size_t i = 0; i < COUNT_OF(field_rows); i++)
        run_fields(&field_rows[i]);
}

static void test_refused_extra(void)
{
    struct mock_model model;
    struct mock_reply reply;
    mock_model_open(&model, "openai", "{}", NULL);
    gudgeon_generate request = {.size = sizeof request, .extra = gudgeon_text("{\"messages\":[]}")};
    CU_ASSERT_EQUAL(mock_model_generate(&model, &request, &reply), GUDGEON_INVALID);
    mock_reply_fini(&reply);
    mock_model_close(&model);
}

/* ---- where it goes ------------------------------------------------------------------------- */

#define USUAL "content-type: application/json\naccept: text/event-stream, application/json\n"

static const struct {
    const char *config, *url, *headers, *origin;
} addresses[] = {
    {"{}", "https://api.openai.com/v1/chat/completions", USUAL, "chat https://api.openai.com/v1 m"},
    {"{'base_url':'http://127.0.0.1:8080/v1/','api_key':'{secret:k}'}",
     "http://127.0.0.1:8080/v1/chat/completions", "authorization: Bearer {secret:k}\n" USUAL,
     "chat http://127.0.0.1:8080/v1 m"},
    {"{'base_url':'https://x.openai.azure.com/openai/deployments/d?api-version=2','headers':"
     "{'api-key':'{secret:a}'}}",
     "https://x.openai.azure.com/openai/deployments/d/chat/completions?api-version=2",
     "api-key: {secret:a}\n" USUAL, "chat https://x.openai.azure.com/openai/deployments/d m"},
    {"{'base_url':'http://h/v1/chat/completions','api_key':'a','headers':{'Authorization':'Basic "
     "b','accept':'*/*'}}",
     "http://h/v1/chat/completions",
     "Authorization: Basic b\naccept: */*\ncontent-type: application/json\n", "chat http://h/v1 m"},
    {"{'base_url':'http://me:pw@[::1]:9/v1?k=s#f','api_key':''}",
     "http://me:pw@[::1]:9/v1/chat/completions?k=s", USUAL, "chat http://[::1]:9/v1 m"},
    {"{'base_url':'http://h'}", "http://h/chat/completions", USUAL, "chat http://h m"},
};

static void test_addresses(void)
{
    for (size_t i = 0; i < COUNT_OF(addresses); i++) {
        struct mock_model model;
        struct mock_reply reply;
        CLEANUP(free_ptr) char *config = mock_json(addresses[i].config);
        CU_ASSERT_EQUAL(mock_model_open(&model, "openai", config, NULL), GUDGEON_OK);
        serve(&model);
        gudgeon_generate request = {.size = sizeof request, .model = {"m", 1}};
        CU_ASSERT_EQUAL(mock_model_generate(&model, &request, &reply), GUDGEON_OK);
        CHECK_STR(model.http.url.data, addresses[i].url);
        CHECK_STR(model.http.sent_headers.data, addresses[i].headers);
        CHECK_STR(reply.origin.data, addresses[i].origin);
        mock_reply_fini(&reply);
        mock_model_close(&model);
    }
}

static void test_limits(void)
{
    struct mock_model model;
    struct mock_reply reply;
    mock_model_open(&model, "openai",
                    "{\"timeouts\":{\"connect\":\"250ms\",\"first_byte\":\"2m\",\"idle\":\"3h\"},"
                    "\"ca_file\":\"/etc/ca.pem\"}",
                    NULL);
    serve(&model);
    gudgeon_generate request = {.size = sizeof request};
    CU_ASSERT_EQUAL(mock_model_generate(&model, &request, &reply), GUDGEON_OK);
    CU_ASSERT_EQUAL(model.http.connect_ms, 250);
    CU_ASSERT_EQUAL(model.http.first_byte_ms, 120000);
    CU_ASSERT_EQUAL(model.http.idle_ms, 3 * 3600000);
    CHECK_STR(model.http.ca_file.data, "/etc/ca.pem");
    mock_reply_fini(&reply);
    mock_model_close(&model);
}

static void test_capabilities(void)
{
    struct mock_model model;
    uint64_t window = 0;
    mock_model_open(&model, "openai", "{}", NULL);
    uint32_t can = mock_model_can(&model, "gpt-5-mini", &window);
    CU_ASSERT_EQUAL(can, GUDGEON_CAN_STREAM | GUDGEON_CAN_TOOLS | GUDGEON_CAN_SCHEMA |
                             GUDGEON_CAN_IMAGES | GUDGEON_CAN_CHOICE_NONE);
    CU_ASSERT_EQUAL(window, 400000);
    mock_model_can(&model, "other", &window);
    CU_ASSERT_EQUAL(window, 0);
    mock_model_close(&model);
    mock_model_open(&model, "openai",
                    "{\"base_url\":\"http://h\",\"dialect\":{\"output_format\":\"none\"}}", NULL);
    CU_ASSERT_EQUAL(mock_model_can(&model, "gpt-5", &window) & GUDGEON_CAN_SCHEMA, 0);
    CU_ASSERT_EQUAL(window, 0);
    mock_model_close(&model);
}

/* ---- the memo ------------------------------------------------------------------------------ */

static void test_memo(void)
{
    static const struct line lines[] = {{"system", "[{\"type\":\"text\",\"text\":\"s\"}]", NULL},
                                        {"user", "[{\"type\":\"text\",\"text\":\"u\"}]", NULL},
                                        {"assistant", "[{\"type\":\"text\",\"text\":\"a\"}]", NULL},
                                        {"user", "[{\"type\":\"text\",\"text\":\"v\"}]", NULL},
                                        {NULL, NULL, NULL}};
    struct mock_model model;
    struct mock_reply reply;
    struct conversation conversation;
    conversation_init(&conversation, lines);
    mock_model_open(&model, "openai", "{}", NULL);
    serve(&model);
    gudgeon_generate request = {.size = sizeof request,
                                .msgs = conversation.pointers,
                                .msg_count = 2,
                                .tools = two_tools,
                                .tool_count = 2,
                                .tools_revision = 7};
    mock_model_generate(&model, &request, &reply);
    mock_reply_fini(&reply);
    CU_ASSERT_EQUAL(model.memo_puts, 3);
    CU_ASSERT_EQUAL(model.memo_hits, 0);
    char *first = sent_messages(&model);
    request.msg_count = 4;
    mock_model_generate(&model, &request, &reply);
    mock_reply_fini(&reply);
    CU_ASSERT_EQUAL(model.memo_puts, 5);
    CU_ASSERT_EQUAL(model.memo_hits, 3);
    char *second = sent_messages(&model);
    /* The same bytes again, so that the provider's cache holds. */
    CU_ASSERT_EQUAL(strncmp(first, second, strlen(first) - 1), 0);
    /* A host that keeps nothing gets the same request. */
    model.declines = true;
    for (size_t i = 0; i < conversation.count; i++)
        conversation.msgs[i].id += 100;
    mock_model_generate(&model, &request, &reply);
    mock_reply_fini(&reply);
    char *third = sent_messages(&model);
    CHECK_STR(third, second);
    free(first);
    free(second);
    free(third);
    mock_model_close(&model);
    conversation_fini(&conversation);
}

/* One instance may serve two models: what is kept for one is not sent to the other. */
static void test_memo_of_two_models(void)
{
    static const struct line lines[] = {
        {"assistant", "[{'type':'reasoning','text':'hm'}," CALL("a", "f", "{}") "]", OWN},
        {NULL, NULL, NULL}};
    struct mock_model model;
    struct mock_reply reply;
    struct conversation conversation;
    conversation_init(&conversation, lines);
    mock_model_open(&model, "openai", "{\"base_url\":\"http://h/v1\"}", NULL);
    serve(&model);
    for (int other = 0; other < 2; other++) {
        gudgeon_generate request = {.size = sizeof request,
                                    .model = {other ? "n" : "m", 1},
                                    .msgs = conversation.pointers,
                                    .msg_count = 1};
        mock_model_generate(&model, &request, &reply);
        bool echoed = strstr(model.http.sent_body.data, "reasoning_content") != NULL;
        CU_ASSERT_EQUAL(echoed, !other);
        mock_reply_fini(&reply);
    }
    mock_model_close(&model);
    conversation_fini(&conversation);
}

int main(void)
{
    UNIT_MAIN("openai request", {"messages", test_messages}, {"fields", test_fields},
              {"extra may not replace the messages", test_refused_extra},
              {"addresses and headers", test_addresses}, {"limits and CA file", test_limits},
              {"capabilities", test_capabilities}, {"encodings are kept", test_memo},
              {"and not given to another model", test_memo_of_two_models});
}
