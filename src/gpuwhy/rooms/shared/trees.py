"""One framework's load tree, as the signs ask for it: its cuDNN, whose copy won, and how to let another win."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpuwhy.knowledge.libraries import is_cudnn, stem
from gpuwhy.model.cause import Case, Evidence, Finding, Fix, against, saw
from gpuwhy.model.expect import LINKED, gpu_present
from gpuwhy.model.fact import Absent, Known, Source, value_or
from gpuwhy.model.facts import LibraryCopy, LoadedLibrary, LoadTree, Rule, way
from gpuwhy.model.version import numbers
from gpuwhy.rooms.shared.before import without
from gpuwhy.rooms.shared.commands import search_first
from gpuwhy.rooms.shared.needs import at_home, base_name, irrelevant, named, the
from gpuwhy.rooms.shared.windows import path_first, shown
from gpuwhy.rooms.shared.winner import also_serves, folder_of, off_the_path

_SHIM = re.compile(r"libcudnn(-\w+)?\.so\.[\d.]+$|cudnn64_\d+\.dll$", re.IGNORECASE)
_PART = re.compile(r"libcudnn_\w+\.so\.\d+$|cudnn_\w+64_\d+\.dll$", re.IGNORECASE)
ESSENTIAL = ("cudnn_graph", "cudnn_ops", "cudnn_cnn", "cudnn_ops_infer", "cudnn_cnn_infer")
"""The parts of cuDNN that every convolution goes through, of cuDNN 9 and of cuDNN 8."""


def of(case: Case) -> LoadTree | Finding:
    """The tree of this framework, or why there is none to judge."""
    if reason := irrelevant(case):
        return reason
    found = case.facts.loads.trees.need() or ()
    tree = next((one for one in found if one.framework == the(case).name), None)
    if tree is not None:
        return tree
    the(case).opens.need()
    return against(f"{named(case)} opens no CUDA library", saw("libraries it opens", the(case).opens))


def of_gpu(case: Case) -> LoadTree | Finding:
    """The same for what only matters once a GPU is used: a linked framework imports without one."""
    present = gpu_present(case.facts)
    if isinstance(present, Absent) and the(case).name in LINKED:
        return against("this machine has no NVIDIA GPU, so it is never used", saw("no GPU on the PCI bus", present))
    return of(case)


def shim(tree: LoadTree) -> LoadedLibrary | None:
    """libcudnn itself."""
    return next((one for one in tree.libraries if _SHIM.match(one.name)), None)


def parts(tree: LoadTree) -> list[LoadedLibrary]:
    """The sub-libraries that cuDNN opens, whose version is known."""
    return [one for one in tree.libraries if _PART.match(one.name) and isinstance(one.version, Known)]


def versions(libraries: Iterable[LoadedLibrary]) -> list[str]:
    """Their versions to three places, each once, in load order."""
    return list(dict.fromkeys(short(one.version.value) for one in libraries if isinstance(one.version, Known)))


def short(version: str) -> str:
    """9.1.0.70 → 9.1.0."""
    return ".".join(str(n) for n in numbers(version)[:3])


def reporter(tree: LoadTree) -> LoadedLibrary | None:
    """The file whose version cudnnGetVersion answers: the graph or ops part; libcudnn itself before cuDNN 8."""
    answers = ("cudnn_graph", "cudnn_ops_infer")
    return next((one for one in parts(tree) if stem(one.name) in answers), shim(tree))


def how(one: LoadedLibrary) -> str:
    """How the loader came to a file, in few words."""
    via = way(one.via)
    if via.rule is Rule.PRELOADED:
        return "preloading in " + "/".join(via.of.split("/")[-2:])
    if via.of:
        return f"the {via.rule.value} of {base_name(via.of)}"
    return {Rule.CACHE: "the loader's cache", Rule.DEFAULT: "a default folder"}.get(via.rule, one.via)


def saw_loaded(one: LoadedLibrary) -> Evidence:
    """A loaded file with its version, owner, and how it was found."""
    version = f" {value_or(one.version, '')}".rstrip()
    owner = f", from {one.owner.value}" if isinstance(one.owner, Known) else ""
    return saw(f"{one.name}{version}{owner}, found by {how(one)}", Source("file", one.path))


def saw_lost(copy: LibraryCopy) -> Evidence:
    """A copy that was not taken, with what is wrong with it where something is."""
    wrong = f", {value_or(copy.health, '')}" if copy.fault else ""
    return saw(f"not taken: {copy.name} {value_or(copy.version, '')}".rstrip() + wrong, Source("file", copy.path))


def own_copies(case: Case, winner: LoadedLibrary) -> list[LibraryCopy]:
    """Other copies of that library in the framework's own environment."""
    copies = value_or(case.facts.libraries.copies, ())
    return [
        c for c in copies if c.name == winner.name and winner.path not in (c.path, c.real) and at_home(case, c.path)
    ]


def healthy(copies: Iterable[LibraryCopy]) -> list[LibraryCopy]:
    """Those that a program could load."""
    return [c for c in copies if not c.fault]


def let_win(case: Case, winner: LoadedLibrary, folder: str) -> tuple[Fix, ...]:
    """Take the winner, or its folder, out of what puts it first, or put the right folder before it."""
    if winner.rule is Rule.LD_PRELOAD:
        return without(case, "LD_PRELOAD", winner.path)
    if winner.rule in (Rule.LD_LIBRARY_PATH, Rule.PATH) and not folder and (other := also_serves(case.facts, winner)):
        return (_in_its_place(winner, other),)
    if winner.rule is Rule.LD_LIBRARY_PATH:
        return (off_the_path(folder_of(winner.path)),)
    if winner.rule is Rule.PATH:  # the DLL search of Windows
        away = Fix(f"Remove {shown(folder_of(winner.path))} from PATH, or move it behind the right one")
        return (path_first("Put the right copy's folder first, in this window", (folder,)) if folder else away,)
    if not folder or winner.rule not in (Rule.CACHE, Rule.DEFAULT, Rule.RUNPATH):
        return ()
    return (search_first("Put the right copy's folder first, in this shell", (folder,)),)


def _in_its_place(winner: LoadedLibrary, other: str) -> Fix:
    """The folder serves other libraries as well: the files change, the path stays."""
    windows = winner.rule is Rule.PATH
    folder = shown(folder_of(winner.path)) if windows else folder_of(winner.path)
    kind = ("cudnn*.dll" if windows else "libcudnn*.so*") if is_cudnn(winner.name) else winner.name
    path = "PATH" if windows else "LD_LIBRARY_PATH"
    text = f"Put the files of the right release over {kind} in {folder}, or delete them there"
    return Fix(f"{text}; {other} is found by that folder too, so leave it in {path}")
