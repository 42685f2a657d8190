/* SPDX-License-Identifier: MIT */

/* What the openai backend makes of what servers send: one row for each habit that was met. Each
 * row is served whole and byte by byte. */

#include "mock_model.h"

#include <stdlib.h>

#include <gudgeon/util.h>

#include "unit.h"

/* In these texts ' stands for ". */
#define DELTA(members)                                                                             \
    "{'id':'r1','model':'m1','choices':[{'index':0,'delta':{" members "},'finish_reason':null}]}"
#define FINISH(word) "{'choices':[{'index':0,'delta':{},'finish_reason':'" word "'}]}"
#define TEXT(text)   DELTA("'content':'" text "'")
#define CALLS(items) DELTA("'tool_calls':[" items "]")
#define PIECE(index, id, name, arguments)                                                          \
    "{'index':" index ",'id':'" id "','type':'function','function':{'name':'" name                 \
    "','arguments':'" arguments "'}}"
#define MORE(index, arguments) "{'index':" index ",'function':{'arguments':'" arguments "'}}"
#define PLAIN(message, word)                                                                       \
    "{'id':'r1','object':'chat.completion','model':'m1','choices':[{'index':0,'message':" message  \
    ",'finish_reason':'" word "'}],'usage':{'prompt_tokens':5,'completion_tokens':3}}"

#define T(text) "{'type':'text','text':'" text "'}"
#define C(id, name, arguments)                                                                     \
    "{'type':'tool_call','wire_id':'" id "','name':'" name "','arguments':'" arguments "'}"
#define R(text) "{'type':'reasoning','text':'" text "'}"

enum { MAX_EVENTS = 12 };

struct row {
    const char *name;
    const char *events[MAX_EVENTS]; /* each becomes one event */
    const char *raw;                /* or: the body as it is */
    enum mock_end end;
    const char *headers; /* NULL = an event stream's */
    uint64_t max_output;
    /* What is due. */
    int32_t class;
    uint32_t finish;     /* 0 = not looked at */
    const char *content; /* NULL = not looked at */
    const char *shown;   /* text deltas; NULL = not looked at */
    const char *arguments[2];
    const char *message; /* a part of the error's */
};

#define JSON_TYPE "content-type: application/json"

