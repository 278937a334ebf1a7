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
_DLL = re.compile(r"(\w{1,80}?)(?:64|32)?_([\d_]{1,20})\.dll$", re.IGNORECASE)
_DLL_NAMES = {"cublaslt": "cublasLt", "cusolvermg": "cusolverMg", "nvjitlink": "nvJitLink"}
_EXACT = re.compile(r"(?:[6-9]|10)\.\d|11\.[01]")


def cuda_of(name: str) -> str:
    """The CUDA versions that ship a library of this name: '10.1 to 11.0'; '' when the name does not tell."""
    match = _PARTS.match(name)
    asked = (match[1], match[2]) if match else _of_dll(name)
    if not asked:
        return ""
    stem, suffix = _SAME.get(asked[0], asked[0]), asked[1]
    rows = _BY_NAME.get(stem)
    if rows is None:
        return ""
    return rows.get(suffix, suffix if _EXACT.fullmatch(suffix) else "")


def _of_dll(name: str) -> tuple[str, str] | None:
    """A DLL's name in the SONAMEs' form: cudart64_101 → cudart, 10.1; cudart64_110 → cudart, 11.0; nvrtc64_120_0."""
    match = _DLL.match(name)
    if not match:
        return None
    stem, digits = _DLL_NAMES.get(match[1].lower(), match[1].lower()), match[2].partition("_")[0]
    if len(digits) == 3 or digits in ("75", "80", "90", "91", "92"):
        dotted = f"{digits[:-1]}.{digits[-1]}"
        return stem, dotted.removesuffix(".0") if stem in ("nvrtc", "nvJitLink") and digits >= "120" else dotted
    return stem, digits
