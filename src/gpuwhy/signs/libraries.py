"""CUDA and cuDNN libraries: found, of the right version, of one release, whole."""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

from gpuwhy.facts import loads
from gpuwhy.facts.fact import Fact, Known, Source, Undetermined, Unknown, value_or
from gpuwhy.facts.finding import Finding, Weight, saw
from gpuwhy.facts.libraries import LibraryCopy
from gpuwhy.facts.loads import Fate, LoadTree, MissingLibrary, NeededLibrary
from gpuwhy.facts.version import major_minor, numbers
from gpuwhy.knowledge.cudnn_rules import compiled, fits, rule
from gpuwhy.knowledge.flaws import lost_folder
from gpuwhy.knowledge.installs import PRELOADS, preload_call
from gpuwhy.knowledge.libraries import cuda_of, is_cudnn
from gpuwhy.knowledge.platforms import ZLIB, ZLIB_DLL
from gpuwhy.signs import needed, say
from gpuwhy.signs.case import Case, Row, Sign, rows
from gpuwhy.signs.driver_library import how
from gpuwhy.signs.expect import LINKED, installed, is_image
from gpuwhy.signs.needed import copies_of, lost, saw_file, saw_loaded, saw_lost, saw_search
from gpuwhy.signs.say import and_more, base_name

# ---------------------------------------------------------------- libraries that are not found


def _missing(case: Case, needs: Sequence[NeededLibrary]) -> Finding:
    """No copy on the machine."""
    facts = case.facts
    verb = "fails to import without" if case.framework.name in LINKED else "opens"
    are = "they are" if len(needs) > 1 else "it is"
    where = "in this image" if is_image(facts) else "on this machine"
    text = f"{case.named} {verb} {and_more(one.name for one in needs)}; {are} not {where}"
    dated = [one for one in needs if one.other_versions][:1]
    for one in dated:
        text += f"; {base_name(one.other_versions[0])} is, and cannot replace {one.name}"
    return say.sure(isinstance(facts.variables.variables, Known))(
        text,
        *map(saw_search, needs[:3]),
        *(saw_file(facts, one.other_versions[0]) for one in dated),
        *needed.saw_variables(case),
    )


def _not_searched(case: Case, needs: Sequence[NeededLibrary]) -> Finding:
    """In the framework's own environment, and in no folder that it searches."""
    first, one = needs[0], case.framework
    are, it = ("are", "them") if len(needs) > 1 else ("is", "it")
    text = (
        f"{and_more(need.name for need in needs)} {are} installed, but not where {one.title} looks "
        f"for {it}: {base_name(first.needed_by)} opens {first.name}, and no folder searched holds "
        "it"
    )
    evidence = [saw_file(case.facts, needed.usable(case, need)[0]) for need in needs[:3]]
    evidence.append(saw_search(first))
    call = preload_call(one.name, one.version)
    torch = any(other.name == "torch" for other in installed(case.facts))
    if call or (one.name in PRELOADS and torch):  # torch opens them for everybody
        calls = f"calls {call} or " if call else ""
        text += f", unless the program {calls}imports another framework first"
        return say.weak(text, *evidence, framework=one.title)
    if row := lost_folder(one.name, one.version, first.name):
        evidence.append(say.table(row.text, row.source))
    return say.proof(text, *evidence, framework=one.title)


def _other_version(case: Case, needs: Sequence[NeededLibrary]) -> Finding:
    """Only another SONAME is installed, and what the two names date."""
    dated = [one for one in needs[:3] if one.other_versions]
    others = dict.fromkeys(base_name(path) for one in dated for path in one.other_versions)
    built = value_or(case.framework.built_for_cuda, "")
    for_cuda = f" is built for CUDA {built} and" if built and not is_cudnn(needs[0].name) else ""
    opens = f"{case.named}{for_cuda} opens {and_more(one.name for one in needs)}"
    return say.proof(
        f"{opens}; only {say.listed(list(others))} is installed",
        saw_search(needs[0]),
        *(saw_file(case.facts, one.other_versions[0]) for one in dated),
        cuda=built,
    )


class Need(NamedTuple):
    """A cause, the libraries and the fate by which it is seen, and how it is said."""

    cause: str
    pick: needed.Pick
    fate: Fate
    say: Callable[[Case, Sequence[NeededLibrary]], Finding]


