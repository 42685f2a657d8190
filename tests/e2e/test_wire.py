#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The openai backend on the real wire: the strict and faulty chat server, plain and streamed."""
import json
import subprocess
import sys

from harness import ROOT, case, main, of_type

NOW = {"name": "now", "arguments": "{}"}
FAST = {"retry_after": "0.01"}
TIMEOUTS = "timeouts: {idle: 300ms, first_byte: 400ms}"


class Chat:
    """A chat server with a scenario, for one case."""

    def __init__(self, t, scenario, *options):
        path = t.write("scenario.json", json.dumps(scenario))
        self.record = t.dir / "requests.jsonl"
        self.program = subprocess.Popen(
            [sys.executable, "-B", ROOT / "tests/servers/chat_server.py", path, "--record",
             self.record, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        t.closing.append(self.close)
        self.port = int(self.program.stdout.readline())

    def close(self):
        self.program.stdin.close()
        self.program.wait(10)
        self.program.stdout.close()

    def requests(self):
        return [json.loads(line) for line in self.record.read_text().splitlines()]

    def refusals(self):
        return [request["refused"] for request in self.requests() if request["refused"]]


def run(t, scenario, *options, model="", tools="{use: clock}", more="", env=None):
    chat = Chat(t, scenario, *options)
    t.write("agent.yaml", f"""agent: test
model: {{use: openai, name: m, base_url: "http://127.0.0.1:{chat.port}/v1"{model and ', ' + model}}}
tools: [{tools}]
{more}
""")
    return chat, t.gudgeon("run", "agent.yaml", "What time is it?", env=env)


def answers(t, scenario, answer, requests, *options, **more):
    """The run succeeds with that answer after so many requests, none of them refused."""
    chat, r = run(t, scenario, *options, **more)
    t.equal(chat.refusals(), [])
    t.equal((r.code, r.out.strip()), (0, answer)) if r.code == 0 else t.equal(r.code, repr(r))
    t.equal(len(chat.requests()), requests)
    return chat, r


# ---- three turns with calls and an answer ---------------------------------------------------------

THREE_TURNS = [
    {"reasoning": "Let me think.", "text": "I look.", "calls": [NOW]},
    {"calls": [NOW, {"name": "now", "arguments": {"zone": "+02:00"}}]},
    {"calls": [{"name": "now", "arguments": ""}]},
    {"text": "It is late \U0001f600."},
]


@case("three turns with tools and an answer, streamed")
def _(t):
    chat, _ = answers(t, THREE_TURNS, "It is late \U0001f600.", 4)
    last = chat.requests()[-1]
    t.equal(last["body"]["stream"], True)
    t.equal([m["role"] for m in last["body"]["messages"]],
            ["system", "user", "assistant", "tool", "assistant", "tool", "tool", "assistant",
             "tool"])
    t.true("expect" not in last["headers"], "an Expect header was sent")


@case("three turns with tools and an answer, plain")
def _(t):
    chat, _ = answers(t, THREE_TURNS, "It is late \U0001f600.", 4, model="stream: false")
    t.true("stream" not in chat.requests()[-1]["body"], "a stream was asked for")


# ---- habits of servers: all four turns in each ----------------------------------------------------

HABITS = {
    "index left out": {"index": "omit"},
    "index always 0": {"index": "zero", "one_delta": True},
    "index from 1": {"index": "one"},
    "ids repeated": {"ids": "repeat"},
    "ids empty in what follows": {"ids": "empty"},
    "another id in every piece": {"ids": "change"},
    "one id for all calls": {"ids": "same"},
    "calls whole in one delta": {"one_delta": True},
    "arguments as objects": {"one_delta": True, "object_arguments": True},
    "the role in every delta": {"role": "every"},
    "no role at all": {"role": "never"},
    "content null first": {"null_first": True},
    "finish_reason stop beside calls": {"finish": "stop"},
    "no finish_reason": {"finish": None},
    "no [DONE]": {"done": False},
    "usage in the last chunk": {"usage_chunk": "finish"},
    "usage with choices null": {"usage_chunk": "null"},
    "a first chunk without choices": {"usage_chunk": "first"},
    "content in parts": {"parts": True},
    "CRLF": {"eol": "\r\n"},
    "CR alone": {"eol": "\r"},
    "data: without a space": {"space": False},
    "a byte order mark": {"bom": True},
    "comments between events": {"comments": True},
    "one byte at a time": {"write": 1, "chunk": 40},
    "no framing but the end": {"framing": "close"},
    "events named application/json": {"content_type": "application/json"},
    "events named text/plain": {"content_type": "text/plain"},
    "plain although a stream was asked for": {"stream": False},
    "plain and named text/event-stream": {"stream": False, "content_type": "text/event-stream"},
    "plain behind blank lines": {"stream": False, "blank_first": 3},
    "characters in two escapes": {"split": "surrogates"},
    "characters in two events": {"split": "bytes"},
    "what stays open after the end": {"keep_open": True},
}

for name, habit in HABITS.items():
    def check(t, habit=habit):
        scenario = [{**reply, **habit} for reply in THREE_TURNS]
        if habit.get("object_arguments"):
            scenario[2] = {**scenario[2], "calls": [NOW]}
        if "finish" in habit:
            scenario[3] = {key: value for key, value in scenario[3].items() if key != "finish"}
        if habit.get("parts"):
            scenario = [{**reply, "reasoning_field": "reasoning"} for reply in scenario]
        answers(t, scenario, "It is late \U0001f600.", 4)
    case("habit: " + name)(check)


@case("habit: a stream although none was asked for")
def _(t):
    answers(t, [{**reply, "stream": True} for reply in THREE_TURNS], "It is late \U0001f600.", 4,
            model="stream: false")


# ---- dialects --------------------------------------------------------------------------------------

DIALECTS = {
    "ids of nine characters": (["id_pattern=[A-Za-z0-9]{9}"], ""),
    "content null beside calls refused": (["refuse_null_content=true",
                                           "refuse_empty_content=false"],
                                          "dialect: {tool_content: empty}"),
    "content '' beside calls refused": (["refuse_empty_content=true"], ""),
    "the developer's role": (["system_role=developer"], "dialect: {system_role: developer}"),
    "no system role": (["system_role=none"], "dialect: {system_role: user}"),
    "reasoning wanted back": (["echo_reasoning=true"], ""),
    "no stream_options": (["stream_options=false"], "dialect: {include_usage: false}"),
    "max_completion_tokens only": (['max_tokens=["max_completion_tokens"]'],
                                   "max_output_tokens: 99, "
                                   "dialect: {max_tokens_field: max_completion_tokens}"),
    "a key": (["key=k1"], 'api_key: "${secret:k}"'),
    "a field by extra": (['extra=["service_tier"]'], "extra: {service_tier: flex}"),
}

for name, (switches, model) in DIALECTS.items():
    def check(t, switches=switches, model=model):
        options = [word for switch in switches for word in ("--dialect", switch)]
        scenario = [{**reply, "reasoning": "hm"} for reply in THREE_TURNS]
        answers(t, scenario, "It is late \U0001f600.", 4, *options, model=model,
                env={"GUDGEON_SECRET_K": "k1"})
    case("dialect: " + name)(check)


@case("dialect: reasoning comes and goes in the field `reasoning`, with signed details")
def _(t):
    details = [{"type": "reasoning.text", "text": "hm so", "signature": "S==", "index": 0}]
    pieces = [[{"type": "reasoning.text", "text": "hm", "index": 0}],
              [{"type": "reasoning.text", "text": " so", "index": 0}],
              [{"type": "reasoning.text", "signature": "S==", "index": 0}]]
    chat, _ = answers(t, [{"reasoning": "hm", "reasoning_field": "reasoning", "calls": [NOW],
                           "reasoning_details": details, "details_pieces": pieces},
                          {"text": "late"}], "late", 2, "--dialect", "echo_reasoning=true")
    turn = chat.requests()[1]["body"]["messages"][2]
    t.equal((turn["reasoning"], turn["reasoning_details"]), ("hm", details))


NO_TOOL = [{"calls": [NOW, {"name": "nope", "arguments": "{}"}]}, {"text": "late"}]


@case("a tool that is not there")
def _(t):
    chat, _ = answers(t, NO_TOOL, "late", 2)
    t.equal([m["role"] for m in chat.requests()[1]["body"]["messages"]],
            ["system", "user", "assistant", "tool", "tool"])


@case("dialect: a tool that is not there, where names must be listed")
def _(t):
    answers(t, NO_TOOL, "late", 2, "--dialect", "names_listed=all",
            model="dialect: {unlisted_calls: text}")


@case("dialect: tools cannot be forbidden, so the last request tells them as text")
def _(t):
    chat, r = run(t, [{"calls": [NOW]}, {"text": "late", "when": {"tools": False}}], "--dialect",
                  "choice_none=false", model="dialect: {choice_none: text}",
                  more="limits: {steps: 1}")
    t.equal(chat.refusals(), [])
    t.equal((r.code, r.out.strip()), (3, "late"))
    t.contains(json.dumps(chat.requests()[1]["body"]["messages"]), "[called now with {}]")


# ---- models that do not keep to what was asked ----------------------------------------------------

FINAL = {"name": "final_answer", "arguments": {"answer": "forced"}}


@case("calls although none may be made: refused, each with its result")
def _(t):
    chat, r = run(t, [{"calls": [NOW]}, {"calls": [NOW, NOW]}], more="limits: {steps: 1}")
    t.equal((chat.refusals(), r.code, r.out), ([], 3, ""))
    events = t.journal()
    t.equal(len(of_type(events, "call.started")), 1)
    refused = of_type(events, "call.finished")[1:]
    t.equal([e["cause"] for e in refused], ["refused"] * 2)
    t.contains(of_type(events, "run.finished")[0]["why"], "the model gave no answer")


@case("final_answer although no call may be made: taken; the calls beside it are not run")
def _(t):
    chat, r = run(t, [{"calls": [NOW]}, {"calls": [NOW, FINAL]}],
                  more="limits: {steps: 1}\nfinish: tool")
    t.equal((chat.refusals(), r.code, r.out), ([], 3, "forced\n"))
    events = t.journal()
    t.equal([e["is_error"] for e in of_type(events, "call.finished")], [False, True, False])
    end = of_type(events, "step.finished")[-1]
    t.equal((end["then"], end.get("error")), ("end", None))


@case("a refusal beside calls: they are not run")
def _(t):
    chat, r = run(t, [{"calls": [NOW], "refusal": "I will not."}, {"text": "late"}])
    t.equal((len(chat.requests()), r.code, r.out), (1, 7, ""))
    events = t.journal()
    t.equal(len(of_type(events, "call.started")), 0)
    t.equal([e["cause"] for e in of_type(events, "call.finished")], ["refused"])


@case("arguments nested too deeply for a record: an error result, and the run goes on")
def _(t):
    t.plugin("awkward")
    deep = '{"x":' + "[" * 511 + "]" * 511 + "}"
    for arguments in (deep, '{"x":[' + "{}," * 300000 + "{}]}"):
        _, r = run(t, [{"calls": [{"name": "echo", "arguments": arguments}]}, {"text": "late"}],
                   tools="{use: awkward}")
        t.equal((r.code, r.out), (0, "late\n"))
        t.equal([e["cause"] for e in of_type(t.journal(), "call.finished")], ["invalid"])


@case("a reply that is too long for a record is a failure, and the journal goes on")
def _(t):
    _, r = run(t, [{"text": "x" * (25 << 20), "stream": False}], model="stream: false")
    events = t.journal()
    t.equal((r.code, of_type(events, "run.finished")[0]["state"]), (1, "failed"))
    t.equal([e["class"] for e in of_type(events, "model.failed")], ["limit"])


# ---- what breaks and is tried again -----------------------------------------------------------------

def failing(t, faults, model="", classes=("retry",), shown=None):
    """Each of the faults is met once, then the answer comes; every request has the same messages."""
    chat, r = answers(t, [*faults, {"text": "late"}], "late", len(faults) + 1, model=model)
    failed = of_type(t.journal(), "model.failed")
    t.equal([event["class"] for event in failed], list(classes) * len(faults))
    if shown is not None:
        t.equal([bool(event.get("shown")) for event in failed], [shown] * len(faults))
    messages = [request["body"]["messages"] for request in chat.requests()]
    t.true(all(m == messages[0] for m in messages), "a retry changed the messages")
    return failed


BREAKS = {
    "a stream that ends early": {"text": "It is", "cut": {"after_events": 1, "how": "close"}},
    "a stream that ends early without framing": {
        "text": "It is", "framing": "close", "cut": {"after_events": 1, "how": "close"}},
    "a reset": {"text": "It is", "cut": {"after_events": 1, "how": "reset"}},
    "a cut inside an event": {"text": "It is", "cut": {"after_bytes": 300, "how": "close"}},
    "a call cut in half": {"calls": [{"name": "now", "arguments": '{"zone":"UTC"}'}], "chunk": 2,
                           "cut": {"after_events": 4, "how": "close"}},
    "an error inside the stream": {"text": "It is", "error_event": {
        "after_events": 1, "data": {"error": {"type": "overloaded_error", "message": "busy"}}}},
    "event: error": {"error_event": {
        "after_events": 0, "event": "error", "data": {"error": {"code": "tool_use_failed",
                                                                "message": "no call"}}}},
    "an `error:` field": {"error_event": {
        "after_events": 0, "field": "error", "data": {"code": 500, "message": "oops"}}},
    "a reply that is no JSON": {"body": "{]", "content_type": "application/json"},
    "an empty reply": {"body": ""},
    "no reply at all": {"cut": {"before_head": True, "how": "close"}},
}

for name, fault in BREAKS.items():
    def check(t, fault=fault):
        failing(t, [fault], shown="text" in fault or "calls" in fault)
    case("breaks: " + name)(check)


@case("breaks: silence in a stream, and before it")
def _(t):
    failing(t, [{"text": "It is", "cut": {"after_events": 1, "how": "silence"}},
                {"delay_ms": 1500}], model=TIMEOUTS)


@case("breaks: a slow stream is no silence")
def _(t):
    answers(t, [{"text": "It is late now.", "chunk": 2, "write": 200, "pause_ms": 60}],
            "It is late now.", 1, model=TIMEOUTS)


@case("breaks: statuses that pass, and when to come back")
def _(t):
    failed = failing(t, [
        {"status": 500, "retry_after": "soon", "body": "oops", "content_type": "text/plain"},
        {"status": 429, "retry_after": "0.02", "body": {"error": {"code": "rate_limit_exceeded"}}},
        {"status": 503, "headers": {"retry-after-ms": "30"}, "body": {"error": {"message": "x"}}},
        {"status": 429, "retry_after": "date+2", "body": {}},
    ])
    waits = [event["retry_ms"] for event in failed]
    t.true(250 <= waits[0] <= 500, waits)
    t.equal(waits[1:3], [20, 30])
    t.true(0 < waits[3] <= 2000, waits)


# ---- what does not pass ------------------------------------------------------------------------------

LASTING = {
    "a wrong key": ({"text": "x"}, ["--dialect", "key=k1"], 1, "auth"),
    "no money": ({"status": 429, "body": {"error": {"code": "insufficient_quota"}}}, [], 1, "quota"),
    "a bad request": ({"status": 400, "body": {"error": {"message": "no"}}}, [], 1, "invalid"),
    "a wrong address": ({"body": "<html></html>", "content_type": "text/html"}, [], 1,
                        "unavailable"),
    "a context that is too long": (
        {"status": 400, "body": {"error": {"message": "the request exceeds the available context "
                                           "size", "type": "exceed_context_size_error"}}}, [], 6,
        "overflow"),
}

for name, (fault, options, code, error_class) in LASTING.items():
    def check(t, fault=fault, options=options, code=code, error_class=error_class):
        chat, r = run(t, [fault, {"text": "late"}], *options)
        t.equal(len(chat.requests()), 1)
        t.equal((r.code, r.out), (code, ""))
        t.equal([event["class"] for event in of_type(t.journal(), "model.failed")], [error_class])
    case("lasts: " + name)(check)


@case("lasts: a refusal is not tried again")
def _(t):
    chat, r = run(t, [{"refusal": "I will not."}, {"text": "late"}])
    t.equal(len(chat.requests()), 1)
    t.equal(r.code, 7)


@case("a key goes into the header and nowhere else, whatever the server says of it")
def _(t):
    key = "sk-very-secret-value"
    chat, r = run(t, [{"calls": [NOW]}, {"status": 401, "body": {"error": {
        "message": f"Incorrect API key {key}"}}}], "--dialect", "key=" + key,
        model="api_key: '${secret:test}'", env={"GUDGEON_SECRET_TEST": key})
    t.equal((chat.refusals(), r.code), ([], 1))
    t.contains(r.err, "Incorrect API key")
    for text in (r.err, r.out, (t.runs()[-1] / "journal.jsonl").read_text()):
        t.true(key not in text, "the key is there")


main("wire")
