"""CUDA and cuDNN libraries: found, of the right version, of one release, whole."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from gpuwhy.facts import loads
from gpuwhy.facts.fact import Fact, Known, Source, Undetermined, Unknown, value_or
from gpuwhy.facts.finding import Finding, Weight, saw
from gpuwhy.facts.libraries import LibraryCopy
from gpuwhy.facts.loads import Fate, LoadedLibrary, LoadTree, MissingLibrary, NeededLibrary
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.knowledge.cudnn_rules import Rule, compiled, fits, rule
from gpuwhy.knowledge.flaws import lost_folder
from gpuwhy.knowledge.installs import PRELOADS, preload_call
from gpuwhy.knowledge.libraries import cuda_of, is_cudnn
from gpuwhy.knowledge.platforms import ZLIB, ZLIB_DLL
from gpuwhy.signs import needed
from gpuwhy.signs.case import (
    Case,
    Row,
    Sign,
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
from gpuwhy.signs.expect import LINKED, installed, is_image
from gpuwhy.signs.needed import copies_of, lost, saw_file, saw_loaded, saw_lost, saw_search

# ---------------------------------------------------------------- libraries that are not found


def _missing(case: Case, needs: Sequence[NeededLibrary]) -> Finding:
    """No copy on the machine."""
    facts = case.facts
    verb = "fails to import without" if case.framework.name in LINKED else "opens"
    are = "they are" if len(needs) > 1 else "it is"
    where = "in this image" if is_image(facts) else "on this machine"
    values = {"libraries": and_more(one.name for one in needs)}
    text = f"{{framework}} {verb} {{libraries}}; {are} not {where}"
    names = [one.name for one in value_or(facts.environment.packages, ())]
    wheel = next((name for name in names if name.startswith("nvidia-cuda-nvcc")), "")
    if wheel and {one.name for one in needs} == {"libnvvm.so"}:
        values["wheel"] = wheel
        text = "{framework} opens {libraries}; it is in {wheel}, where Numba alone does not look"
    dated = [one for one in needs if one.other_versions]
    if dated:
        values["other"] = base_name(dated[0].other_versions[0])
        values["instead_of"] = dated[0].name
        text += "; {other} is, and cannot replace {instead_of}"
    return sure(isinstance(facts.variables.variables, Known))(
        text,
        *map(saw_search, needs[:3]),
        *(saw_file(facts, one.other_versions[0]) for one in dated[:1]),
        *needed.saw_variables(case),
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
    evidence = [saw_file(case.facts, needed.usable(case, need)[0]) for need in needs[:3]]
    evidence.append(saw_search(first))
    call = preload_call(one.name, one.version)
    torch = any(other.name == "torch" for other in installed(case.facts))
    if call or (one.name in PRELOADS and torch):  # torch opens them for everybody
        calls = "calls {call} or " if call else ""
        text += f", unless the program {calls}imports another framework first"
        return weak(text, *evidence, call=call, **values)
    if row := lost_folder(one.name, one.version, first.name):
        evidence.append(table(row.text, row.source))
    return proof(text, *evidence, **values)


def _other_version(case: Case, needs: Sequence[NeededLibrary]) -> Finding:
    """Only another SONAME is installed, and what the two names date."""
    names = dict.fromkeys(base_name(path) for one in needs[:3] for path in one.other_versions)
    built = value_or(case.framework.built_for_cuda, "")
    for_cuda = " is built for CUDA {cuda} and" if built and needed.of_cuda(needs[0]) else ""
    dated = [one for one in needs[:3] if one.other_versions]
    return proof(
        f"{{framework}}{for_cuda} opens {{libraries}}; only {{others}} is installed",
        saw_search(needs[0]),
        *(saw_file(case.facts, one.other_versions[0]) for one in dated),
        cuda=built,
        libraries=and_more(one.name for one in needs),
        others=tuple(names),
    )


class Need(NamedTuple):
    """A cause, the libraries and the fate by which it is seen, and how it is said."""

    cause: str
    pick: needed.Pick
    fate: Fate
    say: Callable[[Case, Sequence[NeededLibrary]], Finding]


NEEDS = (
    Need("cudnn.missing", needed.of_cudnn, Fate.MISSING, _missing),
    Need("cudnn.missing", needed.of_cudnn, Fate.NOT_SEARCHED, _not_searched),
    Need("cudnn.version_mismatch", needed.of_cudnn, Fate.OTHER_VERSION, _other_version),
    Need("cuda.missing_library", needed.of_cuda, Fate.MISSING, _missing),
    Need("cuda.missing_library", needed.of_cuda, Fate.NOT_SEARCHED, _not_searched),
    Need("cuda.version_mismatch", needed.of_cuda, Fate.OTHER_VERSION, _other_version),
)


def _of_needs(cause: str) -> list[Sign]:
    return [_of_need(row) for row in NEEDS if row.cause == cause]


def _of_need(row: Need) -> Sign:
    """CUDA is one toolkit: where its libraries are missing in part and of another version in part,
    the fate of most of them decides. cuDNN is judged by itself.
    """

    def sign(case: Case) -> Finding | None:
        if row.pick is needed.of_cudnn or row.fate is Fate.NOT_SEARCHED:
            found = lost(case, row.pick, row.fate)
        else:
            dated = needed.outdated(case, needed.of_cuda)
            mine = dated == (row.fate is Fate.OTHER_VERSION)
            found = lost(case, needed.of_cuda, Fate.MISSING, Fate.OTHER_VERSION) if mine else []
            found.sort(key=lambda one: needed.fate_of(case, one) is not row.fate)
        return row.say(case, found) if found else None

    return sign


# ---------------------------------------------------------------- cuda.missing_library

_MATHS = re.compile(r"(?i)(lib)?cu(fft|rand|solver|sparse)(64)?[._]")


def parts_lost(case: Case) -> Finding | None:
    """CuPy opens its mathematical libraries when first used: the rest works without."""
    if case.framework.name != "cupy" or needed.irrelevant(case):
        return None
    if lost(case, needed.of_cuda, Fate.MISSING, Fate.OTHER_VERSION):
        return None
    mine = [one for one in case.facts.loads.needs.need() or () if one.framework == "cupy"]
    late = [one for one in mine if one.optional and _MATHS.match(one.name)]
    for fate, ending in (
        (Fate.MISSING, "and no copy is installed"),
        (Fate.NOT_SEARCHED, "and does not look where it is installed"),
    ):
        found = [one for one in late if needed.fate_of(case, one) is fate]
        if found:
            text = f"{{framework}} opens {{libraries}} when first used, {ending}"
            names = and_more(one.name for one in found)
            return slows(strong(text, *map(saw_search, found[:2]), libraries=names))
    return None


def cuda_found(case: Case) -> Finding | None:
    """What rules it out."""
    missing = () if needed.outdated(case, needed.of_cuda) else (Fate.MISSING,)
    return (
        None
        if parts_lost(case)
        else needed.none_lost(case, needed.of_cuda, Fate.NOT_SEARCHED, *missing)
    )


# ---------------------------------------------------------------- symbols that are not defined


def _clashes(case: Case, other_copy: bool) -> tuple[LoadTree, loads.UnmetSymbol] | None:
    """A symbol that one CUDA library, cuDNN apart, asks another one for in vain; whether another
    whole copy of that one is installed tells whether they are mixed, or the only one is too old.
    """
    tree = needed.tree_of(case)
    if isinstance(tree, Finding):
        return None
    for one in tree.unmet:
        if not is_cudnn(base_name(one.provider)) and bool(_rivals(case, one)) == other_copy:
            return tree, one
    return None


def _rivals(case: Case, unmet: loads.UnmetSymbol) -> list[LibraryCopy]:
    """Other whole copies of the library that lacks the symbols, the environment's own first."""
    found = [one for one in copies_of(case.facts) if one.name == base_name(unmet.provider)]
    same = (one.real for one in found if unmet.provider in (one.path, one.real))
    taken = {unmet.provider, next(same, unmet.provider)}
    others = [one for one in found if taken.isdisjoint((one.path, one.real))]
    whole = [one for one in others if not needed.flawed(one)]
    return sorted(whole, key=lambda one: not needed.at_home(case, one.path))


