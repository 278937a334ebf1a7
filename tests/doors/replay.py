"""Run the recorded calls again and show what differs: python -m tests.doors.replay --help."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.doors.inputs import HERE, PLACEHOLDER, filled, table
from tests.doors.kept import document, heads

RECORDED = HERE / "recorded"
DIFF = 40
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "doors"}}
HELLO = {"method": "initialize", "params": CLIENT}


@dataclass(frozen=True)
class Call:
    """One row of calls/*.toml."""

    id: str
    command: list[str]  # "gpuwhy" and "python" are the ones under test
    exit: int | list[int]  # several where the machine decides
    stdin: str = ""  # a text, or one placeholder whose file it is
    env: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)  # what it writes
    mcp: list[dict[str, Any]] = field(default_factory=list)  # requests; the last answer is kept
    live: bool = False  # the answer depends on this machine: its structure is kept
    traceback: bool = False  # the program that it runs prints one
    needs: str = ""  # a module that the Python under test must have
    since_1_0: str = ""  # why `exit` is another one than was recorded
    note: str = ""

    @property
    def codes(self) -> list[int]:
        """The exit codes that are right."""
        return self.exit if isinstance(self.exit, list) else [self.exit]

    @property
    def recorded(self) -> str:
        """What version 0 answered; "" where nothing is recorded."""
        path = RECORDED / f"{self.id}.out"
        return path.read_text(encoding="utf-8") if path.is_file() else ""


@dataclass(frozen=True)
class Answer:
    """What a call left behind: its exit code, and texts by name: stdout, stderr, files."""

    code: int
    texts: dict[str, str]


def calls() -> list[Call]:
    """Every row, by file and order."""
    files = sorted((HERE / "calls").glob("*.toml"))
    return [Call(**row) for file in files for row in table(file)["call"]]


def python_of(command: str) -> str:
    """The Python beside a gpuwhy."""
    return str(Path(command).parent / "python")


@cache
def missing(module: str, command: str) -> bool:
    """Whether the Python beside a gpuwhy lacks this module."""
    argv = [python_of(command), "-c", f"import {module}"]
    return bool(module) and subprocess.run(argv, capture_output=True).returncode != 0


def run(call: Call, command: str, seconds: float = 60.0) -> Answer:
    """Make the call in a folder of its own, with nothing of this shell's environment."""
    with tempfile.TemporaryDirectory(prefix="doors-") as scratch:
        work, home = Path(scratch, "work"), Path(scratch, "home")
        work.mkdir()
        home.mkdir()
        path = f"{Path(command).parent}:/usr/bin:/bin"
        env = {"PATH": path, "HOME": str(home), "COLUMNS": "80", "LC_ALL": "C.UTF-8"}
        env |= {name: filled(value, work) for name, value in call.env.items()}
        own = {"gpuwhy": command, "python": python_of(command)}
        argv = [own.get(word, filled(word, work)) for word in call.command[:1]]
        argv += [filled(word, work) for word in call.command[1:]]
        given = filled(call.stdin, work)
        data = (work / given).read_bytes() if PLACEHOLDER.fullmatch(call.stdin) else given.encode()
        requests = [json.loads(filled(json.dumps(one), work)) for one in call.mcp]
        code, out, err = _ran(argv, work, env, data, requests, seconds)
        texts = {"stdout": out, "stderr": err}
        for name in call.files:
            file = work / name
            texts[name] = file.read_text(errors="replace") if file.is_file() else "not written\n"
        places = {str(home): "{home}", scratch: "{tmp}", str(HERE.parents[1]): "{repository}"}
        places[str(Path(command).parents[1])] = "{venv}"
        return Answer(code, {name: _placed(text, places) for name, text in texts.items()})


def _placed(text: str, places: dict[str, str]) -> str:
    for place, name in places.items():
        text = text.replace(place, name).replace(place.replace("_", r"\_"), name)  # Markdown's too
    return text


def _ran(
    argv: list[str],
    work: Path,
    env: dict[str, str],
    data: bytes,
    requests: list[dict[str, Any]],
    seconds: float,
) -> tuple[int, str, str]:
    """Exit code, output (the last answer where there are requests) and errors."""
    streams = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen(argv, cwd=work, env=env, start_new_session=True, **streams)  # type: ignore[call-overload]
    timer = threading.Timer(seconds, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    try:
        answer = _spoken(process, [HELLO, *requests]) if requests else b""
        out, err = process.communicate(data)
    finally:
        timer.cancel()
    return (
        process.returncode,
        (answer or out).decode(errors="replace"),
        err.decode(errors="replace"),
    )


def _spoken(process: subprocess.Popen[bytes], requests: list[dict[str, Any]]) -> bytes:
    """Requests of JSON-RPC, each sent after the answer to the one before; the last answer."""
    answer: dict[str, Any] = {}
    with contextlib.suppress(BrokenPipeError, ValueError):  # no server, or none that speaks JSON
        for number, request in enumerate(requests, 1):
            line = json.dumps({"jsonrpc": "2.0", "id": number, **request}).encode()
            process.stdin.write(line + b"\n")  # type: ignore[union-attr]
            process.stdin.flush()  # type: ignore[union-attr]
            for line in process.stdout or ():
                answer = json.loads(line)
                if answer.get("id") == number:
                    break
    return json.dumps(answer.get("result", answer)).encode()


def difference(call: Call, new: str) -> list[str]:
    """How a new document differs from the kept one; of live calls the contracts alone."""
    old = call.recorded
    if call.live:
        old, new = ("\n".join(heads(text).values()) for text in (old, new))
    was, now = old.splitlines(), new.splitlines()
    lines = list(difflib.unified_diff(was, now, "recorded", "now", n=1, lineterm=""))
    return lines[:DIFF] + [f"… {len(lines) - DIFF} more lines"] * (len(lines) > DIFF)


def _done(call: Call, command: str, record: bool) -> tuple[str, list[str]]:
    """What became of a call, in a word, and the lines that show it."""
    if missing(call.needs, command):
        return "skipped", [f"it needs {call.needs}"]
    answer = run(call, command)
    new = document(answer.code, answer.texts, call.live)
    if record:
        (RECORDED / f"{call.id}.out").write_text(new, encoding="utf-8")
        return "recorded", []
    shown = difference(call, new)
    return "different" if shown else "same", shown


def main() -> int:
    """Replay, or record."""
    beside = str(Path(sys.executable).parent / "gpuwhy")
    parser = argparse.ArgumentParser(prog="python -m tests.doors.replay", description=__doc__)
    parser.add_argument("--record", action="store_true", help="keep what the calls answer now")
    parser.add_argument("--command", default=beside, metavar="PATH", help="the gpuwhy to call")
    parser.add_argument("ids", nargs="*", help="ids, or how they begin; default: every call")
    options = parser.parse_args()
    command = os.path.abspath(options.command)
    chosen = [c for c in calls() if not options.ids or c.id.startswith(tuple(options.ids))]
    count: dict[str, int] = {}
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        done = pool.map(lambda call: _done(call, command, options.record), chosen)
        for call, (what, lines) in zip(chosen, done, strict=True):
            count[what] = count.get(what, 0) + 1
            print(f"{what:<9} {call.id}", *lines, sep="\n", flush=True)
    print(f"{len(chosen)} calls:", ", ".join(f"{number} {what}" for what, number in count.items()))
    return 1 if "different" in count else 0


if __name__ == "__main__":
    sys.exit(main())
