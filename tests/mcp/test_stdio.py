"""`gpuwhy mcp` as a host starts it: real commands behind it, and nothing left at the end."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="watched on Linux")


class Host:
    """The host's end of the pipes."""

    def __init__(self, mark: str, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gpuwhy", "mcp", "--allow-run"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "GPUWHY_TEST_MARK": mark},
            cwd=folder,
        )

    def send(self, method: str, params: dict | None = None, number: int | None = None) -> None:
        line = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        line |= {"id": number} if number else {}
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


def soon(holds: Callable[[], bool], seconds: float = 30.0) -> bool:
    """Whether it holds, at once or within some seconds."""
    until = time.monotonic() + seconds
    while not holds() and time.monotonic() < until:
        time.sleep(0.02)
    return holds()


@linux
def test_a_session_answers_refuses_a_pipe_cancels_and_leaves_nothing(tmp_path):
    mark = f"gpuwhy-mark-{os.getpid()}-{time.monotonic_ns()}"
    os.mkfifo(tmp_path / "pipe.log")
    host = Host(mark, tmp_path)
    host.send("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}}, 1)
    assert host.until(1)["result"]["serverInfo"]["name"] == "gpuwhy"

    # a program whose child goes to a session of its own; it keeps the mark alone
    escaping = f"setsid sleep 300 & echo $! > {tmp_path}/started; sleep 300"
    asked = {"program": ["sh", "-c", escaping]}
    host.send("tools/call", {"name": "run", "arguments": asked}, 2)
    found = host.call(3, "explain", words=["pipe.log"], log_only=True)
    assert (found["isError"], "pipe" in found["content"][0]["text"]) == (True, True)

    assert soon((tmp_path / "started").exists)
    host.send("notifications/cancelled", {"requestId": 2})
    assert host.call(4, "code", code="cudnn 4")["structuredContent"]["matches"][0]["api"] == "cudnn"
    assert soon(lambda: not any("sleep" in line for line in marked(mark))), "only the server"
    assert host.close() == 0
    assert soon(lambda: not marked(mark))