def _unmet(case: Case, tree: LoadTree, unmet: loads.UnmetSymbol) -> Finding:
    """Who asks, for which symbol, and which copy does not have it."""
    asker, winner = (needed.loaded_at(tree, path) for path in (unmet.library, unmet.provider))
    several = f" and {unmet.count - 1} more" if unmet.count > 1 else ""
    verb = "import of" if case.framework.name in LINKED else "loading of"
    version = value_or(asker.version, "") if asker else ""
    return proof(
        "{library} needs {symbol}" + several + " from {provider}; {path}"
        f"{', found by {how},' if winner else ''} does not define {'them' if several else 'it'}, "
        f"so the {verb} {{framework}} fails",
        *(saw_loaded(one) for one in (asker, winner) if one),
        *map(saw_lost, _rivals(case, unmet)[:2]),
        library=f"{base_name(unmet.library)} {version}".rstrip(),
        symbol=unmet.symbols[0],
        provider=base_name(unmet.provider),
        path=unmet.provider,
        how=how(winner.found) if winner else "",
    )


# ---------------------------------------------------------------- cuda.version_mismatch

_NUMBERED = re.compile(r"(?i)(?:cudart|cublas|cublasLt|nvrtc)64_(\d+)(?:_\d+)?\.dll$")
"""DLLs whose own release has the major number of their CUDA."""


