"""Two packages that own the same files, or open CUDA libraries of two majors; NVIDIA's wheels."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations, product
from typing import NamedTuple

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least
from gpuwhy.knowledge import packages
from gpuwhy.knowledge.packages import (
    ONNX_BROUGHT,
    Flavour,
    brings_onnxruntime,
    flavour,
    library_wheel,
)
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.lint.check.pairs import MANY
from gpuwhy.lint.mistakes import Mistake
from gpuwhy.lint.rules import table, told
from gpuwhy.lint.scope import TENSORFLOW, Scope, newest_said
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import (
    LINUX,
    Release,
    allowed,
    allows,
    is_pinned,
    major,
    releases_of,
    rows,
    specifier,
    together,
)

_SONAME = re.compile(r"^(?!libnv(ToolsExt|tx)).*\.so\.\d")
"""Files that a framework opens by their name; NVTX has one interface, whatever the CUDA."""
_MORE: dict[str, list[str]] = table("files.flavours")
"""Module → its packages without CUDA; those with CUDA end with -gpu and the like."""
_CONDA_NAMES: dict[str, str] = table("files.conda_names")


def flavours(scope: Scope) -> Iterator[Mistake]:
    """Two flavours of one module, such as onnxruntime and onnxruntime-gpu."""
    several: dict[str, list[Pin]] = {}
    for pin in scope.environment.pins:
        found = _flavour(pin)
        if found and pin.origin == "pip" and not pin.limits and not _only_fails(pin):
            several.setdefault(found.module, []).append(pin)
    for module, pins in several.items():
        both = ((a, b) for a, b in combinations(pins, 2) if a.name != b.name and together(a, b))
        one, other = next(both, (None, None))
        if one and other and not _is_between(scope, one, other):
            able = [pin.name for pin in (one, other) if _has_cuda(pin)]
            which = f" ({able[0]} is the one with CUDA)" if len(able) == 1 else ""
            values = {"other": other.name, "said": one.said, "module": module, "which": which}
            yield told("same-files.flavours", other, values=values)


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


def conda_and_pip(scope: Scope) -> Iterator[Mistake]:
    """conda's and pip's builds of one framework."""
    for pin in scope.pins:
        called = _CONDA_NAMES.get(pin.name, "") if pin.origin == "conda" else ""
        other = scope.by_pip(called) if called else None
        if other and together(pin, other) and not keeps_conda(pin, other):
            yield told("same-files.conda", other, conda=pin.name, line=pin.place.line)


def keeps_conda(pin: Pin, other: Pin) -> bool:
    """Whether conda's release is good enough for pip's pin, which then keeps it."""
    if other.variant or other.reference:
        return False
    found = allowed(other.name, pin.specifier)[-1:]
    return any(allows(other.specifier, row.version) for row in found)


def brought(scope: Scope) -> Iterator[Mistake]:
    """onnxruntime-gpu, and a package whose own requirements bring onnxruntime."""
    gpu = scope.by_pip("onnxruntime-gpu")
    for pin in scope.pins if gpu and "onnxruntime" not in scope.names else ():
        if not gpu or pin.origin != "pip" or not together(pin, gpu) or scope.is_bare(pin.step):
            continue
        late = gpu.step <= pin.step  # put over it by a later command, the one for GPUs wins
        if late and brings_onnxruntime(pin.name, pin.version, pin.extras):
            yield told("same-files.brought", pin, ONNX_BROUGHT, line=gpu.place.line)
            return


def two_majors(scope: Scope) -> Iterator[Mistake]:
    """One library of NVIDIA's for two CUDA majors: by wheels that are named, or brought."""
    found = [(pin, _demands(scope, pin)) for pin in scope.pins]
    bringing = [(pin, _brings(pin, rows[-1])) for pin, rows in found if rows]
    bringing += [(p, [p]) for p in scope.pins if library_wheel(p.name) and p.installed]
    said: set[str] = set()  # of each framework the first is enough
    for (one, wheels), (other, others) in combinations(bringing, 2):
        pairs = product(wheels, others) if together(one, other) and one.name not in said else ()
        met = next(((a, b, file) for a, b in pairs if (file := _shared(a, b))), None)
        if met:
            said.add(one.name)
            level = "" if met[0] is one else "warning"
            first, second = _of_wheel(one, met[0]), _of_wheel(other, met[1])
            values = {"first": first, "second": second, "file": met[2]}
            yield told("same-files", other, severity=level, values=values)


