#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Start, CPU a step and peak memory of `gudgeon run`, beside a bare libcurl program that makes the
same exchanges with the same server in the same run. Prints a table; asserts nothing.

What a step costs is shown twice: with a journal that is left to the kernel, and with the default,
which puts each step on disk before the next begins (one fdatasync a step; most of its cost is the
kernel's and the disk's). The rounds of all programs are interleaved, so that a busy machine is
busy for all of them.

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
ROUNDS = 15


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


def definition(work, server, name, more=""):
    path = work / f"{name}.yaml"
    path.write_text(
        f"agent: bench\nmodel: {{use: openai, name: bench, base_url: '{server.url}'}}\n"
        f"tools: [{{use: clock}}]\nlimits: {{steps: 1000, repeats: 1000}}\n{more}")
    return [BUILD / "gudgeon", "run", "--quiet", path, "Go."]


def keep_bodies(work, server, steps, command, env):
    """The requests of a first run, as files for the floor; its caches are warm then, too."""
    measure(server, steps, command, env)
    paths = []
    for i, body in enumerate(server.bodies):
        paths.append(work / f"body-{steps}-{i}")
        paths[-1].write_bytes(body)
    return paths


def workers():
    """A tool call in the host and in a worker, and a worker's start."""
    figures = subprocess.run([BUILD / "tests/bench/call_cost", BUILD / "plugins/clock.so", "clock",
                              "now"], check=True, stdout=subprocess.PIPE, text=True).stdout
    inside, isolated, start = map(float, figures.split())
    print(f"{'':34} {'worker':>9} {'in host':>9}")
    print(f"{'tool call, warm':34} {isolated:9.2f} {inside:9.2f} us  (aim 30)")
    print(f"{'worker, from nothing to ready':34} {start:9.2f} {'':9} ms  (aim 5)")


def main():
    server = Server()
    counts = (1, STEPS + 1)
    results = {}
    with tempfile.TemporaryDirectory() as directory:
        work = pathlib.Path(directory)
        env = {"PATH": os.environ["PATH"], "HOME": directory, "GUDGEON_STATE_DIR": directory,
               "GUDGEON_CACHE_DIR": directory}
        commands = {}
        for steps in counts:
            commands["durable", steps] = definition(work, server, "durable")
            commands["quick", steps] = definition(work, server, "quick",
                                                  "journal: {sync: never}\n")
            bodies = keep_bodies(work, server, steps, commands["quick", steps], env)
            commands["floor", steps] = [BUILD / "tests/bench/floor",
                                        server.url + "/chat/completions", *bodies]
        for _ in range(ROUNDS):
            for (name, steps), command in commands.items():
                results.setdefault((name, steps), []).append(measure(server, steps, command, env))

    def median(name, steps, key):
        return statistics.median(r[key] for r in results[name, steps])

    def least(name, steps, key):
        return min(r[key] for r in results[name, steps])

    def per_step(name):
        return (median(name, counts[1], "cpu") - median(name, counts[0], "cpu")) / STEPS * 1000

    def row(name, unit, host_value, floor_value, aim):
        print(f"{name:34} {host_value:9.2f} {floor_value:9.2f} {unit:3} {aim}")

    def ratio(host_value, floor_value, aim):
        return f"ratio {host_value / max(floor_value, 1e-9):.2f}{aim}"

    print(f"{platform.machine()}, {os.cpu_count()} cores, kernel {platform.release()}, "
          f"{time.strftime('%Y-%m-%d')}, median of {ROUNDS} rounds, {STEPS} steps")
    print(f"{'':34} {'gudgeon':>9} {'floor':>9}")
    start, floor_start = median("durable", 1, "start"), median("floor", 1, "start")
    quick, durable, floor = per_step("quick"), per_step("durable"), per_step("floor")
    rss, floor_rss = median("durable", counts[1], "rss"), median("floor", counts[1], "rss")
    row("start to first request", "ms", start, floor_start, ratio(start, floor_start, " (aim 1.2)"))
    start, floor_start = least("durable", 1, "start"), least("floor", 1, "start")
    row("  the same, fastest rounds", "ms", start, floor_start, ratio(start, floor_start, ""))
    row("CPU a step, journal: sync: never", "us", quick, floor, ratio(quick, floor, " (aim 3)"))
    row("CPU a step, each step on disk", "us", durable, floor,
        ratio(durable, floor, f", {durable - quick:.0f} us for the disk"))
    row("peak RSS", "MiB", rss, floor_rss, f"+{rss - floor_rss:.1f} MiB (aim +4)")
    workers()


main()
