"""A framework in its own interpreter: the lines of its child as stages, whatever ended it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from gpuwhy.host.base import Host
from gpuwhy.host.ends import of_words
from gpuwhy.model.fact import Known, Unknown
from gpuwhy.model.facts import Framework, FrameworkRun, Stage
from gpuwhy.probe import lines as told
from gpuwhy.probe.lines import Line
from gpuwhy.probe.stages import FRAMEWORK_STAGES

_GENTLE = "only reads were asked for (--gentle)"


def run(
    host: Host, python: str, framework: Framework, gentle: bool, note: Callable[[str], None] = lambda _: None
) -> FrameworkRun:
    """Import a framework in its own interpreter and use the GPU with it; a crash or a hang is an outcome."""
    note(f"{framework.title} {framework.version} on the GPU")
    args = (framework.name, "--gentle") if gentle else (framework.name,)
    answer = host.python(python, "framework", *args)
    if isinstance(answer, Known):
        return read(framework.name, answer.value, gentle)
    why = answer.reason if isinstance(answer, Unknown) else f"{python}: not there"
    ended = isinstance(answer, Unknown) and answer.kind == "ended"  # its Python did not get as far as the import
    begun: Sequence[Line] = (of_words(why),) if ended else ()
    return read(framework.name, begun, gentle, why)


def read(name: str, lines: Sequence[Line], gentle: bool = False, why: str = "") -> FrameworkRun:
    """The record of a run from the lines of the child; `why` is told of stages that nothing is known of."""
    if any("ended" in line for line in lines) and not any("stage" in line for line in lines):
        lines = ({"stage": FRAMEWORK_STAGES[0]}, *lines)
    stages = {stage.name: stage for stage in told.read(lines).stages}
    return FrameworkRun(
        framework=name,
        stages=tuple(stages.get(one) or _skipped(one, stages, gentle, why) for one in FRAMEWORK_STAGES),
        version=["", *_texts(lines, "version")][-1],
        built_for=["", *_texts(lines, "built_for")][-1],
        devices=_names(lines, "devices"),
        mapped=_names(lines, "mapped"),
        said="\n".join([*_texts(lines, "said"), *_texts(lines, "exception")]),
        notes=tuple(_texts(lines, "note")),
    )


def _texts(lines: Sequence[Line], key: str) -> list[str]:
    return [line[key].strip() for line in lines if isinstance(line.get(key), str) and line[key].strip()]


def _names(lines: Sequence[Line], key: str) -> tuple[str, ...]:
    """The last list under a key: what was mapped when it was last looked at."""
    found = [line[key] for line in lines if isinstance(line.get(key), list)]
    return tuple(one for one in found[-1] if isinstance(one, str)) if found else ()


def _skipped(name: str, stages: Mapping[str, Stage], gentle: bool, why: str) -> Stage:
    bad = next((one for one in stages.values() if one.outcome not in ("passed", "skipped")), None)
    if bad is None:
        return Stage(name, "skipped", why=why or (_GENTLE if gentle else "not reached"))
    return Stage(name, "skipped", why=f"{bad.name} {bad.outcome}")
