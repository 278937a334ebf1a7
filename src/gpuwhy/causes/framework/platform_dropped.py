"""framework.platform_dropped: this release of the framework has no CUDA build for this system at all."""

from __future__ import annotations

from gpuwhy.causes.needs import named, the
from gpuwhy.knowledge.platforms import Dropped, dropped
from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, know, proof, saw
from gpuwhy.model.expect import gpu_present
from gpuwhy.model.fact import Absent, Known


def no_build_here(case: Case) -> Dropped | None:
    """The row that says so, for this framework on this system."""
    around, framework = case.facts.surroundings, the(case)
    system, machine = around.system.need() or "", around.machine.need() or ""
    libc = (around.libc.need() or "") if system == "linux" else ""
    return dropped(framework.name, framework.version, system, machine, libc)


def nobody_builds_it(case: Case) -> Finding | None:
    """A CPU build on a system where there is no other."""
    framework, around = the(case), case.facts.surroundings
    if isinstance(framework.gpu_build, Known) and framework.gpu_build.value:
        return against(f"{named(case)} is a build with CUDA", saw("GPU build", framework.gpu_build))
    row = no_build_here(case)
    system = f"{around.system.need()} {around.machine.need()}"
    if row is None:
        return against(f"{framework.title} has CUDA builds for {system}", saw(system, around.system))
    present = gpu_present(case.facts)
    if isinstance(present, Absent):
        return against("this machine has no NVIDIA GPU", saw("no NVIDIA GPU", present))
    framework.gpu_build.need()
    if row.libc:
        system += f" with {around.libc.need()}"
    return proof(
        f"{row.text}; {named(case)} on {system} can only use the CPU",
        saw(system, around.machine if row.machine else around.libc if row.libc else around.system),
        know(row.text, row.source),
    )


def fixes(case: Case) -> tuple[Fix, ...]:
    """Another platform, or the last release that had a build for this one."""
    row = no_build_here(case)
    if row is None:
        return ()
    instead = Fix(row.instead[:1].upper() + row.instead[1:])
    if not row.last:
        return (instead,)
    return (
        instead,
        Fix(
            f"Or use {the(case).title} {row.last}, the last release with a GPU build here, in an environment of its own"
        ),
    )


CAUSE = Cause(
    id="framework.platform_dropped",
    title="the framework has no GPU build for this system",
    signs=(nobody_builds_it,),
    fixes=fixes,
    scope="framework",
    effect="{subject} has no GPU build for this system",
)
