"""CUDA and cuDNN libraries: found, of the right version, of one release, whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple

from gpuwhy.facts.fact import Fact, Known, Source, Undetermined, Unknown, value_or
from gpuwhy.facts.finding import Evidence, Finding, Weight, saw
from gpuwhy.facts.libraries import LibraryCopy
from gpuwhy.facts.loads import (
    Fate,
    LoadedLibrary,
    LoadTree,
    MissingLibrary,
    NeededLibrary,
    Outcome,
    UnmetSymbol,
)
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.knowledge.cudnn_rules import Rule as CudnnRule
from gpuwhy.knowledge.cudnn_rules import compiled, fits, rule
from gpuwhy.knowledge.flaws import lost_folder
from gpuwhy.knowledge.installs import PRELOADS, preload_call
from gpuwhy.knowledge.libraries import cuda_of, sonames, stem
from gpuwhy.knowledge.libraries import is_cudnn as is_cudnn_name
from gpuwhy.knowledge.platforms import ZLIB, ZLIB_DLL
from gpuwhy.signs import loaded
from gpuwhy.signs.case import (
    Case,
    against,
    and_more,
    base_name,
    proof,
    rows,
    slows,
    strong,
    sure,
    table,
    weak,
)
from gpuwhy.signs.driver_library import how
from gpuwhy.signs.expect import LINKED
from gpuwhy.signs.needed import (
    Pick,
    anything,
    copy_at,
    fate_of,
    flawed,
    irrelevant,
    is_cuda,
    is_cudnn,
    is_drivers,
    lost,
    none_lost,
    outdated,
    required,
    saw_file,
    saw_search,
    saw_variables,
    taken_part,
    usable,
    without_copy,
)


class NeedRow(NamedTuple):
    """A cause, the libraries and the fate by which it is seen, and how it is said."""

    cause: str
    pick: Pick
    fate: Fate
    say: Callable[[Case, Sequence[NeededLibrary]], Finding]


def _missing(case: Case, needs: Sequence[NeededLibrary]) -> Finding:
    """No copy on the machine."""
    facts = case.facts
    verb = "fails to import without" if case.framework.name in LINKED else "opens"
    are = "they are" if len(needs) > 1 else "it is"
    image = isinstance(facts.system.offline, Known) and isinstance(facts.system.container, Known)
    where = "in this image" if image else "on this machine"
    dated = [one for one in needs if one.other_versions]
    values = {"libraries": and_more(one.name for one in needs)}
    names = [one.name for one in value_or(facts.environment.packages, ())]
    wheel = next((name for name in names if name.startswith("nvidia-cuda-nvcc")), "")
    text = f"{{framework}} {verb} {{libraries}}; {are} not {where}"
    if wheel and {one.name for one in needs} == {"libnvvm.so"}:
        values["wheel"] = wheel
        text = "{framework} opens {libraries}; it is in {wheel}, where Numba alone does not look"
    if dated:
        values["other"] = base_name(dated[0].other_versions[0])
        values["instead_of"] = dated[0].name
        text += "; {other} is, and cannot replace {instead_of}"
    say = sure(isinstance(facts.variables.variables, Known))
    return say(
        text,
        *(saw_search(one) for one in needs[:3]),
        *(saw_file(facts, one.other_versions[0]) for one in dated[:1]),
        *saw_variables(case),
        **values,
    )


def _not_searched(case: Case, needs: Sequence[NeededLibrary]) -> Finding:
    """In the framework's own environment, and in no folder that it searches."""
    first, one = needs[0], case.framework
    are, it = ("are", "them") if len(needs) > 1 else ("is", "it")
    text = (
        f"{{libraries}} {are} installed, but not where {{framework}} looks for {it}: {{file}} "
        "opens {library}, and no folder searched holds it"
    )
    values = {
        "framework": one.title,
        "libraries": and_more(need.name for need in needs),
        "file": base_name(first.needed_by),
        "library": first.name,
    }
    row = lost_folder(one.name, one.version, first.name)
    evidence = [saw_file(case.facts, usable(case, need)[0]) for need in needs[:3]]
    evidence.append(saw_search(first))
    call = preload_call(one.name, one.version)
    torch = any(other.name == "torch" for other in value_or(case.facts.frameworks.installed, ()))
    if call or (one.name in PRELOADS and torch):  # torch opens them for everybody
        calls = "calls {call} or " if call else ""
        text += f", unless the program {calls}imports another framework first"
        return weak(text, *evidence, call=call, **values)
    known = (table(row.text, row.source),) if row else ()
    return proof(text, *evidence, *known, **values)


