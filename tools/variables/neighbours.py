"""Many small members of a remote wheel in few requests: neighbours are fetched together and inflated here."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator

from tools.harvest.web import Web
from tools.harvest.wheel import BrokenWheel, Member

GAP, RUN, HEADER = 64 << 10, 8 << 20, 30 + 1024
LARGEST = 4 << 20


def sources(web: Web, url: str, size: int, members: Iterable[Member]) -> Iterator[tuple[str, bytes]]:
    """Name and bytes of each member, in the order of the file; those that claim too much are left out."""
    wanted = sorted((m for m in members if m.size <= LARGEST and m.packed <= LARGEST), key=lambda m: m.offset)
    for run in _runs(wanted):
        start = run[0].offset
        end = min(size, run[-1].offset + HEADER + len(run[-1].name.encode()) + run[-1].packed)
        data = web.bytes(url, start, end - start)
        for member in run:
            yield member.name, _inflated(member, data[member.offset - start :])


def _runs(members: list[Member]) -> Iterator[list[Member]]:
    run: list[Member] = []
    for member in members:
        end = run[-1].offset + run[-1].packed if run else 0
        if run and (member.offset - end > GAP or member.offset + member.packed - run[0].offset > RUN):
            yield run
            run = []
        run.append(member)
    if run:
        yield run


def _inflated(member: Member, data: bytes) -> bytes:
    if data[:4] != b"PK\3\4":
        raise BrokenWheel(f"{member.name}: no local header")
    names, extra = struct.unpack_from("<HH", data, 26)
    packed = data[30 + names + extra : 30 + names + extra + member.packed]
    if member.method == 0:
        return packed
    if member.method != 8:
        raise BrokenWheel(f"{member.name}: compression method {member.method}")
    return zlib.decompressobj(-15).decompress(packed, LARGEST)
