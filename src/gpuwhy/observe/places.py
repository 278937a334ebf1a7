"""Places: names of folders that several looks ask for."""

from __future__ import annotations

FRAMEWORK_FOLDERS = (
    r"(torch|tensorflow|jax|jaxlib|onnxruntime|cupy|paddle|mxnet|numba|ctranslate2|faiss|tensorrt|llama_cpp|nvidia)$"
)
"""Folders of site-packages that make an environment one for GPU work."""
FRAMEWORK_WHEELS = (
    r"(?i)(torch|tensorflow(_gpu|_cpu)?|jax|jaxlib|onnxruntime(_gpu)?|cupy(_cuda\d+x?)?|paddlepaddle(_gpu)?|numba"
    r"|ctranslate2|tensorrt(_cu\d+)?|nvidia_\w+|xformers|flash_attn|vllm|triton)-\d.*\.dist-info$"
)
"""Metadata folders that make any folder one of installed packages of the GPU stack."""
