"""The CUDA library families: how files are called, who ships them, and the CUDA of a name."""

import re
from functools import cache

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.knowledge.tables import load, rows

FILES = r"lib(cu(bl|d[an]|ff|fi|pt|ra|so|sp)|nccl|nv(?!idia))[\w-]*\.so[.\d]*$"
"""A short expression that lets every library's name through and little else: to list a folder."""
_SAME = {"cublasLt": "cublas", "cufftw": "cufft", "cusolverMg": "cusolver"}
_PARTS = re.compile(r"lib(\w+)\.so\.([\d.]+)$")
_DLL = re.compile(r"(\w{1,80}?)(?:64|32)?_([\d_]{1,20})\.dll$", re.IGNORECASE)
_DLL_NAMES = {"cublaslt": "cublasLt", "cusolvermg": "cusolverMg", "nvjitlink": "nvJitLink"}
_EXACT = re.compile(r"(?:[6-9]|10)\.\d|11\.[01]")


class Family(msgspec.Struct, frozen=True):
    """One family of CUDA libraries."""

    name: str
    stems: tuple[str, ...]  # expressions of what stands between "lib" and ".so"
    wheels: tuple[str, ...] = ()  # distributions without their -cu12 suffix
    conda: tuple[str, ...] = ()
    places: int = 4  # how many places of a package's version belong to the library


class LibraryName(msgspec.Struct, frozen=True):
    """A file name taken apart: libcudnn_cnn-1a2b3c4d.so.9.1 is cudnn, stem cudnn_cnn, 9.1."""

    family: Family
    stem: str
    suffix: str


class Sonames(msgspec.Struct, frozen=True):
    """sonames.json: the CUDA toolkits that ship a library, by its stem and the number behind it."""

    source: Source
    cuda: dict[str, dict[str, str]]


def families() -> tuple[Family, ...]:
    """Every family."""
    return rows("libraries.jsonl", Family)


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Of libcudnn.so.9, and of cudnn_ops_infer64_8.dll, nvrtc64_101_0.dll, nvJitLink_120_0.dll."""
    stems = (f"(?P<f{n}>{'|'.join(family.stems)})" for n, family in enumerate(families()))
    stem = f"(?P<stem>{'|'.join(stems)})"
    dll = stem.replace(r"\w+", "[A-Za-z_]+?")
    return (
        re.compile(rf"lib{stem}(?P<hash>-[0-9a-f]{{8}})?\.so(?P<suffix>(?:\.\d+)*)$"),
        re.compile(rf"{dll}(?:64|32)?(?P<suffix>(?:_[\d._]*\d)?)\.dll$", re.IGNORECASE),
    )


def parse(name: str) -> LibraryName | None:
    """Take a file name apart; None when it is no CUDA library's."""
    library, dll = _patterns()
    match = library.match(name) or dll.match(name)
    if not match:
        return None
    family = next(one for n, one in enumerate(families()) if match[f"f{n}"] is not None)
    stem = match["stem"] + (match["hash"] or "" if name.startswith("lib") else "")
    return LibraryName(family, stem, match["suffix"][1:])


def stem(name: str) -> str:
    """A library's name on every system: libcudnn_graph.so.9, cudnn_graph64_9.dll: cudnn_graph."""
    found = parse(name)
    return found.stem if found else ""


def opened_later(name: str) -> bool:
    """Whether another library opens a file when first used: a part of cuDNN, NVRTC's builtins."""
    return re.match(r"(?i)(lib)?(cudnn_|nvrtc-builtins)", name) is not None


def is_cudnn(name: str) -> bool:
    """Whether a file name is that of cuDNN or of a part of it."""
    return name.startswith("libcudnn") or name[:5].lower() == "cudnn"


def cuda_of(name: str) -> str:
    """The CUDA versions that ship a library of this name: '10.1 to 11.0'; '' where none is said."""
    match = _PARTS.match(name)
    asked = (match[1], match[2]) if match else _of_dll(name)
    if not asked:
        return ""
    stem, suffix = _SAME.get(asked[0], asked[0]), asked[1]
    known = load("sonames.json", Sonames).cuda.get(stem)
    if known is None:
        return ""
    return known.get(suffix, suffix if _EXACT.fullmatch(suffix) else "")


def _of_dll(name: str) -> tuple[str, str] | None:
    """A DLL's name as a SONAME: cudart64_101 → cudart, 10.1; cudart64_110 → cudart, 11.0."""
    match = _DLL.match(name)
    if not match:
        return None
    stem, digits = _DLL_NAMES.get(match[1].lower(), match[1].lower()), match[2].partition("_")[0]
    if len(digits) != 3 and digits not in ("75", "80", "90", "91", "92"):
        return stem, digits
    dotted = f"{digits[:-1]}.{digits[-1]}"
    short = stem in ("nvrtc", "nvJitLink") and digits >= "120"
    return stem, dotted.removesuffix(".0") if short else dotted