def _other_version(case: Case, needs: Sequence[NeededLibrary]) -> Finding:
    """Only another SONAME is installed, and what the two names date."""
    names = dict.fromkeys(base_name(path) for one in needs[:3] for path in one.other_versions)
    built = value_or(case.framework.built_for_cuda, "")
    for_cuda = " is built for CUDA {cuda} and" if built and is_cuda(needs[0]) else ""
    dated = [one for one in needs[:3] if one.other_versions]
    return proof(
        f"{{framework}}{for_cuda} opens {{libraries}}; only {{others}} is installed",
        saw_search(needs[0]),
        *(saw_file(case.facts, one.other_versions[0]) for one in dated),
        *_dates(needs),
        cuda=built,
        libraries=and_more(one.name for one in needs),
        others=tuple(names),
    )


def _dates(needs: Sequence[NeededLibrary]) -> list[Evidence]:
    """What the name asked for and the name found say of their CUDA version."""
    for need in needs:
        wanted = cuda_of(need.name)
        for name in map(base_name, need.other_versions):
            if wanted and cuda_of(name):
                text = f"{need.name} belongs to CUDA {wanted}, {name} to CUDA {cuda_of(name)}"
                return [table(text, sonames().source)]
    return []


NEEDS = (
    NeedRow("cudnn.missing", is_cudnn, Fate.MISSING, _missing),
    NeedRow("cudnn.missing", is_cudnn, Fate.NOT_SEARCHED, _not_searched),
    NeedRow("cudnn.version_mismatch", is_cudnn, Fate.OTHER_VERSION, _other_version),
    NeedRow("cuda.missing_library", is_cuda, Fate.MISSING, _missing),
    NeedRow("cuda.missing_library", is_cuda, Fate.NOT_SEARCHED, _not_searched),
    NeedRow("cuda.version_mismatch", is_cuda, Fate.OTHER_VERSION, _other_version),
)
"""CUDA is one toolkit: where its libraries are missing in part and of another version in part, the
fate of most of them decides. cuDNN is judged by itself.
"""


def _of_needs(row: NeedRow) -> Callable[[Case], Finding | None]:
    def sign(case: Case) -> Finding | None:
        if row.pick is is_cuda and row.fate in (Fate.MISSING, Fate.OTHER_VERSION):
            decides = Fate.OTHER_VERSION if outdated(case, is_cuda) else Fate.MISSING
            found = without_copy(case, is_cuda) if row.fate is decides else []
        else:
            found = lost(case, row.pick, row.fate)
        return row.say(case, found) if found else None

    return sign


def _need_signs(cause: str) -> list[Callable[[Case], Finding | None]]:
    return [_of_needs(row) for row in NEEDS if row.cause == cause]


# ---------------------------------------------------------------- cuda.missing_library

_MATHS = re.compile(r"(?i)(lib)?cu(fft|rand|solver|sparse)(64)?[._]")


def parts_lost(case: Case) -> Finding | None:
    """CuPy opens its mathematical libraries when first used: the rest works without."""
    if case.framework.name != "cupy" or irrelevant(case):
        return None
    if lost(case, is_cuda, Fate.MISSING, Fate.OTHER_VERSION):
        return None
    mine = [one for one in case.facts.loads.needs.need() or () if one.framework == "cupy"]
    late = [one for one in mine if one.optional and _MATHS.match(one.name)]
    for fate, ending in (
        (Fate.MISSING, "and no copy is installed"),
        (Fate.NOT_SEARCHED, "and does not look where it is installed"),
    ):
        found = [one for one in late if fate_of(case, one) is fate]
        if found:
            text = f"{{framework}} opens {{libraries}} when first used, {ending}"
            names = and_more(one.name for one in found)
            evidence = (saw_search(one) for one in found[:2])
            return slows(strong(text, *evidence, framework=case.named, libraries=names))
    return None


