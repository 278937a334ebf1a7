"""The tools: what each is for, what it may be asked, which contract its answer keeps."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from gpuwhy.mcp import arguments as asks
from gpuwhy.schemas import bare, schema


class Tool(NamedTuple):
    """One tool; `runs` marks those that start a program of the user."""

    name: str
    title: str
    description: str
    asked: type[asks.Asked]
    contract: str
    runs: bool = False


TOOLS = (
    Tool(
        "check",
        "Diagnose this machine",
        "Why the GPU does not work here, or that nothing is wrong: driver, CUDA, cuDNN, TensorFlow, PyTorch, JAX and "
        "the libraries they would load. Names the cause with evidence and the commands that fix it. Reads only.",
        asks.Check,
        "report",
    ),
    Tool(
        "explain",
        "Explain an error",
        "Why a program failed, from its log, traceback or error message, weighed with the facts of this machine. "
        "Give the whole output rather than the last line. Asks one question back where two causes stay open.",
        asks.Explain,
        "report",
    ),
    Tool(
        "plan",
        "Find versions that work together",
        "Which releases of TensorFlow, PyTorch, JAX and others work with each other, with this (or a described) GPU, "
        "driver and Python, and the commands to install them; for what cannot work, why, and the nearest that does.",
        asks.Plan,
        "plan",
    ),
    Tool(
        "releases",
        "Look up a release",
        "What a published release was built for: CUDA, cuDNN, GPU architectures, Pythons, read from the published "
        "files themselves.",
        asks.Releases,
        "releases",
    ),
    Tool(
        "code",
        "Look up an error code",
        "What a number or name of CUDA, cuDNN, cuBLAS, NCCL, NVML, an Xid or a Windows status means, and its causes.",
        asks.Code,
        "code",
    ),
    Tool(
        "fit",
        "Will a model fit into the GPU",
        "How much GPU memory a model takes for inference or training, part by part with bounds, from its files alone; "
        "whether that fits, and the smallest change by which it would.",
        asks.Fit,
        "fit",
    ),
    Tool(
        "lint",
        "Find GPU mistakes in project files",
        "GPU mistakes in requirements, lock files, Dockerfiles, compose files, Kubernetes manifests, notebooks and "
        "workflows before they run, with line and fix. Changes nothing.",
        asks.Lint,
        "lint",
    ),
    Tool(
        "inspect",
        "Look into a binary",
        "What a library, program, wheel, folder or environment needs, for which GPUs it has code, which file each "
        "library would be loaded from and why, and what is missing.",
        asks.Inspect,
        "inspect",
    ),
    Tool(
        "cause",
        "Read about a cause",
        "The page of one cause: what one sees, why it happens, how to fix it, what it is mistaken for.",
        asks.Cause,
        "cause",
    ),
    Tool(
        "run",
        "Run a program and say why it fails",
        "Starts the program once, unchanged, and explains its failure by its output, exit code, signals and memory.",
        asks.Run,
        "report",
        True,
    ),
    Tool(
        "prove",
        "Prove a cause by experiments",
        "Runs a failing program many times with one thing changed at a time until the cause is proven.",
        asks.Prove,
        "proof",
        True,
    ),
    Tool(
        "more",
        "Read the rest of an answer",
        "The rest of an earlier answer of this session by its name: any part of the JSON, page by page.",
        asks.More,
        "",
    ),
)


def described(tool: Tool) -> dict[str, Any]:
    """The tool as clients list it."""
    hints = {"readOnlyHint": not tool.runs, "destructiveHint": tool.runs, "idempotentHint": not tool.runs}
    out = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": _input(tool.asked),
        "annotations": {"title": tool.title, **hints, "openWorldHint": tool.runs},
    }
    return out | ({"outputSchema": bare(schema(tool.contract))} if tool.contract else {})


def _input(asked: type[asks.Asked]) -> dict[str, Any]:
    whole = msgspec.json.schema(asked)
    inner: dict[str, Any] = whole["$defs"][asked.__name__]
    return {k: v for k, v in inner.items() if k not in ("title", "description")}


def understood(tool: Tool, given: Any) -> asks.Asked:
    """The arguments as the tool wants them; raises ValueError that says what is wrong."""
    return msgspec.convert({} if given is None else given, type=tool.asked)