def _brings(pin: Pin, row: Release) -> list[Pin]:
    return [Pin(name, pin.place, wish) for name, wish in row.requires.items()]


def _of_wheel(pin: Pin, wheel: Pin) -> str:
    return pin.said if pin is wheel else f"{wheel.name} of {pin.said}"


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


def _demands(scope: Scope, pin: Pin) -> list[Release]:
    """The releases that a pin allows, with what they demand of NVIDIA's wheels."""
    extra = next((e for e in pin.extras if e.startswith(("cuda12", "cuda13"))), "")
    plugin = f"jax-{extra[:6]}-plugin" if pin.name == "jax" and extra else ""
    tensorflow = pin.name in TENSORFLOW and "and-cuda" in pin.extras
    if not scope.from_index(pin) or not (plugin or tensorflow or pin.name == "torch"):
        return []
    found = allowed(plugin or pin.name, pin.specifier)
    linux = [row for row in found if row.platform == LINUX and isinstance(row.requires, dict)]
    if not pin.specifier:
        row = scope.taken(pin, plugin)
        linux = [row] if row in linux else []
    return linux if len(linux) <= MANY else []


def _said(pin: Pin, row: Release) -> str:
    extras = f"[{','.join(pin.extras)}]" if pin.extras else ""
    return f"{pin.name}{extras} {row.version}"


def nvidia_pin(scope: Scope) -> Iterator[Mistake]:
    """A pin of one of NVIDIA's wheels against what every allowed release demands of it."""
    wheels = [pin for pin in scope.pins if library_wheel(pin.name) and pin.specifier]
    for pin in scope.pins if wheels else ():
        found = _demands(scope, pin)
        for wheel in wheels if found else ():
            wishes = [row.requires.get(wheel.name, "") for row in found]
            if together(pin, wheel) and not any(_meet(wheel, wish) for wish in wishes):
                source, said = evidence_of(found[-1], "requires"), _said(pin, found[-1])
                yield told("nvidia-pin", wheel, source, wish=wishes[-1], said=said)


def _meet(wheel: Pin, wish: str) -> bool:
    both = f"{wheel.specifier},{wish}"
    if not wish or specifier(both) is None or not rows(wheel.name):
        return True
    return any(allows(both, row.version) for row in rows(wheel.name))


class Majors(NamedTuple):
    """Majors of CUDA and cuDNN, 0 where not known, and how that is known."""

    cuda: int
    cudnn: int
    said: str = ""
    source: Source | None = None


def borrowed(scope: Scope) -> Iterator[Mistake]:
    """CTranslate2 and ONNX Runtime against the torch, the wheels or the image that lend CUDA."""
    if not scope.environment.runs or scope.base.family in ("ngc", "framework", "tensorflow", "aws"):
        return
    torch = scope.by_pip("torch")
    if torch is not None and not is_pinned(torch) and scope.over_unknown:
        return
    for pin in scope.pins:
        opens = _opens(scope, pin) if pin.installed else None
        lent = _lent(scope, pin, torch) if opens else None
        if not opens or not lent or not _counts(scope, pin, torch):
            continue
        wrong = ""
        if lent.cuda and opens.cuda != lent.cuda:
            wrong = f"CUDA {opens.cuda} and cuDNN {opens.cudnn}"
        elif lent.cudnn and opens.cudnn and opens.cudnn != lent.cudnn:
            wrong = f"cuDNN {opens.cudnn}"
        if wrong:
            exact = pin.version and (torch is None or is_pinned(torch))
            said = f"{pin.name} {pin.version or '(the newest)'}"
            values = {"said": said, "wrong": wrong, "lent": lent.said}
            fix, level = _fix(pin, lent.cuda), "" if exact else "warning"
            yield told("borrowed-cuda", pin, opens.source, fix=fix, severity=level, values=values)
            return


