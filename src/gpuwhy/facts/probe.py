"""The live stages, and what a framework did in its own interpreter."""

from typing import Literal

from gpuwhy.facts.fact import NOT_OBSERVED, Fact, Record
from gpuwhy.facts.loads import Found

StageOutcome = Literal["passed", "failed", "crashed", "hung", "skipped"]


class Call(Record, frozen=True, omit_defaults=True):
    """A call into a library that did not succeed during the probe, and how long it took."""

    name: str  # cuInit, dlopen, "compare with the host"
    ok: bool
    code: int | None = None
    status: str = ""  # CUDA_ERROR_NO_DEVICE
    text: str = ""  # the library's own words, the value it gave, or what was wrong with the result
    ms: float = 0.0


class Stage(Record, frozen=True, omit_defaults=True):
    """One step from the driver library to a convolution, and how it went."""

    name: str  # "libcuda", "init", "context" …; for frameworks "import", "devices", "matmul" …
    outcome: StageOutcome
    calls: tuple[Call, ...] = ()
    ms: float = 0.0
    device: int | None = None  # as CUDA numbers them here
    why: str = ""  # failed: the call's own words; skipped: the stage or library that it needs
    library: str = ""  # the file that is really mapped
    signal: int = 0  # by which it crashed

    @property
    def failing(self) -> Call | None:
        """The first call that did not succeed."""
        return next((call for call in self.calls if not call.ok), None)


class Surprise(Record, frozen=True):
    """A mapped library that is not the one that the loader's model predicted."""

    name: str
    loaded: str
    expected: str
    found: Found


class FrameworkRun(Record, frozen=True, omit_defaults=True):
    """What a framework did in its own interpreter: its stages, its files, its words."""

    framework: str  # Framework.name
    stages: tuple[Stage, ...]
    mapped: tuple[str, ...] = ()  # CUDA libraries really mapped, in order of address
    said: str = ""  # the end of what it printed to standard error, and its exception
    surprises: tuple[Surprise, ...] = ()


class Probe(Record, frozen=True):
    """The live stages; NOT_OBSERVED unless `--probe` asked for them."""

    stages: Fact[tuple[Stage, ...]] = NOT_OBSERVED
    frameworks: Fact[tuple[FrameworkRun, ...]] = NOT_OBSERVED
