"""What findings of the machine add: alone they are the diagnosis, beside a text they weigh."""

from collections.abc import Collection, Mapping, Sequence

from gpuwhy.causes.load import Catalogue
from gpuwhy.causes.load import catalogue as own_catalogue
from gpuwhy.diagnose.diagnosis import Because, Diagnosis, Ranked, RuledOut
from gpuwhy.facts.fact import value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Effect, Finding, Weight

ODDS = {Weight.PROOF: 5.0, Weight.STRONG: 4.0, Weight.WEAK: 1.0, Weight.AGAINST: -5.0}
"""Log-odds that a finding adds to a cause that the text speaks for, or does not exclude."""
UNTOLD = 0.4
"""The part of them that counts for a cause of which the text says nothing."""
BEHIND = 0.1
"""How far behind the text's own cause one stays that only the machine speaks for."""
ALONE = {Weight.PROOF: 0.99, Weight.STRONG: 0.85, Weight.WEAK: 0.4}
"""Confidence without a text."""
FURTHER, MOST, LIKELY = 0.05, 0.95, 0.5
_STOPS = (Effect.STOPS, Effect.PREVENTS_START)
_EFFECTS = (Effect.PREVENTS_START, Effect.STOPS, Effect.SLOWS, Effect.NOTED)
_WEIGHTS = (Weight.PROOF, Weight.STRONG, Weight.WEAK, Weight.AGAINST)

Key = tuple[str, str]
"""A cause and the framework or GPU that it concerns."""


def without_text(findings: Sequence[Finding], catalogue: Catalogue | None = None) -> Diagnosis:
    """The diagnosis by facts alone: every cause that is shown, the worst effect first."""
    found: dict[Key, list[Finding]] = {}
    for one in findings:
        found.setdefault((one.cause, one.subject), []).append(one)
    shown = {key: ranked for key, of in found.items() if (ranked := _alone(key, of))}
    hidden = _explained({one for one, _ in shown}, catalogue or own_catalogue()) if shown else ()
    order = sorted(
        shown.values(),
        key=lambda o: (o.with_gpu, _EFFECTS.index(o.effect), o.cause in hidden, -o.confidence),
    )
    failing = [one for one in order if one.effect is not Effect.NOTED]
    weighty = [one for one in failing if one.confidence >= LIKELY or one.effect in _STOPS]
    noticed = tuple(why for one in order if one.effect is Effect.NOTED for why in one.because)
    named = {one.cause for one in order}
    causes = tuple(weighty or failing)  # what is merely possible and stops nothing comes last
    return Diagnosis(causes, ruled_out(findings, named), noticed=noticed, healthy=not failing)


def beside_text(findings: Sequence[Finding], facts: Facts) -> tuple[Finding, ...]:
    """The findings that are weighed with a text: a bare machine rules nothing out, because the
    text may come from elsewhere.
    """
    gpus = bool(value_or(facts.devices.gpus, ()))
    equipped = gpus and bool(value_or(facts.frameworks.installed, ()))
    return tuple(
        one
        for one in findings
        if one.weight is not Weight.AGAINST or (equipped and one.cause != "other.not_gpu")
    )


def _alone(key: Key, findings: Sequence[Finding]) -> Ranked | None:
    weights = [one.weight for one in findings]
    speaking = [one for one in findings if one.weight is not Weight.AGAINST]
    if not speaking or (Weight.AGAINST in weights and Weight.PROOF not in weights):
        return None
    best = min(speaking, key=lambda one: _WEIGHTS.index(one.weight))
    sure = ALONE[best.weight]
    if best.weight is Weight.STRONG:
        sure = min(MOST, sure + FURTHER * (weights.count(Weight.STRONG) - 1))
    effect = min((one.effect for one in speaking), key=_EFFECTS.index)
    with_gpu = all(one.with_gpu for one in speaking)
    return Ranked(key[0], sure, tuple(map(_because, speaking)), key[1], effect, with_gpu)


def from_findings(
    findings: Sequence[Finding], odds: Mapping[str, float], ids: Collection[str], data: Catalogue
) -> dict[str, tuple[float, tuple[Because, ...]]]:
    """What the machine's facts add to the odds of a text, by cause, with the reasons.

    They count in full for a cause that the text speaks for or does not exclude, or whose finding
    names what the ending names; no other one gets before the text's own.
    """
    proven = {one.cause for one in findings if one.weight in (Weight.PROOF, Weight.STRONG)}
    hidden = _explained(proven, data)
    best = max(odds.values(), default=0.0)
    added: dict[str, tuple[float, tuple[Because, ...]]] = {}
    for cause in dict.fromkeys(one.cause for one in findings):
        mine = [one for one in findings if one.cause == cause]
        told = odds.get(cause, 0.0)
        near = told > 0 or any(one.matches_crash for one in mine) or _admits(data, cause, ids)
        if not near and all(one.effect is Effect.NOTED for one in mine):
            continue
        more = max(ODDS[one.weight] for one in mine)
        if cause in hidden or any(one.weight is Weight.AGAINST for one in mine):
            more = min(more, ODDS[Weight.AGAINST] if cause not in hidden else 0.0)
        if not near:
            more = max(0.0, more * UNTOLD)
            more = min(more, max(0.0, best - BEHIND - told)) if best > 0 else more
        if more:
            speaking = (one for one in mine if one.weight is not Weight.AGAINST)
            added[cause] = more, tuple(map(_because, speaking))
    return added


def ruled_out(findings: Sequence[Finding], named: Collection[str]) -> tuple[RuledOut, ...]:
    """The causes that an observation excludes, and that are not named all the same."""
    against = (one for one in findings if one.weight is Weight.AGAINST)
    return tuple(RuledOut(one.cause, one.says) for one in against if one.cause not in named)


def _admits(data: Catalogue, cause: str, ids: Collection[str]) -> bool:
    """Whether a message of the text says too little to point here, and does not exclude it."""
    row = data.causes.get(cause)
    for name in row.maybe if row else ():
        kind, _, set_name = name.partition(":")
        if any(one in ids for one in (data.sets.get(set_name, ()) if set_name else (kind,))):
            return True
    return False


def _explained(shown: Collection[str], data: Catalogue) -> set[str]:
    """The causes that another one explains, where both are shown."""
    return {low for cause in shown if cause in data.causes for low in data.causes[cause].explains}


def _because(finding: Finding) -> Because:
    weight = ODDS[finding.weight]
    return Because(finding.says, weight, evidence=finding.evidence, values=finding.values)
