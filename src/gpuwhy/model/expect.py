"""Is there a GPU, and does anything here claim one? A machine with neither is healthy, CPU only."""

from __future__ import annotations

from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, value_or
from gpuwhy.model.facts import Facts, KernelLine

GPU_PACKAGES = ("tensorflow-gpu", "onnxruntime-gpu", "paddlepaddle-gpu", "cupy-cuda", "jax-cuda", "mxnet-cu", "nvidia-")

LINKED = frozenset({"torch", "tensorrt"})
"""Frameworks that link their CUDA libraries: importing them fails without one, GPU or not (torch 1.4 to 2.15)."""


def gpu_present(facts: Facts) -> Fact[str]:
    """The GPU of this machine, by NVML or on the PCI bus; Absent when the bus was read and has none."""
    found = facts.devices.devices
    if isinstance(found, Known) and found.value:
        return Known(found.value[0].name, found.source)
    bus = facts.devices.pci
    if isinstance(bus, Known) and bus.value:
        first = bus.value[0]
        name = first.name.value if isinstance(first.name, Known) else f"NVIDIA device {first.device_id}"
        return Known(f"{name} at {first.address}", bus.source)
    if isinstance(facts.surroundings.wsl, Known):
        return Unknown("WSL has no PCI bus to look at", "nvidia-smi.exe -L")
    if isinstance(facts.surroundings.offline, Known):
        return Unknown(
            f"the GPU of a machine is not in {facts.surroundings.offline.value}", "run gpuwhy on that machine"
        )
    if isinstance(bus, Known):
        return Absent(bus.source)
    return bus


def lacks_gpu(facts: Facts) -> bool:
    """Whether there is no GPU to judge by: none in this machine, or only files of another."""
    present = gpu_present(facts)
    files = isinstance(facts.surroundings.offline, Known)
    return isinstance(present, Absent) or (isinstance(present, Unknown) and files)


def on_other_gpu(facts: Facts, line: KernelLine) -> bool:
    """Whether a kernel log line speaks of a GPU of this machine that the watched program held nothing on."""
    used = {use.index for use in value_or(facts.run.gpus, ()) if use.own}
    indexes = {device.pci.lower(): device.index for device in value_or(facts.devices.devices, ())}
    index = indexes.get(line.pci)
    return bool(used) and index is not None and index not in used


def gpu_claimed(facts: Facts) -> Fact[str]:
    """What here claims a GPU: a driver, a device node, a container's request, a GPU package. Absent: nothing does."""
    for claim in (_driver_claim, _container_claim, _package_claim):
        text = claim(facts)
        if text:
            return Known(text, Source("call", "claims"))
    return Absent(Source("call", "claims", "no driver, no device node, no container request, no GPU package"))


def _driver_claim(facts: Facts) -> str:
    module, nodes = facts.driver.module_version, facts.driver.nodes
    if isinstance(module, Known):
        return f"the NVIDIA kernel module {module.value} is loaded"
    if isinstance(nodes, Known) and any(node.present for node in nodes.value):
        return "there are /dev/nvidia* nodes"
    copies = facts.loads.libcuda
    if isinstance(copies, Known) and any(c.kind in ("driver", "wsl") for c in copies.value):
        return "a driver library (libcuda) is installed"
    return ""


def _container_claim(facts: Facts) -> str:
    injected = facts.surroundings.injected
    if isinstance(injected, Known) and injected.value.requested not in ("", "void", "none"):
        return f"the container asks for NVIDIA_VISIBLE_DEVICES={injected.value.requested}"
    return ""


def _package_claim(facts: Facts) -> str:
    installed = facts.target.distributions
    if not isinstance(installed, Known):
        return ""
    for one in installed.value:
        if one.name.startswith(GPU_PACKAGES) and one.name != "nvidia-ml-py":
            return f"{one.name} {one.version} is installed"
    return ""
