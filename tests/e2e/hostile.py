# SPDX-License-Identifier: MIT
"""A server that says whatever bytes a test wants, and a terminal to see what a run prints on one.

    server = Raw(t, lambda peer, number: peer.reply(message(content="hi")))

The function answers request `number` (from 0) through `peer`; what it sends is the test's business.
A connection ends when the function says so by returning False, or when the program is gone.
"""
import json
import os
import pty
import re
import select
import shutil
import socket
import subprocess
import threading

from harness import BUILD, GUDGEON, Failure

# Each part is something that a terminal would act on, or that hides or turns around text.
ESCAPES = "\x1b]0;owned\x07\x1b[2J\u009b31m\u202eturned\u2066\u200f\u061c\u200b\x7f\r\b"


def message(finish="stop", **fields):
    return json.dumps({"id": "r", "model": "m", "choices": [
        {"index": 0, "message": {"role": "assistant", **fields}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1}})


def call(name, arguments, id="c1"):
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": id, "type": "function", "function": {"name": name, "arguments": text}}


def calls(*made):
    return message(finish="tool_calls", content=None, tool_calls=list(made))


def event(**delta):
    return ("data: " + json.dumps({"choices": [{"delta": delta}]}) + "\n\n").encode()


class Peer:
    """One connection of the program to the server."""

    def __init__(self, connection, head, body):
        self.connection, self.head, self.body = connection, head, body

    def send(self, data):
        self.connection.sendall(data if isinstance(data, bytes) else data.encode())

    def reply(self, body, status="200 OK", headers="", type="application/json"):
        body = body if isinstance(body, bytes) else body.encode()
        self.send(f"HTTP/1.1 {status}\r\nContent-Type: {type}\r\n{headers}"
                  f"Content-Length: {len(body)}\r\n\r\n".encode() + body)

    def stream(self, *parts):
        """A reply in events, which ends with the connection."""
        self.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                  "Connection: close\r\n\r\n")
        for part in parts:
            self.send(part)
        return False

    def flood(self, data):
        """Sends the same again and again, until nobody takes it any more."""
        while True:
            self.send(data)


class Raw:
    def __init__(self, t, answer, tls=None):
        self.answer, self.tls, self.requests = answer, tls, []
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        t.closing.append(self.close)
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        self.socket.close()

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        try:
            with connection:
                if self.tls:
                    connection = self.tls.wrap_socket(connection, server_side=True)
                rest = b""
                while True:
                    head, body, rest = read_request(connection, rest)
                    self.requests.append((head, body))
                    peer = Peer(connection, head, body)
                    if self.answer(peer, len(self.requests) - 1) is False:
                        return
        except (OSError, EOFError):
            pass # the program has had enough


def read_request(connection, data):
    def more():
        part = connection.recv(1 << 20)
        if not part:
            raise EOFError
        return part
    while b"\r\n\r\n" not in data:
        data += more()
    head, _, data = data.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)content-length: *(\d+)", head)
    while length and len(data) < int(length[1]):
        data += more()
    size = int(length[1]) if length else 0
    return head.decode("latin-1"), data[:size], data[size:]


def agent(t, port, model="", tools="[{use: clock}]", more="", scheme="http"):
    t.write("agent.yaml", f"""agent: test
model: {{use: openai, name: m, base_url: "{scheme}://127.0.0.1:{port}/v1"{model and ', ' + model}}}
tools: {tools}
{more}
""")


def unprivileged(t):
    """What starts a program of the sandbox as an ordinary user; for root, as nobody."""
    if os.geteuid() != 0:
        return {}
    nobody = 65534
    home = t.dir / "build"
    home.mkdir()
    for name in (".build-tree", "gudgeon", "gudgeon-worker", "lib", "plugins"):
        copy = shutil.copytree if (BUILD / name).is_dir() else shutil.copy
        copy(BUILD / name, home / name)
    t.dir.chmod(0o755)
    for name in ("home", "state", "cache"):
        (t.dir / name).mkdir(exist_ok=True)
        os.chown(t.dir / name, nobody, nobody)
    t.env["GUDGEON_CACHE_DIR"] = str(t.dir / "cache")
    return {"user": nobody, "group": nobody, "extra_groups": [], "program": home / "gudgeon"}


def on_terminal(t, *args, env=None, timeout=30):
    """The exit code, and what the program printed on a terminal of its own."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([str(GUDGEON), *map(str, args)], cwd=t.dir, stdin=theirs,
                               stdout=theirs, stderr=theirs,
                               env={**t.env, "TERM": "xterm", **(env or {})})
    os.close(theirs)
    printed = b""
    try:
        while select.select([ours], [], [], timeout)[0]:
            part = os.read(ours, 1 << 16)
            if not part:
                break
            printed += part
        else:
            process.kill()
            raise Failure(f"nothing more on the terminal for {timeout} s")
    except OSError:
        pass # its other end is closed
    finally:
        os.close(ours)
    return process.wait(timeout), printed.decode("utf-8", "replace")


def acted_on(text):
    """What a terminal would act on, beside our own colours, line ends and tabs."""
    text = re.sub(r"\x1b\[[0-9]*m", "", text)
    bad = re.findall("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u180e\u200b\u200e\u200f"
                     "\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]", text)
    return sorted({f"U+{ord(c):04X}" for c in bad})
