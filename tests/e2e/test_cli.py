#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The command line: usage, faults of definitions, output, exit codes."""
import fcntl
import os
import struct
import subprocess
import termios

from harness import GUDGEON, case, main, of_type

AGENT = """\
agent: test
model:
  use: script
  rules:
    - when: {contains: "hello"}
      say: "Hello yourself."
    - say: "I have no rule for that."
"""


@case("no command prints the overview and is a usage error")
def _(t):
    r = t.gudgeon()
    t.equal(r.code, 2)
    t.contains(r.out, "gudgeon run")


@case("the help prints every final state with its exit code")
def _(t):
    r = t.gudgeon("help")
    t.equal(r.code, 0)
    for word in ("success", "failed", "max_steps", "budget", "stuck", "context_full", "refused",
                 "interrupted"):
        t.contains(r.out, word)


USAGE = [
    (["rnu"], 'no command "rnu"; did you mean "run"?'),
    (["run"], "usage: gudgeon run AGENT"),
    (["run", "agent.yaml"], "no task"),
    (["run", "agent.yaml", ""], "the task is empty"),
    (["run", "-", "-"], "cannot both come from standard input"),
    (["run", "-xj", "agent.yaml", "x"], "no option -x"),
    (["run", "--jsno", "agent.yaml", "x"], "no option --jsno; did you mean --json"),
    (["run", "--set"], "needs a value"),
    (["run", "agent.yaml", "x", "--input", "folder=1"], 'no input "folder"'),
    (["run", "agent.yaml", "x", "--max-steps", "0"], "limits.steps"),
    (["run", "missing.yaml", "x"], "missing.yaml"),
    (["log", "nothing"], "no runs"),
    (["plugins", "opnai"], 'did you mean "openai"?'),
    (["plugins", "nothing"], 'no plugin "nothing"; gudgeon plugins lists them'),
    (["help", "rnu"], 'no command "rnu"; did you mean "run"?'),
    (["help", "nothing"], 'no command "nothing"; gudgeon help lists them'),
]


@case("wrong command lines: one line that says what to do, exit code 2")
def _(t):
    t.write("agent.yaml", AGENT)
    for args, message in USAGE:
        r = t.gudgeon(*args)
        t.equal((args, r.code), (args, 2))
        t.contains(r.err, message)
        t.equal((args, len(r.err.splitlines())), (args, 1))
    t.equal(t.runs(), [])


@case("an agent answers; the answer alone is on standard output")
def _(t):
    t.write("agent.yaml", AGENT)
    r = t.gudgeon("run", "agent.yaml", "say hello")
    t.equal((r.code, r.out), (0, "Hello yourself.\n"))
    t.contains(r.err, "scripted")
    t.contains(r.err, "success")


@case("--quiet prints nothing but the answer")
def _(t):
    t.write("agent.yaml", AGENT)
    r = t.gudgeon("run", "--quiet", "agent.yaml", "say hello")
    t.equal((r.code, r.out, r.err), (0, "Hello yourself.\n", ""))


@case("the task comes from standard input with -")
def _(t):
    t.write("agent.yaml", AGENT)
    r = t.gudgeon("run", "agent.yaml", "-", input="a long\nhello\n\n")
    t.equal((r.code, r.out), (0, "Hello yourself.\n"))
    t.equal(of_type(t.journal(), "run.started")[0]["task"], "a long\nhello")


@case("a task that is no UTF-8 is made safe")
def _(t):
    t.write("agent.yaml", AGENT)
    r = t.gudgeon("run", "agent.yaml", "-", input=b"hello \xff\xfe")
    t.equal(r.code, 0)
    t.equal(of_type(t.journal(), "run.started")[0]["task"], "hello \ufffd\ufffd")


@case("--json prints the journal's records as they are written")
def _(t):
    t.write("agent.yaml", AGENT)
    r = t.gudgeon("run", "--json", "--quiet", "agent.yaml", "say hello")
    t.equal(r.code, 0)
    t.equal(r.out, (t.runs()[-1] / "journal.jsonl").read_text())


@case("a definition's faults are all told, each with its place, and nothing runs")
def _(t):
    t.write("bad.yaml", "agent: Not Legal\nmodle: {use: script}\nlimits:\n  steps: many\n")
    r = t.gudgeon("run", "bad.yaml", "x")
    t.equal(r.code, 2)
    lines = r.err.splitlines()
    t.true(len(lines) >= 3, r.err)
    for line in lines:
        t.true(line.startswith(("bad.yaml:", str(t.dir))) or "bad.yaml:" in line, line)
    t.contains(r.err, 'did you mean "model"')
    t.equal(t.runs(), [])