def cuda_found(case: Case) -> Finding | None:
    """What rules it out."""
    if parts_lost(case):
        return None
    missing = () if outdated(case, is_cuda) else (Fate.MISSING,)
    return none_lost(case, is_cuda, Fate.NOT_SEARCHED, *missing)


# ---------------------------------------------------------------- cuda.version_mismatch

_NUMBERED = re.compile(r"(?i)(?:cudart|cublas|cublasLt|nvrtc)64_(\d+)(?:_\d+)?\.dll$")
"""DLLs whose own release has the major number of their CUDA."""


def too_old_for_its_users(case: Case) -> Finding | None:
    """The only copy of a library lacks functions that another loaded library asks it for."""
    found = loaded.clashes(case, other_copy=False)
    if not found:
        return None
    said = _unmet(case, found[0])
    evidence = (*said.evidence, *_required_versions(case, found))
    return Finding("", said.weight, said.template, said.values, evidence)


def _unmet(case: Case, unmet: UnmetSymbol) -> Finding:
    """Who asks, for which symbol, and which copy does not have it."""
    asker, winner = loaded.loaded_at(case, unmet.library), loaded.loaded_at(case, unmet.provider)
    more = f" and {unmet.count - 1} more" if unmet.count > 1 else ""
    verb = "import of" if case.framework.name in LINKED else "loading of"
    version = value_or(asker.version, "") if asker else ""
    return proof(
        "{library} needs {symbol}" + more + " from {provider}; {path}"
        f"{', found by {how},' if winner else ''} does not define {'them' if more else 'it'}, so "
        f"the {verb} {{framework}} fails",
        *(loaded.saw_loaded(one) for one in (asker, winner) if one),
        *(loaded.saw_lost(copy) for copy in loaded.rivals(case, unmet)[:2]),
        library=f"{base_name(unmet.library)} {version}".rstrip(),
        symbol=unmet.symbols[0],
        provider=base_name(unmet.provider),
        path=unmet.provider,
        how=how(winner.found) if winner else "",
    )


def _required_versions(case: Case, found: Sequence[UnmetSymbol]) -> Iterator[Evidence]:
    """Of the wheels that clash, which release the framework requires."""
    files = {path for one in found for path in (one.provider, one.library)}
    copies = [one for one in value_or(case.facts.libraries.copies, ()) if files & one.paths]
    names = {owner.name for one in copies if (owner := value_or(one.owner, None))}
    for one in value_or(case.facts.installs.contradictions, ()):
        if one.name in names and one.by.name == case.framework.package and one.installed:
            text = f"{one.by} requires {one.name}{one.wants}; installed: {one.installed}"
            yield saw(text, Source("file", one.file))


def renamed(case: Case) -> Finding | None:
    """Windows: a DLL under the name that is asked for, whose resources name another CUDA."""
    for need in required(case, is_cuda):
        asked = _NUMBERED.match(need.name)
        path = need.path
        copy = copy_at(case.facts, path.value) if asked and isinstance(path, Known) else None
        version = value_or(copy.version, "") if copy else ""
        has = numbers(version)[:1]
        if asked and copy and has and has[0] != _major(int(asked[1])):
            text = (
                "{framework} opens {library}, and the file of that name is {version}: it was "
                "renamed, and lacks functions or has others"
            )
            seen = saw(f"{need.name} {version}", Source("file", copy.path))
            values = {"library": need.name, "version": version}
            return proof(text, seen, **values)
    return None


def _major(number: int) -> int:
    """10 of cudart64_101 and cublas64_10, 11 of cudart64_110, 12 of cudart64_12."""
    return number // 10 if number >= 70 else number


def cuda_fits(case: Case) -> Finding | None:
    """What rules it out."""
    tree = loaded.tree_of(case)
    if isinstance(tree, Finding):
        return tree
    if outdated(case, is_cuda) or loaded.clashes(case, other_copy=False) or renamed(case):
        return None
    few = any(fate_of(case, one) is Fate.OTHER_VERSION for one in required(case, is_cuda))
    return None if few else none_lost(case, is_cuda, Fate.OTHER_VERSION)


