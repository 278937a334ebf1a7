"""A variable that nobody reads by that name, or whose value its reader does not take."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from gpuwhy.knowledge import containers, settings
from gpuwhy.knowledge.spelling import misspelt
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Variable, Workload
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.plan import Machine

RULE = Rule(
    "wrong-variable", "warning", "a variable that nobody reads by that name, or a value that its reader refuses"
)

_READERS = {"torch": "", "tensorflow": "", "jax": ""}
_CONTAINER = ("NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_REQUIRE_CUDA")
_MEANT = {
    "TF_GPU_ALLOW_GROWTH": "TF_FORCE_GPU_ALLOW_GROWTH",
    "TF_ALLOW_GROWTH": "TF_FORCE_GPU_ALLOW_GROWTH",
    "TF_FORCE_ALLOW_GROWTH": "TF_FORCE_GPU_ALLOW_GROWTH",
    "NVIDIA_VISIBLE_GPUS": "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_CAPABILITIES": "NVIDIA_DRIVER_CAPABILITIES",
    "NVIDIA_DRIVER_CAPABILITY": "NVIDIA_DRIVER_CAPABILITIES",
    "CUDA_VISIBLE_GPUS": "CUDA_VISIBLE_DEVICES",
    "PYTORCH_CUDA_CONF": "PYTORCH_CUDA_ALLOC_CONF",
}
_OWN = frozenset(
    [
        "CUDA", "CUDNN", "CUBLAS", "NVIDIA", "NVCC", "NCCL", "TF", "XLA", "JAX", "TORCH", "PYTORCH", "TORCHINDUCTOR",
        "TORCHDYNAMO", "TRITON", "KERAS",
    ]
)  # fmt: skip
"""First words of names that nobody but a GPU's software reads: REDIS_HOSTS may be anybody's."""
_PARTS = frozenset(["all", "compute", "compat32", "graphics", "utility", "video", "display", "ngx"])
_KNOW = source("the harvested names and types of variables", "knowledge/data/variables.json")
_DEVICES = source("CUDA C programming guide, environment variables", "CUDA_VISIBLE_DEVICES: numbers or UUIDs")


def check(scope: Scope) -> Iterator[Mistake]:
    """Those of an image, and those that commands set."""
    path = scope.environment.path
    set_by = [
        Variable(name, value, Place(path, _line(scope, number)))
        for number, command in enumerate(scope.environment.commands)
        for name, value in command.assigned
    ]
    kept = _kept(scope.read(path) or "")
    others = [one for one in set_by if one.name not in kept and not one.value.startswith("(")]  # (: an array
    yield from _wrong([*scope.environment.variables.values(), *others])


def _kept(text: str) -> set[str]:
    """The variables that a script keeps to itself: read there, and never exported."""
    exporting = re.findall(r"^.*\b(?:export|declare -x|setx?)\s.*$", text, re.MULTILINE)
    return {*re.findall(r"\$\{?([A-Za-z_]\w*)", text)} - {*re.findall(r"\w+", " ".join(exporting))}


def check_workload(work: Workload, _: Machine | None) -> Iterator[Mistake]:
    """Those of a container."""
    yield from _wrong(work.variables.values())


def _line(scope: Scope, number: int) -> int:
    """The line of a command, by its own words or by those of the next that has some."""
    after = scope.environment.commands[number:]
    return next((c.set_on or (c.lines[0] if c.lines else 0) for c in after if c.set_on or c.lines), 0)


def _wrong(variables: Iterable[Variable]) -> Iterator[Mistake]:
    for one in variables:
        value = one.value.strip().strip("\"'")
        said = "" if "$" in value else _of_containers(one.name, value) or _of_readers(one.name, value)
        if said:
            know = _DEVICES if one.name == "CUDA_VISIBLE_DEVICES" else _KNOW
            know = containers.TOOLKIT if one.name.startswith("NVIDIA_") else know
            text, _, instead = said.partition("|")
            yield RULE.mistake(one.place, f"{one.name}={value[:60]}: {text}", know, instead or f"remove {one.name}")


def _of_containers(name: str, value: str) -> str:
    meant = _MEANT.get(name) or (misspelt(name, _CONTAINER) if name.startswith("NVIDIA_") else "")
    if meant and meant != name and name not in _CONTAINER:
        return f"nobody reads {name}; {meant} is meant, perhaps|write {meant}"
    if name == "CUDA_VISIBLE_DEVICES" and value.lower() in ("all", "gpu", "cuda", "true", "any"):
        return f"CUDA takes numbers or UUIDs, and sees no GPU at {value!r}|write 0, or leave the variable out for all"
    parts = [part.strip() for part in value.split(",")] if name == "NVIDIA_DRIVER_CAPABILITIES" else []
    wrong = next((part for part in parts if part and part not in _PARTS), "")
    return f"there is no capability {wrong!r}, and the container does not start|write compute,utility" if wrong else ""


def _of_readers(name: str, value: str) -> str:
    found = next((f for f in settings.faults(name, value, _READERS) if f.kind != "off"), None)
    if found is None or (found.kind == "misspelt" and _is_somebodys(name)):
        return ""
    instead = found.instead or (f"one of {', '.join(found.allowed[:6])}" if found.allowed else "")
    written = f"{found.instead}=…" if found.kind == "misspelt" else instead
    return f"{found.text}|write {written}" if written else found.text


def _is_somebodys(name: str) -> bool:
    """Whether a name may be one that another program reads, or a script's own."""
    return name.partition("_")[0] not in _OWN or name.endswith(("_VERSION", "_DIR", "_ROOT", "_FILE", "_URL"))
