"""Unmet symbols: what a loaded CUDA library needs from another that the copy loaded for it does not define.

A program with such a pair dies at import (`undefined symbol: __nvJitLinkComplete_12_4`), or at the first call.
"""

from __future__ import annotations

import re

from gpuwhy.loader.process import Process
from gpuwhy.model.fact import Known
from gpuwhy.model.facts import UnmetSymbol

PROVIDES = {
    "libcublas": r"cublas(?!Lt)",
    "libcublasLt": r"cublasLt",
    "libcudnn": r"cudnn[A-Z]",
    "libcufft": r"cufft",
    "libcurand": r"curand",
    "libcusolver": r"cusolver(?!Mg)",
    "libcusparse": r"cusparse(?!Lt)",
    "libcusparseLt": r"cusparseLt",
    "libnccl": r"nccl",
    "libnvJitLink": r"(__)?nvJitLink",
    "libnvrtc": r"nvrtc",
    "libcupti": r"cupti",
}
"""Library → how the names it provides start."""

_GPU = re.compile(
    r"(.*/)?lib(cuda|cudart|cublas|cudnn|cufft|curand|cusolver|cusparse|cupti|cutensor|nccl|nvrtc|nvJitLink|nvinfer|nvshmem"
    r"|nvToolsExt|nvtx|torch|c10|caffe2|tensorflow|onnxruntime|cufile)[\w-]*\.so|.*(xla_cuda_plugin|_pywrap_tensorflow|torch/_C)"
)


def concerns_gpu(path: str) -> bool:
    """Whether a library belongs to CUDA or to a framework, rather than to the system."""
    return _GPU.match(path) is not None


def unmet_symbols(process: Process) -> tuple[UnmetSymbol, ...]:
    """Every pair of asker and provider with a symbol missing between them."""
    out = []
    for asker in process.loaded:
        if not concerns_gpu(asker.path):
            continue
        for name in asker.asker.elf.needed:
            stem = name.split(".so")[0]
            provider = process.get(name) if stem in PROVIDES else None
            if provider is None or provider is asker:
                continue
            lacking = process.world.host.unmet(asker.path, PROVIDES[stem], provider.path)
            if isinstance(lacking, Known) and lacking.value:
                out.append(UnmetSymbol(asker.path, provider.path, lacking.value[:3], len(lacking.value)))
    return tuple(out)
