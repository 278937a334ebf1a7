"""Which CUDA toolkit a library's name belongs to: libcusolver.so.10 came with CUDA 10.1 to 11.0."""

from __future__ import annotations

import re

from gpuwhy.knowledge.tables import source

SONAMES = source("file names in the CUDA 10.0 to 13.2 toolkits and in the nvidia-* wheels cu11, cu12 and cu13")

_BY_NAME: dict[str, dict[str, str]] = {
    "cudart": {"11.0": "11", "12": "12", "13": "13"},
    "cublas": {"10": "10.1 or 10.2", "11": "11", "12": "12", "13": "13"},
    "cufft": {"10": "10.1 to 11.8", "11": "12", "12": "13"},
    "curand": {"10": "10.1 to 13"},
    "cusolver": {"10": "10.1 to 11.0", "11": "11.1 to 12.9", "12": "13"},
    "cusparse": {"10": "10.1 or 10.2", "11": "11", "12": "12 or 13"},
    "nvrtc": {"11.2": "11.2 to 11.8", "12": "12", "13": "13"},
    "nvJitLink": {"12": "12", "13": "13"},
    "cupti": {"12": "12", "13": "13"},
}
_SAME = {"cublasLt": "cublas", "cufftw": "cufft", "cusolverMg": "cusolver"}
_PARTS = re.compile(r"lib(\w+)\.so\.([\d.]+)$")
_EXACT = re.compile(r"(?:[6-9]|10)\.\d|11\.[01]")


def cuda_of(name: str) -> str:
    """The CUDA versions that ship a library of this name: '10.1 to 11.0'; '' when the name does not tell."""
    match = _PARTS.match(name)
    if not match:
        return ""
    stem, suffix = _SAME.get(match[1], match[1]), match[2]
    rows = _BY_NAME.get(stem)
    if rows is None:
        return ""
    return rows.get(suffix, suffix if _EXACT.fullmatch(suffix) else "")
