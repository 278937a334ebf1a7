"""Candidates: which releases may be chosen on a machine, and for those that may not, why."""

from __future__ import annotations

from functools import lru_cache

import msgspec
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from gpuwhy.knowledge import archs
from gpuwhy.knowledge.caps import BROKEN, NEWEST_MINOR, OLDEST_GPU_OF
from gpuwhy.knowledge.drivers import cuda_of_driver, floor
from gpuwhy.knowledge.flavours import compiles_at_run_time
from gpuwhy.knowledge.platforms import dropped
from gpuwhy.knowledge.releases import family, has_python
from gpuwhy.model.plan import Gpu, Machine, Why
from gpuwhy.model.release import Release
from gpuwhy.model.version import at_least, numbers
from gpuwhy.plan.machine import PYTHONS

MATHS = ("nvidia-cublas", "nvidia-cudnn", "nvidia-cufft", "nvidia-curand", "nvidia-cusolver", "nvidia-cusparse")
"""Libraries that bring GPU code of their own; the others bring none, or compile where they run."""

_OLD_PYTHONS = ("2.7", "3.3", "3.4")


class Verdict(msgspec.Struct, frozen=True):
    """Why a release cannot be chosen; `kind` '' when it can."""

    kind: Why | str = ""
    why: str = ""
    unsure: str = ""  # it may be chosen, but this is not known


def parsed(version: str) -> Version:
    """A version for comparing; one that is no version is older than all."""
    return _parsed(version)


@lru_cache(maxsize=4096)
def _parsed(version: str) -> Version:
    try:
        return Version(version)
    except InvalidVersion:
        return Version("0")


@lru_cache(maxsize=1024)
def specifier(text: str) -> SpecifierSet:
    """A specifier, parsed once; a preview passes only where it is named."""
    return SpecifierSet(text)


@lru_cache(maxsize=256)
def rows_of(name: str, platform: str) -> tuple[Release, ...]:
    """The rows of a project that install on a platform, newest first; sources where there is no wheel."""
    known = family(name)
    rows = [row for row in known.rows if row.platform in (platform, "any", "source")] if known else []
    wheels = [row for row in rows if row.platform != "source"]
    kept = {row.version: row for row in wheels or rows}
    return tuple(sorted(kept.values(), key=lambda row: parsed(row.version), reverse=True))


def pythons_of(row: Release) -> frozenset[str]:
    """Every Python that a release installs on; a source installs on all, a wheel tagged py39 on 3.9 and newer."""
    if row.platform == "source":
        return frozenset(PYTHONS)
    return _pythons(row.pythons, "-py3" in row.file) - BROKEN.pythons(row.name, row.version)


@lru_cache(maxsize=1024)
def _pythons(tags: tuple[str, ...], pure: bool) -> frozenset[str]:
    tags = tuple(f"{t}+" if pure and t.startswith("3.") and t[-1] not in "+t" else t for t in tags)
    tagged = Release("", "", "", tags, (), "", "", {})
    every = (*PYTHONS, *_OLD_PYTHONS, *(t for t in tags if t.endswith("t")))
    return frozenset(p for p in every if has_python(tagged, p))


def allowed_pythons(machine: Machine) -> tuple[str, ...]:
    """The Pythons to try, best first."""
    if machine.python and machine.fixed_python:
        return (machine.python,)
    return tuple(dict.fromkeys(filter(None, (machine.python, *PYTHONS))))


def judge(row: Release, machine: Machine, named: bool, framework: str = "") -> Verdict:
    """Whether a release may be chosen; `named` is a pin of this very release, which even a flawed one honours."""
    if row.cuda is None and framework:
        gone = dropped(framework, row.version, machine.platform.split("-")[0], machine.machine, "glibc")
        return Verdict("platform" if gone else "cpu", gone.text if gone else "is built without CUDA for this platform")
    if row.yanked and not named:
        return Verdict("yanked", "was withdrawn by its makers")
    if row.gone:
        return Verdict("gone", "is no longer on the package index")
    if parsed(row.version).is_prerelease and not named:
        return Verdict("preview", "is a release candidate")
    flaw = BROKEN.find(row.name, row.version)
    if flaw and not (named and flaw.cure):
        return Verdict("broken", flaw.text)
    if not pythons_of(row) & set(allowed_pythons(machine)):
        return Verdict("python", f"has no wheel for Python {machine.python or 'any that is known'}")
    return _hardware(row, machine)


