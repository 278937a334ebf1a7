"""cudnn.version_mismatch: the cuDNN that gets loaded is not one that the framework accepts."""

from __future__ import annotations

from contextlib import suppress

from msgspec import structs

from gpuwhy.knowledge.cudnn_rules import Needs, Rule, compiled, fits, rule
from gpuwhy.knowledge.installs import brings_libraries, gpu_requirement
from gpuwhy.knowledge.libraries import is_cudnn
from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, know, proof, saw
from gpuwhy.model.fact import Fact, Known, Undetermined, Unknown, value_or
from gpuwhy.model.facts import LibraryCopy, LoadedLibrary, LoadTree
from gpuwhy.model.version import major_minor, numbers
from gpuwhy.rooms.shared import needs, trees
from gpuwhy.rooms.shared.commands import change, python_of
from gpuwhy.rooms.shared.lost import installing
from gpuwhy.rooms.shared.windows import (
    is_torch,
    on_windows,
    out_of_the_way,
    path_first,
    shown,
    toolkit,
    torch_again,
)
from gpuwhy.rooms.shared.winner import folder_of


def another_major(case: Case) -> Finding | None:
    """Only a cuDNN with another SONAME is installed, so of another major version."""
    found = needs.lost(case, needs.is_cudnn, "other version")
    return needs.say_other(case, found) if found else None


def wrong_version_wins(case: Case) -> Finding | None:
    """The loaded cuDNN against the one compiled with, by the framework's own rule."""
    tree = trees.of_gpu(case)
    if isinstance(tree, Finding) or (shim := trees.shim(tree)) is None:
        return None
    versions, one = trees.versions(trees.parts(tree)), trees.reporter(tree) or shim
    if len(versions) > 1:
        return against(f"its parts are of different versions, {' and '.join(versions)}", trees.saw_loaded(one))
    loaded, built, law = trees.short(one.version.need() or ""), _built(case), _rule(case)
    fit = fits(law.needs if law else "same major", built.need() or "", loaded)
    if fit is None:
        raise Undetermined(Unknown(f"which minor version of cuDNN {needs.named(case)} was compiled with is not known"))
    if fit:
        return against(_fitting(built, loaded), trees.saw_loaded(one))
    return _wrong(case, one, built, loaded, law)


def _wrong(case: Case, one: LoadedLibrary, built: Fact[str], loaded: str, law: Rule | None) -> Finding:
    text = f"{needs.named(case)} was compiled with cuDNN {value_or(built, '')} and needs {_wanted(built, law)}; "
    lost = trees.own_copies(case, one)
    return proof(
        f"{text}{loaded} is loaded, found by {trees.how(one)}",
        trees.saw_loaded(one),
        saw(f"compiled with cuDNN {value_or(built, '')}", built),
        *(trees.saw_lost(copy) for copy in lost[:2]),
        *((know(law.text, law.source),) if law else ()),
    )


def symbols_unmet(case: Case) -> Finding | None:
    """The framework asks this cuDNN for functions that it does not have."""
    tree = trees.of(case)
    if isinstance(tree, Finding):
        return None
    bad = next((u for u in tree.unmet if is_cudnn(needs.base_name(u.provider))), None)
    if bad is None:
        return None
    more = f" and {bad.count - 1} more" if bad.count > 1 else ""
    return proof(
        f"{needs.base_name(bad.library)} needs {bad.symbols[0]}{more}, which {bad.provider} does not define",
        *(trees.saw_loaded(one) for one in tree.libraries if one.name == needs.base_name(bad.provider)),
    )


def refused(case: Case) -> bool:
    """Whether the framework refuses the cuDNN that wins as a whole: what is wrong with its parts is told by that."""
    for sign in (wrong_version_wins, symbols_unmet):
        with suppress(Undetermined):  # which cuDNN it was compiled with is not known: then nothing is refused
            found = sign(case)
            if found and found.weight == "proof":
                return True
    return False


def nothing_else(case: Case) -> Finding | None:
    """What rules it out before any version is compared."""
    tree = trees.of_gpu(case)
    if isinstance(tree, Finding):
        return tree
    if trees.shim(tree) is None and not needs.lost(case, needs.is_cudnn, "other version"):
        return needs.nothing_lost(case, needs.is_cudnn, "other version")
    return None


def _rule(case: Case) -> Rule | None:
    return rule(needs.the(case).name, needs.the(case).version)


