#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Start, CPU a step and peak memory of `gudgeon run`, beside a bare libcurl program that makes the
same exchanges with the same server in the same run. Prints a table; asserts nothing.

usage: tests/bench/bench.py [STEPS]      (the build is $B, default: build)
"""
import json
import os
import pathlib
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = (ROOT / os.environ.get("B", "build")).resolve()
STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 100
ROUNDS = 7


def event(delta, finish=None):
    chunk = {"id": "c", "object": "chat.completion.chunk", "model": "bench",
             "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return f"data: {json.dumps(chunk)}\n\n"


def tool_reply(number):
    call = {"index": 0, "id": f"call_{number}", "type": "function",
            "function": {"name": "now", "arguments": ""}}
    arguments = {"index": 0, "function": {"arguments": "{}"}}
    return (event({"role": "assistant", "content": None, "tool_calls": [call]}) +
            event({"tool_calls": [arguments]}) + event({}, "tool_calls") + "data: [DONE]\n\n")


FINAL = (event({"role": "assistant", "content": "All"}) + event({"content": " done."}) +
         event({}, "stop") + "data: [DONE]\n\n")


class Server:
    """Keep-alive HTTP/1.1 on loopback, one thread a connection, as little work as possible."""

    def __init__(self):
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/v1"
        self.reset(0)
        threading.Thread(target=self.accept, daemon=True).start()

    def reset(self, steps):
        self.steps, self.count, self.bodies, self.first = steps, 0, [], None

    def accept(self):
        while True:
            connection, _ = self.socket.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        data = b""
        while True:
            while b"\r\n\r\n" not in data:
                more = connection.recv(1 << 20)
                if not more:
                    return
                data += more
            if self.first is None:
                self.first = time.monotonic()
            head, _, data = data.partition(b"\r\n\r\n")
            length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n")
                          if line.lower().startswith(b"content-length:"))
            while len(data) < length:
                data += connection.recv(1 << 20)
            self.bodies.append(data[:length])
            data = data[length:]
            self.count += 1
            reply = (tool_reply(self.count) if self.count < self.steps else FINAL).encode()
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                               b"Content-Length: %d\r\n\r\n" % len(reply) + reply)


def measure(server, steps, command, env):
    server.reset(steps)
    process = subprocess.run([BUILD / "tests/bench/measure", *command], env=env, text=True,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    *said, figures = process.stderr.splitlines()
    started, cpu, rss, status = figures.split()
    if status != "0":
        sys.exit(f"{command[0]} failed: {said}")
    return {"start": (server.first - float(started)) * 1000, "cpu": float(cpu),
            "rss": int(rss) / 1024}


def series(server, steps, command, env):
    rounds = [measure(server, steps, command(), env) for _ in range(ROUNDS)]
    return {key: statistics.median(r[key] for r in rounds) for key in rounds[0]}


def main():
    server = Server()
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        (work / "agent.yaml").write_text(
            f"agent: bench\nmodel: {{use: openai, name: bench, base_url: '{server.url}'}}\n"
            f"tools: [{{use: clock}}]\nlimits: {{steps: 1000, repeats: 1000}}\n")
        env = {"PATH": os.environ["PATH"], "HOME": directory, "GUDGEON_STATE_DIR": directory,
               "GUDGEON_CACHE_DIR": directory}

        def host():
            return [BUILD / "gudgeon", "run", "--quiet", work / "agent.yaml", "Go."]

        def floor():
            return [BUILD / "tests/bench/floor", server.url + "/chat/completions", *bodies]

        def keep_bodies():
            paths = []
            for i, body in enumerate(server.bodies):
                (work / f"body{i}").write_bytes(body)
                paths.append(work / f"body{i}")
            return paths

        results = {}
        for steps in (1, STEPS + 1):
            host_result = series(server, steps, host, env)
            bodies = keep_bodies()
            results[steps] = (host_result, series(server, steps, floor, env))

    one, many = results[1], results[STEPS + 1]

    def row(name, unit, host_value, floor_value, aim):
        print(f"{name:34} {host_value:9.2f} {floor_value:9.2f} {unit:3} {aim}")

    per_step = [(many[i]["cpu"] - one[i]["cpu"]) / STEPS * 1000 for i in (0, 1)]
    print(f"{platform.machine()}, {os.cpu_count()} cores, kernel {platform.release()}, "
          f"{time.strftime('%Y-%m-%d')}, median of {ROUNDS} rounds, {STEPS} steps")
    print(f"{'':34} {'gudgeon':>9} {'floor':>9}")
    row("start to first request", "ms", one[0]["start"], one[1]["start"],
        f"ratio {one[0]['start'] / one[1]['start']:.2f} (aim 1.2)")
    row("CPU a step", "us", per_step[0], per_step[1],
        f"ratio {per_step[0] / max(per_step[1], 1e-9):.2f} (aim 3)")
    row("peak RSS", "MiB", many[0]["rss"], many[1]["rss"],
        f"+{many[0]['rss'] - many[1]['rss']:.1f} MiB (aim +4)")


main()
