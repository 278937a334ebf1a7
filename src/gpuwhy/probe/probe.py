"""`--probe`: the native stages, then each framework of the environment in its own interpreter."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.probe import FrameworkRun, Probe
from gpuwhy.machine.machine import Machine
from gpuwhy.probe.frameworks import run
from gpuwhy.probe.libraries import stack
from gpuwhy.probe.mapped import surprises
from gpuwhy.probe.stages import FRAMEWORKS
from gpuwhy.probe.walk import walk

Note = Callable[[str], None]
ROOMY = 6 << 30
"""Free bytes on every GPU that let several stages run side by side; three take about 2 GB."""
_SOURCE = Source("call", "probe")


def probe(
    machine: Machine, facts: Facts, gentle: bool = False, note: Note = lambda _: None
) -> Facts:
    """The facts with the live stages; after the loader, whose findings it needs.

    `gentle` takes no context and no memory on a GPU.
    """
    if not isinstance(machine.offline(), Absent):
        offline = Unknown("another machine's files: nothing can be run there", kind="offline")
        return replace(facts, probe=Probe(offline, offline, offline))
    free = [value_or(one.memory_free, 0) for one in value_or(facts.devices.gpus, ())]
    roomy = bool(free) and min(free) >= ROOMY
    stages, reached = walk(machine, stack(facts), gentle, note, roomy)
    rates = Known(reached, _SOURCE) if reached else Absent(_SOURCE)
    runs = _frameworks(machine, facts, gentle, note)
    return replace(facts, probe=Probe(Known(stages, _SOURCE), runs, rates))


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
