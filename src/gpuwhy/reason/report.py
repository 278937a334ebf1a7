"""Report: the verdicts and facts put together into the one object that renderers read."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from gpuwhy._version import __version__
from gpuwhy.model.cause import Cause
from gpuwhy.model.expect import gpu_claimed, gpu_present
from gpuwhy.model.fact import Absent, Known, Unknown, value_or
from gpuwhy.model.facts import Facts, Framework
from gpuwhy.model.report import Noticed, Report, Shown, Status, Verdict
from gpuwhy.model.version import major_minor
from gpuwhy.reason.judge import judge
from gpuwhy.reason.picture import picture, unseen
from gpuwhy.reason.rank import crashed, named, rank, ruled_out, still_open
from gpuwhy.reason.tried import but_for, not_tried, unfinished, went_well


def report(
    causes: Sequence[Cause],
    facts: Facts,
    took: float,
    again: str = "",
    with_gpu: Facts | None = None,
    as_if: str = "",
    seen: Facts | None = None,
) -> Report:
    """Judge, rank and describe; `again` is the environment that a check after the fix must name.

    `with_gpu` are the facts on a machine like this that has a GPU, where this one has none; `as_if` names the machine
    that the facts were made to be of. `seen` is what was observed of an image, where `facts` are those of a container
    of it that was started with a GPU.
    """
    verdicts = judge(causes, facts)
    shown, beside = _without_notes(named(rank(verdicts), again, isinstance(facts.target.imports, Known)))
    condition = _condition(as_if, ())
    if seen is not None:
        facts, shown = seen, tuple(c for c in shown if not _wanted_so(c, seen))
        condition = _condition(as_if, shown)
    status, headline = _status(shown, facts), ""
    if with_gpu is not None and not any(c.stops and c.found for c in shown):
        later = _with_gpu(causes, with_gpu, shown, again)
        headline = _later(causes, shown, later)
        status = "degraded" if headline else status
        shown = _together(shown, later)
    shown, asides = _told_apart(shown)
    ids = {c.id for c in (*shown, *asides)}
    return Report(
        status=status,
        headline=condition + (headline or _headline(status, shown, verdicts, facts)),
        as_if=as_if,
        causes=shown,
        ruled_out=tuple(row for row in ruled_out(verdicts) if row.id not in ids),
        undetermined=still_open(verdicts),
        crashed=crashed(verdicts),
        layers=picture(facts, shown),
        unseen=unseen(facts),
        facts=msgspec.to_builtins(facts),
        gpuwhy=__version__,
        took=round(took, 3),
        asides=asides,
        noticed=tuple(Noticed(one.id, one.said, one) for one in beside),
    )


def _without_notes(shown: Sequence[Shown]) -> tuple[tuple[Shown, ...], tuple[Shown, ...]]:
    """What is told as an answer, and what is only true."""
    told = tuple(one for one in shown if not one.noted)
    return told, tuple(one for one in shown if one.noted)


def _later(causes: Sequence[Cause], shown: Sequence[Shown], later: Sequence[Shown]) -> str:
    """The headline of what a GPU would meet, where nothing is wrong without one."""
    if not later or any(one.found for one in shown):
        return ""
    return f"With a GPU: {_effect(later[0], _by_id(causes, later[0].id))}"


def _told_apart(shown: tuple[Shown, ...]) -> tuple[tuple[Shown, ...], tuple[Shown, ...]]:
    """What is told, and beside it what is merely possible and would stop nothing: told where there is nothing else."""
    weighty = tuple(one for one in shown if one.found or one.stops)
    return (weighty, tuple(one for one in shown if one not in weighty)) if weighty else (shown, ())


def _together(shown: Sequence[Shown], later: Sequence[Shown]) -> tuple[Shown, ...]:
    """What shows here, and behind it what would on a machine with a GPU: said once."""
    ids = {one.id for one in later}
    return (*(c for c in shown if c.found or c.id not in ids), *later)


def _condition(as_if: str, started: Sequence[Shown]) -> str:
    """Under what the headline is true, where that is not this machine as it is."""
    if as_if:
        return f"As if on {as_if}: "
    return "Started with --gpus all: " if any(c.found for c in started) else ""


def condition_of(as_if: str) -> str:
    """The beginning of a headline about a machine that was told."""
    return _condition(as_if, ())


def _wanted_so(cause: Shown, image: Facts) -> bool:
    """Whether it is a build for the CPU in an image that nowhere says that it is meant for a GPU."""
    builds = [f for f in value_or(image.target.frameworks, ()) if f"{f.title} {f.version}" in cause.subject.split(", ")]
    without = not any(value_or(one.gpu_build, False) for one in builds)
    return cause.id in _CHOSEN and without and not _means_gpu(image)


def _means_gpu(facts: Facts) -> bool:
    """Whether an image says that it is meant for a GPU: NVIDIA's variables in its config, or a CUDA toolkit."""
    asked = {one.name: one.value for one in value_or(facts.environment.variables, ())}
    wants = asked.get("NVIDIA_VISIBLE_DEVICES", "void") not in ("", "void", "none") or "NVIDIA_REQUIRE_CUDA" in asked
    return wants or bool(value_or(facts.toolkits.toolkits, ()))


