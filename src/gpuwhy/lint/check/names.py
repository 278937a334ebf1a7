"""Names, releases and extras that are not there, or that fail as they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches

from gpuwhy.facts.version import at_least
from gpuwhy.knowledge import caps, published
from gpuwhy.knowledge.absent import ABSENT, FAILING, KNOW, OTHERS, WHOLE
from gpuwhy.knowledge.installs import gpu_requirement
from gpuwhy.knowledge.releases import family
from gpuwhy.lint.mistakes import Edit, Mistake, know, mistake
from gpuwhy.lint.rules import names, table
from gpuwhy.lint.scope import TENSORFLOW, Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import LINUX, allowed, allows, is_pinned, parsed, releases_of, rows

_EXTRAS = know("Provides-Extra in the metadata of the wheels", "November 2026")
_TF2 = know("TensorFlow 2.0 release notes", "tf.contrib, tf.Session, tf.placeholder are gone")
_CONDA = know("conda's channels defaults, conda-forge and pytorch", "the names of their packages")
_OF_CONDA: dict[str, str] = table("names.of_conda")
"""Names of the package index, and what conda's channels call the same."""
_FRAMEWORKS = names("names.frameworks")
_NO_EXTRA: dict[str, tuple[str, ...]] = table("names.no_extra")
"""Extras that people write and that never were."""
_GONE_EXTRAS: dict[str, str] = table("names.gone_extras")
"""JAX's extras of once → the first Python whose newest JAX is without it."""
_INSTEAD: dict[str, str] = table("names.instead")
_NO_SUCH = "the package index has no such package, so the installation fails"
_PLACEHOLDER = "the package index has a placeholder of that name, whose installation fails"
_ANOTHER = "on the package index that is another project, not the one that runs on a GPU"
_FOR_TWO = ("tf-keras", "tensorflow-datasets", "tensorflow-text", "tensorflow-addons", "keras-cv")


def wrong_name(scope: Scope) -> Iterator[Mistake]:
    """What pip or conda is asked for by a wrong name."""
    told: set[str] = set()
    for pin in scope.pins:
        meant = _OF_CONDA.get(pin.name) if pin.origin == "conda" else None
        if meant and not pin.channel and not pin.build:
            text = f"{pin.name}: conda's channels call it {meant}, so there is no such package"
            fix = f"write {meant}, or list {pin.name} under pip:"
            yield mistake("wrong-name", pin.place, text, _CONDA, fix)
        text, fix = _misnamed(scope, pin) if pin.by_name else ("", "")
        whole = fix.startswith(WHOLE)  # a whole system was frozen: said once
        if not text or (whole and fix in told):
            continue
        told.add(fix)
        severity = "warning" if text is _ANOTHER else "error"
        edit = Edit("pytorch", "torch") if pin.name == "pytorch" and not pin.specifier else None
        said, fix = f"{pin.name}: {text}", fix if whole else f"write {fix}"
        yield mistake("wrong-name", pin.place, said, KNOW, fix, severity, edit)


def _misnamed(scope: Scope, pin: Pin) -> tuple[str, str]:
    """What is wrong with a name of pip's, and the right one; two times "" where nothing is."""
    name = pin.name
    if name == "pytorch":
        return _PLACEHOLDER, "torch"
    if scope.is_elsewhere(pin):
        return "", ""
    if name in ABSENT:
        return _NO_SUCH, ABSENT[name]
    if name in FAILING and scope.for_gpus and pin.version != "0.0":
        return _PLACEHOLDER, FAILING[name]
    if re.fullmatch(r"nvidia-[a-z-]+-cu11[0-7]|nvidia-cudnn|nvidia-tensorflow", name):
        if any(p.name == "nvidia-pyindex" and p.step < pin.step for p in scope.pins):
            return "", ""
        return _PLACEHOLDER, "the wheel for its CUDA major (-cu11, -cu12), or NVIDIA's index"
    if name in OTHERS and scope.for_gpus:
        return _ANOTHER, OTHERS[name]
    near = [] if published.is_project(name) else published.names()
    meant = next(iter(get_close_matches(name, near, 1, 0.88)), "")
    return (_NO_SUCH if meant else ""), meant


def no_such_release(scope: Scope) -> Iterator[Mistake]:
    """A number that nobody published, or one past the newest."""
    for pin in scope.pins if scope.for_gpus else ():
        if not pin.installed or pin.variant or any("/lts/" in one.url for one in pin.indexes):
            continue
        if pin.name in _FRAMEWORKS and pin.version and scope.from_index(pin) and _is_gap(pin):
            known = family(pin.name)
            source = know("files of the package index", known.header.newest if known else "")
            text = f"{pin.name} {pin.version} is not on the package index"
            fix = f"write {pin.name}=={_next(pin)}"
            yield mistake("no-such-release", pin.place, text, source, fix)
        elif pin.name not in (*_FRAMEWORKS, "pytorch", "jax") and not scope.is_elsewhere(pin):
            yield from _unpublished(pin)


