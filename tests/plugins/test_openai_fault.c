/* SPDX-License-Identifier: MIT */

/* How the openai backend judges what servers answer when something is wrong. */

#include "mock_model.h"

#include <stdlib.h>

#include <gudgeon/util.h>

#include "unit.h"

/* In bodies ' stands for ". */

struct row {
    const char *name;
    uint32_t status;
    const char *headers; /* NULL = JSON */
    const char *body;
    int32_t class;
    uint64_t retry_after_ms;
    const char *message; /* a part of it */
    const char *code;
    enum mock_end end;
};

#define JSON "content-type: application/json"
#define DATE JSON "\ndate: Wed, 02 Dec 2026 09:59:30 GMT\n"

static const struct row rows[] = {
    /* ---- overflow ---- */
    {"by code", 400, NULL,
     "{'error':{'code':'context_length_exceeded','message':'Prompt has 140000 tokens, limit "
     "128000','type':'invalid_request_error'}}",
     .class = GUDGEON_OVERFLOW, .message = "h answered 400: Prompt has 140000 tokens",
     .code = "context_length_exceeded"},
    {"llama.cpp", 400, NULL,
     "{'error':{'code':400,'message':'request (9000 tokens) exceeds the available context size',"
     "'type':'exceed_context_size_error','n_prompt_tokens':9000,'n_ctx':4096}}",
     .class = GUDGEON_OVERFLOW, .code = "exceed_context_size_error"},
    {"by wording: vLLM", 400, NULL,
     "{'object':'error','message':'This model\\u0027s maximum context length is 4096 tokens. "
     "However, you requested 5000.','type':'BadRequestError','param':null,'code':400}",
     .class = GUDGEON_OVERFLOW},
    {"by wording, other case", 400, NULL,
     "{'error':{'message':'Prompt is TOO LONG: 1 > 0','type':'invalid_request_error'}}",
     .class = GUDGEON_OVERFLOW},
    {"by wording with 500", 500, NULL, "{'error':{'message':'Context size has been exceeded.'}}",
     .class = GUDGEON_OVERFLOW},
    {"413", 413, "content-type: text/html", "<h1>413 Request Entity Too Large</h1>",
     .class = GUDGEON_OVERFLOW},
    {"a rate limit that speaks of context is a rate limit", 429, NULL,
     "{'error':{'message':'tokens per min over the context window','code':'rate_limit_exceeded'}}",
     .class = GUDGEON_RETRY},

    /* ---- money ---- */
    {"insufficient_quota", 429, NULL,
     "{'error':{'message':'You exceeded your current quota','type':'insufficient_quota','param':"
     "null,'code':'insufficient_quota'}}",
     .class = GUDGEON_QUOTA, .code = "insufficient_quota"},
    {"by wording", 429, NULL,
     "{'error':{'message':'You exceeded your current quota, check your plan and billing'}}",
     .class = GUDGEON_QUOTA},
    {"402", 402, NULL, "{'error':{'message':'Insufficient Balance','type':'unknown_error'}}",
     .class = GUDGEON_QUOTA},
    {"a real rate limit", 429, NULL,
     "{'error':{'message':'Rate limit reached','type':'requests','code':'rate_limit_exceeded'}}",
     .class = GUDGEON_RETRY},

    /* ---- for good ---- */
    {"401", 401, NULL,
     "{'error':{'message':'Incorrect API key provided','type':'invalid_request_error','code':"
     "'invalid_api_key'}}",
     .class = GUDGEON_AUTH, .message = "is api_key set and right?"},
    {"401 without a word", 401, "content-type: text/plain", "", .class = GUDGEON_AUTH,
     .message = "h answered 401"},
    {"403", 403, NULL, "{'error':{'message':'not in your country'}}", .class = GUDGEON_AUTH},
    {"400", 400, NULL,
     "{'error':{'message':'Unknown parameter: x','type':'invalid_request_error'}}",
     .class = GUDGEON_INVALID, .message = "Unknown parameter: x"},
    {"DeepSeek's code says no more than the status", 400, NULL,
     "{'error':{'message':'The reasoning_content must be passed back','type':"
     "'invalid_request_error','code':'invalid_request_error'}}",
     .class = GUDGEON_INVALID},
    {"401 and 403 are not overruled by wording", 403, NULL,
     "{'error':{'message':'this key has no access to the long context window'}}",
     .class = GUDGEON_AUTH},
    {"404 of a path", 404, NULL, "{'detail':'Not Found'}", .class = GUDGEON_INVALID,
     .message = "base_url"},
    {"404 of a model", 404, NULL,
     "{'error':{'message':'The model x does not exist','code':'model_not_found'}}",
     .class = GUDGEON_UNAVAILABLE},
    {"422 with details", 422, NULL, "{'detail':[{'loc':['body','x'],'msg':'extra fields'}]}",
     .class = GUDGEON_INVALID, .message = "extra fields"},
    {"a redirect that leads nowhere", 302, "location: /login", "", .class = GUDGEON_INVALID,
     .message = "base_url"},
    {"501", 501, NULL, "{'error':'no chat here'}", .class = GUDGEON_INVALID,
     .message = "no chat here"},

    /* ---- passing ---- */
    {"408", 408, NULL, "{}", .class = GUDGEON_RETRY},
    {"409", 409, NULL, "{}", .class = GUDGEON_RETRY},
    {"500", 500, NULL, "{'error':{'message':'oops','type':'server_error'}}",
     .class = GUDGEON_RETRY},
    {"502 as a page", 502, "content-type: text/html", "<html>\n<h1>502 Bad   Gateway</h1>\r\n",
     .class = GUDGEON_RETRY, .message = "<html> <h1>502 Bad Gateway</h1>"},
    {"loading", 503, NULL,
     "{'error':{'code':503,'message':'Loading model','type':'unavailable_error'}}",
     .class = GUDGEON_RETRY},
    {"529", 529, NULL, "{'error':{'type':'overloaded_error','message':'Overloaded'}}",
     .class = GUDGEON_RETRY},
    {"Groq", 400, NULL,
     "{'error':{'message':'Failed to call a function.','type':'invalid_request_error','code':"
     "'tool_use_failed'}}",
     .class = GUDGEON_RETRY},
    {"a body that breaks off", 503, NULL, "{'error':{'mess", .class = GUDGEON_RETRY,
     .end = MOCK_CUT, .message = "h answered 503"},
    {"an error sent as an event", 429, "content-type: text/event-stream",
     "event: error\ndata: {'error':{'message':'slow down','code':'rate_limit_exceeded'}}\n\n",
     .class = GUDGEON_RETRY, .message = "slow down"},
    {"x-should-retry: false", 500, JSON "\nx-should-retry: false", "{}",
     .class = GUDGEON_UNAVAILABLE},
    {"x-should-retry: true", 400, JSON "\nx-should-retry: true", "{}", .class = GUDGEON_RETRY},
    {"x-should-retry: true is no money", 429, JSON "\nx-should-retry: true",
     "{'error':{'code':'insufficient_quota'}}", .class = GUDGEON_QUOTA},

    /* ---- when to come back ---- */
    {"seconds", 429, JSON "\nretry-after: 7", "{}", .class = GUDGEON_RETRY, .retry_after_ms = 7000},
    {"decimals, rounded up", 429, JSON "\nretry-after: 0.5031", "{}", .class = GUDGEON_RETRY,
     .retry_after_ms = 504},
    {"a date", 429, DATE "retry-after: Wed, 02 Dec 2026 10:00:00 GMT", "{}", .class = GUDGEON_RETRY,
     .retry_after_ms = 30000},
    {"a date that has passed", 429, DATE "retry-after: Wed, 02 Dec 2026 09:00:00 GMT", "{}",
     .class = GUDGEON_RETRY, .retry_after_ms = 0},
    {"rubbish", 429, JSON "\nretry-after: soon", "{}", .class = GUDGEON_RETRY, .retry_after_ms = 0},
    {"negative", 429, JSON "\nretry-after: -5", "{}", .class = GUDGEON_RETRY, .retry_after_ms = 0},
    {"twenty digits are a day", 429, JSON "\nretry-after: 99999999999999999999", "{}",
     .class = GUDGEON_RETRY, .retry_after_ms = 86400000},
    {"a date far off is a day", 429, DATE "retry-after: Wed, 02 Dec 2099 10:00:00 GMT", "{}",
     .class = GUDGEON_RETRY, .retry_after_ms = 86400000},
    {"in milliseconds, which goes first", 429, JSON "\nretry-after-ms: 1500.2\nretry-after: 9",
     "{}", .class = GUDGEON_RETRY, .retry_after_ms = 1501},
    {"durations, where nothing is left", 429,
     JSON "\nx-ratelimit-remaining-requests: 0\nx-ratelimit-reset-requests: 6m0s\n"
          "x-ratelimit-remaining-tokens: 10\nx-ratelimit-reset-tokens: 1h",
     "{}", .class = GUDGEON_RETRY, .retry_after_ms = 360000},
    {"a short duration", 429,
     JSON "\nx-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-tokens: 1.25s", "{}",
     .class = GUDGEON_RETRY, .retry_after_ms = 1250},
    {"milliseconds", 429, JSON "\nx-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-tokens: 250ms",
     "{}", .class = GUDGEON_RETRY, .retry_after_ms = 250},
    {"also with 503", 503, JSON "\nretry-after: 1", "{}", .class = GUDGEON_RETRY,
     .retry_after_ms = 1000},
};

