"""A proof for a person, and as the contract `gpuwhy.proof/1` (docs/proof.schema.json)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gpuwhy.border.shared import as_json as shared_json
from gpuwhy.model.cause import Finding
from gpuwhy.model.ending import Ending
from gpuwhy.model.proof import RERUN, SCHEMA, Change, Outcome, Proof, Trial, Tweak
from gpuwhy.model.report import Shown, certainty
from gpuwhy.render.json import cause_dict
from gpuwhy.render.terminal import Paper, put

__all__ = ["Proof", "proof_dict", "render", "render_json", "render_plan"]

_MARK: dict[Outcome, tuple[str, str]] = {
    "passes": ("✓ runs", "32"), "same": ("✗ same", "31"), "other": ("! other", "33"), "unclear": ("? unclear", "36"),
}  # fmt: skip
_STATUS = {"proven": ("✓", "1;32"), "open": ("?", "1;36"), "flaky": ("!", "1;33"), "not_failing": ("✓", "1;32")}


def render(proof: Proof, paper: Paper) -> str:
    """The whole answer as text."""
    glyph, colour = _STATUS[proof.status]
    lines = [paper.tint(colour, line) for line in paper.wrap(proof.headline, f"{glyph} ", "  ")]
    lines += ["", *_causes(proof, paper)] if proof.causes else []
    lines += ["", *_change(proof.change, paper)] if proof.change else []
    lines += ["", *_table(proof.experiments, paper)]
    lines += _closing(proof, paper)
    return put(lines, paper)


def _proven(proof: Proof, cause: Shown) -> bool:
    """Whether runs of the program, with and without a change, are the proof."""
    first = cause.because[0] if cause.because else Finding("weak", "")
    by_reruns = any(one.source.where == RERUN for one in first.evidence)
    return by_reruns and first.weight == "proof" and proof.status == "proven"


def _causes(proof: Proof, paper: Paper) -> Iterator[str]:
    for number, cause in enumerate(proof.causes[:3]):
        proven = _proven(proof, cause)
        sure = "proven" if proven else certainty(cause.confidence)
        head = "cause  " if number == 0 or proven else "open   "
        yield from paper.wrap(f"{cause.id} · {sure}: {cause.title}", head, "       ")
        for finding in cause.because[1:2] if proven else cause.because[:1]:
            yield from paper.wrap(finding.text, "       because ", "               ")
    for row in proof.ruled_out[:4]:
        yield from paper.wrap(f"{row.id}: {row.because}", "not    ", "       ")


def _change(change: Change, paper: Paper) -> Iterator[str]:
    yield from paper.wrap(f"{change.text}: the smallest change that makes it run", "fix    ", "       ")
    for line in change.command.split("; ") if change.command else []:
        yield "       " + paper.tint("1", line)


def _table(trials: Sequence[Trial], paper: Paper) -> Iterator[str]:
    runs = sum(one.n for one in trials)
    yield f"experiments ({runs} runs)"
    for one in trials:
        mark, colour = _MARK[one.outcome]
        count = f"{sum(o == one.outcome for o in one.outcomes)}/{one.n}" if one.n > 1 else ""
        head = f"  {mark:<9} {count:<5} {one.seconds:6.1f} s  "
        first, *rest = paper.wrap(one.text + (f" ({one.note})" if one.note else ""), " " * len(head), " " * len(head))
        yield paper.tint(colour, f"  {mark:<9}") + head[11:] + first.strip()
        yield from rest
        if one.outcome == "other" and one.ending:
            yield from paper.wrap(str(one.ending).split("\n")[0][:200], " " * len(head), " " * len(head))


def _closing(proof: Proof, paper: Paper) -> Iterator[str]:
    if str(proof.ending):
        yield ""
        yield from paper.wrap(str(proof.ending).split("\n")[0][:300], "ending ", "       ")
    if proof.status == "proven":
        yield from paper.wrap(f"at most {proof.arms.chance:.1%} that these outcomes are chance", "sure   ", "       ")
    for note in proof.notes:
        yield from paper.wrap(note, "note   ", "       ")
    for one in proof.left:
        yield from paper.wrap(one, "left   ", "       ")


def render_plan(tweaks: Sequence[Tweak], runs: int, budget: str, paper: Paper) -> str:
    """`--dry-run`: what would be tried, the likeliest first."""
    total = sum(one.weight for one in tweaks) or 1.0
    lines = paper.wrap(
        f"would run the program as it is twice, then with changes, at most {runs} times in {budget}", "", ""
    )
    together = [one for one in tweaks if one.joins]
    lines += ["", *paper.wrap(f"{len(together)} changes, many at once, halved until the smallest is left:", "", "")]
    lines += [f"  {one.weight / total:6.1%}  {one.text}" for one in together[:40]]
    lines += [f"          and {len(together) - 40} more"] if len(together) > 40 else []
    alone = [one for one in tweaks if not one.joins]
    lines += ["", f"{len(alone)} changes one at a time, where the failure speaks for them:"]
    lines += [f"  {one.weight / total:6.1%}  {one.text}" for one in alone]
    return put(lines, paper)


def proof_dict(proof: Proof) -> dict[str, Any]:
    """The proof in plain values, in the contract's shape."""
    return {
        "schema": SCHEMA,
        "status": proof.status,
        "headline": proof.headline,
        "causes": [{**cause_dict(one), "proven": _proven(proof, one)} for one in proof.causes],
        "ruled_out": [{"id": one.id, "because": one.because} for one in proof.ruled_out],
        "change": _change_dict(proof.change) if proof.change else None,
        "runs": proof.runs,
        "experiments": [_trial(one) for one in proof.experiments],
        "ending": _ending(proof.ending),
        "counts": {
            "failed": [proof.arms.failed, proof.arms.of_failed],
            "passed": [proof.arms.passed, proof.arms.of_passed],
            "chance": proof.arms.chance,
        },
        "rate": proof.rate,
        "notes": list(proof.notes),
        "left": list(proof.left),
        "seconds": proof.seconds,
        "interrupted": proof.interrupted,
    }


def _change_dict(change: Change) -> dict[str, Any]:
    return {
        "unset": list(change.unset), "set": change.set, "limits": change.limits, "packages": change.packages,
        "drop": {name: list(entries) for name, entries in change.drop.items()}, "hide": list(change.hide),
        "folder": change.folder, "text": change.text, "command": change.command,
    }  # fmt: skip


def _trial(one: Trial) -> dict[str, Any]:
    return {
        "change": one.text, "outcome": one.outcome, "n": one.n, "seconds": one.seconds, "outcomes": list(one.outcomes),
        "tweaks": list(one.tweaks), "purpose": one.purpose, "note": one.note,
        "ending": _ending(one.ending) if one.ending else None,
    }  # fmt: skip


def _ending(ending: Ending) -> dict[str, Any]:
    frame = ending.frame
    place = (
        {"file": frame.file, "line": frame.line, "function": frame.function, "owner": frame.owner} if frame else None
    )
    return {
        "kind": ending.kind, "type": ending.type, "message": ending.message, "frame": place, "line": ending.line,
        "exit_code": ending.exit_code,
    }  # fmt: skip


def render_json(proof: Proof) -> str:
    """Indented JSON, ending in a newline."""
    return shared_json(proof_dict(proof))