def _unpublished(pin: Pin) -> Iterator[Mistake]:
    known = published.releases(pin.name)
    stable = [one for one in known if not one.is_prerelease]
    floor = parsed(re.sub(r"^(>=|==|~=)\s*|,.*", "", pin.specifier))
    if pin.version and published.is_missing(pin.name, pin.version):
        text = f"{pin.name} {pin.version} is not on the package index"
        fix = f"write a release that exists, as {max(stable or known)}"
        yield mistake("no-such-release", pin.place, text, published.SOURCE, fix)
    elif stable and floor and floor.release[:2] > max(stable).release[:2]:
        text = f"{pin.name}{pin.specifier}: the package index had nothing newer than {max(stable)}"
        fix = f"write {pin.name}>={max(stable)}"
        if pin.name == "faiss":
            fix = "write faiss-cpu, or faiss-gpu-cu12: its newer releases are there"
        yield mistake("no-such-release", pin.place, text, published.SOURCE, fix, "warning")


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
    if (pin.name == "jaxlib" and asked < oldest) or (
        pin.name == "tensorflow-gpu" and asked > newest
    ):
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


def no_such_extra(scope: Scope) -> Iterator[Mistake]:
    """tensorflow[and-cuda] before 2.14, and spellings that never were."""
    for pin in scope.pins:
        wrong = _lacks(scope, pin) if pin.installed and pin.extras else ""
        if not wrong:
            continue
        torch = pin.name == "torch"
        without = "without it" if torch else "without its CUDA libraries"
        text = f"{pin.name}{pin.specifier} has no extra {wrong}: pip warns and installs {without}"
        fix = f"write {_INSTEAD.get(pin.name, pin.name)}"
        if wrong == "and-cuda":
            fix = "take CUDA from the system, or tensorflow 2.14 and newer"
        severity = "warning" if torch else "error"
        yield mistake("no-such-extra", pin.place, text, _EXTRAS, fix, severity)


def _lacks(scope: Scope, pin: Pin) -> str:
    row = scope.taken(pin) if pin.name == "tensorflow" and "and-cuda" in pin.extras else None
    if row and not at_least(row.version, "2.14"):
        return "and-cuda"
    pythons = scope.environment.pythons or scope.hinted
    for extra in pin.extras if pin.name == "jax" and not is_pinned(pin) else ():
        first = _GONE_EXTRAS.get(extra, "")
        if first and (not pythons or any(at_least(python, first) for python in pythons)):
            return extra
    return next((extra for extra in pin.extras if extra in _NO_EXTRA.get(pin.name, ())), "")


def tombstone(scope: Scope) -> Iterator[Mistake]:
    """tensorflow-gpu where pip takes 2.12.0, a source package that only refuses to be built."""
    for pin in scope.pins:
        found = releases_of(pin) if pin.name == "tensorflow-gpu" and pin.origin == "pip" else ()
        if not found or found[-1].platform != "source":
            continue
        said = f"{pin.name}{pin.specifier}" if pin.specifier else f"{pin.name} without a version"
        text = f"{said} takes {found[-1].version}, which has no wheel and only fails"
        known = pin.version and allowed("tensorflow", pin.specifier)
        release = pin.version if known else "2.11.1"
        fix = f'write "tensorflow[and-cuda]" (2.14 or newer), or tensorflow=={release}'
        source = know(found[-1].file, f"sha256 {found[-1].sha256[:12]}…")
        yield mistake("tombstone", pin.place, text, source, fix)


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
            if not caps.BROKEN.find(pin.name, one.version)
        ]
        chosen = next((one for one in sound if at_least(one, row.version)), sound[-1])
        wanted = gpu_requirement("tensorflow", pin.name, chosen, None) or f"{pin.name}=={chosen}"
        fix = f'write "{wanted}"'
        if flaw.cure:
            fix += f", or LD_LIBRARY_PATH=…/site-packages/nvidia/{flaw.cure}/lib"
        text = f"{pin.name} {row.version}: {flaw.text}"
        severity = "error" if pin.version else "warning"
        yield mistake("broken-release", pin.place, text, flaw.source, fix, severity)


def _flaw(scope: Scope, pin: Pin, version: str) -> caps.Flaw | None:
    """What is wrong with a release here; None where it is cured."""
    flaw = caps.BROKEN.find(pin.name, version)
    if flaw is None or ("and-cuda" in flaw.text and "and-cuda" not in pin.extras):
        return None
    path = scope.environment.variables.get("LD_LIBRARY_PATH")
    full = scope.base.family in ("cuda", "pytorch", "ngc", "tensorflow")
    cured = (full and scope.base.variant != "base") or (path and flaw.cure in path.value)
    return None if flaw.cure and cured else flaw


def tf1_open(scope: Scope) -> Iterator[Mistake]:
    """tensorflow>=1.12, which is TensorFlow 2 today."""
    for pin in scope.pins:
        if pin.name not in ("tensorflow", "tensorflow-cpu") or not scope.from_index(pin):
            continue
        old = re.fullmatch(r">=?(0\.\d+|1\.\d+)[\w.]*", pin.specifier)
        row = scope.taken(pin) if old and not any(one in scope.names for one in _FOR_TWO) else None
        if row and at_least(row.version, "2"):
            text = f"{pin.name}{pin.specifier} takes {row.version} today; code for TensorFlow 1 "
            text += "does not run there"
            fix = f"write {pin.name}{pin.specifier},<2 (Python 3.7 or older), or from which 2.x on"
            yield mistake("tf1-open", pin.place, text, _TF2, fix, "warning")
