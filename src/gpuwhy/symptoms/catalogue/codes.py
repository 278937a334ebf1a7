"""Status codes of CUDA, cuDNN, cuBLAS and their kin: by name, by number, by what the runtime says. From the tables."""

from __future__ import annotations

import re

from gpuwhy.knowledge.statuses import cuda_messages
from gpuwhy.symptoms.signature import Signature, error

SHORT = 4
"""A sentence of fewer words is said by others too: it counts only behind a CUDA word."""


def _long() -> list[str]:
    return sorted(
        (m for m in cuda_messages() if len(m.split()) >= SHORT or "-" in m or "cuda" in m), key=len, reverse=True
    )


def _short() -> list[str]:
    return sorted((m for m in cuda_messages() if m not in _long()), key=len, reverse=True)


def _either(texts: list[str]) -> str:
    return "|".join(re.escape(text) for text in texts)


_CONTEXT = (
    r"(?:cuda(?: runtime| driver| api)? (?:error|failure|exception)|cudart? error|cuda kernel|\bstatus|cuinit(?:\(0\))? failed"
    r"|cuda\w+ failed|cu[A-Z]\w+ failed|cuda(?:runtime|driver)?error|cudasupporterror|cudadrivererror|logicerror|gpuassert"
    r"|cuda failed with error|error \d+|cuda[^\n]{0,40} error|thrust::system_error|cuda_error\w*|cudaerror\w*|cuda error code=\d+"
    r"|triton error \[cuda\]|\(\d+ vs\. 0\))"
)

_LIBRARIES = ("cudnn", "cublas", "cusolver", "cusparse", "cufft", "curand", "nvrtc", "nvjitlink", "nvml")

SIGNATURES: tuple[Signature, ...] = (
    error("cuda.name", r"(?<!e == )\b(?P<name>cudaerror[a-z]\w+|cuda_error_[a-z_0-9]+)", "cudaerror", "cuda_error_", table="cuda",
          covers=("cuda.says", "cuda.says_short", "cuda.number", "memory.oom_words")),
    error("cuda.says", rf"(?P<says>{_either(_long())})", *_long(), table="cuda", covers=("cuda.number", "cuda.says_short", "memory.oom_words")),
    error("cuda.says_short", rf"{_CONTEXT}[^\n]{{0,60}}?[\s:'\"(>-](?P<says>{_either(_short())})\b(?! ?\(-?\d)", *_short(), table="cuda",
          covers=("cuda.number", "memory.oom_words")),
    error(
        "cuda.number",
        r"(?:cuda(?: runtime| driver| api)? (?:error|failure|status)(?: code)?[ :=(#\[]*(?:error code )?|unknown error \(|curesult\(|"
        r"unknown cuda error |cudagetdevicecount\(?\)? ?(?:returned|failed|->)[^\d\n]{0,20}|cuinit\(?0?\)?[^\d\n-]{0,40}"
        r"|cuda (?:error|failure) no\.? ?|error code=|cuinit err: ?|(?:nvcuda|cuda driver library) init failure: ?|cudasuccess \(|cuda_success == [^\n]*vs\. |"
        r"cuda initialization failure with error: |cuda error\(|code (?=\d+, error_)|cuerror\(|cudaerror_t\W+|cudaerror\W+)(?P<number>-?[1-9]\d{0,2})\b",
        "cuda error", "cuda failure", "cuda runtime error", "cuda driver error", "unknown error (", "curesult(",
        "cudagetdevicecount", "cuinit", "error code=", "cuda api", "cuda status", "cuerror(", "init failure", "cudasuccess (", "cuda_success == ", "initialization failure with error", ", error_", "cudaerror_t", "cudaerror",
        table="cuda",
    ),
    *(
        error(f"{library}.name", rf"\b(?P<name>{library}_(?!status_success|success)(?:status_|error_)?[a-z_]+[a-z])(?:[^\n]*?calling `(?P<call>\w+))?",
              *((f"{library}_status_",) if library not in ("cufft", "nvrtc", "nvjitlink", "nvml")
                else (f"{library}_error_", f"{library}_")), table=library, covers=(f"{library}.number",))
        for library in _LIBRARIES
    ),
    *(
        error(f"{library}.number", rf"\b{library}(?:create|getversion|status|_status|\w*)?\W{{0,3}}(?:error|failure|failed|returned"
              rf"|status|exception)\W{{0,3}}(?:code|number|with|status)?\W{{0,3}}(?P<number>\d{{1,4}})\b", library, table=library)
        for library in ("cudnn", "cublas")
    ),
    error("nvml.class", r"nvmlerror_(?P<name>\w+)", "nvmlerror_", table="nvmlclass"),
    error("nccl.name", r"\b(?P<name>nccl(?:unhandledcuda|system|internal|remote)error|ncclinvalid(?:usage|argument)|nccltimeout)",
          "ncclunhandledcudaerror", "ncclsystemerror", "ncclinternalerror", "ncclremoteerror", "ncclinvalid", table="nccl"),
)  # fmt: skip
