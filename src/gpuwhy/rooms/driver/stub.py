"""driver.stub: the toolkit's stub of a driver library is what programs get."""

from __future__ import annotations

from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, proof, saw, strong
from gpuwhy.model.fact import Fact, Known, value_or
from gpuwhy.model.facts import DriverLibrary, Rule
from gpuwhy.rooms.shared.probed import answered
from gpuwhy.rooms.shared.winner import (
    as_driver_library,
    as_the_cache_stands,
    folder_of,
    in_image,
    in_trees,
    no_driver,
    no_nodes_in_container,
    off_the_cache,
    off_the_path,
    off_the_path_of_an_image,
    told,
    winner,
)


def stub_wins(case: Case) -> Finding | None:
    """A stub can be linked against and does nothing: cuInit answers 34, whatever the machine has."""
    objection = _nothing_to_reach(case)
    if objection:
        return objection
    cuda, nvml = case.facts.loads.libcuda, case.facts.loads.libnvml
    one = winner(cuda)
    if one and one.kind == "stub":
        unless = as_the_cache_stands(case.facts, one)
        return (strong if unless else proof)(
            f"programs get the stub {one.path} instead of the driver's libcuda (error 34){unless}",
            saw(f"{one.path}, found by {one.found_via}", cuda),
            *(
                saw(f"the real one: {real.path}", cuda)
                for real in _real(cuda)[:1]
                if real.path != one.path and not told(real)
            ),
        )
    if theirs := in_trees(case.facts, "stub"):
        who, loaded = theirs
        text = f"{who} gets the stub {loaded.path} instead of the driver's libcuda (error 34), found by {loaded.via}"
        return proof(text, saw(f"{loaded.path}, found by {loaded.via}", case.facts.loads.trees))
    other = winner(nvml)
    if other and other.kind == "stub":
        seen = saw(f"{other.path}, found by {other.found_via}", nvml)
        return strong(f"nvidia-smi and NVML programs get the stub {other.path}", seen)
    where = one.path if one else "nowhere"
    return against(f"libcuda comes from {where}, which is no stub", saw(f"libcuda: {where}", cuda))


def _nothing_to_reach(case: Case) -> Finding | None:
    """On a machine without a driver a stub is only something to link against."""
    cuda, around = case.facts.loads.libcuda, case.facts.surroundings
    if isinstance(around.wsl, Known) or (isinstance(around.offline, Known) and _real(cuda)):
        return None  # on a disk, the driver's own library beside it tells that there is one
    return no_driver(case.facts) or no_nodes_in_container(case.facts)


def _real(copies: Fact[tuple[DriverLibrary, ...]]) -> list[DriverLibrary]:
    return [one for one in value_or(copies, ()) if one.kind in ("driver", "wsl")]


def _stubs(case: Case) -> list[DriverLibrary]:
    loads = case.facts.loads
    firsts = (value_or(copies, ())[:1] for copies in (loads.libcuda, loads.libnvml))
    return [one for first in firsts for one in first if one.kind == "stub"]


_COPIED = (Rule.CACHE, Rule.DEFAULT, Rule.BROUGHT)


def fixes(case: Case) -> tuple[Fix, ...]:
    """Take the stubs folder off the search path, or put the real library first."""
    theirs = in_trees(case.facts, "stub")
    stub = next(iter(_stubs(case)), None) or (as_driver_library(theirs[1], "stub") if theirs else None)
    folder = folder_of(stub.path) if stub else "/usr/local/cuda/lib64/stubs"
    out = []
    if stub and stub.rule in _COPIED and not folder.endswith("/stubs"):
        text = f"Delete {stub.path}, a copy of the stub, and link against the toolkit's stubs folder (-L) instead"
        if in_image(case.facts):
            return (Fix(text, on.dockerfile(f"RUN rm {stub.path} && ldconfig")),)
        return (Fix(text, on.linux(f"sudo rm {stub.path} && sudo ldconfig"), root=True),)
    if stub and stub.rule is Rule.LD_LIBRARY_PATH and in_image(case.facts):
        return (off_the_path_of_an_image(case.facts, folder),)
    if stub and stub.rule is Rule.LD_LIBRARY_PATH:
        out.append(off_the_path(folder))
    else:
        out.append(off_the_cache(case.facts, folder))
    return (*out, *_driver_first(case))


def _driver_first(case: Case) -> tuple[Fix, ...]:
    """The folder of the driver's own library before all others, where it has one here."""
    text = "Or put the driver's folder first, for this shell"
    real = [folder_of(one.path) for one in _real(case.facts.loads.libcuda)[:1] if not told(one)]
    return tuple(Fix(text, on.linux(f"export LD_LIBRARY_PATH={one}:$LD_LIBRARY_PATH"), safe=True) for one in real)


CAUSE = Cause(
    id="driver.stub",
    title="the CUDA toolkit's stub libcuda.so is loaded instead of the driver's",
    signs=(stub_wins, answered("driver.stub")),
    fixes=fixes,
    hides=("driver.library_mismatch", "driver.too_old"),
)
