# SPDX-License-Identifier: MIT
"""A chat-completions server for tests: strict in what it takes, as faulty as told in what it gives.

    python3 tests/servers/chat_server.py [options] [SCENARIO]

Prints its port as the first line of its output and serves http://127.0.0.1:PORT/v1 until its
standard input ends or the deadline passes. Nothing but Python's standard library is needed.

    SCENARIO           a JSON file (- = none): what to answer, see below
    --record FILE      appends one JSON line for each request: n, path, headers, body, refused
                       (null, or [rule, message]), reply (its number in the scenario, or null)
    --dialect K=V      a switch of strict.DIALECT, V as JSON or text; may be repeated
    --lenient          checks nothing
    --deadline SECONDS ends the server after that time (120)
    --no-stdin         does not end with standard input
    --check            serves nothing: checks request bodies, one a line, from standard input;
                       prints "ok" or "RULE: message" for each; exit 1 when any was refused

What strict.py refuses is answered with 400 and {"error": {"message", "type":
"invalid_request_error", "code": RULE}} (authorization: 401). What it takes is answered by the
first reply of the scenario that fits and is not used up.

A scenario is a list of replies, or {"dialect": {...}, "replies": [...], "default": REPLY}. When the
replies are used up and there is no default, the answer is 400 with code "scenario_ended". A reply
is an object; everything in it is optional:

  when it fits
    when          {"last_role": ROLE, "contains": TEXT in the last message, "tools": true/false}
    times         how often it may be used (1; 0 = always)
    forget_prefix the next request may change earlier messages (a compaction follows)

  what it says
    text, reasoning, refusal    texts
    calls         [{"id", "name", "arguments": text or object}]; ids default to call_N_K
    finish        finish_reason; default tool_calls or stop; null = none is sent
    usage         {"prompt_tokens", "completion_tokens", ...}; default: made up; null = none
    model, id
    reasoning_field    "reasoning_content" (default) or "reasoning"
    reasoning_details  a list; in a stream, "details_pieces" gives it piece by piece instead

  how a stream is cut into pieces
    stream        true, false: whatever was asked for; default: as asked
    chunk         characters of a delta (8); arguments too
    split         "characters" (default), "surrogates" (an astral character in two escapes),
                  "bytes" (a character in two events, each no UTF-8)
    index         "yes", "omit", "zero", "one" (from 1)
    ids           "once", "repeat" (in every piece, with the name), "empty" (id and name "" in what
                  follows), "change" (another in every piece), "same" (one for all calls)
    one_delta     true: all calls whole in one delta
    role          "once", "every", "never"
    null_first    true: the first delta has content null
    usage_chunk   "end" (own chunk, choices [], default if asked for), "finish" (in the last chunk),
                  "null" (own chunk, choices null), "first" (also a first chunk with choices [])
    done          false: no [DONE]
    parts         true: content as parts, reasoning as a thinking part
    object_arguments   true: arguments as an object (plain and one_delta)

  how it goes over the wire
    status, headers, body (text or JSON: replaces all of the above), content_type
    retry_after   the header's value; "date+N" = an HTTP date N seconds from now
    framing       "chunked" (streams' default), "close", "length" (default otherwise)
    eol           "\\n" (default), "\\r\\n", "\\r"
    space         false: `data:x`;   bom  true;   comments  true: `: keep-alive` before each event
    blank_first   N: blank lines before a plain body
    write         bytes of one write;   pause_ms  after each write
    delay_ms      before the head;   head_delay_ms  between head and body
    keep_open     true: the socket stays open after the last byte until the client ends it

  how it breaks
    cut           {"after_events": N, "after_bytes": N or "before_head": true,
                   "how": "close", "reset" or "silence"}
    error_event   {"after_events": N, "data": JSON, "event": NAME, "field": "data" or "error"}
"""
import argparse
import http.server
import json
import os
import socket
import struct
import sys
import threading
import time
from email.utils import formatdate

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import strict  # noqa: E402

FOREVER_S = 600


# ---- replies as JSON -----------------------------------------------------------------------------

