"""Places: names of folders that several looks ask for."""

from __future__ import annotations

FRAMEWORK_FOLDERS = (
    r"(torch|tensorflow|jax|jaxlib|onnxruntime|cupy|paddle|mxnet|numba|ctranslate2|faiss|tensorrt|llama_cpp|nvidia)$"
)
"""Folders of site-packages that make an environment one for GPU work."""
