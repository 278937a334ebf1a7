"""Packages: whose files the atlas reads, how many releases of each, and which libraries in them."""

from __future__ import annotations

import re
from typing import NamedTuple


class Package(NamedTuple):
    """One name in the atlas: the projects that publish it, releases to read, libraries to read."""

    name: str
    projects: tuple[str, ...]
    steps: int
    libraries: str = ""  # expression for member names; none where only the Python source is read
    source: str = r".*\.py$"

    def is_library(self, member: str) -> bool:
        """Whether the strings of a member are read."""
        return bool(self.libraries) and re.search(self.libraries, member) is not None

    def is_source(self, member: str) -> bool:
        """Whether a member's Python is read: no tests, no copies of others' code."""
        return re.fullmatch(self.source, member) is not None and not _ASIDE.search(member)


_ASIDE = re.compile(
    r"(^|/)(tests?|testing|_vendor|vendored_packages|third_party|include|examples?|benchmarks?|docs?|tutorials?)/"
    r"|(^|/)(test_\w+|conftest|setup)\.py$|_test\.py$|\.dist-info/|_pb2\w*\.py$|/_testing/"
)

_TORCH = r"/lib(torch(_cpu|_cuda|_python|_cuda_cu|_cuda_cpp|_nvshmem)?|c10(_cuda)?|caffe2(_gpu)?)\.so$"
_TENSORFLOW = r"/(libtensorflow_(framework|cc)\.so[.\d]*|_pywrap_tensorflow(_internal)?\.so)$"
_ONNXRUNTIME = (
    r"/(libonnxruntime_providers_(cuda|shared|tensorrt)\.so|onnxruntime_pybind11_state[\w.-]*\.so"
    r"|libonnxruntime\.so[.\d]*)$"
)
_CUPY = tuple(f"cupy-cuda{n}" for n in ("101", "102", "11x", "12x", "13x"))
_PARTS = ("cu11", "cu12", "cu13")


def _nvidia(part: str, libraries: str, steps: int = 5) -> Package:
    return Package(
        part,
        tuple(f"nvidia-{part}-{cu}" for cu in _PARTS) + ((f"nvidia-{part}",) if part != "nccl" else ()),
        steps,
        libraries,
        r"$^",
    )


PACKAGES: tuple[Package, ...] = (
    Package("torch", ("torch",), 12, _TORCH),
    Package("torchvision", ("torchvision",), 6, r"/(_C|image)(\.\w[\w-]*)?\.so$"),
    Package("torchaudio", ("torchaudio",), 6, r"/lib/[\w.]+\.so$"),
    Package("triton", ("triton",), 10, r"/_C/libtriton\.so$"),
    Package("tensorflow", ("tensorflow", "tensorflow-gpu"), 12, _TENSORFLOW),
    Package("keras", ("keras",), 6),
    Package("jax", ("jax",), 12),
    Package("jaxlib", ("jaxlib",), 8, r"/(xla_extension|_jax|libjax_common)(\.abi3)?\.so$"),
    Package("jax-cuda-plugin", ("jax-cuda12-plugin", "jax-cuda13-plugin"), 6, r"/[\w.]+\.so$"),
    Package("jax-cuda-pjrt", ("jax-cuda12-pjrt", "jax-cuda13-pjrt"), 7, r"/xla_cuda_plugin\.so$"),
    Package("flax", ("flax",), 5),
    Package("onnxruntime", ("onnxruntime-gpu",), 8, _ONNXRUNTIME),
    Package("cupy", _CUPY, 8, r"(cupy_backends|cupy|cupyx)/.*\.so$"),
    Package("numba", ("numba",), 8, r"/cuda/.*\.so$"),
    Package("numba-cuda", ("numba-cuda",), 6, r"/[\w.-]+\.so$"),
    Package("cuda-core", ("cuda-core",), 3),
    Package("cuda-bindings", ("cuda-bindings",), 3),
    Package("cuda-pathfinder", ("cuda-pathfinder",), 2),
    _nvidia("nccl", r"/libnccl\.so[.\d]*$", 7),
    _nvidia("cudnn", r"/libcudnn(_graph|_cnn|_ops)?\.so[.\d]*$", 5),
    _nvidia("cuda-nvrtc", r"/libnvrtc\.so[.\d]*$", 3),
    _nvidia("nvshmem", r"/libnvshmem_host\.so[.\d]*$", 3),
    _nvidia("cufile", r"/libcufile\.so[.\d]*$", 3),
    Package("transformers", ("transformers",), 8, "", r"(?!transformers/models/).*\.py$"),
    Package("accelerate", ("accelerate",), 7),
    Package("bitsandbytes", ("bitsandbytes",), 7, r"/libbitsandbytes_cuda12[14]\.so$"),
    Package("xformers", ("xformers",), 5, r"/_C\.so$"),
    Package("flash-attn", ("flash-attn",), 4),
    Package("vllm", ("vllm",), 7, r"/_C(\.abi3)?\.so$"),
    Package("deepspeed", ("deepspeed",), 6),
    Package("lightning", ("pytorch-lightning",), 6),
    Package("peft", ("peft",), 4),
    Package("diffusers", ("diffusers",), 5),
    Package("ctranslate2", ("ctranslate2",), 4, r"libctranslate2[\w.-]*\.so[.\d]*$"),
    Package("auto-gptq", ("auto-gptq", "autoawq"), 3),
    Package("ray", ("ray",), 4),
    Package("numpy", ("numpy",), 5, r"/_?multiarray_umath[\w.-]*\.so$"),
)  # fmt: skip
