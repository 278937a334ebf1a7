"""The official SDK's client against `gpuwhy mcp`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from gpuwhy.mcp.server import TEXT
from tests.doors import inputs

mcp = pytest.importorskip("mcp")
anyio = pytest.importorskip("anyio")
pytestmark = pytest.mark.doors

SECRET = "a1B2" * 9
MODES = ("legacy", "auto", "2026-07-28")
ASKED = (
    ("check", {}),
    ("explain", {"text": f"E: CUDNN_STATUS_NOT_INITIALIZED token=hf_{SECRET}", "log_only": True}),
    ("plan", {"packages": ["torch"], "driver": "550", "gpu": ["sm_90"], "python": "3.12"}),
    ("plan", {"packages": ["tensorflow==1.15"], "driver": "550", "gpu": ["sm_90"]}),
    ("releases", {"name": "torch"}),
    ("releases", {"name": "tensorflow", "version": "2.6.0"}),
    ("fit", {"model": "config.json", "gpu": "RTX 3060", "tokens": 8192}),
    ("code", {"code": "719"}),
    ("code", {"code": "1"}),
    ("lint", {"paths": ["requirements.txt"]}),
    ("inspect", {"path": "/bin/sh"}),
    ("cause", {"id": "cudnn.missing"}),
    ("cause", {}),
)
LLAMA = inputs.INPUTS / "fit" / "llama" / "config.json"


def server(folder: Path, *options: str) -> mcp.StdioServerParameters:
    args = ["-m", "gpuwhy", "mcp", *options]
    environ = dict(os.environ)
    return mcp.StdioServerParameters(
        command=sys.executable, args=args, cwd=str(folder), env=environ
    )


@pytest.mark.parametrize("mode", MODES)
def test_every_tool_answers_and_the_client_accepts_its_schema(tmp_path, mode):
    """The client itself validates each structured answer by the tool's output schema."""
    (tmp_path / "requirements.txt").write_text("torch==2.5.1\ntorchvision==0.19.0\n")
    (tmp_path / "config.json").write_bytes(LLAMA.read_bytes())

    async def talk() -> None:
        async with mcp.Client(server(tmp_path), mode=mode) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert tools >= {name for name, _ in ASKED}
            for name, arguments in ASKED:
                if name in ("lint", "fit"):
                    arguments = {**arguments, "folder": str(tmp_path)}
                found = await client.call_tool(name, arguments)
                assert not found.is_error, (name, found.content[0].text)
                assert found.structured_content["schema"].startswith("gpuwhy.")
                assert len(found.content[0].text) <= TEXT + 100, name
                said = json.dumps(found.structured_content) + found.content[0].text
                assert SECRET[:8] not in said

    anyio.run(talk)


def test_progress_and_cancellation(tmp_path):
    slow = tmp_path / "env" / "bin" / "python"
    slow.parent.mkdir(parents=True)
    (tmp_path / "env" / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.0\n")
    slow.write_text("#!/bin/sh\nexec sleep 300\n")
    slow.chmod(0o755)

    async def talk() -> None:
        async with mcp.Client(server(tmp_path)) as client:
            steps: list[str] = []

            async def note(progress, total, message) -> None:
                steps.append(message)

            await client.call_tool("inspect", {"path": sys.prefix}, progress_callback=note)
            assert steps
            with anyio.move_on_after(2.0) as scope:
                await client.call_tool("check", {"python": str(slow)})
            if scope.cancelled_caught:
                assert not (await client.call_tool("code", {"code": "719"})).is_error

    anyio.run(talk)
    assert _asleep(str(slow)) == []


def _asleep(name: str) -> list[str]:
    found = []
    for one in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = one.read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if name in line and "pytest" not in line:
            found.append(line)
    return found


def test_a_program_runs_only_where_that_is_allowed(tmp_path):
    async def talk() -> None:
        async with mcp.Client(server(tmp_path)) as client:
            with pytest.raises(mcp.MCPError, match="--allow-run"):
                await client.call_tool("run", {"program": ["true"]})
        async with mcp.Client(server(tmp_path, "--allow-run")) as client:
            words = "print('RuntimeError: CUDA out of memory', file=sys.stderr)"
            program = f"import sys; {words}; sys.exit(3)"
            found = await client.call_tool("run", {"program": [sys.executable, "-c", program]})
            assert not found.is_error, found.content[0].text
            assert "ended with code 3" in found.content[0].text
            assert found.structured_content["causes"][0]["id"].startswith("memory.")

    anyio.run(talk)