def _hardware(row: Release, machine: Machine) -> Verdict:
    oldest = OLDEST_GPU_OF.get(row.name)
    for card in machine.gpus if oldest else ():
        if not at_least(card.capability, str(oldest)):
            return Verdict("gpu", f"is made for compute capability {oldest} and newer, not for {named_gpu(card)}")
    if row.cuda is None or not isinstance(row.cuda, str):
        return Verdict()
    driver = driver_verdict(row.cuda, machine)
    if driver.kind:
        return driver
    unsure = driver.unsure
    for card in machine.gpus:
        code = gpu_verdict(row, machine, card.capability)
        if code.kind:
            return msgspec.structs.replace(code, why=code.why.replace("{gpu}", named_gpu(card)))
        unsure = unsure or code.unsure
    return Verdict(unsure=unsure)


def driver_verdict(cuda: str, machine: Machine) -> Verdict:
    """Whether the driver runs programs built for a CUDA release."""
    if not machine.driver:
        return Verdict()
    speaks = cuda_of_driver(machine.driver) or "99"
    if at_least(speaks, ".".join(map(str, numbers(cuda)[:2]))) and len(numbers(cuda)) > 1:
        return Verdict()
    system = "windows" if machine.system == "windows" else "linux"
    known = floor(cuda if "." in cuda else f"{cuda}.0", system)
    if known is None:
        return Verdict(unsure=f"which driver for {system.title()} CUDA {cuda} needs at least is not published")
    branch_only = "." not in machine.driver
    have, want = numbers(machine.driver), numbers(known.driver)
    if have[:1] >= want[:1] if branch_only else at_least(machine.driver, known.driver):
        return Verdict()
    return Verdict("driver", f"is built for CUDA {cuda}, which needs driver {known.driver} or newer")


def gpu_verdict(row: Release, machine: Machine, capability: str) -> Verdict:
    """Whether a release's own code and that of its CUDA's libraries run on a GPU; `{gpu}` stands for its name."""
    cuda = str(row.cuda)
    if compiles_at_run_time(row.name.split("-cuda")[0]):
        return Verdict() if knows(cuda, capability) else Verdict("gpu", f"CUDA {cuda} does not compile for {{gpu}}")
    if not isinstance(row.sass, tuple) or not isinstance(row.ptx, tuple):
        return Verdict(unsure="which GPUs it has code for is not known")
    how = archs.runs_on(row.sass, row.ptx, capability)
    if how == "no":
        return Verdict("gpu", f"carries GPU code for {spelled(row)}, none for {{gpu}}")
    if how == "ptx":
        return _by_ptx(row, machine, capability)
    return Verdict()


def _by_ptx(row: Release, machine: Machine, capability: str) -> Verdict:
    cuda = str(row.cuda)
    speaks = cuda_of_driver(machine.driver) if machine.driver else None
    if speaks and not at_least(speaks, cuda):
        return Verdict(
            "driver", f"has only PTX of CUDA {cuda} for {{gpu}}, newer than driver {machine.driver} compiles"
        )
    if not isinstance(row.requires, dict) and not knows(cuda, capability):
        with_cudnn = f" and cuDNN {row.cudnn}" if isinstance(row.cudnn, str) else ""
        return Verdict(
            "gpu",
            f"carries GPU code for {spelled(row)}, and wants CUDA {cuda}{with_cudnn}, whose libraries have no code "
            "for {gpu}",
        )
    return Verdict()


_LEGACY = {"manylinux1": "2.5", "manylinux2010": "2.12", "manylinux2014": "2.17"}


