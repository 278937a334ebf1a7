"""Clues for variables whose value their reader does not take."""

from __future__ import annotations

import re

from gpuwhy.causes.clues import of
from gpuwhy.causes.clues.conditions import all_of, field, no
from gpuwhy.model.symptom import Clue, Reading, Symptom

_CONVERSION = re.compile(
    r"invalid literal for int|could not convert string to float|not a valid|invalid (?:start|truth|value)|unknown|must be|stoi|stoull"
    r"|expecting (?:value|property|','|':')|extra data|not in list|assert",
    re.IGNORECASE,
)
_NUMBER = r"invalid literal for int|could not convert string to float"
_FRAME = re.compile(r'File "([^"\n]+)", line \d+, in ([^\n]+)')
_OWN = re.compile(
    r"(?:site-packages/|dist-packages/|^)(?:torch|jax|jaxlib|triton|cupy|cupy_backends|numba|keras|tensorflow)/"
)
_ELSEWHERE = ("rocm", "cuda", "gpu", "tpu")


def _unread(s: Symptom, r: Reading) -> bool:
    """The error after this frame is one of a text that was to be a number or one of a few words."""
    return any(
        one.line > s.line and _CONVERSION.search(one.text) for one in r.all("python.exception", "python.runtime")
    )


def _at_import(s: Symptom, r: Reading) -> bool:
    """The innermost frame before this error is a module of a framework that is just being imported."""
    place = r.excerpt.rfind(s.text[:60])
    frames = _FRAME.findall(r.excerpt[: max(place, 0)])
    return bool(frames) and bool(_OWN.search(frames[-1][0])) and frames[-1][1].startswith(("<module>", "init "))


def _first_and_only(s: Symptom, r: Reading) -> bool:
    """No message of another reader stands beside it."""
    return not any(one.role == "error" and one.speaker not in ("setting", "python", "title") for one in r.symptoms)


_PLAIN = no(field("value", "^(?:" + "|".join(_ELSEWHERE) + ")$"))

CLUES: tuple[Clue, ...] = (
    *of(
        "env.setting",
        ("setting.jax_platform", 5.5, "JAX_PLATFORMS names {value}, which JAX does not know", _PLAIN),
        ("setting.jax_platform", 2.6, "JAX_PLATFORMS asks for a GPU, and JAX has no backend for it"),
        ("setting.jax_other", 4.0, "JAX_PLATFORMS asks for {value}, which is not here"),
        ("setting.jax_chosen", 2.6, "JAX_PLATFORMS or JAX_PLATFORM_NAME asks for {value}, and JAX has no backend of that name"),
        ("setting.jax_backend", 3.6, "JAX is asked for the platform {value}, which it does not know, as by JAX_PLATFORM_NAME"),
        ("setting.jax_none", 2.6, "JAX found no platform that JAX_PLATFORMS allows"),
        ("setting.jax_truth", 6.0, "{variable} holds {value}, which is neither yes nor no"),
        ("setting.jax_value", 5.5, "the value {value} of {variable} is none that JAX takes"),
        ("setting.jax_device", 4.5, "JAX_DEFAULT_DEVICE holds {value}, which is no device"),
        ("setting.jax_allocator", 6.0, "{variable} holds {value}, which is no allocator of JAX"),
        ("setting.xla_unknown", 6.0, "{variable} holds a flag that XLA does not know: {value}"),
        ("setting.xla_file", 6.0, "{variable} does not start with two dashes, so it was taken for a file: {value}"),
        ("setting.xla_value", 5.5, "XLA_FLAGS gives {flag} the value {value}, which XLA does not take"),
        ("setting.xla_parse", 4.5, "XLA cannot read the flags in XLA_FLAGS"),
        ("setting.tf_env", 6.0, "{variable} holds {value}, which TensorFlow cannot read as {type}"),
        ("setting.torch_logs", 6.0, "TORCH_LOGS holds {value}, which PyTorch does not know"),
        ("setting.allocator", 5.5, "PYTORCH_CUDA_ALLOC_CONF holds an option that PyTorch does not take: {option} {value}"),
        ("memory.allocator_option", 6.0, "PYTORCH_CUDA_ALLOC_CONF holds an option that PyTorch does not know: {option}"),
        ("setting.number", 3.2, "PyTorch expected a number, as in PYTORCH_CUDA_ALLOC_CONF"),
        ("setting.arch", 5.0, "TORCH_CUDA_ARCH_LIST names {value}, which PyTorch does not know"),
        ("setting.numba", 4.0, "NUMBA_THREADING_LAYER or NUMBA_NUM_THREADS holds a value that Numba does not take"),
        ("setting.unknown", 5.5, "{variable} holds a value that its reader does not know"),
        ("setting.refused", 4.2, "{variable} holds a value that its reader does not take"),
        ("setting.frame", 4.6, "{variable} holds a value that cannot be read as what it should be", _unread),
        ("setting.tf_config", 4.6, "TF_CONFIG holds no JSON that TensorFlow can read", _unread),
        ("setting.config", 2.6, "the configuration of {package} cannot be read, as with a wrong value in a variable", all_of(_unread, _first_and_only)),
        ("setting.keras", 5.0, "KERAS_BACKEND names {value}, which Keras does not know"),
        ("setting.cupy", 5.0, "CUPY_ACCELERATORS names {value}, which CuPy does not know"),
        ("python.exception", 4.8, "a framework cannot read a number while it is imported, as with a wrong value in a variable: {what}", all_of(field("what", _NUMBER), _at_import)),
        ("jax.unknown_backend", 1.6, "JAX_PLATFORMS or JAX_PLATFORM_NAME may ask for a platform that is not there"),
    ),
    *of(
        "framework.cpu_only",
        ("setting.jax_chosen", 2.8, "JAX was told to use a GPU, and no build for one is installed"),
        ("setting.jax_none", 2.4, "JAX may have been told to use a GPU, and no build for one is installed"),
        ("setting.jax_platform", 3.0, "JAX was told to use a GPU, and no build for one is installed", field("value", "^(?:rocm|cuda|gpu)$")),
    ),
)  # fmt: skip
