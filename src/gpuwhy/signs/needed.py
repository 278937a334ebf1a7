"""What a framework needs of the loader, what becomes of each library, and what is loaded."""

import re
from collections.abc import Callable, Iterable

from gpuwhy.facts.fact import Absent, Known, Source, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Evidence, Finding, saw
from gpuwhy.facts.installs import MISFITS, DamageKind
from gpuwhy.facts.libraries import Flaw, LibraryCopy
from gpuwhy.facts.loads import Fate, LoadedLibrary, LoadTree, MissingLibrary, NeededLibrary, Outcome
from gpuwhy.facts.variables import SetAtStart
from gpuwhy.facts.version import numbers
from gpuwhy.knowledge.libraries import is_cudnn, parse, stem
from gpuwhy.knowledge.packages import is_follower
from gpuwhy.signs import say
from gpuwhy.signs.case import Case
from gpuwhy.signs.driver_library import how
from gpuwhy.signs.expect import LINKED, gpu_claimed, gpu_present, installed
from gpuwhy.signs.say import base_name

Pick = Callable[[str], bool]
"""Which libraries, by their names."""
SEARCHED = "LD_LIBRARY_PATH"
_DRIVERS = ("libcuda.so", "libnvidia-", "nvcuda.dll", "nvml.dll")
_STILL_LOADS = (DamageKind.OTHER_SIZE, DamageKind.OTHER_HASH)
"""What may be wrong with a file that the loader takes all the same."""


def of_cuda(name: str) -> bool:
    """Whether it is any other CUDA library than cuDNN."""
    return not is_cudnn(name)


def anything(_name: str) -> bool:
    """Every library."""
    return True


def is_drivers(name: str) -> bool:
    """Whether a library is the driver's own, which other causes judge."""
    return name.startswith(_DRIVERS)


def copies_of(facts: Facts) -> tuple[LibraryCopy, ...]:
    """The copies of CUDA libraries that were seen."""
    return value_or(facts.libraries.copies, ())


def required(case: Case, pick: Pick = anything) -> list[NeededLibrary]:
    """The libraries that this framework cannot do without, by itself or for one of them."""
    lost = damaged_files(case.facts)
    every = case.facts.loads.needs.need() or ()
    mine = [one for one in every if one.framework == case.framework.name]
    mine = [one for one in mine if one.needed_by not in lost]
    names, spare = {one.name for one in mine}, {one.name for one in mine if one.optional}
    listed = [one for one in mine if not one.optional]
    for tree in value_or(case.facts.loads.trees, ()):
        for one in tree.missing if tree.framework == case.framework.name else ():
            asker = base_name(one.needed_by)
            own = one.name not in names and parse(one.name) and one.outcome is Outcome.NOT_THERE
            if own and spare.isdisjoint((asker, one.name)) and not is_cudnn(asker):
                listed.append(_as_need(case, one))
    return [one for one in listed if pick(one.name) and not is_drivers(one.name)]


def _as_need(case: Case, one: MissingLibrary) -> NeededLibrary:
    """What one of the framework's libraries misses, as if the framework itself asked for it."""
    same = [copy for copy in copies_of(case.facts) if copy.name == one.name]
    others = [copy.path for copy in copies_of(case.facts) if stem(copy.name) == stem(one.name)]
    others = [path for path in others if not path.endswith(f"/{one.name}")]
    older = any(not base_name(path).startswith(f"{one.name}.") for path in others)
    fate = Fate.OTHER_VERSION if older else Fate.MISSING
    whole = [copy.path for copy in same if not flawed(copy)]
    if whole:
        home = any(at_home(case, path) for path in whole)
        fate = Fate.NOT_SEARCHED if home else Fate.OFF_PATH
    return NeededLibrary(
        framework=case.framework.name,
        name=one.name,
        optional=False,
        needed_by=one.needed_by,
        fate=fate,
        path=Absent(Source("call", "loader search", one.name)),
        searched=one.searched,
        elsewhere=tuple(copy.path for copy in same),
        other_versions=tuple(others),
        not_cached=one.not_cached,
    )


def fate_of(case: Case, need: NeededLibrary) -> Fate:
    """What becomes of one library, damage and the start of an image considered."""
    if need.fate in (Fate.FOUND, Fate.BROKEN, Fate.UNKNOWN):
        return need.fate
    if any(path.endswith(f"/{need.name}") for path in damaged_files(case.facts)):
        return Fate.BROKEN
    if need.fate is Fate.NOT_SEARCHED:
        taken = any(is_taken(case.facts, path) for path in usable(case, need))
        return Fate.OFF_PATH if need.not_cached or taken else Fate.NOT_SEARCHED
    return need.fate


