"""Our own control group: where its files lie, for version 1 and 2, inside and outside of a container."""

from __future__ import annotations

from gpuwhy.host.base import Host
from gpuwhy.model.fact import Absent, Fact, Known, Source, value_or
from gpuwhy.model.facts import Tasks
from gpuwhy.observe.scene import Scene

ROOT = "/sys/fs/cgroup"
_MOST_LEVELS = 16


def own_folders(host: Host, controller: str) -> tuple[str, ...]:
    """The folders of our group and of its parents for one controller, innermost first.

    Inside a container the path in /proc/self/cgroup may be the host's, and only the last of these folders exists.
    """
    said = host.lines("/proc/self/cgroup", f":{controller}", f",{controller}", "0::/")
    lines = value_or(said, ())
    fields = [parts for parts in (line.split(":", 2) for line in lines) if len(parts) == 3]
    first = next((path for _, names, path in fields if controller in names.split(",")), None)
    if first is not None:
        return _up(f"{ROOT}/{controller}", first)
    second = next((path for number, names, path in fields if number == "0" and not names), "/")
    return _up(ROOT, second)


def _up(root: str, path: str) -> tuple[str, ...]:
    parts = [p for p in path.split("/") if p]
    if ".." in parts:  # our group lies outside of this namespace: only the root can be seen
        parts = []
    levels = ["/".join([root, *parts[:n]]) for n in range(len(parts), -1, -1)]
    return tuple(levels[-_MOST_LEVELS:])


def tasks(scene: Scene) -> Fact[Tasks]:
    """The tightest number of processes and threads that our groups allow; Absent where none does."""
    found: list[tuple[Tasks, str]] = []
    for folder in own_folders(scene.host, "pids"):
        limit, used = (scene.host.read(f"{folder}/pids.{name}") for name in ("max", "current"))
        if isinstance(limit, Known) and isinstance(used, Known) and limit.value.strip().isdigit():
            found.append((Tasks(int(limit.value), int(used.value or 0)), folder))
    if not found:
        return Absent(Source("file", f"{ROOT}/pids.max", "no limit"))
    least, folder = min(found, key=lambda one: one[0].limit)
    return Known(least, Source("file", f"{folder}/pids.max"))