# ---------------------------------------------------------------- cuda.mixed_libraries


def symbols_unmet(case: Case) -> Finding | None:
    """The copy that is loaded lacks functions which another library needs; another copy exists."""
    found = loaded.clashes(case, other_copy=True)
    return _unmet(case, found[0]) if found else None


def pair_torn_apart(case: Case) -> Finding | None:
    """cuBLAS of one release over cublasLt of another."""
    tree = loaded.gpu_tree(case)
    pair = None if isinstance(tree, Finding) else loaded.torn_pair(tree)
    if pair is None:
        return None
    blas, light = pair
    return strong(
        "{framework} loads {blas} {blas_version} and {light} {light_version}, found by {how}; the "
        "two must be of one release",
        *map(loaded.saw_loaded, pair),
        blas=blas.name,
        blas_version=value_or(blas.version, ""),
        light=light.name,
        light_version=value_or(light.version, ""),
        how=how(light.found),
    )


def older_copy_selected(case: Case) -> Finding | None:
    """Same name, older file: of another CUDA generation it was never tested together."""
    tree = loaded.gpu_tree(case)
    pair = None if isinstance(tree, Finding) else loaded.older_selected(case, tree)
    if pair is None:
        return None
    one, own = pair
    built = value_or(case.framework.built_for_cuda, "")
    theirs = loaded.generation(value_or(one.owner, None), one.path)
    text = (
        f"{{framework}}, built for CUDA {{cuda}}, loads {{library}} {{version}}"
        f"{' of CUDA {theirs}' if theirs else ''}, found by {{how}}; its own {{own}} is passed over"
    )
    foreign = theirs and numbers(built)[:1] != (theirs,)
    found = (strong if foreign else weak)(
        text,
        loaded.saw_loaded(one),
        loaded.saw_lost(own),
        cuda=built,
        library=one.name,
        version=value_or(one.version, ""),
        theirs=theirs,
        how=how(one.found),
        own=value_or(own.version, ""),
    )
    return slows(found) if foreign else found


def one_of_each(case: Case) -> Finding | None:
    """What rules it out."""
    tree = loaded.tree_of(case)
    if isinstance(tree, Finding):
        return tree
    mixed = loaded.torn_pair(tree) or loaded.older_selected(case, tree)
    if loaded.clashes(case, other_copy=True) or mixed:
        return None
    text = "all symbols are met that the {count} loaded libraries ask of each other"
    return against(text, count=len(tree.libraries))


# ---------------------------------------------------------------- cudnn.missing

_CUDNN_FILE = re.compile(r"/libcudnn\.so\.\d+$")


def part_missing(case: Case) -> Finding | None:
    """libcudnn is found, and a part that it opens by itself is not: not copied whole."""
    tree = loaded.tree_of(case)
    if isinstance(tree, Finding) or (cudnn := loaded.cudnn_of(tree)) is None:
        return None
    facts = case.facts
    deleted = {base_name(one.path) for one in value_or(facts.installs.damage, ())}
    gone = [one for one in _missing_parts(tree) if one.name not in deleted]
    gone = [one for one in gone if not one.not_cached and not taken_part(facts, one)]
    if not gone:
        return None
    other = _other_major(case, gone[0].name)
    instead = "; only cuDNN {other} is installed" if other else ""
    return strong(
        f"{{framework}} loads {{path}}, which opens {{parts}} when used; none is found{instead}",
        loaded.saw_loaded(cudnn),
        *((saw_file(facts, other.path),) if other else ()),
        saw_search(gone[0]),
        path=cudnn.path,
        parts=and_more(one.name for one in gone),
        other=value_or(other.version, "") if other else "",
    )


def _missing_parts(tree: LoadTree) -> list[MissingLibrary]:
    return [
        one
        for one in tree.missing
        if stem(one.name) in loaded.ESSENTIAL and one.outcome is Outcome.NOT_THERE
    ]