def usable(case: Case, need: NeededLibrary) -> tuple[str, ...]:
    """Copies outside the search that are not known to be broken, those of the environment first."""
    configured = (f"{need.not_cached}/{need.name}",) if need.not_cached else ()
    copies = {path: copy_at(case.facts, path) for path in (*need.elsewhere, *configured)}
    fit = [path for path, copy in copies.items() if copy is None or not flawed(copy)]
    return tuple(sorted(fit, key=lambda path: not at_home(case, path)))


def at_home(case: Case, path: str) -> bool:
    """Whether a path lies in the site-packages folder of the framework."""
    return path.startswith(case.framework.path.rpartition("/")[0] + "/")


def flawed(copy: LibraryCopy) -> bool:
    """Whether something is wrong with a copy's file."""
    return value_or(copy.health, Flaw.NONE) is not Flaw.NONE


def copy_at(facts: Facts, path: str) -> LibraryCopy | None:
    """What was observed of the library file at a path."""
    return next((one for one in copies_of(facts) if path in one.paths), None)


def damaged_files(facts: Facts) -> set[str]:
    """Installed files that no loader takes: what they would have opened is not asked for."""
    damage = value_or(facts.installs.damage, ())
    return {one.path for one in damage if one.kind not in _STILL_LOADS}


# ---------------------------------------------------------------- what rules it out


def irrelevant(case: Case) -> Finding | None:
    """Why a missing library would not matter: a CPU build, or no GPU and nothing linked."""
    facts, one = case.facts, case.framework
    if isinstance(one.gpu_build, Absent) or value_or(one.gpu_build, True) is False:
        return say.against(f"{case.named} is a build without CUDA")
    if is_follower(one.name) and any(other.name == "torch" for other in installed(facts)):
        text = "is imported after PyTorch, which has opened its CUDA libraries by then"
        return say.against(f"{one.title} {text}")
    damage = value_or(facts.installs.damage, ())
    own = (of for of in damage if of.owner.name == one.package and of.kind in MISFITS)
    if other := next(own, None):
        text = f"{case.named} is built for {other.actual}, so that nothing of it is loaded"
        return say.against(text)
    needs = value_or(facts.loads.needs, ())
    askers = {need.needed_by for need in needs if need.framework == one.name}
    lost = sorted(askers & damaged_files(facts))
    if lost and len(lost) == len(askers):
        return say.against(f"{base_name(lost[0])}, which would open it, is damaged itself")
    if isinstance(gpu_present(facts), Absent) and one.name not in LINKED:
        return say.against("this machine has no NVIDIA GPU, so it is never opened")
    return None


def lost(case: Case, pick: Pick, *fates: Fate) -> list[NeededLibrary]:
    """The required libraries with one of these fates, where that matters."""
    hits = [one for one in required(case, pick) if fate_of(case, one) in fates]
    if not hits or irrelevant(case):
        return []
    case.framework.gpu_build.need()
    present = gpu_present(case.facts)
    claimed = isinstance(gpu_claimed(case.facts), Known)
    if case.framework.name not in LINKED and isinstance(present, Unknown) and not claimed:
        present.need()
    return hits


def outdated(case: Case, pick: Pick) -> bool:
    """Whether most of those not found are installed in another version."""
    fates = [fate_of(case, one) for one in required(case, pick)]
    other = fates.count(Fate.OTHER_VERSION)
    return other > 0 and other >= fates.count(Fate.MISSING)


def none_lost(case: Case, pick: Pick, *fates: Fate) -> Finding | None:
    """The observation that rules these fates out; None when one of them is met."""
    if reason := irrelevant(case):
        return reason
    found = [(one, fate_of(case, one)) for one in required(case, pick)]
    if any(fate in fates for _, fate in found):
        return None
    for one, fate in found:
        if fate is Fate.UNKNOWN:
            one.path.need()
    if not found:
        case.framework.opens.need()
        return say.against(f"{case.named} opens no such library")
    lost = next((f"{one.name}: {fate.value}" for one, fate in found if fate is not Fate.FOUND), "")
    all_found = f"the loader finds all libraries of this kind that {case.named} opens"
    return say.against(lost or all_found)


# ---------------------------------------------------------------- evidence


def saw_search(need: NeededLibrary | MissingLibrary) -> Evidence:
    """Who asks, and in how many folders the loader looked."""
    many = f"{len(need.searched)} folders searched" if need.searched else "its folders searched"
    return saw(f"opens {need.name}, {many}", Source("file", need.needed_by))


def saw_file(facts: Facts, path: str) -> Evidence:
    """A copy of a library with its version and owner, where they are known."""
    copy = copy_at(facts, path)
    return saw(f"{base_name(path)}{_release(copy) if copy else ''}", Source("file", path))


def saw_loaded(one: LoadedLibrary) -> Evidence:
    """A loaded file with its version, owner, and how it was found."""
    found = f"found by {how(one.found)}"
    return saw(f"{one.name}{_release(one)}, {found}", Source("file", one.path))


