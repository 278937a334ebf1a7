"""A package that opens another CUDA or cuDNN major than the framework beside it brings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from gpuwhy.knowledge import borrowers
from gpuwhy.knowledge.flavours import library_wheel
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope, is_pinned
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import allowed, together
from gpuwhy.model.fact import Source
from gpuwhy.model.lint import Mistake, Rule, Severity
from gpuwhy.model.release import Release
from gpuwhy.model.version import numbers

RULE = Rule("borrowed-cuda", "error", "a package that opens another CUDA or cuDNN than the framework beside it brings")

_LABEL = re.compile(r"cu(\d+)(\d)")
_CUDNN8 = source("PyTorch's RELEASE.md", "cuDNN 8 up to 2.3, cuDNN 9 from 2.4 on")


class Opens(NamedTuple):
    """What a package opens: majors of CUDA and cuDNN."""

    cuda: str
    cudnn: str
    source: Source
    cudnn_source: Source


def check(scope: Scope) -> Iterator[Mistake]:
    """CTranslate2 and ONNX Runtime against the torch that lends them its libraries, or against the CUDA image."""
    if not scope.environment.runs or scope.environment.locked:
        return
    if _brings_its_own(scope):
        yield from _other_wheels(scope)
        return
    lender = scope.by_pip("torch")
    if _may_stay(scope, lender):
        return
    borrowing = [pin for pin in scope.pins if _counts(scope, pin, lender)]
    found = (mistake for pin in borrowing if (mistake := _mistake(scope, pin, lender)))
    yield from islice(found, 1)
    if lender is None and scope.base.family == "cuda":
        projects = [pin for pin in scope.project if _counts(scope, pin, lender)]
        yield from islice((one for pin in [*borrowing, *projects] for one in _not_in_image(scope, pin)), 1)


def _may_stay(scope: Scope, lender: Pin | None) -> bool:
    """Whether the image is somebody's own and may hold a torch that no pin replaces."""
    return lender is not None and not is_pinned(lender) and scope.over_unknown


def _not_in_image(scope: Scope, pin: Pin) -> Iterator[Mistake]:
    """CTranslate2 in an image whose tag says that it holds no cuBLAS, or no cuDNN, and nothing else brings them."""
    opens = _opens(scope, pin) if pin.name in ("ctranslate2", "faster-whisper") else None
    if opens is None or _may_be_brought(scope):
        return
    base = scope.base
    lacks = "cuBLAS" if base.variant == "base" else "cuDNN" if base.cudnn == "none" else ""
    if lacks and opens.cuda == str(numbers(base.cuda)[0]):
        said = f"{pin.name} {pin.version}".strip()
        text = f"{said} opens cuBLAS and cuDNN {opens.cudnn} of the system; image {base.name} holds no {lacks}"
        fix = f"start from a cudnn-runtime image, or add nvidia-cublas-cu{opens.cuda} and nvidia-cudnn-cu{opens.cuda}"
        image = scope.environment.image
        yield RULE.mistake(image.place if image else pin.place, text, opens.source, fix)


def _may_be_brought(scope: Scope) -> bool:
    """Whether torch, apt, conda or a download may bring CUDA's libraries."""
    stage = scope.environment
    by_apt = any(re.match(r"cuda|libcud|libcublas|cudnn", name) for name in stage.apt)
    by_hand = any(re.search(r"cudnn|cublas", command.text) for command in stage.commands)
    every = [*scope.pins, *scope.project]
    by_torch = any(pin.name == "torch" or "torch" in scope.asks(pin) for pin in every)
    by_torch = by_torch or any(library_wheel(pin.name) for pin in every)
    by_conda = any(pin.origin == "conda" for pin in stage.pins)
    return by_apt or by_hand or by_torch or by_conda or stage.includes_unknown


_EXACT = re.compile(r"(?:={2,3}|~=)\s*(\d+)")


def _other_wheels(scope: Scope) -> Iterator[Mistake]:
    """ONNX Runtime or CTranslate2 beside NVIDIA's wheels of another CUDA, or of another cuDNN, major."""
    for pin in scope.pins:
        opens = _opens(scope, pin)
        lent = [wheel for wheel in _lent(scope) if together(pin, wheel.pin)]
        wrong = _unfit(opens, lent) if opens else None
        if opens and wrong:
            said = f"{pin.name} {pin.version}".strip()
            place = f"{wrong.pin.name} (line {wrong.pin.place.line})"
            text = f"{said} opens CUDA {opens.cuda}; {place} is for CUDA {wrong.cuda}"
            fix, known = _fix(pin, wrong.cuda), opens.source
            if wrong.cuda == opens.cuda:
                known = opens.cudnn_source
                text = f"{said} opens cuDNN {opens.cudnn}; {place} brings cuDNN {wrong.cudnn}"
                fix = f'write "{wrong.pin.name}=={opens.cudnn}.*", or another release of {pin.name}'
            yield RULE.mistake(pin.place, text, known, fix, "error" if pin.version else "warning")
            return


class Lent(NamedTuple):
    """A wheel of cuBLAS or cuDNN: the CUDA that it is for, and the cuDNN that is asked for exactly ("" otherwise)."""

    pin: Pin
    cuda: str
    cudnn: str


def _lent(scope: Scope) -> Iterator[Lent]:
    for pin in scope.pins:
        family, major = library_wheel(pin.name) or ("", 0)
        if pin.origin == "pip" and family in ("nvidia-cublas", "nvidia-cudnn"):
            exact = _EXACT.match(pin.specifier) if family == "nvidia-cudnn" else None
            yield Lent(pin, str(major), exact[1] if exact else "")


