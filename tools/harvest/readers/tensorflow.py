"""TensorFlow: the build information module, the CUDA configuration header, and what its binaries tell."""

from __future__ import annotations

import re

from tools.harvest import binaries, cudnn_code
from tools.harvest.readers import Disagreement, Reader, find, metadata, nvidia_requirements, text
from tools.harvest.reading import Reading, arch_order, assigned, major_minor, places
from tools.harvest.tags import Tagged
from tools.harvest.wheel import Wheel

_TOOLKIT = {  # PTX language version → the CUDA whose compiler writes it
    "5.0": "8.0", "6.0": "9.0", "6.1": "9.1", "6.2": "9.2", "6.3": "10.0", "6.4": "10.1", "6.5": "10.2", "7.0": "11.0",
}  # fmt: skip
_OWN = re.compile(r"/(lib)?(_?pywrap_tensorflow|tensorflow_(framework|cc))[\w.]*\.(so|pyd|dll|dylib)")
_PIECE = 16 << 20
_GPU_CODE = 64 << 20
_DEFINE = re.compile(r'#define (TF_\w+_VERSION) "([^"]*)"')
_LIBRARIES = ("cudart", "cublas", "cublasLt", "cufft", "curand", "cusolver", "cusparse", "cudnn")


def light(wheel: Wheel, tagged: Tagged) -> Reading:
    """GPU or not, CUDA, cuDNN's major, architectures and pins, as far as text tells."""
    reading = Reading()
    place, rows = metadata(wheel)
    module = find(wheel, "python/platform/build_info.py")
    if not any(re.search(r"(^|/)tensorflow(_core)?/", name) for name in wheel.members):
        reading.cpu("stub", place)
        return reading
    info = assigned(text(wheel, module))
    if info.get("is_cuda_build") == "False":
        reading.cpu("build_info", module)
        return reading
    if info.get("is_cuda_build") == "True":
        header = find(wheel, "cuda/cuda_config.h")
        config = dict(_DEFINE.findall(text(wheel, header)))
        _versions(reading, info, module, config, header)
        _capabilities(reading, info, module)
        _joined(reading, tagged, config, header)
    requires = nvidia_requirements(rows, tagged, "and-cuda")
    if requires:
        reading.set("requires", requires, "metadata", place)
    return reading


def dotted(said: str) -> str:
    """'64_101' → '10.1', '12.5.1' → '12.5', '64_11' and '10' have no minor and stay '11' and '10'."""
    digits = said.removeprefix("64_")
    if "." in digits:
        return major_minor(digits)
    if len(digits) == 3:
        return f"{digits[:2]}.{digits[2]}"
    return f"{digits[0]}.{digits[1]}" if digits in ("80", "90", "91", "92") else digits


def _versions(reading: Reading, info: dict[str, str], module: str, config: dict[str, str], header: str) -> None:
    said = dotted(info.get("cuda_version") or info.get("cuda_version_number") or "")
    built = dotted(config.get("TF_CUDA_VERSION", ""))
    if said and built and not (built == said or built.startswith(said + ".")):
        raise Disagreement(f"build_info says CUDA {said}, cuda_config.h {built}")
    if "." in said:
        reading.set("cuda", said, "build_info", module)
    elif "." in built:
        reading.set("cuda", built, "config", header)
    cudnn = (info.get("cudnn_version") or info.get("cudnn_version_number") or "").removeprefix("64_")
    if cudnn:
        reading.set("cudnn", cudnn, "build_info", module)
    elif config.get("TF_CUDNN_VERSION"):
        reading.set("cudnn", config["TF_CUDNN_VERSION"].removeprefix("64_"), "config", header)


def _capabilities(reading: Reading, info: dict[str, str], module: str) -> None:
    """'compute_80' in the list stands for machine code and PTX, 'sm_75' for machine code alone."""
    listed = re.findall(r"""['"](sm|compute)_(\d+[af]?)['"]""", info.get("cuda_compute_capabilities", ""))
    if listed:
        reading.set("sass", sorted({f"sm_{a}" for _, a in listed}, key=arch_order), "build_info", module)
        ptx = sorted({f"compute_{a}" for kind, a in listed if kind == "compute"}, key=arch_order)
        reading.set("ptx", ptx, "build_info", module)


def _joined(reading: Reading, tagged: Tagged, config: dict[str, str], header: str) -> None:
    """From 1.14 on the libraries are opened by names joined from these versions."""
    release = tuple(int(n) for n in re.findall(r"\d+", tagged.version)[:2])
    if release < (1, 14) or not config.get("TF_CUDA_VERSION"):
        return
    others = config.get("TF_CUDA_LIB_VERSION", "")
    toolkit = config["TF_CUDA_VERSION"]
    versions = {"cudart": config.get("TF_CUDART_VERSION") or toolkit, "cudnn": config.get("TF_CUDNN_VERSION", "")}
    for name in ("cublas", "cufft", "curand", "cusolver", "cusparse"):
        versions[name] = config.get(f"TF_{name.upper()}_VERSION") or others
    if release >= (2, 4):
        versions["cublasLt"] = versions["cublas"]
    if release >= (2, 14):
        versions.pop("curand")
    if not all(versions.values()):
        return
    form = "{}{}.dll" if tagged.platform.startswith("windows") else "lib{}.so.{}"
    names = [form.format(name, versions[name]) for name in _LIBRARIES if name in versions]
    reading.set("opens", names, "joined", header)


# ---------------------------------------------------------------- what binaries alone tell


def wants(tagged: Tagged, reading: Reading) -> bool:
    """Everything with CUDA (or not known to be without) has its compiled cuDNN read from the code."""
    return tagged.platform != "any" and reading.values.get("cuda", "") is not None