def pieces(text, size):
    return [text[at:at + size] for at in range(0, len(text), size)] or [""]


def arguments_text(call):
    arguments = call.get("arguments", "{}")
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def with_ids(calls, number):
    return [{"id": f"call_{number}_{at}", **call} for at, call in enumerate(calls)]


def usage_of(reply):
    if "usage" in reply:
        return reply["usage"]
    return {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18,
            "prompt_tokens_details": {"cached_tokens": 3},
            "completion_tokens_details": {"reasoning_tokens": 2}}


def finish_of(reply):
    return reply.get("finish", "tool_calls" if reply.get("calls") else "stop")


def wire_call(reply, call):
    arguments = arguments_text(call)
    if reply.get("object_arguments"):
        arguments = json.loads(arguments)
    return {"id": call["id"], "type": "function",
            "function": {"name": call["name"], "arguments": arguments}}


def plain_reply(reply, number):
    message = {"role": "assistant", "content": reply.get("text")}
    if reply.get("parts"):
        message["content"] = [{"type": "text", "text": reply.get("text", "")}]
    if "reasoning" in reply:
        message[reply.get("reasoning_field", "reasoning_content")] = reply["reasoning"]
    if "reasoning_details" in reply:
        message["reasoning_details"] = reply["reasoning_details"]
    if "refusal" in reply:
        message["refusal"] = reply["refusal"]
    if reply.get("calls"):
        message["tool_calls"] = [wire_call(reply, c) for c in with_ids(reply["calls"], number)]
    whole = {**envelope(reply, number), "object": "chat.completion",
             "choices": [{"index": 0, "message": message, "finish_reason": finish_of(reply)}]}
    if usage_of(reply) is not None:
        whole["usage"] = usage_of(reply)
    return whole


def envelope(reply, number):
    return {"id": reply.get("id", f"chatcmpl-{number}"), "created": 1800000000,
            "model": reply.get("model", "test-model")}


