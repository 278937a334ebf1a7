"""Which libcuda and NVML library a program gets: questions that signs of several causes ask."""

import re
from typing import Any, Union

from gpuwhy.facts.fact import Fact, Known, Source, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Evidence, Finding, saw
from gpuwhy.facts.loads import DriverLibrary, Found, LoadedLibrary, Rule
from gpuwhy.signs import say
from gpuwhy.signs.expect import installed, offline

Copy = Union[DriverLibrary, LoadedLibrary]
UNLESS = (
    "; NVIDIA's container runtime runs ldconfig at the start, today's releases with the driver's "
    "folder first, and any other start keeps this order"
)


def how(found: Found) -> str:
    """How the loader came to a file, in few words."""
    if found.rule is Rule.PRELOADED:
        return "preloading in " + "/".join(found.of.split("/")[-2:])
    if found.rule is Rule.OTHER:
        return found.of
    if found.of:
        return f"the {found.rule.value} of {say.base_name(found.of)}"
    words = {Rule.CACHE: "the loader's cache", Rule.DEFAULT: "a default folder"}
    return words.get(found.rule) or str(found.rule.value)


def selected(copies: Fact[tuple[DriverLibrary, ...]]) -> DriverLibrary | None:
    """The copy that a program gets; None when the loader finds none."""
    first = next(iter(copies.need() or ()), None)
    return first if first and first.on_path else None


def depends_on_start(facts: Facts, one: Copy) -> bool:
    """Whether a container's start may change it: the order of an image's cache is not final."""
    return offline(facts) and one.found.rule is Rule.CACHE and not _in_system(one)


def foreign(one: DriverLibrary) -> bool:
    """Whether a driver's library lies where no driver's installation puts it."""
    return one.kind == "driver" and not one.yields and not _in_system(one)


def _in_system(one: Copy) -> bool:
    return one.path.startswith(("/usr/lib", "/lib")) or one.found.rule is Rule.ASSUMED


def in_trees(facts: Facts, kind: str) -> tuple[str, LoadedLibrary] | None:
    """The first framework whose own search leads to a libcuda of this kind."""
    kinds: dict[str, str] = {one.path: one.kind for one in value_or(facts.loads.libcuda, ())}
    titles = {one.name: say.release(one) for one in installed(facts)}
    for tree in value_or(facts.loads.trees, ()):
        for one in tree.libraries:
            by_folder = "compat" if re.search(r"/compat/|/cuda-compat", one.path) else "driver"
            by_folder = "stub" if "/stubs/" in one.path else by_folder
            if one.name == "libcuda.so.1" and kinds.get(one.path, by_folder) == kind:
                return titles.get(tree.framework, tree.framework), one
    return None


def no_driver(facts: Facts) -> Finding | None:
    """An objection where no kernel module is loaded, or where the driver is Windows' own."""
    version = facts.driver.module_version
    if isinstance(version, Unknown) and "nvidia" in value_or(facts.driver.modules, ()):
        return None  # one is loaded, whichever
    if version.need() is not None:
        return None
    if isinstance(facts.system.wsl, Known):
        return say.against("under WSL the driver is Windows' own")
    return say.against("no NVIDIA driver is loaded")


def unreachable(facts: Facts) -> Finding | None:
    """The same, or where a container was given no GPU at all."""
    if objection := no_driver(facts):
        return objection
    nodes, container = facts.driver.nodes, facts.system.container
    if not isinstance(container, Known) or any(one.present for one in nodes.need() or ()):
        return None
    return say.against(f"this {container.value} container was given no GPU")


def saw_copy(one: Copy, copies: Fact[Any] | Source) -> Evidence:
    """A copy, and how it is found."""
    return saw(f"{one.path}, found by {how(one.found)}", copies)
