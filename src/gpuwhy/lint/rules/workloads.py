"""Rules on what is started: GPU requests, shared memory and variables of services, pods and development containers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.lint.catalogue import mistake
from gpuwhy.lint.rules.images import lacking_compute
from gpuwhy.lint.sheet import Workload
from gpuwhy.model.lint import Mistake

_ASK = {
    "compose": "add gpus: all, or reserve a device: {driver: nvidia, count: 1, capabilities: [gpu]}",
    "kubernetes": "add resources.limits: {nvidia.com/gpu: 1}",
    "devcontainer": 'add "runArgs": ["--gpus", "all"], or "hostRequirements": {"gpu": "optional"}',
}
_KNOW = {"compose": containers.REQUEST, "kubernetes": containers.PLUGIN, "devcontainer": containers.REQUEST}
_TRAINS = re.compile(r"\b(torchrun|torch\.distributed|accelerate launch|deepspeed|lightning)\b")
_HIDDEN = ("", "-1", "none", "void", "NoDevFiles")


def base_of(work: Workload) -> containers.Base:
    """What the image brings."""
    return containers.read(work.image.text) if work.image else containers.Base("")


def no_request(work: Workload) -> Iterator[Mistake]:
    """An image for GPUs and no request."""
    if work.request or work.partial or work.exempt:
        return
    base = base_of(work)
    if work.image is None or not base.gpu or _never_uses_one(work):
        return
    visible = work.variables.get("NVIDIA_VISIBLE_DEVICES")
    by_runtime = work.runtime_class or visible is not None
    if visible and visible.value in _HIDDEN:
        return
    text = f"{work.name} runs {work.image.text}, an image for GPUs, and asks for none"
    severity = "warning" if by_runtime else None
    yield mistake("no-gpu-request", work.image.place, text, _KNOW[work.kind], _ASK[work.kind], severity)  # type: ignore[arg-type]


def _never_uses_one(work: Workload) -> bool:
    """A tool of the image that works without a GPU, or a container told to stay on the CPU."""
    hidden = work.variables.get("CUDA_VISIBLE_DEVICES")
    tools = re.search(r"\b(tensorboard|perf_analyzer|sleep|nvcc|jupyter nbconvert)\b|--device[= ]cpu", work.command)
    return bool(tools) or (hidden is not None and hidden.value in _HIDDEN)


def bad_request(work: Workload) -> Iterator[Mistake]:
    """What Compose or Kubernetes refuses."""
    for wrong in work.wrong_request:
        fix = "write {driver: nvidia, count: 1, capabilities: [gpu]}"
        yield mistake("bad-gpu-request", wrong.place, f"{work.name}: {wrong.text}", containers.COMPOSE, fix)
    if work.asked and not work.limit and not work.partial:
        text = f"{work.name}: nvidia.com/gpu: {work.asked[0]} under requests alone, which Kubernetes refuses"
        yield mistake(
            "bad-gpu-request",
            work.asked[1],
            text,
            containers.KUBERNETES,
            f"write nvidia.com/gpu: {work.asked[0]} under limits",
        )
    elif work.asked and work.limit and work.asked[0] != work.limit[0]:
        both = f"{work.asked[0]} under requests and {work.limit[0]} under limits"
        text = f"{work.name}: nvidia.com/gpu is {both}; they must be equal"
        yield mistake("bad-gpu-request", work.asked[1], text, containers.KUBERNETES, "keep the one under limits alone")
    if work.limit and "$" not in work.limit[0] and not re.fullmatch(r"\d+", work.limit[0].strip()):
        text = f"{work.name}: nvidia.com/gpu: {work.limit[0]}; GPUs are counted in whole numbers"
        yield mistake(
            "bad-gpu-request",
            work.limit[1],
            text,
            containers.KUBERNETES,
            "write a whole number; sharing is set up in the device plugin",
        )


def cpu_image(work: Workload) -> Iterator[Mistake]:
    """A GPU asked for, for an image of the CPU build."""
    base = base_of(work)
    if work.request and work.image and base.gpu is False and "latest" not in base.name.rpartition(":")[2]:
        text = f"{work.name} asks for a GPU, and {work.image.text} holds the CPU build"
        yield mistake(
            "cpu-image",
            work.image.place,
            text,
            containers.TENSORFLOW_TAGS,
            f"write {work.image.text}{'-gpu' if ':' in work.image.text else ':latest-gpu'}",
        )


def image_tag(work: Workload) -> Iterator[Mistake]:
    """nvidia/cuda without a tag."""
    base = base_of(work)
    if work.image and base.untagged and "@" not in work.image.text:
        text = f"image {work.image.text}: nvidia/cuda has no tag latest, so the pull fails"
        yield mistake(
            "image-tag",
            work.image.place,
            text,
            containers.NO_LATEST,
            "name a version, such as nvidia/cuda:12.6.3-base-ubuntu24.04",
        )


def hidden(work: Workload) -> Iterator[Mistake]:
    """A GPU asked for, and a variable that hides it."""
    for name in ("CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"):
        variable = work.variables.get(name)
        if work.request and variable and variable.value.strip("\"'") in _HIDDEN:
            text = f"{work.name} asks for a GPU, and {name}={variable.value or '(empty)'} hides all of them"
            yield mistake("gpus-hidden", variable.place, text, containers.TOOLKIT, f"remove {name}, or the request")


def visible(work: Workload) -> Iterator[Mistake]:
    """In Kubernetes the device plugin says which GPUs a container sees."""
    variable = work.variables.get("NVIDIA_VISIBLE_DEVICES")
    if work.kind == "kubernetes" and variable and variable.value == "all" and not work.exempt:
        said = "gives the container every GPU of the node, past the scheduler"
        text = f"{work.name}: NVIDIA_VISIBLE_DEVICES=all {said}" + (
            "" if work.request else ", and no limit asks for one"
        )
        yield mistake(
            "visible-devices",
            variable.place,
            text,
            containers.PLUGIN,
            "remove it; resources.limits nvidia.com/gpu decides",
        )


def shared_memory(work: Workload) -> Iterator[Mistake]:
    """PyTorch that trains, with Docker's 64 MB of /dev/shm."""
    base = base_of(work)
    trains = base.framework == "torch" and (
        work.kind != "kubernetes" or _TRAINS.search(work.command) or "train" in work.command
    )
    if work.partial or work.shared_memory or not work.request or not (trains or _TRAINS.search(work.command)):
        return
    how = {
        "compose": "add shm_size: 8gb (or ipc: host)",
        "kubernetes": "mount an emptyDir with medium: Memory at /dev/shm",
        "devcontainer": 'add "--shm-size=8gb" to runArgs',
    }[work.kind]
    place = work.image.place if work.image else work.place
    text = f"{work.name} runs PyTorch with 64 MB of /dev/shm: DataLoader workers die with a bus error"
    yield mistake("shared-memory", place, text, containers.SHARED_MEMORY, how)


def capabilities(work: Workload) -> Iterator[Mistake]:
    """NVIDIA_DRIVER_CAPABILITIES of a container for GPUs."""
    variable = work.variables.get("NVIDIA_DRIVER_CAPABILITIES")
    if variable and base_of(work).gpu:
        yield from lacking_compute(variable.value, variable.place)
