"""Clashes between loaded CUDA libraries: symbols unmet, pairs torn apart, another generation's copy in front."""

from __future__ import annotations

from gpuwhy.knowledge.flavours import library_wheel
from gpuwhy.knowledge.libraries import is_cudnn, parse, stem
from gpuwhy.model.cause import Case, Finding, proof
from gpuwhy.model.expect import LINKED
from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import LibraryCopy, LoadedLibrary, LoadTree, UnmetSymbol
from gpuwhy.model.version import major_minor, numbers
from gpuwhy.rooms.shared import needs, trees


def clashes(case: Case, other_copy: bool) -> list[UnmetSymbol]:
    """Unmet symbols between CUDA libraries (cuDNN apart) whose provider has, or has not, another copy here."""
    tree = trees.of(case)
    if isinstance(tree, Finding):
        return []
    unmet = [u for u in tree.unmet if not is_cudnn(needs.base_name(u.provider))]
    return [u for u in unmet if bool(rivals(case, u)) == other_copy]


def rivals(case: Case, unmet: UnmetSymbol) -> list[LibraryCopy]:
    """Other healthy copies of the library that lacks the symbols, the framework's own environment first."""
    name = needs.base_name(unmet.provider)
    found = [c for c in value_or(case.facts.libraries.copies, ()) if c.name == name]
    winner = next((c.real for c in found if unmet.provider in (c.path, c.real)), unmet.provider)
    others = [c for c in trees.healthy(found) if c.real != winner and unmet.provider not in (c.path, c.real)]
    return sorted(others, key=lambda c: not needs.at_home(case, c.path))


def loaded_at(case: Case, path: str) -> LoadedLibrary | None:
    """The entry of this framework's tree for a file."""
    tree = trees.of(case)
    if isinstance(tree, Finding):
        return None
    same = [one for one in tree.libraries if one.name == needs.base_name(path)]
    return next((one for one in same if one.path == path), same[0] if same else None)


def say_unmet(case: Case, unmet: UnmetSymbol) -> Finding:
    """Who asks, for which symbol, and which copy does not have it."""
    asker, winner = loaded_at(case, unmet.library), loaded_at(case, unmet.provider)
    more = f" and {unmet.count - 1} more" if unmet.count > 1 else ""
    who = needs.base_name(unmet.library) + (f" {v}" if asker and (v := value_or(asker.version, "")) else "")
    verb = "import of" if needs.the(case).name in LINKED else "loading of"
    how = f", found by {trees.how(winner)}," if winner else ""
    return proof(
        f"{who} needs {unmet.symbols[0]}{more} from {needs.base_name(unmet.provider)}; {unmet.provider}{how} does not "
        f"define {'them' if more else 'it'}, so the {verb} {needs.named(case)} fails",
        *(trees.saw_loaded(one) for one in (asker, winner) if one),
        *(trees.saw_lost(copy) for copy in rivals(case, unmet)[:2]),
    )


def torn_pair(tree: LoadTree) -> tuple[LoadedLibrary, LoadedLibrary] | None:
    """cuBLAS and its cublasLt, when they are not of one release."""
    for blas in tree.libraries:
        if stem(blas.name) != "cublas":
            continue
        light = next((x for x in tree.libraries if x.name == blas.name.replace("cublas", "cublasLt")), None)
        if light and isinstance(blas.version, Known) and isinstance(light.version, Known):
            left, right = trees.short(blas.version.value), trees.short(light.version.value)
            if left != right and folder(blas) != folder(light):
                return blas, light
    return None


def folder(one: LoadedLibrary) -> str:
    """The folder of a loaded file."""
    return one.path.rpartition("/")[0]


def outrun(case: Case, tree: LoadTree) -> tuple[LoadedLibrary, LibraryCopy] | None:
    """A loaded library that is older than the copy which the framework's own wheels brought for its CUDA."""
    major = numbers(value_or(needs.the(case).built_for_cuda, ""))[:1]
    for one in tree.libraries:
        if not isinstance(one.version, Known) or not parse(one.name) or is_cudnn(one.name):
            continue
        for copy in trees.healthy(trees.own_copies(case, one)):
            own = major and generation(value_or(copy.owner, ""), copy.path) == major[0]
            if own and older(one, value_or(copy.version, "")) and _matters(case, one, major[0]):
                return one, copy
    return None


def _matters(case: Case, one: LoadedLibrary, major: int) -> bool:
    """Of another CUDA major always; of the same one when it is older than what the framework was built with."""
    if generation(value_or(one.owner, ""), one.path) not in (0, major):
        return True
    counts_like_cuda = one.name.startswith(("libcudart.", "libcublas", "libnvrtc.", "libnvJitLink."))
    return counts_like_cuda and older(one, major_minor(value_or(needs.the(case).built_for_cuda, "")))


def generation(owner: str, path: str) -> int:
    """The CUDA major that a wheel's file belongs to; 0 when neither its owner nor its folder tells."""
    wheel = library_wheel(owner.split(" ")[0])
    if wheel:
        return wheel[1]
    named = path.rpartition("/nvidia/cu")[2].split("/")[0]
    return int(named) if named.isdigit() else 0


def older(one: LoadedLibrary, than: str) -> bool:
    """Whether a loaded file is older than a version, by the places that both have, three at most."""
    left, right = numbers(value_or(one.version, "")), numbers(than)
    places = min(len(left), len(right), 3)
    return left[:places] < right[:places]