def _unfit(opens: Opens, lent: list[Lent]) -> Lent | None:
    """The first wheel, where none of them is for the CUDA that is opened; else a cuDNN of another major."""
    mine = [wheel for wheel in lent if wheel.cuda == opens.cuda]
    if not mine:
        return lent[0] if lent else None
    return next((wheel for wheel in mine if opens.cudnn and wheel.cudnn not in ("", opens.cudnn)), None)


def _mistake(scope: Scope, pin: Pin, lender: Pin | None) -> Mistake | None:
    """What one of them opens and does not get."""
    opens = _opens(scope, pin)
    lends = _image(scope) or (_torch(scope, lender) if lender and together(pin, lender) else None)
    if opens is None or lends is None:
        return None
    wrong = _difference(opens, lends[0], lends[1])
    if not wrong:
        return None
    said = f"{pin.name} {pin.version}" if pin.version else f"{pin.name} (the newest)"
    exact = pin.version and (lender is None or is_pinned(lender))
    severity: Severity = "error" if exact else "warning"
    return RULE.mistake(pin.place, f"{said} opens {wrong}; {lends[2]}", opens.source, _fix(pin, lends[0]), severity)


def _counts(scope: Scope, pin: Pin, lender: Pin | None) -> bool:
    """Whether a GPU is meant; ONNX Runtime for GPUs means one, and alone it is base-image's."""
    return lender is not None if pin.name == "onnxruntime-gpu" else _gpu_meant(scope, lender)


def _gpu_meant(scope: Scope, lender: Pin | None) -> bool:
    """CTranslate2 works without a GPU too: a sign that one is meant, a CUDA build, or a torch that is held back."""
    return bool(scope.gpu_meant or scope.named_gpu or (lender and (lender.variant.startswith("cu") or lender.version)))


def _brings_its_own(scope: Scope) -> bool:
    return scope.has_wheels("nvidia-cublas", "nvidia-cudnn") or scope.base.family in (
        "ngc",
        "framework",
        "tensorflow",
        "aws",
    )


def _opens(scope: Scope, pin: Pin) -> Opens | None:
    if not pin.installed:
        return None
    if pin.name == "ctranslate2":
        return _borrower(borrowers.ctranslate2(pin.version or _ceiling(pin)))
    if pin.name == "faster-whisper":
        own = any(other.name == "ctranslate2" for other in scope.pins)
        return None if own else _borrower(borrowers.of_faster_whisper(pin.version))
    if pin.name == "onnxruntime-gpu" and not pin.extras and not scope.environment.other_index:
        return _onnxruntime(scope.taken(pin))
    return None


def _onnxruntime(row: Release | None) -> Opens | None:
    if row is None or not isinstance(row.cuda, str) or not isinstance(row.cudnn, str):
        return None
    return Opens(
        str(numbers(row.cuda)[0]), str(numbers(row.cudnn)[0]), evidence_of(row, "cuda"), evidence_of(row, "cudnn")
    )


def _borrower(found: borrowers.Borrowed) -> Opens:
    return Opens(found.cuda, found.cudnn, found.source, found.source)


def _ceiling(pin: Pin) -> str:
    found = re.search(r"<=?\s*([\d.]+)", pin.specifier)
    return {"4": "3.24.0", "4.0": "3.24.0", "4.5": "4.4.0", "4.5.0": "4.4.0"}.get(found[1], found[1]) if found else ""


def _image(scope: Scope) -> tuple[str, str, str] | None:
    """What a CUDA image lends: majors, and the words for it; cuDNN '' where only torch could bring it."""
    base = scope.base
    if base.family != "cuda" or not base.cuda or base.variant in ("", "base") or scope.environment.apt.get("libcudnn9"):
        return None
    return str(numbers(base.cuda)[0]), "", f"image {base.name} holds CUDA {base.cuda}"


def _torch(scope: Scope, pin: Pin) -> tuple[str, str, str] | None:
    labelled = _LABEL.fullmatch(pin.variant)
    row = scope.taken(pin) or _of_wheel(pin)
    if row is None or scope.environment.other_index or (pin.variant and not labelled) or scope.base.family == "pytorch":
        return None
    if labelled:
        cuda = labelled[1]
    elif isinstance(row.cuda, str):
        cuda = str(numbers(row.cuda)[0])
    else:
        return None
    cudnn = str(numbers(row.cudnn)[0]) if isinstance(row.cudnn, str) else ""
    newest = "" if is_pinned(pin) else " (the newest)"
    return (
        cuda,
        cudnn,
        f"torch {row.version}{newest} beside it brings CUDA {cuda}" + (f" and cuDNN {cudnn}" if cudnn else ""),
    )


def _of_wheel(pin: Pin) -> Release | None:
    """The release of a torch that is named by the file of its wheel."""
    found = allowed("torch", f"=={pin.version.partition('+')[0]}") if pin.reference and pin.version else ()
    return found[-1] if found else None


def _difference(opens: Opens, cuda: str, cudnn: str) -> str:
    if opens.cuda != cuda:
        return f"CUDA {opens.cuda} and cuDNN {opens.cudnn}"
    return f"cuDNN {opens.cudnn}" if cudnn and opens.cudnn and opens.cudnn != cudnn else ""


def _fix(pin: Pin, cuda: str) -> str:
    if pin.name == "onnxruntime-gpu":
        return f"take an onnxruntime-gpu for CUDA {cuda} (gpuwhy releases onnxruntime-gpu), or a torch for its CUDA"
    held = {"11": '"ctranslate2<4"', "12": '"ctranslate2<4.5" for cuDNN 8, or a torch from 2.4 on for cuDNN 9'}
    return f"add {held.get(cuda, 'nvidia-cublas-cu12 and nvidia-cudnn-cu12')}"
