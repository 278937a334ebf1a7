"""`gpuwhy mcp`: the same answers for agents, by the Model Context Protocol on standard input and output."""

from __future__ import annotations

import argparse
import os
import sys
import threading

from gpuwhy.cli import HEALTHY, UsageError


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("mcp", help="the same answers for agents: a server of the Model Context Protocol")
    parser.add_argument(
        "--allow-run",
        action="store_true",
        help="offer `run`, `prove` and full probes too: the agent may start programs",
    )
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Serve until the client closes its side."""
    if sys.stdin.isatty():
        raise UsageError(
            'gpuwhy mcp is started by an agent\'s host, as in {"mcpServers": {"gpuwhy": '
            '{"command": "gpuwhy", "args": ["mcp"]}}}; see docs/commands/mcp.md'
        )
    from gpuwhy.mcp.protocol import lines
    from gpuwhy.mcp.server import Server

    out = os.dup(1)
    os.dup2(2, 1)  # what anybody prints by mistake does not reach the client
    lock = threading.Lock()

    def send(line: bytes) -> None:
        with lock:
            view = memoryview(line)
            while view:
                view = view[os.write(out, view) :]

    Server(send, options.allow_run).serve(lines(sys.stdin.buffer))
    return HEALTHY
