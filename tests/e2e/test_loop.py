#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The loop, driven by scripted replies and real tools: one case for each rule."""
import json
import signal
import time

from harness import BUILD, case, main, of_type

TOOLS = """
tools:
  - use: shell
    grant: {exec: true}
"""


def agent(t, rules, more=TOOLS, model=""):
    """Writes agent.yaml with the rules given as Python values (JSON is YAML)."""
    t.write("agent.yaml", f"agent: test\nmodel:\n  use: script\n{model}  rules: {json.dumps(rules)}\n{more}")


def shell(command):
    return {"tool": "shell", "arguments": {"command": command}}


def results(events):
    return [event["result"][0]["text"] for event in of_type(events, "call.finished")]


def finished(events):
    return of_type(events, "run.finished")[-1]


@case("three tool turns and an answer")
def _(t):
    agent(t, [{"when": {"step": 1}, "calls": [shell("echo one")]},
              {"when": {"step": 2}, "calls": [shell("echo two")]},
              {"when": {"step": 3}, "say": "Now the third.", "calls": [shell("echo three")]},
              {"say": "All: {{last}}"}])
    r = t.gudgeon("run", "agent.yaml", "count")
    t.equal(r.code, 0)
    t.contains(r.out, "All: three")
    events = t.journal()
    t.equal([text.strip() for text in results(events)], ["one", "two", "three"])
    t.equal([e["number"] for e in of_type(events, "step.started")], [1, 2, 3, 4])
    t.equal([e["then"] for e in of_type(events, "step.finished")], ["step"] * 3 + ["end"])
    t.equal([e["seq"] for e in events], list(range(1, len(events) + 1)))
    t.contains(r.err, "Now the third.")


@case("calls of one turn run side by side; results stand in call order")
def _(t):
    agent(t, [{"when": {"step": 1}, "calls": [shell("echo a"), {"tool": "now", "arguments": {}},
                                              {"tool": "nothing", "arguments": {}}]},
              {"say": "ok"}],
          TOOLS + "  - use: clock\n")
    t.equal(t.gudgeon("run", "agent.yaml", "x").code, 0)
    events = t.journal()
    asked = [e["id"] for e in of_type(events, "call.requested")]
    t.equal(len(asked), 3)
    t.equal(sorted(e["id"] for e in of_type(events, "call.finished")), sorted(asked))


@case("a turn with several slow calls on several instances takes as long as the slowest")
def _(t):
    several = "tools:\n" + "".join(
        f"  - {{use: shell, name: s{i}, grant: {{exec: true}}}}\n" for i in range(4))
    agent(t, [{"when": {"step": 1},
               "calls": [{"tool": f"s{i}_shell", "arguments": {"command": "sleep 0.5"}}
                         for i in range(4)]},
              {"say": "ok"}], several)
    t.equal(t.gudgeon("run", "agent.yaml", "x").code, 0)
    events = t.journal()
    starts = [e["at_ms"] for e in of_type(events, "call.started")]
    ends = [e["at_ms"] for e in of_type(events, "call.finished")]
    t.true(max(starts) < min(ends), "the calls ran one after another")


@case("calls that write on one instance run in order")
def _(t):
    agent(t, [{"when": {"step": 1}, "calls": [shell("sleep 0.2; echo a >> log"),
                                              shell("echo b >> log"), shell("cat log")]},
              {"say": "ok"}])
    t.equal(t.gudgeon("run", "agent.yaml", "x").code, 0)
    t.equal(results(t.journal())[2], "a\nb\n")


@case("an unknown tool gets an error result with near names; the others run")
def _(t):
    agent(t, [{"when": {"step": 1}, "calls": [{"tool": "shel", "arguments": {}}, shell("echo b")]},
              {"say": "ok"}])
    t.equal(t.gudgeon("run", "agent.yaml", "x").code, 0)
    events = t.journal()
    wrong, right = (next(e for e in of_type(events, "call.finished") if e["id"] == asked["id"])
                    for asked in of_type(events, "call.requested"))
    t.equal((wrong["is_error"], wrong["cause"]), (True, "unknown_tool"))
    t.contains(wrong["result"][0]["text"], 'Did you mean "shell"?')
    t.equal(right["result"][0]["text"], "b\n")


