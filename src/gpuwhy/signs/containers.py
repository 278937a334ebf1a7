"""Containers and WSL: what of the GPU was passed in, and the way to Windows' driver."""

from gpuwhy.facts.fact import Absent, Known, Source, source_of, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Finding, know, saw
from gpuwhy.facts.loads import DriverLibrary
from gpuwhy.facts.system import Injected
from gpuwhy.facts.version import at_least
from gpuwhy.signs import say
from gpuwhy.signs.case import Case, rows
from gpuwhy.signs.driver_library import saw_copy
from gpuwhy.signs.expect import gpu_claimed, gpu_present, offline

_NOTHING = ("", "void", "none")

# ---------------------------------------------------------------- container.no_gpu


def not_given(case: Case) -> Finding | None:
    """Device nodes and libcuda come from outside: look for both."""
    facts = case.facts
    where = facts.system.container.need()
    if not where:
        return say.against("this is no container")
    given = facts.system.injected.need()
    if given is None:
        return say.against(f"nothing has to be passed into {where}")
    if where == "image" and given.requested in ("void", "none") and given.libraries:
        text = (
            f"the image's config sets NVIDIA_VISIBLE_DEVICES={given.requested}: where the NVIDIA "
            "runtime decides (--runtime=nvidia, Compose, clusters) its containers get no GPU; only "
            "`docker run --gpus` overrides it"
        )
        config = Source("env", "NVIDIA_VISIBLE_DEVICES", "image config")
        return say.slows(say.strong(text, saw(f"NVIDIA_VISIBLE_DEVICES={given.requested}", config)))
    return (_libraries if given.devices else _nodes)(facts, where, given)


def _nodes(facts: Facts, where: str, given: Injected) -> Finding:
    """No node: certain when the host's GPU can be seen, likely when something asks for one."""
    module, gpus, present = facts.driver.module_version, facts.devices.gpus, gpu_present(facts)
    if isinstance(gpus, Known) and gpus.value:
        return say.against(f"{gpus.value[0].name} answers, so it was given")
    lacks = f"this container ({where}) has no GPU device node{_asked(where, given)}"
    empty = saw("no /dev/nvidia* and no /dev/dxg", facts.system.injected)
    if isinstance(module, Known):
        text = f"the host's NVIDIA driver {module.value} is loaded, but {lacks}"
        return say.proof(text, saw(f"NVRM version {module.value}", module), empty)
    if isinstance(present, Known):
        text = f"the host has {present.value}, but {lacks}"
        return say.proof(text, saw(present.value, present), empty)
    if given.requested not in _NOTHING:
        return say.strong(lacks, empty)
    if isinstance(present, Absent):
        return say.against("the host has no NVIDIA GPU to give")
    claim = gpu_claimed(facts)
    if isinstance(claim, Known):
        return say.strong(f"{claim.value}, but {lacks}", saw(claim.value, claim), empty)
    return present.need()


def _asked(where: str, given: Injected) -> str:
    """What the start of the container asked for, as far as it shows from inside."""
    if where == "kubernetes" and given.requested in _NOTHING:
        return ": its pod was given no nvidia.com/gpu"
    if where == "singularity":
        return "" if given.libraries else " and no library of the driver, which --nv brings"
    wish = f"NVIDIA_VISIBLE_DEVICES={given.requested} asks for"
    if given.requested in ("void", "none"):
        return f": {wish} none"
    return f", although {wish} GPUs" if given.requested else ""


def _libraries(facts: Facts, where: str, given: Injected) -> Finding:
    """Nodes without libcuda: the runtime was told to leave it out, or others made the nodes."""
    image, copies, allowed = where == "image", facts.loads.libcuda, given.capabilities
    if given.libraries:
        return say.against(f"{where} gets device nodes and libcuda")
    found = copies.need() or ()
    if not image and any(one.kind != "stub" and one.on_path for one in found):
        return say.against(f"{where} has device nodes and libcuda")
    nodes = saw("the container has GPU device nodes", facts.system.injected)
    seen = (nodes, saw("the loader finds no libcuda.so.1", copies))
    if allowed and {"compute", "all"}.isdisjoint(allowed.split(",")):
        who = "its containers get no" if image else f"{where} was not given"
        text = f"NVIDIA_DRIVER_CAPABILITIES={allowed} lacks compute, so {who} libcuda.so.1"
        return say.proof(text, *seen)
    text = f"{where} has GPU device nodes, but the NVIDIA runtime did not pass libcuda.so.1 in"
    return say.strong(text, *seen)


