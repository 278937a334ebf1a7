"""A framework that needs CUDA from the system, in an image without it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.system_cuda import fitting_image, needs_system
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("no-system-cuda", "error", "a framework that needs CUDA from the system, in an image without it")


def check(scope: Scope) -> Iterator[Mistake]:
    """A framework that opens the system's CUDA on an image that has none, where a GPU is meant."""
    base, stage = scope.base, scope.environment
    if base.family not in ("python", "distro") or not stage.runs or base.windows or base.musl or _brought(scope):
        return
    for pin in scope.pins:
        row = needs_system(scope, pin) if scope.gpu_meant or _names_gpu(pin) else None
        if row and isinstance(row.cuda, str) and row.platform != "source":
            cudnn = f" and cuDNN {row.cudnn}" if isinstance(row.cudnn, str) else ""
            text = (
                f"{pin.name} {row.version} opens CUDA {row.cuda}{cudnn} from the system; image {base.name} has no CUDA"
            )
            yield RULE.mistake(pin.place, text, evidence_of(row, "cuda"), fitting_image(pin, row))
            return


def _names_gpu(pin: Pin) -> bool:
    """Whether a pin itself says that it is for GPUs."""
    return pin.name in ("tensorflow-gpu", "onnxruntime-gpu") or any(e.endswith("-local") for e in pin.extras)


def _brought(scope: Scope) -> bool:
    """CUDA that comes another way: apt, conda, a copied folder, a search path."""
    stage = scope.environment
    path = stage.variables.get("LD_LIBRARY_PATH")
    return bool(
        any(re.match(r"cuda|libcud|libcublas|nvidia-cuda", name) for name in stage.apt)
        or any(pin.origin == "conda" for pin in stage.pins)
        or (path and re.search(r"cuda|nvidia|conda", path.value))
        or any(
            re.search(r"cuda|conda|nvidia", c.text)
            for c in stage.commands
            if c.words and c.words[0] in ("COPY", "wget", "curl", "sh", "bash", "conda", "mamba")
        )
    )
