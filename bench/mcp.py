"""`gpuwhy mcp` beside env-doctor's server: start, answers beside the command, size of what an agent reads.

    python bench/mcp.py GPUWHY [ENV-DOCTOR-MCP]

Each figure is the least of several tries: on the clock, and of CPU, which a busy machine inflates less.
Talks JSON-RPC itself, so that no client's own time is measured.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time

TRIES = 7
ASKED = (
    ("code", {"code": "719"}, ["code", "--json", "719"]),
    ("releases", {"name": "torch", "version": "2.6.0"}, ["releases", "--json", "torch", "2.6.0"]),
    ("explain", {"text": "CUDNN_STATUS_NOT_INITIALIZED", "log_only": True}, ["explain", "--json", "--log-only", "-"]),
    ("check", {}, ["check", "--json"]),
)

THEIRS = (
    ("env_check", {}),
    ("env_check_component", {"component": "cudnn"}),
    ("cuda_info", {}),
    ("cudnn_info", {}),
    ("python_compat_check", {}),
)


class Session:
    """One server, spoken to line by line."""

    def __init__(self, argv: list[str]) -> None:
        self._number = 0
        self.process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(self, method: str, params: dict) -> dict:
        """The result of a request."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while True:
            value = json.loads(self.process.stdout.readline())
            if value.get("id") == self._number:
                return value["result"]

    def open(self) -> dict:
        """The handshake."""
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "0"}}
        found = self.ask("initialize", params)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized", "params": {}})
        return found

    def _send(self, value: dict) -> None:
        self.process.stdin.write(json.dumps(value).encode() + b"\n")
        self.process.stdin.flush()

    def close(self) -> None:
        """Let it end."""
        self.process.stdin.close()
        self.process.wait(30)


def started(argv: list[str]) -> tuple[float, float]:
    """Seconds from the start to the answer of the handshake, and of CPU for all of a session that does no more."""
    wall, cpu = [], []
    for _ in range(TRIES):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begun = time.perf_counter()
        session = Session(argv)
        session.open()
        wall.append(time.perf_counter() - begun)
        session.close()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(wall), min(cpu)


def overhead(gpuwhy: str) -> None:
    """Each answer beside the command that it stands for, in turns."""
    session = Session([gpuwhy, "mcp"])
    session.open()
    for name, arguments, argv in ASKED:
        asked, ran, size = [], [], 0
        for _ in range(TRIES):
            begun = time.perf_counter()
            found = session.ask("tools/call", {"name": name, "arguments": arguments})
            asked.append(time.perf_counter() - begun)
            begun = time.perf_counter()
            words = arguments.get("text", "").encode()
            subprocess.run([gpuwhy, *argv], input=words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            ran.append(time.perf_counter() - begun)
            size = len(found["content"][0]["text"])
        shown = f"{1000 * min(asked):6.0f} ms, command {1000 * min(ran):6.0f} ms"
        print(f"  {name:<9} answer {shown}, over it {1000 * (min(asked) - min(ran)):+5.0f} ms; text {size} characters")
    session.close()


def listed(argv: list[str]) -> tuple[int, int]:
    """The tools, and the characters of their list."""
    session = Session(argv)
    session.open()
    tools = session.ask("tools/list", {})["tools"]
    session.close()
    return len(tools), len(json.dumps(tools))


def answered(argv: list[str], asked: tuple[tuple[str, dict], ...]) -> None:
    """The same questions to one server: how long, and how many characters an agent reads."""
    session = Session(argv)
    session.open()
    names = {tool["name"] for tool in session.ask("tools/list", {})["tools"]}
    for name, arguments in asked:
        if name not in names:
            continue
        took = []
        for _ in range(3):
            begun = time.perf_counter()
            found = session.ask("tools/call", {"name": name, "arguments": arguments})
            took.append(time.perf_counter() - begun)
        text = "".join(part.get("text", "") for part in found["content"])
        more = len(json.dumps(found.get("structuredContent") or {}))
        wrong = ", an error" if found.get("isError") else ""
        print(f"  {name:<22} {1000 * min(took):6.0f} ms, {len(text):,} characters of text, {more:,} structured{wrong}")
    session.close()


def main(argv: list[str]) -> int:
    """Measure and print."""
    ours, theirs = [argv[0], "mcp"], argv[1:2]
    rows = [("gpuwhy mcp", started(ours), listed(ours))]
    if theirs:
        rows.append(("env-doctor", started(theirs), listed(theirs)))
    print(f"load {os.getloadavg()[0]:.1f}")
    for name, (wall, cpu), (count, size) in rows:
        print(f"{name:<11} handshake after {wall:.3f} s ({cpu:.3f} s CPU); {count} tools, {size:,} characters of list")
    if theirs:
        print(f"ratio: {rows[1][1][1] / rows[0][1][1]:.1f} in CPU, {rows[1][1][0] / rows[0][1][0]:.1f} on the clock")
    overhead(argv[0])
    if theirs:
        print("env-doctor answers:")
        answered(theirs, THEIRS)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
