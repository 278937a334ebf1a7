"""The libraries really mapped against those predicted: other copies, copies too many, and what is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuwhy.host.base import Host
from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import LoadedLibrary, LoadTree

_GRAFTED = re.compile(r"-[0-9a-f]{8}(?=\.so)")  # auditwheel's mark: libcudart-1b2c3d4e.so.11.0
_MAJOR = re.compile(r"\.so\.(\d+)")
_DRIVE = re.compile(r"[A-Za-z]:/")
_DELETED = " (deleted)"


def differences(host: Host, predicted: LoadTree, mapped: Sequence[str]) -> tuple[str, ...]:
    """What a framework's process did otherwise than predicted, one sentence each; nothing where it did as predicted."""
    if not mapped:
        return ()
    mapped = [alike(path) for path in mapped]
    by_family = _families(mapped)
    real = {one.path: alike(value_or(host.real(one.path), one.path)) for one in predicted.libraries}
    out = [
        *_gone(mapped),
        *_others(predicted.libraries, real, by_family),
        *_not_mapped(host, predicted.libraries, real, by_family),
        *_twice(by_family, frozenset(real.values())),
    ]
    return tuple(dict.fromkeys(out))


def family(path: str) -> str:
    """libcudnn_graph of `/x/libcudnn_graph.so.9.1.0`."""
    return _GRAFTED.sub("", alike(path).rpartition("/")[2]).split(".so")[0]


def alike(path: str) -> str:
    """A path to compare with others: on Windows upper and lower case are the same."""
    return path.lower() if _DRIVE.match(path) else path


def _major(path: str) -> str:
    """9 of `libcudnn.so.9.1.0`: copies with another number have another SONAME, and do not stand in for each other."""
    match = _MAJOR.search(path.rpartition("/")[2])
    return match.group(1) if match else ""


def _families(mapped: Sequence[str]) -> dict[str, tuple[str, ...]]:
    out: dict[str, tuple[str, ...]] = {}
    for path in (one.removesuffix(_DELETED) for one in mapped):
        out[family(path)] = (*(one for one in out.get(family(path), ()) if one != path), path)
    return out


def _gone(mapped: Sequence[str]) -> Iterator[str]:
    for path in mapped:
        if path.endswith(_DELETED):
            yield f"{path.removesuffix(_DELETED)} was replaced or deleted while the process had it open"


def _others(
    libraries: Sequence[LoadedLibrary], real: Mapping[str, str], by_family: Mapping[str, tuple[str, ...]]
) -> Iterator[str]:
    """A library that came from another file."""
    for one in libraries:
        copies = [copy for copy in by_family.get(family(one.path), ()) if _major(copy) == _major(one.name)]
        if copies and real[one.path] not in copies:
            yield f"{one.name}: {copies[0]} is loaded, where {one.path} was expected ({one.via})"


def _not_mapped(
    host: Host,
    libraries: Sequence[LoadedLibrary],
    real: Mapping[str, str],
    by_family: Mapping[str, tuple[str, ...]],
) -> Iterator[str]:
    """A library that a mapped file needs from its start; what a framework opens when it wants to may still come."""
    everything = {path for copies in by_family.values() for path in copies}
    for one in libraries:
        asker = value_or(host.real(one.needed_by), one.needed_by) if one.needed_by else ""
        if family(one.path) in by_family or asker not in everything:
            continue
        elf = host.elf(one.needed_by)
        if isinstance(elf, Known) and one.name in elf.value.needed:
            yield f"{one.name} is not loaded, although {one.needed_by} needs it; {real[one.path]} was expected"


def _twice(by_family: Mapping[str, tuple[str, ...]], expected: frozenset[str]) -> Iterator[str]:
    """Two copies of one library, unless both were predicted."""
    for name, copies in by_family.items():
        if len(copies) > 1 and not set(copies) <= expected:
            yield f"{name} is loaded {len(copies)} times: {', '.join(copies)}"
