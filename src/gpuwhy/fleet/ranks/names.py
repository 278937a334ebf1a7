"""Names: which rank a file or a line belongs to, for every launcher's way to write it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_IN_PATH = (
    re.compile(r"attempt_\d+/(\d{1,6})/(?:std(?:out|err)\.log|error\.json)$"),
    re.compile(r"(?:^|[^a-z])(?:global[-_]?)?rank[-_.=]?(\d{1,6})(?!\d)", re.IGNORECASE),
    re.compile(
        r"(?:^|[^a-z])(?:local[-_]?rank|task|proc(?:ess)?|worker|replica|trainer|node)[-_.]?(\d{1,6})(?!\d)",
        re.IGNORECASE,
    ),
    re.compile(r"[-_.](\d{1,6})(?:\.(?:out|err|log|txt|stdout|stderr))+$", re.IGNORECASE),
    re.compile(r"(?:^|/)(\d{1,6})(?:\.(?:out|err|log|txt))*$", re.IGNORECASE),
)
_MASTER = re.compile(r"(?:^|[^a-z])(?:master|launcher|chief|head)[-_.]?0?(?!\d)", re.IGNORECASE)
PREFIXES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("torch", re.compile(r"\[(?:rank|Rank|RANK) ?(\d{1,6})\]:? ?")),
    ("torchrun", re.compile(r"\[(?:default|trainer|worker|[a-z_]{1,20}?)(\d{1,6})\]: ?")),
    ("mpi", re.compile(r"\[(?:[\w.@-]{1,60}@)?\d{1,6},(\d{1,6})\]<std(?:out|err)>: ?")),
    ("pod", re.compile(r"\[pod/(?P<pod>[a-z0-9.-]{1,250}?)/[a-z0-9.-]{1,80}\] ?")),
    ("ray", re.compile(r"\((?P<actor>[^()]{0,80}?pid=\d{1,9}(?:, ip=[0-9a-fA-F.:]{3,45})?)\) ?")),
    ("mpich", re.compile(r"\[(\d{1,6})\] ")),
    ("srun", re.compile(r" {0,5}(\d{1,6}): ")),
)
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
