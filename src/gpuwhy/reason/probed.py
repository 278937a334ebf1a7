"""What the probe's stages mean for the verdicts: what was seen to work, and what failed in which words."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from gpuwhy.model.cause import Finding, against, mild, saw
from gpuwhy.model.expect import gpu_present
from gpuwhy.model.fact import Absent, Known, Source, value_or
from gpuwhy.model.facts import Call, Facts, Framework, FrameworkRun, Stage
from gpuwhy.model.report import Layer, Mark, Report, Shown, Verdict
from gpuwhy.model.stages import TITLES
from gpuwhy.model.threshold import FOUND

BAD = ("failed", "crashed", "hung")
LATENT = ("cuda.mixed_libraries", "cuda.version_mismatch", "cudnn.mixed_libraries", "cudnn.version_mismatch",
          "install.conflict", "install.corrupted")  # fmt: skip
"""What can work in one convolution and fail in the next operation: it stays, as something that does not stop."""
UNTESTED = ("memory", "device", "program", "distributed", "other")
"""Layers that a small test says nothing of."""
NOT_TRIED = ("cuda.compiler_missing", "framework.extension_abi")
NEEDS_A_GPU = (
    "libcuda",
    "init",
    "devices",
    "context",
    "memory",
    "launch",
    "cublas",
    "cudnn_create",
    "convolution",
    "nccl",
)
NEEDS_A_GPU_THERE = ("devices", "matmul", "convolution")
_MARKS: dict[str, Mark] = {"passed": "ok", "failed": "bad", "crashed": "bad", "hung": "bad", "skipped": "none"}
_SOURCE = Source("call", "probe")


def runs(facts: Facts) -> tuple[FrameworkRun, ...]:
    """The frameworks that were tried."""
    return value_or(facts.probe.frameworks, ())


def native(facts: Facts) -> tuple[Stage, ...]:
    """The native stages that were tried."""
    return value_or(facts.probe.stages, ())


def works(run: FrameworkRun) -> bool:
    """Whether a framework did what was asked of it on the GPU."""
    passed = {stage.name for stage in run.stages if stage.outcome == "passed"}
    return {"matmul", "convolution"} <= passed and not any(stage.outcome in BAD for stage in run.stages)


class Failure(NamedTuple):
    """Who failed first at which stage, and everything that was said about it."""

    who: str  # "" for the native stages, and for all together where those failed
    stage: Stage
    text: str


def failures(facts: Facts) -> tuple[Failure, ...]:
    """What failed: one failure where the native stages broke, for they carry the rest; else one per framework.

    Where there is no GPU, what needs one cannot fail: it ends the staircase.
    """
    no_gpu = isinstance(gpu_present(facts), Absent)
    found: dict[str, Stage] = {}
    for who, stage in _all(facts):
        if stage.outcome in BAD and not (no_gpu and _moot(who, stage)):
            found.setdefault(who, stage)
    if "" in found:
        return (Failure("", found[""], told(facts)),)
    return tuple(Failure(who, stage, told(facts, who)) for who, stage in found.items())


def _all(facts: Facts) -> Iterator[tuple[str, Stage]]:
    yield from (("", stage) for stage in native(facts))
    titles = _titles(facts)
    for run in runs(facts):
        yield from ((titles.get(run.framework, run.framework), stage) for stage in run.stages)


def _titles(facts: Facts) -> dict[str, str]:
    return {one.name: f"{one.title} {one.version}" for one in value_or(facts.target.frameworks, ())}


# ---------------------------------------------------------------- what was seen to work


def tempered(verdicts: Iterable[Verdict], facts: Facts) -> tuple[Verdict, ...]:
    """The verdicts, where the probe saw work what they say cannot: observation beats prediction."""
    working = {run.framework for run in runs(facts) if works(run)}
    if not working and not _reached(facts):
        return tuple(verdicts)
    names = {f"{one.title} {one.version}": one for one in value_or(facts.target.frameworks, ())}
    all_work = bool(working) and all(one.name in working for one in names.values() if _wants_gpu(one))
    return tuple(_tempered(v, names, working, all_work) for v in verdicts)


def _reached(facts: Facts) -> bool:
    """Whether a context could be made on every GPU that was tried."""
    contexts = [stage for stage in native(facts) if stage.name == "context"]
    return bool(contexts) and all(stage.outcome == "passed" for stage in contexts)


def _wants_gpu(one: Framework) -> bool:
    return not (isinstance(one.gpu_build, Known) and not one.gpu_build.value)


def _tempered(verdict: Verdict, names: dict[str, Framework], working: set[str], all_work: bool) -> Verdict:
    cause = verdict.cause
    if verdict.state not in ("shown", "possible") or cause.layer in UNTESTED or cause.id in NOT_TRIED:
        return verdict
    one = names.get(verdict.subject)
    good = cause.layer in ("driver", "container", "wsl") or all_work
    if cause.scope == "framework":
        good = one is not None and one.name in working
    if not good or not any(f.stops for f in verdict.findings):
        return verdict
    what = f"the probe ran a matmul and a convolution with {one.title} on the GPU" if one else "the probe used the GPU"
    if cause.id in LATENT:
        return msgspec.structs.replace(verdict, findings=(*(mild(f) for f in verdict.findings), _worked(what)))
    return msgspec.structs.replace(
        verdict, state="ruled_out", confidence=0.0, fixes=(), findings=(against(what, saw(what, _SOURCE)),)
    )


def _worked(what: str) -> Finding:
    return mild(Finding("weak", f"{what} all the same; another operation may not get through", (saw(what, _SOURCE),)))


# ---------------------------------------------------------------- what failed, as a log


def told(facts: Facts, who: str = "") -> str:
    """What failed, in the words of the libraries and of all frameworks or one, as a text that the log reader reads."""
    lines = [_line(stage) for stage in native(facts) if stage.outcome in BAD]
    titles = _titles(facts)
    for run in runs(facts):
        if not works(run) and who in ("", titles.get(run.framework, run.framework)):
            lines += [run.said, *(_line(stage) for stage in run.stages if stage.outcome in BAD)]
    return "\n".join(line for line in lines if line)


def _line(stage: Stage) -> str:
    call = stage.failing
    if stage.outcome == "crashed":
        return f"{call.name if call else stage.name}: {_signal(stage)}"
    if call is None:
        return stage.why
    return f"{call.name} failed: {_answer(call)}"


def _answer(call: Call) -> str:
    code = f" ({call.code})" if call.code is not None and call.status else "" if call.code is None else str(call.code)
    return f"{call.status}{code}: {call.text}" if call.status or code else call.text


_SPOKEN = {4: "Illegal instruction", 6: "Aborted", 7: "Bus error", 9: "Killed", 11: "Segmentation fault"}


def _signal(stage: Stage) -> str:
    """A crash by a signal as a shell says it."""
    try:
        name = signal.Signals(stage.signal).name
    except ValueError:
        return stage.why
    return f"{_SPOKEN.get(stage.signal, name)} (core dumped) {name}"


def after_failure(by_facts: Report, read: Sequence[tuple[Failure, Report]], again: str) -> Report:
    """The report on a probe that failed: causes from its words and the facts together, then what the facts add."""
    read = sorted(read, key=_surest, reverse=True)
    (who, stage, _), first = read[0]
    where = f"{who} fails at its {stage.name}" if who else f"{_where(stage)} fails"
    sure = first.status == "broken" and _surest(read[0]) >= FOUND
    why = first.causes[0].title if sure else stage.why or _first_words(stage.calls) or stage.outcome
    causes = _causes(by_facts, read, who, again)
    return msgspec.structs.replace(
        first,
        status="broken",
        headline=f"{where}: {why}",
        causes=tuple(causes.values()),
        ruled_out=tuple(row for row in first.ruled_out or by_facts.ruled_out if row.id not in causes),
        unseen=by_facts.unseen,
        layers=by_facts.layers if not sure else first.layers,
    )


def _surest(one: tuple[Failure, Report]) -> float:
    return max((cause.confidence for cause in one[1].causes), default=0.0)


def _causes(by_facts: Report, read: Sequence[tuple[Failure, Report]], who: str, again: str) -> dict[str, Shown]:
    """All that the first to fail tells, the likeliest of what others do, and what the facts show."""
    causes: dict[str, Shown] = {}
    for failure, report in read:
        for cause in report.causes if failure.who == who else report.causes[:1]:
            causes.setdefault(cause.id, _checked(cause, failure.who, again))
    for cause in by_facts.causes:
        causes.setdefault(cause.id, cause)
    return causes


def _checked(cause: Shown, who: str, again: str) -> Shown:
    """The cause, told of who failed; its fixes checked by the same probe."""
    command = f"gpuwhy check --probe --python {again}" if again else "gpuwhy check --probe"
    fixes = tuple(msgspec.structs.replace(f, check=f.check.replace("gpuwhy explain LOG", command)) for f in cause.fixes)
    return msgspec.structs.replace(cause, subject=cause.subject or who, fixes=fixes)


def _where(stage: Stage) -> str:
    title = TITLES.get(stage.name, stage.name)
    return title if title.startswith("cu") else title[:1].upper() + title[1:]


# ---------------------------------------------------------------- the staircase


def staircase(facts: Facts) -> tuple[Layer, ...]:
    """One row per stage: its time, the library, and where it broke; without a GPU, what needs one has not broken."""
    no_gpu = isinstance(gpu_present(facts), Absent)
    rows = [_row("", stage, no_gpu) for stage in native(facts)]
    titles = {one.name: one.title for one in value_or(facts.target.frameworks, ())}
    for run in runs(facts):
        who = titles.get(run.framework, run.framework)
        rows += [_row(who, stage, no_gpu) for stage in run.stages]
        rows += [Layer(f"{who} files", "", "warn", surprise) for surprise in run.surprises]
    return tuple(rows)


def _moot(who: str, stage: Stage) -> bool:
    """Whether a stage cannot get through without a GPU."""
    return stage.outcome != "passed" and stage.name in (NEEDS_A_GPU_THERE if who else NEEDS_A_GPU)


def _row(who: str, stage: Stage, no_gpu: bool) -> Layer:
    name = f"{who} {stage.name}" if who else TITLES.get(stage.name, stage.name)
    name += f", GPU {stage.device}" if stage.device else ""
    if no_gpu and _moot(who, stage):
        return Layer(name, "", "none", "no GPU here")
    note = "" if stage.outcome == "passed" else stage.why or _first_words(stage.calls)
    time = "" if stage.outcome == "skipped" else f"{stage.ms:.0f} ms" if stage.ms < 9999 else f"{stage.ms / 1000:.1f} s"
    return Layer(name, time, _MARKS[stage.outcome], note)


def _first_words(calls: Sequence[Call]) -> str:
    return next((f"{call.name}: {_answer(call)}" for call in calls if not call.ok), "")
