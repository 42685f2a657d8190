#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Hostile models, servers, tools, files, definitions and journals: nothing of it crashes, hangs,
grows without a bound, leaks a secret, or reaches a terminal as more than text."""
import json
import os

from harness import BUILD, case, main, of_type
from hostile import (ESCAPES, Raw, acted_on, agent, call, calls, event, message, on_terminal,
                     unprivileged)

SANITISED = "-fsanitize" in (BUILD / "flags").read_text()

SCRIPTED = "agent: x\nmodel: {use: script, rules: [{say: hi}]}\n"


# ---- what is printed on a terminal -----------------------------------------------------------------

def answer(peer, number):
    peer.reply(message(content=f"a{ESCAPES}z"))


def streamed(peer, number):
    return peer.stream(event(content=f"a{ESCAPES}"), event(content="\x1b"), event(content="[31mz"),
                       "data: [DONE]\n\n")


def called(peer, number):
    if number == 0:
        peer.reply(calls(call(f"a{ESCAPES}z", {ESCAPES: ESCAPES}, ESCAPES)))
    else:
        peer.reply(message(content="z"))


def given(peer, number):
    peer.reply(calls(call("final_answer", {"answer": f"a{ESCAPES}z"})))


def refused(peer, number):
    peer.reply(json.dumps({"error": {"message": f"a{ESCAPES}z", "code": ESCAPES}}),
               status="400 Bad")


TERMINAL = {
    "an answer": (answer, [], ""),
    "an answer in a stream": (streamed, [], ""),
    "an answer alone": (answer, ["--quiet"], ""),
    "an answer given by a call": (given, [], "finish: tool"),
    "names, ids and arguments of calls": (called, [], ""),
    "a server's error": (refused, [], ""),
    "a server's error alone": (refused, ["--quiet"], ""),
}

for name, (say, options, more) in TERMINAL.items():
    def check(t, say=say, options=options, more=more):
        server = Raw(t, say)
        agent(t, server.port, more=more)
        code, printed = on_terminal(t, "run", *options, "agent.yaml", "go")
        t.equal(acted_on(printed), [])
        t.contains(printed, "z")
        code, printed = on_terminal(t, "log", "last", "--full")
        t.equal(acted_on(printed), [])
    case("on a terminal: " + name)(check)


@case("on a terminal: the name of a model")
def _(t):
    server = Raw(t, answer)
    t.write("agent.yaml", f'agent: x\nmodel: {{use: openai, name: {json.dumps(ESCAPES)}, '
                          f'base_url: "http://127.0.0.1:{server.port}"}}\n')
    code, printed = on_terminal(t, "run", "agent.yaml", "go")
    t.equal((code, acted_on(printed)), (0, []))


@case("an answer that goes to a file is not changed")
def _(t):
    server = Raw(t, answer)
    agent(t, server.port)
    t.equal(t.gudgeon("run", "agent.yaml", "go").out, f"a{ESCAPES}z\n")


EVIL = json.dumps(ESCAPES)
DEFINITIONS = {
    "a key": f"{EVIL}: 1",
    "a bare key": "\u202e\u200b\u2066abc: 1",
    "a value": f"finish: {EVIL}",
    "a component": f"tools: [{{use: {EVIL}}}]",
    "a key of a component": f"tools: [{{use: clock, {EVIL}: 1}}]",
    "a value of a component": f"tools: [{{use: clock, zone: {EVIL}}}]",
    "a file": f"instructions: {json.dumps('${file:/' + ESCAPES + '}')}",
    "a variable": f"instructions: {json.dumps('${env:' + ESCAPES + '}')}",
}


@case("on a terminal: faults of a definition")
def _(t):
    for name, line in DEFINITIONS.items():
        t.write("agent.yaml", SCRIPTED + line + "\n")
        code, printed = on_terminal(t, "check", "agent.yaml")
        t.equal((name, code, acted_on(printed)), (name, 2, []))


@case("on a terminal: names of plugin files")
def _(t):
    for name in (f"a{ESCAPES}.so", "\u202e.so", "b\x1b[2J.so"):
        t.write(f"more/{name}", "no plugin")
    code, printed = on_terminal(t, "plugins", "--plugin-path", "more")
    t.equal((code, acted_on(printed)), (0, []))
    t.contains(printed, "is no plugin's file name")


# ---- secrets ---------------------------------------------------------------------------------------

KEY = 'sk-S3cret/key"q\\0123456789abcdefXYZ'
QUOTED = json.dumps(KEY)[1:-1]
# The longest beginning of the key that may be found anywhere: what any key of that sort begins with.
SHOWN = 8


def fault(text, code=None):
    return lambda peer, number: peer.reply(json.dumps({"error": {"message": text, "code": code}}),
                                           status="401 No")


def echoed(peer, number):
    fault(f"your request was {peer.head} {peer.body.decode()}")(peer, number)


def in_every_field(peer, number):
    if number > 0:
        return peer.reply(message(content="done"))
    peer.reply(json.dumps({"id": KEY, "model": KEY, "choices": [{
        "message": {"role": "assistant", "content": KEY, "reasoning": KEY, "reasoning_details": [
            {"type": "x", "text": KEY, "index": 0}], "tool_calls": [
            {"id": KEY, "function": {"name": KEY, "arguments": json.dumps({KEY: KEY})}}]},
        "finish_reason": KEY}]}))


SECRETS = {
    "a server repeats the request": echoed,
    "an error is cut within the key": fault("x" * (600 - len(KEY) + 3) + KEY + " and more"),
    "an error is cut before the key's last byte": fault("x" * (600 - len(KEY) + 1) + KEY + "more"),
    "the code of an error": fault("x", code=KEY),
    "an error that is no JSON": lambda peer, number: peer.reply(f"oops {KEY}", status="400 No"),
    "every field of a reply": in_every_field,
    "an answer": lambda peer, number: peer.reply(message(content=f"it is {KEY}")),
    "an answer in pieces": lambda peer, number: peer.stream(
        *[event(content=KEY[i:i + 5]) for i in range(0, len(KEY), 5)], "data: [DONE]\n\n"),
}


def leaks(t, *texts):
    """Where more of the key is found than may be."""
    places = [(path.name, path.read_bytes()) for path in t.dir.rglob("*")
              if path.is_file() and "build" not in path.parts]
    places += [("output", text.encode()) for text in texts]
    found = []
    for form in (KEY, QUOTED, json.dumps(QUOTED)[1:-1]):
        found += [name for name, text in places if form[:SHOWN + 1].encode() in text]
    return sorted(set(found))


for name, say in SECRETS.items():
    def check(t, say=say):
        server = Raw(t, say)
        t.env["GUDGEON_SECRET_KEY1"] = KEY
        agent(t, server.port, model='api_key: "${secret:key1}"',
              more="sinks: [{use: jsonl, path: ./events.jsonl}]")
        r = t.gudgeon("run", "--json", "agent.yaml", "go")
        t.contains(server.requests[0][0], f"Bearer {KEY}")
        t.equal(leaks(t, r.out, r.err), [])
        code, printed = on_terminal(t, "run", "agent.yaml", "go")
        t.equal(leaks(t, printed), [])
    case("no secret is left: " + name)(check)


REFUSED = {
    "a key": "api_key: sk-literal-key",
    "a key in a header": "headers: {Authorization: Bearer sk-literal-key}",
    "a key in a header of another name": "headers: {x-api-key: sk-literal-key}",
    "a password in a URL": 'base_url: "https://me:sk-literal-key@localhost/v1"',
}


@case("no secret stands in a definition, where the journal would have it")
def _(t):
    for name, line in REFUSED.items():
        for text in (line, line.replace("sk-literal-key", "${env:LITERAL}")):
            t.write("agent.yaml", f"agent: x\nmodel: {{use: openai, name: m, {text}}}\n")
            r = t.gudgeon("run", "agent.yaml", "go", env={"LITERAL": "sk-literal-key"})
            t.equal((name, r.code), (name, 2))
    t.equal(t.runs(), [])


@case("a program that a tool starts gets three descriptors and none of our environment")
def _(t):
    command = ("ls /proc/self/fd; env; cat /proc/$PPID/environ /proc/$PPID/maps; "
               "grep -c . /proc/$PPID/stat")
    server = Raw(t, lambda peer, number: peer.reply(
        calls(call("shell", {"command": command})) if number == 0 else message(content="done")))
    agent(t, server.port, tools="[{use: shell, grant: {exec: true}}]")
    t.env.update(OPENAI_API_KEY="sk-from-the-environment", AWS_SECRET="x", LC_TIME="C")
    how = unprivileged(t)
    r = t.gudgeon("run", "agent.yaml", "go", **how)
    t.equal((r.code, r.out) if r.code == 0 else r, (0, "done\n"))
    lines = of_type(t.journal(), "call.finished")[0]["result"][0]["text"].splitlines()
    t.equal(lines[:4], ["0", "1", "2", "3"]) # 3 is ls's own, of the directory
    names = sorted({line.split("=")[0] for line in lines if "=" in line and "/lib" not in line})
    t.equal([name for name in names if not name.startswith("LC_")],
            ["HOME", "LANG", "PATH", "PWD", "TMPDIR"])
    if not SANITISED: # the leak checker has to look into the process
        t.equal(sum("Permission denied" in line for line in lines), 2)


# ---- journals that somebody else wrote --------------------------------------------------------------

RUN = "01a22e98-129c-7e58-949f-875afe4ec7a1"
BIG = 2 ** 63 - 1


def record(seq, type, run=RUN, **fields):
    return json.dumps({"v": 1, "run": run, "seq": seq, "time": "2026-11-30T22:34:07.903Z",
                       "at_ms": seq, "type": type, **fields})


def journal(*records):
    return ("\n".join(records) + "\n").encode()


E = ESCAPES
USAGE = {"input": BIG, "output": BIG}
JOURNALS = {
    "escapes in every field": journal(
        record(1, "run.started", definition={"agent": E}, task=E, time=E),
        record(2, "step.started", kind=E, step=1), record(3, "model.requested", model=E),
        record(4, "model.replied", blocks=[{"type": "text", "text": E}]),
        record(5, "call.requested", id=E, tool=E, input={E: E}),
        record(6, "call.requested", id=E + "2", tool=E, input={E: E}),
        record(7, "call.finished", id=E, result=[{"type": "text", "text": E}]),
        record(8, "model.failed", message=E, then=E),
        record(9, "message.added", why=E, blocks=[{"type": "text", "text": E}]),
        record(10, "run.finished", state=E, why=E)),
    "escapes in the run's id": journal(
        record(1, "run.started", run=E, definition={}, task=""),
        record(2, "run.finished", run=E, state="success")),
    "numbers at the end of their range": journal(
        record(1, "run.started", definition={}, task=""),
        record(2, "step.started", step=BIG, number=BIG), record(3, "model.replied", usage=USAGE),
        record(4, "model.replied", usage=USAGE), record(BIG, "x", at_ms=BIG),
        record(5, "run.finished", state="failed", steps=-BIG - 1, duration_ms=-BIG - 1,
               usage=USAGE)),
    "fields of other types": journal(
        record(1, "run.started", definition=[1], task={"a": 1}, inputs=3),
        record(2, "model.replied", blocks={"a": 1}, usage=[1]),
        record(3, "model.replied", blocks=[1, None, "x", {"type": 1}, {"type": "text", "text": 5}]),
        record(4, "call.requested", id=5, tool=None, input="x"),
        record(5, "call.finished", id=[], result="x", duration_ms="x"),
        record(6, "run.finished", state=1, why=None, steps=1e300, usage={"input": 1e300})),
    "noise": bytes(range(256)) * 10000,
    "a line of 40 MB": b'{"v":1,"run":"' + RUN.encode() + b'","x":"' + b"a" * (40 << 20) + b'"}\n',
    "40 MB without a line end": b"a" * (40 << 20),
    "a million brackets": b"[" * 1000000 + b"\n",
    "NULs": b"\0" * 1000000,
    "a million beginnings": b'{"v":1,"run":"' * 1000000 + b"\n",
}

COMMANDS = (["log", "last"], ["log", "last", "--full"], ["runs"])

for name, text in JOURNALS.items():
    def check(t, text=text):
        t.torn = True
        t.write(f"state/runs/{RUN}/journal.jsonl", text)
        for command in COMMANDS:
            code, printed = on_terminal(t, *command)
            t.equal((command, code, acted_on(printed)), (command, 0, []))
        t.equal(t.gudgeon("log", "last", "--json").code, 0)
        t.equal(json.loads(t.gudgeon("runs", "--json").out)["run"], RUN)
    case("journal: " + name)(check)


PLANTED = {
    "a pipe": lambda path: os.mkfifo(path),
    "a link to a device": lambda path: os.symlink("/dev/zero", path),
    "a link to another file": lambda path: os.symlink("/etc/passwd", path),
    "a link to itself": lambda path: os.symlink(path.name, path),
    "a directory": lambda path: os.mkdir(path),
}

for name, plant in PLANTED.items():
    def check(t, plant=plant):
        t.torn = True
        for file, code in (("journal.jsonl", 1), ("lock", 0)):
            directory = t.dir / f"state/runs/{RUN[:-1]}{code}"
            directory.mkdir(parents=True)
            if file == "lock":
                (directory / "journal.jsonl").write_bytes(JOURNALS["fields of other types"])
            plant(directory / file)
            r = t.gudgeon("log", directory.name, timeout=10)
            t.equal((r.code, "root:" in r.out + r.err), (code, False))
        t.equal(t.gudgeon("runs", timeout=10).code, 0)
    case("in place of a run's files: " + name)(check)


@case("no name of a run leads out of the runs")
def _(t):
    t.torn = True
    t.write(f"state/runs/{RUN}/journal.jsonl", journal(record(1, "run.started")))
    t.write("state/other/journal.jsonl", journal(record(1, "run.started", task="SECRET")))
    os.symlink("../other", t.dir / "state/runs/01a22e99")
    for name in ("../other", "..", ".", "", "/etc", f"{RUN}/", f"../runs/{RUN}", "%s%n", "01a22e99",
                 "*"):
        r = t.gudgeon("log", name)
        t.equal((name, r.code, "SECRET" in r.out), (name, 2, False))
    t.equal(len(t.gudgeon("runs").out.splitlines()), 2)


main("hostile")