def deep(wheel: Wheel, tagged: Tagged, reading: Reading) -> None:
    """GPU-ness and CUDA of the oldest releases, the compiled cuDNN, architectures where no text lists them."""
    if "cuda" not in reading.values or ("opens" not in reading.values and not tagged.platform.startswith("windows")):
        _linked(wheel, tagged, reading)
    if reading.values.get("cuda", "") is None or tagged.platform.startswith("macos"):
        return
    _compiled(wheel, tagged, reading)
    if "sass" not in reading.values:
        _heads(wheel, reading)
    if "cudnn" not in reading.evidence or reading.evidence["cudnn"].split("@")[0] != "code":
        _bound(reading)


def _libraries(wheel: Wheel) -> list[str]:
    """The framework's own binaries: the small framework library first, then by size."""
    found = [m for m in wheel.members.values() if _OWN.search(m.name) and m.size > 1 << 20]
    return [m.name for m in sorted(found, key=lambda m: ("framework" not in m.name, -m.size, m.name))]


def _linked(wheel: Wheel, tagged: Tagged, reading: Reading) -> None:
    """NEEDED names, from the head of the library that has them; none at all in old releases means no CUDA."""
    where = _libraries(wheel)
    if not where:
        raise Disagreement("no framework library inside")
    if tagged.platform.startswith("windows"):
        return  # 1.0 imports no CUDA library even in GPU builds: the whole file decides, in _compiled
    found = {place: _cuda_names(wheel, place) for place in where[:2]}
    names = list(dict.fromkeys(name for place in found for name in found[place]))
    first = next((place for place in found if found[place]), where[0])
    if names:
        reading.set("opens", names, "needed", first)
        version = next((m[1] for n in names if (m := re.match(r"libcudart\.(?:so\.)?(\d+\.\d+)", n))), "")
        if version and "cuda" not in reading.values:
            reading.set("cuda", version, "soname", first)
    elif "cuda" not in reading.values:
        reading.cpu("needed", where[0])


def _cuda_names(wheel: Wheel, place: str) -> list[str]:
    found = binaries.names(wheel.stream(place), 48 << 20)
    return [n for n in found if not n.startswith(("libcuda.so", "libcuda.dylib", "libnvidia"))]


def _compiled(wheel: Wheel, tagged: Tagged, reading: Reading) -> None:
    for place in _libraries(wheel):
        data = _needed_part(wheel, tagged, place, "sass" in reading.values)
        if tagged.platform.startswith("windows"):
            _windows(data, place, reading)
            if reading.values.get("cuda", "") is None:
                return
        version = cudnn_code.compiled(data, _cudnn_major(reading))
        if version:
            said = reading.values.get("cudnn")
            if said and not (version + ".").startswith(places(said, 1) + "."):
                raise Disagreement(f"{place} compares cuDNN with {version}, the build information says {said}")
            reading.set("cudnn", version, "code", place)
            return


def _needed_part(wheel: Wheel, tagged: Tagged, place: str, has_archs: bool) -> bytearray:
    """A Windows library as far as its read-only data, and somewhat of its GPU code where that is wanted; else all."""
    if not tagged.platform.startswith("windows"):
        return wheel.whole(place)
    pieces = wheel.stream(place)
    data = bytearray(next(pieces))
    end = binaries.end_of_data(data) + (0 if has_archs else _GPU_CODE)
    for piece in pieces:
        data += piece
        if len(data) >= end:
            break
    return data


def _cudnn_major(reading: Reading) -> str:
    """From the build information, or from the name of the library that it asks for."""
    if reading.values.get("cudnn"):
        return places(reading.values["cudnn"], 1)
    named = [re.match(r"libcudnn\.so\.(\d+)|cudnn64_(\d+)\.dll", n) for n in reading.values.get("opens", [])]
    return next((m[1] or m[2] for m in named if m), "")


def _windows(data: bytearray, place: str, reading: Reading) -> None:
    """Import table and GPU code of a whole Windows library."""
    imports = [n for n in binaries.imported(data) if not n.startswith("nvcuda")]
    pieces = (bytes(data[i : i + _PIECE]) for i in range(0, len(data), _PIECE))
    code = binaries.gpu_code(pieces, 64, len(data))
    if "cuda" not in reading.values:
        if not code.regions and not imports:
            reading.cpu("fatbin", place)
            return
        if code.isa in _TOOLKIT:
            reading.set("cuda", _TOOLKIT[code.isa], "ptx", place)
    if "opens" not in reading.values and imports:
        reading.set("opens", imports, "needed", place)
    if "sass" not in reading.values and code.regions:
        reading.set("sass", code.sass, "fatbin", place)
        reading.set("ptx", code.ptx, "fatbin", place)


def _heads(wheel: Wheel, reading: Reading) -> None:
    """Architectures from the first regions of the biggest library."""
    for place in sorted(_libraries(wheel), key=lambda name: -wheel.members[name].size)[:2]:
        code = binaries.gpu_code(wheel.stream(place), 24, 2 << 30)
        if code.regions:
            reading.set("sass", code.sass, "fatbin", place)
            reading.set("ptx", code.ptx, "fatbin", place)
            return


def _bound(reading: Reading) -> None:
    """Where the code does not tell: the lower bound of what METADATA asks for."""
    for name, specifier in reading.values.get("requires", {}).items():
        bound = re.match(r"(?:==|>=|~=)(\d[\d.]*)", specifier)
        if name.startswith("nvidia-cudnn-cu") and bound:
            place = reading.evidence["requires"].partition("@")[2]
            reading.set("cudnn", places(bound[1]), "pin" if specifier.startswith("==") else "lower", place)


READER = Reader(light, deep, wants)
