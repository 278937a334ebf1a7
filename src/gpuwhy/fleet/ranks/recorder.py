"""Recorder: PyTorch's flight recorder dumps, read without running anything, and compared."""

from __future__ import annotations

import io
import json
import pickle
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Literal

import msgspec

from gpuwhy.fleet.ranks.job import Mismatch

MOST = 64 << 20
MOST_ENTRIES = 200_000
_EQUAL = re.compile(
    r"all_?reduce|reduce_?scatter|broadcast|all_?gather|barrier|reduce\b", re.IGNORECASE
)
"""Collectives whose input has the same size on every rank; of a broadcast only the types count."""
_NAME = re.compile(r"(?:nccl_trace_rank_|_rank_|trace_?|dump_?|rank)(\d{1,6})(?:\.\w+)?$")


class BadDumpError(ValueError):
    """The file is no dump of the flight recorder."""


class Entry(msgspec.Struct, frozen=True):
    """One collective that a rank began."""

    number: int
    name: str
    sizes: str
    types: str


Dump = dict[str, dict[int, Entry]]
"""By process group, the collectives in their order."""
Members = Mapping[int, Mapping[int, Entry]]
"""The collectives of one group, by rank."""


class _Plain(pickle.Unpickler):
    """Plain values only: a dump needs no classes, and another file shall get none."""

    def find_class(self, module: str, name: str) -> Any:
        """Refuse."""
        raise BadDumpError(f"it holds {module}.{name}")

    def persistent_load(self, pid: Any) -> Any:
        """Refuse."""
        raise BadDumpError("it refers to something outside")


def rank_of(path: str) -> int:
    """The rank in a dump's name: nccl_trace_rank_3; -1 for none."""
    found = _NAME.search(path.rsplit("/", 1)[-1])
    return int(found[1]) if found else -1


def looks_like_one(head: bytes) -> bool:
    """Whether a file may be a dump: a pickle or JSON that names its entries early."""
    pickled = head[:1] == b"\x80" and b"version" in head[:200]
    return pickled or (head.lstrip()[:1] == b"{" and b'"collective_seq_id"' in head)


def read(data: bytes) -> Dump:
    """The collectives of one rank; raises BadDumpError."""
    if len(data) > MOST:
        raise BadDumpError(f"larger than {MOST >> 20} MiB")
    groups: Dump = defaultdict(dict)
    try:
        as_json = data.lstrip()[:1] == b"{"
        value = json.loads(data) if as_json else _Plain(io.BytesIO(data)).load()
        entries = value.get("entries") if isinstance(value, dict) else None
        if not isinstance(entries, list):
            raise BadDumpError("it has no entries")
        for raw in entries[:MOST_ENTRIES]:
            if isinstance(raw, dict) and not raw.get("is_p2p"):
                group, entry = _entry(raw)
                groups[group][entry.number] = entry
    except BadDumpError:
        raise
    except Exception as error:  # a damaged pickle, and an entry that makes no sense, raise anything
        raise BadDumpError(f"{type(error).__name__}: {error}"[:200]) from error
    return dict(groups)


def _entry(raw: Mapping[str, Any]) -> tuple[str, Entry]:
    process_group = raw.get("process_group") or (raw.get("pg_id"), "")
    sizes = [list(map(int, size[:16])) for size in list(raw.get("input_sizes") or ())[:64]]
    types = [str(one)[:20] for one in list(raw.get("input_dtypes") or ())[:64]]
    entry = Entry(
        number=int(raw.get("collective_seq_id", raw.get("seq_id", 0))),
        name=str(raw.get("profiling_name", "?"))[:80],
        sizes=", ".join(map(str, sizes)) or "nothing",
        types=", ".join(types),
    )
    return str(process_group[0])[:40], entry


def mismatches(dumps: Mapping[int, Dump]) -> tuple[Mismatch, ...]:
    """In each group, the first collective at which the ranks part."""
    groups = sorted({name for dump in dumps.values() for name in dump})
    out = []
    for group in groups:
        members = {rank: dump[group] for rank, dump in dumps.items() if group in dump}
        out += list(islice(_parted(group, members), 1))
    return tuple(out)


def _parted(group: str, members: Members) -> Iterator[Mismatch]:
    """Who ran something else, or did not get there, from the oldest collective on.

    Buffers are rings: only what all of them still hold can be compared.
    """
    if len(members) < 2:
        return
    newest = {rank: max(entries) for rank, entries in members.items()}
    for number in range(max(map(min, members.values())), max(newest.values()) + 1):
        there = {rank: entries[number] for rank, entries in members.items() if number in entries}
        for kind, values, what in _compared(number, there):
            usual, times = Counter(values.values()).most_common(1)[0]
            odd = sorted(rank for rank, value in values.items() if value != usual)
            if odd and times * 2 <= len(values):
                odd = _changed(number, sorted(values), members)
            if odd:
                yield _mismatch(group, number, kind, tuple(odd), values, what)
        lacking = [rank for rank, last in sorted(newest.items()) if number > last]
        if lacking:
            name = next((one.name for one in there.values()), "?")
            who = ", ".join(map(str, lacking[:8]))
            text = f"rank {who} never began {name} (collective {number}), the others did"
            yield Mismatch(group, number, "missing", tuple(lacking), text)


def _compared(
    number: int, there: Mapping[int, Entry]
) -> Iterator[tuple[Literal["operation", "size", "type"], dict[int, str], str]]:
    """What has to be the same on every rank: its kind, its value by rank, what to call it."""
    if not there:
        return
    name = next(iter(there.values())).name
    yield "operation", {rank: one.name for rank, one in there.items()}, f"collective {number}"
    if _EQUAL.search(name) and "broadcast" not in name.lower():
        sizes = {rank: one.sizes for rank, one in there.items()}
        yield "size", sizes, f"{name} (collective {number})"
    if _EQUAL.search(name):
        yield "type", {rank: one.types for rank, one in there.items()}, name


def _changed(number: int, ranks: list[int], members: Members) -> list[int]:
    """Without a majority: the one rank that changed since its own collective before; else all."""
    changed = []
    for rank in ranks:
        before, now = members[rank].get(number - 1), members[rank][number]
        if before and msgspec.structs.replace(before, number=number) != now:
            changed.append(rank)
    return changed if len(changed) == 1 else ranks


def _mismatch(
    group: str,
    number: int,
    kind: Literal["operation", "size", "type"],
    odd: tuple[int, ...],
    values: Mapping[int, str],
    what: str,
) -> Mismatch:
    usual = Counter(value for rank, value in values.items() if rank not in odd).most_common(1)
    mine = "; ".join(f"rank {rank}: {values[rank]}" for rank in odd[:4])
    others = f"; the others: {usual[0][0]}" if usual else ""
    return Mismatch(group, number, kind, odd, f"{what}: {mine}{others}")