static void start(struct mock_model *model, const struct row *row, char *body)
{
    model->http.status = row->status;
    model->http.headers = row->headers != NULL ? row->headers : JSON;
    model->http.body = body;
    model->http.body_len = strlen(body);
    model->http.end = row->end;
}

static void run_row(struct mock_model *model, const struct row *row)
{
    CLEANUP(free_ptr) char *body = mock_json(row->body);
    struct mock_reply reply;
    start(model, row, body);
    gudgeon_generate request = {.size = sizeof request, .stream = 1, .model = {"m", 1}};
    mock_model_generate(model, &request, &reply);
    bool ok = reply.class == row->class && reply.retry_after_ms == row->retry_after_ms &&
              reply.http_status == row->status;
    if (row->message != NULL)
        ok &= strstr(reply.message.data, row->message) != NULL;
    if (row->code != NULL)
        ok &= strcmp(reply.code.data, row->code) == 0;
    if (!ok)
        printf("#   %s: class %d, status %u, after %llu, code %s: %s\n", row->name, reply.class,
               reply.http_status, (unsigned long long)reply.retry_after_ms, reply.code.data,
               reply.message.data);
    CU_ASSERT(ok);
    mock_reply_fini(&reply);
}

static void test_rows(void)
{
    struct mock_model model;
    mock_model_open(&model, "openai", "{\"base_url\":\"http://h/v1\"}", NULL);
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        run_row(&model, &rows[i]);
    mock_model_close(&model);
}

