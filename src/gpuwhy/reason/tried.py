"""Tried: what real imports of the frameworks mean for a report that is otherwise without a cause."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import Facts, Imported
from gpuwhy.model.repair import name_of
from gpuwhy.model.report import Layer, Report, Shown
from gpuwhy.model.threshold import FOUND
from gpuwhy.model.words import and_more

ANYHOW = "other.not_gpu"
"""What is told of an import that fails where nothing says why; a text that speaks for more takes its place."""


PRINTED = frozenset({"install.inconsistent", "install.conflict", "install.corrupted", "framework.extension_abi"})
"""What a warning of an import that went well can show: a part that did not load. What a machine without a GPU makes
packages print is none of it."""
PERHAPS, SEEN = 0.4, 0.85
"""From when on such a warning speaks for a cause; how sure that is, since it was printed here."""


class Failed(NamedTuple):
    """A framework, or what is built on it, that was imported, and all that was said about it."""

    who: str  # "PyTorch 2.6.0"
    title: str  # PyTorch
    one: Imported


def worth(causes: Sequence[Shown]) -> bool:
    """Whether imports are worth their time: nothing was found that stops GPU work here."""
    return not any(one.found and one.stops and not one.with_gpu for one in causes)


def failed(facts: Facts) -> list[Failed]:
    """The imports that failed."""
    return [one for one in _tried(facts) if one.one.failed]


def _tried(facts: Facts) -> list[Failed]:
    """All imports, with those whom they are told of."""
    known = {one.name: one for one in value_or(facts.target.frameworks, ())}
    own = {one.path.rpartition("/")[2]: one for one in known.values()}
    out = []
    for one in value_or(facts.target.imports, ()):
        about = own.get(one.top) or known.get(one.framework)
        if one.package:
            out.append(Failed(one.package, "", one))
        elif about is not None:
            out.append(Failed(f"{about.title} {about.version}", about.title, one))
    return out


def printed(report: Report, facts: Facts) -> list[Failed]:
    """The imports that went well and had something to say, where nothing that is known stops GPU work."""
    if any(one.found and one.stops and not one.with_gpu for one in report.causes):
        return []
    return [one for one in _tried(facts) if one.one.ended == "well" and one.one.text]


def with_printed(report: Report, read: Sequence[tuple[Failed, Report]], condition: str) -> Report:
    """The report with what imports that went well printed of parts that did not load."""
    known = {one.id for one in report.causes if one.found}
    told = {one: cause for one, cause in _told(read, PERHAPS).items() if cause.id in PRINTED - known}
    if not told:
        return report
    linked = {cause.id: _carried_out(report, cause) for cause in reversed(told.values())}
    causes = {name: _seen(cause) for name, cause in linked.items()}
    kept = [one for one in report.causes if one.id not in causes]
    noticed = tuple(one for one in report.noticed if one.shown is None or one.shown not in linked.values())
    about = next(iter(told))
    words = f"{condition}{about.who}: {about.one.deed} goes well, but prints that a part is lost ({told[about].title})"
    headed = _headed(report, words)
    return msgspec.structs.replace(headed, causes=(*reversed(causes.values()), *kept), noticed=noticed)


def _headed(report: Report, words: str) -> Report:
    """The report under these words, where it has no cause that they would hide."""
    if any(one.found and not one.with_gpu for one in report.causes):
        return report
    return msgspec.structs.replace(report, status="degraded", headline=words)


def _carried_out(report: Report, told: Shown) -> Shown:
    """Of two that tell the same, the one by facts, whose fixes can be carried out: a cause, or what was only noticed
    and moves a package that the words are about."""
    words = " ".join([one.text for one in told.because] + [f"{fix.text} {fix.command}" for fix in told.fixes])
    seen = [one.shown for one in report.noticed if one.shown is not None and _moves(one.shown, words)]
    found = [*(one for one in report.causes if not one.with_gpu), *seen]
    return next((one for one in found if one.id == told.id), told)


def _moves(cause: Shown, words: str) -> bool:
    names = {name_of(text) for fix in cause.fixes for text in fix.install}
    return any(re.search(rf"\b{re.escape(name)}\b", words) for name in names)


def _seen(cause: Shown) -> Shown:
    return msgspec.structs.replace(cause, stops=False, confidence=max(SEEN, min(cause.confidence, 0.89)))


def left_to_read(report: Report, facts: Facts) -> list[Failed]:
    """The failures whose words have to be read: no fact shows what is behind them."""
    if any(one.found and one.stops and not one.with_gpu and one.id != ANYHOW for one in report.causes):
        return []
    return failed(facts)


def with_words(report: Report, read: Sequence[tuple[Failed, Report]], condition: str) -> Report:
    """The report with what the words of failed imports tell; that an import fails is told whatever they say."""
    if not read:
        return report
    told = {one: _by_facts(report, cause) for one, cause in _told(read).items()}
    about = next(iter(told), read[0][0])
    causes = {cause.id: cause for cause in reversed(told.values())}
    kept = [one for one in report.causes if one.id not in causes and not (told and one.id == ANYHOW)]
    first = told.get(about)
    why, cause = (first.title, first.id) if first else (about.one.why, ANYHOW)
    return msgspec.structs.replace(
        report,
        status="broken",
        headline=f"{condition}{about.who} cannot be used: {about.one.deed} fails ({why})",
        causes=(*reversed(causes.values()), *kept),
        layers=tuple(_marked(row, about, cause) for row in report.layers),
    )


def _by_facts(report: Report, cause: Shown) -> Shown:
    """The cause as facts show it, where they do: with its own reasons and fixes, and now seen to stop an import."""
    known = next((one for one in report.causes if one.id == cause.id and one.found), None)
    return cause if known is None else msgspec.structs.replace(known, stops=True)


def _told(read: Sequence[tuple[Failed, Report]], least: float = FOUND) -> dict[Failed, Shown]:
    """The cause that the words of each failure speak for, where they speak for one."""
    out = {}
    for one, report in read:
        first = report.causes[0] if report.causes else None
        if first is not None and first.confidence >= least and first.id != ANYHOW:
            out[one] = msgspec.structs.replace(first, subject=first.subject or one.who, stops=True)
    return out


def _marked(row: Layer, about: Failed, cause: str) -> Layer:
    return Layer(row.name, row.text, "bad", cause, cause) if row.name == about.title else row


def unfinished(facts: Facts) -> str:
    """An import that had not ended in its time, as a headline; "" where all did."""
    late = [one for one in value_or(facts.target.imports, ()) if one.ended == "late" and one.module.isidentifier()]
    return f"Cannot tell whether the GPU stack works here: {late[0].deed} had {late[0].why}" if late else ""


def not_tried(facts: Facts) -> str:
    """What a healthy answer has to add where some packages were not imported; that none was is a line of its own."""
    tried = value_or(facts.target.imports, ())
    untried = sorted({one.package or one.module for one in tried if one.ended == "untried"})
    return f"; not imported: {', '.join(untried[:3])}{and_more(len(untried), 3)}" if untried else ""


def went_well(facts: Facts) -> str:
    """That what is there was imported, where that is no framework; "" where nothing was."""
    well = {one.top for one in value_or(facts.target.imports, ()) if one.ended == "well" and not one.blame}
    names = sorted(well)
    return (
        f"{', '.join(names[:3])}{and_more(len(names), 3)} imported, and nothing that was tried fails" if names else ""
    )


def but_for(facts: Facts) -> str:
    """What a healthy answer has to add where one part of the stack misses what it does not state."""
    late = [one for one in value_or(facts.target.contradictions, ()) if one.how == "late"]
    if late:
        return f", but not {late[0].by} ({_USES.get(late[0].by, late[0].by)}): {late[0].name} is not installed"
    without = [one for one in value_or(facts.target.imports, ()) if one.ended == "without extra" and one.lost]
    used = next((one for one in without if one.module.startswith("use:")), None)
    return f", but not {used.deed}: {used.lost} is not installed" if used else ""


_USES = {"triton": "torch.compile and kernels of its own"}


def imported(facts: Facts, name: str) -> str:
    """How the import of a framework went, for its row; "" where it was not tried."""
    fact = facts.target.imports
    if not isinstance(fact, Known):
        return ""
    tried = [one for one in fact.value if one.framework == name and not one.blame]
    return _wants_driver(facts, tried, name) or ("imported" if tried and tried[0].ended == "well" else "")


def _wants_driver(facts: Facts, tried: Sequence[Imported], name: str) -> str:
    """That an import wants the driver, at the row of the package that does: its own, else that which it stands on."""
    rows = {one.name: one.path.rpartition("/")[2] for one in value_or(facts.target.frameworks, ())}
    without = [one for one in value_or(facts.target.imports, ()) if one.ended == "without driver" and not one.blame]
    if any(one.top == rows.get(name, name) for one in without):
        return "import wants the driver"
    beside = [one.top for one in tried if one in without and one.top not in rows.values()]
    return f"imported; import {beside[0]} wants the driver" if beside else ""
