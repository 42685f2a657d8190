# SPDX-License-Identifier: MIT
"""What the end-to-end tests share: cases, a sandbox for each, the real binary, real servers.

    from harness import case, main

    @case("the answer goes to standard output")
    def _(t):
        t.write("agent.yaml", …)
        r = t.gudgeon("run", "agent.yaml", "task")
        t.equal(r.code, 0)

    main("run")

Each case gets a fresh directory with its own state directory. The build is $B (default: build).
When a case has passed, every journal in its state directory must be what
config/journal.schema.json says; a case that leaves a torn one on purpose sets t.torn = True.
"""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = (ROOT / os.environ.get("B", "build")).resolve()
GUDGEON = BUILD / "gudgeon"
JOURNAL_CHECK = BUILD / "tests/unit/event/test_journal_schema"
sys.path.insert(0, str(ROOT / "tests"))

cases = []


def case(name):
    def register(function):
        cases.append((name, function))
        return function
    return register


class Failure(Exception):
    pass


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class Sandbox:
    """One case's directory, and what can be done in it."""

    def __init__(self):
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix="gudgeon-e2e-"))
        self.closing = []
        self.torn = False
        self.env = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "HOME": str(self.dir / "home"),
            "LANG": "C.UTF-8",
            "GUDGEON_STATE_DIR": str(self.dir / "state"),
            "GUDGEON_CACHE_DIR": str(BUILD / "tests" / "cache"),
        }
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]
        (self.dir / "home").mkdir()

    def close(self):
        for close in reversed(self.closing):
            close()
        shutil.rmtree(self.dir, ignore_errors=True)

    def write(self, name, text):
        path = self.dir / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text)
        return path

    def plugin(self, name):
        """Puts a fixture of tests/abi where the program looks for plugins."""
        target = self.dir / "plugins" / f"{name}.so"
        target.parent.mkdir(exist_ok=True)
        shutil.copy(BUILD / "tests/abi" / f"{name}.so", target)
        self.env["GUDGEON_PLUGIN_PATH"] = str(target.parent)

    def start(self, *args, env=None, stdin=subprocess.DEVNULL, program=GUDGEON, **more):
        return subprocess.Popen([str(program), *map(str, args)], cwd=self.dir,
                                env={**self.env, **(env or {})}, stdin=stdin,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)

    def gudgeon(self, *args, env=None, input=None, timeout=60, **more):
        data = input.encode() if isinstance(input, str) else input
        process = self.start(*args, env=env, **more,
                             stdin=subprocess.PIPE if data is not None else subprocess.DEVNULL)
        try:
            out, err = process.communicate(data, timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            raise Failure(f"gudgeon {args} did not end in {timeout} s\n{err.decode()}")
        return Result(process.returncode, out.decode("utf-8", "replace"),
                      err.decode("utf-8", "replace"))

    def runs(self):
        runs = self.dir / "state" / "runs"
        return sorted(runs.iterdir()) if runs.exists() else []

    def journal(self, run=None):
        """The events of a run (of the newest one)."""
        directory = run or self.runs()[-1]
        text = (directory / "journal.jsonl").read_text()
        return [json.loads(line) for line in text.splitlines()]

    def wait_for(self, process, event, timeout=20):
        """Until the newest run has an event of that type; the run goes on in `process`."""
        deadline = time.monotonic() + timeout
        while process.poll() is None:
            path = self.runs()[-1] / "journal.jsonl" if self.runs() else None
            if path and path.exists() and of_type(self.journal(), event):
                return
            if time.monotonic() > deadline:
                raise Failure(f"no {event} within {timeout} s")
            time.sleep(0.005)
        raise Failure(f"the run ended without {event}: {process.communicate()}")

    def wait_for_thread(self, process, timeout=20):
        """Until the program has its thread for signals: from then on they do not end it."""
        deadline = time.monotonic() + timeout
        while len(os.listdir(f"/proc/{process.pid}/task")) < 2:
            if process.poll() is not None or time.monotonic() > deadline:
                raise Failure("the program has no second thread")
            time.sleep(0.005)

    def check_journals(self):
        if self.torn or not self.runs():
            return
        check = subprocess.run([JOURNAL_CHECK, *self.runs()], cwd=ROOT, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, timeout=60)
        if check.returncode != 0:
            raise Failure("a journal is not valid\n" + check.stdout.decode("utf-8", "replace"))

    # ---- checks
    def true(self, value, what="is false"):
        if not value:
            raise Failure(what)

    def equal(self, have, want):
        if have != want:
            raise Failure(f"have {have!r}\nwant {want!r}")

    def contains(self, text, part):
        if part not in text:
            raise Failure(f"no {part!r} in\n{text}")


def of_type(events, name):
    return [event for event in events if event["type"] == name]


def main(suite):
    failed = 0
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    for name, function in cases:
        if wanted not in name:
            continue
        t = Sandbox()
        try:
            function(t)
            t.check_journals()
            print(f"ok {suite}: {name}", flush=True)
        except Exception as fault:
            failed += 1
            print(f"not ok {suite}: {name}")
            text = str(fault) if isinstance(fault, Failure) else traceback.format_exc()
            for line in text.splitlines():
                print(f"#   {line}")
            sys.stdout.flush()
        finally:
            t.close()
    sys.exit(failed > 0)
