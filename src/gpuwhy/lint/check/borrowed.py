"""A package that opens another CUDA or cuDNN major than the framework beside it brings."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least
from gpuwhy.knowledge import packages
from gpuwhy.knowledge.flavours import library_wheel
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.lint.mistakes import Mistake
from gpuwhy.lint.rules import told
from gpuwhy.lint.scope import Scope, newest_said
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import allowed, is_pinned, major, together


class Majors(NamedTuple):
    """Majors of CUDA and cuDNN, 0 where not known, and how that is known."""

    cuda: int
    cudnn: int
    said: str = ""
    source: Source | None = None


def check(scope: Scope) -> Iterator[Mistake]:
    """CTranslate2 and ONNX Runtime against the torch, the wheels or the image that lend CUDA."""
    if not scope.environment.runs or scope.base.family in ("ngc", "framework", "tensorflow", "aws"):
        return
    torch = scope.by_pip("torch")
    if torch is not None and not is_pinned(torch) and scope.over_unknown:
        return
    for pin in scope.pins:
        opens = _opens(scope, pin) if pin.installed else None
        lent = _lent(scope, pin, torch) if opens else None
        if not opens or not lent or not _counts(scope, pin, torch):
            continue
        wrong = ""
        if lent.cuda and opens.cuda != lent.cuda:
            wrong = f"CUDA {opens.cuda} and cuDNN {opens.cudnn}"
        elif lent.cudnn and opens.cudnn and opens.cudnn != lent.cudnn:
            wrong = f"cuDNN {opens.cudnn}"
        if wrong:
            exact = pin.version and (torch is None or is_pinned(torch))
            said = f"{pin.name} {pin.version or '(the newest)'}"
            values = {"said": said, "wrong": wrong, "lent": lent.said}
            fix, level = _fix(pin, lent.cuda), "" if exact else "warning"
            yield told("borrowed-cuda", pin, opens.source, fix=fix, severity=level, values=values)
            return


def _counts(scope: Scope, pin: Pin, torch: Pin | None) -> bool:
    """CTranslate2 works without a GPU too: something has to say that one is meant."""
    if pin.name == "onnxruntime-gpu":
        return torch is not None or scope.has_wheels("nvidia-cudnn", "nvidia-cublas")
    held = torch and (torch.variant.startswith("cu") or torch.version)
    return bool(scope.gpu_meant or scope.named_gpu or held)


def _opens(scope: Scope, pin: Pin) -> Majors | None:
    found = None
    if pin.name == "ctranslate2":
        below = re.search(r"<=?\s*([\d.]+)", pin.specifier)
        ceiling = "3.24.0" if below and not at_least(below[1], "4.0.1") else "4.4.0"
        version = pin.version or (ceiling if below and not at_least(below[1], "4.5.1") else "")
        found = packages.ctranslate2(version)
    elif pin.name == "faster-whisper" and "ctranslate2" not in scope.names:
        found = packages.of_faster_whisper(pin.version)
    elif pin.name == "onnxruntime-gpu" and not pin.extras and not scope.environment.other_index:
        row = scope.taken(pin)
        cuda, cudnn = (major(row.cuda), major(row.cudnn)) if row else (0, 0)
        return Majors(cuda, cudnn, "", evidence_of(row, "cuda")) if row and cuda else None
    return Majors(int(found.cuda), int(found.cudnn), "", found.source) if found else None


def _lent(scope: Scope, pin: Pin, torch: Pin | None) -> Majors | None:
    """What wheels, the CUDA image or torch lend, in that order."""
    for own in scope.pins:
        name, cuda = (own.origin == "pip" and library_wheel(own.name)) or ("", 0)
        if name in ("nvidia-cublas", "nvidia-cudnn"):
            exact = re.match(r"={2,3}\s*(\d+)\.", own.specifier) if "cudnn" in name else None
            return Majors(cuda, int(exact[1]) if exact else 0, f"{own.said} is for CUDA {cuda}")
    base = scope.base
    if base.family == "cuda" and base.cuda and base.variant not in ("", "base"):
        if torch is None and pin.name == "onnxruntime-gpu":
            return None  # base-image compares them
        return Majors(major(base.cuda), 0, f"image {base.name} holds CUDA {base.cuda}")
    return _of_torch(scope, torch) if torch and together(pin, torch) else None


def _of_torch(scope: Scope, torch: Pin) -> Majors | None:
    label = re.fullmatch(r"cu(\d+)(\d)", torch.variant)
    named = allowed("torch", f"=={torch.public}") if torch.reference and torch.version else ()
    row = scope.taken(torch) or next(iter(named[-1:]), None)
    if row is None or (torch.variant and not label) or scope.base.family == "pytorch":
        return None
    cuda, cudnn = int(label[1]) if label else major(row.cuda), major(row.cudnn)
    if scope.environment.other_index or not cuda:
        return None
    both = f"CUDA {cuda}" + (f" and cuDNN {cudnn}" if cudnn else "")
    return Majors(cuda, cudnn, f"{newest_said(torch, row)} beside it brings {both}")


def _fix(pin: Pin, cuda: int) -> str:
    if pin.name == "onnxruntime-gpu":
        return f"take an onnxruntime-gpu for CUDA {cuda}, or a torch for its CUDA"
    if cuda == 11:
        return 'add "ctranslate2<4"'
    if cuda == 12:
        return 'add "ctranslate2<4.5" for cuDNN 8, or take torch 2.4 or newer for cuDNN 9'
    return "add nvidia-cublas-cu12 and nvidia-cudnn-cu12"
