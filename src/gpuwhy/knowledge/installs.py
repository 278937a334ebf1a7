"""Installs: which pip requirement brings a framework's GPU build and its CUDA libraries."""

import re

from gpuwhy.facts.finding import know
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge.libraries import parse
from gpuwhy.knowledge.packages import flavour
from gpuwhy.knowledge.tables import source

PRELOADS = {"onnxruntime": "onnxruntime.preload_dlls()"}
"""Frameworks that find libraries in their own environment only after this call, or an import."""
_PRELOADS_SINCE = {"onnxruntime": "1.21"}  # its __init__.py: 1.20.2 has none, 1.21.0 has it
FIRST_JAX = "0.4.26"
"""The extra cuda12 came with 0.4.23; up to 0.4.25 it takes a cuDNN 9 that jaxlib does not know."""
_BRING_LIBRARIES = {
    "tensorflow": "2.14",
    "torch": "1.13",
    "jax": FIRST_JAX,
    "onnxruntime": "1.21",
    "cupy": "14",
}
_SUFFIXED = frozenset({"nvidia-cudnn", "nvidia-nccl", "nvidia-nvshmem", "nvidia-cusparselt"})
"""Wheels named after the CUDA major in CUDA 13 too; those of the toolkit itself are no longer."""
_NUMBERED_BY_CUDA = ("cudart", "cublas", "cublasLt", "nvrtc", "nvjitlink", "cupti")
OPENS_SYSTEM = re.compile(r"mxnet-cu.+|paddlepaddle-gpu")
"""Packages that open the system's CUDA and cuDNN: MXNet's wheels end in "libcudart.so.9.2: cannot
open shared object file" without it, Paddle's installation guide names both as needed."""
EXACT_PLUGIN = know(
    "jaxlib 0.5.3 and newer warn and leave a CUDA plugin aside whose version is not their own",
    source(
        "jaxlib/plugin_support.py of the wheels 0.5.3, 0.6.2 and 0.12.0.1", "check_plugin_version"
    ),
)


def gpu_requirement(
    framework: str, distribution: str, version: str, cuda_major: int | None, python: str = ""
) -> str:
    """What installs this release's GPU build with what it needs; "" where no row knows it."""
    release = version.split("+")[0]
    if framework == "tensorflow":
        return _tensorflow(distribution, release, python)
    if framework == "torch":
        return f"torch=={release}"
    if framework == "jax" and at_least(release, FIRST_JAX):
        major = 13 if cuda_major == 13 and at_least(release, "0.8") else 12
        return f"jax[cuda{major}]=={release}"
    if framework == "onnxruntime":
        extra = "[cuda,cudnn]" if at_least(release, "1.21") else ""
        return f"onnxruntime-gpu{extra}=={release}"
    if framework == "cupy" and at_least(release, "14"):
        return f"{distribution}[ctk]=={release}"
    return f"paddlepaddle-gpu=={release}" if framework == "paddle" else ""


def _tensorflow(distribution: str, release: str, python: str) -> str:
    """Releases whose and-cuda asks for TensorRT wheels that do not exist give way to the next."""
    if release == "2.15.0" or (major_minor(release) == "2.14" and at_least(python, "3.11")):
        release = "2.15.1"
    if distribution.startswith("tf-nightly"):
        return f"tf-nightly[and-cuda]=={release}"
    if at_least(release, "2.14"):
        return f"tensorflow[and-cuda]=={release}"
    return f"tensorflow=={release}" if at_least(release, "2.1") else f"tensorflow-gpu=={release}"


def brings_libraries(framework: str, version: str) -> bool:
    """Whether that requirement brings the CUDA libraries, so that no toolkit is needed."""
    since = _BRING_LIBRARIES.get(framework)
    return since is not None and at_least(version, since)


def preload_call(framework: str, version: str) -> str:
    """The call after which a release finds NVIDIA's wheels beside it; "" where it has none."""
    has = at_least(version, _PRELOADS_SINCE.get(framework, "0"))
    return PRELOADS.get(framework, "") if has else ""


def wheel_of(library: str, cuda_major: int | None) -> str:
    """The wheel of a library for a CUDA major: libcufft.so.11, 12 → nvidia-cufft-cu12, or ""."""
    found = parse(library)
    base = found.family.wheels[0] if found and found.family.wheels else ""
    if found is None or not base.startswith("nvidia-"):
        return ""
    own = numbers(found.suffix) if found.family.name in _NUMBERED_BY_CUDA else ()
    major = cuda_major or next(iter(own), 0)
    if major < 11:
        return ""
    return base if major >= 13 and base not in _SUFFIXED else f"{base}-cu{major}"


def gpu_flavour(distributions: tuple[str, ...]) -> str:
    """The flavour with CUDA among several distributions of one module; "" when none has it."""
    return next((d for d in distributions if (found := flavour(d)) and found.cuda), "")
