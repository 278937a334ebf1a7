"""The packages: experiments in copies of the environment, from what an installer would choose down to one release."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence

import msgspec

from gpuwhy.facts.environment import Package
from gpuwhy.facts.fact import value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.fix.environment import RefusedError
from gpuwhy.fix.installer import FailedError
from gpuwhy.look.environment.packages import normal
from gpuwhy.prove.endings import name, owner, said
from gpuwhy.prove.packages import FRAMEWORKS, between, differences, suspects
from gpuwhy.prove.proof import Tweak
from gpuwhy.proving import stage
from gpuwhy.proving.copies import Copier, Original, original
from gpuwhy.proving.session import Session, SpentError

SPEAK_FOR = ("install.", "framework.", "cuda.", "cudnn.", "env.shadowed", "other.not_gpu")
TYPES = {
    "PackageNotFoundError",
    "DistributionNotFound",
    "VersionConflict",
    "ContextualVersionConflict",
    "ImportError",
    "ModuleNotFoundError",
    "AttributeError",
    "TypeError",
    "ValueError",
    "SystemError",
    "RuntimeError",
    "OSError",
}


def packages(session: Session) -> None:
    """Try other releases, where the failure may be one of packages and the environment can be copied."""
    if session.after is None or session.base is None or not _worth(session):
        return
    try:
        target = original(session.after.facts)
    except RefusedError as error:
        session.left.append(f"packages were not tried: {error}")
        return
    with stage.fresh_folder_beside(target.prefix) as folder:
        copier = Copier(target, folder, session.plan.environ)
        if not copier.uv:
            session.left.append("packages were not tried: that needs uv, which is not installed")
            return
        with contextlib.suppress(FailedError, OSError):
            _tried(session, target, copier)


def _worth(session: Session) -> bool:
    base = session.base
    assert base is not None
    spoken = any(cause.startswith(SPEAK_FOR) and value >= 0.1 for cause, value in session.causes.items())
    return spoken and (
        base.kind in ("signal", "fatal")
        or name(base) in TYPES
        or owner(base) not in ("", "user", "python")
    )


def _tried(session: Session, target: Original, copier: Copier) -> None:
    """As the installer would have it with the same main releases, then with others."""
    assert session.after is not None
    assert session.base is not None
    here = {one.name: one.version for one in target.packages}
    session.bench.copies = lambda tweaks: _made(copier, tweaks)
    blamed = _blamed(session, session.after.facts, here)
    control = session.once((_control(),), "look")
    if control.outcome != "same":
        session.left.append("in a copy of its environment it fails otherwise or runs: packages were not compared")
        return
    lost = [one for one in suspects(said(session.base), FRAMEWORKS) if one not in here]
    for wanted in _wishes(target.packages, here, blamed):
        try:
            fresh = copier.resolve([*wanted, *lost])
        except FailedError:
            continue
        tweaks = sorted(differences(here, fresh, blamed), key=lambda one: -one.weight)
        session.tweaks += [one for one in tweaks if one.id not in {old.id for old in session.tweaks}]
        session.hunted(tweaks)
        if session.proven:
            _bisected(session, copier, here)
            return
        session.found = ()


def _control() -> Tweak:
    return Tweak("package", "package", "in a copy of its environment", heals=False)


def _made(copier: Copier, tweaks: Sequence[Tweak]) -> str:
    """The Python of a copy in which these releases are in place."""
    python = copier.copy("copy")
    named = [one for one in tweaks if one.name]
    copier.change(
        python, [f"{one.name}=={one.value}" for one in named if one.value], [one.name for one in named if not one.value]
    )
    return python


def _blamed(session: Session, facts: Facts, here: dict[str, str]) -> set[str]:
    """Packages that the ending names, whose files are damaged, or that others do not fit."""
    base = session.base
    assert base is not None
    spoken = suspects(" ".join([said(base), *(frame.owner for frame in base.stack)]), here)
    damaged = {normal(one.owner.name) for one in value_or(facts.installs.damage, ())}
    return spoken | damaged


def _wishes(found: Sequence[Package], here: dict[str, str], blamed: set[str]) -> Iterator[list[str]]:
    """Requirements to resolve: the main releases as they are; then frameworks as they are; then anything."""
    roots = _roots(found)
    yield [f"{one}=={here[one]}" for one in roots]
    yield [f"{one}=={here[one]}" if one in FRAMEWORKS else one for one in roots]
    yield [one if one in blamed else f"{one}=={here[one]}" for one in roots]
    yield roots


def _roots(found: Sequence[Package]) -> list[str]:
    """What somebody asked for by name: nothing else that is installed needs it."""
    asked = (text for one in found for text in value_or(one.requires, ()))
    needed = {_named(text) for text in asked if "extra ==" not in text}
    names = [one.name for one in found]
    return [one for one in names if one not in needed and one not in _TOOLS] or names


_TOOLS = ("pip", "setuptools", "wheel", "uv")


def _named(requirement: str) -> str:
    """The package that a requirement names."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement.strip())
    return normal(found[0]).rstrip("-") if found else ""


def _bisected(session: Session, copier: Copier, here: dict[str, str]) -> None:
    """The first release that fails, where one package's release is what matters."""
    if len(session.found) != 1 or session.found[0].value in ("", here.get(session.found[0].name)):
        return
    one = session.found[0]
    if one.name not in here:
        return
    path = between(copier.releases(one.name), one.value, here[one.name])
    low, high = 0, len(path) - 1
    with contextlib.suppress(SpentError, FailedError):
        while high - low > 1:
            middle = (low + high) // 2
            text = f"with {one.name} {path[middle]}"
            tweak = msgspec.structs.replace(one, id=f"package {one.name} {path[middle]}", value=path[middle], text=text)
            outcome = session.once((tweak,), "bisection", keep=0).outcome
            low, high = (middle, high) if outcome == "passes" else (low, middle)
        session.left.append(f"{one.name}: {path[low]} runs, {path[high]} does not; nothing was published between them")
