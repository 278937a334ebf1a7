"""Builds: a package compiled before torch is there; a wheel that is not for this Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product

from gpuwhy.facts.version import at_least
from gpuwhy.knowledge import packages
from gpuwhy.knowledge.published import is_missing
from gpuwhy.knowledge.releases import has_python
from gpuwhy.lint.mistakes import Mistake, know
from gpuwhy.lint.rules import pattern, table, told
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin, holds_only
from gpuwhy.lint.versions import LINUX, PYTHONS, allowed, holds, span

_TOLD = re.compile(r"no[-_]build[-_]isolation|extra-build-dependencies|match-runtime")
_NEW_PIP = pattern("builds.new_pip")
_JUDGED: dict[str, str] = table("builds.judged")
_OF_THREE = re.compile(r"(\S*/)?(pip3|python3)( |$)")


def torch_at_build(scope: Scope) -> Iterator[Mistake]:
    """Such a package in one step with torch, or built apart from an installed torch."""
    extra = scope.kind == "pyproject" and scope.environment.part
    there = scope.base.framework == "torch" or scope.over_unknown
    if extra or there or scope.kind == "notebook" or _is_told(scope):
        return
    known = packages.table()
    for pin in scope.pins:
        own = pin.name in (known.repositories if pin.reference else known.need_torch)
        page = any(one.role == "links" or not holds_only(one.url) for one in pin.indexes)
        if not own or pin.origin != "pip" or page or pin.local or (pin.reference and pin.version):
            continue
        if pin.version and is_missing(pin.name, pin.version):
            continue  # no-such-release tells that: it cannot be installed at all
        torches = (p for p in scope.pins if p.name in ("torch", "pytorch") and p.beside(pin))
        torch = next(torches, None)
        why = _why(scope, pin, torch) if torch else ""
        if why:
            case = "torch-at-build" + (".pyg" if pin.name.startswith("torch-") else "")
            severity = "warning" if scope.kind in ("requirements", "pyproject") else ""
            yield told(case, pin, packages.SOURCES, severity=severity, why=why)


def _is_told(scope: Scope) -> bool:
    """Whether this file or one near it says the way that works."""
    if "PIP_NO_BUILD_ISOLATION" in scope.environment.variables:
        return True
    own = _TOLD.search(scope.read(scope.environment.path) or "")
    return bool(own) or (scope.kind != "dockerfile" and scope.repository.says(_TOLD))


def _why(scope: Scope, pin: Pin, torch: Pin) -> str:
    """Why the build sees no torch; "" where it does, or where nobody can tell."""
    words, pythons = scope.environment.words_of(pin.step), scope.environment.pythons

    def all_since(version: str) -> bool:
        return bool(pythons) and all(at_least(python, version) for python in pythons)

    if torch.origin == "conda":
        new = scope.kind == "conda" and all_since("3.10")
        pinned = "pip" in scope.names and scope.names["pip"].specifier
        alone = "pip builds it apart from conda's torch, and sees none"
        return alone if new and not pinned else ""
    if pin.step == torch.step:
        return f"it is built before the torch of line {torch.place.line} is installed"
    if torch.step > pin.step:
        return f"torch comes only on line {torch.place.line}"
    if not words or "--no-build-isolation" in words or scope.kind == "cog":
        return ""
    before = scope.environment.commands[: pin.step - 1]
    upgraded = any(_NEW_PIP.search(command.text) for command in before)
    isolated = words[0] == "uv" or upgraded or all_since("3.12")
    return "a build of its own sees no torch without --no-build-isolation" if isolated else ""


def python_no_wheel(scope: Scope) -> Iterator[Mistake]:
    """No wheel of any allowed release of a framework for the Python that is used."""
    used, said = scope.environment.pythons, scope.environment.python_from
    if not used and scope.kind in ("requirements", "conda") and not scope.environment.in_image:
        used, said = scope.repository.pythons, "another file of the repository names it"
    for pin in scope.pins:
        here = tuple(one for one in used if one in PYTHONS and holds(pin.marker, one))
        name = _JUDGED.get(pin.name, "")
        if pin.reference or pin.arms:
            yield from _named(scope, pin)
            continue
        own = pin.by_name and not scope.environment.other_index and here
        if not name or not own or (pin.variant and not pin.version):
            continue
        found = allowed(name, f"=={pin.public}" if pin.version else pin.specifier)
        wheels = [row for row in found if row.platform in (LINUX, "any")]
        if wheels and not any(has_python(row, one) for row, one in product(wheels, here)):
            row, has = wheels[-1], span(wheels[-1].pythons)
            values = {"name": name, "version": row.version, "has": has, "pin": pin.name}
            values |= {"used": span(here), "said": said, "last": has.split()[-1]}
            source = know(row.file, f"sha256 {row.sha256[:12]}…")
            yield told("python-no-wheel", pin, source, values=values)


def _named(scope: Scope, pin: Pin) -> Iterator[Mistake]:
    """A wheel that is named by its file, for another Python."""
    found = re.fullmatch(r"cp([23])(\d+)", pin.tag)
    if not found or pin.marker or pin.arms or scope.kind == "pyproject":
        return
    used, tagged = scope.environment.pythons, f"{found[1]}.{found[2]}"
    by_three = any(_OF_THREE.match(one.text) for one in scope.environment.commands)
    if tagged not in used and (used or (found[1] == "2" and by_three)):
        wanted = span(used) if used else "Python 3"
        where = f"{wanted} ({scope.environment.python_from})" if used else "Python 3, of pip3"
        yield told("python-no-wheel.named", pin, tagged=tagged, used=where, wanted=wanted)
