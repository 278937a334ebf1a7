"""A proof as a document, as the contract gpuwhy.proof/1, and as notes for build servers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from gpuwhy import __version__
from gpuwhy.answer import ci
from gpuwhy.answer.answer import Answer, CauseFound, certainty
from gpuwhy.answer.blocks import item, items, pair, pairs
from gpuwhy.answer.text import clip, counted
from gpuwhy.answer.tree import Code, Command, Document, Heading, Item, Line, Mark, Pair, Soft
from gpuwhy.log.ending import Ending
from gpuwhy.prove.endings import said
from gpuwhy.prove.proof import SCHEMA, Change, Outcome, Proof, Status, Trial, Tweak

_MARKS: dict[Status, Mark] = {
    "proven": "ok",
    "open": "unknown",
    "flaky": "warn",
    "not_failing": "ok",
}
_SIGNS: dict[Outcome, Mark] = {
    "passes": "ok",
    "same": "bad",
    "other": "warn",
    "unclear": "unknown",
}
_WORDS: dict[Outcome, str] = {
    "passes": "runs",
    "same": "fails the same",
    "other": "fails otherwise",
    "unclear": "undecided",
}
_FEW, _ROWS = 4, 4
"""Causes that are ruled out, and experiments, of which the text tells."""
_LONG = 140
"""Letters of an ending that are shown."""
_PLANNED = 40


def document(proof: Proof, whole: bool = False) -> Document:
    """What is proven, what to do, and the runs that show it; with `whole` every run."""
    return Document(
        (
            Heading((proof.headline,), _MARKS[proof.status]),
            pairs(*_causes(proof), *_change(proof.change), *_seen(proof), *_also(proof)),
            Heading((f"Experiments: {counted(proof.runs, 'run')}",), level=2),
            items(_rows(proof.experiments, len(proof.experiments) if whole else _ROWS)),
        ),
        title=proof.headline,
        made_by=f"gpuwhy {__version__}",
    )


def _causes(proof: Proof) -> Iterator[Pair]:
    for number, cause in enumerate(proof.causes[:3]):
        proven = proof.proven(cause)
        sure = "proven" if proven else certainty(cause.confidence)
        because = cause.because[1:2] if proven else cause.because[:1]
        line: Line = (f"{cause.title} ({sure}) · ", Code(cause.id))
        more = [(Soft(one.text),) for one in because]
        yield pair("Cause" if not number or proven else "Or", line, *more)


def _change(change: Change | None) -> Iterator[Pair]:
    if change:
        command = Command(change.command.replace("; ", "\n"))
        yield pair("Do", *((command,) if change.command else (f"Run it {change.text}",)))


def _seen(proof: Proof) -> Iterator[Pair]:
    if said(proof.ending):
        yield pair("Ending", clip(said(proof.ending).split("\n")[0], _LONG))
    if proof.status == "proven":
        yield pair("Sure", f"by chance in at most {proof.arms.chance:.1%} of such outcomes")


def _also(proof: Proof) -> Iterator[Pair]:
    for row in proof.ruled_out[:_FEW]:
        yield pair("Not", (Code(row.id), f": {row.because}"))
    for note in proof.notes:
        yield pair("Note", note)
    for one in proof.left:
        yield pair("Also", one)


def _rows(experiments: Sequence[Trial], most: int) -> list[Item]:
    """The experiments; of many, those that tell most."""
    telling = [one for one in experiments if not one.tweaks or one.outcome == "passes"]
    rest = sorted((one for one in experiments if one not in telling), key=_how_telling)
    kept = [*telling, *rest][:most]
    rows = [_row(one) for one in experiments if one in kept]
    left = len(experiments) - len(kept)
    return [*rows, item(f"and {left} more: --json has them")] if left else rows


def _how_telling(one: Trial) -> tuple[bool, int]:
    """Another failure, and few changes, come first."""
    return one.outcome != "other", len(one.tweaks)


def _row(one: Trial) -> Item:
    """An experiment: what was changed, what came of it, how often."""
    same = sum(outcome == one.outcome for outcome in one.outcomes)
    times = f" ({same} of {one.n})" if one.n > 1 else ""
    note = f", {one.note}" if one.note else ""
    line: Line = (f"{one.text}: {_WORDS[one.outcome]}{times}, {one.seconds:.1f} s{note}",)
    if one.outcome == "other" and one.ending and said(one.ending):
        return item(line, (Soft(clip(said(one.ending).split("\n")[0], _LONG)),), mark="warn")
    return item(line, mark=_SIGNS[one.outcome])


def plan_document(tweaks: Sequence[Tweak], runs: int, budget: str) -> Document:
    """What `--dry-run` prints: what would be tried, the likeliest first."""
    total = sum(one.weight for one in tweaks) or 1.0
    together = [one for one in tweaks if one.joins]
    alone = [one for one in tweaks if not one.joins]
    more = len(together) - _PLANNED
    rest = [item(f"and {more} more")] if more > 0 else []

    def rows(some: Sequence[Tweak]) -> list[Item]:
        return [item(f"{one.weight / total:.1%} {one.text}") for one in some]

    head = f"Would run it as it is twice, then with changes: at most {runs} times in {budget}"
    many = counted(len(together), "change")
    few = counted(len(alone), "change")
    return Document(
        (
            Heading((head,)),
            Heading((f"{many}, many at once, halved until the smallest is left",), level=2),
            items([*rows(together[:_PLANNED]), *rest]),
            Heading((f"{few} one at a time, where the failure speaks for it",), level=2),
            items(rows(alone)),
        ),
        title="gpuwhy prove --dry-run",
    )


def values(proof: Proof) -> dict[str, Any]:
    """The proof in plain values, in the contract's shape."""
    change = proof.change
    arms = proof.arms
    return {
        "schema": SCHEMA,
        "status": proof.status,
        "headline": proof.headline,
        "causes": [_cause(one, proof.proven(one)) for one in proof.causes],
        "ruled_out": msgspec.to_builtins(proof.ruled_out),
        "change": msgspec.to_builtins(change) if change else None,
        "runs": proof.runs,
        "experiments": [_trial(one) for one in proof.experiments],
        "ending": _ending(proof.ending),
        "counts": {
            "failed": [arms.failed, arms.of_failed],
            "passed": [arms.passed, arms.of_passed],
            "chance": arms.chance,
        },
        "rate": proof.rate,
        "notes": list(proof.notes),
        "left": list(proof.left),
        "seconds": proof.seconds,
        "interrupted": proof.interrupted,
    }


