"""What the stages show: who failed, in which words; what was seen to work; rows of the answer."""

from collections.abc import Iterator
from typing import Literal, NamedTuple

from gpuwhy.answer.answer import Layer
from gpuwhy.facts.fact import Absent, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.probe import FrameworkRun, Stage, Surprise
from gpuwhy.probe.lines import SIGNALS
from gpuwhy.probe.mapped import DELETED
from gpuwhy.probe.stages import BY_NAME, FRAMEWORK_STAGES
from gpuwhy.signs.expect import gpu_present

BAD = ("failed", "crashed", "hung")


class Failure(NamedTuple):
    """Who failed first at which stage, and everything that was printed about it."""

    who: str  # "PyTorch 2.5.1"; "" for the native stages
    stage: Stage
    text: str  # the words of libraries and frameworks, as a log
    signal: str = ""  # by which the stage crashed


def failures(facts: Facts) -> tuple[Failure, ...]:
    """One failure where the native stages broke, for they carry the rest; else one per framework.

    What needs a GPU cannot fail where there is none.
    """
    no_gpu = has_no_gpu(facts)
    titles = {
        one.name: f"{one.title} {one.version}" for one in value_or(facts.frameworks.installed, ())
    }
    native = value_or(facts.probe.stages, ())
    spoken = [line for stage in native if stage.outcome in BAD for line in words(stage)]
    broken = [one for one in native if one.outcome in BAD and not (no_gpu and is_moot("", one))]
    found = []
    for run in value_or(facts.probe.frameworks, ()):
        who = titles.get(run.framework, run.framework)
        bad = [one for one in run.stages if one.outcome in BAD]
        lines = [run.said, *(line for stage in bad for line in words(stage))] if bad else []
        failed = [one for one in bad if not (no_gpu and is_moot(who, one))]
        if broken:
            spoken += lines
        elif failed:
            found.append(_failure(who, failed[0], [*spoken, *lines]))
    return (_failure("", broken[0], spoken),) if broken else tuple(found)


def _failure(who: str, stage: Stage, lines: list[str]) -> Failure:
    text = "\n".join(line for line in lines if line)
    return Failure(who, stage, text, SIGNALS.get(stage.signal, ""))


def words(stage: Stage) -> Iterator[str]:
    """What a call that failed answered: its name, code, status and the library's own words."""
    call = stage.failing
    if call is None:
        yield stage.why
    elif stage.outcome != "crashed":
        code = "" if call.code is None else f"({call.code})" if call.status else str(call.code)
        answer = " ".join(filter(None, (call.status, code)))
        yield f"{call.name} failed: {': '.join(filter(None, (answer, call.text)))}"


def has_no_gpu(facts: Facts) -> bool:
    """Whether there is none on the bus, and none was found by the driver either."""
    stages = value_or(facts.probe.stages, ())
    found = any(one.name == "devices" and one.outcome == "passed" for one in stages)
    return isinstance(gpu_present(facts), Absent) and not found


def is_moot(who: str, stage: Stage) -> bool:
    """Whether a stage cannot pass without a GPU."""
    needs_gpu = stage.name != FRAMEWORK_STAGES[0] if who else BY_NAME[stage.name].gpu
    return stage.outcome != "passed" and needs_gpu


def works(run: FrameworkRun) -> bool:
    """Whether a framework did what was asked of it on the GPU."""
    passed = {stage.name for stage in run.stages if stage.outcome == "passed"}
    return passed.issuperset(FRAMEWORK_STAGES)


def reached(facts: Facts) -> bool:
    """Whether a context could be made on every GPU that was tried."""
    contexts = [one for one in value_or(facts.probe.stages, ()) if one.name == "context"]
    return bool(contexts) and all(one.outcome == "passed" for one in contexts)


# ------------------------------------------------------------ rows of the answer

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
