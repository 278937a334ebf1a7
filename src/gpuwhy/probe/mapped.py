"""The libraries that a framework's process really mapped, against those that were predicted."""

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuwhy.facts.fact import Known, value_or
from gpuwhy.facts.loads import Found, LoadedLibrary, LoadTree, Rule
from gpuwhy.facts.probe import Surprise
from gpuwhy.machine.machine import Machine

DELETED = " (deleted)"
_GRAFTED = re.compile(r"-[0-9a-f]{8}(?=\.so)")  # auditwheel's mark: libcudart-1b2c3d4e.so.11.0
_MAJOR = re.compile(r"\.so\.(\d+)")
_OTHER = Found(Rule.OTHER)

Copies = Mapping[str, Sequence[str]]
"""The mapped files of each library."""


def surprises(machine: Machine, predicted: LoadTree, mapped: Sequence[str]) -> tuple[Surprise, ...]:
    """What a framework's process loaded otherwise than predicted.

    Another copy, a copy too many (nothing was expected), a file replaced meanwhile (`loaded` says
    so), or one that is needed and not loaded (`loaded` is empty).
    """
    if not mapped:
        return ()
    copies = _by_family(mapped)
    real = {one.path: value_or(machine.real(one.path), one.path) for one in predicted.libraries}
    found = [
        *_gone(mapped),
        *_others(predicted.libraries, real, copies),
        *_not_mapped(machine, predicted.libraries, real, copies),
        *_twice(copies, frozenset(real.values())),
    ]
    return tuple(dict.fromkeys(found))


def family(path: str) -> str:
    """libcudnn_graph of `/x/libcudnn_graph.so.9.1.0`."""
    return _GRAFTED.sub("", _name(path)).split(".so")[0]


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _major(path: str) -> str:
    """9 of `libcudnn.so.9.1.0`: copies with another number do not stand in for each other."""
    match = _MAJOR.search(_name(path))
    return match.group(1) if match else ""


def _by_family(mapped: Sequence[str]) -> Copies:
    copies: dict[str, list[str]] = {}
    for path in dict.fromkeys(one.removesuffix(DELETED) for one in mapped):
        copies.setdefault(family(path), []).append(path)
    return copies


def _gone(mapped: Sequence[str]) -> Iterator[Surprise]:
    for path in mapped:
        if path.endswith(DELETED):
            whole = path.removesuffix(DELETED)
            yield Surprise(_name(whole), path, whole, _OTHER)


def _others(
    libraries: Sequence[LoadedLibrary], real: Mapping[str, str], copies: Copies
) -> Iterator[Surprise]:
    """A library that came from another file."""
    for one in libraries:
        same = [two for two in copies.get(family(one.path), ()) if _major(two) == _major(one.name)]
        if same and real[one.path] not in same:
            yield Surprise(one.name, same[0], one.path, one.found)


def _not_mapped(
    machine: Machine, libraries: Sequence[LoadedLibrary], real: Mapping[str, str], copies: Copies
) -> Iterator[Surprise]:
    """A library that a mapped file needs from its start; what is opened later may still come."""
    everything = {path for of in copies.values() for path in of}
    for one in libraries:
        asker = value_or(machine.real(one.needed_by), one.needed_by) if one.needed_by else ""
        if family(one.path) in copies or asker not in everything:
            continue
        elf = machine.elf(one.needed_by)
        if isinstance(elf, Known) and one.name in elf.value.needed:
            yield Surprise(one.name, "", real[one.path], one.found)


def _twice(copies: Copies, expected: frozenset[str]) -> Iterator[Surprise]:
    """A further copy of one library, unless all were predicted."""
    for name, of in copies.items():
        if len(of) > 1 and not set(of) <= expected:
            first = next((one for one in of if one in expected), of[0])
            yield from (Surprise(name, one, "", _OTHER) for one in of if one != first)