# ---------------------------------------------------------------- wsl.setup

_FOLDER = "/usr/lib/wsl/lib"
_NEEDS_HELPER = "13.0"
_DRIVER_PACKAGES = (
    *("libnvidia-compute", "nvidia-driver", "libcuda1", "cuda-drivers"),
    *("nvidia-dkms", "nvidia-kernel"),
)
_STORE = Source(
    "know", "NVIDIA Container Toolkit, list of WSL driver-store files", "reports of cuInit 500"
)


def way_to_windows(case: Case) -> Finding | None:
    """WSL 2, /dev/dxg and Windows' libcuda; each is useless without the one before."""
    facts, system = case.facts, case.facts.system
    version = system.wsl.need()
    if not version:
        return say.against("this is not WSL")
    if offline(facts):  # a Linux driver among the files is wrong wherever they run
        copies = facts.loads.libcuda.need() or ()
        first = next((one for one in copies if one.on_path), None)
        wrong = first.kind == "driver" if first else any(one.kind == "wsl" for one in copies)
        return _library(facts, copies) if wrong else None
    if container := system.container.need():
        return _toolkit(facts, container)
    copies = facts.loads.libcuda.need() or ()
    facts.environment.packages.need()  # what was not looked at may be what asks for the GPU
    if not isinstance(gpu_claimed(facts), Known):
        return say.against("nothing here asks for a GPU")
    if version == 1:
        text = "this is WSL 1, which has no way to the GPU; WSL 2 has one"
        return say.proof(text, saw("a WSL 1 kernel", system.wsl))
    if not system.wsl_device.need():
        text = (
            "/dev/dxg, WSL 2's way to the GPU, is missing: Windows, its driver or the WSL kernel "
            "is too old"
        )
        return say.proof(text, saw("no /dev/dxg", system.wsl_device))
    return _library(facts, copies)


def _toolkit(facts: Facts, container: str) -> Finding:
    """A container toolkit older than Windows' driver brings libcuda without its helper."""
    system, driver = facts.system, facts.driver
    given = system.injected.need()
    if given is None or not given.lacking or not given.libraries:
        return say.against(f"inside {container} it matters what the container was given")
    cuda, library = driver.driver_cuda.need() or "0", given.lacking[0]
    if not at_least(cuda, _NEEDS_HELPER):
        return say.against(f"a driver of CUDA {cuda} works without {library}")
    return say.strong(
        f"this container ({container}) has libcuda of Windows' driver "
        f"{value_or(driver.windows_version, '')} (CUDA {cuda}), but not {library}: the NVIDIA "
        "Container Toolkit is older than the driver, and cuInit fails with 500",
        saw(f"no {library}", system.injected),
        know("since CUDA 13.0 Windows' libcuda calls it; the toolkit passes what it knows", _STORE),
        library=library,
    )


def _library(facts: Facts, copies: tuple[DriverLibrary, ...]) -> Finding:
    """Windows brings its own libcuda; any other real one on the path cannot reach the GPU."""
    seen = facts.loads.libcuda
    first = next((one for one in copies if one.on_path), None)
    windows = next((one for one in copies if one.kind == "wsl"), None)
    if first and first.kind == "driver":
        packages = [
            one.name
            for one in value_or(facts.driver.packages, ())
            if one.name.startswith(_DRIVER_PACKAGES) and one.status != "config-files"
        ]
        names, version = f"installed: {', '.join(packages[:3])}", value_or(first.version, "")
        return say.proof(
            f"libcuda {version} at {first.path} belongs to a Linux driver, "
            "which does not work under WSL",
            saw_copy(first, source_of(first.version)),
            *((saw(names, facts.driver.packages),) if packages else ()),
            path=first.path,
            version=version,
        )
    if windows is None:
        text = f"{_FOLDER} has no libcuda.so.1: Windows has no NVIDIA driver, or one without WSL"
        return say.strong(text, saw("no libcuda.so.1 of Windows", seen))
    if first is None:
        text = f"libcuda.so.1 is in {_FOLDER}, but the loader does not look there"
        return say.proof(text, saw_copy(windows, seen))
    return say.against(f"libcuda comes from {first.path}")


SIGNS = (
    *rows("container.no_gpu", "machine", not_given),
    *rows("wsl.setup", "machine", way_to_windows),
)