@case("bad arguments are not run; the result names tool, fault and schema")
def _(t):
    agent(t, [{"when": {"step": 1},
               "calls": [{"tool": "shell", "arguments": f"{{\"command\": touch {t.dir}/done"},
                         {"tool": "shell", "arguments": {"comand": f"touch {t.dir}/done"}},
                         {"tool": "shell", "arguments": "[]"}]},
              {"say": "ok"}])
    t.equal(t.gudgeon("run", "agent.yaml", "x").code, 0)
    events = of_type(t.journal(), "call.finished")
    t.equal([e["cause"] for e in events], ["invalid"] * 3)
    for event in events:
        t.contains(event["result"][0]["text"], '"shell"')
        t.contains(event["result"][0]["text"], '"properties"')
    t.true(not (t.dir / "done").exists())


@case("an empty result is never empty")
def _(t):
    agent(t, [{"when": {"step": 1}, "calls": [shell("true")]}, {"say": "{{last}}"}])
    r = t.gudgeon("run", "agent.yaml", "x")
    t.true(results(t.journal())[0].strip() != "")


@case("steps used up: one forced answer, state max_steps")
def _(t):
    agent(t, [{"when": {"matches": "No steps are left"}, "say": "forced"},
              {"calls": [shell("date +%N")]}])
    r = t.gudgeon("run", "agent.yaml", "x", "--max-steps", "2")
    t.equal((r.code, r.out), (3, "forced\n"))
    events = t.journal()
    t.equal([e["kind"] for e in of_type(events, "step.started")], ["action", "action", "final"])
    t.equal([e["choice"] for e in of_type(events, "model.requested")], ["auto", "auto", "none"])
    t.equal(finished(events)["state"], "max_steps")


@case("a forced answer that fails is no answer")
def _(t):
    agent(t, [{"when": {"matches": "No steps are left"}, "error": {"class": "invalid",
                                                                   "message": "boom"}},
              {"calls": [shell("date +%N")]}])
    r = t.gudgeon("run", "agent.yaml", "x", "--max-steps", "1")
    t.equal((r.code, r.out), (3, ""))
    t.contains(finished(t.journal())["why"], "boom")


@case("a forced answer that is cut says so")
def _(t):
    agent(t, [{"when": {"contains": "No steps are left"}, "say": "half of", "finish": "length"},
              {"calls": [shell("date +%N")]}])
    r = t.gudgeon("run", "agent.yaml", "x", "--max-steps", "1")
    t.equal((r.code, r.out), (3, "half of\n"))
    t.contains(finished(t.journal())["why"], "cut at the output limit")


@case("a turn of which no call can be run is the model's mistake: bounded")
def _(t):
    agent(t, [{"when": {"turn": turn}, "calls": [{"tool": "nothing", "arguments": {"n": turn}},
                                                 {"tool": "shell", "arguments": {"n": turn}}]}
              for turn in range(1, 9)])
    r = t.gudgeon("run", "agent.yaml", "x")
    t.equal((r.code, finished(t.journal())["state"]), (5, "stuck"))
    events = t.journal()
    t.equal(len(of_type(events, "model.replied")), 4)
    t.equal({e["error"] for e in of_type(events, "step.finished")},
            {"no tool call of the reply could be run"})
    agent(t, [{"when": {"turn": turn}, "calls": [{"tool": "nothing", "arguments": {"n": turn}},
                                                 shell(f"echo {turn}")]} for turn in range(1, 9)]
          + [{"say": "ok"}])
    t.equal(t.gudgeon("run", "agent.yaml", "x").code, 0)


