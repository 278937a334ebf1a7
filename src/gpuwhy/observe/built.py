"""Built: which distributions belong to the GPU stack, and the tools for reading what a framework was built for."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gpuwhy.host.base import Host
from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, known, or_unknown, value_or
from gpuwhy.model.facts import Distribution, Opened

TENSORFLOW = re.compile(
    r"tensorflow(-(gpu|cpu|intel|directml|rocm|cpu-aws|macos|aarch64))?|tf-nightly(-(gpu|cpu|intel))?"
)
_GPU_RELATED = re.compile(
    rf"{TENSORFLOW.pattern}|tensorflow-metal|tensorflow-directml-plugin|torch|torchvision|torchaudio|pytorch-triton"
    r"|jax|jaxlib|jax-cuda\d+-(plugin|pjrt)|jax-metal|onnxruntime(-.+)?|ort-nightly(-.+)?|cupy(-.+)?|paddlepaddle(-.+)?"
    r"|mxnet(-.+)?|tensorrt(-.+)?|ctranslate2|bitsandbytes|flash-attn(-.+)?|xformers|vllm|triton|numba|numba-cuda|faiss-gpu(-.+)?|llama-cpp-python"
    r"|nvidia-.+"
)
CUDA_LIBRARY = re.compile(
    r"lib(cudart|cublas|cublasLt|cudnn\w*|cufftw?|curand|cusolver(Mg)?|cusparse|cusparseLt|nccl|nvrtc|nvJitLink|cupti"
    r"|nvToolsExt|cufile|nvshmem_host|nvinfer\w*|nvonnxparser|nvparsers|cutensor(Mg)?|cudss|nvjpeg|nvvm)(-[\w.]+)?\.so"
)
NO_CUDNN = Unknown("this framework does not tell its cuDNN version")
NOT_READ = Unknown("the GPU code of this framework was not read")


class Installed(NamedTuple):
    """One framework as installed: its distribution, the folder it is imported from, and all the others."""

    host: Host
    dist: Distribution
    site: str
    path: str
    others: Sequence[Distribution]


class Built(NamedTuple):
    """What a framework was built for; what nobody read is Unknown."""

    gpu_build: Fact[bool]
    cuda: Fact[str] = Unknown("this framework does not tell its CUDA version")
    cudnn: Fact[str] = NO_CUDNN
    sass: Fact[tuple[str, ...]] = NOT_READ
    ptx: Fact[tuple[str, ...]] = NOT_READ
    opens: Fact[tuple[Opened, ...]] = Unknown("which libraries this framework opens is not known")
    path: str = ""  # where its libraries are, when not in the folder it is imported from


def gpu_related(name: str) -> bool:
    """Whether a distribution (by its normalised name) belongs to the GPU stack."""
    return bool(_GPU_RELATED.fullmatch(name))


MODULE = 1 << 18
"""No generated module is longer."""
_PAIR = re.compile(
    r"""(?<!\w)(\w{1,80})['"]?\s{0,40}(?::\s{0,40}[\w.\[\]]{1,80}\s{0,40}=|[,:=])\s{0,40}"""
    r"""(None|True|False|'[^'\n]{0,4000}'|"[^"\n]{0,4000}"|\[[^\[\]]{0,4000}\])"""
)


def without_gpu(source: Source) -> Built:
    """A build without CUDA: it opens nothing and was built for nothing."""
    gone = Absent(source)
    return Built(Known(False, source), gone, gone, gone, gone, Known((), source))


def assigned(text: str) -> dict[str, str]:
    """The plain `name = value` and `'name': value` pairs of a generated Python module; None and False stay words."""
    pairs = _PAIR.findall(text[:MODULE])
    return {name: value if value.startswith("[") else value.strip("'\"") for name, value in pairs}


def pinned(package: Installed, pattern: str, dist: Distribution | None = None) -> Fact[str]:
    """The version that METADATA pins a requirement to, or its lower bound: 'nvidia-cudnn-cu12==9.1.0.70' → 9.1.0.70."""
    file = f"{(dist or package.dist).location}/METADATA"
    lines = package.host.lines(file, "Requires-Dist: nvidia", "Requires-Dist: cuda-toolkit")
    for line in value_or(lines, ()):
        wanted = re.match(rf"Requires-Dist: (?:{pattern})(?:\[[^\]]*\])?\s*\(?([^;)]*)", line.replace("_", "-"))
        bound = re.search(r"(?:==|>=|~=)\s*(\d[\d.]*)", wanted.group(1)) if wanted else None
        if bound:
            return known(bound.group(1).rstrip("."), "file", file, line.removeprefix("Requires-Dist: ").strip())
    return or_unknown(lines, f"{file} names no version")


def cudnn_pin(package: Installed, dist: Distribution | None = None) -> Fact[str]:
    """The cuDNN that METADATA asks for, without its build number."""
    found = pinned(package, r"nvidia-cudnn-cu\d+", dist)
    return Known(".".join(found.value.split(".")[:3]), found.source) if isinstance(found, Known) else found


def needed(host: Host, files: Iterable[str], optional: Iterable[str] = ()) -> Fact[tuple[Opened, ...]]:
    """The CUDA libraries that some files have in their NEEDED lists, each with the first file that asks for it."""
    found: dict[str, Opened] = {}
    seen = []
    for path, may_miss in [*((file, False) for file in files), *((file, True) for file in optional)]:
        elf = host.elf(path)
        if isinstance(elf, Known):
            seen.append(path)
            for name in filter(CUDA_LIBRARY.match, elf.value.needed):
                found.setdefault(name, Opened(name, path, may_miss))
        elif isinstance(elf, Unknown) and not may_miss:
            return elf
    return known(tuple(found.values()), "file", ", ".join(seen), "NEEDED") if seen else Unknown("no library to read")


def gpu_code(host: Host, path: str) -> tuple[Fact[tuple[str, ...]], Fact[tuple[str, ...]]]:
    """The architectures that most of a library's GPU code is for: SASS, PTX."""
    code = host.gpu_code(path)
    if isinstance(code, Known) and code.value.containers:
        return Known(code.value.usual_sass, code.source), Known(code.value.usual_ptx, code.source)
    why = or_unknown(code, f"{path}: no GPU code found")
    return why, why


def dotted(digits: str) -> str:
    """'112' → '11.2', '92' → '9.2', '12' → '12' (the way package names write CUDA versions)."""
    return f"{digits[:-1]}.{digits[-1]}" if len(digits) == 3 or digits in ("75", "80", "90", "91", "92") else digits
