"""Names and releases that are not there, or that fail as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.facts.version import at_least
from gpuwhy.knowledge import flaws, packages, published
from gpuwhy.knowledge.installs import gpu_requirement
from gpuwhy.knowledge.releases import family
from gpuwhy.lint.mistakes import Edit, Mistake, know
from gpuwhy.lint.rules import names, table, told
from gpuwhy.lint.scope import TENSORFLOW, Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import LINUX, allowed, allows, parsed, releases_of, rows

_OF_CONDA: dict[str, str] = table("names.of_conda")
"""Names of the package index, and what conda's channels call the same."""
_FRAMEWORKS = names("names.frameworks")
_NO_SUCH = "the package index has no such package, so the installation fails"
_PLACEHOLDER = "the package index has a placeholder of that name, whose installation fails"
_ANOTHER = "on the package index that is another project, not the one that runs on a GPU"


def wrong_name(scope: Scope) -> Iterator[Mistake]:
    """What pip or conda is asked for by a wrong name."""
    said: set[str] = set()
    for pin in scope.pins:
        meant = _OF_CONDA.get(pin.name) if pin.origin == "conda" else None
        if meant and not pin.channel and not pin.build:
            yield told("wrong-name.conda", pin.place, {"name": pin.name, "meant": meant})
        why, fix = _misnamed(scope, pin) if pin.by_name else ("", "")
        whole = fix.startswith(packages.WHOLE)  # a whole system was frozen: said once
        if why and not (whole and fix in said):
            said.add(fix)
            edit = Edit("pytorch", "torch") if pin.name == "pytorch" and not pin.specifier else None
            fix = fix if whole else f"write {fix}"
            severity = "warning" if why is _ANOTHER else None
            yield told(
                "wrong-name",
                pin.place,
                {"name": pin.name, "why": why},
                packages.KNOW,
                fix,
                severity,
                edit,
            )


def _misnamed(scope: Scope, pin: Pin) -> tuple[str, str]:
    """What is wrong with a name of pip's, and the right one; two times "" where nothing is."""
    name, known = pin.name, packages.table()
    if name == "pytorch":
        return _PLACEHOLDER, "torch"
    if scope.is_elsewhere(pin):
        return "", ""
    if name in known.absent:
        return _NO_SUCH, known.absent[name]
    if name in known.failing and scope.for_gpus and pin.version != "0.0":
        return _PLACEHOLDER, known.failing[name]
    if re.fullmatch(r"nvidia-[a-z-]+-cu11[0-7]|nvidia-cudnn|nvidia-tensorflow", name):
        own = any(p.name == "nvidia-pyindex" and p.step < pin.step for p in scope.pins)
        fix = "the wheel for its CUDA major (-cu11, -cu12), or NVIDIA's index"
        return ("", "") if own else (_PLACEHOLDER, fix)
    if name in known.others and scope.for_gpus:
        return _ANOTHER, known.others[name]
    meant = published.meant(name)
    return (_NO_SUCH if meant else ""), meant


def no_such_release(scope: Scope) -> Iterator[Mistake]:
    """A number that nobody published, or one past the newest."""
    for pin in scope.pins if scope.for_gpus else ():
        if not pin.installed or pin.variant or any("/lts/" in one.url for one in pin.indexes):
            continue
        if pin.name in _FRAMEWORKS and pin.version and scope.from_index(pin) and _is_gap(pin):
            known = family(pin.name)
            source = know("files of the package index", known.header.newest if known else "")
            values = {"name": pin.name, "version": pin.version, "next": _next(pin)}
            yield told("no-such-release.gap", pin.place, values, source)
        elif pin.name not in (*_FRAMEWORKS, "pytorch", "jax") and not scope.is_elsewhere(pin):
            yield from _unpublished(pin)


