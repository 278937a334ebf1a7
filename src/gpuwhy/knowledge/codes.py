"""Codes: the statuses of CUDA and its libraries, by number, by name and by what the API prints.

Numbers are ambiguous: 4 is another thing to the driver, to a runtime before CUDA 10.1, to cuDNN 8, to NCCL and to NVML.
A status has one canonical word, that of the driver API in lower case ("no_device" for cudaErrorNoDevice,
CUDA_ERROR_NO_DEVICE, 100, and 38 before CUDA 10.1). data/status_codes.json was read from the headers and from the
libraries themselves.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from functools import cache

import msgspec

from gpuwhy.knowledge import windows_codes, xid
from gpuwhy.knowledge.tables import load, source
from gpuwhy.knowledge.code import Code, Number
from gpuwhy.facts.fact import Source

TITLES = {
    "cuda": "CUDA driver and runtime",
    "cudnn": "cuDNN",
    "cublas": "cuBLAS",
    "cusolver": "cuSOLVER",
    "cufft": "cuFFT",
    "cusparse": "cuSPARSE",
    "curand": "cuRAND",
    "nvrtc": "NVRTC",
    "nvjitlink": "nvJitLink",
    "nccl": "NCCL",
    "nvml": "NVML",
    "windows": windows_codes.TITLE,
    "xid": "Xid, in the kernel log",
}
"""The APIs, in the order of answers."""

_SOURCES = {
    "cuda": (
        "cuda.h and driver_types.h of CUDA 11.7 to 13.4",
        "numbers before 10.1 from libcudart 9.0 and 10.0 itself",
    ),
    "cudnn": ("cuDNN's headers, 8.5 to 9.27", "cuDNN 7 from libcudnn 7.1.2 itself"),
    "cublas": ("cublas_api.h, cuBLAS 11.10 to 13.8", ""),
    "cusolver": ("cusolver_common.h, cuSOLVER 11.7.5", ""),
    "cufft": ("cufft.h, cuFFT 11.4.1", ""),
    "cusparse": ("cusparse.h, cuSPARSE 12.5.10", ""),
    "curand": ("curand.h, cuRAND 10.3.10", ""),
    "nvrtc": ("nvrtc.h of CUDA 12.9", ""),
    "nvjitlink": ("nvJitLink.h of CUDA 12.9", ""),
    "nccl": ("nccl.h, NCCL 2.13 to 2.32", ""),
    "nvml": ("pynvml.py of nvidia-ml-py 13.615.71", ""),
}

_SUCCESS = {
    "cuda": ("cudaSuccess", "CUDA_SUCCESS"),
    "cudnn": ("CUDNN_STATUS_SUCCESS",),
    "cublas": ("CUBLAS_STATUS_SUCCESS",),
    "cusolver": ("CUSOLVER_STATUS_SUCCESS",),
    "cufft": ("CUFFT_SUCCESS",),
    "cusparse": ("CUSPARSE_STATUS_SUCCESS",),
    "curand": ("CURAND_STATUS_SUCCESS",),
    "nvrtc": ("NVRTC_SUCCESS",),
    "nvjitlink": ("NVJITLINK_SUCCESS",),
    "nccl": ("ncclSuccess",),
    "nvml": ("NVML_SUCCESS",),
}

_SINCE = {
    "cuda": {
        810: "11.8", 912: "11.8", 811: "12.0", 812: "12.0", 225: "12.1", 402: "12.3", 913: "12.4", 914: "12.4",
        915: "12.4", 226: "12.8", 721: "12.8", 916: "12.8", 36: "13.0", 917: "13.1", 10: "13.2", 918: "13.3",
        47: "13.4", 227: "13.4", 919: "13.4",
    },
    "cudnn": {1008: "9.2", 2011: "9.5", 3013: "9.5", 2012: "9.6", 3014: "9.18"},
    "nccl": {7: "2.14", 8: "2.30"},
}  # fmt: skip
"""The first release whose header has the number, where that is later than the first header read."""

OLD_ONLY = {-1: "stub_library"}
"""A stub libcuda of CUDA 11 and older answers every call with -1."""

_API_WORDS = {api: api for api in TITLES} | {"driver": "driver", "runtime": "runtime", "cudart": "runtime"}
_API_WORDS |= dict.fromkeys(("winerror", "win32", "ntstatus", "loadlibrary", "hresult"), "windows")
_NOISE = {"error", "errors", "code", "status", "result", "nvrm", "exit"}
_NUMBER = re.compile(r"-?\d+|0[xX][0-9a-fA-F]+")
_GLUED = re.compile(rf"({'|'.join(_API_WORDS)})(-?\d+)")


class CudaRow(msgspec.Struct, frozen=True):
    """One error of the CUDA runtime and driver."""

    code: int
    slug: str
    names: tuple[str, ...]
    old: tuple[int, ...]  # numbers before CUDA 10.1
    says: tuple[str, ...]  # what cudaGetErrorString prints


class StatusRow(msgspec.Struct, frozen=True):
    """One status of a library: its name, and its numbers (cuDNN 9 renumbered)."""

    name: str
    codes: tuple[int, ...]


class Table(msgspec.Struct, frozen=True):
    """The whole file."""

    sources: dict[str, str]
    cuda: tuple[CudaRow, ...]
    libraries: dict[str, dict[str, StatusRow]]


@cache
def table() -> Table:
    """The table, read once."""
    return load("status_codes.json", Table)


@cache
def _cuda_names() -> dict[str, str]:
    return {name.lower(): row.slug for row in table().cuda for name in row.names}


def cuda_by_name(name: str) -> str:
    """The word for cudaErrorX or CUDA_ERROR_X, whatever the case; "" when there is no such error."""
    return _cuda_names().get(name.lower(), "")


@cache
def cuda_messages() -> dict[str, str]:
    """What cudaGetErrorString prints, in lower case, to the word."""
    return {text.lower().rstrip("."): row.slug for row in table().cuda for text in row.says}


def cuda_by_number(number: int) -> str:
    """The word for a number; the numbering before CUDA 10.1 counts where the newer one has none."""
    rows = table().cuda
    new = next((row.slug for row in rows if row.code == number), "")
    return new or next((row.slug for row in rows if number in row.old), "") or OLD_ONLY.get(number, "")


def cuda_code(slug: str) -> int:
    """The number of today for a word; 0 when there is none."""
    return next((row.code for row in table().cuda if row.slug == slug), 0)


def library_by_name(library: str, name: str) -> str:
    """The word for CUDNN_STATUS_X and its kind; "" for success and for names that do not exist."""
    wanted = name.lower().replace("_", "")
    rows = table().libraries.get(library, {})
    return next((slug for slug, row in rows.items() if row.name.lower().replace("_", "") == wanted), "")


def library_by_number(library: str, number: int) -> str:
    """The word for a bare number of a library."""
    rows = table().libraries.get(library, {})
    return next((slug for slug, row in rows.items() if number in row.codes), "")


def find(words: str) -> tuple[Code, ...]:
    """Every status that a text such as `719`, `0x2cf`, `xid 79` or `CUDNN_STATUS_INTERNAL_ERROR` may stand for."""
    api, rest = split(words)
    number = as_number(rest)
    if number is not None:
        return tuple(code for code in _of(api) if any(n.code == number for n in _numbers(code, api)))
    wanted = _plain(rest)
    return tuple(code for code in _of(api) if wanted and wanted in _spellings(code))


def split(words: str) -> tuple[str, str]:
    """The API that a text names ("" for none), and what is left of it."""
    parts = [part for part in re.split(r"[\s:=,()\[\]'\"#]+", words) if part]
    glued = _GLUED.fullmatch(parts[0].lower()) if len(parts) == 1 else None
    if glued:
        return _API_WORDS[glued[1]], glued[2]
    api = ""
    while len(parts) > 1 and (parts[0].lower() in _API_WORDS or parts[0].lower() in _NOISE):
        api = _API_WORDS.get(parts.pop(0).lower(), api)
    return api, " ".join(parts)


def as_number(text: str) -> int | None:
    """A decimal or hexadecimal number; None for anything else."""
    return int(text, 0 if text[:2].lower() == "0x" else 10) if _NUMBER.fullmatch(text) and len(text) < 20 else None


def near(words: str) -> list[str]:
    """Up to three names, or numbers of the named API, that come closest."""
    api, rest = split(words)
    number = as_number(rest)
    if number is not None:
        known = sorted({n.code for code in _of(api) for n in code.numbers}, key=lambda n: (abs(n - number), n))
        return [f"{api} {n}" for n in sorted(known[:3])] if api else []
    spelled = {_plain(name): name for code in _of(api) for name in code.names}
    return [spelled[one] for one in difflib.get_close_matches(_plain(rest), spelled, 3, 0.6)]


def _of(api: str) -> Iterator[Code]:
    if api in ("driver", "runtime"):
        prefix = "CUDA_" if api == "driver" else "cuda"
        return (code for code in everything() if code.api == "cuda" and _mine(code, prefix))
    return (code for code in everything() if api in ("", code.api))


def _mine(code: Code, prefix: str) -> bool:
    return not code.names or any(name.startswith(prefix) for name in code.names)


def _numbers(code: Code, api: str) -> tuple[Number, ...]:
    """The driver's numbers never changed; only the runtime's did."""
    return code.numbers[:1] if api == "driver" else code.numbers


def _plain(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()


def _spellings(code: Code) -> set[str]:
    """A name in full, without its prefix (`INTERNAL_ERROR`), or the text that the API prints."""
    short = (re.sub(r"^(cudaError|nccl|[A-Z]+_(STATUS_|ERROR_)?)", "", name) for name in code.names)
    return {_plain(text) for text in (*code.names, *short, *code.says)}


@cache
def everything() -> tuple[Code, ...]:
    """Every status of every API, in the order of answers."""
    out = [*_success(), *_cuda()]
    for api in TITLES:
        out += _library(api)
    return (*out, *windows_codes.codes(), *_xid())


def _success() -> Iterator[Code]:
    for api, names in _SUCCESS.items():
        yield Code(api, TITLES[api], names, (Number(0),), "success: nothing is wrong", (), _source(api))


def _cuda() -> Iterator[Code]:
    for row in table().cuda:
        numbers = (Number(row.code, _where(row)), *(Number(n, "runtime of CUDA 10.0 and older") for n in row.old))
        names = tuple(sorted(row.names, key=lambda name: name.startswith("CUDA_")))
        known = _source("cuda", row.code)
        yield Code("cuda", TITLES["cuda"], names, numbers, meaning(f"cuda.{row.slug}"), (), known, row.says)
    for number, slug in OLD_ONLY.items():
        where = Number(number, "stub libcuda of CUDA 11 and older, from cuInit")
        yield Code("cuda", TITLES["cuda"], (), (where,), meaning(f"cuda.{slug}"), (), _source("cuda"))


def _where(row: CudaRow) -> str:
    driver = any(name.startswith("CUDA_") for name in row.names)
    runtime = any(name.startswith("cuda") for name in row.names)
    if not (driver and runtime):
        return "driver" if driver else "runtime"
    return "driver; runtime since CUDA 10.1" if row.old else ""


def _library(api: str) -> Iterator[Code]:
    rows = table().libraries.get(api, {})
    for slug, row in rows.items():
        numbers = tuple(Number(n, _cudnn(n) if api == "cudnn" else "") for n in row.codes)
        yield Code(api, TITLES[api], (row.name,), numbers, meaning(f"{api}.{slug}"), (), _source(api, row.codes[-1]))


def _cudnn(number: int) -> str:
    """CuDNN 9 renumbered; 14 came with cuDNN 8."""
    return "cuDNN 9" if number >= 1000 else "cuDNN 8" if number == 14 else "cuDNN 8 and older"


def _xid() -> Iterator[Code]:
    for row in xid.ROWS.values():
        yield Code("xid", TITLES["xid"], (), (Number(row.number),), row.text, (), row.source)


@cache
def words() -> dict[str, dict[str, str]]:
    """Meanings in our own words; a status whose name says it all has no row."""
    return load("code_words.json", dict[str, dict[str, str]])


def meaning(signature: str) -> str:
    """What a status means, by the signature that the log reader gives it ("cufft.no_workspace"); "" without a row."""
    api, _, slug = signature.partition(".")
    return words().get(api, {}).get(slug, "")


def signature(code: Code) -> str:
    """What the log reader calls a status; "" for success and for what it does not read."""
    if code.api == "xid":
        return "kernel.xid"
    if code.api == "cuda":
        found = cuda_by_name(code.names[0]) if code.names else OLD_ONLY[code.numbers[0].code]
    else:
        found = library_by_name(code.api, code.names[0])
    return f"{code.api}.{found}" if found else ""


def _source(api: str, number: int = 0) -> Source:
    where, detail = _SOURCES[api]
    since = _SINCE.get(api, {}).get(number)
    return source(where, f"in it since {since}" if since else detail)
