"""`gpuwhy mcp`: the same answers for agents, by the Model Context Protocol."""

import argparse
import os
import sys
import threading

from gpuwhy.cli import HEALTHY, UsageError
from gpuwhy.mcp.protocol import lines
from gpuwhy.mcp.server import Server


def go(options: argparse.Namespace) -> int:
    """Serve on standard input and output until the client closes its side."""
    if sys.stdin.isatty():
        raise UsageError(
            'gpuwhy mcp is started by an agent\'s host, as in {"mcpServers": {"gpuwhy": '
            '{"command": "gpuwhy", "args": ["mcp"]}}}; see docs/commands/mcp.md'
        )
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
