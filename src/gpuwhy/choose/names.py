"""Names: which packages are chosen together, and which build stands for which name."""

from __future__ import annotations

from gpuwhy.knowledge.guests import is_guest
from gpuwhy.knowledge.releases import projects

FRAMEWORKS = ("tensorflow", "torch", "jax", "onnxruntime-gpu", "cupy", "mxnet")

_ROOTS: dict[str, str] = {
    **dict.fromkeys(("tensorflow", "tensorflow-gpu", "tensorflow-cpu"), "tensorflow"),
    "tensorflow-intel": "tensorflow",
    "torch": "torch",
    **dict.fromkeys(("jax", "jaxlib", "jax-cuda12-plugin", "jax-cuda13-plugin"), "jax"),
    **dict.fromkeys(("jax-cuda12-pjrt", "jax-cuda13-pjrt"), "jax"),
    **dict.fromkeys(("onnxruntime", "onnxruntime-gpu"), "onnxruntime-gpu"),
    "cupy": "cupy",
    "mxnet": "mxnet",
}

SWAPPED: dict[str, str] = {
    "tensorflow-cpu": "tensorflow-cpu is built without CUDA: tensorflow takes its place",
    "tensorflow-intel": "tensorflow-intel is built without CUDA: tensorflow takes its place",
    "onnxruntime": "onnxruntime is built without CUDA and owns the same files as onnxruntime-gpu, "
    "which takes its place",
}

SUBSTITUTES: dict[tuple[str, str], str] = {
    ("triton", "windows"): "triton-windows",
    ("faiss-gpu", "linux"): "faiss-gpu-cu12",
    ("faiss-gpu", "wsl"): "faiss-gpu-cu12",
}
"""Another package that does the same on a system, where the one that is asked for does not."""

NO_BACKEND = ("keras", "keras-hub", "keras-cv", "keras-nlp")
"""Packages that run on a framework and bring none."""

NUMBERED_ALIKE = ("tf-keras", "tensorflow-text", "tensorflow-probability")
"""Packages that are numbered after TensorFlow."""

BOUNDED = frozenset(
    {"keras", "keras-hub", "keras-cv", "numpy", "scipy", "protobuf", "setuptools", "wheel", "pip"}
    | {"packaging", "ninja", "pillow", "onnx", "jupyter", "notebook", "ipykernel", "tqdm"}
)
"""Packages whose releases the installer chooses within limits that are all known here: naming one
takes nothing away from what is certain."""

WITHOUT_CUDA = ("onnxruntime", "tensorflow-cpu")
"""What a package asks for by these names it uses on the CPU, and means no other build."""

MIRRORED = ("torchvision", "torchaudio")
"""What PyTorch's own index has for each CUDA, built with the torch of the same days."""

COMPANIONS_OF_TORCH = ("torchvision", "torchaudio")
"""Their GPU code follows torch's: they are not judged by the card themselves."""


def framework(name: str) -> str:
    """The framework that a package name stands for; "" for one that is none."""
    if name.startswith("cupy-cuda"):
        return "cupy"
    return "mxnet" if name.startswith("mxnet-cu") else _ROOTS.get(name, "")


def planned_as(name: str) -> str:
    """The framework that a name stands for, or the name itself."""
    return framework(name) or name


def is_planned(name: str) -> bool:
    """Whether releases of a package are chosen here; all others are left to the installer."""
    guest = is_guest(name) and name not in BOUNDED
    return bool(framework(name)) or name in FRAMEWORKS or name in projects() or guest
