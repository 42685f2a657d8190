#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Tools in worker processes: a plugin that crashes costs one observation, and the run goes on."""
import http.server
import json
import os
import pathlib
import shutil
import signal
import threading
import time

from harness import BUILD, case, main, of_type

FIXTURES = ("--plugin-path", "plugins")


def agent(t, rules, tools):
    plugins = t.dir / "plugins"
    if not plugins.exists():
        plugins.mkdir()
        for name in ("hostile.so", "reach.so"):
            shutil.copy2(BUILD / "tests/abi" / name, plugins / name)
    t.write("agent.yaml", "agent: test\nmodel:\n  use: script\n"
            f"  rules: {json.dumps(rules)}\ntools:\n{tools}")


def call(tool, arguments=None):
    return {"tool": tool, "arguments": arguments or {}}


def run(t, *more, code=0):
    r = t.gudgeon("run", *FIXTURES, *more, "agent.yaml", "go")
    if r.code != code:
        raise AssertionError(repr(r))
    return r, t.journal()


def workers_of(pid):
    """The living workers whose parent is `pid`."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if int(stat[1]) == pid and b"--serve" in command and stat[0] != "Z":
                found.append(int(entry.name))
    return found


@case("a crash is one observation; the run goes on with a new worker")
def _(t):
    agent(t, [{"when": {"step": 1}, "calls": [call("leave_seven")]},
              {"when": {"step": 2}, "calls": [call("fine")]},
              {"say": "{{last}}"}], "  - use: hostile\n")
    r, events = run(t)
    crashed, answered = of_type(events, "call.finished")
    t.true(crashed["is_error"])
    t.contains(crashed["result"][0]["text"], "hostile: its worker exited with status 7")
    t.equal(answered["is_error"], False)
    t.contains(r.out, "fine")


@case("calls beside one that crashes")
def _(t):
    agent(t, [{"when": {"step": 1}, "calls": [call("leave_seven"), call("now")]},
              {"say": "done"}], "  - use: hostile\n  - use: clock\n")
    _, events = run(t)
    by_id = {e["id"]: e["is_error"] for e in of_type(events, "call.finished")}
    order = [e["id"] for e in of_type(events, "call.requested")]
    t.equal([by_id[name] for name in order], [True, False])


@case("a call that hangs ends in time and keeps what it said")
def _(t):
    agent(t, [{"when": {"step": 1}, "calls": [call("ignore_term")]}, {"say": "done"}],
          "  - use: hostile\n    limits: {time: 200ms}\n")
    begun = time.monotonic()
    _, events = run(t)
    t.true(time.monotonic() - begun < 15)
    [finished] = of_type(events, "call.finished")
    t.contains(finished["result"][0]["text"], "begun")
    t.equal(finished["cause"], "timeout")


@case("isolation: none runs the plugin in the host")
def _(t):
    agent(t, [{"when": {"step": 1}, "calls": [call("fine")]}, {"say": "{{last}}"}],
          "  - use: hostile\n    isolation: none\n")
    r, _ = run(t)
    t.contains(r.out, "fine")
    agent(t, [{"calls": [call("leave_seven")]}], "  - use: hostile\n    isolation: none\n")
    t.equal(t.gudgeon("run", *FIXTURES, "agent.yaml", "go").code, 7)
    agent(t, [{"say": "x"}], "  - use: hostile\n    isolation: some\n")
    t.contains(t.gudgeon("check", *FIXTURES, "agent.yaml").err, "isolation")


@case("a plugin is listed through a worker")
def _(t):
    agent(t, [], "  - use: hostile\n")
    r = t.gudgeon("plugins", *FIXTURES, "hostile")
    t.equal(r.code, 0)
    t.contains(r.out, "null_write")


class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        reply = b"key=" + self.headers["X-Key"].encode() + b" body=" + body
        self.send_response(200)
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)

    def log_message(self, *args):
        pass


@case("the host's HTTP, to granted hosts only, with secrets that the worker never sees")
def _(t):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    t.closing.append(server.shutdown)
    t.env["GUDGEON_SECRET_KEY"] = "s3cret-value"
    url = f"http://127.0.0.1:{server.server_port}/"
    rules = [{"when": {"step": 1}, "calls": [call("post", {"url": url})]}, {"say": "done"}]
    agent(t, rules, "  - use: reach\n    key: '{secret:key}'\n    grant: {network: [127.0.0.1]}\n")
    _, events = run(t)
    [finished] = of_type(events, "call.finished")
    t.equal(finished["is_error"], False)
    text = finished["result"][0]["text"]
    t.true(text.startswith("200 key=") and text.endswith(" body=one and two"), text)
    t.true("s3cret" not in json.dumps(events))
    agent(t, rules, "  - use: reach\n    key: '{secret:key}'\n")
    _, events = run(t)
    [finished] = of_type(events, "call.finished")
    t.contains(finished["result"][0]["text"], "127.0.0.1 is not granted")


@case("no worker outlives a host that is killed")
def _(t):
    agent(t, [{"calls": [call("ignore_term")]}], "  - use: hostile\n")
    process = t.start("run", *FIXTURES, "agent.yaml", "go")
    until = time.monotonic() + 30
    while not workers_of(process.pid) and time.monotonic() < until:
        time.sleep(0.01)
    workers = workers_of(process.pid)
    t.equal(len(workers), 1)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    while pathlib.Path(f"/proc/{workers[0]}").exists() and time.monotonic() < until:
        state = pathlib.Path(f"/proc/{workers[0]}/stat").read_text().rsplit(")", 1)[1].split()[0]
        if state == "Z":
            break
        time.sleep(0.01)
    t.true(time.monotonic() < until)


main("isolation")
