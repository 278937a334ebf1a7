"""cudnn.missing: the loader finds no copy of the cuDNN that the framework opens."""

from __future__ import annotations

from gpuwhy.causes.shared import needs, trees
from gpuwhy.causes.shared.commands import together
from gpuwhy.causes.shared.lost import installing, pointing
from gpuwhy.causes.shared.windows import on_windows
from gpuwhy.knowledge.libraries import stem
from gpuwhy.model.cause import Case, Cause, Finding, Fix, saw, strong
from gpuwhy.model.fact import Source, value_or
from gpuwhy.model.facts import Fate

ESSENTIAL = ("cudnn_graph", "cudnn_ops", "cudnn_cnn", "cudnn_ops_infer", "cudnn_cnn_infer")
"""The parts that every convolution goes through, of cuDNN 9 and of cuDNN 8."""


def nowhere(case: Case) -> Finding | None:
    """No cuDNN anywhere."""
    found = needs.lost(case, needs.is_cudnn, "nowhere")
    return needs.say_nowhere(case, found) if found else None


def displaced(case: Case) -> Finding | None:
    """A cuDNN in the framework's own environment, in a folder that the framework does not search."""
    found = needs.lost(case, needs.is_cudnn, "displaced")
    return needs.say_displaced(case, found) if found else None


def part_missing(case: Case) -> Finding | None:
    """libcudnn is found, and a part that it opens by itself is not: a copy that was not copied whole."""
    tree = trees.of(case)
    if isinstance(tree, Finding) or (shim := trees.shim(tree)) is None:
        return None
    deleted = {one.path.rpartition("/")[2] for one in value_or(case.facts.target.damage, ())}
    lost = [one for one in tree.missing if stem(one.name) in ESSENTIAL and one.fate is Fate.NOT_THERE]
    gone = [one for one in lost if one.name not in deleted]
    if not gone:
        return None
    more = f" and {len(gone) - 1} more parts" if len(gone) > 1 else ""
    return strong(
        f"{needs.named(case)} loads {shim.path}, which opens {gone[0].name}{more} at the first use; none is found",
        trees.saw_loaded(shim),
        saw(f"opens {gone[0].name}, {len(gone[0].searched)} folders searched", Source("file", gone[0].needed_by)),
    )


def all_found(case: Case) -> Finding | None:
    """What rules it out."""
    if part_missing(case):
        return None
    return needs.nothing_lost(case, needs.is_cudnn, "nowhere", "displaced")


def fixes(case: Case) -> tuple[Fix, ...]:
    """Point the loader at what is there; install what is not."""
    fix = together(pointing(case, needs.is_cudnn), installing(case, needs.is_cudnn))
    files = "cudnn*.dll" if on_windows(case.facts) else "libcudnn*.so"
    return fix or (Fix(f"Install this cuDNN whole: every {files} file of one release, in one folder"),)


CAUSE = Cause(
    id="cudnn.missing",
    title="cuDNN is not found",
    signs=(nowhere, displaced, part_missing, all_found),
    fixes=fixes,
    scope="framework",
    effect="{subject} will not see the GPU",
)