NEEDS = (
    Need("cudnn.missing", is_cudnn, Fate.MISSING, _missing),
    Need("cudnn.missing", is_cudnn, Fate.NOT_SEARCHED, _not_searched),
    Need("cudnn.version_mismatch", is_cudnn, Fate.OTHER_VERSION, _other_version),
    Need("cuda.missing_library", needed.of_cuda, Fate.MISSING, _missing),
    Need("cuda.missing_library", needed.of_cuda, Fate.NOT_SEARCHED, _not_searched),
    Need("cuda.version_mismatch", needed.of_cuda, Fate.OTHER_VERSION, _other_version),
)


def _of_need(row: Need) -> Sign:
    """CUDA is one toolkit: where its libraries are missing in part and of another version in part,
    the fate of most of them decides. cuDNN is judged by itself.
    """

    def sign(case: Case) -> Finding | None:
        if row.pick is is_cudnn or row.fate is Fate.NOT_SEARCHED:
            found = lost(case, row.pick, row.fate)
        else:
            dated = needed.outdated(case, needed.of_cuda)
            mine = dated == (row.fate is Fate.OTHER_VERSION)
            found = lost(case, needed.of_cuda, Fate.MISSING, Fate.OTHER_VERSION) if mine else []
            found.sort(key=lambda one: needed.fate_of(case, one) is not row.fate)
        return row.say(case, found) if found else None

    return sign


# ---------------------------------------------------------------- cuda.missing_library


def cuda_found(case: Case) -> Finding | None:
    """What rules it out."""
    missing = () if needed.outdated(case, needed.of_cuda) else (Fate.MISSING,)
    return needed.none_lost(case, needed.of_cuda, Fate.NOT_SEARCHED, *missing)


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


def _unmet(case: Case, other_copy: bool) -> Finding | None:
    """Who asks, for which symbol, and which copy does not have it."""
    found = _clashes(case, other_copy)
    if found is None:
        return None
    tree, unmet = found
    by_name = {one.name: one for one in reversed(tree.libraries)}
    by_path = {one.path: one for one in tree.libraries}
    both = (unmet.library, unmet.provider)
    asker, winner = (by_path.get(path) or by_name.get(base_name(path)) for path in both)
    several = f" and {unmet.count - 1} more" if unmet.count > 1 else ""
    verb = "import of" if case.framework.name in LINKED else "loading of"
    version = value_or(asker.version, "") if asker else ""
    library = f"{base_name(unmet.library)} {version}".rstrip()
    found_by = f", found by {how(winner.found)}," if winner else ""
    return say.proof(
        f"{library} needs {unmet.symbols[0]}{several} from {base_name(unmet.provider)}; "
        f"{unmet.provider}{found_by} does not define {'them' if several else 'it'}, so the {verb} "
        f"{case.named} fails",
        *(saw_loaded(one) for one in (asker, winner) if one),
        *map(saw_lost, _rivals(case, unmet)[:2]),
    )


# ---------------------------------------------------------------- cuda.version_mismatch

_NUMBERED = re.compile(r"(?i)(?:cudart|cublas|cublasLt|nvrtc)64_(\d+)(?:_\d+)?\.dll$")
"""DLLs whose own release has the major number of their CUDA."""


def too_old_for_its_users(case: Case) -> Finding | None:
    """The only copy of a library lacks functions that another loaded library asks it for."""
    return _unmet(case, other_copy=False)


