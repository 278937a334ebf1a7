"""container.no_gpu: the container was started without access to the GPU, or without the driver's libraries."""

from __future__ import annotations

from gpuwhy.model.cause import Case, Cause, Evidence, Finding, Fix, against, know, mild, proof, saw, strong
from gpuwhy.model.expect import gpu_claimed, gpu_present
from gpuwhy.model.fact import Absent, Known, Source, value_or
from gpuwhy.model.facts import Injected
from gpuwhy.model.version import at_least
from gpuwhy.rooms.shared.starting import with_gpu

SEEN = Source("know", "TensorFlow 2.20.0 and 2.21.0 over a stand-in driver", "2026-11-15")
NOTHING = ("", "void", "none")


def not_given(case: Case) -> Finding | None:
    """Device nodes and libcuda come from outside: look for both."""
    around = case.facts.surroundings
    where = around.container.need()
    if not where:
        return against("this is no container", saw("no container's marks", around.container))
    given = around.injected.need()
    if given is None:
        return against(f"nothing has to be injected into {where}", saw(where, around.container))
    if where == "image" and (hidden := _hidden(case, given)):
        return hidden
    return _libraries(case, where, given) if given.devices else _nodes(case, where, given)


def _hidden(case: Case, given: Injected) -> Finding | None:
    """An image whose config asks for no GPU: `--gpus` sets that anew, the NVIDIA runtime by itself does not."""
    if given.requested not in ("void", "none") or not given.libraries:
        return None
    return mild(
        strong(
            f"the image's config sets NVIDIA_VISIBLE_DEVICES={given.requested}: where the NVIDIA runtime decides "
            "(--runtime=nvidia, Compose, clusters) its containers get no GPU; only `docker run --gpus` overrides it",
            saw(f"NVIDIA_VISIBLE_DEVICES={given.requested}", Source("env", "NVIDIA_VISIBLE_DEVICES", "image config")),
        )
    )


def _nodes(case: Case, where: str, given: Injected) -> Finding:
    """No node: certain when the host's GPU can be seen from here, likely when something asks for one."""
    module, present, answering = case.facts.driver.module_version, gpu_present(case.facts), case.facts.devices.devices
    if isinstance(answering, Known) and answering.value:
        return against(f"{answering.value[0].name} answers, so it was given", saw("NVML answers", answering))
    lacks = f"this container ({where}) has no GPU device node{_asked(where, given)}"
    empty = saw("no /dev/nvidia* and no /dev/dxg", case.facts.surroundings.injected)
    if isinstance(module, Known):
        text = f"the host's NVIDIA driver {module.value} is loaded, but {lacks}"
        return proof(text, saw(f"NVRM version {module.value}", module), empty)
    if isinstance(present, Known):
        return proof(f"the host has {present.value}, but {lacks}", saw(present.value, present), empty)
    if given.requested not in NOTHING:
        return strong(lacks, empty)
    if isinstance(present, Absent):
        return against("the host has no NVIDIA GPU to give", saw("no NVIDIA device on the PCI bus", present))
    claim = gpu_claimed(case.facts)
    if isinstance(claim, Known):
        return strong(f"{claim.value}, but {lacks}", saw(claim.value, claim), empty)
    return present.need()


def _asked(where: str, given: Injected) -> str:
    """What the start of the container asked for, as far as it shows from inside."""
    if where == "kubernetes" and given.requested in NOTHING:
        return ": its pod was given no nvidia.com/gpu"
    if where == "singularity":
        return " and no library of the driver, which --nv brings" if not given.libraries else ""
    if given.requested in ("void", "none"):
        return f": NVIDIA_VISIBLE_DEVICES={given.requested} asks for none"
    wish = f", although NVIDIA_VISIBLE_DEVICES={given.requested} asks for GPUs" if given.requested else ""
    return f", although libcuda was brought in{wish and ' and' + wish[10:]}" if given.libraries else wish


def _libraries(case: Case, where: str, given: Injected) -> Finding:
    """Nodes without libcuda: the runtime was told to leave it out, or something else made the nodes."""
    nodes = saw("the container has GPU device nodes", case.facts.surroundings.injected)
    image = where == "image"
    lacking = _management(case, where, given)
    if lacking:
        return lacking
    if given.libraries:
        text = "started with --gpus all, its containers get" if image else f"{where} was given"
        return against(f"{text} device nodes and libcuda", nodes)
    copies = case.facts.loads.libcuda
    usable = next((copy for copy in copies.need() or () if copy.kind != "stub" and copy.on_path), None)
    if usable and not image:
        return against(f"{where} has device nodes, and libcuda is found at {usable.path}", nodes)
    evidence: tuple[Evidence, ...] = (nodes, saw("the loader finds no libcuda.so.1", copies))
    if _lacks_compute(given):
        who = "its containers get no" if image else f"{where} was not given"
        text = f"NVIDIA_DRIVER_CAPABILITIES={given.capabilities} lacks compute, so {who} libcuda.so.1"
        return proof(text, *evidence)
    return strong(f"{where} has GPU device nodes, but the NVIDIA runtime did not bring libcuda.so.1 in", *evidence)


def _lacks_compute(given: Injected) -> bool:
    return bool(given.capabilities) and {"compute", "all"}.isdisjoint(given.capabilities.split(","))


def _management(case: Case, where: str, given: Injected) -> Finding | None:
    """TensorFlow since 2.21 opens the management library before all others, and lists no GPU without it."""
    wants = [
        one
        for one in value_or(case.facts.target.frameworks, ())
        if one.name == "tensorflow" and at_least(one.version, "2.21") and value_or(one.gpu_build, False)
    ]
    copies = case.facts.loads.libnvml
    if not wants or not isinstance(copies, Known) or any(one.on_path for one in copies.value):
        return None
    told = f" (NVIDIA_DRIVER_CAPABILITIES={given.capabilities} lacks utility)" if given.capabilities else ""
    return strong(
        f"{where} was not given libnvidia-ml.so.1{told}, without which TensorFlow {wants[0].version} lists no GPU",
        saw("the loader finds no libnvidia-ml.so.1", copies),
        know("TensorFlow 2.21.0 lists no GPU and prints nothing without it; 2.20.0 works", SEEN),
    )


def fixes(case: Case) -> tuple[Fix, ...]:
    """The way to start this kind of container with a GPU."""
    given = case.facts.surroundings.injected.need()
    return with_gpu(case.facts.surroundings.container.need() or "docker", given.capabilities if given else "")


CAUSE = Cause(
    id="container.no_gpu",
    title="this container was started without access to the GPU",
    signs=(not_given,),
    fixes=fixes,
    effect="This container has no access to the GPU",
    hides=("driver.missing", "driver.permission", "driver.not_ready", "device.selection"),
)