static const struct row rows[] = {
    {"plain text in pieces",
     {TEXT("Hel"), TEXT("lo"), FINISH("stop"), "[DONE]"},
     .finish = GUDGEON_FINISH_STOP,
     .content = "[" T("Hello") "]",
     .shown = "Hello"},
    {"arguments joined by index, id and name only in the first",
     {CALLS(PIECE("0", "c1", "sh", "")), CALLS(MORE("0", "{\\'x\\'")), CALLS(MORE("0", ":1}")),
      FINISH("tool_calls"), "[DONE]"},
     .finish = GUDGEON_FINISH_CALLS,
     .content = "[" C("c1", "sh", "{\\'x\\':1}") "]",
     .arguments = {"{'x':1}"}},
    {"content null first, the role again and again",
     {DELTA("'role':'assistant','content':null"), DELTA("'role':'assistant','content':'a'"),
      DELTA("'role':'assistant','content':'b'"), FINISH("stop"), "[DONE]"},
     .content = "[" T("ab") "]"},
    {"no index in any piece",
     {CALLS("{'id':'c1','function':{'name':'f','arguments':'{}'}}"), FINISH("tool_calls"),
      "[DONE]"},
     .content = "[" C("c1", "f", "{}") "]"},
    {"no index, several calls told apart by id",
     {CALLS("{'id':'c1','function':{'name':'f','arguments':'{\\'a\\''}}"),
      CALLS("{'function':{'arguments':':1}'}}"),
      CALLS("{'id':'c2','function':{'name':'f','arguments':'{\\'b\\''}}"),
      CALLS("{'id':'c2','function':{'arguments':':2}'}}"), FINISH("tool_calls"), "[DONE]"},
     .content = "[" C("c1", "f", "{\\'a\\':1}") "," C("c2", "f", "{\\'b\\':2}") "]",
     .arguments = {"{'a':1}", "{'b':2}"}},
    {"empty id and name in what follows are absent ones",
     {CALLS(PIECE("0", "c1", "sh", "")), CALLS(PIECE("0", "", "", "{\\'x\\':1}")),
      FINISH("tool_calls"), "[DONE]"},
     .content = "[" C("c1", "sh", "{\\'x\\':1}") "]"},
    {"split by index",
     {CALLS(PIECE("0", "c1", "f", "{\\'a\\':1}")), CALLS(PIECE("1", "c2", "f", "{\\'b\\':2}")),
      FINISH("tool_calls"), "[DONE]"},
     .content = "[" C("c1", "f", "{\\'a\\':1}") "," C("c2", "f", "{\\'b\\':2}") "]"},
    {"one delta holds both",
     {CALLS(PIECE("0", "c1", "f", "{\\'a\\':1}") "," PIECE("1", "c2", "g", "{\\'b\\':2}")),
      FINISH("tool_calls"), "[DONE]"},
     .content = "[" C("c1", "f", "{\\'a\\':1}") "," C("c2", "g", "{\\'b\\':2}") "]"},
    {"indexes from 1, interleaved",
     {CALLS(PIECE("1", "c1", "f", "{") "," PIECE("2", "c2", "g", "{")),
      CALLS(MORE("2", "}") "," MORE("1", "}")), FINISH("tool_calls"), "[DONE]"},
     .content = "[" C("c1", "f", "{}") "," C("c2", "g", "{}") "]"},
    {"index always 0, told apart by id",
     {CALLS(PIECE("0", "c1", "f", "{\\'a\\':1}")), CALLS(PIECE("0", "c2", "g", "{\\'b\\':2}")),
      FINISH("tool_calls"), "[DONE]"},
     .content = "[" C("c1", "f", "{\\'a\\':1}") "," C("c2", "g", "{\\'b\\':2}") "]"},
    {"index always 0, told apart by id, in pieces",
     {CALLS(PIECE("0", "c1", "f", "")), CALLS(PIECE("0", "c2", "g", "")),
      CALLS("{'index':0,'id':'c1','function':{'arguments':'{}'}}"),
      CALLS("{'index':0,'id':'c2','function':{'arguments':'{\\'b\\':2}'}}"), FINISH("tool_calls"),
      "[DONE]"},
     .content = "[" C("c1", "f", "{}") "," C("c2", "g", "{\\'b\\':2}") "]"},
    {"index always 0 and no ids: a name after whole arguments is another call",
     {CALLS(PIECE("0", "", "f", "{\\'a\\':1}")), CALLS(PIECE("0", "", "f", "{\\'b\\':2}")),
      FINISH("stop"), "[DONE]"},
     .finish = GUDGEON_FINISH_CALLS,
     .content = "[" C("", "f", "{\\'a\\':1}") "," C("", "f", "{\\'b\\':2}") "]"},
    {"neither index nor id, two in one chunk",
     {CALLS("{'function':{'name':'f','arguments':''}},{'function':{'name':'g','arguments':''}}"),
      FINISH("tool_calls"), "[DONE]"},
     .content = "[" C("", "f", "") "," C("", "g", "") "]"},
    {"one id for two calls of different index",
     {CALLS(PIECE("0", "terminal:0", "f", "{}")), CALLS(PIECE("1", "terminal:0", "f", "{}")),
      FINISH("tool_calls"), "[DONE]"},
     .content = "[" C("terminal:0", "f", "{}") "," C("terminal:0", "f", "{}") "]"},
    {"another id for every piece",
     {CALLS(PIECE("0", "x1", "f", "{\\'a\\'")),
      CALLS("{'index':0,'id':'x2','function':{'arguments':':1'}}"),
      CALLS("{'index':0,'id':'x3','function':{'arguments':'}'}}"), FINISH("tool_calls"), "[DONE]"},
     .content = "[" C("x1", "f", "{\\'a\\':1}") "]"},
    {"id and name in every piece",
     {CALLS(PIECE("0", "c1", "f", "{\\'a\\'")), CALLS(PIECE("0", "c1", "f", ":1}")),
      CALLS(PIECE("0", "c1", "f", "")), FINISH("tool_calls"), "[DONE]"},
     .content = "[" C("c1", "f", "{\\'a\\':1}") "]",
     .arguments = {"{'a':1}"}},
    {"two whole objects in one unnamed slot stay one text, which is then no JSON",
     {CALLS(PIECE("0", "c1", "f", "{\\'a\\':1}")), CALLS(MORE("0", "{\\'b\\':2}")),
      FINISH("tool_calls"), "[DONE]"},
     .content = "[" C("c1", "f", "{\\'a\\':1}{\\'b\\':2}") "]"},
    {"arguments before the name",
     {CALLS("{'id':'c1','function':{'arguments':'{\\'a\\''}}"),
      CALLS("{'function':{'arguments':':1}'}}"), CALLS("{'id':'c1','function':{'name':'f'}}"),
      FINISH("tool_calls"), "[DONE]"},
     .content = "[" C("c1", "f", "{\\'a\\':1}") "]",
     .arguments = {"{'a':1}"}},
    {"a name in pieces",
     {CALLS(PIECE("0", "c1", "get_", "")), CALLS("{'index':0,'function':{'name':'weather'}}"),
      CALLS(MORE("0", "{}")), FINISH("tool_calls"), "[DONE]"},
     .content = "[" C("c1", "get_weather", "{}") "]"},
    {"a name that grows",
     {CALLS(PIECE("0", "c1", "get", "")), CALLS(PIECE("0", "c1", "get_weather", "{}")),
      FINISH("tool_calls"), "[DONE]"},
     .content = "[" C("c1", "get_weather", "{}") "]"},
    {"arguments as an object",
     {CALLS("{'id':'c1','function':{'name':'f','arguments':{'id':812345678901234567}}}"),
      FINISH("tool_calls"), "[DONE]"},
     .content = "[" C("c1", "f", "{\\'id\\':812345678901234567}") "]",
     .arguments = {"{'id':812345678901234567}"}},
    {"the old function_call",
     {DELTA("'function_call':{'name':'f','arguments':'{'}"),
      DELTA("'function_call':{'arguments':'}'}"), FINISH("function_call"), "[DONE]"},
     .finish = GUDGEON_FINISH_CALLS,
     .content = "[" C("", "f", "{}") "]"},
    {"a custom call's input, and fields that nobody knows",
     {CALLS("{'index':0,'id':'c1','type':'custom','x':[{}],'custom':{'name':'f','input':'a b'}}"),
      FINISH("tool_calls"), "[DONE]"},
     .content = "[" C("c1", "f", "a b") "]"},
    {"stop although there are calls",
     {CALLS(PIECE("0", "c1", "f", "{}")), FINISH("stop"), "[DONE]"},
     .finish = GUDGEON_FINISH_CALLS},
    {"tool_calls although there are none",
     {TEXT("a"), FINISH("tool_calls"), "[DONE]"},
     .finish = GUDGEON_FINISH_STOP},
    {"chunks without choices, without delta, and choices null",
     {"{'choices':[],'prompt_filter_results':[{}]}", TEXT("a"), "{'choices':null}",
      "{'choices':[{'index':0,'finish_reason':'stop'}]}",
      "{'choices':[],'usage':{'prompt_tokens':1,'completion_tokens':2}}", "[DONE]"},
     .finish = GUDGEON_FINISH_STOP,
     .content = "[" T("a") "]"},
    {"empty arguments stay as they are",
     {CALLS(PIECE("0", "c1", "f", "")), FINISH("tool_calls"), "[DONE]"},
     .content = "[" C("c1", "f", "") "]"},
    {"cut by the limit",
     {CALLS(PIECE("0", "c1", "f", "{\\'p\\':\\'part")), FINISH("length"), "[DONE]"},
     .finish = GUDGEON_FINISH_LENGTH},
    {"tool_calls, but cut by the limit",
     {CALLS(PIECE("0", "c1", "f", "{\\'p\\':\\'part")), FINISH("tool_calls"),
      "{'choices':[],'usage':{'completion_tokens':64}}", "[DONE]"},
     .max_output = 64,
     .finish = GUDGEON_FINISH_LENGTH},
    {"arguments that are whole are not cut, whatever was used",
     {CALLS(PIECE("0", "c1", "f", "{}")), FINISH("tool_calls"),
      "{'choices':[],'usage':{'completion_tokens':64}}", "[DONE]"},
     .max_output = 64,
     .finish = GUDGEON_FINISH_CALLS},
    {"nothing at all is an empty reply",
     {DELTA("'content':''"), FINISH("stop"), "[DONE]"},
     .finish = GUDGEON_FINISH_STOP,
     .content = "[]"},
    {"blank text beside calls is dropped",
     {TEXT("\\n\\n "), CALLS(PIECE("0", "c1", "f", "{}")), FINISH("tool_calls"), "[DONE]"},
     .content = "[" C("c1", "f", "{}") "]"},
    {"a refusal is its own outcome",
     {DELTA("'content':'','refusal':'I cannot '"), DELTA("'refusal':'do that.'"), FINISH("stop"),
      "[DONE]"},
     .finish = GUDGEON_FINISH_REFUSAL,
     .content = "[{'type':'refusal','text':'I cannot do that.'}]"},
    {"a filter cut it",
     {TEXT("Well"), FINISH("content_filter"), "[DONE]"},
     .finish = GUDGEON_FINISH_REFUSAL},
    {"an unknown word at the end",
     {TEXT("a"), FINISH("eos"), "[DONE]"},
     .finish = GUDGEON_FINISH_OTHER},
    {"reasoning_content",
     {DELTA("'reasoning_content':'hm'"), DELTA("'reasoning_content':' so','content':''"), TEXT("a"),
      FINISH("stop"), "[DONE]"},
     .content = "[" R("hm so") "," T("a") "]",
     .shown = "a"},
    {"reasoning, whose field must be known to send it back",
     {DELTA("'reasoning':'hm','content':''"), TEXT("a"), FINISH("stop"), "[DONE]"},
     .content = "[" R(
         "hm") ",{'type':'opaque','kind':'chat.reasoning_field','data':'reasoning'}," T("a") "]"},
    {"both names at once count once",
     {DELTA("'reasoning_content':'hm','reasoning':'hm'"), FINISH("stop"), "[DONE]"},
     .content = "[" R("hm") "]"},
    {"reasoning_details, joined by type and index",
     {DELTA("'reasoning_details':[{'type':'reasoning.text','text':'Let','format':'f','index':0}]"),
      DELTA(
          "'reasoning_details':[{'type':'reasoning.text','text':' me','index':0,'signature':'s'}]"),
      DELTA("'reasoning_details':[{'type':'reasoning.text','signature':'S=','index':0},"
            "{'type':'reasoning.encrypted','data':'D','index':1, 'id' :null}]"),
      FINISH("stop"), "[DONE]"},
     .content =
         "[{'type':'opaque','kind':'chat.reasoning_details','data':'"
         "[{\\'type\\':\\'reasoning.text\\',\\'text\\':\\'Let me\\',\\'signature\\':\\'S=\\',"
         "\\'format\\':\\'f\\',\\'index\\':0},{\\'type\\':\\'reasoning.encrypted\\',"
         "\\'data\\':\\'D\\',\\'index\\':1, \\'id\\' :null}]'}]"},
    {"a signed reasoning of a cut reply is not kept",
     {DELTA("'reasoning_details':[{'type':'reasoning.text','text':'Let','index':0}]"),
      FINISH("length"), "[DONE]"},
     .content = "[]"},
    {"content as parts, thinking among them",
     {DELTA("'content':[{'type':'thinking','thinking':[{'type':'text','text':'hm'}]}]"),
      DELTA("'content':[{'type':'text','text':'a'},{'type':'reference','reference_ids':[1]}]"),
      TEXT("b"), FINISH("stop"), "[DONE]"},
     .content = "[" R("hm") "," T("ab") "]",
     .shown = "ab"},
    {"several choices: the first counts",
     {"{'choices':[{'index':1,'delta':{'content':'no'}},{'index':0,'delta':{'content':'a'}}]}",
      FINISH("stop"), "[DONE]"},
     .content = "[" T("a") "]"},
    {"a stream that ends with the whole message again",
     {TEXT("a"), "{'choices':[{'message':{'content':'a'},'finish_reason':'stop'}]}", "[DONE]"},
     .content = "[" T("a") "]"},
    {"a character cut into two escapes joins again",
     {TEXT("x\\ud83d"), TEXT("\\ude00y"), FINISH("stop"), "[DONE]"},
     .content = "[" T("x\\ud83d\\ude00y") "]",
     .shown = "x\xf0\x9f\x98\x80y"},
    {"half a character is replaced",
     {TEXT("x\\ud83d"), TEXT("y\\ude00"), FINISH("stop"), "[DONE]"},
     .content = "[" T("x\\ufffdy\\ufffd") "]",
     .shown = "x\xef\xbf\xbdy\xef\xbf\xbd"},
    {"half a character at the very end",
     {TEXT("x\\ud83d"), FINISH("stop"), "[DONE]"},
     .content = "[" T("x\\ufffd") "]",
     .shown = "x\xef\xbf\xbd"},
    {"an escaped backslash is no half character",
     {TEXT("x\\\\ud83d"), FINISH("stop"), "[DONE]"},
     .content = "[" T("x\\\\ud83d") "]",
     .shown = "x\\ud83d"},
    {"a character cut into two events as bytes",
     {TEXT("x\xe4\xbd"), TEXT("\xa0y"), FINISH("stop"), "[DONE]"},
     .content = "[" T("x\xe4\xbd\xa0y") "]",
     .shown = "x\xe4\xbd\xa0y"},
    {"bytes that are no UTF-8 and raw control bytes",
     {TEXT("x\xff\x01\ty"), FINISH("stop"), "[DONE]"},
     .content = "[" T("x\xef\xbf\xbd\\u0001\\u0009y") "]"},
    {"raw newlines in arguments are handed on as the model wrote them",
     {CALLS(PIECE("0", "c1", "f", "{\\'a\\':\\'x\\ny\\'}")), FINISH("tool_calls"), "[DONE]"},
     .content = "[" C("c1", "f", "{\\'a\\':\\'x\\ny\\'}") "]",
     .arguments = {"{'a':'x\ny'}"}},
    {"digits stay",
     {CALLS(PIECE("0", "c1", "f", "{\\'id\\':18446744073709551617.10}")), FINISH("tool_calls"),
      "[DONE]"},
     .arguments = {"{'id':18446744073709551617.10}"}},

    /* ---- how it ends ---- */
    {"[DONE] without a finish reason ends it",
     {TEXT("Hello"), "[DONE]"},
     .finish = GUDGEON_FINISH_STOP,
     .content = "[" T("Hello") "]"},
    {"a finish reason without [DONE] ends it",
     {TEXT("Hello"), FINISH("stop")},
     .content = "[" T("Hello") "]"},
    {"neither", {TEXT("Hel")}, .class = GUDGEON_RETRY, .shown = "Hel"},
    {"torn", {TEXT("Hel")}, .end = MOCK_CUT, .class = GUDGEON_RETRY},
    {"torn after the finish reason",
     {TEXT("Hello"), FINISH("stop")},
     .end = MOCK_CUT,
     .content = "[" T("Hello") "]"},
    {"torn inside an event",
     .raw = "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\ndata: {\"cho",
     .end = MOCK_CUT, .class = GUDGEON_RETRY},
    {"a half-received call is no reply",
     {CALLS(PIECE("0", "c1", "f", "{}"))},
     .class = GUDGEON_RETRY},
    {"silence while there is time left is worth another try",
     {TEXT("Hel")},
     .end = MOCK_SILENT,
     .class = GUDGEON_RETRY},
    {"silence after the finish reason",
     {TEXT("Hello"), FINISH("stop")},
     .end = MOCK_SILENT,
     .content = "[" T("Hello") "]"},
    {"what stays open after [DONE] is not waited for",
     {TEXT("Hello"), FINISH("stop"), "[DONE]"},
     .end = MOCK_SILENT,
     .content = "[" T("Hello") "]"},
    {"an empty body", .raw = "", .class = GUDGEON_RETRY},
    {"an event that is no JSON",
     {TEXT("a"), "{'choices':[{'delta':", FINISH("stop")},
     .class = GUDGEON_RETRY},

    /* ---- framing ---- */
    {"CRLF, no space, comments, an event name, BOM",
     .raw = "\xef\xbb\xbf: hi\r\n\r\nevent: x\r\ndata:{\"choices\":[{\"delta\":\r\n"
            "data:{\"content\":\"a\"}}]}\r\n\r\n: OPENROUTER PROCESSING\r\n\r\n"
            "data:{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\r\n\r\ndata:[DONE]\r\n"
            "\r\n",
     .content = "[" T("a") "]"},
    {"events that are no objects are passed over",
     {"ping", "", TEXT("a"), "1", FINISH("stop"), "[DONE]"},
     .content = "[" T("a") "]"},
    {"an event stream named application/json",
     {TEXT("a"), FINISH("stop"), "[DONE]"},
     .headers = JSON_TYPE,
     .content = "[" T("a") "]"},
    {"an event stream without a content type",
     {TEXT("a"), FINISH("stop"), "[DONE]"},
     .headers = "x: y",
     .content = "[" T("a") "]"},
    {"a plain reply although a stream was asked for",
     .raw = PLAIN("{'role':'assistant','content':'a'}", "stop"), .headers = JSON_TYPE,
     .finish = GUDGEON_FINISH_STOP, .content = "[" T("a") "]", .shown = "a"},
    {"a plain reply named text/event-stream", .raw = PLAIN("{'content':'a'}", "stop"),
     .content = "[" T("a") "]"},
    {"blank lines before a plain reply", .raw = "\n\n\n" PLAIN("{'content':'a'}", "stop") "\n",
     .headers = JSON_TYPE, .content = "[" T("a") "]"},
    {"plain: calls, reasoning, null content",
     .raw = PLAIN("{'content':null,'reasoning_content':'hm','refusal':null,'tool_calls':[{'id':'c1'"
                  ",'type':'function','function':{'name':'f','arguments':'{}'}},{'id':'c2','type':"
                  "'function','function':{'name':'g','arguments':'{\\'a\\':1}'}}]}",
                  "tool_calls"),
     .headers = JSON_TYPE, .finish = GUDGEON_FINISH_CALLS,
     .content = "[" R("hm") "," C("c1", "f", "{}") "," C("c2", "g", "{\\'a\\':1}") "]"},
    {"plain: a refusal", .raw = PLAIN("{'content':'','refusal':'no'}", "stop"),
     .headers = JSON_TYPE, .finish = GUDGEON_FINISH_REFUSAL,
     .content = "[{'type':'refusal','text':'no'}]"},
    {"plain: cut short", .raw = "{\"choices\":[{\"message\":{\"content\":\"a", .headers = JSON_TYPE,
     .class = GUDGEON_RETRY, .message = "cut short"},
    {"plain: torn", .raw = "{\"choices\":[{\"message\":{\"content\":\"a", .headers = JSON_TYPE,
     .end = MOCK_CUT, .class = GUDGEON_RETRY},
    {"plain: a web page", .raw = "<!doctype html><html></html>",
     .headers = "content-type: text/html", .class = GUDGEON_UNAVAILABLE, .message = "base_url"},
    {"plain: another API's answer", .raw = "{'ok':true}", .headers = JSON_TYPE,
     .class = GUDGEON_UNAVAILABLE, .message = "base_url"},

    /* ---- errors after a 200 ---- */
    {"an error in a stream, by its payload",
     {TEXT("a"), "{'type':'error','error':{'type':'overloaded_error','message':'busy'}}"},
     .class = GUDGEON_RETRY,
     .message = "busy"},
    {"an `error` field",
     .raw = "error: {\"code\":400,\"message\":\"the request exceeds the available context size\","
            "\"type\":\"exceed_context_size_error\"}\n\n",
     .class = GUDGEON_OVERFLOW},
    {"event: error",
     .raw = "event: error\ndata: {\"error\":{\"message\":\"Failed to call a function\",\"code\":"
            "\"tool_use_failed\",\"status_code\":400}}\n\n",
     .class = GUDGEON_RETRY},
    {"object error",
     {"{'object':'error','message':'prompt too long','type':'BadRequestError','code':400}"},
     .class = GUDGEON_OVERFLOW},
    {"a 200 whose body says 400",
     .raw = "{'object':'error','message':'bad tool','type':'BadRequestError','code':400}",
     .headers = JSON_TYPE, .class = GUDGEON_INVALID, .message = "bad tool"},
    {"a 200 whose body says 401", .raw = "{'error':{'code':401,'message':'no key'}}",
     .headers = JSON_TYPE, .class = GUDGEON_AUTH},
    {"a 200 with an error body and a number as code",
     .raw = "{'error':{'code':429,'message':'Provider returned error'}}", .headers = JSON_TYPE,
     .class = GUDGEON_RETRY},
    {"an error inside a choice",
     {TEXT("a"), "{'choices':[{'error':{'code':502,'message':'upstream'},'delta':{},"
                 "'finish_reason':'error'}]}"},
     .class = GUDGEON_RETRY,
     .message = "upstream"},
    {"finish_reason error without more",
     {TEXT("a"), FINISH("error"), "[DONE]"},
     .class = GUDGEON_RETRY},
    {"error null and error empty are none",
     {"{'error':null,'choices':[{'delta':{'content':'a'}}]}",
      "{'error':'','choices':[{'delta':{'content':'b'}}]}", FINISH("stop"), "[DONE]"},
     .content = "[" T("ab") "]"},
};

