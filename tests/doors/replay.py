"""Runs the calls of calls/*.toml; python -m tests.doors.replay ID … keeps what they answer now."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.doors.inputs import HERE, PLACEHOLDER, filled, table

RECORDED = HERE / "recorded"
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
        return Answer(code, texts)


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


def parsed(text: str) -> list[Any]:
    """The JSON values of a text: one, or one a line; none where it is not JSON."""
    for part in ([text], text.splitlines()):
        try:
            values = [json.loads(one) for one in part]
        except ValueError:
            continue
        return [one for one in values if isinstance(one, (dict, list))]
    return []


def head(text: str) -> str:
    """The contract of a JSON text in a line: its schema and its keys; "" of other texts."""
    one = next(iter(parsed(text)), None)
    many = isinstance(one, list)
    one = one[0] if many and one else one
    if not isinstance(one, dict):
        return ""
    one = one.get("structuredContent", one)
    keys = " ".join(sorted(one.keys() - {"rest"}))  # `rest` is what mcp adds to an answer it cut
    schema = one.get("schema") or one.get("$schema") or "-"
    return f"json{' list' * many}: {schema}: {keys}".rstrip()


def heads(recorded: str) -> dict[str, str]:
    """The contracts of a recording, by the name of the text that keeps to it."""
    rows = pairwise(recorded.splitlines())
    return {a[4:]: b for a, b in rows if a[:4] == "--- " and b[:4] == "json"}


def main() -> None:
    """Record what the calls that are named answer now: exit code, texts, contracts."""
    command = os.path.abspath(Path(sys.executable).parent / "gpuwhy")
    for call in calls():
        if call.id in sys.argv[1:]:
            answer = run(call, command)
            rows = [f"exit {answer.code}"]
            for name, text in answer.texts.items():
                if text and name != "stderr":
                    rows += [f"--- {name}", *filter(None, [head(text)])]
            (RECORDED / f"{call.id}.out").write_text("\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
