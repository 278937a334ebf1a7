"""Compare: an environment before and after a repair, thing by thing; what is worse anywhere makes a failed fix."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from gpuwhy.model.repair import Compared, Condition, Contradiction, Look, Verdict
from gpuwhy.model.report import Layer, Report

_RANK = {"ok": 0, "none": 1, "unknown": 1, "warn": 2, "bad": 3}
_DRIVER = "libcuda.so.1"
"""The driver's own library: an import that gets as far as to miss it is at an end where no driver is."""
_BY_IMPORTS = ("install.", "env.", "other.")
"""Causes that may have come to light because everything is imported now, and was not before."""
_SURROUNDINGS = ("GPU", "driver", "Python")
"""Rows that no change of an environment alters."""


def compare(
    before: Condition, after: Condition, removed: Collection[str] = (), meant: Collection[str] | None = None
) -> tuple[Compared, ...]:
    """Everything that differs or is bad; `removed` are modules and frameworks that go on purpose.

    `meant` are the modules that the repair is about (None: all): one of them that fails as before is not mended.
    """
    return (
        *_imports(before.imports, after.imports, removed, meant),
        *_contradictions(before.contradictions, after.contradictions),
        *_libraries(before.lost, after.lost, removed),
        *_causes(before, after),
        *_layers(before.layers, after.layers, removed, _uncovered(before, after.causes)),
    )


def _imports(
    before: Mapping[str, str], after: Mapping[str, str], removed: Collection[str], meant: Collection[str] | None
) -> Iterator[Compared]:
    for module in before:
        if module in removed:
            continue
        was, now = before[module], after.get(module, "it is gone")
        verdict = _verdict(was, now)
        aside = verdict == "left" and meant is not None and module not in meant
        yield Compared(f"import {module}", was or "works", now or "works", "same" if aside else verdict, module)


def _verdict(was: str, now: str) -> Verdict:
    """Of two failures, where "" is none."""
    if was and now:
        return "left" if _DRIVER not in now else "same" if _DRIVER in was else "better"
    return "worse" if now else "better" if was else "same"


def _contradictions(before: Sequence[Contradiction], after: Sequence[Contradiction]) -> Iterator[Compared]:
    """A pair that contradicts each other as before is none of this repair's doing; what a GPU package lacks is told."""
    pairs = {(one.by, one.name) for one in before}
    now = {(one.by, one.name) for one in after}
    for one in after:
        if (one.by, one.name) not in pairs:
            yield Compared("metadata", "holds", one.text, "worse")
        elif one.lacks:
            yield Compared("metadata", one.text, one.text, "left")
    for one in before:
        if (one.by, one.name) not in now:
            yield Compared("metadata", one.text, "holds", "better")


def _libraries(
    before: Mapping[str, tuple[str, ...]], after: Mapping[str, tuple[str, ...]], removed: Collection[str]
) -> Iterator[Compared]:
    for framework, was in before.items():
        now = after.get(framework, ())
        if framework in removed or was == now:
            continue
        new = {_stem(name) for name in now} - {_stem(name) for name in was}
        verdict: Verdict = "worse" if new else "better" if len(now) < len(was) else "same"
        yield Compared(f"libraries of {framework}", _missing(was), _missing(now), verdict)


def _stem(name: str) -> str:
    """libcublas.so.12 → libcublas: another release of the framework opens another major of the same library."""
    return name.partition(".so")[0]


def _missing(names: Sequence[str]) -> str:
    if not names:
        return "all found"
    return f"{names[0]} not found" if len(names) == 1 else f"{names[0]} and {len(names) - 1} more not found"


def _causes(before: Condition, after: Condition) -> Iterator[Compared]:
    """A cause of the same framework is the same cause, whatever its release is now.

    One that comes to light behind another of the same framework was there before: it is left. So is one of a framework
    that did not get that far before, and what imports show where none was made before. One that is merely possible, and
    comes to light so, leaves nothing broken that is known. One that was merely possible and is certain now is left.
    """
    was, perhaps = {_kind(one) for one in before.causes}, {_kind(one) for one in before.perhaps}
    for one in after.causes:
        lesser: Verdict = "same" if one in after.perhaps else "left"
        if _kind(one) not in was:
            behind = _behind(before, one)
            yield Compared("cause", behind or "–", one, lesser if behind else "worse")
        elif _kind(one) in perhaps and lesser == "left":
            yield Compared("cause", f"perhaps {one}", one, lesser)


def _behind(before: Condition, cause: str) -> str:
    """What stood before a cause, so that it could not be seen; "" where nothing did."""
    subject = _subject(cause)
    about = {_subject(one): one for one in before.causes}
    if not subject:
        return "nothing was imported" if before.untried and cause.startswith(_BY_IMPORTS) else ""
    if subject in about:
        return about[subject]
    return f"{subject} did not get that far" if subject in before.unjudged else ""


def _uncovered(before: Condition, after: Sequence[str]) -> set[str]:
    """The causes that only came to light, by their ids."""
    was = {_kind(one) for one in before.causes}
    return {one.partition(" (")[0] for one in after if _kind(one) not in was and _behind(before, one)}


def _subject(cause: str) -> str:
    """cudnn.missing (PyTorch 2.6.0) → PyTorch."""
    return _kind(cause).partition(" (")[2]


def _kind(cause: str) -> str:
    """cudnn.missing (PyTorch 2.6.0) → cudnn.missing (PyTorch."""
    return cause.rpartition(" ")[0] if cause.endswith(")") else cause


def _layers(
    before: Sequence[Layer], after: Sequence[Layer], removed: Collection[str], uncovered: Collection[str]
) -> Iterator[Compared]:
    now = {one.name: one for one in after}
    for one in before:
        other = now.get(one.name)
        if one.name in removed or one.name.startswith(_SURROUNDINGS) or (removed and one.name in ("CUDA", "cuDNN")):
            continue
        if other is None:
            yield Compared(one.name, _told(one), "gone", "worse")
        elif _rank(one) != _rank(other):
            lower: Verdict = "left" if other.cause in uncovered else "worse"
            verdict: Verdict = lower if _rank(other) > _rank(one) else "better"
            yield Compared(one.name, _told(one), _told(other), verdict)


def _rank(one: Layer) -> int:
    return _RANK[one.mark]


def _told(one: Layer) -> str:
    return f"{one.text} · {one.note}" if one.note else one.text


def look(report: Report, about: Collection[str]) -> Look:
    """A diagnosis in short; what only a GPU would bring to light counts where the steps are about it."""
    seen = [c for c in report.causes if not c.with_gpu or c.id in about]
    names = {f"{c.id} ({c.subject})" if c.subject else c.id: c.found for c in seen}
    later = bool(report.causes) and all(c.with_gpu for c in report.causes)  # nothing is wrong here, without a GPU
    return Look(
        "unknown" if later else report.status,
        report.headline,
        tuple(names),
        frozenset(n for n in names if not names[n]),
    )


def changed(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[str, ...]:
    """Releases that differ, in words."""
    differ = [name for name in sorted({*old, *new}) if old.get(name) != new.get(name)]
    return tuple(f"{name} {old.get(name, '–')} → {new.get(name, '–')}" for name in differ)


def told_worse(worse: Sequence[Compared]) -> str:
    """Why a fix failed: the first thing that got worse, and how many more."""
    first, others = worse[0], len(worse) - 1
    text = f"the fix failed: {first.what}, before: {first.before}; with it: {first.after}"
    return f"{text}, and {others} more got worse" if others else text
