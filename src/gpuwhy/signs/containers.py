"""Containers and WSL: what of the GPU was passed in, and the way to Windows' driver."""

from __future__ import annotations

from gpuwhy.facts.fact import Absent, Known, Source, source_of, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Evidence, Finding, know, saw
from gpuwhy.facts.loads import DriverLibrary
from gpuwhy.facts.system import Injected
from gpuwhy.facts.version import at_least
from gpuwhy.signs.case import Case, against, proof, rows, slows, strong
from gpuwhy.signs.driver_library import saw_copy
from gpuwhy.signs.expect import gpu_claimed, gpu_present, installed, offline

_SEEN_TF = Source("know", "TensorFlow 2.20.0 and 2.21.0 over a stand-in driver", "2026-11-15")
_NOTHING = ("", "void", "none")

# ---------------------------------------------------------------- container.no_gpu


def not_given(case: Case) -> Finding | None:
    """Device nodes and libcuda come from outside: look for both."""
    facts = case.facts
    where = facts.system.container.need()
    if not where:
        return against("this is no container")
    given = facts.system.injected.need()
    if given is None:
        return against("nothing has to be passed into {container}", container=where)
    if where == "image" and given.requested in ("void", "none") and given.libraries:
        text = (
            "the image's config sets NVIDIA_VISIBLE_DEVICES={value}: where the NVIDIA runtime "
            "decides (--runtime=nvidia, Compose, clusters) its containers get no GPU; only "
            "`docker run --gpus` overrides it"
        )
        config = Source("env", "NVIDIA_VISIBLE_DEVICES", "image config")
        seen = saw(f"NVIDIA_VISIBLE_DEVICES={given.requested}", config)
        return slows(strong(text, seen, value=given.requested))
    return (_libraries if given.devices else _nodes)(facts, where, given)


def _nodes(facts: Facts, where: str, given: Injected) -> Finding:
    """No node: certain when the host's GPU can be seen, likely when something asks for one."""
    module, gpus = facts.driver.module_version, facts.devices.gpus
    present = gpu_present(facts)
    if isinstance(gpus, Known) and gpus.value:
        return against("{gpu} answers, so it was given", gpu=gpus.value[0].name)
    values = {"container": where, "requested": given.requested}
    lacks = "this container ({container}) has no GPU device node" + _asked(where, given)
    empty = saw("no /dev/nvidia* and no /dev/dxg", facts.system.injected)
    if isinstance(module, Known):
        text = f"the host's NVIDIA driver {{driver}} is loaded, but {lacks}"
        seen = saw(f"NVRM version {module.value}", module)
        return proof(text, seen, empty, driver=module.value, **values)
    if isinstance(present, Known):
        text = f"the host has {{gpu}}, but {lacks}"
        return proof(text, saw(present.value, present), empty, gpu=present.value, **values)
    if given.requested not in _NOTHING:
        return strong(lacks, empty, **values)
    if isinstance(present, Absent):
        return against("the host has no NVIDIA GPU to give")
    claim = gpu_claimed(facts)
    if isinstance(claim, Known):
        text = f"{{claim}}, but {lacks}"
        return strong(text, saw(claim.value, claim), empty, claim=claim.value, **values)
    return present.need()


def _asked(where: str, given: Injected) -> str:
    """What the start of the container asked for, as far as it shows from inside."""
    if where == "kubernetes" and given.requested in _NOTHING:
        return ": its pod was given no nvidia.com/gpu"
    if where == "singularity":
        return "" if given.libraries else " and no library of the driver, which --nv brings"
    if given.requested in ("void", "none"):
        return ": NVIDIA_VISIBLE_DEVICES={requested} asks for none"
    wish = "NVIDIA_VISIBLE_DEVICES={requested} asks for GPUs" if given.requested else ""
    brought = "libcuda was passed in" if given.libraries else ""
    both = " and ".join(filter(None, (brought, wish)))
    return f", although {both}" if both else ""


def _libraries(facts: Facts, where: str, given: Injected) -> Finding:
    """Nodes without libcuda: the runtime was told to leave it out, or others made the nodes."""
    image, copies = where == "image", facts.loads.libcuda
    values = {"container": where, "capabilities": given.capabilities}
    if lacking := _management(facts, values):
        return lacking
    if given.libraries:
        return against("{container} gets device nodes and libcuda", **values)
    found = copies.need() or ()
    usable = next((one for one in found if one.kind != "stub" and one.on_path), None)
    if usable and not image:
        return against("{container} has device nodes and libcuda", **values)
    nodes = saw("the container has GPU device nodes", facts.system.injected)
    seen = (nodes, saw("the loader finds no libcuda.so.1", copies))
    if given.capabilities and {"compute", "all"}.isdisjoint(given.capabilities.split(",")):
        who = "its containers get no" if image else "{container} was not given"
        text = f"NVIDIA_DRIVER_CAPABILITIES={{capabilities}} lacks compute, so {who} libcuda.so.1"
        return proof(text, *seen, **values)
    text = "{container} has GPU device nodes, but the NVIDIA runtime did not pass libcuda.so.1 in"
    return strong(text, *seen, **values)


