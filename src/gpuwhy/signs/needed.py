"""What a framework needs from the loader, and what becomes of each library: questions of signs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from gpuwhy.facts.fact import Absent, Known, Source, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Evidence, Finding, saw
from gpuwhy.facts.installs import MISFITS, Damage, DamageKind
from gpuwhy.facts.libraries import Flaw, LibraryCopy
from gpuwhy.facts.loads import Fate, MissingLibrary, NeededLibrary, Outcome
from gpuwhy.facts.variables import SetAtStart
from gpuwhy.knowledge.libraries import is_cudnn as is_cudnn_name
from gpuwhy.knowledge.libraries import parse, stem
from gpuwhy.signs.case import Case, against, base_name
from gpuwhy.signs.expect import LINKED, gpu_claimed, gpu_present

Pick = Callable[[NeededLibrary], bool]
SEARCHED = "LD_LIBRARY_PATH"
_DRIVERS = ("libcuda.so", "libnvidia-", "nvcuda.dll", "nvml.dll")
_STILL_LOADS = (DamageKind.OTHER_SIZE, DamageKind.OTHER_HASH)
"""What may be wrong with a file that the loader takes all the same."""


def is_cudnn(need: NeededLibrary) -> bool:
    """Whether it is cuDNN or a part of it."""
    return is_cudnn_name(need.name)


def is_cuda(need: NeededLibrary) -> bool:
    """Whether it is any other CUDA library."""
    return not is_cudnn(need)


def anything(_need: NeededLibrary) -> bool:
    """Every library."""
    return True


def is_drivers(name: str) -> bool:
    """Whether a library is the driver's own, which other causes judge."""
    return name.startswith(_DRIVERS)


def required(case: Case, pick: Pick = anything) -> list[NeededLibrary]:
    """The libraries that this framework cannot do without, by itself or for one of them."""
    lost = damaged_files(case.facts)
    every = case.facts.loads.needs.need() or ()
    mine = [one for one in every if one.framework == case.framework.name]
    mine = [one for one in mine if one.needed_by not in lost]
    listed = [one for one in mine if not one.optional] + _needed_by_others(case, mine)
    return [one for one in listed if pick(one) and not is_drivers(one.name)]


def _needed_by_others(case: Case, mine: Sequence[NeededLibrary]) -> list[NeededLibrary]:
    """What the tree misses although the framework does not ask for it: a library's own need."""
    names = {one.name for one in mine}
    spare = {one.name for one in mine if one.optional}
    found = [
        one
        for tree in value_or(case.facts.loads.trees, ())
        for one in (tree.missing if tree.framework == case.framework.name else ())
        if one.name not in names and parse(one.name) and one.outcome is Outcome.NOT_THERE
    ]
    askers = ((one, base_name(one.needed_by)) for one in found)
    return [
        _as_need(case, one)
        for one, asker in askers
        if spare.isdisjoint((asker, one.name)) and not is_cudnn_name(asker)
    ]


def _as_need(case: Case, one: MissingLibrary) -> NeededLibrary:
    copies = value_or(case.facts.libraries.copies, ())
    same = [copy for copy in copies if copy.name == one.name]
    kind = stem(one.name)
    others = [copy for copy in copies if stem(copy.name) == kind and copy not in same]
    whole = [copy for copy in same if not flawed(copy)]
    if whole:
        home = any(at_home(case, copy.path) for copy in whole)
        fate = Fate.NOT_SEARCHED if home else Fate.OFF_PATH
    else:
        other = any(not is_whole_name(copy.path, one.name) for copy in others)
        fate = Fate.OTHER_VERSION if other else Fate.MISSING
    return NeededLibrary(
        framework=case.framework.name,
        name=one.name,
        optional=False,
        needed_by=one.needed_by,
        fate=fate,
        path=Absent(Source("call", "loader search", one.name)),
        searched=one.searched,
        elsewhere=tuple(copy.path for copy in same),
        other_versions=tuple(copy.path for copy in others),
        not_cached=one.not_cached,
    )


def fate_of(case: Case, need: NeededLibrary) -> Fate:
    """What becomes of one library, damage and the start of an image considered."""
    if need.fate in (Fate.FOUND, Fate.BROKEN, Fate.UNKNOWN):
        return need.fate
    damage = value_or(case.facts.installs.damage, ())
    if any(_unloadable(one) and one.path.endswith(f"/{need.name}") for one in damage):
        return Fate.BROKEN
    if need.fate is Fate.NOT_SEARCHED:
        copies = usable(case, need)
        named = need.not_cached or any(is_taken(case.facts, path) for path in copies)
        return Fate.OFF_PATH if named else Fate.NOT_SEARCHED
    return need.fate


def _unloadable(one: Damage) -> bool:
    return one.kind not in _STILL_LOADS


def is_whole_name(path: str, name: str) -> bool:
    """Whether a file is the library under its full name (libcudnn.so.9.1.0), whose link is gone."""
    return base_name(path).startswith(f"{name}.")


def usable(case: Case, need: NeededLibrary) -> tuple[str, ...]:
    """Copies outside the search that are not known to be broken, those of the environment first."""
    configured = (f"{need.not_cached}/{need.name}",) if need.not_cached else ()
    fit = []
    for path in dict.fromkeys((*need.elsewhere, *configured)):
        copy = copy_at(case.facts, path)
        fit += [path] if copy is None or not flawed(copy) else []
    return tuple(sorted(fit, key=lambda path: not at_home(case, path)))


def at_home(case: Case, path: str) -> bool:
    """Whether a path lies in the site-packages folder of the framework."""
    return path.startswith(case.framework.path.rpartition("/")[0] + "/")


