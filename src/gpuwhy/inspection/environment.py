"""A Python environment: what the process of each of its frameworks would load."""

from __future__ import annotations

import re

from gpuwhy.host.base import Host
from gpuwhy.inspection.bundle import union
from gpuwhy.inspection.file import variables
from gpuwhy.inspection.tree import tree_of
from gpuwhy.loader.frameworks import run
from gpuwhy.loader.glibc import World
from gpuwhy.loader.loads import world_of
from gpuwhy.model.fact import Fact, Known, Unknown, known, value_or
from gpuwhy.model.facts import Facts, Framework
from gpuwhy.model.inspected import FrameworkTree, Gpu, Inspected, Tree

_SITE = re.compile(r"(.+?)/(?:lib|lib64)/python3?[\d.]*t?/(?:site|dist)-packages/?$")
_MARKS = ("pyvenv.cfg", "conda-meta", "bin/python3", "bin/python")


def prefix_of(host: Host, path: str) -> str:
    """The environment's folder, where `path` is one or its site-packages; "" where it is neither."""
    site = _SITE.match(path)
    for folder in (path.rstrip("/"), site.group(1) if site else ""):
        if folder and any(isinstance(host.stat(f"{folder}/{mark}"), Known) for mark in _MARKS):
            return folder
    return ""


def inspect_environment(host: Host, path: str, facts: Facts) -> Fact[Inspected]:
    """The load trees of the frameworks that were observed in an environment."""
    frameworks, world = facts.target.frameworks, world_of(host, facts)
    if not isinstance(frameworks, Known):
        return frameworks if isinstance(frameworks, Unknown) else Unknown(f"{path}: no Python environment")
    if not isinstance(world, Known):
        return world if isinstance(world, Unknown) else Unknown(f"{path}: no loader")
    trees = [_framework(world.value, facts, one) for one in frameworks.value if value_or(one.opens, ())]
    others = [
        f"{one.title} {one.version} opens no CUDA libraries" for one in frameworks.value if not value_or(one.opens, ())
    ]
    answer = Inspected(
        path=path,
        kind="environment",
        needed=tuple(dict.fromkeys(o.name for one in frameworks.value for o in value_or(one.opens, ()))),
        gpu=union([tree.gpu for tree in trees]),
        tree=_merged([tree.tree for tree in trees]),
        frameworks=tuple(trees),
        variables=variables(host),
        notes=tuple(others if frameworks.value else ["no framework that gpuwhy knows is installed there"]),
    )
    return known(answer, "folder", path)


def _framework(world: World, facts: Facts, one: Framework) -> FrameworkTree:
    optional = frozenset(opened.name for opened in value_or(one.opens, ()) if opened.optional)
    gpu = Gpu(value_or(one.sass, ()), value_or(one.ptx, ()), value_or(one.sass, ()), value_or(one.ptx, ()))
    return FrameworkTree(one.name, one.title, one.version, gpu, tree_of(run(world, facts, one), optional))


def _merged(trees: list[Tree]) -> Tree:
    """All trees in one, each file and each finding once."""
    return Tree(
        libraries=tuple({one.path: one for tree in reversed(trees) for one in reversed(tree.libraries)}.values())[::-1],
        missing=tuple({(one.name, one.needed_by): one for tree in trees for one in tree.missing}.values()),
        unmet=tuple(dict.fromkeys(one for tree in trees for one in tree.unmet)),
        unmet_versions=tuple(dict.fromkeys(one for tree in trees for one in tree.unmet_versions)),
    )
