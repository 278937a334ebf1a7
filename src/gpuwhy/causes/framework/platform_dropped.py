"""framework.platform_dropped: this release of the framework has no CUDA build for this system at all."""

from __future__ import annotations

import re

from gpuwhy.causes.shared.commands import change, python_of
from gpuwhy.causes.shared.needs import named, the
from gpuwhy.causes.shared.windows import on_windows
from gpuwhy.knowledge.platforms import Dropped, dropped
from gpuwhy.knowledge.windows import pythons_of, tensorflow_for
from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, know, proof, saw, strong
from gpuwhy.model.expect import gpu_present
from gpuwhy.model.fact import Absent, Known, Source, value_or
from gpuwhy.model.facts import MissingLibrary
from gpuwhy.model.version import major_minor

_PYTHON = re.compile(r"(?i)python(3)(\d+)\.dll$")


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
    """Windows: the extension asks for the DLL of another Python, so a wheel for that one was put here."""
    wanted, python = _wanted_python(case), case.facts.target.interpreter
    if not wanted:
        return None
    missing = wanted[0]
    published = pythons_of(the(case).distribution, the(case).version)
    text = f"{the(case).distribution} {the(case).version} has wheels for Python {', '.join(published)} on Windows"
    return proof(
        f"{named(case)} is built for Python {wanted[1]}, whose {missing.name} its "
        f"{missing.needed_by.rpartition('/')[2]} needs; this is Python {python_of(case.facts)}",
        saw(f"needs {missing.name}", Source("file", missing.needed_by)),
        saw(f"Python {python_of(case.facts)}", python),
        *(
            (know(text, Source("know", f"{the(case).distribution} {the(case).version}", "its files")),)
            if published
            else ()
        ),
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
    """The python38.dll that a file of the framework misses, and that Python's version."""
    for tree in value_or(case.facts.loads.trees, ()):
        for missing in tree.missing if tree.framework == the(case).name else ():
            found = _PYTHON.match(missing.name)
            if found and f"{found[1]}.{found[2]}" != major_minor(python_of(case.facts)):
                return missing, f"{found[1]}.{found[2]}"
    return None


def _for_this_python(case: Case) -> tuple[Fix, ...]:
    """An environment with the right Python; or the release that has a wheel for this one."""
    framework, wanted = the(case), _wanted_python(case)
    version = wanted[1] if wanted else ""
    requirement = f"{framework.distribution}=={framework.version}"
    command = on.cmd(f'py -{version} -m venv tf\ntf\\Scripts\\python -m pip install "{requirement}"')
    out = [Fix(f"Make an environment with Python {version} (64 bit), and install it there", command, safe=True)]
    row = tensorflow_for(python_of(case.facts)) if framework.name == "tensorflow" else None
    if row is not None:
        text = (
            f"Or install TensorFlow {row.version}, which has a wheel for this Python and is built for CUDA {row.cuda}"
        )
        out.append(change(case.facts, text, f"tensorflow-gpu=={row.version}", because_of=framework.distribution))
    return tuple(out)


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