class Stream:
    """The chunks of one streamed reply."""

    def __init__(self, reply, number, usage_asked):
        self.reply = reply
        self.number = number
        self.size = reply.get("chunk", 8)
        self.usage_chunk = reply.get("usage_chunk", "end" if usage_asked else None)
        self.begun = False

    def chunk(self, delta, finish=None):
        role = self.reply.get("role", "once")
        if role == "every" or (role == "once" and not self.begun):
            delta = {"role": "assistant", **delta}
        self.begun = True
        return {**envelope(self.reply, self.number), "object": "chat.completion.chunk",
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    def content(self, text):
        if self.reply.get("parts"):
            return {"content": [{"type": "text", "text": text}]}
        return {"content": text}

    def thought(self, text):
        if self.reply.get("parts"):
            return {"content": [{"type": "thinking",
                                 "thinking": [{"type": "text", "text": text}]}]}
        return {self.reply.get("reasoning_field", "reasoning_content"): text}

    def texts(self):
        if self.reply.get("null_first"):
            yield self.chunk({"content": None})
        if "reasoning" in self.reply:
            for piece in pieces(self.reply["reasoning"], self.size):
                yield self.chunk(self.thought(piece))
        details = self.reply.get("reasoning_details")
        for piece in self.reply.get("details_pieces", [details] if details else []):
            yield self.chunk({"reasoning_details": piece})
        if self.reply.get("text"):
            for piece in pieces(self.reply["text"], self.size):
                yield self.chunk(self.content(piece))
        if self.reply.get("refusal"):
            for piece in pieces(self.reply["refusal"], self.size):
                yield self.chunk({"refusal": piece})

    def index(self, at):
        how = self.reply.get("index", "yes")
        return {} if how == "omit" else {"index": {"yes": at, "zero": 0, "one": at + 1}[how]}

    def call_pieces(self, at, call):
        ids = self.reply.get("ids", "once")
        identity = "same_id" if ids == "same" else call["id"]
        for n, piece in enumerate(["", *pieces(arguments_text(call), self.size)]):
            entry = {**self.index(at), "function": {"arguments": piece}}
            if n == 0 or ids == "repeat":
                entry.update(id=identity, type="function")
                entry["function"]["name"] = call["name"]
            elif ids == "empty":
                entry.update(id="")
                entry["function"]["name"] = ""
            elif ids == "change":
                entry.update(id=f"{identity}_{n}")
            yield entry

    def calls(self):
        calls = with_ids(self.reply.get("calls", []), self.number)
        if calls and self.reply.get("one_delta"):
            yield self.chunk({"tool_calls": [{**self.index(at), **wire_call(self.reply, call)}
                                             for at, call in enumerate(calls)]})
            return
        for at, call in enumerate(calls):
            for entry in self.call_pieces(at, call):
                yield self.chunk({"tool_calls": [entry]})

    def usage_only(self, choices):
        return {**envelope(self.reply, self.number), "object": "chat.completion.chunk",
                "choices": choices, "usage": usage_of(self.reply)}

    def chunks(self):
        if self.usage_chunk == "first":
            yield {**self.usage_only([]), "usage": None}
        yield from self.texts()
        yield from self.calls()
        if finish_of(self.reply) is not None:
            last = self.chunk({}, finish_of(self.reply))
            if self.usage_chunk == "finish":
                last["usage"] = usage_of(self.reply)
            yield last
        if self.usage_chunk in ("end", "first", "null") and usage_of(self.reply) is not None:
            yield self.usage_only(None if self.usage_chunk == "null" else [])


# ---- replies as bytes ----------------------------------------------------------------------------

ASTRAL = "\U00010000"


def split_chunks(chunks, how):
    """Cuts a text delta that holds an astral character in two, inside that character."""
    for chunk in chunks:
        delta = chunk["choices"][0]["delta"] if chunk.get("choices") else {}
        text = delta.get("content")
        at = next((n for n, c in enumerate(text) if c >= ASTRAL), -1) \
            if isinstance(text, str) else -1
        if how == "characters" or at < 0:
            yield json.dumps(chunk).encode()
            continue
        if how == "surrogates":
            value = ord(text[at]) - 0x10000
            halves = (text[:at] + chr(0xD800 + (value >> 10)),
                      chr(0xDC00 + (value & 0x3FF)) + text[at + 1:])
            for half in halves:
                delta["content"] = half
                yield json.dumps(chunk).encode()
        else:
            raw, marks = text.encode(), "\x01"
            cut = len(text[:at].encode()) + 2
            for half in (raw[:cut], raw[cut:]):
                delta["content"] = marks
                quoted = json.dumps(half.decode("latin-1"), ensure_ascii=False)[1:-1]
                yield json.dumps(chunk).encode().replace(b"\\u0001", quoted.encode("latin-1"))


def events(reply, number, usage_asked):
    """The events as byte strings, without their line ends' form applied."""
    data = list(split_chunks(Stream(reply, number, usage_asked).chunks(),
                             reply.get("split", "characters")))
    if reply.get("done", True):
        data.append(b"[DONE]")
    eol = reply.get("eol", "\n").encode()
    space = b" " if reply.get("space", True) else b""
    lines = [b"data:" + space + one + eol + eol for one in data]
    fault = reply.get("error_event")
    if fault is not None:
        line = fault.get("field", "data").encode() + b": " + json.dumps(fault["data"]).encode()
        if fault.get("event"):
            line = b"event: " + fault["event"].encode() + eol + line
        lines[fault.get("after_events", len(lines)):] = [line + eol + eol]
    if reply.get("comments"):
        lines = [b": keep-alive" + eol + eol + line for line in lines]
    if reply.get("bom"):
        lines[0] = b"\xef\xbb\xbf" + lines[0]
    return lines


class Broken(Exception):
    """The exchange ends here, as the scenario wants it."""


class Wire:
    """Writes a body as the scenario wants it."""

    def __init__(self, connection, reply, framing):
        self.connection = connection
        self.reply = reply
        self.framing = framing
        self.left = reply.get("cut", {}).get("after_bytes")

    def send(self, data):
        size = self.reply.get("write", len(data)) or 1
        for at in range(0, len(data), size):
            self.connection.sendall(data[at:at + size])
            time.sleep(self.reply.get("pause_ms", 0) / 1000)

    def body(self, data):
        if self.left is not None:
            data, self.left = data[:self.left], self.left - len(data)
        if data:
            self.send(b"%x\r\n%s\r\n" % (len(data), data) if self.framing == "chunked" else data)
        if self.left is not None and self.left < 0:
            self.break_off()

    def break_off(self):
        how = self.reply["cut"].get("how", "close")
        if how == "silence":
            self.wait_for_client()
        elif how == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                       struct.pack("ii", 1, 0))
        raise Broken

    def wait_for_client(self):
        self.connection.settimeout(FOREVER_S)
        try:
            while self.connection.recv(4096):
                pass
        except OSError:
            pass

    def end(self):
        if self.reply.get("keep_open"):
            self.wait_for_client()
            raise Broken
        if self.framing == "chunked":
            self.send(b"0\r\n\r\n")
        if self.framing == "close":
            raise Broken