/* ---- the run of a row ---------------------------------------------------------------------- */

static char *body_of(const struct row *row)
{
    if (row->raw != NULL)
        return mock_json(row->raw);
    struct buf body = BUF_INIT(1 << 20);
    for (size_t i = 0; i < MAX_EVENTS && row->events[i] != NULL; i++) {
        char *event = mock_json(row->events[i]);
        buf_addf(&body, "data: %s\n\n", event);
        free(event);
    }
    return buf_take(&body);
}

static bool check(const char *what, const struct buf *have, const char *want)
{
    if (want == NULL)
        return true;
    char *json = mock_json(want);
    bool same = strcmp(have->data, json) == 0;
    if (!same)
        printf("#   %s\n#     have: %s\n#     want: %s\n", what, have->data, json);
    free(json);
    return same;
}

static void run_row(struct mock_model *model, const struct row *row, size_t slice)
{
    CLEANUP(free_ptr) char *body = body_of(row);
    model->http.status = 200;
    model->http.headers = row->headers != NULL ? row->headers : "content-type: text/event-stream";
    model->http.body = body;
    model->http.body_len = strlen(body);
    model->http.slice = slice;
    model->http.end = row->end;
    gudgeon_generate request = {.size = sizeof request,
                                .stream = 1,
                                .max_output_tokens = row->max_output,
                                .model = {"m", 1}};
    struct mock_reply reply;
    mock_model_generate(model, &request, &reply);
    bool ok = reply.class == row->class;
    if (!ok)
        printf("#   class %d, want %d: %s\n", reply.class, row->class, reply.message.data);
    if (row->finish != 0 && reply.finish != row->finish)
        ok = printf("#   finish %u, want %u\n", reply.finish, row->finish) < 0;
    ok &= check("content", &reply.content, row->content);
    ok &= check("text deltas", &reply.text, row->shown);
    for (size_t i = 0; i < 2; i++)
        ok &= check("argument deltas", &reply.call_arguments[i], row->arguments[i]);
    if (row->message != NULL && strstr(reply.message.data, row->message) == NULL)
        ok = printf("#   message: %s\n", reply.message.data) < 0;
    if (row->class == GUDGEON_OK && row->end == MOCK_SILENT && row->events[2] != NULL)
        ok &= !model->http.waited;
    if (!ok)
        printf("#   in: %s (slices of %zu)\n", row->name, slice);
    CU_ASSERT(ok);
    mock_reply_fini(&reply);
}