def _other_major(case: Case, name: str) -> LibraryCopy | None:
    """A cuDNN of another major, where its own is not installed."""
    copies = [one for one in value_or(case.facts.libraries.copies, ()) if not flawed(one)]
    copies = [one for one in copies if _CUDNN_FILE.search(one.path)]
    major = name.rpartition(".")[2] if ".so." in name else ""
    others = [one for one in copies if major and not one.path.endswith(f".so.{major}")]
    return others[0] if others and len(others) == len(copies) else None


def cudnn_found(case: Case) -> Finding | None:
    """What rules it out."""
    if part_missing(case):
        return None
    return none_lost(case, is_cudnn, Fate.MISSING, Fate.NOT_SEARCHED)


# ---------------------------------------------------------------- cudnn.version_mismatch


def wrong_cudnn_loaded(case: Case) -> Finding | None:
    """The loaded cuDNN against the one compiled with, by the framework's own rule."""
    tree = loaded.gpu_tree(case)
    if isinstance(tree, Finding) or (cudnn := loaded.cudnn_of(tree)) is None:
        return None
    found = loaded.versions(loaded.parts_of(tree))
    one = loaded.reporter(tree) or cudnn
    seen = loaded.saw_loaded(one)
    if len(found) > 1:
        return against("its parts are of different versions: {versions}", versions=tuple(found))
    version, built, law = loaded.short(one.version.need() or ""), _built(case), _rule(case)
    fit = fits(law.needs if law else "same major", built.need() or "", version)
    if fit is None:
        reason = f"which minor version of cuDNN {case.named} was compiled with is not known"
        raise Undetermined(Unknown(reason))
    values = {"built": value_or(built, ""), "version": version}
    if fit:
        text = "cuDNN {version} is loaded, which fits a build with {built}"
        return against(text, **values)
    return proof(
        "{framework} was compiled with cuDNN {built} and needs {wanted}; {version} is loaded, "
        "found by {how}",
        seen,
        saw(f"compiled with cuDNN {value_or(built, '')}", built),
        *(loaded.saw_lost(copy) for copy in loaded.own_copies(case, one)[:2]),
        *((table(law.text, law.source),) if law else ()),
        wanted=_wanted(value_or(built, ""), law),
        how=how(one.found),
        **values,
    )


def cudnn_symbols_unmet(case: Case) -> Finding | None:
    """The framework asks this cuDNN for functions that it does not have."""
    tree = loaded.tree_of(case)
    if isinstance(tree, Finding):
        return None
    bad = next((one for one in tree.unmet if is_cudnn_name(base_name(one.provider))), None)
    if bad is None:
        return None
    more = f" and {bad.count - 1} more" if bad.count > 1 else ""
    same = (one for one in tree.libraries if one.name == base_name(bad.provider))
    return proof(
        f"{{library}} needs {{symbol}}{more}, which {{path}} does not define",
        *map(loaded.saw_loaded, same),
        library=base_name(bad.library),
        symbol=bad.symbols[0],
        path=bad.provider,
    )


def refused(case: Case) -> bool:
    """Whether the framework refuses the loaded cuDNN as a whole."""
    for sign in (wrong_cudnn_loaded, cudnn_symbols_unmet):
        with suppress(Undetermined):
            found = sign(case)
            if found and found.weight is Weight.PROOF:
                return True
    return False


def no_other_cudnn(case: Case) -> Finding | None:
    """What rules it out before any version is compared."""
    tree = loaded.gpu_tree(case)
    if isinstance(tree, Finding):
        return tree
    if loaded.cudnn_of(tree) is None and not lost(case, is_cudnn, Fate.OTHER_VERSION):
        return none_lost(case, is_cudnn, Fate.OTHER_VERSION)
    return None


def _rule(case: Case) -> CudnnRule | None:
    return rule(case.framework.name, case.framework.version)


def _built(case: Case) -> Fact[str]:
    """What the release states, or the row that knows its minor version too."""
    said = case.framework.built_for_cudnn
    row = compiled(case.framework.name, case.framework.version)
    vague = isinstance(said, Unknown) or (isinstance(said, Known) and len(numbers(said.value)) < 2)
    if row and vague:
        return Known(row.cudnn, Source("know", row.source.where, row.source.detail))
    return said


