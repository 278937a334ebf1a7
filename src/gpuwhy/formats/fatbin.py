"""CUDA fatbins: which GPU code a library carries, by their headers; nothing is decompressed.

A section is a run of containers: a 16-byte header (magic, version, header size, payload size), then
entries (kind 1 = PTX, kind 2 = SASS; architecture at byte 28; the suffix a or f in flags at 40).
"""

import struct
from collections import Counter
from collections.abc import Iterator

import msgspec

from gpuwhy.formats import CutError, Pread
from gpuwhy.formats.elf import read_sections
from gpuwhy.formats.pe import read_pe_sections

SECTIONS = frozenset({".nv_fatbin", "__nv_relfatbin"})
_MAGIC = 0xBA55ED50
_MAX_CONTAINERS = 200_000
_MAX_ENTRIES = 256
_GAP = 4096  # padding between containers that we are willing to scan
_SUFFIX_A, _SUFFIX_F = 0x100000, 0x200000


class GpuCode(msgspec.Struct, frozen=True):
    """The GPU code of one library: all architectures, and the set that most containers carry."""

    sass: tuple[str, ...]
    ptx: tuple[str, ...]
    usual_sass: tuple[str, ...]  # the modal set: what the library as a whole supports
    usual_ptx: tuple[str, ...]
    containers: int


def read_gpu_code(pread: Pread, size: int, most: int = _MAX_CONTAINERS) -> GpuCode:
    """The GPU code in the first `most` containers of an ELF or PE file; empty when it has none."""
    return summary(Counter(map(frozenset, read_containers(pread, size, most))))


def summary(sets: Counter[frozenset[str]]) -> GpuCode:
    """The GPU code of containers with these sets of names."""
    # kernels for one architecture alone (sm_90a) may outnumber the others; the common set counts
    usual = max(sets, key=lambda names: _rank(names, sets[names]), default=frozenset())
    every: frozenset[str] = frozenset().union(*sets)
    return GpuCode(
        sass=_sorted("sm_", every),
        ptx=_sorted("compute_", every),
        usual_sass=_sorted("sm_", usual),
        usual_ptx=_sorted("compute_", usual),
        containers=sum(sets.values()),
    )


def _rank(names: frozenset[str], count: int) -> tuple[bool, int, int, tuple[str, ...]]:
    sass = sorted(name for name in names if name.startswith("sm_"))
    return len(sass) > 1, count, len(sass), tuple(sass)


def _sorted(prefix: str, names: frozenset[str]) -> tuple[str, ...]:
    """The names with a prefix: sm_75, sm_90, sm_90a, sm_100."""
    found = (name for name in names if name.startswith(prefix))
    return tuple(sorted(found, key=lambda name: (int(name[len(prefix) :].rstrip("af")), name)))


def read_containers(
    pread: Pread, size: int, most: int = _MAX_CONTAINERS, sections: frozenset[str] = SECTIONS
) -> Iterator[tuple[str, ...]]:
    """The names in each of the first `most` containers of an ELF or PE file."""
    read = read_pe_sections if pread(0, 2) == b"MZ" else read_sections
    left, tries = most, 4 * most
    for section in read(pread, size, sections):
        place, end = section.offset, min(section.offset + section.size, size)
        while place + 16 <= end and left > 0 and tries > 0:
            tries -= 1
            head = pread(place, 16)
            if len(head) < 16:
                break
            magic, _, header, payload = struct.unpack("<IHHQ", head)
            if magic == _MAGIC and header >= 16:
                yield tuple(_entries(pread, place + header, min(payload, end - place)))
                left -= 1
                place += header + payload
                place += -place % 8
            else:
                gap = pread(place + 8, min(_GAP, end - place - 8))
                found = gap.find(struct.pack("<I", _MAGIC))
                if found < 0:
                    break
                place += 8 + found


def _entries(pread: Pread, place: int, size: int) -> Iterator[str]:
    """The names (sm_90a, compute_90) of the entries of a container, in the `size` bytes given."""
    end = place + size
    for _ in range(_MAX_ENTRIES):
        if place + 64 > end:
            break
        head = pread(place, 64)
        if len(head) < 64:
            raise CutError("fatbin entry cut short", place)
        kind, header, payload, arch, flags = struct.unpack_from("<H2xIQ12xI8xQ", head)
        if header < 64 or kind not in (1, 2) or arch > 10_000:
            break
        suffix = "a" if flags & _SUFFIX_A else "f" if flags & _SUFFIX_F else ""
        yield f"{'compute' if kind == 1 else 'sm'}_{arch}{suffix}"
        place += header + payload