def _management(facts: Facts, values: dict[str, str]) -> Finding | None:
    """TensorFlow since 2.21 opens the management library first, and lists no GPU without it."""
    built = [one for one in installed(facts) if one.name == "tensorflow"]
    built = [one for one in built if value_or(one.gpu_build, False)]
    wants = [one.version for one in built if at_least(one.version, "2.21")]
    copies = facts.loads.libnvml
    if not wants or not isinstance(copies, Known) or any(one.on_path for one in copies.value):
        return None
    stated = " (NVIDIA_DRIVER_CAPABILITIES={capabilities} lacks utility)"
    return strong(
        f"{{container}} was not given libnvidia-ml.so.1{stated if values['capabilities'] else ''}, "
        "without which TensorFlow {version} lists no GPU",
        saw("the loader finds no libnvidia-ml.so.1", copies),
        know("TensorFlow 2.21.0 lists no GPU and prints nothing without it; 2.20 works", _SEEN_TF),
        version=wants[0],
        **values,
    )


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
        return against("this is not WSL")
    if offline(facts):
        return _exported(facts)
    if container := system.container.need():
        return _toolkit(facts, container)
    copies = facts.loads.libcuda.need() or ()
    facts.environment.packages.need()  # what was not looked at may be what asks for the GPU
    if not isinstance(gpu_claimed(facts), Known):
        return against("nothing here asks for a GPU")
    if version == 1:
        text = "this is WSL 1, which has no way to the GPU; WSL 2 has one"
        return proof(text, saw("a WSL 1 kernel", system.wsl))
    if not system.wsl_device.need():
        return proof(
            "/dev/dxg, WSL 2's way to the GPU, is missing: Windows, its driver or the WSL kernel "
            "is too old",
            saw("no /dev/dxg", system.wsl_device),
        )
    return _library(facts, copies)


def _exported(facts: Facts) -> Finding | None:
    """Files of a WSL distribution: a Linux driver among them is wrong wherever it runs."""
    copies = facts.loads.libcuda.need() or ()
    first = next((one for one in copies if one.on_path), None)
    if first and first.kind == "driver":
        return _library(facts, (first,))
    if first is None and any(one.kind == "wsl" for one in copies):
        return _library(facts, copies)
    return None


def _toolkit(facts: Facts, container: str) -> Finding:
    """A container toolkit older than Windows' driver brings libcuda without its helper."""
    system, driver = facts.system, facts.driver
    given = system.injected.need()
    if given is None or not given.lacking or not given.libraries:
        text = "inside {container} it matters what the container was given"
        return against(text, container=container)
    cuda = driver.driver_cuda.need() or "0"
    values = {"container": container, "library": given.lacking[0], "cuda": cuda}
    if not at_least(cuda, _NEEDS_HELPER):
        return against("a driver of CUDA {cuda} works without {library}", **values)
    return strong(
        "this container ({container}) has libcuda of Windows' driver {driver} (CUDA {cuda}), but "
        "not {library}: the NVIDIA Container Toolkit is older than the driver, and cuInit fails "
        "with 500",
        saw(f"no {given.lacking[0]}", system.injected),
        know("since CUDA 13.0 Windows' libcuda calls it; the toolkit passes what it knows", _STORE),
        driver=value_or(driver.windows_version, ""),
        **values,
    )


def _library(facts: Facts, copies: tuple[DriverLibrary, ...]) -> Finding:
    """Windows brings its own libcuda; any other real one on the path cannot reach the GPU."""
    seen = facts.loads.libcuda
    first = next((one for one in copies if one.on_path), None)
    windows = next((one for one in copies if one.kind == "wsl"), None)
    if first and first.kind == "driver":
        later = f"; the one of Windows in {_FOLDER} comes later" if windows else ""
        return proof(
            "libcuda {version} at {path} belongs to a Linux driver, which does not work under WSL"
            f"{later}",
            saw_copy(first, source_of(first.version)),
            *_linux_packages(facts),
            path=first.path,
            version=value_or(first.version, ""),
        )
    if windows is None:
        text = f"{_FOLDER} has no libcuda.so.1: Windows has no NVIDIA driver, or one without WSL"
        return strong(text, saw("no libcuda.so.1 of Windows", seen))
    if first is None:
        text = f"libcuda.so.1 is in {_FOLDER}, but the loader does not look there"
        return proof(text, saw_copy(windows, seen))
    return against("libcuda comes from {path}", path=first.path)


def _linux_packages(facts: Facts) -> tuple[Evidence, ...]:
    """The Linux driver's packages that somebody installed inside WSL."""
    every = value_or(facts.driver.packages, ())
    found = [one for one in every if one.name.startswith(_DRIVER_PACKAGES)]
    names = [one.name for one in found if one.status != "config-files"]
    return (saw(f"installed: {', '.join(names[:3])}", facts.driver.packages),) if names else ()


SIGNS = (
    *rows("container.no_gpu", "machine", not_given),
    *rows("wsl.setup", "machine", way_to_windows),
)