static void test_rows(void)
{
    struct mock_model model;
    CU_ASSERT_EQUAL(mock_model_open(&model, "openai", "{\"base_url\":\"http://h/v1\"}", NULL),
                    GUDGEON_OK);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        run_row(&model, &rows[i], 0);
        run_row(&model, &rows[i], 1);
    }
    printf("# %zu habits\n", COUNT_OF(rows));
    mock_model_close(&model);
}

/* ---- what the rows cannot say -------------------------------------------------------------- */

/* Serves `body` to one request and fills `reply`. */
static void ask(struct mock_model *model, const char *body, gudgeon_generate *request,
                struct mock_reply *reply)
{
    model->http.body = body;
    model->http.body_len = strlen(body);
    request->size = sizeof *request;
    request->model = gudgeon_text("m");
    mock_model_generate(model, request, reply);
}

static void test_usage(void)
{
    struct mock_model model;
    struct mock_reply reply;
    gudgeon_generate request = {.stream = 1};
    mock_model_open(&model, "openai", "{\"base_url\":\"http://h/v1/\"}", NULL);
    static const char body[] =
        "data: {\"id\":\"r1\",\"model\":\"served\",\"choices\":[{\"delta\":{\"content\":\"a\"},"
        "\"finish_reason\":\"stop\"}],\"usage\":null}\n\n"
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":10,\"completion_tokens\":7,"
        "\"prompt_tokens_details\":{\"cached_tokens\":4,\"cache_write_tokens\":2},"
        "\"completion_tokens_details\":{\"reasoning_tokens\":3}}}\n\ndata: [DONE]\n\n";
    ask(&model, body, &request, &reply);
    CU_ASSERT_EQUAL(reply.usage_known, 0x1f);
    CU_ASSERT_EQUAL(reply.input, 10);
    CU_ASSERT_EQUAL(reply.output, 7);
    CU_ASSERT_EQUAL(reply.cached, 4);
    CU_ASSERT_EQUAL(reply.cache_write, 2);
    CU_ASSERT_EQUAL(reply.reasoning_tokens, 3);
    CHECK_STR(reply.response_id.data, "r1");
    CHECK_STR(reply.model_served.data, "served");
    CHECK_STR(reply.finish_raw.data, "stop");
    CHECK_STR(reply.origin.data, "chat http://h/v1 m");
    mock_reply_fini(&reply);

    ask(&model,
        "data: {\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}],"
        "\"x_groq\":{\"usage\":{\"prompt_tokens\":5}}}\n\ndata: [DONE]\n\n",
        &request, &reply);
    CU_ASSERT_EQUAL(reply.usage_known, GUDGEON_USAGE_INPUT);
    CU_ASSERT_EQUAL(reply.input, 5);
    mock_reply_fini(&reply);
    mock_model_close(&model);
}

