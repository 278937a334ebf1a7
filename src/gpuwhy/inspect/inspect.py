"""Which kind of thing a path is, and what the frameworks of an environment would load."""

import re
from collections.abc import Callable, Iterable
from itertools import chain
from typing import TypeVar

from gpuwhy.facts.fact import Fact, Known, Unknown, known, or_unknown, value_or
from gpuwhy.inspect import windows
from gpuwhy.inspect.inspected import FrameworkTree, Gpu, Inspected, Tree
from gpuwhy.inspect.linux import inspect_elf, variables
from gpuwhy.inspect.trees import tree_of
from gpuwhy.inspect.wheel import inspect_wheel, union
from gpuwhy.loader.systems import is_windows, system_of
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


def inspect(
    machine: Machine, path: str, folder: str = "/", note: Callable[[str], None] = lambda _: None
) -> Fact[Inspected]:
    """What a file, folder or environment needs and would load; `folder` is the current one."""
    note(f"reading {path}")
    site = _SITE.match(path)
    for prefix in (path.rstrip("/"), site[1] if site else ""):
        if prefix and any(isinstance(machine.stat(f"{prefix}/{one}"), Known) for one in _MARKS):
            return _inspect_environment(machine, path, prefix, note)
    return _inspect_file(machine, path, folder)


def _inspect_file(machine: Machine, path: str, folder: str) -> Fact[Inspected]:
    stat = machine.stat(path)
    if not isinstance(stat, Known):
        return stat
    if stat.value.kind == "folder":
        return Unknown(f"{path}: no Python environment; name a file in it")
    if stat.value.kind != "file":
        return Unknown(f"{path}: not a regular file but {_SPECIAL[stat.value.kind]}")
    if not stat.value.size:  # the kernel's files have no size, and some never end
        return Unknown(f"{path}: empty file at offset 0")
    if path.endswith(".whl"):
        return inspect_wheel(machine, path)
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


def _inspect_environment(
    machine: Machine, path: str, prefix: str, note: Callable[[str], None]
) -> Fact[Inspected]:
    """The load trees of the frameworks that are installed in an environment."""
    facts = look(machine, Options(python=prefix, folder="."), _SUBJECTS, note)
    frameworks, system = facts.frameworks.installed, system_of(facts)
    world = system.world_of(machine, facts)
    if not isinstance(frameworks, Known):
        return or_unknown(frameworks, f"{path}: no Python environment")
    if not isinstance(world, Known):
        return or_unknown(world, f"{path}: no loader")
    trees, notes = [], []
    for one in frameworks.value:
        opens = value_or(one.opens, ())
        if not opens:
            notes.append(f"{one.title} {one.version} opens no CUDA libraries")
            continue
        optional = frozenset(opened.name for opened in opens if opened.optional)
        tree = tree_of(system.run(world.value, facts, one), optional=optional)
        sass, ptx = value_or(one.sass, ()), value_or(one.ptx, ())
        gpu = Gpu(sass, ptx, sass, ptx)
        trees.append(FrameworkTree(one.name, one.title, one.version, gpu, tree))
    if not frameworks.value:
        notes = ["no framework that gpuwhy knows is installed there"]
    steering = ("PATH",) if is_windows(facts) else ("LD_LIBRARY_PATH", "LD_PRELOAD")
    opened = (value_or(one.opens, ()) for one in frameworks.value)
    answer = Inspected(
        path=path,
        kind="environment",
        needed=_once([one.name for one in some] for some in opened),
        gpu=union([tree.gpu for tree in trees]),
        tree=_merged([tree.tree for tree in trees]),
        frameworks=tuple(trees),
        variables=variables(machine, *steering),
        notes=tuple(notes),
    )
    return known(answer, "folder", path)


def _merged(trees: list[Tree]) -> Tree:
    """All trees in one, each file and each failure once."""
    libraries = {one.path: one for tree in trees[::-1] for one in tree.libraries[::-1]}
    missing = {(one.name, one.needed_by): one for tree in trees for one in tree.missing}
    return Tree(
        libraries=tuple(libraries.values())[::-1],
        missing=tuple(missing.values()),
        unmet=_once(tree.unmet for tree in trees),
        unmet_versions=_once(tree.unmet_versions for tree in trees),
        unsure=_once(tree.unsure for tree in trees),
    )


def _once(lists: Iterable[Iterable[T]]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(lists)))
