"""Candidates: which releases may be chosen on a machine, and for those that may not, why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from gpuwhy.knowledge import archs
from gpuwhy.knowledge.caps import BROKEN, NEWEST_MINOR, ptx_trouble
from gpuwhy.knowledge.drivers import cuda_of_driver, floor
from gpuwhy.knowledge.flavours import compiles_at_run_time
from gpuwhy.knowledge.floors import floors
from gpuwhy.knowledge.guests import Guest, guests, is_guest, requires_python, takes_python
from gpuwhy.knowledge.platforms import dropped
from gpuwhy.knowledge.releases import family, has_python
from gpuwhy.model.plan import Gpu, Machine, Why
from gpuwhy.model.release import Release
from gpuwhy.model.version import at_least, numbers
from gpuwhy.plan_v0.machine import PYTHONS

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
    except ValueError:  # no version, or thousands of digits
        return Version("0")


@lru_cache(maxsize=1024)
def specifier(text: str) -> SpecifierSet:
    """A specifier, parsed once; a preview passes only where it is named."""
    return SpecifierSet(text)


@lru_cache(maxsize=512)
def rows_of(name: str, platform: str) -> tuple[Release, ...]:
    """The rows of a project that install on a platform, newest first; sources where it never has wheels."""
    rows = [row for row in _all_rows(name) if row.platform in (platform, "any", "source")]
    wheels = [row for row in rows if row.platform != "source"]
    kept = {row.version: row for row in (wheels if _has_wheels(name) else rows)}
    return tuple(sorted(kept.values(), key=lambda row: parsed(row.version), reverse=True))


@lru_cache(maxsize=256)
def sources_of(name: str) -> tuple[Release, ...]:
    """The rows of releases that have no wheel on any platform, newest first."""
    found = [row for row in _all_rows(name) if row.platform == "source"]
    return tuple(sorted(found, key=lambda row: parsed(row.version), reverse=True))


@lru_cache(maxsize=256)
def elsewhere(name: str) -> tuple[Release, ...]:
    """The wheels of the newest release of a project on any platform: what is told where this one has none."""
    rows = [row for row in _all_rows(name) if row.platform != "source" and not parsed(row.version).is_prerelease]
    newest = max((row.version for row in rows), key=parsed, default="")
    return tuple(row for row in rows if row.version == newest)


@lru_cache(maxsize=256)
def _all_rows(name: str) -> tuple[Release, ...]:
    known = family(name)
    if known:
        return known.rows
    return tuple(row for guest in guests(name) for row in _of_guest(name, guest))


def _of_guest(name: str, guest: Guest) -> list[Release]:
    """The rows of a guest, as if they were harvested in full."""
    pairs = guest.asks if guest.asks is not None else msgspec.UNSET
    tags = guest.tags or ("3",)
    return [
        Release(name, guest.version, platform, tags, (), "", "", {}, guest.uploaded, pairs=pairs)
        for platform in guest.platforms
    ]


@lru_cache(maxsize=256)
def _has_wheels(name: str) -> bool:
    """Whether a project's newest release comes as wheels, on whatever platform: old sources are then no way out."""
    finals = [row for row in _all_rows(name) if not parsed(row.version).is_prerelease] or _all_rows(name)
    newest = max((row.version for row in finals), key=parsed, default="")
    return any(row.version == newest and row.platform != "source" for row in finals)


@lru_cache(maxsize=8192)
def demanded_python(name: str, version: str) -> str:
    """What a release demands of Python, by the index."""
    if is_guest(name) and family(name) is None:
        return next((guest.python for guest in guests(name) if guest.version == version), "")
    return requires_python(name, version)


def pythons_of(row: Release) -> frozenset[str]:
    """Every Python that a release installs on: by its wheels' tags, and by what it demands of Python."""
    tagged = frozenset(PYTHONS) if row.platform == "source" else _pythons(row.pythons, "-py3" in row.file)
    demand = demanded_python(row.name, row.version)
    fitting = frozenset(p for p in tagged if takes_python(demand, p)) if demand else tagged
    return fitting - BROKEN.pythons(row.name, row.version)


@lru_cache(maxsize=1024)
def _pythons(tags: tuple[str, ...], pure: bool) -> frozenset[str]:
    tags = tuple(f"{t}+" if pure and t.startswith("3.") and t[-1] not in "+t" else t for t in tags)
    tagged = Release("", "", "", tags, (), "", "", {})
    every = (*PYTHONS, *_OLD_PYTHONS, *(t for t in tags if t.endswith("t")))
    return frozenset(p for p in every if has_python(tagged, p))


