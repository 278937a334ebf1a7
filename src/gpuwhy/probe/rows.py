"""The probe as rows of the answer: one per stage, and one per library that came from elsewhere."""

from __future__ import annotations

from typing import Literal

from gpuwhy.answer.answer import Layer
from gpuwhy.facts.fact import value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.probe import Stage, Surprise
from gpuwhy.probe.mapped import DELETED
from gpuwhy.probe.outcome import has_no_gpu, is_moot, words
from gpuwhy.probe.stages import BY_NAME

_MARKS: dict[str, Literal["ok", "bad", "none"]] = {"passed": "ok", "skipped": "none"}


def rows(facts: Facts) -> tuple[Layer, ...]:
    """One row per stage: how it went, its time, and where it broke."""
    no_gpu = has_no_gpu(facts)
    titles = {one.name: one.title for one in value_or(facts.frameworks.installed, ())}
    out = [_row("", stage, no_gpu) for stage in value_or(facts.probe.stages, ())]
    for run in value_or(facts.probe.frameworks, ()):
        who = titles.get(run.framework, run.framework)
        out += [_row(who, stage, no_gpu) for stage in run.stages]
        out += [Layer(f"{who} files", "", "warn", _differs(one)) for one in run.surprises]
    return tuple(out)


def _row(who: str, stage: Stage, no_gpu: bool) -> Layer:
    step = BY_NAME.get(stage.name)
    name = f"{who} {stage.name}" if who else step.title if step else stage.name
    name += f", GPU {stage.device}" if stage.device else ""
    if no_gpu and is_moot(who, stage):
        return Layer(name, "", "none", "no GPU here")
    note = "" if stage.outcome == "passed" else stage.why or next(words(stage), "")
    time = f"{stage.ms:.0f} ms" if stage.ms < 9999 else f"{stage.ms / 1000:.1f} s"
    time = "" if stage.outcome == "skipped" else time
    return Layer(name, time, _MARKS.get(stage.outcome, "bad"), note)


def _differs(one: Surprise) -> str:
    """What is not as predicted, as one sentence."""
    if one.loaded.endswith(DELETED):
        return f"{one.expected} was replaced or deleted while the process had it open"
    if not one.loaded:
        return f"{one.name} is not loaded, although a loaded library needs it: {one.expected}"
    if not one.expected:
        return f"{one.name} is loaded again: {one.loaded}"
    return f"{one.name}: {one.loaded} is loaded, {one.expected} was expected ({one.found})"
