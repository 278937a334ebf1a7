"""Common claims that are false, and what real files say instead (docs/knowledge.md has the evidence)."""

from __future__ import annotations

import re

_FALSE: tuple[tuple[str, str], ...] = (
    (
        r"(?:can['’]?t|cannot|unable)[^\n]{0,40}tensorflow 1\.15[^\n]{0,40}cudnn 7\b"
        r"|tensorflow 1\.15[^\n]{0,10} (?:can['’]?t|cannot)[^\n]{0,40}cudnn 7\b",
        "TensorFlow 1.15 loads cuDNN 7 and nothing else: its wheel asks for libcudnn.so.7, and wants 7.6 or a "
        "higher minor release",
    ),
    (
        r"cudnngetversion\(\s*&?\w*handle|cudnnversion_t\b",
        "cudnnGetVersion takes no argument and returns size_t, in the headers of cuDNN 8.5 to 9.27; there is no "
        "cudnnVersion_t",
    ),
    (
        r"\bprops?\w{0,20}\.driverversion\b|cudadeviceprop[^\n]{0,80}driverversion",
        "cudaDeviceProp has no driverVersion, in no header of CUDA 11.8 to 13.4: ask cudaDriverGetVersion, or NVML",
    ),
    (
        r"\bcudnn_path\b",
        "TensorFlow reads neither CUDA_PATH nor CUDNN_PATH: the loader's search counts (PATH on Windows; "
        "LD_LIBRARY_PATH, the cache and RUNPATH on Linux)",
    ),
)
_ROWS = tuple((re.compile(pattern, re.IGNORECASE), truth) for pattern, truth in _FALSE)


def refuted(text: str) -> tuple[str, ...]:
    """What is true instead of the false claims that a text repeats."""
    return tuple(truth for claim, truth in _ROWS if claim.search(text))