def too_old_for_its_users(case: Case) -> Finding | None:
    """The only copy of a library lacks functions that another loaded library asks it for."""
    found = _clashes(case, other_copy=False)
    return _unmet(case, *found) if found else None


def renamed(case: Case) -> Finding | None:
    """Windows: a DLL under the name that is asked for, whose resources name another CUDA."""
    for need in needed.required(case, needed.of_cuda):
        asked = _NUMBERED.match(need.name)
        path = value_or(need.path, "") if asked else ""
        copy = needed.copy_at(case.facts, path) if path else None
        version = value_or(copy.version, "") if copy else ""
        has = numbers(version)[:1]
        if asked and copy and has and has[0] != _major(int(asked[1])):
            text = (
                "{framework} opens {library}, and the file of that name is {version}: it was "
                "renamed, and lacks functions or has others"
            )
            seen = saw(f"{need.name} {version}", Source("file", copy.path))
            return proof(text, seen, library=need.name, version=version)
    return None


def _major(number: int) -> int:
    """10 of cudart64_101 and cublas64_10, 11 of cudart64_110, 12 of cudart64_12."""
    return number // 10 if number >= 70 else number


def cuda_fits(case: Case) -> Finding | None:
    """What rules it out."""
    tree = needed.tree_of(case)
    if isinstance(tree, Finding):
        return tree
    if _clashes(case, other_copy=False) or renamed(case):
        return None
    return needed.none_lost(case, needed.of_cuda, Fate.OTHER_VERSION)


# ---------------------------------------------------------------- cuda.mixed_libraries


def symbols_unmet(case: Case) -> Finding | None:
    """The copy that is loaded lacks functions which another library needs; another copy exists."""
    found = _clashes(case, other_copy=True)
    return _unmet(case, *found) if found else None


def pair_torn_apart(case: Case) -> Finding | None:
    """cuBLAS of one release over cublasLt of another."""
    tree = needed.gpu_tree(case)
    pair = None if isinstance(tree, Finding) else needed.torn_pair(tree)
    if pair is None:
        return None
    blas, light = pair
    return strong(
        "{framework} loads {blas} {blas_version} and {light} {light_version}, found by {how}; the "
        "two must be of one release",
        *map(saw_loaded, pair),
        blas=blas.name,
        blas_version=value_or(blas.version, ""),
        light=light.name,
        light_version=value_or(light.version, ""),
        how=how(light.found),
    )


def older_copy_selected(case: Case) -> Finding | None:
    """An older file than the framework's own wheels brought is what is loaded."""
    tree = needed.gpu_tree(case)
    pair = None if isinstance(tree, Finding) else needed.older_selected(case, tree)
    if pair is None:
        return None
    one, own = pair
    built = value_or(case.framework.built_for_cuda, "")
    theirs = needed.generation(value_or(one.owner, None), one.path)
    foreign = theirs and numbers(built)[:1] != (theirs,)
    found = (strong if foreign else weak)(
        "{framework}, built for CUDA {cuda}, loads {library} {version}"
        f"{f' of CUDA {theirs}' if theirs else ''}, found by {{how}}; its own {{own}} is passed "
        "over",
        saw_loaded(one),
        saw_lost(own),
        cuda=built,
        library=one.name,
        version=value_or(one.version, ""),
        how=how(one.found),
        own=value_or(own.version, ""),
    )
    return slows(found) if foreign else found


