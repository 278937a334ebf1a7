"""Ray: which node, or which pair, stalls a collective; each try is one task on every node of a group.

Runs in the process that speaks to the cluster. Tells JSON lines: {"nodes": …} as `ray_cluster.ask`, and when the
search is over {"tried": …} for each try and {"found": […], "slow": […]}.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from gpuwhy.fleet.halving import Found, Search, TooManyTriesError, Tried, bandwidth_in, pairs
from gpuwhy.fleet.ray_cluster import NoRayError, cancel, connected, nodes_of, pinned
from gpuwhy.host.children import collective, ray_node

MIB = 16
"""Size of what is reduced: long enough to measure, short enough for a slow network."""
MOST_TRIES = 200
GRACE = 5.0
"""Seconds for the other ranks of a group when one has failed."""
End = tuple[int | None, str]
"""Exit code and last words of a rank; None where it did not end, or its node is gone without a word."""
LATE = 20.0
"""Seconds that Ray gets besides the try itself, to start its workers."""


def probe(address: str, seconds: float, tries: int) -> Iterator[str]:
    """The whole search; what it tells comes when it is over, but for the nodes."""
    ray = connected(address)
    rows = nodes_of(ray)
    yield _line({"nodes": {label: why for label, (_, why) in rows.items()}})
    ids = {label: node for label, (node, why) in rows.items() if not why}
    told: list[Tried] = []
    search = Search(lambda group: _kept(told, _attempt(ray, ids, group, seconds)), tries)
    names = sorted(ids)
    try:
        found = search.culprits(names)
        _measured(search, names, found)
    except TooManyTriesError as error:
        raise NoRayError(f"{error}: the failure may come and go") from error
    yield from (_line({"tried": one}) for one in told)
    yield _line({"found": found, "slow": search.slow()})


def _measured(search: Search, names: Sequence[str], found: Sequence[Found]) -> None:
    """Neighbours two by two, for a bandwidth that can be held against others; culprits are known already."""
    out = {node for one in found for node in one.nodes}
    for pair in pairs([name for name in names if name not in out])[: max(0, search.most - len(search.tries))]:
        search.good(pair)


def _kept(told: list[Tried], one: Tried) -> Tried:
    told.append(one)
    return one


def _line(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _attempt(ray: Any, ids: dict[str, str], group: Sequence[str], seconds: float) -> Tried:
    """One group: the first node has the rendezvous."""
    begun = time.monotonic()
    address = {row["NodeID"]: row.get("NodeManagerAddress", "") for row in ray.nodes()}
    refs: list[Any] = []
    try:
        port = ray.get(_task(ray, ids[group[0]], "free_port", {}), timeout=seconds + LATE)
        common = {"world": str(len(group)), "address": address.get(ids[group[0]], ""), "port": str(port)}
        common |= {"source": inspect.getsource(collective), "mib": str(MIB)}
        for rank, label in enumerate(group):
            refs.append(_task(ray, ids[label], "rank", {**common, "rank": str(rank), "seconds": seconds}))
        ends = _ends(ray, refs, begun + seconds + LATE)
    except Exception as error:  # Ray's own: the node of the rendezvous is gone
        return Tried(tuple(group), "fails", text=f"{type(error).__name__}: {str(error).splitlines()[0]}"[:300])
    finally:
        cancel(ray, refs)
    return _judged(tuple(group), ends, round(time.monotonic() - begun, 2))


def _task(ray: Any, node: str, function: str, asked: dict[str, Any]) -> Any:
    def there(source: str, function: str, asked: dict[str, Any]) -> Any:
        scope: dict[str, Any] = {}
        exec(source, scope)
        return scope[function](asked)

    return pinned(ray, node, there).remote(inspect.getsource(ray_node), function, asked)


def _ends(ray: Any, refs: list[Any], until: float) -> list[End]:
    """How each rank ended. One that fails by itself leaves the others little time: they wait for it."""
    ends: dict[Any, End] = {}
    waiting = list(refs)
    while waiting and (left := until - time.monotonic()) > 0:
        ready, waiting = ray.wait(waiting, num_returns=1, timeout=left)
        ends.update({ref: _end(ray, ref) for ref in ready})
        if any(ends[ref][0] for ref in ready):
            until = min(until, time.monotonic() + GRACE)
    return [ends.get(ref, (None, "no answer")) for ref in refs]


def _end(ray: Any, ref: Any) -> End:
    try:
        code, words = ray.get(ref, timeout=10)
    except Exception as error:  # the worker or its node died
        return 1, f"{type(error).__name__}: {next(iter(str(error).splitlines()), '')}"
    return code, words


def _judged(group: tuple[str, ...], ends: list[End], seconds: float) -> Tried:
    """A rank that fails by itself says more than those that waited for it."""
    named = [(label, *end) for label, end in zip(group, ends, strict=True)]
    failed = [one for one in named if one[1]]
    late = [one for one in named if one[1] is None]
    if failed or late:
        label, _, words = (failed or late)[0]
        text = f"{label}: {_last(words)}" if len(group) > 1 else _last(words)
        return Tried(group, "fails" if failed else "stalls", seconds, None, text[:300])
    return Tried(group, "ok", seconds, bandwidth_in(ends[0][1]) if len(group) > 1 else None, "")


def _last(words: str) -> str:
    return next((line for line in reversed(words.strip().splitlines()) if line.strip()), "")
