"""cudnn.missing: the loader finds no copy of the cuDNN that the framework opens."""

from __future__ import annotations

from gpuwhy.causes import needs
from gpuwhy.causes.cuda.missing_library import installing, pointing
from gpuwhy.model.cause import Case, Cause, Finding, Fix


def nowhere(case: Case) -> Finding | None:
    """No cuDNN anywhere."""
    found = needs.lost(case, needs.is_cudnn, "nowhere")
    return needs.say_nowhere(case, found) if found else None


def displaced(case: Case) -> Finding | None:
    """A cuDNN in the framework's own environment, in a folder that the framework does not search."""
    found = needs.lost(case, needs.is_cudnn, "displaced")
    return needs.say_displaced(case, found) if found else None


def another_major(case: Case) -> Finding | None:
    """Only a cuDNN with another SONAME, so of another major version."""
    found = needs.lost(case, needs.is_cudnn, "other version")
    return needs.say_other(case, found) if found else None


def all_found(case: Case) -> Finding | None:
    """What rules it out."""
    return needs.nothing_lost(case, needs.is_cudnn, "nowhere", "displaced", "other version")


def fixes(case: Case) -> tuple[Fix, ...]:
    """Point the loader at what is there; install what is not."""
    return (*pointing(case, needs.is_cudnn), *installing(case, needs.is_cudnn))


CAUSE = Cause(
    id="cudnn.missing",
    title="cuDNN is not found",
    signs=(nowhere, displaced, another_major, all_found),
    fixes=fixes,
    scope="framework",
    effect="{subject} will not see the GPU",
)
