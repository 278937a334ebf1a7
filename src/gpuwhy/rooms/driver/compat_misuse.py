"""driver.compat_misuse: a cuda-compat libcuda wins where it must not."""

from __future__ import annotations

from gpuwhy.knowledge.gpus import segment
from gpuwhy.knowledge.tables import source
from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Evidence, Finding, Fix, against, know, proof, saw, strong, weak
from gpuwhy.model.fact import Known, Unknown, value_or
from gpuwhy.model.facts import DriverLibrary, Facts, Rule
from gpuwhy.model.version import numbers
from gpuwhy.rooms.shared.probed import answered
from gpuwhy.rooms.shared.winner import (
    as_driver_library,
    as_the_cache_stands,
    folder_of,
    in_image,
    in_trees,
    no_driver,
    off_the_cache,
    off_the_path,
    off_the_path_of_an_image,
    winner,
)

SEEN = source("an H200 of 2026-11-15", "tests/hosts/h200-compat-first.json")
RULES = source("NVIDIA CUDA compatibility guide", "forward compatibility")


def compat_library_wins(case: Case) -> Finding | None:
    """Forward compatibility is for data-center GPUs under a kernel module older than the library."""
    facts = case.facts
    one = _compat(facts)
    if one is None:
        return _another_wins(facts)
    objection = no_driver(facts)
    if objection:
        return objection
    if in_image(facts) and isinstance(facts.driver.module_version, Unknown):
        return _forced(case, one)
    module, version = facts.driver.module_version.need() or "", one.version.need() or ""
    if numbers(version) == numbers(module):
        return against(f"the cuda-compat libcuda is of the module's own version {module}", _seen(case, one))
    if numbers(version) < numbers(module):
        return _older(case, one, version, module)
    return _newer(case, one, version, module)


def _compat(facts: Facts) -> DriverLibrary | None:
    """The cuda-compat libcuda that the loader takes, for every program or for a framework's process."""
    one = winner(facts.loads.libcuda)
    if one and one.kind == "compat":
        return one
    theirs = in_trees(facts, "compat")
    if not theirs:
        return None
    known = [copy for copy in value_or(facts.loads.libcuda, ()) if copy.path == theirs[1].path]
    return known[0] if known else as_driver_library(theirs[1], "compat")


def _another_wins(facts: Facts) -> Finding:
    one = winner(facts.loads.libcuda)
    text = f"libcuda comes from {one.path}, not from cuda-compat" if one else "the loader finds no libcuda at all"
    return against(text, saw(f"libcuda: {one.path if one else 'none'}", facts.loads.libcuda))


def _forced(case: Case, one: DriverLibrary) -> Finding:
    """An image that puts cuda-compat before every host's driver: right on few machines, whatever the driver is."""
    version = value_or(one.version, "")
    return strong(
        f"the image puts {one.path} of cuda-compat before the host's libcuda: that works on a data-center GPU whose "
        f"driver is older than {version or 'it'}, and fails with error 803 under a newer one and 804 on other cards",
        _seen(case, one),
        know("cuda-compat is for kernel modules older than itself", RULES),
    )


def _older(case: Case, one: DriverLibrary, version: str, module: str) -> Finding:
    unless = as_the_cache_stands(case.facts, one)
    return (strong if unless else proof)(
        f"libcuda {version} from cuda-compat hides the driver's own {module}: an older libcuda does not fit a newer "
        f"kernel module (error 803){unless}",
        _seen(case, one),
        saw(f"kernel module {module}", case.facts.driver.module_version),
        know("cuda-compat is for kernel modules older than itself", RULES),
        know("cuInit returned 803 with 580.95.05 over module 580.159.04", SEEN),
    )


def _newer(case: Case, one: DriverLibrary, version: str, module: str) -> Finding:
    names = _gpu_names(case)
    markets = {name: segment(name) for name in names}
    text = f"libcuda {version} from cuda-compat wins over kernel module {module}"
    shown = (_seen(case, one), saw(", ".join(names), case.facts.devices.devices))
    rule = know("forward compatibility works on data-center GPUs only; elsewhere it ends in error 804", RULES)
    consumer = next((name for name in names if markets[name] == "consumer"), None)
    if consumer:
        return proof(f"{text}, on a {consumer}, which does not allow it", *shown, rule)
    if all(market == "data center" for market in markets.values()):
        return against(f"{text}, as intended on {names[0]}", *shown, rule)
    return weak(f"{text}; {names[0]} may not allow it", *shown, rule)


def _gpu_names(case: Case) -> list[str]:
    """The GPUs by NVML, else by the bus."""
    if isinstance(case.facts.devices.devices, Known) and case.facts.devices.devices.value:
        return [device.name for device in case.facts.devices.devices.value]
    names = [value_or(device.name, "") for device in case.facts.devices.pci.need() or ()]
    if not any(names):
        case.facts.devices.devices.need()
    return [name for name in names if name] or ["this GPU"]


def _seen(case: Case, one: DriverLibrary) -> Evidence:
    return saw(f"{one.path}, found by {one.found_via}", case.facts.loads.libcuda)


def fixes(case: Case) -> tuple[Fix, ...]:
    """Take the compat folder off the search, or the package off the machine."""
    copies = value_or(case.facts.loads.libcuda, ())
    theirs = in_trees(case.facts, "compat")
    first = theirs[1].path if theirs else copies[0].path if copies else "/usr/local/cuda/compat/libcuda.so.1"
    folder = folder_of(first)
    package = next((p.name for p in value_or(case.facts.driver.compat_packages, ())), "cuda-compat-12-4")
    out = []
    if copies and copies[0].rule is Rule.LD_LIBRARY_PATH and in_image(case.facts):
        return (off_the_path_of_an_image(case.facts, folder),)
    if copies and copies[0].rule is Rule.LD_LIBRARY_PATH:
        out.append(off_the_path(folder))
    if copies and copies[0].kind == "compat" and copies[0].rule is Rule.CACHE:
        out.append(off_the_cache(case.facts, folder))
    out.append(Fix("Remove the package", on.linux(f"sudo apt remove {package} && sudo ldconfig"), root=True))
    if isinstance(case.facts.surroundings.container, Known):
        out.append(
            Fix("Or delete the folder in the image", on.dockerfile(f"RUN rm -rf {folder} && ldconfig"), root=True)
        )
    return tuple(out)


CAUSE = Cause(
    id="driver.compat_misuse",
    title="the cuda-compat driver library is used where it does not work",
    signs=(compat_library_wins, answered("driver.compat_misuse")),
    fixes=fixes,
    hides=("driver.library_mismatch",),
)