def _wanted(built: str, law: CudnnRule | None) -> str:
    kind, minor = law.needs if law else "same major", major_minor(built)
    if kind == "same minor":
        return minor
    major = str(numbers(built)[0])
    return f"{minor} or a newer {major}" if kind == "minor or newer" else f"a cuDNN {major}"


# ---------------------------------------------------------------- cudnn.mixed_libraries

_BUNDLED = re.compile(r"\.libs/libcudnn-[0-9a-f]{8}\.so[^/]*$")
"""libcudnn as auditwheel puts it into a package, under a name that no other part asks for."""


def parts_differ(case: Case) -> Finding | None:
    """Sub-libraries of several releases: no engine is found, or the process aborts."""
    tree = loaded.gpu_tree(case)
    if isinstance(tree, Finding):
        return tree
    cudnn, parts = loaded.cudnn_of(tree), loaded.parts_of(tree)
    if cudnn is None:
        return against("{framework} loads no cuDNN")
    found_versions = loaded.versions(parts)
    if len(found_versions) > 1:
        first = parts[0]
        other = next(one for one in parts if loaded.versions([one]) != loaded.versions([first]))
        return proof(
            "{framework} loads {first} {first_version}, found by {first_how}, and {other} "
            "{other_version}, found by {other_how}; all cuDNN files must have the same version",
            loaded.saw_loaded(first),
            loaded.saw_loaded(other),
            **_pair(first, other),
        )
    version = cudnn.version
    if parts and isinstance(version, Known) and loaded.short(version.value) != found_versions[0]:
        return _cudnn_apart(case, cudnn, parts[0])
    version.need()
    text = "libcudnn and its {count} parts are all {version}"
    return against(text, count=len(parts), version=loaded.versions([cudnn])[0])


def _pair(first: LoadedLibrary, other: LoadedLibrary) -> dict[str, str]:
    return {
        "first": first.name,
        "first_version": loaded.versions([first])[0],
        "first_how": how(first.found),
        "other": other.name,
        "other_version": loaded.versions([other])[0],
        "other_how": how(other.found),
    }


def _cudnn_apart(case: Case, cudnn: LoadedLibrary, part: LoadedLibrary) -> Finding:
    """All parts of one release under a libcudnn of another: it runs, as nobody has tested it."""
    values = {**_pair(cudnn, part)}
    if refused(case):
        text = "every part is cuDNN {other_version}, which this framework refuses as a whole"
        return against(text, **values)
    if _BUNDLED.search(cudnn.path):
        text = "{framework} brings libcudnn {first_version}; its parts are all {other_version}"
        return against(text, **values)
    found = strong(
        "{framework} loads libcudnn {first_version}, found by {first_how}, and all its parts "
        "{other_version}, found by {other_how}: a mixture that prints no error before the first "
        "convolution",
        loaded.saw_loaded(cudnn),
        loaded.saw_loaded(part),
        **values,
    )
    return slows(found)


# ---------------------------------------------------------------- cudnn.dependency_missing


def cudnn_need_missing(case: Case) -> Finding | None:
    """What a loaded cuDNN library asks for in vain; the driver's libcuda is judged elsewhere."""
    tree = loaded.gpu_tree(case)
    if isinstance(tree, Finding):
        return tree
    cudnn = loaded.cudnn_of(tree)
    if cudnn is None:
        return against("{framework} loads no cuDNN")
    seen = loaded.saw_loaded(cudnn)
    if refused(case):
        return against("{framework} refuses this cuDNN as a whole")
    gone = _gone(case, tree)
    if not gone:
        whole = against("everything that cuDNN alone needs is found")
        return _of_another_wheel(case, cudnn) or whole
    if gone[0].name == ZLIB_DLL:
        return _no_zlib(case, gone[0], cudnn)
    first = gone[0]
    theirs, own = numbers(cuda_of(first.name))[:1], numbers(_own_cuda(case))[:1]
    belongs = ", which belongs to CUDA {cuda}" if theirs and own and theirs != own else ""
    missing = first.outcome is Outcome.NOT_THERE
    ending = "the loader finds none" if missing else "{refused} cannot be loaded ({flaw})"
    copies = [one for one in value_or(case.facts.libraries.copies, ()) if one.name == first.name]
    return proof(
        f"{{framework}} loads cuDNN, whose {{file}} needs {{libraries}}{belongs}; {ending}",
        saw_search(first),
        seen,
        *map(loaded.saw_lost, copies[:2]),
        file=base_name(first.needed_by),
        libraries=and_more(one.name for one in gone),
        cuda=cuda_of(first.name),
        refused=first.refused,
        flaw=first.flaw.value,
    )


