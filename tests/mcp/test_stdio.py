"""`gpuwhy mcp` as a host starts it: real commands behind it, and nothing left at the end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

linux = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="programs are watched on Linux"
)


class Host:
    """The host's end of the pipes."""

    def __init__(
        self, *options: str, environ: dict[str, str] | None = None, folder: Path | None = None
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gpuwhy", "mcp", *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **(environ or {})},
            cwd=folder,
        )

    def send(self, method: str, params: dict | None = None, number: int | None = None) -> None:
        line = {"jsonrpc": "2.0", "method": method, "params": params or {}} | (
            {"id": number} if number else {}
        )
        self.process.stdin.write(json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def until(self, number: int) -> dict:
        """The answer to a request; what is said before it is passed over."""
        while line := self.process.stdout.readline():
            value = json.loads(line)
            if value.get("id") == number:
                return value
        raise AssertionError("the server is gone")

    def call(self, number: int, name: str, **arguments) -> dict:
        self.send("tools/call", {"name": name, "arguments": arguments}, number)
        return self.until(number)["result"]

    def close(self) -> int:
        self.process.stdin.close()
        return self.process.wait(30)


def marked(mark: str) -> list[str]:
    """The command lines of living processes that carry a mark in their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (folder / "environ").read_bytes():
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def gone(mark: str, seconds: float = 20.0) -> bool:
    until = time.monotonic() + seconds
    while marked(mark) and time.monotonic() < until:
        time.sleep(0.02)
    return not marked(mark)


@linux
def test_a_session_answers_refuses_a_pipe_cancels_and_leaves_nothing(tmp_path):
    mark = f"gpuwhy-mark-{os.getpid()}-{time.monotonic_ns()}"
    os.mkfifo(tmp_path / "pipe.log")
    host = Host("--allow-run", environ={"GPUWHY_TEST_MARK": mark}, folder=tmp_path)
    host.send("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}}, 1)
    assert host.until(1)["result"]["serverInfo"]["name"] == "gpuwhy"

    host.send("tools/call", {"name": "run", "arguments": {"program": _escaping(tmp_path)}}, 2)
    found = host.call(3, "explain", words=["pipe.log"], log_only=True)
    assert (found["isError"], "pipe" in found["content"][0]["text"]) == (True, True)

    _wait_for(tmp_path / "started")
    host.send("notifications/cancelled", {"requestId": 2})
    assert host.call(4, "code", code="cudnn 4")["structuredContent"]["matches"][0]["api"] == "cudnn"
    assert _only_the_server(mark)
    assert host.close() == 0
    assert gone(mark)


def _escaping(folder: Path) -> list[str]:
    """A program whose child goes to a session of its own; it keeps the mark alone."""
    return ["sh", "-c", f"setsid sleep 300 & echo $! > {folder}/started; sleep 300"]


def _wait_for(path: Path, seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.02)
    assert path.exists()


def _only_the_server(mark: str, seconds: float = 20.0) -> bool:
    until = time.monotonic() + seconds
    while any("sleep" in line for line in marked(mark)) and time.monotonic() < until:
        time.sleep(0.02)
    return not any("sleep" in line for line in marked(mark))
