"""Naming: which published projects and releases people mean by `cudnn`, `torch==2.6` or `1.15`."""

import re
from typing import NamedTuple

from gpuwhy.facts.version import numbers
from gpuwhy.knowledge.releases import projects

_ASKED = re.compile(
    r"(?P<name>[A-Za-z0-9][\w.-]*?)\s*(\[[^\]]*\])?\s*(?P<spec>(===?|[<>~!]=?)\s*\S.*)?$"
)
_TRIAL = re.compile(r"\d(a|b|rc|\.dev)\d")
_CALLED = {
    "torch": "pytorch",
    "tensorflow": "tf",
    "tensorflow-gpu": "tf-gpu",
    "onnxruntime": "ort onnx onnx-runtime",
    "onnxruntime-gpu": "ort-gpu",
    "flash-attn": "flashattention flash-attention",
    "cuda-toolkit": "cudatoolkit cuda",
    "paddlepaddle-gpu": "paddle paddlepaddle",
    "tensorrt": "trt",
    "cuda-runtime": "cudart",
    "cuda-nvrtc": "nvrtc",
    "cuda-nvcc": "nvcc",
    "cuda-cupti": "cupti",
}
_MEANT = {word: name for name, words in _CALLED.items() for word in words.split()}
_PARTS = {"jax": r"jaxlib|jax-cuda\d+-plugin"}


class Asked(NamedTuple):
    """A requirement as people write it: the name, and what its version must be."""

    name: str
    spec: str  # "", "==2.6", ">=2.4,<2.6"


def asked(text: str, version: str = "") -> Asked | None:
    """Read `torch`, `torch==2.6`, `torch[extra]>=2.4`; None where it is no requirement."""
    found = _ASKED.fullmatch(text.strip())
    if found is None:
        return None
    spec = (found["spec"] or "").replace(" ", "")
    return Asked(re.sub(r"[-_.]+", "-", found["name"]).lower(), spec or version.strip())


def meant(name: str) -> list[str]:
    """The projects that a name stands for: one, or all that hold it for some CUDA."""
    known = sorted(projects())
    for word in dict.fromkeys((name, _MEANT.get(name, name))):
        if word in known:
            return [word]
        shape = re.compile(_PARTS.get(word, rf"(nvidia-)?{re.escape(word)}(-cu\d+|-cuda\w+)?"))
        if found := [one for one in known if shape.fullmatch(one)]:
            return found
    return []


def chosen(spec: str, versions: list[str]) -> tuple[list[str], str]:
    """The releases that a version or a range means, and a line where that had to be chosen."""
    bare = spec.removeprefix("===").removeprefix("==").removeprefix("v")
    if not spec or bare in versions:
        return [bare] if spec else versions, ""
    if re.match(r"[<>~!]|.*[*,]", spec):
        from packaging.specifiers import SpecifierSet

        try:
            allowed = SpecifierSet(spec)
            return [one for one in versions if allowed.contains(one, prereleases=True)], ""
        except ValueError:  # no specifier, no version, or thousands of digits
            return [], ""
    begun = [one for one in versions if one.startswith((f"{bare}.", f"{bare}+"))]
    final = _final(spec, bare, versions, begun)
    if not final:
        return [], ""
    others = [one for one in begun if one != final]
    also = f"; there is also {', '.join(others[-8:])}" if others else ""
    newest = f", the newest {bare}.x" if begun else ""
    return [final], f"{bare} is read as {final}{newest}{also}"


def _final(spec: str, bare: str, versions: list[str], begun: list[str]) -> str:
    """With == the same but for zeros, else the newest that begins so."""
    same = [one for one in versions if _padded(one) == _padded(bare) and not _TRIAL.search(one)]
    if spec.startswith("==") and same:
        return same[-1]
    finished = [one for one in begun if not _TRIAL.search(one)]
    return next(reversed(finished or begun), "")


def _padded(version: str) -> tuple[int, ...]:
    parts = numbers(version)
    return (*parts, *(0,) * (4 - len(parts)))