def _gone(case: Case, tree: LoadTree) -> list[MissingLibrary]:
    """Each once; what the framework itself misses too is said there."""
    said = {one.name for one in required(case, anything) if not isinstance(one.path, Known)}
    found: dict[str, MissingLibrary] = {}
    for one in tree.missing:
        of_cudnn = is_cudnn_name(base_name(one.needed_by)) and not is_cudnn_name(one.name)
        if of_cudnn and not is_drivers(one.name) and one.name not in said:
            found.setdefault(one.name, one)
    return list(found.values())


def _no_zlib(case: Case, missing: MissingLibrary, cudnn: LoadedLibrary) -> Finding:
    """cuDNN 8.3 to 8.9 on Windows opens zlib's DLL at a convolution, and ends without it."""
    lacks = "none of the folders of the DLL search holds it"
    if missing.refused:
        lacks = "{refused}, the one that is found, cannot be loaded ({flaw})"
    return strong(
        f"{{framework}} loads cuDNN {{version}}, which opens {ZLIB_DLL} by name at a convolution; "
        f"{lacks}, and cuDNN then ends the program",
        loaded.saw_loaded(cudnn),
        saw_search(missing),
        table("cuDNN 8.3 to 8.9 for Windows needs it", ZLIB),
        version=loaded.short(value_or(cudnn.version, "")),
        refused=missing.refused,
        flaw=missing.flaw.value,
    )


def _of_another_wheel(case: Case, cudnn: LoadedLibrary) -> Finding | None:
    """The wheel's cuDNN is of another CUDA, and the cuBLAS that it opens by name is missing."""
    owner, own = value_or(cudnn.owner, None), next(iter(numbers(_own_cuda(case))), None)
    named = re.fullmatch(r"nvidia-cudnn-cu(\d+)", owner.name) if owner else None
    wheel = int(named[1]) if named else None
    releases = case.facts.environment.releases
    if wheel is None or own is None or wheel == own or f"nvidia-cudnn-cu{own}" in releases:
        return None
    library = f"libcublasLt.so.{wheel}"
    if any(copy.name == library for copy in case.facts.libraries.copies.need() or ()):
        return None
    return strong(
        "{framework} is built for CUDA {cuda} and loads the cuDNN of {wheel}: it opens {library} "
        "at its first use; there is none",
        loaded.saw_loaded(cudnn),
        saw(str(owner), Source("file", cudnn.path)),
        cuda=own,
        wheel=owner.name if owner else "",
        library=library,
    )


def _own_cuda(case: Case) -> str:
    return value_or(case.framework.built_for_cuda, "")


SIGNS = (
    *rows(
        "cuda.missing_library",
        "framework",
        *(*_need_signs("cuda.missing_library"), parts_lost, cuda_found),
    ),
    *rows(
        "cuda.version_mismatch",
        "framework",
        *(*_need_signs("cuda.version_mismatch"), renamed, too_old_for_its_users, cuda_fits),
    ),
    *rows(
        "cuda.mixed_libraries",
        "framework",
        *(symbols_unmet, pair_torn_apart, older_copy_selected, one_of_each),
    ),
    *rows(
        "cudnn.missing", "framework", *(*_need_signs("cudnn.missing"), part_missing, cudnn_found)
    ),
    *rows(
        "cudnn.version_mismatch",
        "framework",
        *_need_signs("cudnn.version_mismatch"),
        *(wrong_cudnn_loaded, cudnn_symbols_unmet, no_other_cudnn),
    ),
    *rows("cudnn.mixed_libraries", "framework", parts_differ),
    *rows("cudnn.dependency_missing", "framework", cudnn_need_missing),
)