def flawed(copy: LibraryCopy) -> bool:
    """Whether something is wrong with a copy's file."""
    return value_or(copy.health, Flaw.NONE) is not Flaw.NONE


def copy_at(facts: Facts, path: str) -> LibraryCopy | None:
    """What was observed of the library file at a path."""
    return next((one for one in value_or(facts.libraries.copies, ()) if path in one.paths), None)


def damaged_files(facts: Facts) -> set[str]:
    """Installed files that no loader takes: what they would have opened is not asked for."""
    return {one.path for one in value_or(facts.installs.damage, ()) if _unloadable(one)}


# ---------------------------------------------------------------- what rules it out


def irrelevant(case: Case) -> Finding | None:
    """Why a missing library would not matter: a CPU build, or no GPU and nothing linked."""
    from gpuwhy.knowledge.flavours import is_follower

    facts, one = case.facts, case.framework
    build, present = one.gpu_build, gpu_present(facts)
    if isinstance(build, Absent) or value_or(build, True) is False:
        return against("{framework} is a build without CUDA")
    installed = value_or(facts.frameworks.installed, ())
    if is_follower(one.name) and any(other.name == "torch" for other in installed):
        text = "{framework} is imported after PyTorch, which has opened its CUDA libraries by then"
        return against(text, framework=one.title)
    if other := built_for_another(case):
        text = "{framework} is built for {platform}, so that nothing of it is loaded"
        return against(text, framework=case.named, platform=other.actual)
    needs = value_or(facts.loads.needs, ())
    askers = {need.needed_by for need in needs if need.framework == one.name}
    lost = sorted(askers & damaged_files(facts))
    if lost and len(lost) == len(askers):
        return against("{file}, which would open it, is damaged itself", file=base_name(lost[0]))
    if isinstance(present, Absent) and one.name not in LINKED:
        return against("this machine has no NVIDIA GPU, so it is never opened")
    return None


def built_for_another(case: Case) -> Damage | None:
    """Whether the framework itself is a build for another machine, system or Python."""
    for one in value_or(case.facts.installs.damage, ()):
        if one.kind in MISFITS and one.owner.name == case.framework.package:
            return one
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


def without_copy(case: Case, pick: Pick) -> list[NeededLibrary]:
    """The libraries without any copy that fits, the fate of most of them first."""
    dated = outdated(case, pick)
    found = lost(case, pick, Fate.MISSING, Fate.OTHER_VERSION)
    return sorted(found, key=lambda one: (fate_of(case, one) is Fate.MISSING) == dated)


_OTHERWISE = {
    Fate.BROKEN: "belongs to an installation that is damaged",
    Fate.NOT_SEARCHED: "is installed in the framework's own environment",
    Fate.OFF_PATH: "is on this machine, outside the search",
    Fate.OTHER_VERSION: "is installed in another version only",
    Fate.MISSING: "is not installed",
}


def none_lost(case: Case, pick: Pick, *fates: Fate) -> Finding | None:
    """The observation that rules these fates out; None when one of them is met."""
    if reason := irrelevant(case):
        return reason
    needs = required(case, pick)
    found = [(one, fate_of(case, one)) for one in needs]
    if any(fate in fates for _, fate in found):
        return None
    for one, fate in found:
        if fate is Fate.UNKNOWN:
            one.path.need()
    if not needs:
        case.framework.opens.need()
        return against("{framework} opens no such library")
    damaged = sorted(damaged_files(case.facts))
    own = [path for path in damaged if path.startswith(f"{case.framework.path}/")]
    if own:
        text, _seen = "{file} of {framework} is damaged", saw("damaged", Source("file", own[0]))
        return against(text, file=base_name(own[0]))
    for one, fate in found:
        if fate is not Fate.FOUND:
            return against(f"{{library}} {_OTHERWISE[fate]}", library=one.name)
    return against("the loader finds all libraries of this kind that {framework} opens")


# ---------------------------------------------------------------- evidence


def saw_search(need: NeededLibrary | MissingLibrary) -> Evidence:
    """Who asks, and in how many folders the loader looked."""
    many = f"{len(need.searched)} folders searched" if need.searched else "its folders searched"
    return saw(f"opens {need.name}, {many}", Source("file", need.needed_by))


def saw_file(facts: Facts, path: str) -> Evidence:
    """A copy of a library with its version and owner, where they are known."""
    copy = copy_at(facts, path)
    version = f" {value_or(copy.version, '')}".rstrip() if copy else ""
    owner = f", from {copy.owner.value}" if copy and isinstance(copy.owner, Known) else ""
    return saw(f"{base_name(path)}{version}{owner}", Source("file", path))


def saw_variables(case: Case, outside: bool = False) -> list[Evidence]:
    """What is wrong with the variables that should have led to a library."""
    variables = value_or(case.facts.variables.variables, ())
    if case.windows:
        names: tuple[str, ...] = ("PATH", "CUDA_PATH", "CUDA_HOME", "CUDNN_")
        read = [one for one in variables if one.name.startswith(names)]
    else:
        names = (SEARCHED, "CUDA_HOME", "CUDA_PATH") if outside else ()
        read = [one for one in variables if one.name in names]
    return [
        saw(f"{one.name}: {problem.entry} {problem.kind.value}", Source("env", one.name))
        for one in read
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


def taken_part(facts: Facts, missing: MissingLibrary) -> str:
    """The copy of a library that a tree misses in such a folder; "" where there is none."""
    copies = (one for one in value_or(facts.libraries.copies, ()) if not flawed(one))
    paths = (path for one in copies for path in one.paths)
    return next((p for p in paths if p.endswith(f"/{missing.name}") and is_taken(facts, p)), "")
