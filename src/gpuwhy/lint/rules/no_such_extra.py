"""An extra that the release does not have; pip warns and goes on without it."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope, is_pinned
from gpuwhy.lint.sheet import Pin
from gpuwhy.model.lint import Mistake, Rule, Severity
from gpuwhy.model.version import at_least

RULE = Rule("no-such-extra", "error", "an extra that the release does not have: pip goes on without it")

_KNOW = source("Provides-Extra in the metadata of the wheels", "asked of the newest releases by uv in November 2026")
_GPU = ("cuda", "gpu", "cuda11", "cuda12")
_PLAIN = ("ctranslate2", "faster-whisper", "vllm", "onnxruntime", "xformers", "bitsandbytes", "torchvision",
          "torchaudio", "llama-cpp-python", "transformers", "diffusers", "keras", "whisperx", "ultralytics",
          "xgboost", "lightgbm", "sentence-transformers")  # fmt: skip
_UNKNOWN = {"torch": (*_GPU, "cu121", "cu118", "cu124"), "jax": ("gpu", "cuda10", "cuda110"),
            "tensorflow": ("gpu", "cuda", "with-cuda"), **dict.fromkeys(_PLAIN, _GPU)}  # fmt: skip
_GONE = ("cuda12-pip", "cuda11-pip", "cuda11-local", "cuda11-cudnn82", "cuda11-cudnn86", "cuda11-cudnn805")
"""Extras that JAX had once; the newest release has them no more."""
_STILL = {"cuda12-pip": "3.10", **dict.fromkeys(("cuda11-pip", "cuda11-local", "cuda11-cudnn86"), "3.9")}
"""An extra → the first Python whose newest JAX is without it: 3.9 gets 0.4.30, which has the first, 3.8 0.4.13."""
_INSTEAD = {
    "torch": "torch (its wheels on Linux bring CUDA)",
    "jax": '"jax[cuda12]"',
    "tensorflow": '"tensorflow[and-cuda]"',
    "onnxruntime": "onnxruntime-gpu",
}


def check(scope: Scope) -> Iterator[Mistake]:
    """tensorflow[and-cuda] before 2.14, and spellings that never were."""
    for pin in scope.pins:
        wrong = lacks(scope, pin) if pin.origin == "pip" and pin.extras and not pin.reference else ""
        if wrong:
            without = "without it" if pin.name == "torch" else "without its CUDA libraries"
            text = f"{pin.name}{pin.specifier} has no extra {wrong}: pip warns and installs {without}"
            fix = "write tensorflow without it and take CUDA from the system, or tensorflow 2.14 and newer"
            plain = f"write {_INSTEAD.get(pin.name, pin.name)}"
            severity: Severity | None = "warning" if pin.name == "torch" else None
            yield RULE.mistake(pin.place, text, _KNOW, fix if wrong == "and-cuda" else plain, severity)


def _is_still_there(scope: Scope, extra: str) -> bool:
    """Whether the Python of the file gets no newer JAX than one that has the extra."""
    first, pythons = _STILL.get(extra, ""), scope.environment.pythons or scope.hinted
    return bool(first and pythons) and not any(at_least(python, first) for python in pythons)


def lacks(scope: Scope, pin: Pin) -> str:
    """The extra that is asked for and not there; '' where all of them are."""
    row = scope.taken(pin) if pin.name == "tensorflow" and "and-cuda" in pin.extras else None
    if row and not at_least(row.version, "2.14"):
        return "and-cuda"
    if pin.name == "jax" and not is_pinned(pin):
        gone = next((extra for extra in pin.extras if extra in _GONE), "")
        if gone and not _is_still_there(scope, gone):
            return gone
    return next((extra for extra in pin.extras if extra in _UNKNOWN.get(pin.name, ())), "")
