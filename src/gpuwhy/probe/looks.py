"""The probe's observations: native stages, then each framework of the target in its own interpreter."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from gpuwhy.host.base import Host
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, value_or
from gpuwhy.model.facts import Facts, FrameworkRun, Rate, Stage
from gpuwhy.probe import frameworks, native
from gpuwhy.probe.libraries import stack
from gpuwhy.probe.maps import differences

Note = Callable[[str], None]
_SOURCE = Source("call", "probe")
ROOMY = 6 << 30
"""Free bytes on every GPU that let several stages run side by side; three took 1.8 GB together on an H200."""
PROBED = ("tensorflow", "torch", "jax", "onnxruntime", "cupy")


def stages(host: Host, facts: Facts, gentle: bool, note: Note) -> Fact[tuple[Stage, ...]]:
    """The native stages, in order."""
    return Known(_native(host, facts, gentle, note)[0], _SOURCE)


def rates(host: Host, facts: Facts, gentle: bool) -> Fact[tuple[Rate, ...]]:
    """The rates that were reached; Absent where nothing was measured."""
    found = _native(host, facts, gentle)[1]
    return Known(found, _SOURCE) if found else Absent(_SOURCE)


def memory_used(host: Host, facts: Facts, gentle: bool) -> Fact[int]:
    """GPU memory that the native stages took at their height."""
    taken = _native(host, facts, gentle)[2]
    return Absent(_SOURCE) if taken is None else Known(taken, _SOURCE)


def _native(
    host: Host, facts: Facts, gentle: bool, note: Note = lambda _: None
) -> tuple[tuple[Stage, ...], tuple[Rate, ...], int | None]:
    """Run the stages, or read what they answered: the host keeps every answer."""
    chosen = stack(facts)
    free = [value_or(one.memory_free, 0) for one in value_or(facts.devices.devices, ())]
    roomy = bool(free) and min(free) >= ROOMY
    return native.stages(host, chosen.libraries, chosen.preload, gentle=gentle, note=note, roomy=roomy)


def framework_runs(host: Host, facts: Facts, gentle: bool, note: Note) -> Fact[tuple[FrameworkRun, ...]]:
    """Each framework of the target that was built for the GPU."""
    found, python = facts.target.frameworks, facts.target.interpreter
    if not isinstance(found, Known):
        return found
    if not isinstance(python, Known):
        return Unknown("no interpreter to run the frameworks in")
    out = []
    for one in found.value:
        if one.name in PROBED and not (isinstance(one.gpu_build, Known) and not one.gpu_build.value):
            done = frameworks.run(host, python.value.path, one, gentle, note)
            out.append(msgspec.structs.replace(done, surprises=_surprises(host, facts, done)))
    return Known(tuple(out), _SOURCE)


def _surprises(host: Host, facts: Facts, run: FrameworkRun) -> tuple[str, ...]:
    tree = next((one for one in value_or(facts.loads.trees, ()) if one.framework == run.framework), None)
    return differences(host, tree, run.mapped) if tree else ()
