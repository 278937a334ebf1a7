"""The official SDK's client against `gpuwhy mcp`."""

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


def server(folder: Path) -> mcp.StdioServerParameters:
    args, environ = ["-m", "gpuwhy", "mcp"], dict(os.environ)
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
