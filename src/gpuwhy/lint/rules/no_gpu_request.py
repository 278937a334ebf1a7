"""A container made for a GPU that asks for none."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.lint.requests import ASK, HIDDEN, KNOW
from gpuwhy.lint.scope import base_of
from gpuwhy.lint.sheet import Variable, Workload
from gpuwhy.model.lint import Mistake, Place, Rule, Severity
from gpuwhy.model.plan import Machine

RULE = Rule("no-gpu-request", "error", "a container made for a GPU that asks for none")


def check_workload(work: Workload, _: Machine | None) -> Iterator[Mistake]:
    """An image for GPUs and no request."""
    if work.kind == "compose" and work.runtime_class and work.only_runtime:
        yield from _without_variable(work)
    if work.request or work.partial or work.exempt or _never_uses_one(work):
        return
    yield from _slurm(work) if work.kind == "slurm" else _container(work)


def _container(work: Workload) -> Iterator[Mistake]:
    visible = work.variables.get("NVIDIA_VISIBLE_DEVICES")
    hidden = visible is not None and visible.value in HIDDEN
    if work.built and not work.left_out and not _only_builds(work):
        yield from _run_here(work) if work.kind == "script" else _built(work, None if hidden else visible)
    if work.left_out:
        yield from _commented(work, work.left_out)
    elif not hidden:
        yield from _by_image(work, visible)


def _only_builds(work: Workload) -> bool:
    """Whether it stands in a file by which images are built, and nothing is run."""
    return bool(re.search(r"(^|[/._-])build([._-][\w.-]*)?\.ya?ml$", work.place.path)) and not work.command


def _commented(work: Workload, place: Place) -> Iterator[Mistake]:
    """A limit that is commented out, in a manifest that is for GPUs by its name or its image."""
    named = re.search(r"(^|[^a-z])gpu([^a-z]|$)", f"{work.place.path} {work.name}".lower())
    if named or base_of(work).gpu:
        what = "limit nvidia.com/gpu" if work.kind == "kubernetes" else "request for a GPU"
        text = f"{work.name}: the {what} is commented out, so it is given no GPU"
        yield RULE.mistake(place, text, KNOW[work.kind], "write the limit, or take GPU out of the names", "warning")


def _without_variable(work: Workload) -> Iterator[Mistake]:
    """runtime: nvidia alone, of an image that does not say which GPUs: the runtime gives it none."""
    base = containers.read(work.built_on) if work.built_on else base_of(work)
    said = {*work.variables, *work.built_sets}
    if base.family in ("python", "distro") and not base.gpu and "NVIDIA_VISIBLE_DEVICES" not in said and work.request:
        text = f"{work.name}: runtime nvidia gives no GPU to {base.name}, which sets no NVIDIA_VISIBLE_DEVICES"
        fix = "add NVIDIA_VISIBLE_DEVICES=all to its environment, or gpus: all"
        yield RULE.mistake(work.request, text, containers.TOOLKIT, fix)


def _slurm(work: Workload) -> Iterator[Mistake]:
    """A job that is for a GPU by its name or its partition, and asks for none."""
    if work.command == "gpu":
        text = "the job is for a GPU, by its name or its partition, and no line asks Slurm for one"
        yield RULE.mistake(work.place, text, KNOW[work.kind], ASK[work.kind], "warning")


def _by_image(work: Workload, visible: Variable | None) -> Iterator[Mistake]:
    """An image that is for GPUs: by what is known of it, or by its name."""
    if work.image is not None and base_of(work).gpu:
        text = f"{work.name} runs {work.image.text}, an image for GPUs, and asks for none"
        severity: Severity | None = "warning" if work.runtime_class or visible else None
        yield RULE.mistake(work.image.place, text, KNOW[work.kind], ASK[work.kind], severity)
    elif not visible and work.kind == "compose" and not work.built and _is_named_image(work):
        text = f"{work.name} runs {work.image.text if work.image else ''}, for GPUs by its name, and asks for none"
        yield RULE.mistake(work.place, text, KNOW[work.kind], ASK[work.kind], "warning")


def _is_named_image(work: Workload) -> bool:
    """An image whose own name says GPU or CUDA, and that is no tool around GPUs."""
    told = work.image.text.lower() if work.image else ""
    other = re.search(r"rocm|amd|intel|xpu|vulkan|cpu|metal|export|monitor|plugin|operator|dcgm|dashboard|\bui\b", told)
    return bool(re.search(r"[^a-z](gpu|cuda)([^a-z]|$)", told)) and not other and base_of(work).gpu is None


def _built(work: Workload, visible: Variable | None) -> Iterator[Mistake]:
    """What is built here for a GPU: by its name, or by the image that it is built on."""
    base = containers.read(work.built_on)
    if work.kind == "compose" and base.gpu and not visible and not _is_named_gpu(work) and not _says_cpu(work):
        text = f"{work.name} is built on {work.built_on}, an image for GPUs, and asks for none"
        yield RULE.mistake(work.place, text, KNOW[work.kind], ASK[work.kind], "warning")
    if work.kind == "compose" and _is_named_gpu(work):
        text = f"{work.name} is built for a GPU, by its name or its Dockerfile's, and asks for none"
        yield RULE.mistake(work.place, text, KNOW[work.kind], ASK[work.kind], "warning")
    if work.kind == "devcontainer" and not work.built_on and _is_folder_of_gpus(work):
        text = f"{work.name} is for CUDA by the name of its folder, and asks for no GPU"
        yield RULE.mistake(work.place, text, KNOW[work.kind], ASK[work.kind], "warning")
    if work.kind == "devcontainer" and containers.read(work.built_on).gpu:
        text = f"{work.name} is built on {work.built_on}, an image for GPUs, and asks for none"
        yield RULE.mistake(work.place, text, KNOW[work.kind], ASK[work.kind], "warning")
    elif visible and containers.read(work.built_on).gpu:
        text = f"{work.name} is built on {work.built_on} and names its GPUs by a variable, and asks for none"
        yield RULE.mistake(visible.place, text, KNOW[work.kind], ASK[work.kind], "warning")


def _run_here(work: Workload) -> Iterator[Mistake]:
    """An image that the same script builds for a GPU."""
    if (containers.read(work.built_on).gpu or _is_named_gpu(work)) and not _says_cpu(work):
        text = f"{work.name} is built from {work.built}, for a GPU, and docker run asks for none"
        yield RULE.mistake(work.place, text, KNOW[work.kind], ASK[work.kind], "warning")


def _says_cpu(work: Workload) -> bool:
    """Whether a name of the service, of its image or of its build says that it stays on the CPU."""
    image = work.image.text if work.image else ""
    values = (*work.arguments.values(), *(variable.value for variable in work.variables.values()))
    return bool(re.search(r"(^|[^a-z])cpu([^a-z]|$)", " ".join((work.name, work.built, image, *values)).lower()))


def _is_folder_of_gpus(work: Workload) -> bool:
    """.devcontainer/cuda/devcontainer.json, one of several of a project."""
    return bool(re.search(r"\.devcontainer/[\w.-]*(cuda|gpu|nvidia)[\w.-]*/devcontainer\.json$", work.place.path))


def _is_named_gpu(work: Workload) -> bool:
    told = f"{work.name} {work.built}".lower()
    other = re.search(r"rocm|amd|intel|xpu|vulkan|cpu|metal", told)
    return (
        bool(re.search(r"(^|[^a-z])(gpu|cuda)([^a-z]|$)", told))
        and not other
        and "NVIDIA_VISIBLE_DEVICES" not in work.variables
    )


def _never_uses_one(work: Workload) -> bool:
    """A tool of the image that works without a GPU, or a container told to stay on the CPU."""
    hidden = work.variables.get("CUDA_VISIBLE_DEVICES")
    tools = re.search(r"\b(tensorboard|perf_analyzer|sleep|nvcc|jupyter nbconvert)\b|--device[= ]cpu", work.command)
    built = re.match(r"(/(usr/)?bin/)?(echo|true|exit|:)(\s|$)", work.command.strip())  # there to be built, no more
    return bool(tools or built) or _is_client(work) or (hidden is not None and hidden.value in HIDDEN)


def _is_client(work: Workload) -> bool:
    """An image of a server that is used for its Python alone: another command, and nothing in it serves or computes."""
    server = base_of(work).family == "framework"
    says = re.search(r"vllm|serve|server|launch|torch|train|infer|generat|cuda|gpu|model", work.command)
    return server and bool(re.match(r"(\S*/)?(python3?|bash|sh|curl|wget)\b", work.command)) and not says
