"""A framework in its own interpreter: the lines of its child as stages, whatever ended it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gpuwhy.facts.fact import Known, Unknown
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.probe import FrameworkRun, Stage
from gpuwhy.machine.machine import Machine
from gpuwhy.probe import lines as of_child
from gpuwhy.probe.lines import Line
from gpuwhy.probe.stages import FRAMEWORK_STAGES

_GENTLE = "only reads were asked for (--gentle)"


def run(
    machine: Machine,
    python: str,
    framework: Framework,
    gentle: bool,
    note: Callable[[str], None] = lambda _: None,
) -> FrameworkRun:
    """A framework in its own interpreter, on the GPU; a crash or a hang is an outcome."""
    note(f"{framework.title} {framework.version} on the GPU")
    args = (framework.name, "--gentle") if gentle else (framework.name,)
    answer = machine.python(python, "framework", *args)
    if isinstance(answer, Known):
        return read(framework.name, answer.value, gentle)
    why = answer.reason if isinstance(answer, Unknown) else f"{python}: not there"
    ended = isinstance(answer, Unknown) and answer.kind == "ended"  # before the import
    begun = ({"ended": why, "how": {"why": why}},) if ended else ()
    return read(framework.name, begun, gentle, why)


def read(name: str, lines: Sequence[Line], gentle: bool = False, why: str = "") -> FrameworkRun:
    """The record of a run from the lines of the child; `why` is of stages that did not begin."""
    if any("ended" in line for line in lines) and not any("stage" in line for line in lines):
        lines = ({"stage": FRAMEWORK_STAGES[0]}, *lines)
    stages = {stage.name: stage for stage in of_child.read(lines).stages}
    return FrameworkRun(
        framework=name,
        stages=tuple(
            stages.get(one) or _skipped(one, stages, gentle, why) for one in FRAMEWORK_STAGES
        ),
        mapped=_mapped(lines),
        said="\n".join([*_texts(lines, "said"), *_texts(lines, "exception")]),
    )


def _texts(lines: Sequence[Line], key: str) -> list[str]:
    values = (line.get(key) for line in lines)
    return [one.strip() for one in values if isinstance(one, str) and one.strip()]


def _mapped(lines: Sequence[Line]) -> tuple[str, ...]:
    """What was mapped when it was last looked at."""
    found = [line["mapped"] for line in lines if isinstance(line.get("mapped"), list)]
    return tuple(one for one in found[-1] if isinstance(one, str)) if found else ()


def _skipped(name: str, stages: Mapping[str, Stage], gentle: bool, why: str) -> Stage:
    bad = next((one for one in stages.values() if one.outcome not in ("passed", "skipped")), None)
    if bad is None:
        return Stage(name, "skipped", why=why or (_GENTLE if gentle else "not reached"))
    return Stage(name, "skipped", why=f"{bad.name} {bad.outcome}")