def _unpublished(pin: Pin) -> Iterator[Mistake]:
    known = published.releases(pin.name)
    stable = [one for one in known if not one.is_prerelease]
    newest = max(stable or known, default=None)
    floor = parsed(re.sub(r"^(>=|==|~=)\s*|,.*", "", pin.specifier))
    values = {"name": pin.name, "version": pin.version, "bound": pin.specifier, "newest": newest}
    if pin.version and published.is_missing(pin.name, pin.version):
        yield told("no-such-release", pin.place, values, published.SOURCE)
    elif stable and floor and newest and floor.release[:2] > newest.release[:2]:
        instead = "faiss-cpu, or faiss-gpu-cu12" if pin.name == "faiss" else f"{pin.name}>={newest}"
        source = published.SOURCE
        yield told("no-such-release.newer", pin.place, {**values, "instead": instead}, source)


def _is_gap(pin: Pin) -> bool:
    """Whether the release lies between those that are known, and is none of them."""
    asked, known = parsed(pin.version), rows(pin.name)
    if not known or asked is None or asked.local:
        return False
    if asked.is_prerelease:
        lost = published.is_missing(pin.name, pin.version)
        return not asked.is_devrelease and not pin.indexes and lost
    oldest, newest = parsed(known[0].version), parsed(known[-1].version)
    if oldest is None or newest is None:
        return False
    if pin.name == "jaxlib" and asked < oldest:
        return True
    if pin.name == "tensorflow-gpu" and asked > newest:
        return True
    return oldest < asked < newest and not any(allows(pin.specifier, r.version) for r in known)


def _next(pin: Pin) -> str:
    """The next release after the one that is asked for."""
    asked = parsed(pin.version)
    for row in rows(pin.name):
        found = parsed(row.version)
        later = asked and found and found > asked and not found.is_prerelease
        if later and not row.yanked and row.platform != "source":
            return str(row.version)
    return str(rows(pin.name)[-1].version)


def tombstone(scope: Scope) -> Iterator[Mistake]:
    """tensorflow-gpu where pip takes 2.12.0, a source package that only refuses to be built."""
    for pin in scope.pins:
        found = releases_of(pin) if pin.name == "tensorflow-gpu" and pin.origin == "pip" else ()
        if found and found[-1].platform == "source":
            row = found[-1]
            said = (
                f"{pin.name}{pin.specifier}" if pin.specifier else f"{pin.name} without a version"
            )
            known = pin.version and allowed("tensorflow", pin.specifier)
            instead = pin.version if known else "2.11.1"
            source = know(row.file, f"sha256 {row.sha256[:12]}…")
            values = {"said": said, "version": row.version, "instead": instead}
            yield told("tombstone", pin.place, values, source)


def broken(scope: Scope) -> Iterator[Mistake]:
    """TensorFlow releases whose GPU part does not work as published."""
    for pin in scope.pins:
        row = scope.taken(pin) if pin.name in TENSORFLOW and scope.from_index(pin) else None
        meant = "and-cuda" in pin.extras or scope.gpu_meant
        flaw = _flaw(scope, pin, row.version) if row and meant else None
        if row and flaw:
            sound = [
                one.version
                for one in rows(pin.name)
                if one.platform == LINUX and re.fullmatch(r"[\d.]+", one.version)
                if not flaws.flaw(pin.name, one.version)
            ]
            chosen = next((one for one in sound if at_least(one, row.version)), sound[-1])
            wanted = gpu_requirement("tensorflow", pin.name, chosen, None)
            fix = f'write "{wanted or f"{pin.name}=={chosen}"}"'
            if flaw.cure:
                fix += f", or LD_LIBRARY_PATH=…/site-packages/nvidia/{flaw.cure}/lib"
            severity = None if pin.version else "warning"
            values = {"name": pin.name, "version": row.version, "flaw": flaw.text}
            yield told("broken-release", pin.place, values, flaw.source, fix, severity)


def _flaw(scope: Scope, pin: Pin, version: str) -> flaws.Flaw | None:
    """What is wrong with a release here; None where it is cured."""
    flaw = flaws.flaw(pin.name, version)
    if flaw is None or ("and-cuda" in flaw.text and "and-cuda" not in pin.extras):
        return None
    path = scope.environment.variables.get("LD_LIBRARY_PATH")
    full = scope.base.family in ("cuda", "pytorch", "ngc", "tensorflow")
    cured = (full and scope.base.variant != "base") or (path and flaw.cure in path.value)
    return None if flaw.cure and cured else flaw