@case("check says that a good file has no faults")
def _(t):
    t.write("agent.yaml", AGENT)
    r = t.gudgeon("check", "agent.yaml")
    t.equal(r.code, 0)
    t.contains(r.out, "no faults")


@case("a place where no run can be kept is told with what names another")
def _(t):
    t.write("agent.yaml", AGENT)
    r = t.gudgeon("run", "agent.yaml", "x", env={"GUDGEON_STATE_DIR": "/proc/nowhere"})
    t.equal((r.code, r.out, r.err), (1, "", "gudgeon: cannot make directory /proc/nowhere: No such "
            "file or directory; GUDGEON_STATE_DIR names another place for runs\n"))


@case("runs and log show the run")
def _(t):
    r = t.gudgeon("runs")
    t.equal((r.code, r.err), (0, ""))
    t.true(r.out.startswith("there are no runs in /"), r.out)
    t.write("agent.yaml", AGENT)
    t.gudgeon("run", "agent.yaml", "say hello")
    r = t.gudgeon("runs")
    t.equal(r.code, 0)
    t.contains(r.out, t.runs()[-1].name)
    t.contains(r.out, "success")
    r = t.gudgeon("log", "last")
    t.equal(r.code, 0)
    t.contains(r.out, "Hello yourself.")
    r = t.gudgeon("log", "--json", "last")
    t.equal(r.out, (t.runs()[-1] / "journal.jsonl").read_text())


@case("log says what is wrong with a journal, and shows the rest")
def _(t):
    t.write("agent.yaml", AGENT)
    t.gudgeon("run", "agent.yaml", "say hello")
    journal = t.runs()[-1] / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    for damage, told in (
            (lines[:-1] + [lines[-1][:-20]], "line 8: torn after "),
            (lines[:4] + [b"x\n"] * 2 + lines[5:], "line 5: column 1: a value is due, not x (lines "
             "passed over: 2)"),
            (lines[:4] + lines[5:], "line 5: 1 records before record 6 are missing")):
        journal.write_bytes(b"".join(damage))
        r = t.gudgeon("log", "last")
        t.equal(r.code, 0)
        t.contains(r.err, "gudgeon: log: the journal is damaged: " + told)
        t.contains(r.out, "Hello yourself.")
        t.equal("cut off" in r.out, told.endswith("after "))
    journal.write_bytes(b"".join(lines))


