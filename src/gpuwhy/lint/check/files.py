"""Two packages that own the same files, and NVIDIA's wheels beside a framework."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.facts.version import at_least
from gpuwhy.knowledge.bringers import ONNX_BROUGHT, brings_onnxruntime
from gpuwhy.knowledge.flavours import Flavour, flavour, library_wheel
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.lint.check.pairs import MANY
from gpuwhy.lint.mistakes import Mistake, know, mistake
from gpuwhy.lint.rules import table
from gpuwhy.lint.scope import TENSORFLOW, Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import (
    LINUX,
    Release,
    allowed,
    allows,
    major,
    releases_of,
    rows,
    specifier,
    together,
)

_FILES = know("RECORD of both wheels", "each writes the same package; the one installed last wins")
_MAJORS = know("names of NVIDIA's wheels", "-cu11, -cu12, -cu13: the CUDA they are built for")
_SONAME = re.compile(r"^(?!libnv(ToolsExt|tx)).*\.so\.\d")
"""Files that a framework opens by their name; NVTX has one interface, whatever the CUDA."""
_LAST = "last of all: pip uninstall -y onnxruntime, then force-reinstall onnxruntime-gpu"
_MORE: dict[str, list[str]] = table("files.flavours")
"""Module → its packages without CUDA; those with CUDA end with -gpu and the like."""
_CONDA_NAMES: dict[str, str] = table("files.conda_names")


def same_files(scope: Scope) -> Iterator[Mistake]:
    """Flavours of one module, conda's and pip's builds, NVIDIA's wheels of two majors."""
    yield from _flavours(scope)
    yield from _conda_and_pip(scope)
    for one, other in _two_majors(scope):
        file = _shared(one, other)
        if file:
            text = f"{other.name} and {one.said} both install {file}: the last one wins"
            fix = "keep the one for the CUDA major of your framework"
            yield mistake("same-files", other.place, text, _FILES, fix)
    yield from _brought(scope)
    yield from _implied(scope)


def _flavours(scope: Scope) -> Iterator[Mistake]:
    several: dict[str, list[Pin]] = {}
    for pin in scope.environment.pins:
        found = _flavour(pin)
        if found and pin.origin == "pip" and not pin.limits and not _only_fails(pin):
            several.setdefault(found.module, []).append(pin)
    for module, pins in several.items():
        pairs = itertools.combinations(pins, 2)
        both = next(((a, b) for a, b in pairs if a.name != b.name and together(a, b)), None)
        if both and not _is_between(scope, *both):
            one, other = both
            text = f"{other.name} and {one.said} both install {module}/: the last one wins"
            able = [pin.name for pin in both if _has_cuda(pin)]
            which = f" ({able[0]} is the one with CUDA)" if len(able) == 1 else ""
            fix = f"keep one of them{which}, then reinstall it: the files of both are mixed"
            yield mistake("same-files", other.place, text, _FILES, fix)


def _flavour(pin: Pin) -> Flavour | None:
    for module, plain in _MORE.items():
        if pin.name in plain or pin.name.startswith(f"{module}-gpu"):
            return Flavour(module, pin.name not in plain)
    return flavour(pin.name)


def _has_cuda(pin: Pin) -> bool:
    own = _flavour(pin)
    old = pin.name == "tensorflow" and bool(pin.version) and not at_least(pin.version, "1.15")
    return bool(own and own.cuda) and not old


def _only_fails(pin: Pin) -> bool:
    """Whether nothing of it is installed: no wheel of any release that pip may take."""
    found = releases_of(pin)
    if pin.name == "tensorflow-gpu":
        return found[-1].platform == "source" if found else bool(pin.version)
    return bool(found) and all(row.platform == "source" for row in found)


def _is_between(scope: Scope, one: Pin, other: Pin) -> bool:
    """Whether the first of two is taken away before the second is installed."""
    first, last = sorted((one, other), key=lambda pin: pin.step)
    between = scope.environment.commands[first.step : last.step]
    return any({"uninstall", first.name} <= set(command.words) for command in between)


