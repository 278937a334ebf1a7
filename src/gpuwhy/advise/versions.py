"""Versions: which release, wheel, build or driver a remedy names, by `choose` and the tables."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from gpuwhy.facts.version import major_minor
from gpuwhy.knowledge.drivers import floor
from gpuwhy.knowledge.libraries import cuda_of
from gpuwhy.knowledge.torch_builds import variants

if TYPE_CHECKING:  # choose and the tables of libraries take time: only where they are asked
    from gpuwhy.choose.choice import Pick
    from gpuwhy.choose.demand import System

NEWEST_BRANCH = "580"
"""The driver branch that distributions offer and that supports CUDA 13."""
_USUAL_DRIVER = "570"
"""What is assumed of a machine whose driver nobody states: CUDA 12.8."""
_PACKAGED = (470, 535, 550, 570, 580, 590)
"""The driver branches that people can install today."""
_LINUX = "linux-x86_64"


def older(version: str, bound: str) -> bool:
    """Whether a version is older than a bound."""
    return bool(_numbers(version)) and _numbers(version) < _numbers(bound)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(one) for one in re.findall(r"\d+", version.partition("+")[0])[:3])


def package_of_library(library: str, suffix: str) -> str:
    """The wheel that contains a library; of cuDNN with the major release that its name asks for."""
    from gpuwhy.knowledge.installs import wheel_of
    from gpuwhy.knowledge.libraries import parse

    known = parse(library)
    number = known.suffix.partition(".")[0] if known else ""
    own = cuda_of(library).partition(".")[0]
    major = own if own.isdigit() else suffix.removeprefix("-cu") or "13"
    wheel = wheel_of(library, int(major)) if major.isdigit() else ""
    if known is None or known.family.name != "cudnn":
        return wheel
    return f"{wheel}=={number}.*" if number in ("8", "9") else ""


def conda_of_library(library: str) -> str:
    """The conda package that contains a library."""
    from gpuwhy.knowledge.libraries import parse

    known, cuda = parse(library), cuda_of(library)
    if known is None or not known.family.conda:
        return ""
    if known.family.name == "cudnn":
        number = known.suffix.partition(".")[0]
        return f"cudnn={number}" if number else "cudnn"
    return f"cudatoolkit={cuda.split(' ')[0]}" if older(cuda, "12") else known.family.conda[0]


def driver_branch(cuda: str) -> str:
    """The branch of a driver that people can install today and that runs a CUDA release."""
    wanted = _numbers(_driver_for(cuda))
    if not wanted:
        return NEWEST_BRANCH
    return str(next((one for one in _PACKAGED if one >= wanted[0]), _PACKAGED[-1]))


def _driver_for(cuda: str) -> str:
    found = floor(cuda, "linux") if cuda else None
    return found.driver if found else ""


def torch_builds(version: str) -> tuple[str, ...]:
    """The CUDA releases that a PyTorch release was built for, the newest first."""
    return tuple(one.cuda for one in variants(major_minor(version)))


@lru_cache(maxsize=64)
def torch_for(
    version: str, capability: str, driver: str = "", cuda: str = "", system: System = "linux"
) -> Pick | None:
    """The PyTorch for a GPU and a driver, or for the newest CUDA that the driver supports; None
    where there is none.
    """
    from gpuwhy.choose.chooser import proposed
    from gpuwhy.choose.demand import Card, Demand, Wanted

    wanted = Wanted("torch", f"=={version}" if version else "")
    cards = (Card("the GPU", capability),) if capability else ()
    driver = driver or _driver_for(cuda) or _USUAL_DRIVER
    demand = Demand((wanted,), system, driver_version=driver, gpus=cards)
    found = proposed(demand)
    return found.pick("torch") if found else None


def backend_of(pick: Pick) -> str:
    """The index of PyTorch's own that has a build: cu126."""
    return pick.backend or f"cu{major_minor(pick.cuda).replace('.', '')}"


def cuda_major_of(framework: str, version: str) -> str:
    """The major CUDA release that a framework's own packages are built for."""
    if framework == "torch" and "+cu" in version:
        return version.partition("+cu")[2][:2]
    if not version:
        return ""
    if framework == "torch":
        builds = torch_builds(version)
        return builds[-1].partition(".")[0] if builds else ""
    if framework == "tensorflow":
        return "11" if older(version, "2.15") else "12"
    return "11" if framework == "jax" and older(version, "0.4.10") else ""


def python_of(package: str, version: str) -> str:
    """The newest Python that a release has wheels for."""
    from gpuwhy.choose.candidates import rows_of
    from gpuwhy.choose.demand import parsed

    row = next((one for one in rows_of(package, _LINUX) if one.version == version), None)
    plain = [one for one in row.pythons if re.fullmatch(r"3\.\d+", one)] if row else []
    return max(plain, key=parsed, default="")


def cudnn_of(framework: str, version: str) -> str:
    """The cuDNN that a release of a framework was built with."""
    from gpuwhy.choose.candidates import rows_of

    rows = rows_of(framework, _LINUX) if framework in ("tensorflow", "torch") else ()
    row = next((one for one in rows if one.version == version), None)
    return row.cudnn if row is not None and isinstance(row.cudnn, str) else ""
