"""cuDNN: which one a framework accepts at run time, and which CUDA and GPUs a release serves."""

import re
from typing import Literal

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge.tables import load

Needs = Literal["minor or newer", "same minor", "same major"]


class Rule(msgspec.Struct, frozen=True):
    """How a framework compares the cuDNN that it finds with its own, from one release on."""

    framework: str
    since: str
    needs: Needs
    text: str
    source: Source


class Compiled(msgspec.Struct, frozen=True):
    """The cuDNN headers of a release, as its own version check carries them in its code."""

    framework: str
    release: str  # major.minor, for its whole series
    cudnn: str
    source: Source


class Table(msgspec.Struct, frozen=True):
    """cudnn.json."""

    cuda: dict[int, tuple[str, str]]  # major: the oldest and the newest CUDA that it exists for
    rules: tuple[Rule, ...]  # per framework, newest first
    compiled: tuple[Compiled, ...]


def table() -> Table:
    """Everything that is known of cuDNN."""
    return load("cudnn.json", Table)


def cuda_range(cudnn: int) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The oldest and the newest CUDA that a major release of cuDNN exists for."""
    known = table().cuda.get(cudnn)
    return (numbers(known[0]), numbers(known[1])) if known else None


def has_minor(cudnn: int, cuda: str) -> bool:
    """Whether a major release of cuDNN exists for a release of CUDA ('10.1')."""
    known = cuda_range(cudnn)
    return known is not None and known[0] <= numbers(cuda)[:2] <= known[1]


def rule(framework: str, version: str) -> Rule | None:
    """The rule of one release; None when no row knows the framework."""
    mine = (r for r in table().rules if r.framework == framework)
    return next((r for r in mine if at_least(version, r.since)), None)


def compiled(framework: str, version: str) -> Compiled | None:
    """What a release was compiled with, where a row knows."""
    wanted = (framework, major_minor(version))
    return next((row for row in table().compiled if (row.framework, row.release) == wanted), None)


def fits(needs: Needs, built: str, loaded: str) -> bool | None:
    """Whether a loaded cuDNN serves a build; None when a minor version is needed and not known."""
    want, have = numbers(built), numbers(loaded)
    if not want or not have:
        return None
    if want[0] != have[0]:
        return False
    if needs == "same major":
        return True
    if len(want) < 2 or len(have) < 2:
        return None
    return have[1] == want[1] if needs == "same minor" else have[1] >= want[1]


def cudnn_dotted(number: str) -> str:
    """cuDNN's own number, 8904 or 90100, as 8.9.4 (8904); anything else as it is."""
    if not re.fullmatch(r"\d{4,6}", number):
        return number
    major, rest = divmod(int(number), 10000 if int(number) > 89999 else 1000)
    return f"{major}.{rest // 100}.{rest % 100} ({number})"