def _conda_and_pip(scope: Scope) -> Iterator[Mistake]:
    for pin in scope.pins:
        called = _CONDA_NAMES.get(pin.name, "") if pin.origin == "conda" else ""
        other = scope.by_pip(called) if called else None
        if other and together(pin, other) and not keeps_conda(pin, other):
            text = f"pip's {other.name} overwrites conda's {pin.name} (line {pin.place.line}): "
            text += "both install the same files"
            fix = f"keep one: conda's {pin.name} or pip's {other.name}"
            yield mistake("same-files", other.place, text, _FILES, fix)


def keeps_conda(pin: Pin, other: Pin) -> bool:
    """Whether conda's release is good enough for pip's pin, which then keeps it."""
    if other.variant or other.reference:
        return False
    found = allowed(other.name, pin.specifier)[-1:]
    return any(allows(other.specifier, row.version) for row in found)


def _two_majors(scope: Scope) -> Iterator[tuple[Pin, Pin]]:
    """Two of NVIDIA's wheels for different CUDA majors in one environment."""
    wheels = [pin for pin in scope.pins if library_wheel(pin.name) and pin.origin == "pip"]
    for one, other in itertools.combinations(wheels, 2):
        if _cuda(one) != _cuda(other) and together(one, other):
            yield one, other


def _cuda(pin: Pin) -> int:
    """The CUDA major in the name of one of NVIDIA's wheels."""
    found = library_wheel(pin.name)
    return found[1] if found else 0


def _shared(one: Pin, other: Pin) -> str:
    """A file that the newest allowed release of each installs, of one library for two majors."""
    a, b = library_wheel(one.name), library_wheel(other.name)
    if not a or not b or a[0] != b[0] or a[1] == b[1]:
        return ""
    both = set(_ships(one)) & set(_ships(other))
    return min((file for file in both if _SONAME.search(file)), default="")


def _ships(pin: Pin) -> tuple[str, ...]:
    row = next((r for r in reversed(releases_of(pin)) if r.platform == LINUX), None)
    return row.ships if row and isinstance(row.ships, tuple) else ()


def _brought(scope: Scope) -> Iterator[Mistake]:
    """onnxruntime-gpu, and a package whose own requirements bring onnxruntime."""
    gpu = scope.by_pip("onnxruntime-gpu")
    if gpu is None or "onnxruntime" in scope.names:
        return
    for pin in scope.pins:
        beside = pin.origin == "pip" and together(pin, gpu) and not scope.is_bare(pin.step)
        late = gpu.step <= pin.step  # put over it by a later command, the one for GPUs wins
        if beside and late and brings_onnxruntime(pin.name, pin.version, pin.extras):
            text = f"{pin.name} asks for onnxruntime, which installs the same files as "
            text += f"onnxruntime-gpu (line {gpu.place.line}): the last one wins"
            yield mistake("same-files", pin.place, text, ONNX_BROUGHT, _LAST, "warning")
            return


class Demand(NamedTuple):
    """What one release demands of NVIDIA's wheels."""

    pin: Pin
    said: str
    row: Release


def _demands(scope: Scope, pin: Pin) -> list[Demand]:
    """The demands of each release that a pin allows; [] where unknown or too many."""
    if not scope.from_index(pin):
        return []
    extra = next((e for e in pin.extras if e.startswith(("cuda12", "cuda13"))), "")
    found: tuple[Release, ...] = ()
    if pin.name == "torch" or (pin.name in TENSORFLOW and "and-cuda" in pin.extras):
        found = releases_of(pin)
    elif pin.name == "jax" and extra:
        found = allowed(f"jax-{extra[:6]}-plugin", pin.specifier)
    linux = [row for row in found if row.platform == LINUX and isinstance(row.requires, dict)]
    if not pin.specifier:
        row = scope.taken(pin)
        linux = [row] if row in linux else []
    if len(linux) > MANY:
        return []
    extras = f"[{','.join(pin.extras)}]" if pin.extras else ""
    return [Demand(pin, f"{pin.name}{extras} {row.version}", row) for row in linux]


