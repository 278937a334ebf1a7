"""Names: which rank a file or a line belongs to, for every launcher's way to write it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from gpuwhy.fleet.tables import table

_IN_PATH = [re.compile(one) for one in table("expressions")["in_path"]]
_MASTER = re.compile(r"(?:^|[^a-z])(?:master|launcher|chief|head)[-_.]?0?(?!\d)", re.IGNORECASE)
PREFIXES = [(name, re.compile(one)) for name, one in table("prefixes").items()]
_ALWAYS = ("torch", "torchrun", "mpi", "pod", "ray")
"""Prefixes that nothing else looks like; the others count where most lines have one."""


def in_path(path: str) -> int:
    """The rank that a file's path names; -1 for none."""
    for shape in _IN_PATH:
        found = shape.findall(path)
        if found:
            return int(found[-1])
    return 0 if _MASTER.search(path.rsplit("/", 1)[-1]) else -1


def of_files(paths: Sequence[str]) -> dict[str, int]:
    """Rank by path for a set of logs; with a master beside workers, the first worker is rank 1."""
    base = {path: path.rsplit("/", 1)[-1] for path in paths}
    masters = [path for path in paths if _MASTER.search(base[path])]
    workers = [path for path in paths if re.search(r"worker[-_.]?\d", base[path], re.IGNORECASE)]
    out = {path: in_path(path) for path in paths}
    if masters and workers and not set(masters) & set(workers):
        out.update({path: out[path] + 1 for path in workers})
        out.update(dict.fromkeys(masters, 0))
    return out


def style_of(lines: Sequence[str]) -> str:
    """How the lines of a stream name their rank; "" where they do not."""
    count: Counter[str] = Counter()
    for line in lines:
        for name, shape in PREFIXES:
            if shape.match(line):
                count[name] += 1
                break
    for name in _ALWAYS:
        if count[name]:
            return name
    name, times = count.most_common(1)[0] if count else ("", 0)
    return name if times >= 0.6 * len(lines) else ""


def split(line: str, style: str) -> tuple[str, str]:
    """Who says a line ("" = nobody is named), and what it says."""
    for name, shape in PREFIXES:
        if name == style or (name == "torch" and style == "torchrun"):
            found = shape.match(line)
            if found:
                return str(
                    found["pod"] if name == "pod" else found["actor"] if name == "ray" else found[1]
                ), line[found.end() :]
    return "", line


def number_of(who: str) -> int:
    """The rank in a speaker's name: "3", "llm-worker-2"; -1 where it is none."""
    return int(who) if who.isdigit() else in_path(who)
