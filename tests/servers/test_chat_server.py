#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The strict and faulty chat server against itself: what it refuses, what it sends.

    python3 tests/servers/test_chat_server.py
"""
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import chat_server  # noqa: E402
import strict  # noqa: E402

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


def user(text="u"):
    return {"role": "user", "content": text}


def call(name="f", identity="c1", arguments="{}"):
    return {"id": identity, "type": "function",
            "function": {"name": name, "arguments": arguments}}


def assistant(*calls, content=None, **more):
    message = {"role": "assistant", "content": content, **more}
    if calls:
        message["tool_calls"] = list(calls)
    return message


def result(identity="c1", content="ok"):
    return {"role": "tool", "tool_call_id": identity, "content": content}


def body(*messages, **fields):
    return {"model": "m", "messages": list(messages), "tools": [TOOL], **fields}


def without_tools(*messages, **fields):
    whole = body(*messages, **fields)
    del whole["tools"]
    return whole


def tools(*functions):
    return [{"type": "function", "function": function} for function in functions]


IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}

TAKEN = [
    (body({"role": "system", "content": "s"}, user()), {}),
    (body(user([IMAGE, {"type": "text", "text": "t"}])), {}),
    (body(user(), assistant(call(), call(identity="c2")), result("c2"), result("c1")), {}),
    (body(user(), assistant(call()), result(), user()), {}),
    (body(user(), assistant(call(), reasoning_content=""), result()), {"echo_reasoning": True}),
    (body(user(), tool_choice="none", max_tokens=5, stream=True,
          stream_options={"include_usage": True}), {}),
    (body(user(), assistant(call(name="g")), result()), {}),
    (body(user(), service_tier="flex"), {"extra": ["service_tier"]}),
]

# rule, body (or raw bytes), dialect
REFUSED = [
    ("strict_json", b'{"model":"m","messages":[{"role":"user","content":"\xff"}]}', {}),
    ("strict_json", b'{"model":"m","model":"m","messages":[]}', {}),
    ("strict_json", b'{"model":"m","temperature":NaN,"messages":[]}', {}),
    ("strict_json", b'{"model":"m",}', {}),
    ("sound_text", b'{"model":"m","messages":[{"role":"user","content":"\\ud83d"}]}', {}),
    ("sound_text", body(user("a\0b")), {}),
    ("known_fields", body(user(), service_tier="flex"), {}),
    ("known_fields", body(user(), stream_options={}), {}),
    ("known_fields", body(user(), stream=True, stream_options={}), {"stream_options": False}),
    ("known_fields", body(user(), max_tokens=1), {"max_tokens": ["max_completion_tokens"]}),
    ("field_types", body(user(), stream="yes"), {}),
    ("field_types", body(user(), max_tokens=0), {}),
    ("field_types", body(user(), temperature=True), {}),
    ("tools", without_tools(user(), tool_choice="none"), {}),
    ("tools", without_tools(user(), parallel_tool_calls=True), {}),
    ("tools", body(user(), tools=[]), {}),
    ("tools", body(user(), tools=tools({"name": "a.b"})), {}),
    ("tools", body(user(), tools=[TOOL, TOOL]), {}),
    ("tools", body(user(), tools=tools({"name": "f", "parameters": {"type": "array"}})), {}),
    ("tools", body(user(), tools=tools({"name": "f", "parameters": {
        "type": "object", "properties": {"o": {"$ref": "#/$defs/O"}}}})), {}),
    ("tool_choice", body(user(), tool_choice={"type": "function", "function": {"name": "g"}}), {}),
    ("tool_choice", body(user(), tool_choice="none"), {"choice_none": False}),
    ("response_format", body(user(), response_format={"type": "json_schema"}), {}),
    ("response_format", body(user(), response_format={"type": "json_schema", "json_schema": {
        "name": "a", "strict": True, "schema": {"type": "object"}}}), {}),
    ("message_shapes", body(), {}),
    ("message_shapes", body({"role": "robot", "content": "x"}), {}),
    ("message_shapes", body({**user(), "id": 1}), {}),
    ("contents", body(user("")), {}),
    ("contents", body(user([])), {}),
    ("contents", body(user([{"type": "text", "text": " \n"}])), {}),
    ("contents", body(user(), assistant(call()), result(content="")), {}),
    ("contents", body(user(), assistant(call()), result(content=None)), {}),
    ("contents", body(user(), assistant(call()), result(content=[IMAGE])), {}),
    ("contents", body(user([{**IMAGE, "image_url": {"url": "x"}}])), {}),
    ("assistant_contents", body(user(), assistant(content=""), user()), {}),
    ("assistant_contents", body(user(), assistant(), user()), {}),
    ("assistant_contents", body(user(), {**assistant(content="x"), "tool_calls": []}, user()), {}),
    ("assistant_contents", body(user(), assistant(call()), result()),
     {"refuse_null_content": True}),
    ("assistant_contents", body(user(), assistant(call(), content=""), result()), {}),
    ("calls", body(user(), assistant(call(), call()), result()), {}),
    ("calls", body(user(), assistant(call()), result(), assistant(call()), result()), {}),
    ("calls", body(user(), assistant(call(identity="call_abcdef123")), result("call_abcdef123")),
     {"id_pattern": "[A-Za-z0-9]{9}"}),
    ("calls", body(user(), assistant(call(name="a b")), result()), {}),
    ("calls", body(user(), assistant(call(name="g")), result()), {"names_listed": "all"}),
    ("calls", without_tools(user(), assistant(call()), result()), {}),
    ("calls", body(user(), assistant(call(arguments="")), result()), {}),
    ("calls", body(user(), assistant(call(arguments="[]")), result()), {}),
    ("calls", body(user(), assistant(call(arguments='{"a":NaN}')), result()), {}),
    ("pairs", body(user(), result()), {}),
    ("pairs", body(user(), assistant(call()), result("c9")), {}),
    ("pairs", body(user(), assistant(call()), result(), result()), {}),
    ("pairs", body(user(), assistant(call()), user()), {}),
    ("pairs", body(user(), assistant(call())), {}),
    ("order", body(user(), user()), {}),
    ("order", body(user(), {"role": "system", "content": "s"}), {}),
    ("order", body({"role": "system", "content": "s"}, {"role": "system", "content": "s"}), {}),
    ("order", body({"role": "developer", "content": "s"}, user()), {}),
    ("order", body(user(), assistant(content="a")), {}),
    ("order", body(user(), assistant(call()), result(), user()), {"user_after_tool": False}),
    ("reasoning", body(user(), assistant(call()), result()), {"echo_reasoning": True}),
    ("reasoning", body(user(), assistant(call(), reasoning_content="other"), result()), {}),
    ("reasoning", body(user(), assistant(call(), reasoning_details=[{"signature": "x"}]),
                       result()), {}),
]


def raw(value):
    return value if isinstance(value, bytes) else json.dumps(value).encode()


class Rules(unittest.TestCase):
    def test_taken(self):
        for whole, dialect in TAKEN:
            self.assertIsNone(strict.check(raw(whole), None, dialect, strict.Memory()))

    def test_refused(self):
        for name, whole, dialect in REFUSED:
            with self.subTest(rule=name, body=whole):
                fault = strict.check(raw(whole), None, dialect, strict.Memory())
                self.assertIsNotNone(fault)
                self.assertEqual(fault[0], name, fault)

    def test_every_rule_has_a_row(self):
        elsewhere = {"authorization", "content_type", "prefix"}
        self.assertEqual({r.__name__ for r in strict.RULES} - elsewhere,
                         {name for name, _, _ in REFUSED})

    def test_headers(self):
        good = {"content-type": "application/json; charset=utf-8", "authorization": "Bearer k"}
        whole = raw(body(user()))
        self.assertIsNone(strict.check(whole, good, {"key": "k"}))
        self.assertEqual(strict.check(whole, good, {"key": "other"})[0], "authorization")
        self.assertEqual(strict.check(whole, {}, {})[0], "content_type")

    def test_prefix(self):
        memory = strict.Memory()
        first = [user(), assistant(call()), result()]
        self.assertIsNone(strict.check(raw(body(user())), None, {}, memory))
        self.assertIsNone(strict.check(raw(body(*first)), None, {}, memory))
        self.assertIsNone(strict.check(raw(body(*first)), None, {}, memory))
        changed = [user(), assistant(call(arguments="{ }")), result(), assistant(content="a"),
                   user()]
        self.assertEqual(strict.check(raw(body(*changed)), None, {}, memory)[0], "prefix")
        self.assertIsNone(strict.check(raw(body(*changed)), None, {"prefix": False}, memory))
        self.assertIsNone(strict.check(raw(body(user("other task"))), None, {}, memory))
        memory.forget_prefix()
        self.assertIsNone(strict.check(raw(body(*changed)), None, {}, memory))


class Replies(unittest.TestCase):
    """Each opens a server, asks, and looks at the bytes."""

    def ask(self, reply, whole=None, stream=True, **options):
        server = chat_server.start([reply], **options)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=5)
        self.addCleanup(connection.close)
        whole = whole or body(user(), stream=stream, **(
            {"stream_options": {"include_usage": True}} if stream else {}))
        connection.request("POST", "/v1/chat/completions", raw(whole),
                           {"content-type": "application/json"})
        answer = connection.getresponse()
        self.answer = answer
        return answer.read()

    def chunks(self, reply, **options):
        data = self.ask(reply, **options).decode()
        self.assertTrue(data.endswith("data: [DONE]\n\n"))
        return [json.loads(event[6:]) for event in data.split("\n\n")[:-2]]

    def deltas(self, reply):
        return [chunk["choices"][0]["delta"] for chunk in self.chunks(reply) if chunk["choices"]]

    def test_plain(self):
        whole = json.loads(self.ask({"text": "hi", "calls": [{"name": "f", "arguments": {"a": 1}}]},
                                    stream=False))
        message = whole["choices"][0]["message"]
        self.assertEqual(message["content"], "hi")
        self.assertEqual(message["tool_calls"][0], call(identity="call_1_0", arguments='{"a": 1}'))
        self.assertEqual(whole["choices"][0]["finish_reason"], "tool_calls")
        self.assertEqual(whole["usage"]["prompt_tokens"], 11)

    def test_stream(self):
        chunks = self.chunks({"text": "hello world", "chunk": 4, "reasoning": "hm"})
        texts = [c["choices"][0]["delta"].get("content", "") for c in chunks if c["choices"]]
        self.assertEqual("".join(texts), "hello world")
        self.assertEqual(chunks[0]["choices"][0]["delta"],
                         {"role": "assistant", "reasoning_content": "hm"})
        self.assertEqual(chunks[-1]["choices"], [])
        self.assertEqual(chunks[-1]["usage"]["completion_tokens"], 7)

    def test_call_shapes(self):
        calls = [{"name": "f", "arguments": "{}"}, {"name": "f", "arguments": '{"a":1}'}]

        def entries(**how):
            return [d["tool_calls"] for d in self.deltas({"calls": calls, **how})
                    if "tool_calls" in d]
        self.assertEqual([e[0]["index"] for e in entries()], [0, 0, 1, 1])
        self.assertEqual([e[0]["index"] for e in entries(index="zero")], [0, 0, 0, 0])
        self.assertNotIn("index", entries(index="omit")[0][0])
        self.assertEqual(entries(ids="empty")[1][0]["id"], "")
        self.assertEqual(entries(ids="repeat")[1][0]["function"],
                         {"arguments": "{}", "name": "f"})
        self.assertEqual({e[0]["id"] for e in entries(ids="repeat")}, {"call_1_0", "call_1_1"})
        self.assertEqual(len(entries(one_delta=True)[0]), 2)

    def test_split_characters(self):
        data = self.ask({"text": "a\U0001f600b", "split": "surrogates"})
        self.assertIn(b'"a\\ud83d"', data)
        self.assertIn(b'"\\ude00b"', data)
        data = self.ask({"text": "a\U0001f600b", "split": "bytes"})
        self.assertIn(b'"a\xf0\x9f"', data)
        self.assertIn(b'"\x98\x80b"', data)

    def test_framing(self):
        data = self.ask({"text": "a", "eol": "\r\n", "space": False, "bom": True, "comments": True,
                         "write": 1})
        self.assertTrue(data.startswith(b"\xef\xbb\xbf: keep-alive\r\n\r\ndata:{"))
        self.assertTrue(data.endswith(b"data:[DONE]\r\n\r\n"))
        self.assertFalse(self.ask({"text": "a", "done": False}).endswith(b"[DONE]\n\n"))
        self.ask({"text": "a", "content_type": "text/plain", "framing": "close"})
        self.assertEqual(self.answer.headers["content-type"], "text/plain")

    def test_errors(self):
        data = self.ask({"status": 429, "retry_after": "date+30", "body": {"error": {}}})
        self.assertEqual((self.answer.status, data), (429, b'{"error": {}}'))
        self.assertIn("GMT", self.answer.headers["retry-after"])
        data = self.ask({"text": "ab", "chunk": 1, "done": False, "error_event": {
            "after_events": 1, "event": "error", "data": {"error": {"message": "x"}}}})
        self.assertIn(b'event: error\ndata: {"error": {"message": "x"}}\n\n', data)

    def test_cuts(self):
        with self.assertRaises(http.client.IncompleteRead):
            self.ask({"text": "ab", "chunk": 1, "cut": {"after_events": 1}})
        with self.assertRaises(ConnectionResetError):
            self.ask({"text": "ab", "cut": {"after_bytes": 0, "how": "reset"}})
        with self.assertRaises(http.client.RemoteDisconnected):
            self.ask({"text": "ab", "cut": {"before_head": True}})
        data = self.ask({"text": "ab", "framing": "close", "cut": {"after_bytes": 9}})
        self.assertEqual(len(data), 9)

    def test_refused(self):
        data = self.ask({"text": "a"}, whole=body(user(), user()))
        self.assertEqual(self.answer.status, 400)
        self.assertEqual(json.loads(data)["error"]["code"], "order")
        data = self.ask({"text": "a", "when": {"last_role": "tool"}})
        self.assertEqual(json.loads(data)["error"]["code"], "scenario_ended")
        self.ask({"text": "a"}, whole=body(user(), user()), lenient=True)
        self.assertEqual(self.answer.status, 200)

    def test_models(self):
        server = chat_server.start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=5)
        self.addCleanup(connection.close)
        connection.request("GET", "/v1/models")
        self.assertEqual(json.loads(connection.getresponse().read())["object"], "list")


class Program(unittest.TestCase):
    PATH = chat_server.__file__

    def run_it(self, *arguments):
        return subprocess.Popen([sys.executable, "-B", self.PATH, *arguments],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def test_ends_with_its_input(self):
        with self.run_it() as program:
            port = int(program.stdout.readline())
            socket.create_connection(("127.0.0.1", port), timeout=5).close()
            program.stdin.close()
            self.assertEqual(program.wait(10), 0)

    def test_ends_at_its_deadline(self):
        with self.run_it("--deadline", "0.1") as program:
            self.assertEqual(program.wait(10), 3)

    def test_records(self):
        with tempfile.TemporaryDirectory() as directory:
            scenario, record = directory + "/s.json", directory + "/r.jsonl"
            with open(scenario, "w", encoding="utf-8") as file:
                json.dump([{"text": "a"}], file)
            with self.run_it(scenario, "--record", record) as program:
                connection = http.client.HTTPConnection(
                    "127.0.0.1", int(program.stdout.readline()), timeout=5)
                for _ in range(2):
                    connection.request("POST", "/v1/chat/completions", raw(body(user())),
                                       {"content-type": "application/json"})
                    connection.getresponse().read()
                connection.close()
                program.stdin.close()
            with open(record, encoding="utf-8") as file:
                lines = [json.loads(line) for line in file]
        self.assertEqual([line["reply"] for line in lines], [0, None])
        self.assertEqual(lines[0]["body"], body(user()))

    def test_checks(self):
        with self.run_it("--check") as program:
            out, _ = program.communicate(raw(body(user())) + b"\n" + raw(body(user(), user())))
            self.assertEqual(out.decode(), "ok\norder: two user messages in a row\n")
            self.assertEqual(program.returncode, 1)


class Lines(unittest.TestResult):
    """One line a test, as tests/run counts them."""

    def addSuccess(self, test):
        print(f"ok chat server: {test.id().partition('.')[2]}", flush=True)

    def addFailure(self, test, error):
        super().addFailure(test, error)
        self.say(test, error)

    def addError(self, test, error):
        super().addError(test, error)
        self.say(test, error)

    def addSubTest(self, test, subtest, error):
        super().addSubTest(test, subtest, error)
        if error is not None:
            self.say(subtest, error)

    def say(self, test, error):
        print(f"not ok chat server: {test.id()}")
        for line in self._exc_info_to_string(error, test).splitlines():
            print(f"#   {line}")


if __name__ == "__main__":
    outcome = Lines()
    unittest.defaultTestLoader.loadTestsFromModule(sys.modules["__main__"]).run(outcome)
    sys.exit(not outcome.wasSuccessful())
