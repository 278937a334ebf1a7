"""What was watched, as facts: how it ended, its memory, its frameworks."""

import os
import signal as signals
from collections.abc import Sequence
from typing import Any

from gpuwhy.facts.fact import Fact, Known, Source, Unknown, absent, known
from gpuwhy.facts.run import GpuUse, HostUse, Moment, Run
from gpuwhy.run.child import Ended
from gpuwhy.run.sampler import Samples, thinned
from gpuwhy.run.target import imported, wanted_gpu

POINTS = 160
SMALL, SOON = 40 << 20, 0.3
"""Bytes in which no framework fits, and the seconds before the end in which none can be loaded."""
BLIND, BRIEF, RARE = 0.5, 60.0, 5.0
"""Seconds before the end that may pass without a look at the processes, if we say that none touched
a GPU: in a program that ran so long, and in one that ran longer, where the looks are rarer."""
PARTING = 1.0
"""Seconds in which a program that somebody ends prints its last words."""
COUNTERS = {"group": "oom_kill of the control group", "machine": "oom_kill in /proc/vmstat"}
_WAIT = Source("call", "waitid")
_SAMPLER = Source("call", "sampler")
_NVML = Source("call", "NVML", "sampled while the program ran")


def observed(argv: Sequence[str], ended: Ended, first_rank: str) -> Run:
    """The facts of one run; `first_rank` is the rank that failed first, by the output."""
    place = wanted_gpu(argv)
    no_place = absent("command", "command line", "no text that asks for a GPU")
    no_rank = absent("log", "output", "no rank is named")
    return Run(
        program=known(os.path.basename(argv[0]), "command", "command line"),
        exit=absent("call", "waitid") if ended.signal else Known(ended.code, _WAIT),
        signal=_signal(ended),
        sent=Known(tuple(name(number) for number in ended.sent), Source("call", "sigwaitinfo")),
        seconds=known(round(ended.seconds, 2), "call", "clock"),
        started=known(round(ended.started, 2), "call", "clock"),
        silent=_silent(ended),
        gpus=_gpus(ended),
        host=_host(ended),
        oom_kills=_kills(ended.samples),
        frameworks=_frameworks(ended),
        touched_gpu=_touched(ended),
        wanted_gpu=known(place, "file", place.file) if place else no_place,
        imports=known(imported(argv), "command", "command line"),
        first_rank=known(first_rank, "log", "output") if first_rank else no_rank,
    )


def name(number: int) -> str:
    """SIGKILL; SIG64 for one without a name."""
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"SIG{number}"


def _signal(ended: Ended) -> Fact[str]:
    if ended.signal:
        return Known(name(ended.signal), _WAIT)
    if 128 < ended.code <= 128 + signals.SIGSYS:  # a shell or launcher says so of its own child
        return known(name(ended.code - 128), "call", "waitid", f"exit code {ended.code}")
    return absent("call", "waitid", "it exited")


def _silent(ended: Ended) -> Fact[float]:
    """How long it had printed nothing; of one that somebody ended, until its last words on that."""
    end = ended.began + ended.seconds
    times = [at for at in (*ended.ring.times, ended.ring.last) if at]
    if not times:
        return absent("call", "output", "it printed nothing")
    if ended.sent:
        times = [time for time in times if time < end - PARTING] or [ended.began]
    return known(round(max(0.0, end - max(times)), 1), "call", "output")


def _few(points: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    few = list(points)
    while len(few) > POINTS:
        few = thinned(few)
    return few


def _gpus(ended: Ended) -> Fact[tuple[GpuUse, ...]]:
    samples, began = ended.samples, ended.began
    if samples.start.get("nvml"):
        return Unknown(f"GPU memory was not sampled: {samples.start['nvml']}")
    if not any(point["gpus"] for point in samples.points):
        return Unknown("GPU memory was not sampled: the program ended too soon, or there is no GPU")
    indexes = sorted({row[0] for point in samples.points for row in point["gpus"]})
    return Known(tuple(_gpu(index, samples.points, began) for index in indexes), _NVML)


def _gpu(index: int, points: Sequence[dict[str, Any]], began: float) -> GpuUse:
    rows = [(p["t"], row) for p in points for row in p["gpus"] if row[0] == index]
    kept = {point["t"] for point in _few(points)}
    _, total, used, own, others, _ = max((row for _, row in rows), key=lambda row: row[3:5])
    curve = [Moment(round(t - began, 2), row[3], row[4]) for t, row in rows if t in kept]
    return GpuUse(
        index=index,
        total=total,
        own=own,
        others_then=others,
        free_then=max(0, total - used),
        others=max(row[4] for _, row in rows),
        busy=max(row[5] for _, row in rows),
        guessed=any(point.get("guessed") for point in points),
        curve=tuple(curve),
    )


def _host(ended: Ended) -> Fact[HostUse]:
    points = ended.samples.points
    left = [point["available"] for point in points if point.get("available") is not None]
    limits = [(point["limit"], point["held"]) for point in points if "limit" in point]
    unseen: Unknown = Unknown("not sampled")
    none = absent("file", "memory.max", "no limit") if points else unseen
    use = HostUse(
        peak=max([ended.peak, *(point["rss"] for point in points)]),
        least_available=Known(min(left), _SAMPLER) if left else unseen,
        limit=Known(limits[-1][0], _SAMPLER) if limits else none,
        held=Known(max(held for _, held in limits), _SAMPLER) if limits else none,
    )
    return Known(use, _SAMPLER)


def _kills(samples: Samples) -> Fact[int]:
    """The difference of the kernel's counters: of our group, else of the machine."""
    before, after = samples.start.get("kills") or {}, samples.end.get("kills") or {}
    both = [key for key in COUNTERS if None not in (before.get(key), after.get(key))]
    if not both:
        reason = "the kernel does not say how often it killed for memory"
        return Unknown(reason, "sudo dmesg | gpuwhy explain")
    count, key = max((after[key] - before[key], key) for key in both)
    return known(count, "file", f"{COUNTERS[key]}, before and after")


def _until(ended: Ended) -> float:
    """Seconds between the last look at its processes and its end."""
    points = ended.samples.points
    return ended.began + ended.seconds - points[-1]["t"] if points else float("inf")


def _frameworks(ended: Ended) -> Fact[tuple[str, ...]]:
    """Those that were seen mapped; none only of processes too small to hold one to the end."""
    found = {one for seen in ended.samples.seen.values() for one in seen.get("libraries", ())}
    small = max((point["rss"] for point in ended.samples.points), default=SMALL) < SMALL
    if not found and not (small and _until(ended) < SOON):
        return Unknown("its processes were not looked at often enough")
    return Known(tuple(sorted(found)), _SAMPLER)


def _touched(ended: Ended) -> Fact[bool]:
    touched = any(seen.get("touched") for seen in ended.samples.seen.values())
    if not touched and _until(ended) > (BLIND if ended.seconds < BRIEF else RARE):
        return Unknown("its processes were not looked at until the end")
    return Known(touched, _SAMPLER)


def python_of(ended: Ended) -> str:
    """The Python of a process that loaded a framework, else the first that was seen, else ""."""
    seen = sorted(ended.samples.seen.values(), key=lambda one: not one.get("libraries"))
    found = (one[key] for key in ("python", "prefix") for one in seen if one.get(key))
    return next(found, "")
