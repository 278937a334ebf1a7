"""framework.platform_dropped: this release of the framework has no CUDA build for this system at all."""

from __future__ import annotations

from gpuwhy.knowledge.asked import asks
from gpuwhy.knowledge.platforms import Dropped, dropped
from gpuwhy.knowledge.windows import tensorflow_for
from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, know, proof, saw, strong
from gpuwhy.model.expect import gpu_present
from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.facts import MissingLibrary
from gpuwhy.rooms.shared import other_python
from gpuwhy.rooms.shared.built_for import for_amd64
from gpuwhy.rooms.shared.commands import change, python_of
from gpuwhy.rooms.shared.needs import named, the
from gpuwhy.rooms.shared.windows import on_windows


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
        if strange := _for_glibc(case):
            return strange
        return against(f"{named(case)} is a build with CUDA", saw("GPU build", framework.gpu_build))
    row = no_build_here(case)
    system = f"{around.system.need()} {around.machine.need()}"
    if row is None:
        return against(f"{framework.title} has CUDA builds for {system}", saw(system, around.system))
    present = gpu_present(case.facts)
    if isinstance(present, Absent):
        return against("this machine has no NVIDIA GPU", saw("no NVIDIA GPU", present))
    framework.gpu_build.need()
    if other := _brought_by(case):
        text = f"{named(case)} came with {other}, which asks for it"
        return against(text, saw(f"asked for by {other}", case.facts.target.distributions))
    if row.libc:
        system += f" with {around.libc.need()}"
    return proof(
        f"{row.text}; {named(case)} on {system} can only use the CPU",
        saw(system, around.machine if row.machine else around.libc if row.libc else around.system),
        know(row.text, row.source),
    )


def _for_glibc(case: Case) -> Finding | None:
    """A build with CUDA on a system whose C library is not the one that every such build needs."""
    around = case.facts.surroundings
    if not value_or(around.libc, "").startswith("musl"):
        return None
    row = no_build_here(case)
    if row is None or not row.libc:
        return None
    return strong(
        f"{named(case)} is built for glibc, and the C library here is {value_or(around.libc, '')}: its import fails",
        saw(value_or(around.libc, ""), around.libc),
        know(row.text, row.source),
    )


def built_for_another_python(case: Case) -> Finding | None:
    """Windows: the extension asks for the DLL of another Python, and there is no wheel of it for this one."""
    found = _wanted_python(case)
    if not found:
        return None
    facts, (missing, version) = case.facts, found
    return proof(
        other_python.said(facts, the(case), missing, version), *other_python.evidence(facts, the(case), missing)
    )


def in_32_bits(case: Case) -> Finding | None:
    """Windows: no framework has a GPU build for a 32-bit Python."""
    python = case.facts.target.interpreter
    if not (on_windows(case.facts) and is_narrow(case)):
        return None
    return proof(
        f"Python {python_of(case.facts)} is a 32-bit one, for which no framework has a GPU build",
        saw("a 32-bit Python", python),
    )


def is_narrow(case: Case) -> bool:
    """Whether the environment's Python is a 32-bit one."""
    python = case.facts.target.interpreter
    machine = python.value.machine if isinstance(python, Known) else ""
    return bool(machine) and machine not in ("x86_64", "aarch64", "arm64")


def _wanted_python(case: Case) -> tuple[MissingLibrary, str] | None:
    """The Python that it is built for; a release that has a wheel for this one was put here wrongly, no more."""
    found = other_python.wanted(case.facts, the(case))
    return found if found and not other_python.has_a_wheel(case.facts, the(case)) else None


def _for_this_python(case: Case) -> tuple[Fix, ...]:
    """An environment with the right Python; or the release that has a wheel for this one."""
    framework, wanted = the(case), _wanted_python(case)
    version = wanted[1] if wanted else ""
    requirement = f"{framework.distribution}=={framework.version}"
    folder = "tf" if framework.name == "tensorflow" else "gpu"
    lines = (
        f"winget install --exact --id Python.Python.{version}",
        f"py -{version} -m venv {folder}",
        f'{folder}\\Scripts\\python -m pip install "{requirement}"',
    )
    text = f"Install Python {version} (64 bit) where it is not there, make an environment with it, and install it there"
    out = [Fix(text, on.cmd("\n".join(lines)), safe=True)]
    row = tensorflow_for(python_of(case.facts)) if framework.name == "tensorflow" else None
    if row is not None:
        text = (
            f"Or install TensorFlow {row.version}, which has a wheel for this Python and is built for CUDA {row.cuda}"
        )
        out.append(change(case.facts, text, f"tensorflow-gpu=={row.version}", because_of=framework.distribution))
    return tuple(out)


def _brought_by(case: Case) -> str:
    """The framework that asks for this one and has no build here either: that one is what somebody installed."""
    here = {one.name: one.version for one in value_or(case.facts.target.distributions, ())}
    for other in value_or(case.facts.target.frameworks, ()):
        names = [name for name in (other.name, other.distribution) if name in here]
        if other.name != the(case).name and any(the(case).distribution in asks(name, here[name]) for name in names):
            return f"{other.title} {other.version}"
    return ""


def fixes(case: Case) -> tuple[Fix, ...]:
    """Another platform, or the last release that had a build for this one."""
    if on_windows(case.facts) and is_narrow(case):
        text = "Install the 64-bit Python, make an environment with it, and install the framework's GPU package there"
        return (Fix(text, on.cmd("py -3-64 -m venv gpu")),)
    if _wanted_python(case):
        return _for_this_python(case)
    row = no_build_here(case)
    if row is None:
        return ()
    instead = Fix(row.instead[:1].upper() + row.instead[1:])
    if row.machine and for_amd64(case.facts):
        return (*for_amd64(case.facts), Fix(f"Or, on an Arm machine: {row.instead}"))
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
    signs=(nobody_builds_it, built_for_another_python, in_32_bits),
    fixes=fixes,
    scope="framework",
    effect="{subject} has no GPU build for this system",
)
