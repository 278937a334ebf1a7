"""Rank: which verdicts are told, in which order, and what they explain."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

import msgspec

from gpuwhy.model.cause import LAYERS, Fix
from gpuwhy.model.fact import Known
from gpuwhy.model.facts import Facts
from gpuwhy.model.report import Open, RuledOut, Shown, Verdict


def rank(verdicts: Iterable[Verdict]) -> tuple[Shown, ...]:
    """The causes to tell, best first; one that another shown cause hides is told as explained by it."""
    told = [v for v in verdicts if v.state in ("shown", "possible")]
    shown = {v.cause.id: v.cause for v in told if v.state == "shown"}
    hides = {low for cause in shown.values() for low in cause.hides}
    hidden = {v.cause.id for v in told if v.cause.id in hides}
    kept = [v for v in told if v.cause.id not in hidden or _mutual(v, set(shown))]
    return tuple(_shown(v, hidden) for v in _merged(sorted(kept, key=_order)))


def _mutual(verdict: Verdict, shown_ids: set[str]) -> bool:
    """A cause hidden only by a cause that it hides itself stays."""
    return bool(set(verdict.cause.hides) & shown_ids) and verdict.state == "shown"


def stops(verdict: Verdict) -> bool:
    """Whether it stops GPU work, by the cause and by what was found."""
    return verdict.cause.stops and any(f.stops for f in verdict.findings)


def _order(verdict: Verdict) -> tuple[bool, float, int, str, str]:
    layer = LAYERS.index(verdict.cause.layer) if verdict.cause.layer in LAYERS else len(LAYERS)
    return (not stops(verdict), -verdict.confidence, layer, verdict.cause.id, verdict.subject)


def _merged(verdicts: Sequence[Verdict]) -> list[list[Verdict]]:
    """Verdicts of one cause that say the same of several subjects become one."""
    groups: dict[object, list[Verdict]] = {}
    for v in verdicts:
        groups.setdefault((v.cause.id, tuple(f.text for f in v.findings)), []).append(v)
    return list(groups.values())


def _shown(group: list[Verdict], hidden: set[str]) -> Shown:
    first = group[0]
    return Shown(
        id=first.cause.id,
        title=first.cause.title,
        confidence=round(max(v.confidence for v in group), 2),
        subject=", ".join(v.subject for v in group if v.subject),
        because=first.findings,
        explains=tuple(sorted(set(first.cause.hides) & hidden)),
        fixes=first.fixes,
        stops=any(stops(v) for v in group),
    )


def environment(facts: Facts) -> str:
    """The environment that was chosen by name, as a later check must name it; "" where it was found."""
    found = facts.target.interpreter
    if not isinstance(found, Known) or found.value.chosen_by != "--python":
        return ""
    return found.value.prefix if found.value.kind in ("venv", "conda") else found.value.path


def named(causes: Iterable[Shown], python: str, imported: bool = False) -> tuple[Shown, ...]:
    """The same causes, their checks asking the same again: of the environment that was named, with imports if made."""
    if not python and not imported:
        return tuple(causes)
    word = f"~/{shlex.quote(python[2:])}" if python.startswith("~/") else shlex.quote(python)
    command = "gpuwhy check" + (" --import" if imported else "") + (f" --python {word}" if python else "")
    return tuple(
        msgspec.structs.replace(one, fixes=tuple(_checked(fix, command) for fix in one.fixes)) for one in causes
    )


def _checked(fix: Fix, command: str) -> Fix:
    own = "--python" in fix.check  # of what the fix makes
    return fix if own else msgspec.structs.replace(fix, check=fix.check.replace("gpuwhy check", command, 1))


_PLACES = ("container", "wsl")
"""Where a machine is tells a reader least: told last of what it is not."""


def ruled_out(verdicts: Iterable[Verdict], observed: bool = False) -> tuple[RuledOut, ...]:
    """Causes excluded for every subject, with the observation that excludes them; `observed`: those with one alone."""
    by_id = _by_id(verdicts)
    out = []
    for name, group in sorted(by_id.items(), key=lambda one: (one[0].split(".")[0] in _PLACES, one[0])):
        if all(v.state == "ruled_out" for v in group):
            because = next((v.findings[0].text for v in group if v.findings), "")
            if because or not observed:
                out.append(RuledOut(name, because or "nothing speaks for it"))
    return tuple(out)


def still_open(verdicts: Iterable[Verdict]) -> tuple[Open, ...]:
    """Causes that nothing shows and something unseen keeps open."""
    out = []
    for name, group in sorted(_by_id(verdicts).items()):
        states = {v.state for v in group}
        if "undetermined" in states and not states & {"shown", "possible"}:
            first = next(v for v in group if v.state == "undetermined")
            out.append(Open(name, first.missing, first.how))
    return tuple(out)


def crashed(verdicts: Iterable[Verdict]) -> tuple[Open, ...]:
    """Causes of which a sign or a fix failed: our bugs, shown as such."""
    return tuple(Open(v.cause.id, v.error, "please report this") for v in verdicts if v.error)


def _by_id(verdicts: Iterable[Verdict]) -> dict[str, list[Verdict]]:
    out: dict[str, list[Verdict]] = {}
    for v in verdicts:
        out.setdefault(v.cause.id, []).append(v)
    return out
