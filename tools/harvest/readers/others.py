"""The other frameworks: each says its CUDA in a small file, in the names of what it carries, or in its own name."""

from __future__ import annotations

import json
import re
from typing import Any

from tools.harvest import binaries
from tools.harvest.readers import Disagreement, Reader, find, metadata, nvidia_requirements, text
from tools.harvest.reading import Reading, arch_order, assigned, major_minor, places
from tools.harvest.tags import Tagged
from tools.harvest.wheel import Wheel


def dotted(digits: str) -> str:
    """'112' → '11.2', '92' → '9.2', '12' → '12' (the way package names write CUDA versions)."""
    return f"{digits[:-1]}.{digits[-1]}" if len(digits) == 3 or digits in ("75", "80", "90", "91", "92") else digits


def _basics(wheel: Wheel, tagged: Tagged, extra: str = "") -> Reading:
    """Requirements of NVIDIA's wheels and of torch."""
    reading = Reading()
    place, rows = metadata(wheel)
    requires = nvidia_requirements(rows, tagged, extra)
    if requires:
        reading.set("requires", requires, "metadata", place)
    pairs = {
        n: s for n, _, s, m in rows if n in ("torch", "torchvision", "torchaudio", "triton") and "extra" not in m and s
    }
    if pairs:
        reading.set("pairs", dict(sorted(pairs.items())), "metadata", place)
    return reading


def _json(wheel: Wheel, name: str) -> dict[str, Any]:
    raw = json.loads(text(wheel, name)) if name else {}
    if not isinstance(raw, dict):
        raise Disagreement(f"{name} is not an object")
    return raw


def cupy(wheel: Wheel, tagged: Tagged) -> Reading:
    """The name and cupy/.data/_wheel.json; the libraries that come with the wheel."""
    reading = _basics(wheel, tagged, "ctk")
    place = find(wheel, "cupy/.data/_wheel.json")
    said = _json(wheel, place)
    exact = re.fullmatch(r"(\d+\.\d+)(\.\d+)?", str(said.get("cuda", "")))
    if exact:
        reading.set("cuda", exact[1], "build_info", place)
    else:
        digits = tagged.project.removeprefix("cupy-cuda").rstrip("x")
        reading.set("cuda", dotted(digits), "named")
    cudnn = said.get("cudnn")
    if isinstance(cudnn, dict) and isinstance(cudnn.get("version"), str):
        reading.set("cudnn", places(cudnn["version"]), "build_info", place)
    also = {
        name: said[name]["version"]
        for name in ("cutensor", "nccl")
        if isinstance(said.get(name), dict) and isinstance(said[name].get("version"), str)
    }
    if also:
        reading.set("also", also, "build_info", place)
    return reading


def paddle(wheel: Wheel, tagged: Tagged) -> Reading:
    """paddle/version/__init__.py (from 2.2 on), else the .postNNN of the release."""
    reading = _basics(wheel, tagged)
    place = find(wheel, "paddle/version/__init__.py") or find(wheel, "paddle/version.py")
    said = assigned(text(wheel, place))
    cuda, cudnn = said.get("cuda_version", ""), said.get("cudnn_version", "")
    post = re.search(r"\.post(\d{2,3})$", tagged.version)
    if cuda == "False":
        reading.cpu("version", place)
    elif re.match(r"\d+\.\d+", cuda):
        reading.set("cuda", major_minor(cuda), "version", place)
        if re.match(r"\d+\.\d+", cudnn):
            reading.set("cudnn", places(cudnn), "version", place)
    elif post and len(post[1]) == 3:
        reading.set("cuda", dotted(post[1]), "named")
    return reading


def mxnet(wheel: Wheel, tagged: Tagged) -> Reading:
    """The package's name is its CUDA."""
    reading = Reading()
    named = re.fullmatch(r"mxnet-cu(\d+)(mkl)?", tagged.project)
    if named:
        reading.set("cuda", dotted(named[1]), "named")
    return reading