def _with_gpu(causes: Sequence[Cause], facts: Facts, shown: Sequence[Shown], again: str) -> tuple[Shown, ...]:
    """The causes that would show on a machine like this that has a GPU, and do not here."""
    here = {c.id for c in shown if c.found}
    along = _CARRIED if isinstance(facts.surroundings.offline, Known) else frozenset()
    asked = [c for c in causes if c.layer in _LATER or c.id in _ALSO_LATER | along]
    found, _ = _without_notes(named(rank(judge(asked, facts)), again, isinstance(facts.target.imports, Known)))
    chosen = frozenset[str]() if _has_unused_cuda(facts) else _CHOSEN
    later = [c for c in found if c.found and c.id not in here and c.id not in chosen]
    return tuple(msgspec.structs.replace(c, stops=False, with_gpu=True) for c in later)


def _has_unused_cuda(facts: Facts) -> bool:
    """Whether NVIDIA's wheels of cuBLAS and cuDNN lie beside frameworks of which none has CUDA: a GPU was meant."""
    names = {one.name.rpartition("-cu")[0] for one in value_or(facts.target.distributions, ())}
    frameworks = value_or(facts.target.frameworks, ())
    return {"nvidia-cublas", "nvidia-cudnn"} <= names and not any(value_or(f.gpu_build, True) for f in frameworks)


_LATER = ("cuda", "cudnn", "install", "env", "framework")
_ALSO_LATER = frozenset({"device.selection"})
"""A file of the environment may hide whatever GPU there is."""
_CARRIED = frozenset({"driver.stub", "driver.compat_misuse", "driver.library_mismatch"})
"""What a folder's own files put before the driver of whichever machine they come to."""
_CHOSEN = frozenset({"framework.cpu_only", "framework.platform_dropped"})
"""A build for the CPU on a machine without a GPU is what somebody chose."""


def _by_id(causes: Sequence[Cause], name: str) -> Cause:
    return next(c for c in causes if c.id == name)


def _status(shown: Sequence[Shown], facts: Facts) -> Status:
    certain = [c for c in shown if c.found and not c.with_gpu]
    if any(c.stops for c in certain):
        return "broken"
    if certain:
        return "degraded"
    if shown or _no_framework(facts):
        return "unknown"
    if unfinished(facts):
        return "unknown"
    answers = bool(value_or(facts.devices.devices, ()))
    if answers and _left_open(facts):
        return "unknown"
    return "healthy" if answers or isinstance(gpu_present(facts), Absent) else "unknown"


def _headline(status: Status, shown: Sequence[Shown], verdicts: Sequence[Verdict], facts: Facts) -> str:
    if shown and status in ("broken", "degraded"):
        cause = next(v.cause for v in verdicts if v.cause.id == shown[0].id)
        return _effect(shown[0], cause)
    if shown:
        return f"Perhaps: {shown[0].said}"
    if status == "unknown":
        return (
            unfinished(facts)
            or _left_open(facts)
            or _as_files_tell(facts)
            or _nothing_to_judge(facts)
            or "Cannot tell whether the GPU stack works here"
        )
    if value_or(facts.devices.devices, ()):
        return f"Nothing wrong found: the GPU stack looks able to work{but_for(facts)}{not_tried(facts)}"
    claim = gpu_claimed(facts)
    note = f" ({claim.value}, but there is no NVIDIA GPU)" if isinstance(claim, Known) else ""
    return f"Healthy, CPU only: this machine has no NVIDIA GPU{note}{but_for(facts)}{not_tried(facts)}"


