"""Services that ask for a GPU wrongly or not at all; variables that nobody reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gpuwhy.knowledge import containers, settings
from gpuwhy.knowledge.spelling import misspelt
from gpuwhy.lint.check.images import wrong_tag
from gpuwhy.lint.mistakes import Mistake, Place, know, mistake
from gpuwhy.lint.rules import names, pattern, table
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Variable, Workload

_ASK = "add gpus: all, or reserve a device: {driver: nvidia, count: 1, capabilities: [gpu]}"
_WRAPPER = know("NVIDIA Container Toolkit: installing", "docker run --gpus, since 2019")
_READERS = {"torch": "", "tensorflow": "", "jax": ""}
_HARVESTED = know("the harvested names and types of variables", "knowledge/data/variables.json")
_CONTAINER = ("NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_REQUIRE_CUDA")
_MEANT: dict[str, str] = table("requests.meant")
_OWN = names("requests.own")
"""First words of names that nobody but a GPU's software reads."""
_PARTS = ("all", "compute", "compat32", "graphics", "utility", "video", "display", "ngx")
_OTHER = re.compile(
    r"rocm|amd|intel|xpu|vulkan|cpu|metal|export|monitor|plugin|operator|dcgm|dashboard|\bui\b"
)
_IDLE = pattern("requests.idle")
_HIDDEN = ("", "-1", "none", "void", "NoDevFiles")


def service(work: Workload) -> Iterator[Mistake]:
    """Everything about one service of a compose file."""
    yield from wrong_tag(work.image) if work.image else ()
    yield from _wrong(work.variables.values())
    for wrong in work.wrong_request:
        fix = "write {driver: nvidia, count: 1, capabilities: [gpu]}"
        text = f"{work.name}: {wrong.text}"
        yield mistake("bad-gpu-request", wrong.place, text, containers.COMPOSE, fix)
    base = containers.read(work.image.text) if work.image else containers.Base("")
    tag = base.name.rpartition(":")[2]
    if work.request and work.image and base.gpu is False and "latest" not in tag:
        text = f"{work.name} asks for a GPU, and {work.image.text} holds the CPU build"
        fix = f"write {work.image.text}{'-gpu' if tag else ':latest-gpu'}"
        yield mistake("cpu-image", work.image.place, text, containers.TENSORFLOW_TAGS, fix)
    yield from _asks_nothing(work, base)


def _asks_nothing(work: Workload, base: containers.Base) -> Iterator[Mistake]:
    built = containers.read(work.built_on) if work.built_on else base
    said = {*work.variables, *work.built_sets}
    plain = built.family in ("python", "distro") and not built.gpu
    plain = plain and "NVIDIA_VISIBLE_DEVICES" not in said
    if work.only_runtime and work.request and plain:
        text = f"{work.name}: runtime nvidia gives no GPU to {built.name}, which sets no "
        fix = "add NVIDIA_VISIBLE_DEVICES=all to its environment, or gpus: all"
        text += "NVIDIA_VISIBLE_DEVICES"
        yield mistake("no-gpu-request", work.request, text, containers.TOOLKIT, fix)
    hidden = work.variables.get("CUDA_VISIBLE_DEVICES")
    told = bool(hidden and hidden.value in _HIDDEN) or _IDLE.search(work.command)
    if work.request or work.partial or work.exempt or told or _says_cpu(work):
        return
    visible = work.variables.get("NVIDIA_VISIBLE_DEVICES")
    hides = bool(visible and visible.value in _HIDDEN)
    names = f"{work.name} {work.built} {work.image.text if work.image else ''}".lower()
    named = re.search(r"(^|[^a-z])(gpu|cuda)([^a-z]|$)", names) and not _OTHER.search(names)
    place, severity = work.place, "warning"
    if work.left_out and (named or base.gpu or built.gpu):
        text, place = "has its request for a GPU commented out, so it is given none", work.left_out
    elif hides:
        return
    elif work.image and base.gpu:
        text, place = (
            f"runs {work.image.text}, an image for GPUs, and asks for none",
            work.image.place,
        )
        severity = "error" if not visible else "warning"
    elif built.gpu and not work.image:
        text = f"is built on {work.built_on}, an image for GPUs, and asks for none"
    elif named and not visible and base.gpu is None:
        text = "is for a GPU, by its name, its image's or its Dockerfile's, and asks for none"
    else:
        return
    text = f"{work.name} {text}"
    yield mistake("no-gpu-request", place, text, containers.REQUEST, _ASK, severity)


