"""Builds: a package compiled before torch is there; a wheel that is not for this Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge.releases import has_python
from gpuwhy.knowledge.source_builds import KNOW, NEED_TORCH, REPOSITORIES
from gpuwhy.lint.mistakes import Mistake, know, mistake
from gpuwhy.lint.rules import pattern, table
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin, holds_only
from gpuwhy.lint.versions import LINUX, PYTHONS, allowed, holds, span, together

_TAGS = know("binary distribution format", "cp310 in a wheel's name: for CPython 3.10 alone")
_LABEL = know("the wheel's own name", "flash_attn-2.8.3+cu12torch2.8…: for that torch")
_TOLD = re.compile(r"no[-_]build[-_]isolation|extra-build-dependencies|match-runtime")
_NEW_PIP = pattern("builds.new_pip")
_JUDGED: dict[str, str] = table("builds.judged")


def torch_at_build(scope: Scope) -> Iterator[Mistake]:
    """Such a package in one step with torch, or built apart from an installed torch."""
    extra = scope.kind == "pyproject" and scope.environment.part
    there = scope.base.framework == "torch" or scope.over_unknown
    if extra or there or scope.kind == "notebook" or _is_told(scope):
        return
    for pin in scope.pins:
        own = pin.name in NEED_TORCH if not pin.reference else pin.name in REPOSITORIES
        page = any(one.role == "links" or not holds_only(one.url) for one in pin.indexes)
        if not own or pin.origin != "pip" or page or pin.local or (pin.reference and pin.version):
            continue
        torch = next((p for p in scope.pins if _is_torch(p) and together(p, pin)), None)
        why = _why(scope, pin, torch) if torch else ""
        if why:
            text = f"{pin.name} has no wheel, and its setup.py imports torch: {why}"
            fix = f"install torch first, then: pip install {pin.name}{pin.specifier}"
            fix += " --no-build-isolation"
            if pin.name.startswith("torch-"):
                fix = "add -f https://data.pyg.org/whl/torch-VERSION+cuXXX.html: it has wheels"
            listed = scope.kind in ("requirements", "pyproject")
            severity = "warning" if listed else "error"
            yield mistake("torch-at-build", pin.place, text, KNOW, fix, severity)


def _is_torch(pin: Pin) -> bool:
    return pin.name in ("torch", "pytorch")


def _is_told(scope: Scope) -> bool:
    """Whether this file or one near it says the way that works."""
    if "PIP_NO_BUILD_ISOLATION" in scope.environment.variables:
        return True
    own = _TOLD.search(scope.read(scope.environment.path) or "")
    return bool(own) or (scope.kind != "dockerfile" and scope.repository.says(_TOLD))


def _why(scope: Scope, pin: Pin, torch: Pin) -> str:
    words = scope.environment.words_of(pin.step)
    if torch.origin == "conda":
        old = any(numbers(python)[:2] < (3, 10) for python in scope.environment.pythons)
        new = scope.kind == "conda" and bool(scope.environment.pythons) and not old
        pinned = "pip" in scope.names and scope.names["pip"].specifier
        alone = "pip builds it apart from conda's torch, and sees none"
        return alone if new and not pinned else ""
    if pin.step == torch.step:
        return f"it is built before the torch of line {torch.place.line} is installed"
    if torch.step > pin.step:
        return f"torch comes only on line {torch.place.line}"
    if not words or "--no-build-isolation" in words or scope.kind == "cog":
        return ""
    pythons = scope.environment.pythons
    before = scope.environment.commands[: pin.step - 1]
    isolated = (
        words[0] == "uv"
        or any(_NEW_PIP.search(command.text) for command in before)
        or (bool(pythons) and all(at_least(python, "3.12") for python in pythons))
    )
    return "a build of its own sees no torch without --no-build-isolation" if isolated else ""


def python_no_wheel(scope: Scope) -> Iterator[Mistake]:
    """No wheel of any allowed release of a framework for the Python that is used."""
    used = scope.environment.pythons
    said = scope.environment.python_from
    if not used and scope.kind in ("requirements", "conda") and not scope.environment.in_image:
        used, said = scope.repository.pythons, "another file of the repository names it"
    for pin in scope.environment.pins:
        if pin.reference or pin.limits or pin.arms:
            yield from _named(scope, pin)
            continue
        here = [one for one in used if one in PYTHONS and holds(pin.marker, one)]
        name = _JUDGED.get(pin.name, "")
        own = pin.by_name and not scope.environment.other_index and here
        if not name or not own or (pin.variant and not pin.version):
            continue
        found = allowed(name, f"=={pin.public}" if pin.version else pin.specifier)
        wheels = [row for row in found if row.platform in (LINUX, "any")]
        if wheels and not any(has_python(row, one) for row, one in product(wheels, here)):
            row = wheels[-1]
            text = f"{name} {row.version} has wheels for Python {span(row.pythons)}, none for "
            text += f"{span(tuple(here))} ({said})"
            fix = f"use Python {span(row.pythons).split()[-1]}, or another {pin.name}"
            source = know(row.file, f"sha256 {row.sha256[:12]}…")
            yield mistake("python-no-wheel", pin.place, text, source, fix)


def _named(scope: Scope, pin: Pin) -> Iterator[Mistake]:
    """A wheel that is named by its file, for another Python."""
    found = re.fullmatch(r"cp([23])(\d+)", pin.tag)
    if not found or pin.marker or pin.limits or pin.arms or scope.kind == "pyproject":
        return
    used, said = scope.environment.pythons, scope.environment.python_from
    tagged = f"{found[1]}.{found[2]}"
    by_three = any(_OF_THREE.match(one.text) for one in scope.environment.commands)
    second = found[1] == "2" and not by_three and not used
    if second or (used and tagged in used):
        return
    if used or found[1] == "2":
        where = f"{span(used)} ({said})" if used else "Python 3, which pip3 fills"
        text = f"the wheel of {pin.name} is for Python {tagged}, not for {where}"
        fix = f"use Python {tagged}, or the wheel for {span(used) if used else 'Python 3'}"
        yield mistake("python-no-wheel", pin.place, text, _TAGS, fix)


_OF_THREE = re.compile(r"(\S*/)?(pip3|python3)( |$)")


def named_wheel(scope: Scope) -> Iterator[Mistake]:
    """flash_attn-2.8.3+cu12torch2.8cxx11abiFALSE… beside torch==2.6.0."""
    torch, base = scope.by_pip("torch"), scope.base
    version, build = (torch.public, torch.variant) if torch else (base.version, "")
    if not version or (torch is None and (base.family != "pytorch" or "pytorch" in scope.names)):
        return
    said = torch.said if torch else f"torch {version} of the image"
    for pin in scope.pins:
        label = pin.local if pin.reference and pin.name != "torch" else ""
        made = re.search(r"(?:torch|pt)(\d+\.\d+|\d{2,3})", label)
        if not made or (torch and not together(pin, torch)):
            continue
        wanted = made[1] if "." in made[1] else f"{made[1][0]}.{made[1][1:]}"
        cuda, own = re.search(r"cu(\d{2})", label), re.match(r"cu(\d{2})\d?", build)
        abi = re.search(r"cxx11abi(TRUE|FALSE)", label, re.IGNORECASE)
        wrong = f"torch {wanted}" if major_minor(version) != wanted else ""
        if not wrong and cuda and own and cuda[1] != own[1]:
            wrong = f"CUDA {cuda[1]}"
        if not wrong and abi and abi[1].upper() == "FALSE" and at_least(version, "2.7"):
            wrong = "the old C++ ABI (cxx11abiFALSE)"
        if wrong:
            text = f"the wheel of {pin.name} is for {wrong}; {said}"
            fix = "take the file of the same release for that torch"
            yield mistake("named-wheel", pin.place, text, _LABEL, fix)
