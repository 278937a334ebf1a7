"""Every pip command that a fix can print names releases that exist and fit together: asked of the package index."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from gpuwhy.logs import explain_text
from gpuwhy.reason.judge import judge
from gpuwhy.rooms import CAUSES
from gpuwhy.rooms.shared.builds import BUILDS
from gpuwhy.rooms.text.rooms import rooms

from .facts import HERE, load, log_of

SYMPTOMS = HERE.parent / "symptoms"
PYTHONS = ("3.12", "3.10", "3.8", "3.7")
"""A requirement must have a solution for one of them: an old release has no wheel for a new Python."""
PLACEHOLDERS = {"PACKAGE", "EXTENSION"}
SOURCE_ONLY = {"flash-attn"}
MISSED = "{package}=={version}\n{who}: {library}: cannot open shared object file: No such file or directory"
RELEASES = (
    ("tensorflow", "W tensorflow/tsl/cuda/dso_loader.cc:64] Could not load dynamic library", "libcudnn.so.8",
     ("2.4.1", "2.8.0", "2.11.0", "2.13.0", "2.14.0", "2.15.0", "2.16.1", "2.17.0")),
    ("tensorflow", "W tensorflow/tsl/cuda/dso_loader.cc:64] Could not load dynamic library", "libcudnn.so.9",
     ("2.18.0", "2.19.0", "2.20.0", "2.21.0")),
    ("torch", "import torch\nImportError", "libcudnn.so.8", ("1.13.1", "2.0.1", "2.1.2", "2.3.1")),
    ("torch", "import torch\nImportError", "libcudnn.so.9", ("2.4.0", "2.5.1", "2.7.0", "2.9.0", "2.11.0")),
    ("jax", "jax: RuntimeError", "libcudnn.so.8", ("0.4.14", "0.4.25", "0.4.26")),
    ("jax", "jax: RuntimeError", "libcudnn.so.9", ("0.4.38", "0.5.3", "0.6.2", "0.8.0")),
    ("onnxruntime-gpu", "[E:onnxruntime:Default, provider_bridge_ort.cc:1744] Failed to load", "libcublasLt.so.12",
     ("1.18.0", "1.20.1", "1.21.0", "1.23.2")),
)  # fmt: skip


def texts() -> Iterator[str]:
    yield from (json.loads(line)["log"] for line in (SYMPTOMS / "answers.jsonl").read_text("utf-8").splitlines())
    for group in json.loads((SYMPTOMS / "neighbours.json").read_text("utf-8")).values():
        yield from group.values()
    for package, who, library, versions in RELEASES:
        yield from (MISSED.format(package=package, version=v, who=who, library=library) for v in versions)
    for built in ("8.1.0", "8.6.0", "8.9.4", "9.1.0", "9.3.0", "9.10.0"):
        yield f"E cuda_dnn.cc:319] Loaded runtime CuDNN library: 8.0.5 but source was compiled with: {built}."


def commands() -> Iterator[str]:
    for fixture in sorted(HERE.glob("*/*/shown*.json")):
        wanted = ".".join(fixture.parts[-3:-1])
        mine = [cause for cause in CAUSES if cause.id == wanted]
        yield from (fix.command for verdict in judge(mine, load(fixture)[1]) for fix in verdict.fixes)
        if log := log_of(fixture):
            yield from (fix.command for cause in explain_text(log).causes for fix in cause.fixes)
    for row in (row for room in rooms().values() for row in room.remedies):
        yield from (row.fix.command.replace("{cu}", suffix) for suffix in ("-cu11", "-cu12", ""))
    yield from (build.command for rows in BUILDS.values() for build in rows)
    yield from (fix.command for text in texts() for cause in explain_text(text).causes for fix in cause.fixes)


def requirements(command: str) -> Iterator[tuple[str, ...]]:
    """What each `pip install` of a command line asks for."""
    for part in re.split(r"\n|&&|;", command):
        _, found, rest = part.partition("pip install ")
        words = shlex.split(rest) if found else []
        if "--python" in words:
            del words[words.index("--python") + 1]
        asked = tuple(word for word in words if not word.startswith("-") and word not in PLACEHOLDERS)
        if asked:
            yield asked


def wanted() -> list[tuple[str, ...]]:
    return sorted({asked for command in commands() for asked in requirements(command)})


def solution(asked: tuple[str, ...], python: str) -> str:
    """The pinned solution for Linux, "" where there is none; the packages asked for must have wheels."""
    wheels = [f"--only-binary={name}" for name in map(_name, asked) if name not in SOURCE_ONLY]
    argv = ["uv", "pip", "compile", "--quiet", "--no-header", "--no-annotate", "--python-version", python]
    argv += ["--python-platform", "x86_64-manylinux_2_28", *wheels, "-"]
    done = subprocess.run(argv, input="\n".join(asked), capture_output=True, text=True, timeout=300)
    return done.stdout if done.returncode == 0 else ""


def _name(asked: str) -> str:
    return re.split(r"[\[=<>!~ ]", asked, maxsplit=1)[0]


def test_there_are_commands_to_try():
    asked = wanted()
    assert len(asked) > 40
    assert not [one for one in asked if any(re.search(r"[{}$]", word) for word in one)]


def wrong_with(asked: tuple[str, ...]) -> str:
    found = next((text for python in PYTHONS if (text := solution(asked, python))), "")
    if not found:
        return "no solution for any Python"
    extra = any("cuda" in word.partition("[")[2] for word in asked)
    return "the extra does not exist in that release" if extra and "nvidia-c" not in found else ""


@pytest.mark.network
@pytest.mark.skipif(not shutil.which("uv"), reason="no uv")
def test_all_of_it_can_be_installed():
    """One test: to list the commands takes seconds, which every collection would pay for."""
    asked = wanted()
    with ThreadPoolExecutor(4) as pool:
        found = dict(zip(map(" ".join, asked), pool.map(wrong_with, asked), strict=True))
    assert {one: why for one, why in found.items() if why} == {}
