"""JAX: the version module of the CUDA plugins, their requirements, and what jaxlib carries."""

from __future__ import annotations

import re

from tools.harvest import binaries, cudnn_code
from tools.harvest.jax_versions import build_versions
from tools.harvest.readers import Disagreement, Reader, find, metadata, nvidia_requirements
from tools.harvest.reading import Reading
from tools.harvest.tags import Tagged
from tools.harvest.wheel import Wheel

_ALSO = ("cublas", "cufft", "cusolver", "cusparse", "cupti")


def light(wheel: Wheel, tagged: Tagged) -> Reading:
    """jaxlib, a plugin or a pjrt wheel."""
    reading = Reading()
    place, rows = metadata(wheel)
    requires = nvidia_requirements(rows, tagged, "with-cuda") or nvidia_requirements(rows, tagged, "with_cuda")
    if requires:
        reading.set("requires", requires, "metadata", place)
    pairs = {n: s for n, _, s, _ in rows if n in ("jax", "jaxlib") or re.fullmatch(r"jax-cuda\d+-(pjrt|plugin)", n)}
    if pairs:
        reading.set("pairs", dict(sorted(pairs.items())), "metadata", place)
    if tagged.project == "jaxlib":
        _jaxlib(wheel, reading)
    elif tagged.project.endswith("-pjrt"):
        reading.set("cuda", re.sub(r"\D", "", tagged.project), "named")
    else:
        _plugin(wheel, tagged, reading)
    return reading


def _jaxlib(wheel: Wheel, reading: Reading) -> None:
    """Without CUDA libraries inside it is the CPU build."""
    if not any(re.search(r"jaxlib/cuda/.*\.so|cuda_plugin", name) for name in wheel.members):
        reading.cpu("nolibrary")


def _plugin(wheel: Wheel, tagged: Tagged, reading: Reading) -> None:
    module = next((n for n in wheel.members if re.search(r"/_versions[\w.-]*\.so$", n)), "")
    versions = build_versions(wheel.read(module)) if module else {}
    cuda, cudnn = versions.get("cuda_runtime", 0), versions.get("cudnn", 0)
    major = re.sub(r"\D", "", tagged.project)
    if cuda:
        if str(cuda // 1000) != major:
            raise Disagreement(f"{module} was built with CUDA {cuda}, the package is for {major}")
        reading.set("cuda", f"{cuda // 1000}.{cuda % 1000 // 10}", "versions", module)
    if cudnn:
        scale = 10000 if cudnn >= 90000 else 1000
        version = f"{cudnn // scale}.{cudnn % scale // 100}.{cudnn % 100}"
        reading.set("cudnn", version, "versions", module)
    if versions:
        reading.set("also", {name: str(versions[name]) for name in _ALSO if name in versions}, "versions", module)
    kernels = next((n for n in wheel.members if re.search(r"/_prng[\w.-]*\.so$", n)), "")
    if kernels:
        code = binaries.gpu_code(wheel.stream(kernels), 1000, 1 << 30)
        if code.regions:
            reading.set("sass", code.sass, "fatbin", kernels)
            reading.set("ptx", code.ptx, "fatbin", kernels)


def wants(tagged: Tagged, reading: Reading) -> bool:
    """The pjrt wheel holds the compiler and runtime: its cuDNN is in its code."""
    return tagged.project.endswith("-pjrt") and tagged.platform == "linux-x86_64"


def deep(wheel: Wheel, tagged: Tagged, reading: Reading) -> None:
    """The compiled cuDNN of the plugin library, and the libraries that it names."""
    library = find(wheel, "xla_cuda_plugin.so")
    if not library:
        raise Disagreement("no xla_cuda_plugin.so inside")
    data = wheel.whole(library)
    found = {cudnn_code.compiled(data, major) for major in ("8", "9")} - {""}
    if len(found) == 1:
        reading.set("cudnn", found.pop(), "code", library)


READER = Reader(light, deep, wants, 3)
