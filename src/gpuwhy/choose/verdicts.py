"""Verdicts: whether a release may be chosen on a machine, and why not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import msgspec
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from gpuwhy.choose.choice import Kind
from gpuwhy.choose.demand import PYTHONS, Card, Demand
from gpuwhy.facts.version import at_least, numbers
from gpuwhy.knowledge import archs
from gpuwhy.knowledge.drivers import NEWEST_MINOR, cuda_of_driver, floor
from gpuwhy.knowledge.flavours import compiles_at_run_time
from gpuwhy.knowledge.flaws import flaw as flaw_of
from gpuwhy.knowledge.flaws import flawed_on, ptx_trouble
from gpuwhy.knowledge.floors import floors
from gpuwhy.knowledge.platforms import dropped
from gpuwhy.knowledge.releases import Release, has_python

_MATHS = re.compile(r"nvidia-(cublas|cudnn|cufft|curand|cusolver|cusparse)(-cu\d+)?")
"""Wheels that bring GPU code of their own; the others bring none, or compile where they run."""
_OWN_CODE = re.compile(
    r"paddlepaddle-gpu|mxnet-cu.+|tensorflow(-gpu)?|onnxruntime-gpu|torch|cupy-.+|jax-cuda.+|jaxlib"
)
"""Packages whose GPU code is all their own: what others use is torch's."""
_JETSON = ("5.3", "6.2", "7.2", "8.7")
_LEGACY = {"manylinux1": "2.5", "manylinux2010": "2.12", "manylinux2014": "2.17"}
_OLD_PYTHONS = ("2.7", "3.3", "3.4")


class Judged(msgspec.Struct, frozen=True):
    """Why a release cannot be chosen; `kind` is None where it can."""

    kind: Kind | None = None
    why: str = ""
    doubt: str = ""  # it may be chosen, and this is not known


FITS = Judged()


@lru_cache(maxsize=8192)
def parsed(version: str) -> Version:
    """A version for comparing; what is no version is older than all."""
    try:
        return Version(version)
    except ValueError:  # no version, or thousands of digits
        return Version("0")


@lru_cache(maxsize=2048)
def specifier(text: str) -> SpecifierSet:
    """A specifier, parsed once."""
    return SpecifierSet(text)


@lru_cache(maxsize=1 << 16)
def allows(spec: str, version: str) -> bool:
    """Whether a specifier lets a version in, previews included."""
    return not spec or specifier(spec).contains(parsed(version), prereleases=True)


def is_preview(version: str) -> bool:
    """Whether a release is a preview or a release candidate."""
    return parsed(version).is_prerelease


# Pythons and the C library


def pythons_of(row: Release, demanded: str) -> frozenset[str]:
    """The Pythons a release installs on: by its wheels' tags, and by what it demands of Python."""
    pure = "-py3" in row.file
    tagged = frozenset(PYTHONS) if row.platform == "source" else _tagged(row.pythons, pure)
    fitting = (
        frozenset(one for one in tagged if takes_python(demanded, one)) if demanded else tagged
    )
    return fitting - flawed_on(row.name, row.version)


@lru_cache(maxsize=1024)
def _tagged(tags: tuple[str, ...], pure: bool) -> frozenset[str]:
    if pure:
        tags = tuple(f"{t}+" if t.startswith("3.") and t[-1] not in "+t" else t for t in tags)
    row = Release("", "", "", tags, (), "", "", {})
    every = (*PYTHONS, *_OLD_PYTHONS, *(tag for tag in tags if tag.endswith("t")))
    return frozenset(python for python in every if has_python(row, python))


@lru_cache(maxsize=4096)
def takes_python(demanded: str, python: str) -> bool:
    """Whether >=3.9,<3.13 lets a Python in."""
    try:
        return not demanded or specifier(demanded).contains(f"{python.rstrip('t')}.99")
    except ValueError:  # no specifier, or thousands of digits
        return True


@lru_cache(maxsize=512)
def oldest_glibc(systems: tuple[str, ...]) -> str:
    """The glibc that the least demanding of a release's wheels needs, by their tags (PEP 600)."""
    bare = (_LEGACY.get(tag, tag.removeprefix("manylinux_").replace("_", ".")) for tag in systems)
    return min((tag for tag in bare if numbers(tag)), key=numbers, default="")


def on_glibc(least: str, demand: Demand) -> Judged:
    """Whether the machine's C library takes wheels that need a glibc."""
    here = demand.glibc
    if not least or not here or demand.system == "windows":
        return FITS
    if here != "musl" and at_least(here, least):
        return FITS
    return Judged("libc", f"has wheels for glibc {least} and newer")


# Releases


def judge(row: Release, pythons: frozenset[str], demand: Demand, named: bool) -> Judged:
    """Whether a release may be chosen; `named`: it is pinned, so that even a flawed one may be."""
    for one in _reasons(row, pythons, demand, named):
        if one.kind:
            return one
    return _hardware(row, demand, named)


