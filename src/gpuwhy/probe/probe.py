"""`--probe`: the native stages, then each framework of the environment in its own interpreter."""

from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.probe import FrameworkRun, Probe, Stage
from gpuwhy.machine.machine import Machine
from gpuwhy.probe import lines as of_child
from gpuwhy.probe.lines import Line
from gpuwhy.probe.mapped import surprises
from gpuwhy.probe.stages import FRAMEWORK_STAGES, FRAMEWORKS, stack
from gpuwhy.probe.walk import walk

Note = Callable[[str], None]
ROOMY = 6 << 30
"""Free bytes on every GPU that let several stages run side by side; three take about 2 GB."""
_SOURCE = Source("call", "probe")
_GENTLE = "only reads were asked for (--gentle)"


def probe(
    machine: Machine, facts: Facts, gentle: bool = False, note: Note = lambda _: None
) -> Facts:
    """The facts with the live stages; after the loader, whose findings it needs.

    `gentle` takes no context and no memory on a GPU.
    """
    if not isinstance(machine.offline(), Absent):
        offline = Unknown("another machine's files: nothing can be run there", kind="offline")
        return replace(facts, probe=Probe(offline, offline))
    free = [value_or(one.memory_free, 0) for one in value_or(facts.devices.gpus, ())]
    roomy = bool(free) and min(free) >= ROOMY
    stages = Known(walk(machine, stack(facts), gentle, note, roomy), _SOURCE)
    runs = _frameworks(machine, facts, gentle, note)
    return replace(facts, probe=Probe(stages, runs))


def _frameworks(
    machine: Machine, facts: Facts, gentle: bool, note: Note
) -> Fact[tuple[FrameworkRun, ...]]:
    """Each framework that may have been built for the GPU."""
    installed, python = facts.frameworks.installed, facts.environment.python
    if not isinstance(installed, Known):
        return installed
    if not isinstance(python, Known):
        return Unknown("no interpreter to run the frameworks in")
    trees = {one.framework: one for one in value_or(facts.loads.trees, ())}
    runs = []
    for one in installed.value:
        if one.name in FRAMEWORKS and value_or(one.gpu_build, True):
            done = run(machine, python.value.path, one, gentle, note)
            tree = trees.get(one.name)
            found = surprises(machine, tree, done.mapped) if tree else ()
            runs.append(replace(done, surprises=found))
    return Known(tuple(runs), _SOURCE)


def run(
    machine: Machine,
    python: str,
    framework: Framework,
    gentle: bool,
    note: Note = lambda _: None,
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
