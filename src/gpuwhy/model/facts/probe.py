"""The live stages, and what a framework did in its own interpreter."""

from __future__ import annotations

from typing import Literal

from gpuwhy.model.fact import NOT_OBSERVED, Fact
from gpuwhy.model.facts.record import Record


class Call(Record, frozen=True):
    """One call into a library during the probe: what it answered, and how long it took."""

    name: str  # cuInit, dlopen, "compare with the host"
    ok: bool
    code: int | None = None
    status: str = ""  # CUDA_ERROR_NO_DEVICE
    text: str = ""  # the library's own words, the value it gave, or what was wrong with the result
    ms: float = 0.0


class Stage(Record, frozen=True):
    """One step of the staircase from the driver library to a convolution, and how it went."""

    name: str  # see probe/stages.py: "libcuda", "init", "context" …; for frameworks "import", "devices", "matmul" …
    outcome: Literal["passed", "failed", "crashed", "hung", "skipped"]
    calls: tuple[Call, ...] = ()
    ms: float = 0.0
    device: int | None = None  # as CUDA numbers them here
    why: str = ""  # failed: in one sentence; crashed: the signal; skipped: why
    library: str = ""  # the file that is really mapped
    signal: int = 0  # by which it crashed

    @property
    def failing(self) -> Call | None:
        """The first call that did not succeed."""
        return next((call for call in self.calls if not call.ok), None)


class Rate(Record, frozen=True):
    """A rate that the probe reached, as a sanity check: bytes or operations per second."""

    what: str  # "copy to the GPU", "copy on the GPU", "float32 matmul"
    device: int
    per_second: float
    unit: str  # "B/s", "FLOP/s"


class FrameworkRun(Record, frozen=True):
    """What a framework did in its own interpreter: its stages, its files, its words."""

    framework: str  # Framework.name
    stages: tuple[Stage, ...]
    version: str = ""
    built_for: str = ""  # as it says itself: "CUDA 12.4, cuDNN 90100"
    devices: tuple[str, ...] = ()  # GPUs as it lists them
    mapped: tuple[str, ...] = ()  # CUDA libraries really mapped, in order of address
    said: str = ""  # the end of what it printed to standard error, and its exception
    notes: tuple[str, ...] = ()  # what the test set or left out, and what it noticed beside the result
    surprises: tuple[str, ...] = ()  # where the mapped files are not those that the loader's search predicted


class Probe(Record, frozen=True):
    """The live stages; NOT_OBSERVED unless `--probe` asked for them."""

    stages: Fact[tuple[Stage, ...]] = NOT_OBSERVED
    frameworks: Fact[tuple[FrameworkRun, ...]] = NOT_OBSERVED
    rates: Fact[tuple[Rate, ...]] = NOT_OBSERVED
    memory_used: Fact[int] = NOT_OBSERVED  # GPU bytes that the probe took at its height, contexts included