def _reasons(
    row: Release, pythons: frozenset[str], demand: Demand, named: bool
) -> Iterator[Judged]:
    """What may speak against a release before its CUDA is looked at."""
    yield _on_platform(row, demand)
    yield _published(row, named)
    if not pythons & set(demand.pythons):
        yield Judged("python", f"has no wheel for Python {demand.python or 'any that is known'}")
    yield _unstated(row, demand)


def _on_platform(row: Release, demand: Demand) -> Judged:
    """Whether the platform has a build with CUDA at all."""
    board = next((card for card in demand.gpus if card.capability in _JETSON), None)
    if board and demand.arch == "aarch64":
        return Judged(
            "platform",
            f"{board} runs NVIDIA's JetPack, and the aarch64 wheels of the package index are made "
            "for servers: take NVIDIA's wheels for your JetPack release, or its l4t containers",
        )
    if row.cuda is not None or not _OWN_CODE.fullmatch(row.name):
        return FITS
    system = demand.platform.split("-")[0]
    name = row.name.removesuffix("-gpu").replace("jaxlib", "jax")
    gone = dropped(name, row.version, system, demand.arch, "glibc")
    if gone is None:
        return Judged("cpu", "is built without CUDA for this platform")
    return Judged("platform", f"{gone.text}{f': {gone.instead}' if gone.instead else ''}")


def _published(row: Release, named: bool) -> Judged:
    """Whether a release is one to take: not withdrawn, no preview, not broken."""
    if row.yanked and not named:
        return Judged("yanked", "was withdrawn by its makers")
    if row.gone:
        return Judged("gone", "is no longer on the package index")
    if is_preview(row.version) and not named:
        return Judged("preview", "is a preview or a release candidate")
    flaw = flaw_of(row.name, row.version)
    if flaw and not (named and flaw.cure):
        return Judged("broken", flaw.text)
    return FITS


def _unstated(row: Release, demand: Demand) -> Judged:
    """What a package needs and no metadata states: systems, and the oldest GPU."""
    system = "windows" if demand.system == "windows" else "linux"
    for need in floors(row.name, row.version):
        if need.systems and system not in need.systems:
            only = " and ".join(need.systems).title()
            return Judged("platform", f"{row.name} runs on {only} only")
        for card in demand.gpus if need.gpu else ():
            if not at_least(card.capability, need.gpu):
                least = f"is made for compute capability {need.gpu} and newer"
                return Judged("gpu", f"{least}, not for {card}")
    return FITS


def _hardware(row: Release, demand: Demand, named: bool) -> Judged:
    """Driver and GPU code."""
    unread = row.cuda is msgspec.UNSET and _OWN_CODE.fullmatch(row.name)
    if unread and (demand.gpus or demand.driver_version):
        text = "for which CUDA it was built was never read"
        return Judged(doubt=text) if named else Judged("unknown", text)
    if not isinstance(row.cuda, str):
        return FITS
    on_driver = _on_driver(row.cuda, demand)
    if on_driver.kind:
        return on_driver
    doubt = on_driver.doubt
    for card in demand.gpus:
        one = _on_card(row, demand, card)
        if one.kind:
            return one
        doubt = doubt or one.doubt
    return Judged(doubt=doubt) if doubt else FITS


def least_driver(cuda: str, system: str) -> str:
    """The oldest driver that runs programs built for a CUDA release; "" where none is published."""
    whole = cuda if "." in cuda else f"{cuda}.0"
    known = floor(whole, "windows" if system == "windows" else "linux")
    return known.driver if known else ""


def _on_driver(cuda: str, demand: Demand) -> Judged:
    driver = demand.driver_version
    if not driver:
        return FITS
    speaks = cuda_of_driver(driver) or "99"
    if len(numbers(cuda)) > 1 and at_least(speaks, ".".join(map(str, numbers(cuda)[:2]))):
        return FITS
    least = least_driver(cuda, demand.system)
    if least:
        # of a driver, its branch may be all that is known
        exact = "." in driver
        enough = at_least(driver, least) if exact else numbers(driver)[:1] >= numbers(least)[:1]
        why = f"is built for CUDA {cuda}, which needs driver {least} or newer"
        return FITS if enough else Judged("driver", why)
    if numbers(speaks)[0] < numbers(cuda)[0]:
        newest = f"driver {driver} supports CUDA {speaks} at most"
        return Judged("driver", f"is built for CUDA {cuda}, and {newest}")
    system = demand.system.title()
    return Judged(doubt=f"which driver CUDA {cuda} needs on {system} is not published")