def one_of_each(case: Case) -> Finding | None:
    """What rules it out."""
    tree = needed.tree_of(case)
    if isinstance(tree, Finding):
        return tree
    mixed = needed.torn_pair(tree) or needed.older_selected(case, tree)
    if mixed or _clashes(case, other_copy=True):
        return None
    return against("all symbols are met that the loaded libraries ask of each other")


# ---------------------------------------------------------------- cudnn.missing


def part_missing(case: Case) -> Finding | None:
    """libcudnn is found, and a part that it opens by itself is not: not copied whole."""
    tree = needed.tree_of(case)
    if isinstance(tree, Finding) or (cudnn := needed.cudnn_of(tree)) is None:
        return None
    facts = case.facts
    deleted = {base_name(one.path) for one in value_or(facts.installs.damage, ())}
    gone = [one for one in needed.missing_parts(tree) if one.name not in deleted]
    gone = [one for one in gone if not one.not_cached and not needed.taken_part(facts, one)]
    if not gone:
        return None
    text = "{framework} loads {path}, which opens {parts} when used; none is found"
    seen, parts = (saw_loaded(cudnn), saw_search(gone[0])), and_more(one.name for one in gone)
    return strong(text, *seen, path=cudnn.path, parts=parts)


def cudnn_found(case: Case) -> Finding | None:
    """What rules it out."""
    if part_missing(case):
        return None
    return needed.none_lost(case, needed.of_cudnn, Fate.MISSING, Fate.NOT_SEARCHED)


# ---------------------------------------------------------------- cudnn.version_mismatch


def wrong_cudnn_loaded(case: Case) -> Finding | None:
    """The loaded cuDNN against the one compiled with, by the framework's own rule."""
    tree = needed.gpu_tree(case)
    if isinstance(tree, Finding) or (cudnn := needed.cudnn_of(tree)) is None:
        return None
    found = needed.versions(needed.parts_of(tree))
    if len(found) > 1:
        return against("its parts are of different versions: {versions}", versions=tuple(found))
    one = needed.reporter(tree) or cudnn
    version, built = needed.short(one.version.need() or ""), _built(case)
    law = rule(case.framework.name, case.framework.version)
    fit = fits(law.needs if law else "same major", built.need() or "", version)
    if fit is None:
        reason = f"which minor version of cuDNN {case.named} was compiled with is not known"
        raise Undetermined(Unknown(reason))
    values = {"built": value_or(built, ""), "version": version}
    if fit:
        return against("cuDNN {version} is loaded, which fits a build with {built}", **values)
    return proof(
        "{framework} was compiled with cuDNN {built} and needs {wanted}; {version} is loaded, "
        "found by {how}",
        saw_loaded(one),
        saw(f"compiled with cuDNN {values['built']}", built),
        *map(saw_lost, needed.own_copies(case, one)[:2]),
        *((table(law.text, law.source),) if law else ()),
        wanted=_wanted(values["built"], law),
        how=how(one.found),
        **values,
    )


def _built(case: Case) -> Fact[str]:
    """What the release states, or the row that knows its minor version too."""
    said = case.framework.built_for_cudnn
    row = compiled(case.framework.name, case.framework.version)
    vague = isinstance(said, Unknown) or (isinstance(said, Known) and len(numbers(said.value)) < 2)
    if row and vague:
        return Known(row.cudnn, Source("know", row.source.where, row.source.detail))
    return said


def _wanted(built: str, law: Rule | None) -> str:
    kind, minor = law.needs if law else "same major", major_minor(built)
    if kind == "same minor":
        return minor
    major = str(numbers(built)[0])
    return f"{minor} or a newer {major}" if kind == "minor or newer" else f"a cuDNN {major}"


