"""Names and releases that are not there, or that fail as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from gpuwhy.facts.version import at_least
from gpuwhy.knowledge import flaws, published
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


@cache
def _meant(kind: str) -> dict[str, str]:
    """Wrong names, and what is meant: absent, placeholder or another."""
    found: dict[str, str] = table(f"names.{kind}")
    return {name: meant for meant, wrong in found.items() for name in wrong.split()}


def wrong_name(scope: Scope) -> Iterator[Mistake]:
    """What pip or conda is asked for by a wrong name; a frozen system is told once."""
    said: set[str] = set()
    for pin in scope.pins:
        if pin.origin == "conda" and pin.name in _OF_CONDA and not (pin.channel or pin.build):
            yield told("wrong-name.conda", pin, meant=_OF_CONDA[pin.name])
        kind, meant = _misnamed(scope, pin) if pin.by_name else ("", "")
        if kind and meant not in said:
            said |= {meant} if meant.startswith("leave") else set()
            edit = Edit("pytorch", "torch") if pin.name == "pytorch" and not pin.specifier else None
            fix = meant if meant.startswith("leave") else f"write {meant}"
            yield told(f"wrong-name.{kind}", pin, fix=fix, edit=edit)


def _misnamed(scope: Scope, pin: Pin) -> tuple[str, str]:
    """What is wrong with a name of pip's, and the right one; two times "" where nothing is."""
    name = pin.name
    if name == "pytorch":
        return "placeholder", "torch"
    if scope.is_elsewhere(pin):
        return "", ""
    if name in _meant("absent"):
        return "absent", _meant("absent")[name]
    if name in _meant("placeholder"):
        return "placeholder", _meant("placeholder")[name]
    if re.fullmatch(r"nvidia-[a-z-]+-cu11[0-7]|nvidia-cudnn|nvidia-tensorflow", name):
        own = any(p.name == "nvidia-pyindex" and p.step < pin.step for p in scope.pins)
        fix = "the wheel for its CUDA major (-cu11, -cu12), or NVIDIA's index"
        return ("", "") if own else ("placeholder", fix)
    if name in _meant("another") and scope.for_gpus:
        return "another", _meant("another")[name]
    meant = published.meant(name)
    return ("absent" if meant else ""), meant


def no_such_release(scope: Scope) -> Iterator[Mistake]:
    """A number that nobody published, or one past the newest."""
    for pin in scope.pins if scope.for_gpus else ():
        known = family(pin.name)
        if not pin.installed or pin.variant or any("/lts/" in one.url for one in pin.indexes):
            continue
        if pin.name in _FRAMEWORKS and pin.version and scope.from_index(pin) and _is_gap(pin):
            source = know("files of the package index", known.header.newest if known else "")
            yield told("no-such-release.gap", pin, source, next=_next(pin))
        elif pin.name not in (*_FRAMEWORKS, "pytorch", "jax") and not scope.is_elsewhere(pin):
            yield from _unpublished(pin)


def _unpublished(pin: Pin) -> Iterator[Mistake]:
    known = published.releases(pin.name)
    stable = [one for one in known if not one.is_prerelease]
    newest = max(stable or known, default=None)
    floor = parsed(re.sub(r"^(>=|==|~=)\s*|,.*", "", pin.specifier))
    if pin.version and published.is_missing(pin.name, pin.version):
        asked = parsed(pin.version)
        posts = [one for one in stable if asked and one.release == asked.release and one > asked]
        yield told("no-such-release", pin, published.SOURCE, nearest=max(posts, default=newest))
    elif stable and floor and newest and floor.release[:2] > newest.release[:2]:
        instead = "faiss-cpu, or faiss-gpu-cu12" if pin.name == "faiss" else f"{pin.name}>={newest}"
        source = published.SOURCE
        yield told("no-such-release.newer", pin, source, newest=newest, instead=instead)


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
    before = asked < oldest and pin.name == "jaxlib"
    after = asked > newest and pin.name == "tensorflow-gpu"
    inside = oldest < asked < newest and not any(allows(pin.specifier, r.version) for r in known)
    return before or after or inside


def _next(pin: Pin) -> str:
    """The next release after the one that is asked for."""
    asked, known = parsed(pin.version), rows(pin.name)
    sound = (row for row in known if not row.yanked and row.platform != "source")
    later = ((parsed(row.version), row.version) for row in sound)
    found = (text for one, text in later if asked and one and one > asked and not one.is_prerelease)
    return next(found, str(known[-1].version))


def tombstone(scope: Scope) -> Iterator[Mistake]:
    """tensorflow-gpu where pip takes 2.12.0, a source package that only refuses to be built."""
    for pin in scope.pins:
        found = releases_of(pin) if pin.name == "tensorflow-gpu" and pin.origin == "pip" else ()
        if found and found[-1].platform == "source":
            row = found[-1]
            said = f"{pin.name}{pin.specifier or ' without a version'}"
            known = pin.version and allowed("tensorflow", pin.specifier)
            instead = pin.version if known else "2.11.1"
            source = know(row.file, f"sha256 {row.sha256[:12]}…")
            yield told("tombstone", pin, source, said=said, version=row.version, instead=instead)


def broken(scope: Scope) -> Iterator[Mistake]:
    """TensorFlow releases whose GPU part does not work as published."""
    for pin in scope.pins:
        row = scope.taken(pin) if pin.name in TENSORFLOW and scope.from_index(pin) else None
        meant = "and-cuda" in pin.extras or scope.gpu_meant
        flaw = _flaw(scope, pin, row.version) if row and meant else None
        if not row or not flaw:
            continue
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
        values = {"version": row.version, "flaw": flaw.text}
        severity = "" if pin.version else "warning"
        yield told("broken-release", pin, flaw.source, fix=fix, severity=severity, values=values)


def _flaw(scope: Scope, pin: Pin, version: str) -> flaws.Flaw | None:
    """What is wrong with a release here; None where it is cured."""
    flaw = flaws.flaw(pin.name, version)
    if flaw is None or ("and-cuda" in flaw.text and "and-cuda" not in pin.extras):
        return None
    path = scope.environment.variables.get("LD_LIBRARY_PATH")
    full = scope.base.family in ("cuda", "pytorch", "ngc", "tensorflow")
    cured = (full and scope.base.variant != "base") or (path and flaw.cure in path.text)
    return None if flaw.cure and cured else flaw