def _on_card(row: Release, demand: Demand, card: Card) -> Judged:
    """Whether a release's own code and that of its CUDA's libraries run on a GPU."""
    cuda = str(row.cuda)
    compiles = knows(cuda, card.capability)
    if compiles_at_run_time(row.name.split("-cuda")[0]):
        why = f"is built with CUDA {cuda}, which does not compile for {card}"
        return FITS if compiles else Judged("gpu", why)
    if not isinstance(row.sass, tuple) or not isinstance(row.ptx, tuple):
        if not compiles:
            return Judged("gpu", f"is built with CUDA {cuda}, which makes no code for {card}")
        return Judged(doubt=f"whether it has code for {card} was not read")
    how = archs.runs_on(row.sass, row.ptx, card.capability)
    if how == "no":
        return Judged("gpu", f"has GPU code for {spelled(row)}, none for {card}")
    return _by_ptx(row, demand, card) if how == "ptx" else FITS


def _by_ptx(row: Release, demand: Demand, card: Card) -> Judged:
    """Whether the driver and the CUDA libraries can do what PTX needs."""
    cuda = str(row.cuda)
    driver = demand.driver_version
    speaks = cuda_of_driver(driver) if driver else None
    if speaks and not at_least(speaks, cuda):
        why = f"has only PTX of CUDA {cuda} for {card}, newer than driver {driver} compiles"
        return Judged("driver", why)
    brings = isinstance(row.requires, dict) and row.requires
    if not brings and not knows(cuda, card.capability):
        cudnn = f" and cuDNN {row.cudnn}" if isinstance(row.cudnn, str) else ""
        return Judged(
            "gpu",
            f"has GPU code for {spelled(row)}, and needs CUDA {cuda}{cudnn}, whose libraries have "
            f"no code for {card}",
        )
    trouble = ptx_trouble(row.name, row.version, card.capability)
    return Judged(doubt=trouble.text) if trouble else FITS


def judge_library(row: Release, demand: Demand) -> Judged:
    """Whether one of NVIDIA's wheels has code for the GPUs."""
    if not isinstance(row.cuda, str) or not _MATHS.fullmatch(row.name):
        return FITS
    for card in demand.gpus:
        if isinstance(row.sass, tuple) and isinstance(row.ptx, tuple):
            runs = archs.runs_on(row.sass, row.ptx, card.capability) != "no"
        else:
            runs = knows(row.cuda, card.capability)
        if not runs:
            return Judged("library", f"{row.name} {row.version} has no code for {card}")
    return FITS


@lru_cache(maxsize=1024)
def knows(cuda: str, capability: str) -> bool:
    """Whether the libraries of a CUDA release have machine code that runs on a GPU."""
    major = numbers(cuda)[0]
    release = cuda if "." in cuda else f"{major}.{NEWEST_MINOR.get(major, 0)}"
    return any(
        archs.sass_runs(f"sm_{arch.capability.replace('.', '')}", capability)
        and _compiled_by(arch, release)
        for arch in archs.archs()
    )


def _compiled_by(arch: archs.Arch, release: str) -> bool:
    first, last = arch.first_toolkit, arch.last_toolkit
    if not first or not at_least(release, first):
        return False
    return not last or at_least(last, ".".join(map(str, numbers(release)[:2])))


def how_it_runs(row: Release, card: Card) -> str:
    """Which code a GPU runs: machine code for sm_86; PTX for compute_90 …; "" where not read."""
    if not isinstance(row.sass, tuple) or not isinstance(row.ptx, tuple):
        return ""
    if archs.runs_on(row.sass, row.ptx, card.capability) == "sass":
        code = next(c for c in reversed(row.sass) if archs.sass_runs(c, card.capability))
        return f"machine code for {code}"
    code = next((c for c in reversed(row.ptx) if archs.ptx_runs(c, card.capability)), "")
    return f"PTX for {code}, compiled by the driver at the first start" if code else ""


def spelled(row: Release) -> str:
    """The GPU code of a release: sm_35 … sm_70 and PTX for compute_70."""
    sass = row.sass if isinstance(row.sass, tuple) else ()
    ptx = row.ptx if isinstance(row.ptx, tuple) else ()
    machine = f"{sass[0]} … {sass[-1]}" if len(sass) > 2 else " and ".join(sass)
    code = f"PTX for {ptx[-1]}" if ptx else ""
    return " and ".join(filter(None, (machine, code))) or "no GPU"


def drives(demand: Demand) -> str:
    """Why the driver does not drive the GPUs at all; "" where it does."""
    driver = demand.driver_version
    for card in demand.gpus if driver else ():
        branch = numbers(driver)[0]
        last = archs.last_driver_branch(card.capability)
        if last and branch > int(last[1:]):
            arch = archs.of(card.capability)
            named = arch.name if arch else "it"
            return f"driver {driver} does not drive {card}: {last} is the last branch for {named}"
        if branch < archs.oldest_branch(card.capability, demand.system):
            first = archs.first_driver_branch(card.capability, demand.system)
            return f"driver {driver} is older than {card}, which R{first} or newer drives"
    return ""