def allowed_pythons(machine: Machine) -> tuple[str, ...]:
    """The Pythons to try, best first: beside one that is told or there, the nearest to it."""
    if machine.python and machine.fixed_python:
        return (machine.python,)
    if not machine.python:
        return PYTHONS
    own = numbers(machine.python)[1]
    return tuple(dict.fromkeys((machine.python, *sorted(PYTHONS, key=lambda python: abs(numbers(python)[1] - own)))))


def judge(row: Release, machine: Machine, named: bool, framework: str = "") -> Verdict:
    """Whether a release may be chosen; `named` is a pin of this very release, which even a flawed one honours."""
    refused = next((verdict for verdict in _reasons(row, machine, named, framework) if verdict.kind), None)
    return refused or _hardware(row, machine, named)


def _reasons(row: Release, machine: Machine, named: bool, framework: str) -> Iterator[Verdict]:
    """What may speak against a release before its CUDA is looked at, one after the other."""
    yield _platform(row, machine, framework)
    yield _published(row, named)
    yield _python(row, machine)
    yield _floor(row, machine)


_JETSON = ("5.3", "6.2", "7.2", "8.7")


def _platform(row: Release, machine: Machine, framework: str) -> Verdict:
    """Whether the platform has a build with CUDA at all."""
    board = next((card for card in machine.gpus if card.capability in _JETSON), None)
    if board and machine.machine == "aarch64":
        return Verdict(
            "platform",
            f"{named_gpu(board)} runs NVIDIA's JetPack, and the aarch64 wheels of the package index are made "
            "for servers: take NVIDIA's wheels for your JetPack release, or its l4t containers",
        )
    if row.cuda is None and framework:
        gone = dropped(framework, row.version, machine.platform.split("-")[0], machine.machine, "glibc")
        if gone is None:
            return Verdict("cpu", "is built without CUDA for this platform")
        return Verdict("platform", f"{gone.text}{f': {gone.instead}' if gone.instead else ''}")
    return Verdict()


def _published(row: Release, named: bool) -> Verdict:
    """Whether a release is one to take: not withdrawn, no preview, not broken."""
    if row.yanked and not named:
        return Verdict("yanked", "was withdrawn by its makers")
    if row.gone:
        return Verdict("gone", "is no longer on the package index")
    if parsed(row.version).is_prerelease and not named:
        return Verdict("preview", "is a release candidate" if "rc" in row.version else "is a preview")
    flaw = BROKEN.find(row.name, row.version)
    if flaw and not (named and flaw.cure):
        return Verdict("broken", flaw.text)
    return Verdict()


def _python(row: Release, machine: Machine) -> Verdict:
    if pythons_of(row) & set(allowed_pythons(machine)):
        return Verdict()
    return Verdict("python", f"has no wheel for Python {machine.python or 'any that is known'}")


def _floor(row: Release, machine: Machine) -> Verdict:
    """What is known of a package's needs and stands in no metadata: systems and the oldest GPU."""
    system = "windows" if machine.system == "windows" else "linux"
    for floor_row in floors(row.name, row.version):
        if floor_row.systems and system not in floor_row.systems:
            return Verdict("platform", f"{row.name} runs on {' and '.join(floor_row.systems).title()} only")
        for card in machine.gpus if floor_row.gpu else ():
            if not at_least(card.capability, floor_row.gpu):
                least = f"is made for compute capability {floor_row.gpu} and newer"
                return Verdict("gpu", f"{least}, not for {named_gpu(card)}")
    return Verdict()


_ON_ITS_OWN = re.compile(r"paddlepaddle-gpu|mxnet-cu.+|tensorflow(-gpu)?|onnxruntime-gpu|torch|cupy-.+|jax-cuda.+")
"""Packages whose GPU code is all their own: what others use is torch's."""


def _hardware(row: Release, machine: Machine, named: bool) -> Verdict:
    if row.cuda is msgspec.UNSET and _ON_ITS_OWN.fullmatch(row.name) and (machine.gpus or machine.driver):
        unread = "for which CUDA it was built was never read"
        return Verdict(unsure=unread) if named else Verdict("unknown", unread)
    if not isinstance(row.cuda, str):
        return Verdict()
    driver = driver_verdict(row.cuda, machine)
    return driver if driver.kind else _on_cards(row, machine, driver.unsure)


