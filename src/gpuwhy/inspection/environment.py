"""A Python environment: what the process of each of its frameworks would load."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TypeVar

from gpuwhy.host.base import Host
from gpuwhy.inspection import windows
from gpuwhy.inspection.bundle import union
from gpuwhy.inspection.file import variables
from gpuwhy.inspection.tree import tree_of
from gpuwhy.observe.loader_v0 import windows_system
from gpuwhy.observe.loader_v0.frameworks import run
from gpuwhy.observe.loader_v0.linux import world_of
from gpuwhy.observe.loader_v0.systems import is_windows
from gpuwhy.observe.loader_v0.windows_frameworks import run as windows_run
from gpuwhy.model.fact import Fact, Known, known, or_unknown, value_or
from gpuwhy.model.facts import Facts, Framework
from gpuwhy.model.inspected import FrameworkTree, Gpu, Inspected, Tree

_SITE = re.compile(r"(.+?)/(?:(?:lib|lib64)/python3?[\d.]*t?/(?:site|dist)-packages|(?i:Lib/site-packages))/?$")
_MARKS = ("pyvenv.cfg", "conda-meta", "bin/python3", "bin/python", "python.exe")

Runner = Callable[[Framework, frozenset[str]], Tree]


def prefix_of(host: Host, path: str) -> str:
    """The environment's folder, where `path` is one or its site-packages; "" where it is neither."""
    site = _SITE.match(path)
    for folder in (path.rstrip("/"), site.group(1) if site else ""):
        if folder and any(isinstance(host.stat(f"{folder}/{mark}"), Known) for mark in _MARKS):
            return folder
    return ""


def inspect_environment(host: Host, path: str, facts: Facts) -> Fact[Inspected]:
    """The load trees of the frameworks that were observed in an environment."""
    frameworks, runner = facts.target.frameworks, _runner(host, facts)
    if not isinstance(frameworks, Known):
        return or_unknown(frameworks, f"{path}: no Python environment")
    if not isinstance(runner, Known):
        return or_unknown(runner, f"{path}: no loader")
    opens = {one.name: value_or(one.opens, ()) for one in frameworks.value}
    trees = [_framework(runner.value, one) for one in frameworks.value if opens[one.name]]
    answer = Inspected(
        path=path,
        kind="environment",
        needed=tuple(dict.fromkeys(opened.name for some in opens.values() for opened in some)),
        gpu=union([tree.gpu for tree in trees]),
        tree=_merged([tree.tree for tree in trees]),
        frameworks=tuple(trees),
        variables=windows.variables(host) if is_windows(facts) else variables(host),
        notes=tuple(_notes(frameworks.value)),
    )
    return known(answer, "folder", path)


def _notes(frameworks: Sequence[Framework]) -> list[str]:
    if not frameworks:
        return ["no framework that gpuwhy knows is installed there"]
    idle = [one for one in frameworks if not value_or(one.opens, ())]
    return [f"{one.title} {one.version} opens no CUDA libraries" for one in idle]


def _runner(host: Host, facts: Facts) -> Fact[Runner]:
    """What gives the load tree of a framework's process on this system; the names are those it may lack."""
    if is_windows(facts):
        around = windows_system.world_of(host, facts)
        if not isinstance(around, Known):
            return around
        here = around.value
        return Known(lambda one, names: windows.tree_of(windows_run(here, facts, one), optional=names), around.source)
    world = world_of(host, facts)
    if not isinstance(world, Known):
        return world
    return Known(lambda one, names: tree_of(run(world.value, facts, one), names), world.source)


def _framework(tree: Runner, one: Framework) -> FrameworkTree:
    optional = frozenset(opened.name for opened in value_or(one.opens, ()) if opened.optional)
    gpu = Gpu(value_or(one.sass, ()), value_or(one.ptx, ()), value_or(one.sass, ()), value_or(one.ptx, ()))
    return FrameworkTree(one.name, one.title, one.version, gpu, tree(one, optional))


def _merged(trees: list[Tree]) -> Tree:
    """All trees in one, each file and each finding once."""
    last_first = chain.from_iterable(reversed(tree.libraries) for tree in reversed(trees))
    missing = chain.from_iterable(tree.missing for tree in trees)
    return Tree(
        libraries=tuple({one.path: one for one in last_first}.values())[::-1],
        missing=tuple({(one.name, one.needed_by): one for one in missing}.values()),
        unmet=_once(tree.unmet for tree in trees),
        unmet_versions=_once(tree.unmet_versions for tree in trees),
        unsure=_once(tree.unsure for tree in trees),
    )


def _once(lists: Iterable[Iterable[T]]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(lists)))


T = TypeVar("T")