def _counts(scope: Scope, pin: Pin, torch: Pin | None) -> bool:
    """CTranslate2 works without a GPU too: something has to say that one is meant."""
    if pin.name == "onnxruntime-gpu":
        return torch is not None or scope.has_wheels("nvidia-cudnn", "nvidia-cublas")
    held = torch and (torch.variant.startswith("cu") or torch.version)
    return bool(scope.gpu_meant or scope.named_gpu or held)


def _opens(scope: Scope, pin: Pin) -> Majors | None:
    found = None
    if pin.name == "ctranslate2":
        below = re.search(r"<=?\s*([\d.]+)", pin.specifier)
        ceiling = "3.24.0" if below and not at_least(below[1], "4.0.1") else "4.4.0"
        version = pin.version or (ceiling if below and not at_least(below[1], "4.5.1") else "")
        found = packages.ctranslate2(version)
    elif pin.name == "faster-whisper" and "ctranslate2" not in scope.names:
        found = packages.of_faster_whisper(pin.version)
    elif pin.name == "onnxruntime-gpu" and not pin.extras and not scope.environment.other_index:
        row = scope.taken(pin)
        cuda, cudnn = (major(row.cuda), major(row.cudnn)) if row else (0, 0)
        return Majors(cuda, cudnn, "", evidence_of(row, "cuda")) if row and cuda else None
    return Majors(int(found.cuda), int(found.cudnn), "", found.source) if found else None


def _lent(scope: Scope, pin: Pin, torch: Pin | None) -> Majors | None:
    """What wheels, the CUDA image or torch lend, in that order."""
    for own in scope.pins:
        name, cuda = (own.origin == "pip" and library_wheel(own.name)) or ("", 0)
        if name in ("nvidia-cublas", "nvidia-cudnn"):
            exact = re.match(r"={2,3}\s*(\d+)\.", own.specifier) if "cudnn" in name else None
            return Majors(cuda, int(exact[1]) if exact else 0, f"{own.said} is for CUDA {cuda}")
    base = scope.base
    if base.family == "cuda" and base.cuda and base.variant not in ("", "base"):
        if torch is None and pin.name == "onnxruntime-gpu":
            return None  # base-image compares them
        return Majors(major(base.cuda), 0, f"image {base.name} holds CUDA {base.cuda}")
    return _of_torch(scope, torch) if torch and together(pin, torch) else None


def _of_torch(scope: Scope, torch: Pin) -> Majors | None:
    label = re.fullmatch(r"cu(\d+)(\d)", torch.variant)
    named = allowed("torch", f"=={torch.public}") if torch.reference and torch.version else ()
    row = scope.taken(torch) or next(iter(named[-1:]), None)
    if row is None or (torch.variant and not label) or scope.base.family == "pytorch":
        return None
    cuda, cudnn = int(label[1]) if label else major(row.cuda), major(row.cudnn)
    if scope.environment.other_index or not cuda:
        return None
    both = f"CUDA {cuda}" + (f" and cuDNN {cudnn}" if cudnn else "")
    return Majors(cuda, cudnn, f"{newest_said(torch, row)} beside it brings {both}")


def _fix(pin: Pin, cuda: int) -> str:
    if pin.name == "onnxruntime-gpu":
        return f"take an onnxruntime-gpu for CUDA {cuda}, or a torch for its CUDA"
    if cuda == 11:
        return 'add "ctranslate2<4"'
    if cuda == 12:
        return 'add "ctranslate2<4.5" for cuDNN 8, or take torch 2.4 or newer for cuDNN 9'
    return "add nvidia-cublas-cu12 and nvidia-cudnn-cu12"
