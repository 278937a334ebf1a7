"""The stage for whole scenes: real or small environments on a machine that is given a healthy GPU and driver."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import msgspec

from gpuwhy.app import CAUSES, Run
from gpuwhy.host.live import LiveHost
from gpuwhy.host.recording import RecordingHost
from gpuwhy.model.facts import Facts
from gpuwhy.model.report import Verdict
from gpuwhy.observe.scene import Options
from gpuwhy.reason.judge import judge
from tests.observe.envs import Machine, World
from tests.rooms.facts import base

LAB = Path(os.environ.get("GPUWHY_LAB", ""))
"""A folder of real environments, each named in the scene that reads it; scenes that miss theirs are skipped."""


def with_gpu(facts: Facts) -> Facts:
    """The same facts on a machine whose GPU and driver are those of the healthy base."""
    healthy, change = msgspec.convert(base("healthy"), type=Facts), msgspec.structs.replace
    around = change(
        facts.surroundings, container=healthy.surroundings.container, injected=healthy.surroundings.injected
    )
    loads = change(facts.loads, libcuda=healthy.loads.libcuda, libnvml=healthy.loads.libnvml)
    return change(facts, driver=healthy.driver, devices=healthy.devices, surroundings=around, loads=loads)


def shown(facts: Facts) -> dict[str, Verdict]:
    """Every cause that is shown, by its id."""
    verdicts = judge(CAUSES, with_gpu(facts))
    assert [v for v in verdicts if v.state == "crashed"] == []
    return {v.cause.id: v for v in verdicts if v.state == "shown"}


def told(verdict: Verdict) -> str:
    """All that a verdict says, as one text."""
    return "\n".join(
        [line for f in verdict.findings for line in (f.text, *(f"{e.text} {e.source}" for e in f.evidence))]
        + [f"{fix.text} {fix.command}" for fix in verdict.fixes]
    )


def live(venv: Path, **environ: str) -> dict[str, Verdict]:
    """What is shown for a real environment, under the given variables and no others."""
    host = RecordingHost(LiveHost({"PATH": "/usr/bin:/bin", **environ}))
    return shown(Run(host, Options(python=str(venv))).facts)


def small(world: World) -> dict[str, Verdict]:
    """What is shown for an environment of small files."""
    return shown(Run(RecordingHost(Machine(world.root, world.environ, world.pythons)), Options()).facts)


def broken_copy(venv: Path, to: Path) -> Path:
    """A copy of hard links, whose files may be removed and rewritten, never changed in place."""
    shutil.copytree(venv, to, copy_function=os.link, symlinks=True)
    return to


def rewrite(path: Path, content: bytes, mode: int = 0o644) -> None:
    """Put a new file in place of a hard link."""
    path.unlink()
    path.write_bytes(content)
    path.chmod(mode)