# ---- the server ----------------------------------------------------------------------------------

def fits(reply, body):
    when, messages = reply.get("when", {}), body.get("messages") or [{}]
    last = messages[-1]
    return (when.get("last_role") in (None, last.get("role")) and
            when.get("contains", "") in json.dumps(last, ensure_ascii=False) and
            when.get("tools") in (None, "tools" in body))


class Chat:
    """What the server knows: the scenario, what it said, what it saw."""

    def __init__(self, scenario=None, dialect=None, lenient=False, record=None):
        scenario = [] if scenario is None else scenario
        if isinstance(scenario, list):
            scenario = {"replies": scenario}
        self.replies = scenario.get("replies", [])
        self.default = scenario.get("default")
        self.dialect = {**scenario.get("dialect", {}), **(dialect or {})}
        self.lenient = lenient
        self.record = open(record, "a", encoding="utf-8") if record else None
        self.memory = strict.Memory()
        self.used = [0] * len(self.replies)
        self.count = 0
        self.lock = threading.Lock()
        unknown = set(self.dialect) - set(strict.DIALECT)
        if unknown:
            raise ValueError(f"unknown dialect switches: {sorted(unknown)}")

    def choose(self, body):
        for at, reply in enumerate(self.replies):
            if self.used[at] < reply.get("times", 1) or reply.get("times") == 0:
                if fits(reply, body):
                    self.used[at] += 1
                    return at, reply
        return None, self.default

    def remember(self, reply):
        if "reasoning" in reply:
            self.memory.reasoning.add(reply["reasoning"])
        if "reasoning_details" in reply:
            self.memory.details.append(reply["reasoning_details"])
        if reply.get("forget_prefix"):
            self.memory.forget_prefix()

    def answer(self, path, headers, raw):
        """The reply and the request's number, and whether a stream and usage were asked for."""
        with self.lock:
            self.count += 1
            refused = None if self.lenient else \
                strict.check(raw, headers, self.dialect, self.memory)
            try:
                body = json.loads(raw)
            except ValueError:
                body = {}
            at, reply = (None, None) if refused else self.choose(body)
            if reply is not None:
                self.remember(reply)
            self.write({"n": self.count, "path": path, "headers": headers, "body": body,
                        "refused": refused, "reply": at})
            if refused:
                reply = refusal(401 if refused[0] == "authorization" else 400, *refused)
            elif reply is None:
                reply = refusal(400, "scenario_ended", "the scenario has no reply left")
            options = body.get("stream_options") or {}
            return reply, self.count, body.get("stream") is True, \
                options.get("include_usage") is True

    def write(self, record):
        if self.record:
            self.record.write(json.dumps(record) + "\n")
            self.record.flush()


