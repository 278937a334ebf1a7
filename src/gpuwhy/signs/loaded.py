"""One framework's load tree as signs ask for it: its cuDNN, whose copy is loaded, what clashes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from gpuwhy.facts.fact import Absent, Known, Source, value_or
from gpuwhy.facts.finding import Evidence, Finding, saw
from gpuwhy.facts.libraries import Flaw, LibraryCopy
from gpuwhy.facts.loads import LoadedLibrary, LoadTree, UnmetSymbol
from gpuwhy.facts.record import Owner
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.knowledge.flavours import library_wheel
from gpuwhy.knowledge.libraries import is_cudnn, parse, stem
from gpuwhy.signs.case import Case, against, base_name
from gpuwhy.signs.driver_library import how
from gpuwhy.signs.expect import LINKED, gpu_present
from gpuwhy.signs.needed import at_home, flawed, irrelevant

_CUDNN = re.compile(r"libcudnn(-\w+)?\.so\.[\d.]+$|cudnn64_\d+\.dll$", re.IGNORECASE)
_PART = re.compile(r"libcudnn_\w+\.so\.\d+$|cudnn_\w+64_\d+\.dll$", re.IGNORECASE)
ESSENTIAL = ("cudnn_graph", "cudnn_ops", "cudnn_cnn", "cudnn_ops_infer", "cudnn_cnn_infer")
"""The parts of cuDNN that every convolution goes through, of cuDNN 9 and of cuDNN 8."""


def tree_of(case: Case) -> LoadTree | Finding:
    """The tree of this framework, or why there is none to judge."""
    if reason := irrelevant(case):
        return reason
    found = case.facts.loads.trees.need() or ()
    tree = next((one for one in found if one.framework == case.framework.name), None)
    if tree is not None:
        return tree
    case.framework.opens.need()
    return against("{framework} opens no CUDA library")


def gpu_tree(case: Case) -> LoadTree | Finding:
    """The same for what only matters once a GPU is used: a linked framework imports without."""
    present = gpu_present(case.facts)
    if isinstance(present, Absent) and case.framework.name in LINKED:
        return against("this machine has no NVIDIA GPU, so it is never used")
    return tree_of(case)


def cudnn_of(tree: LoadTree) -> LoadedLibrary | None:
    """libcudnn itself."""
    return next((one for one in tree.libraries if _CUDNN.match(one.name)), None)


def parts_of(tree: LoadTree) -> list[LoadedLibrary]:
    """The sub-libraries that cuDNN opens, whose version is known."""
    parts = (one for one in tree.libraries if _PART.match(one.name))
    return [one for one in parts if isinstance(one.version, Known)]


def versions(libraries: Iterable[LoadedLibrary]) -> list[str]:
    """Their versions to three places, each once, in load order."""
    known = (one.version.value for one in libraries if isinstance(one.version, Known))
    return list(dict.fromkeys(map(short, known)))


def short(version: str) -> str:
    """9.1.0.70 → 9.1.0."""
    return ".".join(str(one) for one in numbers(version)[:3])


def reporter(tree: LoadTree) -> LoadedLibrary | None:
    """The file whose version cudnnGetVersion answers; libcudnn itself before cuDNN 8."""
    answers = ("cudnn_graph", "cudnn_ops_infer")
    parts = (one for one in parts_of(tree) if stem(one.name) in answers)
    return next(parts, cudnn_of(tree))


def saw_loaded(one: LoadedLibrary) -> Evidence:
    """A loaded file with its version, owner, and how it was found."""
    version = f" {value_or(one.version, '')}".rstrip()
    owner = f", from {one.owner.value}" if isinstance(one.owner, Known) else ""
    return saw(f"{one.name}{version}{owner}, found by {how(one.found)}", Source("file", one.path))


def saw_lost(copy: LibraryCopy) -> Evidence:
    """A copy that was not taken, with what is wrong with it where something is."""
    flaw = value_or(copy.health, Flaw.NONE)
    wrong = f", {flaw.value}" if flaw is not Flaw.NONE else ""
    text = f"not taken: {copy.name} {value_or(copy.version, '')}".rstrip()
    return saw(text + wrong, Source("file", copy.path))


def own_copies(case: Case, winner: LoadedLibrary) -> list[LibraryCopy]:
    """Other copies of that library in the framework's own environment."""
    copies = (c for c in value_or(case.facts.libraries.copies, ()) if c.name == winner.name)
    others = (copy for copy in copies if winner.path not in (copy.path, copy.real))
    return [copy for copy in others if at_home(case, copy.path)]


