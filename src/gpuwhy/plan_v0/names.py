"""Names: which packages a wish stands for, which build replaces it, and which names only look like one of them."""

from __future__ import annotations

from gpuwhy.knowledge.floors import NOT_THERE
from gpuwhy.knowledge.guests import is_guest
from gpuwhy.knowledge.releases import projects

ROOTS: dict[str, str] = {
    "tensorflow": "tensorflow",
    "tensorflow-gpu": "tensorflow",
    "tensorflow-cpu": "tensorflow",
    "tensorflow-intel": "tensorflow",
    "torch": "torch",
    "jax": "jax",
    "jaxlib": "jax",
    "jax-cuda12-plugin": "jax",
    "jax-cuda13-plugin": "jax",
    "jax-cuda12-pjrt": "jax",
    "jax-cuda13-pjrt": "jax",
    "onnxruntime-gpu": "onnxruntime-gpu",
    "onnxruntime": "onnxruntime-gpu",
    "cupy": "cupy",
}
"""A package, and the framework that is planned for it."""

SWAPPED: dict[str, str] = {
    "tensorflow-cpu": "tensorflow-cpu is built without CUDA: tensorflow takes its place",
    "tensorflow-intel": "tensorflow-intel is built without CUDA: tensorflow takes its place",
    "onnxruntime": "onnxruntime is built without CUDA and owns the same files: onnxruntime-gpu takes its place",
}

COMPANIONS = ("torchvision", "torchaudio", "xformers", "flash-attn", "bitsandbytes", "triton", "vllm")
"""Packages with a release for each torch; their rows say which."""

SUBSTITUTES: dict[tuple[str, str], str] = {
    ("triton", "windows"): "triton-windows",
    ("faiss-gpu", "linux"): "faiss-gpu-cu12",
    ("faiss-gpu", "wsl"): "faiss-gpu-cu12",
}
"""Another package that does the same on a system, where the one that is asked for does not."""

NO_BACKEND = ("keras", "keras-hub", "keras-cv", "keras-nlp")
"""Packages that run on a framework and bring none."""

ALIKE = ("tf-keras", "tensorflow-text", "tensorflow-probability")
"""Packages numbered after TensorFlow."""

PLACEHOLDERS: dict[str, str] = {
    "pytorch": "is a placeholder on the package index that fails to install; PyTorch is called 'torch'",
    **NOT_THERE,
}

LEFT = frozenset({"keras", "keras-hub", "keras-cv", "onnx", "numpy"})
"""Guests whose release follows from another's: the installer chooses it, within the limits that are printed."""

NEIGHBOURS = frozenset({
    "torch-scatter", "torch-sparse", "torchtext", "torchdata", "torchmetrics", "torchinfo", "torchtyping", "torchsde",
    "torcheval", "torchao", "torchtune", "torchsummary", "torchviz", "torchdiffeq", "timm", "lightning", "jaxtyping",
    "jraph", "optax", "flax", "keras", "tf-keras", "tf-nightly", "tensorflow-io", "tensorflow-hub", "tensorflow-text",
    "tensorflow-addons", "tensorflow-datasets", "tensorflow-probability", "tensorflow-estimator", "tensorflow-metadata",
    "tensorflow-serving-api", "tensorflow-model-optimization", "tensorflow-transform", "tensorflow-metal",
    "tensorflowjs", "tensorflow-federated", "tensorflow-ranking", "tensorflow-macos", "tensorboard", "tensorrt-llm",
    "triton-windows", "onnx", "onnxruntime-directml", "onnxruntime-openvino", "onnxruntime-training", "numba",
    "xgboost", "pytorch-lightning", "cuda-python", "cuda-bindings", "cuda-core", "nvidia-ml-py", "mxnet",
})  # fmt: skip
"""Real packages whose names resemble those we know: never taken for a slip."""


def is_planned(name: str) -> bool:
    """Whether releases of a package are chosen here; all others are left to the installer."""
    return bool(root(name)) or name in FRAMEWORKS or name in projects() or (is_guest(name) and name not in LEFT)


FRAMEWORKS = ("tensorflow", "torch", "jax", "onnxruntime-gpu", "cupy")


def root(name: str) -> str:
    """The framework planned for a package; '' for one that is none."""
    return "cupy" if name.startswith("cupy-cuda") else ROOTS.get(name, "")


def planned_as(name: str) -> str:
    """The framework planned for a package, or the package itself."""
    return root(name) or name