def cudnn_symbols_unmet(case: Case) -> Finding | None:
    """The framework asks this cuDNN for functions that it does not have."""
    tree = needed.tree_of(case)
    unmet = () if isinstance(tree, Finding) else tree.unmet
    bad = next((one for one in unmet if is_cudnn(base_name(one.provider))), None)
    if bad is None or isinstance(tree, Finding):
        return None
    same = (one for one in tree.libraries if one.name == base_name(bad.provider))
    more = f" and {bad.count - 1} more" if bad.count > 1 else ""
    return proof(
        f"{{library}} needs {{symbol}}{more}, which {{path}} does not define",
        *map(saw_loaded, same),
        library=base_name(bad.library),
        symbol=bad.symbols[0],
        path=bad.provider,
    )


def _refused(case: Case) -> bool:
    """Whether the framework refuses the loaded cuDNN as a whole."""
    for sign in (wrong_cudnn_loaded, cudnn_symbols_unmet):
        with suppress(Undetermined):
            found = sign(case)
            if found and found.weight is Weight.PROOF:
                return True
    return False


def no_other_cudnn(case: Case) -> Finding | None:
    """What rules it out before any version is compared."""
    tree = needed.gpu_tree(case)
    if isinstance(tree, Finding):
        return tree
    loaded = needed.cudnn_of(tree)
    return None if loaded else needed.none_lost(case, needed.of_cudnn, Fate.OTHER_VERSION)


# ---------------------------------------------------------------- cudnn.mixed_libraries

_BUNDLED = re.compile(r"\.libs/libcudnn-[0-9a-f]{8}\.so[^/]*$")
"""libcudnn as auditwheel puts it into a package, under a name that no other part asks for."""


def parts_differ(case: Case) -> Finding | None:
    """Sub-libraries of several releases: no engine is found, or the process aborts."""
    tree = needed.gpu_tree(case)
    if isinstance(tree, Finding):
        return tree
    cudnn, parts = needed.cudnn_of(tree), needed.parts_of(tree)
    if cudnn is None:
        return against("{framework} loads no cuDNN")
    found = needed.versions(parts)
    if len(found) > 1:
        other = next(one for one in parts if needed.versions([one]) != found[:1])
        return proof(
            "{framework} loads {first} {first_version}, found by {first_how}, and {other} "
            "{other_version}, found by {other_how}; all cuDNN files must have the same version",
            saw_loaded(parts[0]),
            saw_loaded(other),
            **_pair(parts[0], other),
        )
    version = cudnn.version
    if parts and isinstance(version, Known) and needed.short(version.value) != found[0]:
        return _cudnn_apart(case, cudnn, parts[0])
    version.need()
    return against("libcudnn and its parts are of one version")


def _pair(first: LoadedLibrary, other: LoadedLibrary) -> dict[str, str]:
    return {
        "first": first.name,
        "first_version": needed.versions([first])[0],
        "first_how": how(first.found),
        "other": other.name,
        "other_version": needed.versions([other])[0],
        "other_how": how(other.found),
    }


def _cudnn_apart(case: Case, cudnn: LoadedLibrary, part: LoadedLibrary) -> Finding:
    """All parts of one release under a libcudnn of another: it runs, as nobody has tested it."""
    values = _pair(cudnn, part)
    if _refused(case):
        text = "every part is cuDNN {other_version}, which this framework refuses as a whole"
        return against(text, **values)
    if _BUNDLED.search(cudnn.path):
        text = "{framework} brings libcudnn {first_version}; its parts are all {other_version}"
        return against(text, **values)
    found = strong(
        "{framework} loads libcudnn {first_version}, found by {first_how}, and all its parts "
        "{other_version}, found by {other_how}: a mixture that prints no error before the first "
        "convolution",
        saw_loaded(cudnn),
        saw_loaded(part),
        **values,
    )
    return slows(found)


# ---------------------------------------------------------------- cudnn.dependency_missing


