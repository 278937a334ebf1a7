"""CUDA fatbins: which GPU code a library carries, listed from the headers without decompressing anything.

A section is a run of containers; each has a 16-byte header (magic, version, header size, payload size) and entries
(kind 1 = PTX, kind 2 = SASS; architecture at byte 28; flags at byte 40 carry the a/f suffix).
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator

import msgspec

from gpuwhy.binary import CutError, Pread
from gpuwhy.binary.elf import Section, read_sections
from gpuwhy.binary.pe import read_pe_sections

SECTIONS = frozenset({".nv_fatbin", "__nv_relfatbin"})
_MAGIC = 0xBA55ED50
_MAX_CONTAINERS = 200_000
_MAX_ENTRIES = 256
_GAP = 4096  # padding between containers that we are willing to scan
_SUFFIX_A, _SUFFIX_F = 0x100000, 0x200000


class GpuCode(msgspec.Struct, frozen=True):
    """The GPU code of one library: every architecture seen, and the set that most containers carry."""

    sass: tuple[str, ...]
    ptx: tuple[str, ...]
    usual_sass: tuple[str, ...]  # the modal set: what the library as a whole supports
    usual_ptx: tuple[str, ...]
    containers: int


def _name(prefix: str, arch: int, flags: int) -> str:
    suffix = "a" if flags & _SUFFIX_A else "f" if flags & _SUFFIX_F else ""
    return f"{prefix}_{arch}{suffix}"


def _order(name: str) -> tuple[int, str]:
    digits = "".join(c for c in name.split("_", 1)[1] if c.isdigit())
    return int(digits or 0), name


def _container(pread: Pread, start: int, size: int) -> Iterator[str]:
    """The names (sm_90a, compute_90) of the entries in one container, whose entries lie in [start, start + size)."""
    place, end = start, start + size
    for _ in range(_MAX_ENTRIES):
        if place + 64 > end:
            break
        head = pread(place, 64)
        if len(head) < 64:
            raise CutError("fatbin entry cut short", place)
        kind, _, header, payload = struct.unpack_from("<HHIQ", head, 0)
        (arch,) = struct.unpack_from("<I", head, 28)
        (flags,) = struct.unpack_from("<Q", head, 40)
        if header < 64 or kind not in (1, 2) or arch > 10_000:
            break
        yield _name("compute" if kind == 1 else "sm", arch, flags)
        place += header + payload


def read_containers(
    pread: Pread, size: int, most: int = _MAX_CONTAINERS, sections: frozenset[str] = SECTIONS
) -> Iterator[tuple[str, ...]]:
    """The names in each of the first `most` containers of an ELF or PE file."""
    left, tries = most, 4 * most
    for section in _sections(pread, size, sections):
        place, end = section.offset, min(section.offset + section.size, size)
        while place + 16 <= end and left > 0 and tries > 0:
            tries -= 1
            head = pread(place, 16)
            if len(head) < 16:
                break
            magic, _, header, payload = struct.unpack("<IHHQ", head)
            if magic != _MAGIC or header < 16:
                place = _next_magic(pread, place + 8, end)
                if place < 0:
                    break
                continue
            yield tuple(_container(pread, place + header, min(payload, end - place)))
            left -= 1
            place += header + payload
            place += -place % 8


def _sections(pread: Pread, size: int, names: frozenset[str]) -> tuple[Section, ...]:
    read = read_pe_sections if pread(0, 2) == b"MZ" else read_sections
    return read(pread, size, names)


def read_gpu_code(pread: Pread, size: int, most: int = _MAX_CONTAINERS) -> GpuCode:
    """List the GPU code of an ELF or PE file from its first `most` containers; empty when it has none."""
    sets: Counter[tuple[frozenset[str], frozenset[str]]] = Counter()
    for names in read_containers(pread, size, most):
        sass = frozenset(name for name in names if name.startswith("sm_"))
        sets[sass, frozenset(names) - sass] += 1
    return _summary(sets)


def _next_magic(pread: Pread, place: int, end: int) -> int:
    data = pread(place, min(_GAP, end - place))
    found = data.find(struct.pack("<I", _MAGIC))
    return place + found if found >= 0 else -1


def _summary(sets: Counter[tuple[frozenset[str], frozenset[str]]]) -> GpuCode:
    sass = sorted({name for pair in sets for name in pair[0]}, key=_order)
    ptx = sorted({name for pair in sets for name in pair[1]}, key=_order)
    # kernels for one architecture only (sm_90a's own) may outnumber the others; what counts is the common set
    usual = max(
        sets,
        key=lambda pair: (len(pair[0]) > 1, sets[pair], len(pair[0]), sorted(pair[0])),
        default=(frozenset(), frozenset()),
    )
    return GpuCode(
        sass=tuple(sass),
        ptx=tuple(ptx),
        usual_sass=tuple(sorted(usual[0], key=_order)),
        usual_ptx=tuple(sorted(usual[1], key=_order)),
        containers=sum(sets.values()),
    )
