"""Services that ask for a GPU wrongly or not at all; variables that nobody reads."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gpuwhy.knowledge import images, settings
from gpuwhy.knowledge.spelling import misspelt
from gpuwhy.lint.check.images import wrong_tag
from gpuwhy.lint.mistakes import Mistake
from gpuwhy.lint.rules import names, pattern, table, told
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Variable, Workload

_READERS = {"torch": "", "tensorflow": "", "jax": ""}
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
        source = images.source("compose")
        yield told("bad-gpu-request", wrong.place, source, name=work.name, why=wrong.text)
    base = images.read(work.image.text) if work.image else images.Base("")
    built = images.read(work.built_on) if work.built_on else base
    plain = built.family in ("python", "distro") and not built.gpu
    said = {*work.variables, *work.built_sets}
    if work.only_runtime and work.request and plain and "NVIDIA_VISIBLE_DEVICES" not in said:
        source, values = images.source("toolkit"), {"name": work.name, "image": built.name}
        yield told("no-gpu-request.runtime", work.request, source, values=values)
    hidden = work.variables.get("CUDA_VISIBLE_DEVICES")
    idle = bool(hidden and hidden.value in _HIDDEN) or _IDLE.search(work.command)
    if not (work.request or work.partial or work.exempt or idle or _says_cpu(work)):
        yield from _asks_nothing(work, base, built)


def _asks_nothing(work: Workload, base: images.Base, built: images.Base) -> Iterator[Mistake]:
    visible = work.variables.get("NVIDIA_VISIBLE_DEVICES")
    hides = bool(visible and visible.value in _HIDDEN)
    words = f"{work.name} {work.built} {work.image.text if work.image else ''}".lower()
    named = re.search(r"(^|[^a-z])(gpu|cuda)([^a-z]|$)", words) and not _OTHER.search(words)
    place, level, why = work.place, "warning", ""
    if work.left_out and (named or base.gpu or built.gpu):
        why, place = "has its request for a GPU commented out, so it is given none", work.left_out
    elif work.image and base.gpu and not hides:
        why = f"runs {work.image.text}, an image for GPUs, and asks for none"
        place, level = work.image.place, "warning" if visible else ""
    elif built.gpu and not work.image and not hides:
        why = f"is built on {work.built_on}, an image for GPUs, and asks for none"
    elif named and not visible and base.gpu is None:
        why = "is for a GPU, by its name, its image's or its Dockerfile's, and asks for none"
    if why:
        source = images.source("request")
        yield told("no-gpu-request", place, source, severity=level, name=work.name, why=why)


def _says_cpu(work: Workload) -> bool:
    """Whether a name of the service, of its image or of its build says that it stays on the CPU."""
    image = work.image.text if work.image else ""
    values = [*work.arguments.values(), *(one.value for one in work.variables.values())]
    words = " ".join((work.name, work.built, image, *values)).lower()
    return bool(re.search(r"(^|[^a-z])cpu([^a-z]|$)", words))


def variables(scope: Scope) -> Iterator[Mistake]:
    """Variables of an image, and those that commands set."""
    kept = _kept(scope.read(scope.environment.path) or "")
    found = [
        Variable(name, value, scope.at(command.set_on or command.line))
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
        why, fix = _judged(one.name, value) if "$" not in value else ("", "")
        if why:
            fix, values = fix or f"remove {one.name}", {"name": one.name, "value": value[:60]}
            yield told("wrong-variable", one.place, fix=fix, why=why, values=values)


def _judged(name: str, value: str) -> tuple[str, str]:
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
        why = f"there is no capability {wrong!r}, and the container does not start"
        return (why, "write compute,utility") if wrong else ("", "")
    found = next((f for f in settings.faults(name, value, _READERS) if f.kind != "off"), None)
    somebodys = name.partition("_")[0] not in _OWN
    somebodys = somebodys or name.endswith(("_VERSION", "_DIR", "_ROOT", "_FILE", "_URL"))
    if found is None or (found.kind == "misspelt" and somebodys):
        return "", ""
    allowed = f"one of {', '.join(found.allowed[:6])}" if found.allowed else ""
    written = f"{found.instead}=…" if found.kind == "misspelt" else found.instead or allowed
    return found.text, f"write {written}" if written else ""