def _left_open(facts: Facts) -> str:
    """The headline where it is not known whether a framework finds what it cannot do without; "" elsewhere."""
    able = {one.name: one.title for one in value_or(facts.target.frameworks, ()) if value_or(one.gpu_build, False)}
    needs = facts.loads.needs
    if able and isinstance(needs, Unknown):
        return f"Cannot tell whether {next(iter(able.values()))} finds its libraries: {needs.reason}"
    lost = [one for one in value_or(needs, ()) if one.framework in able and not one.optional]
    for one, why in ((one, one.found) for one in lost if isinstance(one.found, Unknown)):
        return f"Cannot tell whether {able[one.framework]} works: {why.reason}"
    return ""


def _no_framework(facts: Facts) -> bool:
    """Whether the environment holds no framework, and a GPU is there for one or somebody named the environment."""
    installed, python = facts.target.frameworks, value_or(facts.target.interpreter, None)
    named = python is not None and python.chosen_by == "--python"
    return isinstance(installed, Known) and not installed.value and (named or bool(value_or(facts.devices.devices, ())))


def _nothing_to_judge(facts: Facts) -> str:
    """The headline where nothing is there that could use a GPU; "" elsewhere."""
    python = facts.target.interpreter
    if not _no_framework(facts) or not isinstance(python, Known):
        return ""
    where = f"No GPU framework was found in {python.value.prefix} (Python {major_minor(python.value.version)})"
    if value_or(facts.devices.devices, ()):
        return f"{where}: nothing is wrong with GPU and driver, and there was nothing else to judge"
    return f"{where}, and no GPU answers here: {went_well(facts) or 'there was nothing to judge'}"


def _as_files_tell(facts: Facts) -> str:
    """The headline for a folder or an image in which nothing is wrong: what it cannot say, it says; "" elsewhere."""
    offline, frameworks = facts.surroundings.offline, facts.target.frameworks
    if not isinstance(offline, Known):
        return ""
    if not isinstance(facts.target.interpreter, Known):
        return f"No Python was found in {offline.value}: name one with --python"
    return _frameworks_tell(facts, frameworks.value, offline.value) if isinstance(frameworks, Known) else ""


def _frameworks_tell(facts: Facts, frameworks: Sequence[Framework], where: str) -> str:
    able = [one for one in frameworks if value_or(one.gpu_build, False)]
    if not able and all(isinstance(one.gpu_build, Known) for one in frameworks):
        return f"No framework with a GPU build is in {where}, as far as files tell"
    if not able or not _all_found(facts):
        return ""
    names = ", ".join(f"{one.title} {one.version}" for one in able[:3]) + (" and others" if len(able) > 3 else "")
    return f"As far as files tell, {names} can work on a GPU; driver and GPU are not in {where.split(' (')[0]}"


def _all_found(facts: Facts) -> bool:
    needs = facts.loads.needs
    return isinstance(needs, Known) and all(one.optional or isinstance(one.found, Known) for one in needs.value)


def _effect(shown: Shown, cause: Cause) -> str:
    mild = cause.stops and not shown.stops and not shown.with_gpu
    if mild or (cause.needs_log and shown.because):  # a mild case of something that can be worse: its own words
        text = shown.because[0].text
        return text if cause.effect == "{because}" else text[:1].upper() + text[1:]
    if shown.because and shown.because[0].ends:
        return shown.said
    if cause.effect:
        return cause.effect.format(subject=shown.subject or "this machine", because=shown.said)
    if shown.subject:
        return f"{shown.subject} will not use the GPU"
    stops = shown.stops or (shown.with_gpu and cause.stops)
    return "No program can use the GPU here" if stops else "The GPU works, with a limitation"