def ctranslate2(wheel: Wheel, tagged: Tagged) -> Reading:
    """The cuDNN library that it carries has its version in its name."""
    reading = _basics(wheel, tagged)
    ships = sorted(
        {n.rpartition("/")[2] for n in wheel.members if re.search(r"(lib)?cu(dnn|blas|dart)[\w.-]*\.(so|dll)", n)}
    )
    if ships:
        reading.set("ships", ships, "archive")
    for name in ships:
        exact = re.match(r"libcudnn(?:-\w+)?\.so\.(\d+\.\d+\.\d+)$", name) or re.match(r"cudnn64_(\d+)\.dll", name)
        if exact:
            reading.set("cudnn", exact[1], "bundled", next(n for n in wheel.members if n.endswith("/" + name)))
    return reading


def triton(wheel: Wheel, tagged: Tagged) -> Reading:
    """It compiles at run time with the tools it carries; their CUDA is in the header beside them."""
    reading = Reading()
    header = find(wheel, "include/cuda.h")
    macro = re.search(r"#define\s+CUDA_VERSION\s+(\d+)", text(wheel, header)) if header else None
    if macro:
        reading.set("cuda", f"{int(macro[1]) // 1000}.{int(macro[1]) % 1000 // 10}", "header", header)
    return reading


def bitsandbytes(wheel: Wheel, tagged: Tagged) -> Reading:
    """One library per CUDA release, chosen at import by torch's CUDA."""
    reading = _basics(wheel, tagged)
    found = [re.search(r"libbitsandbytes_cuda(\d+)\w*\.(?:so|dll)$", n) for n in wheel.members]
    builds = sorted({dotted(m[1]) for m in found if m}, key=lambda v: tuple(map(int, v.split("."))))
    if builds:
        reading.set("also", {"builds": " ".join(builds)}, "archive")
        if len(builds) == 1:
            reading.set("cuda", builds[0], "archive")
    elif tagged.platform.startswith("macos"):
        reading.cpu("nolibrary")
    return reading


def xformers(wheel: Wheel, tagged: Tagged) -> Reading:
    """cpp_lib.json, written by its build."""
    reading = _basics(wheel, tagged)
    place = find(wheel, "xformers/cpp_lib.json")
    said = _json(wheel, place)
    version, env = said.get("version"), said.get("env")
    cuda = version.get("cuda") if isinstance(version, dict) else None
    if isinstance(cuda, int):
        reading.set("cuda", f"{cuda // 100}.{cuda % 100}", "cpp_lib", place)
    archs = str(env.get("TORCH_CUDA_ARCH_LIST") or "") if isinstance(env, dict) else ""
    listed = re.findall(r"(\d+)\.(\d[af]?)(\+PTX)?", archs)
    if listed:
        reading.set("sass", sorted({f"sm_{a}{b}" for a, b, _ in listed}, key=arch_order), "cpp_lib", place)
        reading.set("ptx", sorted({f"compute_{a}{b}" for a, b, p in listed if p}, key=arch_order), "cpp_lib", place)
    return reading


def plain(wheel: Wheel, tagged: Tagged) -> Reading:
    """Requirements alone."""
    return _basics(wheel, tagged)


def _head(pattern: str) -> Reader:
    """A reader's deep half: the GPU code at the head of the first member that matches."""

    def deep(wheel: Wheel, tagged: Tagged, reading: Reading) -> None:
        library = max(
            (m for m in wheel.members.values() if re.search(pattern, m.name)), key=lambda m: m.size, default=None
        )
        if library:
            code = binaries.gpu_code(wheel.stream(library.name), 24, 1 << 30)
            if code.regions:
                reading.set("sass", code.sass, "fatbin", library.name)
                reading.set("ptx", code.ptx, "fatbin", library.name)

    return Reader(plain, deep, lambda tagged, reading: reading.values.get("cuda", "") is not None)


CUPY = Reader(cupy)
PADDLE = Reader(paddle)
MXNET = Reader(mxnet, version=2)  # its GPU code is mixed with that of NVIDIA's static libraries
CTRANSLATE2 = _head(r"ctranslate2[\w.-]*\.(so|dll)")._replace(light=ctranslate2)
TRITON = Reader(triton)
BITSANDBYTES = Reader(bitsandbytes)
XFORMERS = Reader(xformers)
VLLM = _head(r"vllm/_C[\w.]*\.so$")
PLAIN = Reader(plain)
