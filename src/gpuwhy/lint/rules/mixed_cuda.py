"""NVIDIA wheels of several CUDA majors."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import asked
from gpuwhy.lint.demands import MAJORS, wheels_of_two_majors
from gpuwhy.lint.index import from_index
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin, holds_only
from gpuwhy.lint.versions import together
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.version import at_least, numbers

RULE = Rule("mixed-cuda", "warning", "NVIDIA wheels of several CUDA majors")


def check(scope: Scope) -> Iterator[Mistake]:
    """The first pair of NVIDIA's wheels of two majors that write no common file: those belong to same-files."""
    if scope.environment.locked:
        return
    yield from _implied(scope)
    for pair in wheels_of_two_majors(scope):
        if not pair.file and not _serves(scope, {pair.major, pair.other_major}):
            one, other = pair.one, pair.other
            text = (
                f"{other.name} is for CUDA {pair.other_major}, {one.name} (line {one.place.line}) for CUDA {pair.major}"
            )
            fix = "keep the wheels of one CUDA major, or leave them to the framework's own requirements"
            yield RULE.mistake(other.place, text, MAJORS, fix)
            return


def _serves(scope: Scope, majors: set[int]) -> bool:
    """Whether the torch that is pinned beside them opens those of one major: the others lie there and do no harm."""
    torch = scope.by_pip("torch")
    row = scope.taken(torch) if torch and torch.version and not torch.variant else None
    return bool(row) and isinstance(row.cuda, str) and numbers(row.cuda)[0] in majors  # type: ignore[union-attr]


def _implied(scope: Scope) -> Iterator[Mistake]:
    """A package that says no CUDA in its name and comes for a newer one than its neighbours do."""
    named = [(pin, major) for pin in scope.pins if (major := _named(pin))]
    majors = {major for _, major in named}
    if len(majors) != 1 or scope.environment.forked:
        return
    said, told = named[0]
    for pin in scope.pins:
        major, title = _comes_for(scope, pin)
        if major > told and together(pin, said) and not _is_brought(scope, pin, major):
            text = f"{title} is for CUDA {major}; {said.name} (line {said.place.line}) is for CUDA {told}"
            yield RULE.mistake(pin.place, text, MAJORS, _INSTEAD[pin.name].format(told))


_INSTEAD = {
    "onnxruntime-gpu": "take a release for CUDA {} (1.24 is the last one for CUDA 12), or all for the newer CUDA",
    "tensorrt": "write tensorrt-cu{}",
    "cuda-python": "write cuda-python=={}.*",
}


def _named(pin: Pin) -> int:
    """The CUDA major that a package's name says: cupy-cuda12x, tensorrt-cu12-libs; 0 where it says none."""
    found = re.search(r"-cu(?:da)?(1[1-9])(?:x|-libs|-bindings)?$", pin.name) if pin.installed else None
    return int(found[1]) if found else 0


def _comes_for(scope: Scope, pin: Pin) -> tuple[int, str]:
    """The CUDA major of the release that pip takes, and that release; (0, '') where nobody can tell."""
    if pin.name not in _INSTEAD or not from_index(scope, pin) or not _from_default(pin):
        return 0, ""
    if pin.name == "onnxruntime-gpu":
        row = scope.taken(pin)
        return (
            (numbers(row.cuda)[0], f"onnxruntime-gpu {row.version}") if row and isinstance(row.cuda, str) else (0, "")
        )
    bits = asked.allowed(pin.name, pin.specifier)
    newest = asked.newest(pin.name, bits) if bits else "0"
    if pin.name == "cuda-python":
        return numbers(newest)[0], f"cuda-python {newest}"
    return (13, f"tensorrt {newest}") if at_least(newest, "11") else (0, "")


def _from_default(pin: Pin) -> bool:
    """Whether the newest release of the default index is taken: other indexes stand beside it, and are PyTorch's."""
    return all(index.role == "extra" and holds_only(index.url) == "torch" for index in pin.indexes)


def _is_brought(scope: Scope, pin: Pin, major: int) -> bool:
    """Whether PyTorch beside it brings the libraries that ONNX Runtime opens."""
    torch = scope.by_pip("torch") if pin.name == "onnxruntime-gpu" else None
    row = scope.taken(torch) if torch and not torch.variant else None
    return bool(row) and isinstance(row.cuda, str) and numbers(row.cuda)[0] == major  # type: ignore[union-attr]