def _on_cards(row: Release, machine: Machine, unsure: str) -> Verdict:
    """Whether a release has code for every card; the first doubt is told."""
    for card in machine.gpus:
        code = gpu_verdict(row, machine, card.capability)
        if code.kind:
            return msgspec.structs.replace(code, why=code.why.replace("{gpu}", named_gpu(card)))
        unsure = unsure or code.unsure.replace("{gpu}", named_gpu(card))
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
    if known is not None:
        return _from(known.driver, cuda, machine.driver)
    if numbers(speaks)[0] < numbers(cuda)[0]:
        return Verdict("driver", f"is built for CUDA {cuda}, and driver {machine.driver} speaks CUDA {speaks} at most")
    return Verdict(unsure=f"which driver for {system.title()} CUDA {cuda} needs at least is not published")


def _from(least: str, cuda: str, driver: str) -> Verdict:
    """Whether a driver is not older than the least; of a driver, its branch may be all that is told."""
    new_enough = at_least(driver, least) if "." in driver else numbers(driver)[:1] >= numbers(least)[:1]
    return (
        Verdict() if new_enough else Verdict("driver", f"is built for CUDA {cuda}, which needs driver {least} or newer")
    )


def gpu_verdict(row: Release, machine: Machine, capability: str) -> Verdict:
    """Whether a release's own code and that of its CUDA's libraries run on a GPU; `{gpu}` stands for its name."""
    cuda = str(row.cuda)
    if compiles_at_run_time(row.name.split("-cuda")[0]):
        return Verdict() if knows(cuda, capability) else Verdict("gpu", f"CUDA {cuda} does not compile for {{gpu}}")
    if not isinstance(row.sass, tuple) or not isinstance(row.ptx, tuple):
        return bounded(cuda, capability)
    how = archs.runs_on(row.sass, row.ptx, capability)
    if how == "no":
        return Verdict("gpu", f"carries GPU code for {spelled(row)}, none for {{gpu}}")
    if how == "ptx":
        return _by_ptx(row, machine, capability)
    return Verdict()


def bounded(cuda: str, capability: str) -> Verdict:
    """What the CUDA release alone says of a build that nobody read: what it cannot compile for is not in it."""
    if not knows(cuda, capability):
        return Verdict("gpu", f"is built with CUDA {cuda}, which makes no code for {{gpu}}")
    return Verdict(unsure="which GPUs it has code for was not read; its CUDA could make it for {gpu}")


def _by_ptx(row: Release, machine: Machine, capability: str) -> Verdict:
    cuda = str(row.cuda)
    speaks = cuda_of_driver(machine.driver) if machine.driver else None
    if speaks and not at_least(speaks, cuda):
        return Verdict(
            "driver", f"has only PTX of CUDA {cuda} for {{gpu}}, newer than driver {machine.driver} compiles"
        )
    brings = isinstance(row.requires, dict) and row.requires
    if not brings and not knows(cuda, capability):
        with_cudnn = f" and cuDNN {row.cudnn}" if isinstance(row.cudnn, str) else ""
        return Verdict(
            "gpu",
            f"carries GPU code for {spelled(row)}, and wants CUDA {cuda}{with_cudnn}, whose libraries have no code "
            "for {gpu}",
        )
    trouble = ptx_trouble(row.name, row.version, capability)
    return Verdict(unsure=trouble.text if trouble else "")


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
    serving = [arch for arch in archs.ARCHS if _serves(arch, capability)]
    return any(_compiled_by(arch, release) for arch in serving)


def _serves(arch: archs.Arch, capability: str) -> bool:
    """Whether code for an architecture runs on a GPU: of the same major, not newer; Tegra's on Tegra alone."""
    own, wanted = numbers(arch.capability), numbers(capability)
    if arch.capability in archs.TEGRA:
        return own == wanted
    return own[0] == wanted[0] and own[1] <= wanted[1]


def _compiled_by(arch: archs.Arch, release: str) -> bool:
    first, last = arch.first_toolkit, arch.last_toolkit
    if not first or not at_least(release, first):
        return False
    return not last or at_least(last, ".".join(map(str, numbers(release)[:2])))


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
