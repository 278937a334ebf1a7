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
from gpuwhy.choose.names import NAMES
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge import archs
from gpuwhy.knowledge.drivers import NEWEST_MINOR, cuda_of_driver, floor
from gpuwhy.knowledge.flaws import flaw as flaw_of
from gpuwhy.knowledge.flaws import flawed_on, ptx_trouble
from gpuwhy.knowledge.floors import floors
from gpuwhy.knowledge.packages import compiles_at_run_time
from gpuwhy.knowledge.platforms import dropped
from gpuwhy.knowledge.releases import Release, has_python

_JETSON = ("5.3", "6.2", "7.2", "8.7")
_JETPACK = (
    "runs NVIDIA's JetPack, and the aarch64 wheels of the package index are made for servers: "
    "take NVIDIA's wheels for your JetPack release, or its l4t containers"
)
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


# Pythons and the C library


def pythons_of(row: Release, demanded: str) -> frozenset[str]:
    """The Pythons a release installs on: by its wheels' tags, and by what it demands of Python."""
    source = row.platform == "source"
    tagged = frozenset(PYTHONS) if source else _tagged(row.pythons, "-py3" in row.file)
    taken = frozenset(python for python in tagged if takes_python(demanded, python))
    return taken - flawed_on(row.name, row.version)


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


def takes_glibc(least: str, demand: Demand) -> bool:
    """Whether the machine's C library takes wheels that need a glibc."""
    here = demand.glibc
    if not least or not here or demand.system == "windows":
        return True
    return here != "musl" and at_least(here, least)


# Releases


def judge(row: Release, pythons: frozenset[str], demand: Demand, named: bool) -> Judged:
    """Whether a release may be chosen; `named`: it is pinned, so that even a flawed one may be."""
    for kind, why in (*_platform(row, demand), *_published(row, named)):
        return Judged(kind, why)
    if not pythons & set(demand.pythons):
        return Judged("python", f"has no wheel for Python {demand.python or 'any that is known'}")
    for kind, why in _unstated(row, demand):
        return Judged(kind, why)
    unread = row.cuda is msgspec.UNSET and re.fullmatch(NAMES.own_code, row.name)
    if unread and (demand.gpus or demand.driver_version):
        text = "for which CUDA it was built was never read"
        return Judged(doubt=text) if named else Judged("unknown", text)
    return on_hardware(row, demand)


def _platform(row: Release, demand: Demand) -> Iterator[tuple[Kind, str]]:
    """What speaks against a release on this platform."""
    board = next((card for card in demand.gpus if card.capability in _JETSON), None)
    if board and demand.arch == "aarch64":
        yield "platform", f"{board} {_JETPACK}"
    if row.cuda is None and re.fullmatch(NAMES.own_code, row.name):
        name = row.name.removesuffix("-gpu").replace("jaxlib", "jax")
        gone = dropped(name, row.version, demand.platform.split("-")[0], demand.arch, "glibc")
        if gone is None:
            yield "cpu", "is built without CUDA for this platform"
        else:
            yield "platform", ": ".join(filter(None, (gone.text, gone.instead)))


def _published(row: Release, named: bool) -> Iterator[tuple[Kind, str]]:
    """Why a release is not one to take: withdrawn, a preview, broken."""
    if row.yanked and not named:
        yield "yanked", "was withdrawn by its makers"
    if row.gone:
        yield "gone", "is no longer on the package index"
    if parsed(row.version).is_prerelease and not named:
        yield "preview", "is a preview or a release candidate"
    flaw = flaw_of(row.name, row.version)
    if flaw and not (named and flaw.cure):
        yield "broken", flaw.text


def _unstated(row: Release, demand: Demand) -> Iterator[tuple[Kind, str]]:
    """What a package needs and no metadata states: systems, and the oldest GPU."""
    for need in floors(row.name, row.version):
        if need.systems and demand.platform.split("-")[0] not in need.systems:
            yield "platform", f"{row.name} runs on {' and '.join(need.systems).title()} only"
        for card in demand.gpus if need.gpu else ():
            if not at_least(card.capability, need.gpu):
                yield "gpu", f"is made for compute capability {need.gpu} and newer, not for {card}"


