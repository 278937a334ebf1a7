"""The answer: which cause is proven, which are refuted and open, and how it is said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

import msgspec

from gpuwhy.answer.answer import CauseFound, Fix, Proof, Reason, RuledOut
from gpuwhy.answer.text import listed
from gpuwhy.prove.counts import Once
from gpuwhy.prove.proof import RERUN, Arms, Outcome, Trial, Tweak

SPEAKS = 0.25
"""The confidence from which on the report chooses among the causes that a change stands for."""
PROVEN = 0.99


def causes_of(tweaks: Sequence[Tweak], causes: Mapping[str, float]) -> list[str]:
    """The causes that a change speaks for, one for each of its tweaks, that of the likeliest first."""
    ordered = sorted(tweaks, key=lambda one: -one.weight)
    return list(dict.fromkeys(filter(None, (_cause_of(one, causes) for one in ordered))))


def _cause_of(one: Tweak, causes: Mapping[str, float]) -> str:
    """The report's likeliest among those of a tweak, else the usual one."""
    spoken = [cause for cause in one.causes if causes.get(cause, 0.0) >= SPEAKS]
    return max(spoken, key=lambda cause: causes[cause]) if spoken else next(iter(one.causes), "")


def sentence(tweaks: Sequence[Tweak], arms: Arms) -> str:
    """with … it runs (2 of 2), as it is it fails (2 of 2)."""
    text = " and ".join(one.text for one in tweaks)
    removes = all(one.kind in ("unset", "drop", "hide") for one in tweaks)
    other = ("with it" if len(tweaks) == 1 else "with them") if removes else "as it is"
    return f"{text} it runs ({arms.passed} of {arms.of_passed}), {other} it fails ({arms.failed} of {arms.of_failed})"


def shown(
    proven_: Sequence[str],
    tweaks: Sequence[Tweak],
    arms: Arms,
    titles: Mapping[str, str],
    known: Iterable[CauseFound],
    proven: bool = True,
) -> tuple[CauseFound, ...]:
    """The proven causes first, with the change as their first fix; the others as far as they are still open."""
    before = {one.id: one for one in reversed(list(known))}
    text = ("proven: " if proven else "") + sentence(tweaks, arms)
    because = Reason(text, tuple(Proof(one.text, f"{RERUN} ({one.id})") for one in tweaks))
    fixes = tuple(map(_fix, tweaks))
    first = tuple(_first(cause, before.pop(cause, None), because, fixes, titles, proven) for cause in proven_)
    share = (1.0 - PROVEN) if proven else 0.5
    rest = [msgspec.structs.replace(one, confidence=round(one.confidence * share, 3)) for one in before.values()]
    return (*first, *sorted((one for one in rest if one.confidence >= 0.05), key=lambda one: -one.confidence))


def _first(
    cause: str,
    old: CauseFound | None,
    because: Reason,
    fixes: tuple[Fix, ...],
    titles: Mapping[str, str],
    proven: bool,
) -> CauseFound:
    """One cause that the experiments speak for, with what was known of it before."""
    if old is None:
        title, confidence = titles.get(cause, cause), PROVEN if proven else 0.7
        return CauseFound(cause, title, confidence, "", (because,), (), fixes)
    confidence = PROVEN if proven else max(0.7, old.confidence)
    return msgspec.structs.replace(
        old,
        confidence=confidence,
        because=(because, *old.because),
        fixes=(*fixes, *old.fixes),
        with_gpu=False,
    )


def _fix(one: Tweak) -> Fix:
    """The change as a remedy."""
    text = one.text[:1].upper() + one.text[1:]
    return Fix(text, one.command, safe=True, root=False, reboot=False, check="gpuwhy prove -- CMD")


def refuted(runs: Sequence[Once], tweaks: Sequence[Tweak], causes: Iterable[str]) -> tuple[RuledOut, ...]:
    """Causes whose every tweak was in place when it failed as before."""
    failed = [one.key for one in runs if one.outcome == "same" and one.key]
    out = []
    for cause in dict.fromkeys(causes):
        own = {one.id: one.text for one in tweaks if cause in one.causes[:1]}
        if own and any(own.keys() <= key for key in failed):
            out.append(RuledOut(cause, f"it fails the same {listed(tuple(sorted(own.values())))}"))
    return tuple(out)


def trials(runs: Sequence[Once]) -> tuple[Trial, ...]:
    """The runs as the table of experiments: each change once, in the order in which it was first tried."""
    order = {one.key: n for n, one in reversed(list(enumerate(runs)))}
    ordered = sorted(runs, key=lambda one: order[one.key])
    return tuple(_trial(list(group)) for _, group in groupby(ordered, key=lambda one: one.key))


def _trial(group: Sequence[Once]) -> Trial:
    first = group[0]
    outcomes = tuple(one.outcome for one in group)
    worst = next((one for one in group if one.outcome in ("other", "same")), first)
    return Trial(
        text=told(first.tweaks),
        tweaks=tuple(one.id for one in first.tweaks),
        outcome=_together(outcomes),
        n=len(group),
        seconds=round(sum(one.seconds for one in group) / len(group), 2),
        ending=worst.ending if worst.outcome in ("other", "same") else None,
        outcomes=outcomes,
        note=next((one.note for one in group if one.note), ""),
        purpose=first.purpose,
    )


def _together(outcomes: Sequence[Outcome]) -> Outcome:
    """One failure among successes is a failure."""
    return next((one for one in ("same", "other", "unclear") if one in outcomes), "passes")


def told(tweaks: Sequence[Tweak]) -> str:
    """What was changed, in few words."""
    if not tweaks:
        return "as it is"
    if len(tweaks) <= 3:
        return " and ".join(one.text for one in tweaks)
    gone = [one for one in tweaks if one.kind in ("unset", "drop", "hide")]
    rest = len(tweaks) - len(gone)
    if not gone:
        return f"with {rest} changes"
    also = f", and {rest} other changes" if rest else ""
    return f"without {listed(tuple(map(_gone, gone)))}{also}"


def _gone(one: Tweak) -> str:
    return f"{one.value} in {one.name}" if one.kind == "drop" else one.name or one.value