static const char hello[] =
    "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\n"
    "data: {\"choices\":[{\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}\n\n"
    "data: [DONE]\n\n";

static void test_listening(void)
{
    struct mock_model model;
    struct mock_reply reply;
    mock_model_open(&model, "openai", "{}", NULL);
    gudgeon_generate silent = {.stream = 0};
    ask(&model, hello, &silent, &reply);
    CU_ASSERT_EQUAL(reply.class, GUDGEON_OK);
    CU_ASSERT_EQUAL(reply.deltas, 0);
    mock_reply_fini(&reply);

    gudgeon_generate listening = {.stream = 1};
    model.stop_after = 1;
    ask(&model, hello, &listening, &reply);
    CU_ASSERT_EQUAL(reply.class, GUDGEON_CANCELLED);
    CU_ASSERT_EQUAL(reply.deltas, 1);
    CHECK_STR(reply.text.data, "Hel");
    mock_reply_fini(&reply);
    mock_model_close(&model);
}

static void test_deadline(void)
{
    struct mock_model model;
    struct mock_reply reply;
    gudgeon_generate request = {.stream = 1};
    mock_model_open(&model, "openai", "{}", NULL);
    model.http.end = MOCK_SILENT;
    model.deadline_ns = 1;
    ask(&model, "data: {}\n\n", &request, &reply);
    CU_ASSERT_EQUAL(reply.class, GUDGEON_TIMEOUT);
    mock_reply_fini(&reply);
    static const int32_t classes[] = {GUDGEON_RETRY, GUDGEON_CANCELLED, GUDGEON_UNAVAILABLE,
                                      GUDGEON_REFUSED, GUDGEON_INVALID};
    for (size_t i = 0; i < COUNT_OF(classes); i++) {
        model.http.open_class = classes[i];
        ask(&model, "", &request, &reply);
        CU_ASSERT_EQUAL(reply.class, classes[i]);
        mock_reply_fini(&reply);
    }
    mock_model_close(&model);
}

/* One call too many is a limit, not a crash. */
static void test_too_many_calls(void)
{
    struct mock_model model;
    struct mock_reply reply;
    gudgeon_generate request = {.stream = 0};
    struct buf body = BUF_INIT(1 << 20);
    for (int i = 0; i <= 256; i++)
        buf_addf(&body,
                 "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":%d,\"function\":"
                 "{\"name\":\"f\",\"arguments\":\"{}\"}}]}}]}\n\n",
                 i);
    buf_add_str(&body, "data: [DONE]\n\n");
    mock_model_open(&model, "openai", "{}", NULL);
    ask(&model, body.data, &request, &reply);
    CU_ASSERT_EQUAL(reply.class, GUDGEON_LIMIT);
    mock_reply_fini(&reply);
    mock_model_close(&model);
    buf_fini(&body);
}

int main(void)
{
    UNIT_MAIN("openai reply", {"habits of servers", test_rows}, {"usage and ids", test_usage},
              {"listeners", test_listening}, {"time and connections", test_deadline},
              {"too many calls", test_too_many_calls});
}
