"""Is there a GPU, and does anything here claim one? A machine with neither is healthy, CPU only."""

from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.frameworks import Framework
from gpuwhy.facts.system import KernelLine

_GPU_PACKAGES = (
    *("tensorflow-gpu", "onnxruntime-gpu", "paddlepaddle-gpu", "cupy-cuda", "jax-cuda"),
    *("mxnet-cu", "nvidia-"),
)
LINKED = ("torch", "tensorrt")
"""Frameworks that link their CUDA libraries: importing them fails without one, GPU or not."""


def offline(facts: Facts) -> bool:
    """Whether there are only the files of a machine."""
    return isinstance(facts.system.offline, Known)


def is_image(facts: Facts) -> bool:
    """Whether these are the files of a container image."""
    return offline(facts) and isinstance(facts.system.container, Known)


def installed(facts: Facts) -> tuple[Framework, ...]:
    """The frameworks that were seen."""
    return value_or(facts.frameworks.installed, ())


def gpu_present(facts: Facts) -> Fact[str]:
    """The GPU of this machine, by NVML or on the PCI bus; Absent when the bus has none."""
    found, bus = facts.devices.gpus, facts.devices.pci
    if isinstance(found, Known) and found.value:
        return Known(found.value[0].name, found.source)
    if isinstance(bus, Known) and bus.value:
        first = bus.value[0]
        name = value_or(first.name, f"NVIDIA device {first.device_id}")
        return Known(f"{name} at {first.address}", bus.source)
    if isinstance(facts.system.wsl, Known):
        return Unknown("WSL has no PCI bus to look at", "nvidia-smi.exe -L")
    if isinstance(facts.system.offline, Known):
        reason = f"the GPU of a machine is not in its files ({facts.system.offline.value.kind})"
        return Unknown(reason, "run gpuwhy on that machine")
    return Absent(bus.source) if isinstance(bus, Known) else bus


def lacks_gpu(facts: Facts) -> bool:
    """Whether there is no GPU to judge by: none in this machine, or only files of another."""
    present = gpu_present(facts)
    return isinstance(present, Absent) or (isinstance(present, Unknown) and offline(facts))


def on_other_gpu(facts: Facts, line: KernelLine) -> bool:
    """Whether a kernel log line is about a GPU that the watched program held nothing on."""
    used = {use.index for use in value_or(facts.run.gpus, ()) if use.own}
    indexes = {gpu.pci.lower(): gpu.index for gpu in value_or(facts.devices.gpus, ())}
    index = indexes.get(line.pci)
    return bool(used) and index is not None and index not in used


def gpu_claimed(facts: Facts) -> Fact[str]:
    """What here implies a GPU: a driver, a node, a container's request, a GPU package."""
    module, injected = facts.driver.module_version, value_or(facts.system.injected, None)
    copies = value_or(facts.loads.libcuda, ())
    packages = value_or(facts.environment.packages, ())
    named = (one for one in packages if one.name.startswith(_GPU_PACKAGES))
    package = next((one for one in named if one.name != "nvidia-ml-py"), None)
    text = ""
    if isinstance(module, Known):
        text = f"the NVIDIA kernel module {module.value} is loaded"
    elif any(node.present for node in value_or(facts.driver.nodes, ())):
        text = "there are /dev/nvidia* nodes"
    elif any(one.kind in ("driver", "wsl") for one in copies):
        text = "a driver library (libcuda) is installed"
    elif injected and injected.requested not in ("", "void", "none"):
        text = f"the container asks for NVIDIA_VISIBLE_DEVICES={injected.requested}"
    elif package:
        text = f"{package.owner} is installed"
    else:
        none = "no driver, no device node, no container request, no GPU package"
        return Absent(Source("call", "claims", none))
    return Known(text, Source("call", "claims"))