def _implied(scope: Scope) -> Iterator[Mistake]:
    """Frameworks, or a named wheel, that bring one library in two majors into one folder."""
    own = [pin for pin in scope.pins if library_wheel(pin.name) and pin.installed]
    asking = [found[-1] for pin in scope.pins if (found := _demands(scope, pin))]
    for one, other in itertools.combinations(asking, 2):
        met = _meeting(one, [Pin(n, other.pin.place, r) for n, r in other.row.requires.items()])
        if met and together(one.pin, other.pin):
            text = f"{one.said} and {other.said} bring {met[0]} and {met[1].name}: both install "
            text += f"{met[2]} in one folder, and the last one wins"
            fix = f"releases for one CUDA major: gpuwhy plan {one.pin.name} {other.pin.name}"
            source = evidence_of(other.row, "requires")
            yield mistake("same-files", other.pin.place, text, source, fix, "warning")
    for demand in asking:
        met = _meeting(demand, [pin for pin in own if together(pin, demand.pin)])
        if met:
            text = f"{met[1].name} and {met[0]}, which {demand.said} brings, install the same "
            text += "files: the last one wins"
            fix = f"leave {met[1].name} out, or take a {demand.pin.name} for its CUDA"
            yield mistake("same-files", met[1].place, text, _FILES, fix, "warning")


def _meeting(demand: Demand, pins: list[Pin]) -> tuple[str, Pin, str] | None:
    for (name, wish), pin in itertools.product(demand.row.requires.items(), pins):
        file = _shared(Pin(name, pin.place, wish), pin)
        if file:
            return name, pin, file
    return None


def nvidia_pin(scope: Scope) -> Iterator[Mistake]:
    """A pin of one of NVIDIA's wheels against what every allowed release demands of it."""
    wheels = [pin for pin in scope.pins if library_wheel(pin.name) and pin.specifier]
    for pin in scope.pins if wheels else ():
        found = _demands(scope, pin)
        for wheel in wheels if found else ():
            wishes = [demand.row.requires.get(wheel.name, "") for demand in found]
            if not together(pin, wheel) or any(_meet(wheel, wish) for wish in wishes):
                continue
            last = found[-1]
            text = f"{wheel.name}{wheel.specifier} is pinned, and {last.said} demands {wishes[-1]}"
            fix = f"remove the pin (line {wheel.place.line}): {last.said} brings its own"
            fix += f", or write {wheel.name}{wishes[-1]}"
            source = evidence_of(last.row, "requires")
            yield mistake("nvidia-pin", wheel.place, text, source, fix)


def _meet(wheel: Pin, wish: str) -> bool:
    both = f"{wheel.specifier},{wish}"
    if not wish or specifier(both) is None or not rows(wheel.name):
        return True
    return any(allows(both, row.version) for row in rows(wheel.name))


def mixed_cuda(scope: Scope) -> Iterator[Mistake]:
    """NVIDIA's wheels of two CUDA majors, and no torch that one of them is for."""
    torch = scope.by_pip("torch")
    row = scope.taken(torch) if torch and torch.version and not torch.variant else None
    for one, other in _two_majors(scope):
        serves = row and major(row.cuda) in (_cuda(one), _cuda(other))
        if not _shared(one, other) and not serves:
            text = f"{other.name} is for CUDA {_cuda(other)}, {one.said} for CUDA {_cuda(one)}"
            fix = "keep the wheels of one CUDA major, or leave them to the framework"
            yield mistake("mixed-cuda", other.place, text, _MAJORS, fix, "warning")
            return