# ---------------------------------------------------------------- clashes


def clashes(case: Case, other_copy: bool) -> list[UnmetSymbol]:
    """Unmet symbols between CUDA libraries, cuDNN apart, whose provider has, or has not, another
    copy here.
    """
    tree = tree_of(case)
    if isinstance(tree, Finding):
        return []
    unmet = (one for one in tree.unmet if not is_cudnn(base_name(one.provider)))
    return [one for one in unmet if bool(rivals(case, one)) == other_copy]


def rivals(case: Case, unmet: UnmetSymbol) -> list[LibraryCopy]:
    """Other whole copies of the library that lacks the symbols, the environment's own first."""
    name = base_name(unmet.provider)
    found = [one for one in value_or(case.facts.libraries.copies, ()) if one.name == name]
    same = (one.real for one in found if unmet.provider in (one.path, one.real))
    winner = next(same, unmet.provider)
    others = [one for one in found if one.real != winner and not flawed(one)]
    others = [one for one in others if unmet.provider not in (one.path, one.real)]
    return sorted(others, key=lambda one: not at_home(case, one.path))


def loaded_at(case: Case, path: str) -> LoadedLibrary | None:
    """The entry of this framework's tree for a file."""
    tree = tree_of(case)
    if isinstance(tree, Finding):
        return None
    same = [one for one in tree.libraries if one.name == base_name(path)]
    return next((one for one in same if one.path == path), same[0] if same else None)


def torn_pair(tree: LoadTree) -> tuple[LoadedLibrary, LoadedLibrary] | None:
    """cuBLAS and its cublasLt, when they are not of one release."""
    for blas in (one for one in tree.libraries if stem(one.name) == "cublas"):
        name = blas.name.replace("cublas", "cublasLt")
        light = next((one for one in tree.libraries if one.name == name), None)
        if light and isinstance(blas.version, Known) and isinstance(light.version, Known):
            apart = blas.path.rpartition("/")[0] != light.path.rpartition("/")[0]
            if apart and short(blas.version.value) != short(light.version.value):
                return blas, light
    return None


def older_selected(case: Case, tree: LoadTree) -> tuple[LoadedLibrary, LibraryCopy] | None:
    """A loaded library that is older than the copy which the framework's own wheels brought."""
    major = numbers(value_or(case.framework.built_for_cuda, ""))[:1]
    for one in tree.libraries:
        if not major or not isinstance(one.version, Known):
            continue
        if not parse(one.name) or is_cudnn(one.name):
            continue
        for copy in own_copies(case, one):
            own = generation(value_or(copy.owner, None), copy.path) == major[0]
            newer = older(one, value_or(copy.version, ""))
            if own and newer and not flawed(copy) and _matters(case, one, major[0]):
                return one, copy
    return None


def _matters(case: Case, one: LoadedLibrary, major: int) -> bool:
    """Of another CUDA major always; of the same one when older than the framework's own CUDA."""
    if generation(value_or(one.owner, None), one.path) not in (0, major):
        return True
    counts_like_cuda = ("libcudart.", "libcublas", "libnvrtc.", "libnvJitLink.")
    built = major_minor(value_or(case.framework.built_for_cuda, ""))
    return one.name.startswith(counts_like_cuda) and older(one, built)


def generation(owner: Owner | None, path: str) -> int:
    """The CUDA major that a wheel's file belongs to; 0 when neither owner nor folder tells."""
    wheel = library_wheel(owner.name) if owner else None
    if wheel:
        return wheel[1]
    named = path.rpartition("/nvidia/cu")[2].split("/")[0]
    return int(named) if named.isdigit() else 0


def older(one: LoadedLibrary, than: str) -> bool:
    """Whether a loaded file is older than a version, by at most three places that both have."""
    left, right = numbers(value_or(one.version, "")), numbers(than)
    places = min(len(left), len(right), 3)
    return left[:places] < right[:places]
