"""Builds the stand-in driver and libraries, and runs the probe's native children on them."""

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gpuwhy.facts.probe import Stage
from gpuwhy.machine import live, recorded_v0
from gpuwhy.machine.live import LiveMachine
from gpuwhy.probe.lines import Said, read
from gpuwhy.probe.stages import GROUPS, Stack
from gpuwhy.probe.walk import walk

NAMES = {
    "CUDA": "libcuda.so.1",
    "NVRTC": "libnvrtc.so.12",
    "CUDART": "libcudart.so.12",
    "CUBLAS": "libcublas.so.12",
    "CUDNN": "libcudnn.so.9",
    "NCCL": "libnccl.so.2",
}
FAMILIES = ("nvrtc", "cudart", "cublas", "cudnn", "nccl")


def of_words(words: str) -> dict[str, Any]:
    """The last line of a child that did not end well."""
    return recorded_v0.with_end({"ended": words})


def silent(_: str) -> None:
    """No progress is shown."""


def build(folder: Path, *names: str, old: bool = False) -> Path:
    """The named stand-ins (all, if none is named) in a folder; old ones do not name their codes."""
    command = ["gcc", "-shared", "-fPIC", "-O2", "-w", *(["-DOLD"] if old else [])]
    source = str(Path(__file__).with_name("standin.c"))
    for name in names or NAMES:
        named = [f"-D{name}", f"-Wl,-soname,{NAMES[name]}", "-o", str(folder / NAMES[name])]
        subprocess.run([*command, *named, source, "-ldl"], check=True)
    return folder


class Machine:
    """A machine whose driver and libraries are stand-ins."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.libraries = {f: str(folder / NAMES[f.upper()]) for f in FAMILIES}

    def host(self, standin: str = "") -> LiveMachine:
        path = {"LD_LIBRARY_PATH": str(self.folder), "STANDIN": standin}
        return LiveMachine({"PATH": os.environ["PATH"], "HOME": "/nonexistent", **path})

    def told(self, group: str, standin: str = "") -> Said:
        given = []
        for family in GROUPS[group].families:
            given += [f"--{family}", self.libraries[family]] if family in self.libraries else []
        return read(self.host(standin).call("probe", group, *given).need())

    def walk(self, standin: str = "", *, gentle: bool = False) -> dict[str, Stage]:
        """The whole staircase, by "stage" or "stage:device"."""
        done = walk(self.host(standin), Stack(self.libraries, ()), gentle, silent)
        assert len({(s.name, s.device) for s in done}) == len(done)
        return {s.name if s.device is None else f"{s.name}:{s.device}": s for s in done}


def limit(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Give the probe's children less time."""
    monkeypatch.setitem(live._LIMITS, "probe", (seconds, 0))


def outcomes(stages: dict[str, Stage], *which: str) -> dict[str, str]:
    return {name: stage.outcome for name, stage in stages.items() if stage.outcome in (which or ("failed",))}