/* A filter that stops the request is the provider's refusal, not a fault of ours. */
static void test_filtered(void)
{
    static const struct row row = {
        .status = 400,
        .body = "{'error':{'message':'The prompt was filtered','code':'content_filter',"
                "'innererror':{'code':'ResponsibleAIPolicyViolation'}}}"};
    struct mock_model model;
    struct mock_reply reply;
    CLEANUP(free_ptr) char *body = mock_json(row.body);
    mock_model_open(&model, "openai", "{}", NULL);
    start(&model, &row, body);
    gudgeon_generate request = {.size = sizeof request};
    CU_ASSERT_EQUAL(mock_model_generate(&model, &request, &reply), GUDGEON_OK);
    CU_ASSERT_EQUAL(reply.finish, GUDGEON_FINISH_REFUSAL);
    CHECK_STR(reply.content.data, "[{\"type\":\"refusal\",\"text\":\"The prompt was filtered\"}]");
    mock_reply_fini(&reply);
    mock_model_close(&model);
}

/* What a server says is cut, and is one line of UTF-8. */
static void test_long_message(void)
{
    struct mock_model model;
    struct mock_reply reply;
    struct buf body = BUF_INIT(1 << 20);
    buf_add_str(&body, "{\"error\":{\"message\":\"a\\nb\\u0000\xff");
    for (int i = 0; i < 2000; i++)
        buf_add_str(&body, "\xc3\xa9");
    buf_add_str(&body, "\"}}");
    struct row row = {.status = 500};
    mock_model_open(&model, "openai", "{}", NULL);
    start(&model, &row, body.data);
    gudgeon_generate request = {.size = sizeof request};
    CU_ASSERT_EQUAL(mock_model_generate(&model, &request, &reply), GUDGEON_RETRY);
    CU_ASSERT(reply.message.len < 700);
    CU_ASSERT(strstr(reply.message.data, "a b ?\xc3\xa9\xc3\xa9") != NULL);
    CU_ASSERT(strstr(reply.message.data, "\xc3\xa9…") != NULL);
    mock_reply_fini(&reply);
    mock_model_close(&model);
    buf_fini(&body);
}

int main(void)
{
    UNIT_MAIN("openai fault", {"classes and waiting times", test_rows},
              {"a content filter", test_filtered}, {"long messages", test_long_message});
}