def on_terminal(t, columns, *args):
    """The exit code, and what a terminal that wide is sent as output and errors."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([str(GUDGEON), *args], cwd=t.dir, stdin=subprocess.DEVNULL,
                               stdout=theirs, stderr=theirs, env=t.env | {"NO_COLOR": "1"})
    os.close(theirs)
    text = b""
    try:
        while chunk := os.read(ours, 65536):
            text += chunk
    except OSError:  # how Linux tells that the other side is closed
        pass
    os.close(ours)
    return process.wait(20), text.decode()


@case("runs fits an ordinary terminal, and the end of an id names a run")
def _(t):
    t.write("agent.yaml", AGENT)
    t.gudgeon("run", "agent.yaml", "say hello " * 20)
    head, row = on_terminal(t, 80, "runs")[1].splitlines()
    t.true(head.startswith("RUN") and len(row) <= 80, row)
    t.true("say hello" in row and "success" in row and " test " in row, row)
    r = t.gudgeon("log", row.split()[0])
    t.equal(r.code, 0)
    t.contains(r.out, "Hello yourself.")
    wide = on_terminal(t, 200, "runs")[1].splitlines()[1]
    t.true(wide.startswith(t.runs()[-1].name), wide)


@case("plugins NAME tells what can be configured, below the first level too")
def _(t):
    r = t.gudgeon("plugins", "script")
    t.equal(r.code, 0)
    lines = [" ".join(line.split()) for line in r.out.splitlines()]
    t.true(any(line.startswith("rules list of object The first that fits answers.") and
               line.endswith("(required)") for line in lines), r.out)
    t.true("last string Role of the last message. One of system, user, assistant or tool." in lines)
    t.true("arguments object or string An object, or any text as a model might write it." in lines)
    r = t.gudgeon("plugins", "openai")
    t.contains(r.out, 'kept. (default "https://api.openai.com/v1")')


@case("everything works without HOME, under env -i")
def _(t):
    t.write("agent.yaml", AGENT)
    t.env = {k: v for k, v in t.env.items() if k not in ("HOME", "LANG", "GUDGEON_CACHE_DIR")}
    t.env["PATH"] = "/usr/bin"
    r = t.gudgeon("run", "agent.yaml", "say hello")
    t.equal((r.code, r.out), (0, "Hello yourself.\n"))


@case("a closed standard output is told, not a crash")
def _(t):
    t.write("agent.yaml", AGENT)
    full = os.open("/dev/full", os.O_WRONLY)
    process = subprocess.run([str(__import__("harness").GUDGEON), "run", "--quiet", "agent.yaml",
                              "say hello"], cwd=t.dir, env=t.env, stdout=full,
                             stderr=subprocess.PIPE)
    os.close(full)
    t.equal(process.returncode, 1)
    t.contains(process.stderr.decode(), "standard output cannot be written")


@case("a reader that has had enough is no reason for a message")
def _(t):
    t.write("agent.yaml", AGENT)
    reading, writing = os.pipe()
    os.close(reading)
    process = subprocess.run([str(__import__("harness").GUDGEON), "help"], cwd=t.dir, env=t.env,
                             stdout=writing, stderr=subprocess.PIPE)
    os.close(writing)
    t.equal((process.returncode, process.stderr), (1, b""))


@case("a plugin path that is not there is told")
def _(t):
    r = t.gudgeon("plugins", "--plugin-path", "/nowhere/at/all")
    t.equal((r.code, r.err),
            (0, "gudgeon: plugin path: /nowhere/at/all: No such file or directory\n"))


@case("text from a model cannot steer the terminal")
def _(t):
    t.write("agent.yaml", 'agent: a\nmodel: {use: script, rules: [{say: "\\e[31mred\\a"}]}\n')
    r = t.gudgeon("run", "agent.yaml", "x")
    t.true("\x1b" not in r.err, r.err)


STEERING = "\x1b[31m\u009b31m\u202ered\x07"


@case("on a terminal nothing that a model, a server or a file says can steer it")
def _(t):
    t.write("agent.yaml", 'agent: a\nmodel: {use: script, rules: [{say: "\\e[31m\\x9b31m\\u202ered\\a"}]}\n')
    t.write("refuses.yaml", 'agent: a\nmodel: {use: script, rules: [{refuse: "\\e[31m\\x9b31m\\u202ered\\a"}]}\n')
    t.write("fails.yaml", 'agent: a\nmodel: {use: script, rules: [{error: {class: invalid, message: "\\e[31m\\x9b31m\\u202ered\\a"}}]}\n')
    t.write("bad.yaml", '"\\e[31m\\x9b31m\\u202ered\\a": 1\n')
    for quiet in ([], ["--quiet"]):
        for name, want in (("agent", 0), ("refuses", 7), ("fails", 1), ("bad", 2)):
            code, seen = on_terminal(t, 80, "run", *quiet, name + ".yaml", "x")
            t.equal((name, code), (name, want))
            t.contains(seen, "red")
            for part in ("\x1b", "\u009b", "\u202e", "\x07"):
                t.true(part not in seen, f"{name}{quiet}: {part!r} in {seen}")
    code, seen = on_terminal(t, 80, "rnu" + STEERING)
    t.true(not set("\x1b\u009b\u202e\x07") & set(seen), seen)


@case("on a terminal a streamed answer is not printed a second time")
def _(t):
    t.write("agent.yaml", AGENT)
    code, seen = on_terminal(t, 80, "run", "agent.yaml", "say hello")
    t.equal((code, seen.count("Hello yourself.")), (0, 1))
    code, seen = on_terminal(t, 80, "run", "--quiet", "agent.yaml", "say hello")
    t.equal((code, seen), (0, "Hello yourself.\r\n"))


@case("a build tree's marker counts only where the user or root has put it")
def _(t):
    (t.dir / "bin").mkdir()
    program = t.dir / "bin" / "gudgeon"
    program.write_bytes(GUDGEON.read_bytes())
    program.chmod(0o755)
    marker = t.write(".build-tree", "")
    t.contains(t.gudgeon("version", program=program).out, str(t.dir / "plugins"))
    if os.geteuid() == 0:
        os.chown(marker, 65534, 65534)
        t.true(str(t.dir) not in t.gudgeon("version", program=program).out, "it was believed")


@case("a pipe gets the answer as it is")
def _(t):
    t.write("agent.yaml", 'agent: a\nmodel: {use: script, rules: [{say: "\\e[31mred"}]}\n')
    t.equal(t.gudgeon("run", "agent.yaml", "x").out, "\x1b[31mred\n")


main("cli")
