"""Other CUDA: neighbours of PyTorch whose compiled libraries are for another CUDA than the PyTorch that they join."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.knowledge.sonames import cuda_of
from gpuwhy.model.fact import Known, value_or
from gpuwhy.model.facts import Contradiction, Distribution, Fault, Framework
from gpuwhy.model.version import numbers
from gpuwhy.observe.built import dotted
from gpuwhy.observe.scene import Scene

_BUILD = re.compile(r"libbitsandbytes_cuda(\d+)\.so$")
_FALLS_BACK = "_find_cuda_libs"
"""A function of the releases that take the nearest library of the same CUDA major."""
_RUNTIME = re.compile(r"libcudart\.so\.(\d+)")
_TORCH = re.compile(r"Requires-Dist: torch\b")
_BUILT_ON_IT = re.compile(
    r"torch-(scatter|sparse|cluster|spline-conv|geometric)|pyg-lib|detectron2|apex|mmcv(-full)?|pytorch3d|nvdiffrast|tinycudann"
)
_JUDGED = frozenset({"torch", "bitsandbytes", "flash-attn", "xformers", "vllm", "triton", "torchvision", "torchaudio"})
"""Whose libraries the load trees follow, or that is judged here by other means."""
_MOST = 6  # compiled files that are read of one package


def for_another_cuda(scene: Scene, installed: Sequence[Distribution]) -> Iterator[Contradiction]:
    """Packages that have no library for the CUDA of the installed PyTorch, or link the runtime of another."""
    torch = next((one for one in value_or(scene.facts.target.frameworks, ()) if one.name == "torch"), None)
    cuda = value_or(torch.built_for_cuda, "") if torch else ""
    if torch is None or not cuda:
        return
    for one in installed:
        if one.name == "bitsandbytes":
            yield from _without_build(scene, one, torch, cuda)
        elif one.name not in _JUDGED and _is_built_on(scene, one):
            yield from _links_another(scene, one, torch, cuda)


def _without_build(scene: Scene, one: Distribution, torch: Framework, cuda: str) -> Iterator[Contradiction]:
    """bitsandbytes opens the library that is named after PyTorch's CUDA, unless a variable names another."""
    folder, builds, last = _builds(scene, one)
    asked = value_or(scene.host.environ(), {}).get("BNB_CUDA_VERSION", "")
    if asked or not builds or cuda in builds or _nearest(scene, folder, builds, cuda):
        return
    effect = (
        f"has libraries for CUDA {_span(builds)}, and none for {cuda}, which torch {torch.version} asks for, by its "
        "CUDA: it does not work on a GPU"
    )
    yield _say(one, torch, cuda, effect, f"{folder}/{last}")


def no_such_build(scene: Scene, value: str) -> tuple[Fault, ...]:
    """BNB_CUDA_VERSION names a library that the installed bitsandbytes does not have."""
    one = next((d for d in value_or(scene.facts.target.distributions, ()) if d.name == "bitsandbytes"), None)
    _, builds, _ = _builds(scene, one) if one else ("", [], "")
    if one is None or not builds or not value or (value.isdigit() and dotted(value) in builds):
        return ()
    text = f"bitsandbytes {one.version} has libraries for CUDA {_span(builds)}, and none of that name: no GPU work"
    return (Fault("off", ("bitsandbytes",), text, source="bitsandbytes/cextension.py, get_cuda_bnb_library_path"),)


def _builds(scene: Scene, one: Distribution) -> tuple[str, list[str], str]:
    """The folder of bitsandbytes, the releases of CUDA that it has libraries for, and the last of these."""
    folder = f"{one.location.rpartition('/')[0]}/bitsandbytes"
    listed = value_or(scene.host.list(folder, r"libbitsandbytes_cuda\d+\.so$"), ())
    builds = sorted({dotted(match[1]) for entry in listed if (match := _BUILD.match(entry.name))}, key=numbers)
    return folder, builds, listed[-1].name if listed else ""


def _span(builds: Sequence[str]) -> str:
    return f"{builds[0]} to {builds[-1]}" if len(builds) > 1 else builds[0]


def _nearest(scene: Scene, folder: str, builds: Sequence[str], wanted: str) -> bool:
    """Whether a library of the same major is there, and this release takes it."""
    same = any(numbers(one)[:1] == numbers(wanted)[:1] for one in builds)
    return same and bool(value_or(scene.host.lines(f"{folder}/cextension.py", _FALLS_BACK), ()))


def _is_built_on(scene: Scene, one: Distribution) -> bool:
    if _BUILT_ON_IT.fullmatch(one.name):
        return True
    lines = value_or(scene.host.lines(f"{one.location}/METADATA", "Requires-Dist: torch"), ())
    return any(_TORCH.match(line) for line in lines)


def _links_another(scene: Scene, one: Distribution, torch: Framework, cuda: str) -> Iterator[Contradiction]:
    """A compiled module that needs the runtime of another CUDA major, which nothing brings into the process."""
    site = one.location.rpartition("/")[0]
    lines = value_or(scene.host.lines(f"{one.location}/RECORD", ".so,"), ())
    names = [line.split(",", 1)[0] for line in lines]
    for name in [name for name in names if not name.startswith(("/", ".."))][:_MOST]:
        elf = scene.host.elf(f"{site}/{name}")
        needed = elf.value.needed if isinstance(elf, Known) else ()
        runtime = next(filter(_RUNTIME.match, needed), "")
        major = (_RUNTIME.match(runtime) or ("", ""))[1]
        if runtime and numbers(major) != numbers(cuda)[:1] and not _found(scene, runtime):
            effect = (
                f"was built for CUDA {cuda_of(runtime) or major}: it needs {runtime}, and torch {torch.version} brings "
                f"CUDA {cuda}, so its import fails"
            )
            yield _say(one, torch, cuda, effect, f"{site}/{name}")
            return


def _found(scene: Scene, name: str) -> bool:
    """Whether the loader finds a library by itself."""
    if any(entry.name == name for entry in value_or(scene.host.ldcache(), ())):
        return True
    folders = value_or(scene.host.environ(), {}).get("LD_LIBRARY_PATH", "").split(":")
    return any(isinstance(scene.host.stat(f"{folder}/{name}"), Known) for folder in folders if folder)


def _say(one: Distribution, torch: Framework, wanted: str, effect: str, file: str) -> Contradiction:
    return Contradiction(one.name, one.version, "torch", wanted, torch.version, "build", file, effect, stops=True)