def on_hardware(row: Release, demand: Demand) -> Judged:
    """Whether a release runs with the driver and on every GPU."""
    doubt = FITS
    if isinstance(row.cuda, str):
        for one in _on_each(row, row.cuda, demand):
            if one.kind:
                return one
            doubt = doubt if doubt.doubt else one
    return doubt


def _on_each(row: Release, cuda: str, demand: Demand) -> Iterator[Judged]:
    yield on_driver(cuda, demand)
    for card in demand.gpus:
        yield _on_card(row, cuda, demand, card)


def least_driver(cuda: str, system: str) -> str:
    """The oldest driver that runs programs built for a CUDA release; "" where none is published."""
    whole = cuda if "." in cuda else f"{cuda}.0"
    known = floor(whole, "windows" if system == "windows" else "linux")
    return known.driver if known else ""


def on_driver(cuda: str, demand: Demand) -> Judged:
    """Whether the driver runs programs that are built for a CUDA release."""
    driver = demand.driver_version
    if not driver:
        return FITS
    speaks = cuda_of_driver(driver) or "99"
    if "." in cuda and at_least(speaks, major_minor(cuda)):
        return FITS
    least = least_driver(cuda, demand.system)
    if least:
        given = numbers(driver)  # its branch may be all that is known
        enough = given >= numbers(least)[: len(given)]
        why = f"is built for CUDA {cuda}, which needs driver {least} or newer"
        return FITS if enough else Judged("driver", why)
    if numbers(speaks)[0] < numbers(cuda)[0]:
        newest = f"driver {driver} supports CUDA {speaks} at most"
        return Judged("driver", f"is built for CUDA {cuda}, and {newest}")
    system = demand.system.title()
    return Judged(doubt=f"which driver CUDA {cuda} needs on {system} is not published")


def _on_card(row: Release, cuda: str, demand: Demand, card: Card) -> Judged:
    """Whether a release's own code and that of its CUDA's libraries run on a GPU."""
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
    return FITS if how == "sass" else _by_ptx(row, cuda, demand.driver_version, card)


def _by_ptx(row: Release, cuda: str, driver: str, card: Card) -> Judged:
    """Whether the driver and the CUDA libraries can do what PTX needs."""
    speaks = cuda_of_driver(driver) if driver else None
    if speaks and not at_least(speaks, cuda):
        why = f"has only PTX of CUDA {cuda} for {card}, newer than driver {driver} compiles"
        return Judged("driver", why)
    brings = isinstance(row.requires, dict) and row.requires
    if not brings and not knows(cuda, card.capability):
        needs = f"CUDA {cuda}" + (f" and cuDNN {row.cudnn}" if isinstance(row.cudnn, str) else "")
        without = f"needs {needs}, whose libraries have no code for {card}"
        return Judged("gpu", f"has GPU code for {spelled(row)}, and {without}")
    trouble = ptx_trouble(row.name, row.version, card.capability)
    return Judged(doubt=trouble.text) if trouble else FITS


def judge_library(row: Release, demand: Demand) -> Judged:
    """Whether one of NVIDIA's wheels has code for the GPUs."""
    if not isinstance(row.cuda, str) or not re.fullmatch(NAMES.maths, row.name):
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
    release = major_minor(cuda) if "." in cuda else f"{major}.{NEWEST_MINOR.get(major, 0)}"
    return any(
        archs.sass_runs(f"sm_{arch.capability.replace('.', '')}", capability)
        for arch in archs.archs()
        if arch.first_toolkit
        and at_least(release, arch.first_toolkit)
        and (not arch.last_toolkit or at_least(arch.last_toolkit, release))
    )


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