@lru_cache(maxsize=256)
def oldest_glibc(systems: tuple[str, ...]) -> str:
    """The glibc that the least demanding of a release's Linux wheels needs, by their tags (PEP 600); '' for none."""
    tags = [_LEGACY.get(tag, tag.removeprefix("manylinux_").replace("_", ".")) for tag in systems]
    return min((tag for tag in tags if numbers(tag)), key=numbers, default="")


def libc_verdict(floor: str, machine: Machine) -> Verdict:
    """Whether the machine's C library takes wheels that need a glibc."""
    name, _, version = machine.libc.partition(" ")
    if not floor or not name or machine.system == "windows" or (name == "glibc" and at_least(version, floor)):
        return Verdict()
    return Verdict("libc", f"has wheels for glibc {floor} and newer")


def library_verdict(row: Release, machine: Machine) -> Verdict:
    """Whether an NVIDIA wheel works with the driver and has code for the GPUs."""
    if not isinstance(row.cuda, str):
        return Verdict()
    if not row.name.rpartition("-cu")[0].startswith(MATHS) and not row.name.startswith(MATHS):
        return Verdict()
    for card in machine.gpus:
        if isinstance(row.sass, tuple) and isinstance(row.ptx, tuple):
            runs = archs.runs_on(row.sass, row.ptx, card.capability) != "no"
        else:
            runs = knows(row.cuda, card.capability)
        if not runs:
            return Verdict("library", f"{row.name} {row.version} has no code for {named_gpu(card)}")
    return Verdict()


@lru_cache(maxsize=1024)
def knows(cuda: str, capability: str) -> bool:
    """Whether the libraries of a CUDA release have machine code that runs on a GPU."""
    major = numbers(cuda)[0]
    release = cuda if "." in cuda else f"{major}.{NEWEST_MINOR.get(major, 0)}"
    wanted = numbers(capability)
    for arch in archs.ARCHS:
        own = numbers(arch.capability)
        if own[0] != wanted[0] or own[1] > wanted[1] or (arch.capability in archs.TEGRA and own != wanted):
            continue
        first, last = arch.first_toolkit, arch.last_toolkit
        if (
            first
            and at_least(release, first)
            and (not last or at_least(last, ".".join(map(str, numbers(release)[:2]))))
        ):
            return True
    return False


def how_it_runs(row: Release, capability: str) -> str:
    """Which code a GPU runs, in words."""
    if not isinstance(row.sass, tuple) or not isinstance(row.ptx, tuple):
        return ""
    if archs.runs_on(row.sass, row.ptx, capability) == "sass":
        code = next(c for c in reversed(row.sass) if archs.sass_runs(c, capability))
        return f"machine code for {code}"
    code = next((c for c in reversed(row.ptx) if archs.ptx_runs(c, capability)), "")
    return f"PTX for {code}, compiled by the driver at the first start" if code else ""


def spelled(row: Release) -> str:
    """The GPU code of a release: sm_35 … sm_70 and PTX for compute_70."""
    sass = row.sass if isinstance(row.sass, tuple) else ()
    ptx = row.ptx if isinstance(row.ptx, tuple) else ()
    machine = f"{sass[0]} … {sass[-1]}" if len(sass) > 2 else " and ".join(sass)
    return " and ".join(filter(None, (machine, f"PTX for {ptx[-1]}" if ptx else ""))) or "no GPU"


def named_gpu(card: Gpu) -> str:
    """GeForce RTX 4090 (sm_89)."""
    return f"{card.name} ({sm(card.capability)})"


def sm(capability: str) -> str:
    """8.9 → sm_89."""
    return "sm_" + capability.replace(".", "")


def fitting_driver(cuda: str, system: str) -> str:
    """The oldest driver for a CUDA release, or ''."""
    known = floor(cuda if "." in cuda else f"{cuda}.0", "windows" if system == "windows" else "linux")
    return known.driver if known else ""
