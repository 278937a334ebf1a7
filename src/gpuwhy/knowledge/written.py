"""Variables that name a folder which programs write to, and what each reader does where it cannot be made."""

from __future__ import annotations

from typing import Literal

import msgspec


class Writer(msgspec.Struct, frozen=True):
    """Who writes to the folder, and what comes of it where there is none."""

    packages: tuple[str, ...]  # it is read where one of these is installed; () = always
    frameworks: tuple[
        str, ...
    ]  # those that it concerns; () = none more than others, so that it is told once
    kind: Literal["rejected", "ignored"]
    then: str
    source: str


_RAN = "run with a folder below a file"
_TRITON = ("triton", "pytorch-triton")

WRITTEN: dict[str, Writer] = {
    "TRITON_CACHE_DIR": Writer(
        _TRITON, ("torch", "triton"), "rejected", "Triton ends at the first kernel that it compiles",
        "triton/runtime/cache.py, os.makedirs",
    ),
    "TORCHINDUCTOR_CACHE_DIR": Writer(
        ("torch",), ("torch",), "rejected", "torch.compile ends at the first kernel",
        "torch/_inductor/runtime/cache_dir_utils.py, os.makedirs",
    ),
    "TORCH_EXTENSIONS_DIR": Writer(
        ("torch",), ("torch",), "rejected", "no extension can be built when a program starts",
        "torch/utils/cpp_extension.py, os.makedirs",
    ),
    "TORCH_HOME": Writer(
        ("torch",), ("torch",), "rejected", "torch.hub and torchvision end where they load a model's weights",
        "torch/hub.py, os.makedirs",
    ),
    "HF_HOME": Writer(
        ("huggingface-hub",), (), "rejected", "Hugging Face's libraries end where they load a model",
        f"huggingface_hub, {_RAN}: NotADirectoryError",
    ),
    "XDG_CACHE_HOME": Writer(
        ("torch", "huggingface-hub"), (), "rejected", "what keeps models or built extensions below it ends there",
        "torch/hub.py, torch/utils/cpp_extension.py, huggingface_hub/constants.py",
    ),
    "CUPY_CACHE_DIR": Writer(
        ("cupy", "cupy-cuda11x", "cupy-cuda12x", "cupy-cuda13x"), ("cupy",), "rejected",
        "CuPy ends at the first kernel that it compiles", "cupy/cuda/compiler.py, os.makedirs",
    ),
    "JAX_COMPILATION_CACHE_DIR": Writer(
        ("jax",), ("jax",), "ignored", "JAX warns, and compiles everything anew at every start", f"JAX, {_RAN}",
    ),
    "NUMBA_CACHE_DIR": Writer(
        ("numba",), ("numba",), "ignored", "Numba writes its cache elsewhere, or has none", f"Numba, {_RAN}",
    ),
    "MPLCONFIGDIR": Writer(
        ("matplotlib",), (), "ignored", "Matplotlib warns, and takes a new temporary folder at every start",
        f"Matplotlib, {_RAN}",
    ),
    "CUDA_CACHE_PATH": Writer(
        (), (), "ignored", "the driver compiles PTX anew at every start", "CUDA Programming Guide, CUDA_CACHE_PATH"
    ),
    "TMPDIR": Writer(
        (), (), "ignored", "Python takes another one, and nvcc cannot compile",
        f"Python 3.11, gcc and nvcc 13.0, {_RAN}",
    ),
}  # fmt: skip
