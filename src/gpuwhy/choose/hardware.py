"""Hardware: whether a release runs with a driver and on a GPU."""

import re
from functools import lru_cache

from gpuwhy.choose.choice import FITS, Judged, worst
from gpuwhy.choose.demand import Card, Demand
from gpuwhy.choose.names import NAMES
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge import archs
from gpuwhy.knowledge.drivers import NEWEST_MINOR, cuda_of_driver, floor
from gpuwhy.knowledge.flaws import ptx_trouble
from gpuwhy.knowledge.packages import compiles_at_run_time
from gpuwhy.knowledge.releases import Release


def on_hardware(row: Release, demand: Demand) -> Judged:
    """Whether a release runs with the driver and on every GPU."""
    if not isinstance(row.cuda, str):
        return FITS
    cards = (_on_card(row, row.cuda, demand, card) for card in demand.gpus)
    return worst((on_driver(row.cuda, demand), *cards))


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
    has = f"has GPU code for {spelled(row)}"
    if how == "no":
        return Judged("gpu", f"{has}, none for {card}")
    if how == "sass":
        return FITS
    driver = demand.driver_version
    if driver and not at_least(cuda_of_driver(driver) or "99", cuda):
        why = f"has only PTX of CUDA {cuda} for {card}, newer than driver {driver} compiles"
        return Judged("driver", why)
    if not (row.requires or compiles):  # the system's libraries, which have no PTX
        needs = f"CUDA {cuda}" + (f" and cuDNN {row.cudnn}" if isinstance(row.cudnn, str) else "")
        return Judged("gpu", f"{has}, and needs {needs}, whose libraries have no code for {card}")
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
    return " and ".join(filter(None, (machine, f"PTX for {ptx[-1]}" if ptx else ""))) or "no GPU"


def drives(demand: Demand) -> str:
    """Why the driver does not drive the GPUs at all; "" where it does."""
    driver = demand.driver_version
    for card in demand.gpus if driver else ():
        branch = numbers(driver)[0]
        last, arch = archs.last_driver_branch(card.capability), archs.of(card.capability)
        if last and branch > int(last[1:]):
            named = arch.name if arch else "it"
            return f"driver {driver} does not drive {card}: {last} is the last branch for {named}"
        if branch < archs.oldest_branch(card.capability, demand.system):
            first = archs.first_driver_branch(card.capability, demand.system)
            return f"driver {driver} is older than {card}, which R{first} or newer drives"
    return ""