def _built(case: Case) -> Fact[str]:
    """What the release says, or the row that knows its minor version too."""
    said = needs.the(case).built_for_cudnn
    row = compiled(needs.the(case).name, needs.the(case).version)
    vague = isinstance(said, Unknown) or (isinstance(said, Known) and len(numbers(said.value)) < 2)
    return Known(row.cudnn, row.source) if row and vague else said


def _wanted(built: Fact[str], law: Rule | None) -> str:
    version, kind = value_or(built, ""), law.needs if law else "same major"
    major, minor = str(numbers(version)[0]), major_minor(version)
    words: dict[Needs, str] = {
        "minor or newer": f"{minor} or a newer {major}",
        "same minor": minor,
        "same major": f"a cuDNN {major}",
    }
    return words[kind]


def _fitting(built: Fact[str], loaded: str) -> str:
    return f"cuDNN {loaded} is loaded, which fits a build with {value_or(built, '')}"


def fixes(case: Case) -> tuple[Fix, ...]:
    """Let the framework's own copy win, or install it."""
    if on_windows(case.facts) and (mended := _on_windows(case)):
        return mended
    fix = [*_own_copy_first(case), *installing(case, needs.is_cudnn)]
    framework, facts = needs.the(case), case.facts
    if not installing(case, needs.is_cudnn) and brings_libraries(framework.name, framework.version):
        major = numbers(value_or(framework.built_for_cuda, ""))[:1]
        cuda = major[0] if major else None
        wanted = gpu_requirement(framework.name, framework.distribution, framework.version, cuda, python_of(facts))
        text = "Install the cuDNN that this release asks for"
        asked = change(facts, text, wanted, because_of=framework.distribution)
        fix.append(torch_again(framework) if is_torch(facts, framework) else asked)
    return tuple(fix) or (_by_hand(case),)


def _on_windows(case: Case) -> tuple[Fix, ...]:
    """Where a wrong copy wins: out of the way with it, the right one before it, or the right one brought."""
    tree: LoadTree | Finding = trees.of_gpu(case)
    one = None if isinstance(tree, Finding) else trees.reporter(tree)
    if one is None or needs.lost(case, needs.is_cudnn, "other version") or is_torch(case.facts, needs.the(case)):
        return ()
    away, right = out_of_the_way(one), _right_copies(case, one)
    if away and right:
        return (away,)
    if right:
        return (path_first("Put the right copy's folder first on PATH, in this window", (folder_of(right[0].path),)),)
    bring = toolkit(case.facts, needs.the(case), cuda=False, cudnn=True)
    old = [structs.replace(away, role="part")] if away else []
    text = f"Take {shown(folder_of(one.path))} off PATH, or let the new folder stand before it"
    off = [] if away else [Fix(text, role="part")]
    return (*old, structs.replace(bring[0], role="part"), *off, *bring[1:])


def _right_copies(case: Case, winner: LoadedLibrary) -> list[LibraryCopy]:
    """Other whole copies of that library, of a version that this framework accepts."""
    law, built = _rule(case), value_or(_built(case), "")
    copies = [c for c in value_or(case.facts.libraries.copies, ()) if c.name.lower() == winner.name.lower()]
    others = [c for c in trees.healthy(copies) if winner.path.lower() not in (c.path.lower(), c.real.lower())]
    kind = law.needs if law else "same major"
    return [c for c in others if fits(kind, built, trees.short(value_or(c.version, "")))]


def _own_copy_first(case: Case) -> tuple[Fix, ...]:
    tree: LoadTree | Finding = trees.of_gpu(case)
    one = None if isinstance(tree, Finding) else trees.reporter(tree)
    if one is None:
        return ()
    right = trees.healthy(trees.own_copies(case, one))
    return trees.let_win(case, one, right[0].path.rpartition("/")[0] if right else "")


def _by_hand(case: Case) -> Fix:
    wanted = _wanted(_built(case), _rule(case)) if numbers(value_or(_built(case), "")) else "the version asked for"
    return Fix(f"Install cuDNN {wanted} beside CUDA {value_or(needs.the(case).built_for_cuda, '')}, and have it found")


CAUSE = Cause(
    id="cudnn.version_mismatch",
    title="the cuDNN version is not the one that the framework was built for",
    signs=(another_major, wrong_version_wins, symbols_unmet, nothing_else),
    fixes=fixes,
    scope="framework",
    effect="{subject} gets a cuDNN that it does not accept",
)
