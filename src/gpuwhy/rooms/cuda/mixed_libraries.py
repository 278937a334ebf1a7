"""cuda.mixed_libraries: two copies of a CUDA library are here, and the wrong one wins."""

from __future__ import annotations

from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, mild, saw, strong, weak
from gpuwhy.model.fact import value_or
from gpuwhy.model.facts import LoadTree
from gpuwhy.model.version import numbers
from gpuwhy.rooms.shared import needs, trees
from gpuwhy.rooms.shared.clash import clashes, folder, generation, loaded_at, outrun, rivals, say_unmet, torn_pair


def symbols_unmet(case: Case) -> Finding | None:
    """The copy that wins lacks functions which another loaded library needs; another copy is there."""
    found = clashes(case, other_copy=True)
    return say_unmet(case, found[0]) if found else None


def pair_torn_apart(case: Case) -> Finding | None:
    """cuBLAS of one release over cublasLt of another."""
    tree = trees.of_gpu(case)
    pair = None if isinstance(tree, Finding) else torn_pair(tree)
    if pair is None:
        return None
    blas, light = pair
    return strong(
        f"{needs.named(case)} loads {blas.name} {value_or(blas.version, '')} and {light.name} "
        f"{value_or(light.version, '')}, found by {trees.how(light)}; the two must be of one release",
        trees.saw_loaded(blas),
        trees.saw_loaded(light),
    )


def older_copy_wins(case: Case) -> Finding | None:
    """Same name, older file: of another CUDA generation it was never tested together; of the same one it may do."""
    tree = trees.of_gpu(case)
    pair = None if isinstance(tree, Finding) else outrun(case, tree)
    if pair is None:
        return None
    one, own = pair
    built, theirs = value_or(needs.the(case).built_for_cuda, ""), generation(value_or(one.owner, ""), one.path)
    text = (
        f"{needs.named(case)}, built for CUDA {built}, loads {one.name} {value_or(one.version, '')}"
        f"{f' of CUDA {theirs}' if theirs else ''}, found by {trees.how(one)}; its own {value_or(own.version, '')} "
        "is passed over"
    )
    evidence = (trees.saw_loaded(one), trees.saw_lost(own))
    foreign = theirs and numbers(built)[:1] != (theirs,)
    return mild(strong(text, *evidence)) if foreign else weak(text, *evidence)


def one_of_each(case: Case) -> Finding | None:
    """What rules it out."""
    tree = trees.of(case)
    if isinstance(tree, Finding):
        return tree
    if clashes(case, other_copy=True) or torn_pair(tree) or outrun(case, tree):
        return None
    text = f"every symbol that the {len(tree.libraries)} loaded libraries ask of each other is there"
    return against(text, saw("symbol tables compared", case.facts.loads.trees))


def fixes(case: Case) -> tuple[Fix, ...]:
    """Let the right copy win: off the path with the other, or the right folder first."""
    tree = trees.of(case)
    assert isinstance(tree, LoadTree)
    out: list[Fix] = []
    for unmet in clashes(case, other_copy=True)[:1]:
        winner, right = loaded_at(case, unmet.provider), rivals(case, unmet)[0]
        out += trees.let_win(case, winner, right.path.rpartition("/")[0]) if winner else ()
    if not out and (pair := torn_pair(tree)):
        out += trees.let_win(case, pair[1], folder(pair[0]))
    if not out and (passed := outrun(case, tree)):
        out += trees.let_win(case, passed[0], passed[1].path.rpartition("/")[0])
    apart = "Give each framework a Python environment of its own, so that each finds only its own libraries"
    return tuple(out) or (Fix(apart, safe=True),)


CAUSE = Cause(
    id="cuda.mixed_libraries",
    title="two versions of a CUDA library are installed, and the wrong one is loaded",
    signs=(symbols_unmet, pair_torn_apart, older_copy_wins, one_of_each),
    fixes=fixes,
    scope="framework",
    effect="{subject} loads CUDA libraries that do not belong together",
)