@case("more calls than one reply may hold: the first ones run, the model is told of the others")
def _(t):
    agent(t, [{"when": {"turn": 1}, "calls": [{"tool": "now", "arguments": {}}] * 130},
              {"say": "{{last}}"}], "tools: [{use: clock}]\n")
    r = t.gudgeon("run", "agent.yaml", "x")
    events = t.journal()
    t.equal((r.code, len(of_type(events, "call.finished"))), (0, 128))
    t.equal(len(of_type(events, "model.replied")[0]["dropped"]), 2)
    told = [e["blocks"][0]["text"] for e in of_type(events, "message.added")]
    t.contains(told[1], "the last 2 of them were not run")


@case("finish: tool ends by final_answer only; a text gets a bounded nudge")
def _(t):
    agent(t, [{"when": {"turn": 1}, "say": "Is it done?"},
              {"when": {"contains": "did not end the task"},
               "calls": [{"tool": "final_answer", "arguments": {"answer": "42"}}]},
              {"say": "never"}], "finish: tool\n" + TOOLS)
    r = t.gudgeon("run", "agent.yaml", "x")
    t.equal((r.code, r.out), (0, "42\n"))
    agent(t, [{"say": "I just talk."}], "finish: tool\n" + TOOLS)
    r = t.gudgeon("run", "agent.yaml", "x")
    t.equal((r.code, finished(t.journal())["state"]), (5, "stuck"))
    t.equal(len(of_type(t.journal(), "model.replied")), 4)


@case("final_answer beside other calls: they run first, nothing is lost")
def _(t):
    agent(t, [{"calls": [{"tool": "final_answer", "arguments": {"answer": "done"}},
                         shell(f"touch {t.dir}/ran")]}], "finish: tool\n" + TOOLS)
    r = t.gudgeon("run", "agent.yaml", "x")
    t.equal((r.code, r.out), (0, "done\n"))
    t.true((t.dir / "ran").exists())
    t.equal(len(of_type(t.journal(), "call.finished")), 2)


@case("an empty reply is nudged a bounded number of times")
def _(t):
    agent(t, [{"when": {"turn": 1}, "say": ""}, {"say": "There."}])
    r = t.gudgeon("run", "agent.yaml", "x")
    t.equal((r.code, r.out), (0, "There.\n"))
    agent(t, [{"say": "  "}])
    r = t.gudgeon("run", "agent.yaml", "x")
    t.equal((r.code, finished(t.journal())["state"]), (5, "stuck"))


@case("a refusal is its own end, without a retry")
def _(t):
    agent(t, [{"refuse": "I would rather not."}])
    r = t.gudgeon("run", "agent.yaml", "x")
    t.equal((r.code, r.out), (7, ""))
    t.contains(finished(t.journal())["why"], "I would rather not.")
    t.equal(len(of_type(t.journal(), "model.requested")), 1)


@case("calls of a reply that the output limit cut are not run; the model is told")
def _(t):
    agent(t, [{"when": {"turn": 1}, "calls": [shell(f"touch {t.dir}/cut")], "finish": "length"},
              {"when": {"contains": "cut off"}, "say": "Smaller, then."}, {"say": "never"}])
    r = t.gudgeon("run", "agent.yaml", "x")
    t.equal((r.code, r.out), (0, "Smaller, then.\n"))
    t.true(not (t.dir / "cut").exists())
    t.equal(len(of_type(t.journal(), "model.replied")[0]["dropped"]), 1)


@case("the same call with the same result: told once, then stuck")
def _(t):
    agent(t, [{"calls": [shell("pwd")]}])
    r = t.gudgeon("run", "agent.yaml", "x")
    t.equal((r.code, finished(t.journal())["state"]), (5, "stuck"))
    events = t.journal()
    t.equal(len(of_type(events, "call.started")), 4)
    t.equal([e["why"] for e in of_type(events, "message.added")], ["system", "repeat"])