def _cause(cause: CauseFound, proven: bool) -> dict[str, Any]:
    return {**msgspec.to_builtins(cause), "proven": proven}


def _trial(one: Trial) -> dict[str, Any]:
    made: dict[str, Any] = msgspec.to_builtins(one)
    ending = _ending(one.ending) if one.ending else None
    return {"change": made.pop("text"), **made, "ending": ending}


def _ending(ending: Ending) -> dict[str, Any]:
    frame = msgspec.to_builtins(ending.frame) if ending.frame else None
    if frame:
        del frame["code"]
    return {
        "kind": ending.kind,
        "type": ending.type,
        "message": ending.message,
        "frame": frame,
        "line": ending.line,
        "exit_code": ending.exit_code,
    }


def notes(proof: Proof) -> tuple[ci.Note, ...]:
    """The causes as build servers read them; one note where none is known."""
    if not proof.causes:
        fine = proof.status == "not_failing"
        level: ci.Level = "passed" if fine else "error"
        return (ci.Note("", 0, f"gpuwhy.{proof.status}", proof.headline, level),)
    return ci.notes(_answer(proof))


def _answer(proof: Proof) -> Answer:
    """The causes alone, as an answer of `explain` has them."""
    return Answer(
        status="broken",
        headline=proof.headline,
        causes=proof.causes,
        ruled_out=proof.ruled_out,
        undetermined=(),
        crashed=(),
        layers=(),
        unseen=(),
        facts={},
        gpuwhy=__version__,
        took=proof.seconds,
        verdict="found",
    )
