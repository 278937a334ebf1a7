"""Names: which rank a file or a line belongs to, for every launcher's way to write it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from gpuwhy.fleet.kinds import table

_IN_PATH = tuple(map(re.compile, table("expressions")["in_path"]))
_MASTER = re.compile(r"(?:^|[^a-z])(?:master|launcher|chief|head)[-_.]?0?(?!\d)", re.IGNORECASE)
_WORKER = re.compile(r"worker[-_.]?\d", re.IGNORECASE)
_ATTEMPT = re.compile(r"^(?P<run>.*?)/?attempt_(?P<n>\d{1,6})/")
_PREFIXES = {name: re.compile(one) for name, one in table("prefixes").items()}
_ALWAYS = ("torch", "torchrun", "mpi", "pod", "ray")
"""Prefixes that nothing else looks like; the others count where most lines have one."""


def last_attempts(paths: Sequence[str]) -> list[str]:
    """Without the files of attempts that torchrun made before the last one of the same run."""
    found = {path: _ATTEMPT.match(path) for path in paths}
    last: dict[str, int] = {}
    for one in filter(None, found.values()):
        last[one["run"]] = max(last.get(one["run"], 0), int(one["n"]))
    return [path for path, one in found.items() if not one or int(one["n"]) == last[one["run"]]]


def labels(paths: Sequence[str]) -> dict[str, tuple[str, int]]:
    """Path → (name, rank); the same rank in several folders is named by what differs."""
    numbers = {paths[0]: -1} if len(paths) == 1 else _numbers_of(paths)
    if len(set(numbers.values())) == 1:
        return {path: (path.rsplit("/", 1)[-1], number) for path, number in numbers.items()}
    groups = {path: _group(path) for path in paths}
    ranks = {(number, groups[path]) for path, number in numbers.items() if number >= 0}
    alone = len({number for number, _ in ranks}) == len(ranks)
    out = {}
    for path, number in numbers.items():
        name = f"rank {number}" if alone else f"{groups[path]}/rank {number}"
        out[path] = (name if number >= 0 else path, number)
    return out


def _numbers_of(paths: Sequence[str]) -> dict[str, int]:
    """Rank by path; with a master beside workers, the first worker is rank 1."""
    base = {path: path.rsplit("/", 1)[-1] for path in paths}
    masters = {path for path in paths if _MASTER.search(base[path])}
    workers = {path for path in paths if _WORKER.search(base[path])}
    out = {path: _in_path(path) for path in paths}
    if masters and workers and not workers & masters:
        out.update({path: out[path] + 1 for path in workers}, **dict.fromkeys(masters, 0))
    return out


def _in_path(path: str) -> int:
    """The rank that a file's path names; -1 for none."""
    for shape in _IN_PATH:
        if found := shape.findall(path):
            return int(found[-1])
    return 0 if _MASTER.search(path.rsplit("/", 1)[-1]) else -1


def _group(path: str) -> str:
    """What is left of a path without the rank and the stream: the node's folder, the run."""
    if found := _ATTEMPT.match(path):
        return found["run"]
    return re.sub(r"\d+", "#", re.sub(r"\.(?:out|err|log|txt|stdout|stderr)\b", "", path))


def style_of(lines: Sequence[str]) -> str:
    """How the lines of a stream name their rank; "" where they do not."""
    styles = (next((n for n, shape in _PREFIXES.items() if shape.match(x)), "") for x in lines)
    count = Counter(filter(None, styles))
    for name in _ALWAYS:
        if count[name]:
            return name
    name, times = count.most_common(1)[0] if count else ("", 0)
    return name if times >= 0.6 * len(lines) else ""


def split(line: str, style: str) -> tuple[str, str]:
    """Who says a line ("" = nobody is named), and what it says."""
    for name in ("torch", "torchrun") if style == "torchrun" else filter(None, (style,)):
        if found := _PREFIXES[name].match(line):
            return found[1], line[found.end() :]
    return "", line


def number_of(who: str) -> int:
    """The rank in a speaker's name: "3", "llm-worker-2"; -1 where it is none."""
    return int(who) if who.isdigit() else _in_path(who)