def _says_cpu(work: Workload) -> bool:
    """Whether a name of the service, of its image or of its build says that it stays on the CPU."""
    image = work.image.text if work.image else ""
    values = [*work.arguments.values(), *(one.value for one in work.variables.values())]
    words = " ".join((work.name, work.built, image, *values)).lower()
    return bool(re.search(r"(^|[^a-z])cpu([^a-z]|$)", words))


def variables(scope: Scope) -> Iterator[Mistake]:
    """Variables of an image, and those that commands set."""
    path = scope.environment.path
    kept = _kept(scope.read(path) or "")
    found = [
        Variable(name, value, Place(path, command.set_on or command.line))
        for command in scope.environment.commands
        for name, value in command.assigned
        if name not in kept and not value.startswith("(")
    ]
    yield from _wrong([*scope.environment.variables.values(), *found])


def _kept(text: str) -> set[str]:
    """The variables that a script keeps to itself: read there, and never exported."""
    lines = re.findall(r"^.*\b(?:export|declare -x|ENV)\s.*$", text, re.MULTILINE)
    return {*re.findall(r"\$\{?([A-Za-z_]\w*)", text)} - {*re.findall(r"\w+", " ".join(lines))}


def _wrong(variables: Iterable[Variable]) -> Iterator[Mistake]:
    for one in variables:
        value = one.value.strip().strip("\"'")
        said = None if "$" in value else _judged(one.name, value)
        if said:
            text, fix = f"{one.name}={value[:60]}: {said[0]}", said[1] or f"remove {one.name}"
            yield mistake("wrong-variable", one.place, text, _HARVESTED, fix, "warning")


def _judged(name: str, value: str) -> tuple[str, str] | None:
    """What is wrong with a variable, and what to write."""
    near = misspelt(name, _CONTAINER) if name.startswith("NVIDIA_") else ""
    meant = _MEANT.get(name) or near
    if meant and meant != name and name not in _CONTAINER:
        return f"nobody reads {name}; {meant} is meant, perhaps", f"write {meant}"
    if name == "CUDA_VISIBLE_DEVICES" and value.lower() in ("all", "gpu", "cuda", "true", "any"):
        return f"CUDA sees no GPU at {value!r}", "write 0, or leave the variable out for all"
    if name == "NVIDIA_DRIVER_CAPABILITIES":
        parts = [part.strip() for part in value.split(",")]
        wrong = next((part for part in parts if part and part not in _PARTS), "")
        said = f"there is no capability {wrong!r}, and the container does not start"
        return (said, "write compute,utility") if wrong else None
    found = next((f for f in settings.faults(name, value, _READERS) if f.kind != "off"), None)
    somebodys = name.partition("_")[0] not in _OWN
    somebodys = somebodys or name.endswith(("_VERSION", "_DIR", "_ROOT", "_FILE", "_URL"))
    if found is None or (found.kind == "misspelt" and somebodys):
        return None
    allowed = f"one of {', '.join(found.allowed[:6])}" if found.allowed else ""
    written = f"{found.instead}=…" if found.kind == "misspelt" else found.instead or allowed
    return found.text, f"write {written}" if written else ""


def wrapper(scope: Scope) -> Iterator[Mistake]:
    """The nvidia-docker wrapper, which the container toolkit no longer brings."""
    stage = scope.environment
    for command in stage.commands:
        name = command.words[0].rsplit("/", 1)[-1] if command.words else ""
        if name == "nvidia-docker" and len(command.words) > 1:
            text = "nvidia-docker: the NVIDIA Container Toolkit has no such command"
            fix, place = "write docker run --gpus all …", Place(stage.path, command.line)
            yield mistake("nvidia-docker", place, text, _WRAPPER, fix, "warning")
            break
    for name in ("nvidia-docker", "nvidia-docker2"):
        if name in stage.apt:
            text = f"{name}: that package has ended; the NVIDIA Container Toolkit took its place"
            fix, place = "install nvidia-container-toolkit", Place(stage.path, stage.apt[name])
            yield mistake("nvidia-docker", place, text, _WRAPPER, fix, "warning")