def refusal(status, code, message):
    return {"status": status, "body": {"error": {
        "message": f"{code}: {message}", "type": "invalid_request_error", "param": None,
        "code": code}}}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path.endswith("/models"):
            reply = {"body": {"object": "list", "data": [{"id": "test-model", "object": "model"}]}}
        else:
            reply = {"status": 404, "body": {"error": {"message": "not found"}}}
        self.give(reply, 0, False, False)

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        if not self.path.split("?")[0].endswith("/chat/completions"):
            self.give({"status": 404, "body": {"error": {"message": "not found"}}}, 0, False, False)
            return
        self.give(*self.server.chat.answer(self.path, headers, raw))

    def give(self, reply, number, stream, usage_asked):
        try:
            self.send_reply(reply, number, reply.get("stream", stream), usage_asked)
        except (Broken, OSError):
            self.close_connection = True

    def send_reply(self, reply, number, stream, usage_asked):
        time.sleep(reply.get("delay_ms", 0) / 1000)
        if reply.get("cut", {}).get("before_head"):
            Wire(self.connection, reply, "close").break_off()
        if "body" in reply:
            stream = False
            body = reply["body"]
            parts = [body.encode() if isinstance(body, str) else json.dumps(body).encode()]
        elif stream:
            parts = events(reply, number, usage_asked)
        else:
            parts = [b"\n" * reply.get("blank_first", 0) +
                     json.dumps(plain_reply(reply, number)).encode()]
        framing = reply.get("framing", "chunked" if stream else "length")
        self.send_head(reply, stream, framing, sum(map(len, parts)))
        time.sleep(reply.get("head_delay_ms", 0) / 1000)
        wire = Wire(self.connection, reply, framing)
        cut_at = reply.get("cut", {}).get("after_events")
        for at, part in enumerate(parts):
            if at == cut_at:
                wire.break_off()
            wire.body(part)
        if cut_at is not None and cut_at >= len(parts):
            wire.break_off()
        wire.end()

    def send_head(self, reply, stream, framing, length):
        usual = "text/event-stream" if stream else "application/json"
        headers = {"Content-Type": reply.get("content_type", usual)}
        if framing == "chunked":
            headers["Transfer-Encoding"] = "chunked"
        elif framing == "length":
            headers["Content-Length"] = str(length)
        else:
            headers["Connection"] = "close"
        if "retry_after" in reply:
            value = str(reply["retry_after"])
            if value.startswith("date+"):
                value = formatdate(time.time() + float(value[5:]), usegmt=True)
            headers["Retry-After"] = value
        headers.update(reply.get("headers", {}))
        lines = [f"HTTP/1.1 {reply.get('status', 200)} Whatever"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self.connection.sendall(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, chat):
        super().__init__(("127.0.0.1", 0), Handler)
        self.chat = chat

    def handle_error(self, *_):
        pass

    def shutdown_request(self, request):
        """An orderly end first would take the edge off a reset."""
        if struct.unpack("ii", request.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, 8))[0]:
            self.close_request(request)
        else:
            super().shutdown_request(request)


def start(scenario=None, **options):
    """For tests in Python: a server on a thread; .server_port, .chat, .shutdown()."""
    server = Server(Chat(scenario, **options))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05},
                     daemon=True).start()
    return server


# ---- the program ---------------------------------------------------------------------------------

def switch(text):
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def check_lines(dialect):
    failed = False
    for line in sys.stdin.buffer:
        fault = strict.check(line.rstrip(b"\n"), None, dialect)
        print("ok" if fault is None else f"{fault[0]}: {fault[1]}")
        failed = failed or fault is not None
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenario", nargs="?", default="-")
    parser.add_argument("--record")
    parser.add_argument("--dialect", action="append", default=[], type=switch)
    parser.add_argument("--lenient", action="store_true")
    parser.add_argument("--deadline", type=float, default=120)
    parser.add_argument("--no-stdin", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        sys.exit(check_lines(dict(options.dialect)))
    scenario = None
    if options.scenario != "-":
        with open(options.scenario, encoding="utf-8") as file:
            scenario = json.load(file)
    server = start(scenario, dialect=dict(options.dialect), lenient=options.lenient,
                   record=options.record)
    print(server.server_port, flush=True)
    timer = threading.Timer(options.deadline, lambda: os._exit(3))
    timer.daemon = True
    timer.start()
    if options.no_stdin:
        threading.Event().wait()
    while sys.stdin.buffer.read(4096):
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