@case("a transient failure is retried, and what was shown is retracted")
def _(t):
    agent(t, [{"times": 2, "say": "Half", "error": {"class": "retry", "status": 503,
                                                      "message": "busy", "retry_after_ms": 10}},
              {"say": "Whole."}])
    r = t.gudgeon("run", "agent.yaml", "x")
    t.equal((r.code, r.out), (0, "Whole.\n"))
    failed = of_type(t.journal(), "model.failed")
    t.equal([(e["attempt"], e["class"], e["then"], e["shown"], e["retry_ms"]) for e in failed],
            [(1, "retry", "retry", True, 10), (2, "retry", "retry", True, 10)])
    t.equal(len({e["id"] for e in of_type(t.journal(), "model.requested")}), 1)


@case("a model that cannot serve is failed over from; the run stays with the next")
def _(t):
    t.write("agent.yaml", """
agent: test
model:
  - {use: script, rules: [{error: {class: unavailable, message: down}}]}
  - {use: script, rules: [{when: {step: 1}, calls: [{tool: shell, arguments: {command: pwd}}]}, {say: second}]}
""" + TOOLS)
    r = t.gudgeon("run", "agent.yaml", "x")
    t.equal((r.code, r.out), (0, "second\n"))
    t.equal([e["then"] for e in of_type(t.journal(), "model.failed")], ["fail_over"])


@case("a model that cannot be opened when its turn comes: both failures are told")
def _(t):
    t.write("agent.yaml", """
agent: test
model:
  - {use: script, rules: [{error: {class: unavailable, message: down}}]}
  - {use: openai, name: x, api_key: '${secret:nowhere}'}
""")
    r = t.gudgeon("run", "agent.yaml", "x")
    t.equal(r.code, 1)
    why = finished(t.journal())["why"]
    t.contains(why, "down; then ")
    t.contains(why, 'model "openai": no secret "nowhere"')
    t.equal([e["then"] for e in of_type(t.journal(), "model.failed")], ["fail_over"])


@case("no model is left: the last failure stops the run")
def _(t):
    t.write("agent.yaml", """
agent: test
model:
  - {use: script, rules: [{error: {class: unavailable, message: down}}]}
  - {use: script, rules: [{error: {class: quota, message: no money}}]}
""")
    r = t.gudgeon("run", "agent.yaml", "x")
    t.equal(r.code, 1)
    t.contains(finished(t.journal())["why"], "no money")
    t.equal([e["then"] for e in of_type(t.journal(), "model.failed")], ["fail_over", "stop"])


@case("nothing is asked after an interrupt or a deadline in the pause before a retry")
def _(t):
    busy = [{"error": {"class": "retry", "message": "busy", "retry_after_ms": 30000}}]
    agent(t, busy)
    code, took = interrupted(t, "model.failed")
    t.equal((code, took < 5, finished(t.journal())["state"]), (8, True, "interrupted"))
    t.equal(len(of_type(t.journal(), "model.requested")), 1)
    r = t.gudgeon("run", "agent.yaml", "x", "--set", "limits.time=300ms")
    t.equal((r.code, finished(t.journal())["state"]), (4, "budget"))
    t.equal(len(of_type(t.journal(), "model.requested")), 1)
    r = t.gudgeon("run", "agent.yaml", "x", "--set", "limits.step_time=100ms")
    t.equal((r.code, finished(t.journal())["state"]), (5, "stuck"))
    t.equal(len(of_type(t.journal(), "model.requested")), 4)


@case("a failure for good: state failed, its exit code, the journal whole")
def _(t):
    for error in ("auth", "quota", "invalid", "refused"):
        agent(t, [{"error": {"class": error, "status": 401, "message": "no key"}}])
        r = t.gudgeon("run", "agent.yaml", "x")
        t.equal((r.code, finished(t.journal())["state"]), (1, "failed"))
        t.equal(len(of_type(t.journal(), "model.requested")), 1)
    agent(t, [{"error": {"class": "overflow", "message": "too long"}}])
    t.equal(t.gudgeon("run", "agent.yaml", "x").code, 6)


@case("retries are bounded")
def _(t):
    agent(t, [{"error": {"class": "retry", "message": "busy", "retry_after_ms": 1}}])
    r = t.gudgeon("run", "agent.yaml", "x", "--set", "limits.retries=2")
    t.equal(r.code, 1)
    t.equal(len(of_type(t.journal(), "model.failed")), 3)
    t.contains(r.err, ": busy; tried 3 times · ")