def _release(one: LibraryCopy | LoadedLibrary) -> str:
    owner = f", from {one.owner.value}" if isinstance(one.owner, Known) else ""
    return f" {value_or(one.version, '')}".rstrip() + owner


def saw_lost(copy: LibraryCopy) -> Evidence:
    """A copy that was not taken, with what is wrong with it where something is."""
    flaw = value_or(copy.health, Flaw.NONE)
    wrong = f", {flaw.value}" if flaw is not Flaw.NONE else ""
    text = f"not taken: {copy.name} {value_or(copy.version, '')}".rstrip()
    return saw(text + wrong, Source("file", copy.path))


def saw_variables(case: Case, outside: bool = False) -> list[Evidence]:
    """What is wrong with the variables that should have led to a library."""
    names: tuple[str, ...] = (SEARCHED, "CUDA_HOME", "CUDA_PATH") if outside else ()
    names = ("PATH", "CUDA_PATH", "CUDA_HOME", "CUDNN_") if case.windows else names
    return [
        saw(f"{one.name}: {problem.entry} {problem.kind.value}", Source("env", one.name))
        for one in value_or(case.facts.variables.variables, ())
        if one.name.startswith(names)
        for problem in one.problems[:2]
    ]


# ---------------------------------------------------------------- an image's start


def unset_at_start(facts: Facts) -> SetAtStart | None:
    """The statement by which an image's start takes folders out of LD_LIBRARY_PATH."""
    found = [one for one in value_or(facts.variables.set_at_start, ()) if one.name == SEARCHED]
    return next((one for one in reversed(found) if _removed(one)), None)


def _removed(one: SetAtStart) -> set[str]:
    before, after = (
        {part.rstrip("/") for part in text.split(":") if part} for text in (one.before, one.after)
    )
    return before - after


def is_taken(facts: Facts, path: str) -> bool:
    """Whether a library lies in a folder that an image's start takes out of the search."""
    one = unset_at_start(facts)
    return one is not None and path.rpartition("/")[0] in _removed(one)


# ---------------------------------------------------------------- what is loaded

_CUDNN = re.compile(r"libcudnn(-\w+)?\.so\.[\d.]+$|cudnn64_\d+\.dll$", re.IGNORECASE)
_PART = re.compile(r"libcudnn_\w+\.so\.\d+$|cudnn_\w+64_\d+\.dll$", re.IGNORECASE)
_ESSENTIAL = ("cudnn_graph", "cudnn_ops", "cudnn_cnn", "cudnn_ops_infer", "cudnn_cnn_infer")
"""The parts of cuDNN that every convolution goes through, of cuDNN 9 and of cuDNN 8."""


def tree_of(case: Case) -> LoadTree | Finding:
    """The tree of this framework, or why there is none to judge."""
    if reason := irrelevant(case):
        return reason
    for tree in case.facts.loads.trees.need() or ():
        if tree.framework == case.framework.name:
            return tree
    case.framework.opens.need()
    return say.against(f"{case.named} opens no CUDA library")


def gpu_tree(case: Case) -> LoadTree | Finding:
    """The same for what only matters once a GPU is used: a linked framework imports without."""
    if isinstance(gpu_present(case.facts), Absent) and case.framework.name in LINKED:
        return say.against("this machine has no NVIDIA GPU, so it is never used")
    return tree_of(case)


def cudnn_of(tree: LoadTree) -> LoadedLibrary | None:
    """libcudnn itself."""
    return next((one for one in tree.libraries if _CUDNN.match(one.name)), None)


def parts_of(tree: LoadTree) -> list[LoadedLibrary]:
    """The sub-libraries that cuDNN opens, whose version is known."""
    parts = (one for one in tree.libraries if _PART.match(one.name))
    return [one for one in parts if isinstance(one.version, Known)]


def missing_parts(tree: LoadTree) -> list[MissingLibrary]:
    """The essential parts that the loaded cuDNN does not find."""
    parts = (one for one in tree.missing if stem(one.name) in _ESSENTIAL)
    return [one for one in parts if cudnn_of(tree) and one.outcome is Outcome.NOT_THERE]


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


def own_copies(case: Case, winner: LoadedLibrary) -> list[LibraryCopy]:
    """Other copies of that library in the framework's own environment."""
    others = (one for one in copies_of(case.facts) if winner.path not in (one.path, one.real))
    return [one for one in others if one.name == winner.name and at_home(case, one.path)]


def torn_pair(tree: LoadTree) -> tuple[LoadedLibrary, LoadedLibrary] | None:
    """cuBLAS and its cublasLt, when they are not of one release."""
    for blas in (one for one in tree.libraries if stem(one.name) == "cublas"):
        name = blas.name.replace("cublas", "cublasLt")
        light = next((one for one in tree.libraries if one.name == name), None)
        apart = light and blas.path.rpartition("/")[0] != light.path.rpartition("/")[0]
        if light and apart and len(versions((blas, light))) == 2:
            return blas, light
    return None
