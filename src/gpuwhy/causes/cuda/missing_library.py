"""cuda.missing_library: the loader finds no copy of a CUDA library that the framework opens."""

from __future__ import annotations

from msgspec import structs

from gpuwhy.causes.shared import needs
from gpuwhy.causes.shared.commands import together
from gpuwhy.causes.shared.lost import installing, pointing
from gpuwhy.model.cause import Case, Cause, Finding, Fix


def nowhere(case: Case) -> Finding | None:
    """No copy of that name anywhere; some may be there in another version, as long as most are not."""
    found = needs.unfound(case, needs.is_cuda)
    if not found or needs.outdated(case, needs.is_cuda):
        return None
    said = needs.say_nowhere(case, found)
    return structs.replace(said, evidence=(*said.evidence, *needs.saw_variables(case)))


def displaced(case: Case) -> Finding | None:
    """A copy in the framework's own environment, in a folder that the framework does not search."""
    found = needs.lost(case, needs.is_cuda, "displaced")
    return needs.say_displaced(case, found) if found else None


def all_found(case: Case) -> Finding | None:
    """What rules it out."""
    nowhere_too = () if needs.outdated(case, needs.is_cuda) else ("nowhere",)
    return needs.nothing_lost(case, needs.is_cuda, "displaced", *nowhere_too)


def fixes(case: Case) -> tuple[Fix, ...]:
    """Point the loader at what is there; install what is not."""
    return together(pointing(case, needs.is_cuda), installing(case, needs.is_cuda))


CAUSE = Cause(
    id="cuda.missing_library",
    title="a CUDA library that the framework needs is not found",
    signs=(nowhere, displaced, all_found),
    fixes=fixes,
    scope="framework",
    effect="{subject} will not see the GPU",
)