def interrupted(t, wait_for, signals=(signal.SIGINT,)):
    process = t.start("run", "agent.yaml", "x")
    t.wait_for(process, wait_for)
    for number in signals:
        process.send_signal(number)
        time.sleep(0.05)
    sent = time.monotonic()
    out, err = process.communicate(timeout=20)
    return process.returncode, time.monotonic() - sent


@case("SIGINT cancels a model call in flight at once; the journal is whole")
def _(t):
    agent(t, [{"say": "late", "delay_ms": 30000}])
    code, took = interrupted(t, "model.requested")
    t.equal((code, finished(t.journal())["state"]), (8, "interrupted"))
    t.true(took < 5, f"took {took} s")
    t.equal([e["what"] for e in of_type(t.journal(), "control")], ["interrupt"])


@case("SIGTERM cancels a tool in flight; its result says that it may have had effects")
def _(t):
    agent(t, [{"calls": [shell("echo begun; sleep 30")]}])
    code, took = interrupted(t, "call.started", (signal.SIGTERM,))
    t.equal((code, finished(t.journal())["state"]), (8, "interrupted"))
    t.true(took < 5, f"took {took} s")
    event = of_type(t.journal(), "call.finished")[0]
    t.equal(event["cause"], "cancelled")
    t.contains(event["result"][0]["text"], "may have had effects")