def renamed(case: Case) -> Finding | None:
    """Windows: a DLL under the name that is asked for, whose resources name another CUDA."""
    for need in needed.required(case, needed.of_cuda):
        asked = _NUMBERED.match(need.name)
        path = value_or(need.path, "") if asked else ""
        copy = needed.copy_at(case.facts, path) if path else None
        version = value_or(copy.version, "") if copy else ""
        if not asked or not copy or not numbers(version):
            continue
        number = int(asked[1])  # 101 of cudart64_101 is CUDA 10.1, 12 of cudart64_12 CUDA 12
        if numbers(version)[0] != (number // 10 if number >= 70 else number):
            text = (
                f"{case.named} opens {need.name}, and the file of that name is {version}: it was "
                "renamed, and lacks functions or has others"
            )
            return say.proof(text, saw(f"{need.name} {version}", Source("file", copy.path)))
    return None


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
    return _unmet(case, other_copy=True)


def pair_torn_apart(case: Case) -> Finding | None:
    """cuBLAS of one release over cublasLt of another."""
    tree = needed.gpu_tree(case)
    pair = None if isinstance(tree, Finding) else needed.torn_pair(tree)
    if pair is None:
        return None
    blas, light = (f"{one.name} {value_or(one.version, '')}" for one in pair)
    return say.strong(
        f"{case.named} loads {blas} and {light}, found by {how(pair[1].found)}; the two must be of "
        "one release",
        *map(saw_loaded, pair),
    )


def one_of_each(case: Case) -> Finding | None:
    """What rules it out."""
    tree = needed.tree_of(case)
    if isinstance(tree, Finding):
        return tree
    if needed.torn_pair(tree) or _clashes(case, other_copy=True):
        return None
    return say.against("all symbols are met that the loaded libraries ask of each other")


# ---------------------------------------------------------------- cudnn.missing


def part_missing(case: Case) -> Finding | None:
    """libcudnn is found, and a part that it opens by itself is not: not copied whole."""
    tree = needed.tree_of(case)
    if isinstance(tree, Finding) or (cudnn := needed.cudnn_of(tree)) is None:
        return None
    facts = case.facts
    deleted = {base_name(one.path) for one in value_or(facts.installs.damage, ())}
    gone = [one for one in needed.missing_parts(tree) if one.name not in deleted]
    gone = [one for one in gone if not one.not_cached]
    if not gone:
        return None
    parts = and_more(one.name for one in gone)
    text = f"{case.named} loads {cudnn.path}, which opens {parts} when used; none is found"
    return say.strong(text, saw_loaded(cudnn), saw_search(gone[0]))


def cudnn_found(case: Case) -> Finding | None:
    """What rules it out."""
    if part_missing(case):
        return None
    return needed.none_lost(case, is_cudnn, Fate.MISSING, Fate.NOT_SEARCHED)


# ---------------------------------------------------------------- cudnn.version_mismatch


def wrong_cudnn_loaded(case: Case) -> Finding | None:
    """The loaded cuDNN against the one compiled with, by the framework's own rule."""
    tree = needed.gpu_tree(case)
    if isinstance(tree, Finding) or (cudnn := needed.cudnn_of(tree)) is None:
        return None
    found = needed.versions(needed.parts_of(tree))
    if len(found) > 1:
        return say.against(f"its parts are of different versions: {say.listed(found)}")
    one = needed.reporter(tree) or cudnn
    version, fact = needed.short(one.version.need() or ""), _built(case)
    law = rule(case.framework.name, case.framework.version)
    kind, built = law.needs if law else "same major", fact.need() or ""
    fit = fits(kind, built, version)
    if fit is None:
        reason = f"which minor version of cuDNN {case.named} was compiled with is not known"
        raise Undetermined(Unknown(reason))
    if fit:
        return say.against(f"cuDNN {version} is loaded, which fits a build with {built}")
    minor, major = major_minor(built), numbers(built)[0]
    wants = {"same minor": minor, "minor or newer": f"{minor} or a newer {major}"}
    wanted = wants.get(kind, f"a cuDNN {major}")
    return say.proof(
        f"{case.named} was compiled with cuDNN {built} and needs {wanted}; {version} is loaded, "
        f"found by {how(one.found)}",
        saw_loaded(one),
        saw(f"compiled with cuDNN {built}", fact),
        *map(saw_lost, needed.own_copies(case, one)[:2]),
        *((say.table(law.text, law.source),) if law else ()),
        wanted=wanted,
        how=how(one.found),
        built=built,
        version=version,
    )


def _built(case: Case) -> Fact[str]:
    """What the release states, or the row that knows its minor version too."""
    said = case.framework.built_for_cudnn
    row = compiled(case.framework.name, case.framework.version)
    vague = isinstance(said, Unknown) or (isinstance(said, Known) and len(numbers(said.value)) < 2)
    if row and vague:
        return Known(row.cudnn, Source("know", row.source.where, row.source.detail))
    return said


def cudnn_symbols_unmet(case: Case) -> Finding | None:
    """The framework asks this cuDNN for functions that it does not have."""
    tree = needed.tree_of(case)
    unmet = () if isinstance(tree, Finding) else tree.unmet
    bad = next((one for one in unmet if is_cudnn(base_name(one.provider))), None)
    if bad is None or isinstance(tree, Finding):
        return None
    more = f" and {bad.count - 1} more" if bad.count > 1 else ""
    return say.proof(
        f"{base_name(bad.library)} needs {bad.symbols[0]}{more}, which {bad.provider} does not "
        "define",
        *(saw_loaded(one) for one in tree.libraries if one.name == base_name(bad.provider)),
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
    return None if loaded else needed.none_lost(case, is_cudnn, Fate.OTHER_VERSION)


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
        return say.against(f"{case.named} loads no cuDNN")
    found = needed.versions(parts)
    if len(found) > 1:
        pair = parts[0], next(one for one in parts if needed.versions([one]) != found[:1])
        first, other = (
            f"{one.name} {needed.versions([one])[0]}, found by {how(one.found)}" for one in pair
        )
        return say.proof(
            f"{case.named} loads {first}, and {other}; all cuDNN files must have the same version",
            *map(saw_loaded, pair),
        )
    own = cudnn.version
    if not parts or not isinstance(own, Known) or needed.short(own.value) == found[0]:
        own.need()
        return say.against("libcudnn and its parts are of one version")
    # all parts of one release under a libcudnn of another: it runs, as nobody has tested it
    own_short = needed.short(own.value)
    if _refused(case):
        text = f"every part is cuDNN {found[0]}, which this framework refuses as a whole"
        return say.against(text)
    if _BUNDLED.search(cudnn.path):
        text = f"{case.named} brings libcudnn {own_short}; its parts are all {found[0]}"
        return say.against(text)
    apart = say.strong(
        f"{case.named} loads libcudnn {own_short}, found by {how(cudnn.found)}, and all its parts "
        f"{found[0]}, found by {how(parts[0].found)}: a mixture that prints no error before the "
        "first convolution",
        saw_loaded(cudnn),
        saw_loaded(parts[0]),
    )
    return say.slows(apart)


# ---------------------------------------------------------------- cudnn.dependency_missing


def cudnn_need_missing(case: Case) -> Finding | None:
    """What a loaded cuDNN library asks for in vain; the driver's libcuda is judged elsewhere."""
    tree = needed.gpu_tree(case)
    if isinstance(tree, Finding):
        return tree
    cudnn = needed.cudnn_of(tree)
    if cudnn is None or _refused(case):
        return say.against(f"{case.named} loads no cuDNN, or refuses this one as a whole")
    # each once; what the framework itself misses too is said there
    said = {one.name for one in needed.required(case) if not isinstance(one.path, Known)}
    gone: dict[str, MissingLibrary] = {}
    for one in tree.missing:
        cudnns = is_cudnn(base_name(one.needed_by)) and not is_cudnn(one.name)
        if cudnns and not needed.is_drivers(one.name) and one.name not in said:
            gone.setdefault(one.name, one)
    if not gone:
        return say.against("everything that cuDNN alone needs is found")
    first = next(iter(gone.values()))
    refused = f"{first.refused} cannot be loaded ({first.flaw.value})"
    absent = first.outcome is loads.Outcome.NOT_THERE
    if first.name == ZLIB_DLL:
        # cuDNN 8.3 to 8.9 on Windows opens it at a convolution, and ends without it
        version = needed.short(value_or(cudnn.version, ""))
        lacks = refused if first.refused else "none of the folders of the DLL search holds it"
        return say.strong(
            f"{case.named} loads cuDNN {version}, which opens {ZLIB_DLL} by name at a convolution; "
            f"{lacks}, and cuDNN then ends the program",
            saw_loaded(cudnn),
            saw_search(first),
            say.table("cuDNN 8.3 to 8.9 for Windows needs it", ZLIB),
        )
    cuda = cuda_of(first.name)
    theirs, own = numbers(cuda)[:1], numbers(value_or(case.framework.built_for_cuda, ""))[:1]
    belongs = f", which belongs to CUDA {cuda}" if theirs and own and theirs != own else ""
    return say.proof(
        f"{case.named} loads cuDNN, whose {base_name(first.needed_by)} needs {and_more(gone)}"
        f"{belongs}; {'the loader finds none' if absent else refused}",
        saw_search(first),
        saw_loaded(cudnn),
        *map(saw_lost, [one for one in copies_of(case.facts) if one.name == first.name][:2]),
        cuda=cuda,
    )


def _signs(cause: str, *signs: Sign) -> tuple[Row, ...]:
    of_needs = [_of_need(row) for row in NEEDS if row.cause == cause]
    return rows(cause, "framework", *of_needs, *signs)


SIGNS = (
    *_signs("cuda.missing_library", cuda_found),
    *_signs("cuda.version_mismatch", renamed, too_old_for_its_users, cuda_fits),
    *_signs("cuda.mixed_libraries", symbols_unmet, pair_torn_apart, one_of_each),
    *_signs("cudnn.missing", part_missing, cudnn_found),
    *_signs("cudnn.version_mismatch", wrong_cudnn_loaded, cudnn_symbols_unmet, no_other_cudnn),
    *_signs("cudnn.mixed_libraries", parts_differ),
    *_signs("cudnn.dependency_missing", cudnn_need_missing),
)
