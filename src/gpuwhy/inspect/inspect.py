"""Which kind of thing a path is, and what the frameworks of an environment would load."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import chain
from typing import TypeVar

from gpuwhy.facts.fact import Fact, Known, Unknown, known, or_unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework
from gpuwhy.inspect import windows
from gpuwhy.inspect.bundle import inspect_folder, inspect_wheel, union
from gpuwhy.inspect.inspected import FrameworkTree, Gpu, Inspected, Tree
from gpuwhy.inspect.linux import inspect_elf, tree_of, variables
from gpuwhy.loader.linux import run, world_of
from gpuwhy.loader.systems import is_windows
from gpuwhy.look.look import Options, look
from gpuwhy.machine.machine import Machine

_WINDOWS = re.compile(r"\.(dll|pyd|exe|sys)$", re.IGNORECASE)
_SPECIAL = {"char": "a device", "block": "a device", "other": "a pipe or a socket"}
_SITE = re.compile(
    r"(.+?)/(?:(?:lib|lib64)/python3?[\d.]*t?/(?:site|dist)-packages|(?i:Lib/site-packages))/?$"
)
_MARKS = ("pyvenv.cfg", "conda-meta", "bin/python3", "bin/python", "python.exe")
_SUBJECTS = ("system", "environment", "frameworks", "libraries")

T = TypeVar("T")
Runner = Callable[[Framework, frozenset[str]], Tree]
"""The load tree of a framework's process; the names are those that it may lack."""


def inspect(
    machine: Machine, path: str, folder: str = "/", note: Callable[[str], None] = lambda _: None
) -> Fact[Inspected]:
    """What a file, folder or environment needs and would load; `folder` is the current one."""
    note(f"reading {path}")
    if prefix := _prefix_of(machine, path):
        return _inspect_environment(machine, path, prefix, note)
    return _inspect_path(machine, path, folder)


def _inspect_path(machine: Machine, path: str, folder: str) -> Fact[Inspected]:
    stat = machine.stat(path)
    if not isinstance(stat, Known):
        return stat
    if stat.value.kind == "folder":
        return inspect_folder(machine, path, folder)
    if stat.value.kind != "file":
        return Unknown(f"{path}: not a regular file but {_SPECIAL[stat.value.kind]}")
    if not stat.value.size:  # the kernel's files have no size, and some never end
        return Unknown(f"{path}: empty file at offset 0")
    if path.endswith(".whl"):
        return inspect_wheel(machine, path, folder)
    named = _WINDOWS.search(path) is not None
    elf = machine.elf(path)
    if not named and isinstance(elf, Known):
        return inspect_elf(machine, path, folder, elf.value, stat.value)
    pe = machine.pe(path)
    if isinstance(pe, Known):
        return windows.inspect_pe(machine, path, folder, pe.value, stat.value.size)
    if named or isinstance(elf, Known):
        return pe
    first = value_or(machine.read(path), "")[:256].split("\n", 1)[0]
    if first.startswith("#!"):
        runs = f"gpuwhy run -- {path} shows what it starts"
        return Unknown(f"{path}: a script for {first[2:].strip()}, not a program; {runs}")
    return elf


def active_prefix(machine: Machine) -> str:
    """The folder of the environment that `gpuwhy check` would look at; "" where there is none."""
    python = look(machine, Options(folder="."), ("environment",)).environment.python
    return python.value.prefix if isinstance(python, Known) else ""


# Environments


def _prefix_of(machine: Machine, path: str) -> str:
    """The environment's folder, where `path` is one or its site-packages; "" for other paths."""
    site = _SITE.match(path)
    for folder in (path.rstrip("/"), site[1] if site else ""):
        if folder and any(isinstance(machine.stat(f"{folder}/{one}"), Known) for one in _MARKS):
            return folder
    return ""


def _inspect_environment(
    machine: Machine, path: str, prefix: str, note: Callable[[str], None]
) -> Fact[Inspected]:
    """The load trees of the frameworks that are installed in an environment."""
    facts = look(machine, Options(python=prefix, folder="."), _SUBJECTS, note)
    frameworks, runner = facts.frameworks.installed, _runner(machine, facts)
    if not isinstance(frameworks, Known):
        return or_unknown(frameworks, f"{path}: no Python environment")
    if not isinstance(runner, Known):
        return or_unknown(runner, f"{path}: no loader")
    opens = {one.name: value_or(one.opens, ()) for one in frameworks.value}
    using = [one for one in frameworks.value if opens[one.name]]
    idle = [one for one in frameworks.value if not opens[one.name]]
    trees = [_framework(runner.value, one) for one in using]
    notes = [f"{one.title} {one.version} opens no CUDA libraries" for one in idle]
    if not frameworks.value:
        notes = ["no framework that gpuwhy knows is installed there"]
    steering = ("PATH",) if is_windows(facts) else ("LD_LIBRARY_PATH", "LD_PRELOAD")
    answer = Inspected(
        path=path,
        kind="environment",
        needed=_once([opened.name for opened in some] for some in opens.values()),
        gpu=union([tree.gpu for tree in trees]),
        tree=_merged([tree.tree for tree in trees]),
        frameworks=tuple(trees),
        variables=variables(machine, steering),
        notes=tuple(notes),
    )
    return known(answer, "folder", path)


def _runner(machine: Machine, facts: Facts) -> Fact[Runner]:
    if is_windows(facts):
        return windows.runner(machine, facts)
    world = world_of(machine, facts)
    if not isinstance(world, Known):
        return world
    return Known(lambda one, names: tree_of(run(world.value, facts, one), names), world.source)


def _framework(runner: Runner, one: Framework) -> FrameworkTree:
    optional = frozenset(opened.name for opened in value_or(one.opens, ()) if opened.optional)
    sass, ptx = value_or(one.sass, ()), value_or(one.ptx, ())
    gpu = Gpu(sass, ptx, sass, ptx)
    return FrameworkTree(one.name, one.title, one.version, gpu, runner(one, optional))


def _merged(trees: list[Tree]) -> Tree:
    """All trees in one, each file and each failure once."""
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