@case("SIGINT while a plugin is being opened: interrupted before there is a run")
def _(t):
    t.plugin("awkward")
    agent(t, [{"say": "ok"}], "tools: [{use: awkward, create: wait}]\n")
    process = t.start("run", "agent.yaml", "x")
    t.wait_for_thread(process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    t.equal((process.returncode, out, t.runs()), (8, b"", []))
    t.contains(err.decode(), 'tools "awkward": cancelled')


@case("a plugin that tells its secret while it is opened is masked in log and error")
def _(t):
    t.plugin("awkward")
    t.env["GUDGEON_SECRET_PASS"] = "hunter2hunter2"
    agent(t, [{"say": "ok"}],
          "tools: [{use: awkward, create: tell, key: '${secret:pass}'}]\n")
    r = t.gudgeon("run", "agent.yaml", "x")
    t.equal((r.code, r.out), (2, ""))
    t.equal(r.err, "gudgeon: awkward: warning: my key is {secret}\n"
                   'gudgeon: tools "awkward": I do not like the key {secret}\n')


@case("an error that names an entry names it once")
def _(t):
    agent(t, [{"say": "ok"}], "sinks: [{use: jsonl, path: /nowhere/at/all}]\n")
    r = t.gudgeon("run", "agent.yaml", "x")
    t.equal((r.code, r.err), (2, 'gudgeon: sink "jsonl": cannot open /nowhere/at/all: '
                                 "No such file or directory\n"))
    t.equal(t.runs(), [])


@case("tools change while a run goes on; a list that fails ends nothing")
def _(t):
    t.plugin("awkward")
    def list_as(how):
        return {"tool": "list_as", "arguments": {"how": how}}
    agent(t, [{"when": {"step": 1}, "calls": [list_as("broken")]},
              {"when": {"step": 2}, "calls": [list_as("more")]},
              {"when": {"step": 3}, "calls": [{"tool": "late", "arguments": {}}]},
              {"say": "{{last}}"}], "tools: [{use: awkward}]\n")
    r = t.gudgeon("run", "agent.yaml", "x")
    t.equal((r.code, r.out), (0, "this is late\n"))
    t.contains(r.err, "cannot list its tools: the list is lost")
    events = t.journal()
    t.equal([e["revision"] for e in of_type(events, "tools.listed")], [1, 2])
    t.equal([e["tools"] for e in of_type(events, "model.requested")], [1, 1, 2, 2])


@case("what stands in run.started is masked, and is JSON all the same")
def _(t):
    t.env["GUDGEON_SECRET_PASS"] = "123456"
    agent(t, [{"say": "ok"}],
          "tools:\n  - use: shell\n    env: {PASS: '${secret:pass}'}\n    grant: {exec: true}\n"
          "limits: {tokens: 123456}\n"
          "inputs: {code: {type: integer, default: 0}, text: {default: ''}}\n")
    r = t.gudgeon("run", "agent.yaml", "x 123456", "--input", "code=123456", "--input",
                  "text=a 123456 b")
    t.equal((r.code, r.out), (0, "ok\n"))
    started = t.journal()[0]
    t.equal(started["inputs"], {"code": "{secret}", "text": "a {secret} b"})
    t.equal(started["definition"]["limits"]["tokens"], "{secret}")
    t.true("123456" not in (t.runs()[-1] / "journal.jsonl").read_text(), "it is there")


@case("an interrupt in the middle of a turn: what has not started is not started")
def _(t):
    agent(t, [{"calls": [shell("echo begun; sleep 30"), shell(f"touch {t.dir}/ran")]}])
    code, took = interrupted(t, "call.started")
    t.equal((code, took < 5, (t.dir / "ran").exists()), (8, True, False))
    events = t.journal()
    t.equal(len(of_type(events, "call.started")), 1)
    first, second = of_type(events, "call.finished")
    t.contains(first["result"][0]["text"], "may have had effects")
    t.equal((second["cause"], second["result"][0]["text"]),
            ("cancelled", "The call was not run: it was interrupted."))
    t.equal([e.get("step") for e in of_type(events, "control")], [None])


@case("calls for which no time is left in the step are not started")
def _(t):
    t.plugin("awkward")
    agent(t, [{"when": {"step": 1}, "calls": [{"tool": "wait", "arguments": {}},
                                              {"tool": "echo", "arguments": {}}]}, {"say": "ok"}],
          "tools: [{use: awkward}]\n")
    r = t.gudgeon("run", "agent.yaml", "x", "--set", "limits.step_time=300ms")
    t.equal(r.code, 0)
    events = t.journal()
    t.equal([e["cause"] for e in of_type(events, "call.finished")], ["timeout", "timeout"])
    t.equal(len(of_type(events, "call.started")), 1)
    t.contains(of_type(events, "call.finished")[1]["result"][0]["text"], "was not run")


@case("calls that only read wait for each other where the plugin cannot do both at once")
def _(t):
    t.plugin("awkward")
    agent(t, [{"when": {"step": 1}, "calls": [{"tool": "wait", "arguments": {}}] * 2},
              {"say": "ok"}], "tools: [{use: awkward, limits: {time: 200ms}}]\n")
    t.equal(t.gudgeon("run", "agent.yaml", "x").code, 0)
    events = of_type(t.journal(), "call.started") + of_type(t.journal(), "call.finished")
    t.equal([e["type"] for e in sorted(events, key=lambda e: e["seq"])],
            ["call.started", "call.finished"] * 2)
    for event in of_type(t.journal(), "call.finished"):
        t.equal(event["result"][0]["text"], "The call was stopped at its time limit.")


@case("a plugin in the host takes it along when it crashes; which one it was is told, and the log ends")
def _(t):
    if "address" in BUILD.name or "thread" in BUILD.name:
        return # the sanitiser tells it in its own way
    t.plugin("misbehave")
    told = f"gudgeon: the plugin {t.dir}/plugins/misbehave.so crashed in its %s with SIGSEGV\n"
    agent(t, [{"calls": [{"tool": "crash", "arguments": {}}]}],
          "tools: [{use: misbehave, isolation: none}]\n")
    r = t.gudgeon("run", "--quiet", "agent.yaml", "x")
    t.equal((r.code, r.err), (-signal.SIGSEGV, told % "call"))
    log = t.gudgeon("log", "last").out.splitlines()
    t.equal(log[-2:], ["  → crash {}", "this run was cut off: the journal ends here"])
    agent(t, [{"say": "ok"}], "tools: [{use: misbehave, isolation: none, create: crash}]\n")
    r = t.gudgeon("run", "--quiet", "agent.yaml", "x")
    t.equal((r.code, r.err), (-signal.SIGSEGV, told % "create"))


@case("a call that a grant forbids: the grant is told")
def _(t):
    t.plugin("awkward")
    agent(t, [{"when": {"step": 1}, "calls": [{"tool": "no_grant", "arguments": {}}]},
              {"say": "ok"}], "tools: [{use: awkward}]\n")
    t.equal(t.gudgeon("run", "agent.yaml", "x").code, 0)
    t.equal(results(t.journal())[0], "The call failed (refused): there is no way out. The operator "
            'can allow it with the grant {"network":true}.')


@case("a result that JSON makes too long for a record is an error, not the end of the journal")
def _(t):
    t.plugin("awkward")
    agent(t, [{"when": {"step": 1}, "calls": [{"tool": "too_much", "arguments": {}}]},
              {"say": "ok"}], "tools: [{use: awkward, limits: {output: 16MiB}}]\n")
    r = t.gudgeon("run", "agent.yaml", "x")
    t.equal((r.code, r.out), (0, "ok\n"))
    event = of_type(t.journal(), "call.finished")[0]
    t.equal((event["is_error"], event["cause"]), (True, "limit"))


@case("a second signal ends the process at once")
def _(t):
    agent(t, [{"calls": [shell("trap '' TERM; sleep 30")]}])
    code, took = interrupted(t, "call.started", (signal.SIGINT, signal.SIGINT))
    t.true(code in (-signal.SIGINT, 8), code)
    t.true(took < 5, f"took {took} s")


@case("a call is stopped at its time limit; what it said until then is kept")
def _(t):
    agent(t, [{"when": {"step": 1}, "calls": [shell("echo begun; sleep 30")]}, {"say": "ok"}],
          "tools:\n  - use: shell\n    grant: {exec: true}\n    limits: {time: 300ms}\n")
    started = time.monotonic()
    t.equal(t.gudgeon("run", "agent.yaml", "x").code, 0)
    t.true(time.monotonic() - started < 10)
    event = of_type(t.journal(), "call.finished")[0]
    t.equal(event["cause"], "timeout")
    t.contains(event["result"][0]["text"], "begun")


@case("limits.time and limits.tokens end in state budget, with no further request")
def _(t):
    agent(t, [{"calls": [shell("date +%N; sleep 0.3")]}])
    r = t.gudgeon("run", "agent.yaml", "x", "--set", "limits.time=200ms")
    t.equal((r.code, finished(t.journal())["state"]), (4, "budget"))
    r = t.gudgeon("run", "agent.yaml", "x", "--set", "limits.tokens=1")
    t.equal((r.code, finished(t.journal())["state"]), (4, "budget"))
    t.equal(len(of_type(t.journal(), "model.requested")), 1)


@case("limits.step_time ends a step, not the run; bounded, and nothing is said to the model")
def _(t):
    agent(t, [{"say": "slow", "delay_ms": 20000}])
    r = t.gudgeon("run", "agent.yaml", "x", "--set", "limits.step_time=100ms")
    events = t.journal()
    t.equal((r.code, finished(events)["state"]), (5, "stuck"))
    t.contains(finished(events)["why"], "limits.step_time")
    t.equal([e["then"] for e in of_type(events, "step.finished")], ["step"] * 3 + ["end"])
    t.equal([e["why"] for e in of_type(events, "message.added")], ["system"])


@case("a long result is kept as head and tail; the whole is a blob")
def _(t):
    agent(t, [{"when": {"step": 1}, "calls": [shell("seq 1 100000")]}, {"say": "ok"}])
    t.equal(t.gudgeon("run", "agent.yaml", "x").code, 0)
    event = of_type(t.journal(), "call.finished")[0]
    block = event["result"][0]
    t.true(len(block["text"]) < 40000)
    t.true(block["text"].startswith("1\n2\n") and "100000" in block["text"][-60:])
    blob = (t.runs()[-1] / "blobs" / block["blob"]).read_text()
    t.true(blob.startswith("1\n") and "\n99999\n" in blob)


@case("output that is no UTF-8 is made safe")
def _(t):
    agent(t, [{"when": {"step": 1}, "calls": [shell("printf 'a\\360\\237\\230b\\000c'")]},
              {"say": "ok"}])
    t.equal(t.gudgeon("run", "agent.yaml", "x").code, 0)
    t.equal(results(t.journal())[0], "a\ufffdb\ufffdc")


@case("a secret is masked wherever it turns up, and stands in no journal")
def _(t):
    t.env["GUDGEON_SECRET_PASS"] = "hunter2hunter2"
    t.env["SHOW"] = "hunter2hunter2"
    agent(t, [{"when": {"step": 1}, "calls": [shell("echo hunter2hunter2")]},
              {"say": "it is hunter2hunter2"}],
          "tools:\n  - use: shell\n    env: {PASS: '${secret:pass}'}\n    grant: {exec: true}\n")
    r = t.gudgeon("run", "agent.yaml", "x")
    t.equal(r.code, 0)
    text = (t.runs()[-1] / "journal.jsonl").read_text()
    t.true("hunter2hunter2" not in text, text)
    t.true("hunter2hunter2" not in r.out)


@case("a call that needs approval is refused, since nobody can be asked")
def _(t):
    agent(t, [{"when": {"step": 1}, "calls": [shell(f"touch {t.dir}/ran")]}, {"say": "ok"}],
          "tools:\n  - use: shell\n    approve: always\n    grant: {exec: true}\n")
    t.equal(t.gudgeon("run", "agent.yaml", "x").code, 0)
    t.equal(of_type(t.journal(), "call.finished")[0]["cause"], "refused")
    t.true(not (t.dir / "ran").exists())


@case("inputs are checked, filled in and shown to the model")
def _(t):
    more = "inputs: {folder: {type: string, default: ./notes}, count: {type: integer}}\n"
    agent(t, [{"say": "{{last}}"}], more)
    r = t.gudgeon("run", "agent.yaml", "x")
    t.equal(r.code, 2)
    t.contains(r.err, 'input "count" is missing')
    t.equal(t.gudgeon("run", "agent.yaml", "x", "--input", "count=many").code, 2)
    r = t.gudgeon("run", "agent.yaml", "x", "--input", "count=3")
    t.equal(r.code, 0)
    t.contains(r.out, '{"folder":"./notes","count":3}')


@case("a sink gets every event")
def _(t):
    agent(t, [{"say": "ok"}], "sinks:\n  - {use: jsonl, path: ./events.jsonl}\n")
    r = t.gudgeon("run", "agent.yaml", "x")
    t.equal(r.code, 0)
    t.equal((t.dir / "events.jsonl").read_text(), (t.runs()[-1] / "journal.jsonl").read_text())


@case("a full disk under the journal: the run stops, nothing is acted on after it")
def _(t):
    agent(t, [{"calls": [shell(f"echo x >> {t.dir}/effects; date +%N")]}])
    process = t.start("-c", f"ulimit -f 24; exec {BUILD}/gudgeon run --set limits.steps=1000 agent.yaml x", program="/bin/sh")
    out, err = process.communicate(timeout=120)
    t.equal(process.returncode, 1)
    t.contains(err.decode(), "journal")
    events = t.journal()
    effects = (t.dir / "effects").read_text().count("x")
    started = len(of_type(events, "call.started"))
    t.equal(effects, started)


@case("an answer that cannot be recorded is not given")
def _(t):
    agent(t, [{"say": "x" * 4000}], "")
    process = t.start("-c", f"ulimit -f 24; exec {BUILD}/gudgeon run --quiet agent.yaml x",
                      program="/bin/sh")
    out, err = process.communicate(timeout=60)
    t.equal((process.returncode, out), (1, b""))
    t.contains(err.decode(), "the run stops here")
    t.equal(of_type(t.journal(), "run.finished"), [])
    t.equal(len(of_type(t.journal(), "step.finished")), 1)


main("loop")
