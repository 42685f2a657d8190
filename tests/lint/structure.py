#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The rules of the tree that no compiler checks: include arrows, plugin independence, banned
functions, licence lines, headers that compile alone, formatting."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LAYERS = ["base", "data", "sys", "event", "plugin", "agent", "serve", "cli"]
# The worker is beside the layers: it uses the plugin protocol and what is below it.
ALLOWED = {layer: LAYERS[:i + 1] for i, layer in enumerate(LAYERS)}
ALLOWED["worker"] = ["worker", "base", "data", "sys", "plugin"]
BANNED = re.compile(r"\b(strcpy|strcat|strncpy|sprintf|vsprintf|strtok|atoi|atol|atof|gmtime|"
                    r"localtime|system|popen|pthread_cancel|longjmp|setjmp|fork)\s*\(")
ALLOCATORS = re.compile(r"(?<![\w.>])(malloc|calloc|realloc|strdup|strndup|asprintf)\s*\(")

failed = 0


def report(name, faults):
    global failed
    print(f"{'not ok' if faults else 'ok'} structure: {name}")
    for fault in faults:
        print(f"#   {fault}")
    failed += bool(faults)


def sources(*folders, suffixes=(".c", ".h")):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in suffixes:
                yield path


def code_of(path):
    """The text without comments and string contents, lines kept."""
    text = path.read_text()
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s+(["<])([^">]+)', line)
        if match:
            yield number, match[1], match[2]


def upward_includes():
    for path in sources("core"):
        layer = path.relative_to(ROOT / "core").parts[0]
        for number, quote, name in includes(path):
            target = name.split("/")[0]
            if quote == '"' and "/" in name and target not in ALLOWED[layer]:
                yield f"{path.relative_to(ROOT)}:{number}: {layer} may not include {name}"


def foreign_plugin_includes():
    for path in sources("plugins"):
        home = path.parent
        for number, quote, name in includes(path):
            if quote == '"' and not (home / name).exists():
                yield f"{path.relative_to(ROOT)}:{number}: plugins include <gudgeon/…> and system headers only"


def matches(pattern, paths, exempt=()):
    for path in paths:
        if str(path.relative_to(ROOT)) in exempt:
            continue
        for number, line in enumerate(code_of(path).splitlines(), 1):
            found = pattern.search(line)
            if found:
                yield f"{path.relative_to(ROOT)}:{number}: {found[1]}"


def missing_licence():
    for folder in ("core", "include", "plugins", "tests", "packaging"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".c", ".h", ".py", ".mk", ".sh") and \
                    "SPDX-License-Identifier: MIT" not in path.read_text()[:200]:
                yield str(path.relative_to(ROOT))


def headers_that_need_others():
    with tempfile.TemporaryDirectory() as directory:
        for path in sources("core", "include", suffixes=(".h",)):
            unit = pathlib.Path(directory) / "unit.c"
            unit.write_text(f'#include "{path}"\n')
            result = subprocess.run(
                ["cc", "-std=gnu17", "-D_GNU_SOURCE", f"-I{ROOT}/core", f"-I{ROOT}/include",
                 "-Wall", "-fsyntax-only", str(unit)], capture_output=True, text=True)
            if result.returncode != 0 or result.stderr:
                yield f"{path.relative_to(ROOT)}: {(result.stderr or '?').splitlines()[0]}"


def documents_machine_paths():
    pattern = re.compile(r"/(work|tmp/w)/")
    for folder in ("core", "include", "plugins", "config", "packaging", "tests"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.is_file() and path.suffix in (".c", ".h", ".py", ".mk", ".sh", ".md", ".yaml") \
                    and path != pathlib.Path(__file__):
                if pattern.search(path.read_text(errors="replace")):
                    yield str(path.relative_to(ROOT))


report("include arrows point down", list(upward_includes()))
report("plugins stand alone", list(foreign_plugin_includes()))
report("no banned function", list(matches(BANNED, sources("core", "plugins"))))
report("core allocates through base/alloc.h",
       list(matches(ALLOCATORS, sources("core"), exempt=("core/base/alloc.c",))))
report("every file names its licence", list(missing_licence()))
report("every header compiles alone", list(headers_that_need_others()))
report("no path of one machine", list(documents_machine_paths()))
sys.exit(failed > 0)