def cudnn_need_missing(case: Case) -> Finding | None:
    """What a loaded cuDNN library asks for in vain; the driver's libcuda is judged elsewhere."""
    tree = needed.gpu_tree(case)
    if isinstance(tree, Finding):
        return tree
    cudnn = needed.cudnn_of(tree)
    if cudnn is None or _refused(case):
        return against("{framework} loads no cuDNN, or refuses this one as a whole")
    gone = _gone(case, tree)
    if not gone:
        whole = against("everything that cuDNN alone needs is found")
        return _of_another_wheel(case, cudnn) or whole
    first = gone[0]
    if first.name == ZLIB_DLL:
        return _no_zlib(first, cudnn)
    theirs, own = numbers(cuda_of(first.name))[:1], _own_cuda(case)
    belongs = ", which belongs to CUDA {cuda}" if theirs and own and theirs != own else ""
    ending = "{refused} cannot be loaded ({flaw})"
    ending = "the loader finds none" if first.outcome is loads.Outcome.NOT_THERE else ending
    return proof(
        f"{{framework}} loads cuDNN, whose {{file}} needs {{libraries}}{belongs}; {ending}",
        saw_search(first),
        saw_loaded(cudnn),
        *map(saw_lost, [one for one in copies_of(case.facts) if one.name == first.name][:2]),
        file=base_name(first.needed_by),
        libraries=and_more(one.name for one in gone),
        cuda=cuda_of(first.name),
        refused=first.refused,
        flaw=first.flaw.value,
    )


def _gone(case: Case, tree: LoadTree) -> list[MissingLibrary]:
    """Each once; what the framework itself misses too is said there."""
    said = {one.name for one in needed.required(case) if not isinstance(one.path, Known)}
    found: dict[str, MissingLibrary] = {}
    for one in tree.missing:
        cudnns = is_cudnn(base_name(one.needed_by)) and not is_cudnn(one.name)
        if cudnns and not needed.is_drivers(one.name) and one.name not in said:
            found.setdefault(one.name, one)
    return list(found.values())


def _no_zlib(missing: MissingLibrary, cudnn: LoadedLibrary) -> Finding:
    """cuDNN 8.3 to 8.9 on Windows opens zlib's DLL at a convolution, and ends without it."""
    lacks = "none of the folders of the DLL search holds it"
    if missing.refused:
        lacks = "{refused}, the one that is found, cannot be loaded ({flaw})"
    return strong(
        f"{{framework}} loads cuDNN {{version}}, which opens {ZLIB_DLL} by name at a convolution; "
        f"{lacks}, and cuDNN then ends the program",
        saw_loaded(cudnn),
        saw_search(missing),
        table("cuDNN 8.3 to 8.9 for Windows needs it", ZLIB),
        version=needed.short(value_or(cudnn.version, "")),
        refused=missing.refused,
        flaw=missing.flaw.value,
    )


def _of_another_wheel(case: Case, cudnn: LoadedLibrary) -> Finding | None:
    """The wheel's cuDNN is of another CUDA, and the cuBLAS that it opens by name is missing."""
    owner, own = value_or(cudnn.owner, None), next(iter(_own_cuda(case)), None)
    named = re.fullmatch(r"nvidia-cudnn-cu(\d+)", owner.name) if owner else None
    releases = case.facts.environment.releases
    if owner is None or named is None or own is None:
        return None
    if int(named[1]) == own or f"nvidia-cudnn-cu{own}" in releases:
        return None
    library = f"libcublasLt.so.{named[1]}"
    if any(copy.name == library for copy in case.facts.libraries.copies.need() or ()):
        return None
    return strong(
        "{framework} is built for CUDA {cuda} and loads the cuDNN of {wheel}: it opens {library} "
        "at its first use; there is none",
        saw_loaded(cudnn),
        saw(str(owner), Source("file", cudnn.path)),
        cuda=own,
        wheel=owner.name,
        library=library,
    )


def _own_cuda(case: Case) -> tuple[int, ...]:
    return numbers(value_or(case.framework.built_for_cuda, ""))[:1]


def _signs(cause: str, *signs: Sign) -> tuple[Row, ...]:
    return rows(cause, "framework", *_of_needs(cause), *signs)


SIGNS = (
    *_signs("cuda.missing_library", parts_lost, cuda_found),
    *_signs("cuda.version_mismatch", renamed, too_old_for_its_users, cuda_fits),
    *_signs("cuda.mixed_libraries", symbols_unmet, pair_torn_apart, older_copy_selected),
    *_signs("cuda.mixed_libraries", one_of_each),
    *_signs("cudnn.missing", part_missing, cudnn_found),
    *_signs("cudnn.version_mismatch", wrong_cudnn_loaded, cudnn_symbols_unmet, no_other_cudnn),
    *_signs("cudnn.mixed_libraries", parts_differ),
    *_signs("cudnn.dependency_missing", cudnn_need_missing),
)
