"""An image whose CUDA or cuDNN is not the one the framework opens."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import containers
from gpuwhy.knowledge.releases import evidence_of
from gpuwhy.knowledge.tables import source
from gpuwhy.lint.rules import no_such_extra
from gpuwhy.lint.scope import Scope, is_pinned
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.system_cuda import fitting_image, needs_system
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.release import Release
from gpuwhy.model.version import at_least, major_minor, numbers

RULE = Rule("base-image", "error", "an image whose CUDA or cuDNN is not the one the framework opens")


def check(scope: Scope) -> Iterator[Mistake]:
    """The CUDA image that runs, against every framework that opens the system's CUDA."""
    base = scope.base
    if base.family not in ("cuda", "ngc") or not base.cuda or not scope.environment.runs:
        return
    yield from _jax(scope)
    yield from _named(scope)
    for pin in [*scope.pins, *scope.environment.carried]:
        row = needs_system(scope, pin) if base.family == "cuda" or pin.name == "onnxruntime-gpu" else None
        unfit = _unfit(scope, row) if row and isinstance(row.cuda, str) else ""
        if row and unfit:
            text = f"{pin.name} {row.version} {unfit}"
            exact = "error" if is_pinned(pin) or pin.name == "tensorflow-gpu" else "warning"
            image = scope.environment.image
            place = image.place if image and "is built for CUDA" not in unfit else pin.place
            yield RULE.mistake(place, text, evidence_of(row, "cuda"), fitting_image(pin, row), exact)  # type: ignore[arg-type]
            return


def _named(scope: Scope) -> Iterator[Mistake]:
    """cupy-cuda12x, mxnet-cu110, paddlepaddle-gpu==2.6.2.post117: the CUDA is in the name, and none comes with it."""
    base = scope.base
    brought = scope.has_wheels("nvidia-") or "torch" in scope.names or any(p.origin == "conda" for p in scope.pins)
    for pin in scope.pins if base.family == "cuda" and not brought else ():
        wanted = _cuda_in_name(pin)
        if not wanted or any(map(containers.LIBRARY_PACKAGES.match, scope.environment.apt)):
            continue
        if str(numbers(base.cuda)[0]) != wanted:
            text = f"{pin.name} is built for CUDA {wanted}; image {base.name} holds CUDA {base.cuda}"
            yield RULE.mistake(pin.place, text, containers.TAGS, f"start from an nvidia/cuda image of CUDA {wanted}")
        elif base.variant == "base":
            text = f"{pin.name} opens cuBLAS and others of CUDA {wanted}; image {base.name} holds libcudart alone"
            yield RULE.mistake(pin.place, text, containers.TAGS, f"write {base.name.replace('-base-', '-runtime-')}")


def _cuda_in_name(pin: Pin) -> str:
    """The CUDA major that a package's name or release says."""
    if "ctk" in pin.extras or not pin.installed:
        return ""
    found = re.match(r"(?:cupy-cuda|mxnet-cu|dgl-cu)(1\d|[7-9](?=\d))", pin.name)
    built = re.search(r"\.post(\d\d)\d$", pin.version) if pin.name == "paddlepaddle-gpu" else None
    return (found or built)[1] if found or built else ""  # type: ignore[index]


def _jax(scope: Scope) -> Iterator[Mistake]:
    """jax[cuda], which before 0.4.14 meant builds that open CUDA and cuDNN of the system."""
    pin, base = scope.by_pip("jax"), scope.base
    extras = {"cuda", "cuda11-local", "cuda12-local", "cuda11-cudnn82", "cuda11-cudnn86", "cuda11-cudnn805"}
    if pin is None or not extras & set(pin.extras) or base.family != "cuda" or no_such_extra.lacks(scope, pin):
        return
    brought = any(re.match(r"(lib)?cudnn", name) for name in scope.environment.apt) or scope.has_wheels("nvidia-cudnn")
    lacks = "cuBLAS" if base.variant == "base" else "cuDNN" if base.cudnn == "none" and not brought else ""
    image = scope.environment.image
    if lacks and image:
        text = f"jax[{pin.extras[0]}] opens CUDA and cuDNN of the system; image {base.name} holds no {lacks}"
        fix = "start from a cudnn-devel image, or write jax[cuda12], which brings both"
        yield RULE.mistake(pin.place, text, _JAX, fix)


_JAX = source("JAX installation guide of 0.4", "cuda, cuda11_local, cuda12_local: CUDA and cuDNN must be there already")


def _unfit(scope: Scope, row: Release) -> str:
    base, cuda, apt = scope.base, str(row.cuda), scope.environment.apt
    if any(map(containers.LIBRARY_PACKAGES.match, apt)) or "conda" in " ".join(apt):
        return ""
    same = numbers(base.cuda)[:1] == numbers(cuda)[:1]
    if not same or (not at_least(cuda, "11") and major_minor(base.cuda) != major_minor(cuda)):
        return f"is built for CUDA {cuda}; image {base.name} holds CUDA {base.cuda}"
    if base.variant == "base":
        return f"opens cuBLAS, cuFFT and others of CUDA {cuda}; image {base.name} holds libcudart alone"
    brought = any(map(containers.CUDNN_PACKAGES.match, apt)) or _has_cudnn_wheel(scope, row)
    return _other_cudnn(base, row.cudnn) if isinstance(row.cudnn, str) and not brought else ""


def _has_cudnn_wheel(scope: Scope, row: Release) -> bool:
    """Whether another framework brings cuDNN as a wheel, in the folder in which TensorFlow looks since 2.15."""
    jax = any(pin.name == "jax" and any(re.match(r"cuda1\d(-pip)?$", one) for one in pin.extras) for pin in scope.pins)
    torch = any(pin.name == "torch" and pin.installed and pin.variant != "cpu" for pin in scope.pins)
    found = jax or torch or scope.has_wheels("nvidia-cudnn")
    return found and row.name.startswith("tensorflow") and at_least(row.version, "2.15")


def _other_cudnn(base: containers.Base, cudnn: str) -> str:
    wanted = str(numbers(cudnn)[0])
    if base.cudnn == "none":
        return f"opens cuDNN {wanted}; image {base.name} holds none"
    if base.cudnn and base.cudnn != wanted:
        return f"is built for cuDNN {cudnn}; image {base.name} holds cuDNN {base.cudnn}"
    return ""
