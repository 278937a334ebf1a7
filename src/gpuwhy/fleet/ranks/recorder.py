"""Recorder: PyTorch's flight recorder dumps, read without running anything, and compared."""

from __future__ import annotations

import io
import json
import pickle
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import msgspec

from gpuwhy.fleet.ranks.job import Mismatch

MOST = 64 << 20
MOST_ENTRIES = 200_000
_EQUAL = re.compile(
    r"all_?reduce|reduce_?scatter|broadcast|all_?gather|barrier|reduce\b", re.IGNORECASE
)
"""Collectives whose input has the same size on every rank."""
_NAME = re.compile(r"(?:nccl_trace_rank_|_rank_|trace_?|dump_?|rank)(\d{1,6})(?:\.\w+)?$")


class BadDumpError(ValueError):
    """The file is no dump of the flight recorder."""


class Entry(msgspec.Struct, frozen=True):
    """One collective that a rank began."""

    number: int
    name: str
    sizes: tuple[tuple[int, ...], ...]
    types: tuple[str, ...]
    done: bool


Dump = dict[str, dict[int, Entry]]
"""By process group, the collectives in their order."""


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
    value = _loaded(data)
    entries = value.get("entries") if isinstance(value, dict) else None
    if not isinstance(entries, list):
        raise BadDumpError("it has no entries")
    groups: Dump = defaultdict(dict)
    for raw in entries[:MOST_ENTRIES]:
        if isinstance(raw, dict) and not raw.get("is_p2p"):
            group, entry = _entry(raw)
            groups[group][entry.number] = entry
    return dict(groups)


def _loaded(data: bytes) -> Any:
    try:
        return json.loads(data) if data.lstrip()[:1] == b"{" else _Plain(io.BytesIO(data)).load()
    except BadDumpError:
        raise
    except Exception as error:  # a damaged pickle raises anything
        raise BadDumpError(f"{type(error).__name__}: {error}"[:200]) from error


def _entry(raw: Mapping[str, Any]) -> tuple[str, Entry]:
    try:
        process_group = raw.get("process_group") or (raw.get("pg_id"), "")
        sizes = tuple(
            tuple(int(one) for one in size[:16]) for size in list(raw.get("input_sizes") or ())[:64]
        )
        entry = Entry(
            number=int(raw.get("collective_seq_id", raw.get("seq_id", 0))),
            name=str(raw.get("profiling_name", "?"))[:80],
            sizes=sizes,
            types=tuple(str(one)[:20] for one in list(raw.get("input_dtypes") or ())[:64]),
            done=str(raw.get("state")) == "completed"
            or bool(raw.get("time_discovered_completed_ns")),
        )
        return str(process_group[0])[:40], entry
    except (TypeError, ValueError, IndexError, KeyError) as error:
        raise BadDumpError(f"an entry that makes no sense: {error}"[:200]) from error


def mismatches(dumps: Mapping[int, Dump]) -> tuple[Mismatch, ...]:
    """In each group, the first collective at which the ranks part."""
    out = []
    for group in sorted({name for dump in dumps.values() for name in dump}):
        members = {rank: dump[group] for rank, dump in dumps.items() if group in dump}
        found = _first(group, members)
        if found:
            out.append(found)
    return tuple(out)


def _first(group: str, members: Mapping[int, Mapping[int, Entry]]) -> Mismatch | None:
    """Buffers are rings: only what all of them still hold can be compared."""
    if len(members) < 2:
        return None
    newest = {rank: max(entries) for rank, entries in members.items()}
    oldest = max(map(min, members.values()))
    steps = range(oldest, max(newest.values()) + 1)
    return next(filter(None, (_parted(group, number, members, newest) for number in steps)), None)


def _parted(
    group: str, number: int, members: Mapping[int, Mapping[int, Entry]], newest: Mapping[int, int]
) -> Mismatch | None:
    """Who ran something else at this place, or did not get there."""
    there = {rank: entries[number] for rank, entries in members.items() if number in entries}
    found = _apart(group, number, there)
    if found and len(found.ranks) == len(there):
        found = _narrowed(found, members)
    lacking = tuple(sorted(rank for rank, last in newest.items() if number > last))
    return found or (_behind(group, number, there, lacking) if lacking else None)


def _apart(group: str, number: int, there: Mapping[int, Entry]) -> Mismatch | None:
    if found := _odd(there, lambda one: one.name):
        return Mismatch(
            group,
            number,
            "operation",
            *_told(found, there, lambda one: one.name, f"collective {number}"),
        )
    name = next(iter(there.values())).name
    if (
        _EQUAL.search(name)
        and "broadcast" not in name.lower()
        and (found := _odd(there, lambda one: one.sizes))
    ):
        return Mismatch(
            group, number, "size", *_told(found, there, _size, f"{name} (collective {number})")
        )
    if _EQUAL.search(name) and (found := _odd(there, lambda one: one.types)):
        return Mismatch(
            group, number, "type", *_told(found, there, lambda one: ", ".join(one.types), name)
        )
    return None


def _narrowed(found: Mismatch, members: Mapping[int, Mapping[int, Entry]]) -> Mismatch:
    """Without a majority: the one rank that does otherwise than itself the time before."""
    changed = []
    for rank in found.ranks:
        before, now = members[rank].get(found.number - 1), members[rank][found.number]
        if before and (before.name, before.sizes, before.types) != (now.name, now.sizes, now.types):
            changed.append(rank)
    return msgspec.structs.replace(found, ranks=tuple(changed)) if len(changed) == 1 else found


def _size(one: Entry) -> str:
    return ", ".join(str(list(size)) for size in one.sizes) or "nothing"


def _odd(there: Mapping[int, Entry], of: Any) -> tuple[int, ...]:
    """The ranks that do otherwise than most; all, where there is no majority."""
    count = Counter(of(one) for one in there.values())
    if len(count) < 2:
        return ()
    (usual, times), *_ = count.most_common(1)
    if times * 2 <= len(there):
        return tuple(sorted(there))
    return tuple(sorted(rank for rank, one in there.items() if of(one) != usual))


def _told(
    odd: tuple[int, ...], there: Mapping[int, Entry], of: Any, what: str
) -> tuple[tuple[int, ...], str]:
    usual = Counter(of(one) for rank, one in there.items() if rank not in odd).most_common(1)
    mine = "; ".join(f"rank {rank}: {of(there[rank])}" for rank in odd[:4])
    return odd, f"{what}: {mine}" + (f"; the others: {usual[0][0]}" if usual else "")


def _behind(
    group: str, number: int, there: Mapping[int, Entry], lacking: tuple[int, ...]
) -> Mismatch:
    name = next(iter(there.values())).name if there else "?"
    who = ", ".join(str(rank) for rank in lacking[:8])
    return Mismatch(
        group,
        number,
        "missing",
        lacking,
        f"rank {who} never began {name} (collective {number}), the others did",
    )
