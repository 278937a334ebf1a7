"""The exact version of a CUDA library, from its own bytes.

Linux: cuDNN exports its version as data (0xMMmmpp); the small libraries' `…GetVersion(int *)` is a
store of an immediate (`c7 07 imm32`), in cudart one call further in; cuDNN's parts since 9.12
compare the number in their version check. Windows: NVIDIA's resources say "…, Version 12.4.127" in
the description ("NVIDIA CUDA 10.1.243 Runtime" before CUDA 11), cuDNN 8 and 9 give their version as
FILEVERSION, cuDNN 7's version call returns a constant; where these are silent, cuDNN's description
or ProductVersion may say it.

What a compiler hides from this reading is None, never a guess: each number must be plausible for
its library, and all must agree where more than one place is read.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

from gpuwhy.formats import MalformedError, Pread
from gpuwhy.formats.pe import Pe, PeSymbols, read_pe
from gpuwhy.formats.symbols import Symbols

Ranges = tuple[tuple[int, int, int], ...]
"""Which numbers are a version: from, below, and the weight of the major number.

23203 is 2.32.3 by 10000, 2708 is 2.7.8 by 1000.
"""
_NCCL: Ranges = ((20900, 40000, 10000), (2000, 2900, 1000))
_CUDNN: Ranges = ((90000, 200000, 10000), (4000, 9000, 1000))
_CUBLAS: Ranges = ((110000, 200000, 10000),)
_OTHERS: Ranges = ((8000, 20000, 1000),)
_CALLS = {
    "libnccl": ("ncclGetVersion", _NCCL),
    "libcufft": ("cufftGetVersion", _OTHERS),
    "libcurand": ("curandGetVersion", _OTHERS),
    "libcusolver": ("cusolverGetVersion", _OTHERS),
    "libcusparse": ("cusparseGetVersion", _OTHERS),
    "libcublasLt": ("cublasLtGetVersion", _CUBLAS),
    "libcudnn": ("cudnnGetVersion", _CUDNN),
}
_PAIRS = {"libnvrtc": "nvrtcVersion", "libnvJitLink": "nvJitLinkVersion"}
_DATA = [f"cudnn_{part}_version" for part in ("graph", "ops_infer", "adv_infer", "cnn_infer")]
_CHECKS = {"libcudnn_cnn": "cudnnCnnVersionCheck"}  # cuDNN 9's one part that exports no version

# instructions with an imm32: mov dword [rdi | rsi | rbx | r12 | r13 | rbp + d8]; mov eax
_STORES = re.compile(
    rb"(?=(?:\xc7[\x07\x06\x03]|\x41\xc7\x04\x24|\x41\xc7\x45\x00|\xc7\x45.|\xb8)(....))", re.DOTALL
)
_STORE = re.compile(rb"\xc7\x07(....)", re.DOTALL)  # mov dword [rdi], imm32
_CALL = re.compile(rb"(?=\xe8(....))", re.DOTALL)  # call rel32
_LOCAL = re.compile(rb"\x48\xc7\x85....(....)", re.DOTALL)  # mov qword [rbp + d32], imm32
_RETURN = re.compile(rb"(?:.{0,12}?)\xb8(....)\xc3", re.DOTALL)  # mov eax, imm32; ret
_MAX_FUNCTION = 2048
_INNER = 48  # bytes read of a called function

_SAYS = re.compile(r"\bVersion (\d+(?:\.\d+)+)")
_SAYS_OLD = re.compile(r"\bCUDA (\d+\.\d+(?:\.\d+)*)\b")
_PRODUCT = re.compile(r"(?!6\.14\.)((?:[5-9]|1\d)\.\d+\.\d+)(?:\.\d+)?")
_NUMBERED = re.compile(r"\d+[.,]\s*\d+[.,]\s*\d+[.,]\s*(1?\d)0(\d)0$")  # 6.14.11.10010: CUDA 10.1
_RUNTIME = re.compile(r"cudart(?:64|32)_([6-9]|10)(\d)\.dll$", re.IGNORECASE)


def read_cuda_version(pread: Pread, size: int, name: str) -> str | None:
    """The version of the library called `name` (libcudnn_graph.so.9), or None when unknown."""
    if pread(0, 2) == b"MZ":
        return _of_dll(pread, size, name)
    symbols = Symbols(pread, size)
    stem = name.split(".so")[0]
    if stem in _PAIRS:
        return _pair(symbols, _PAIRS[stem])
    if stem == "libcudart":
        numbers = _stored_inside(symbols, "cudaRuntimeGetVersion")
        return _agreed(map(_runtime, numbers))
    if stem.startswith("libcudnn"):
        compared = _LOCAL.findall(_code(symbols, _CHECKS.get(stem, "")))
        checked = (_decoded(_number(one), _CUDNN) for one in compared)
        if exact := _exported(symbols) or _agreed(checked):
            return exact
    call, ranges = _CALLS.get(stem, ("", ()))
    stored = map(_number, _STORES.findall(_code(symbols, call)))
    return next((found for one in stored if (found := _decoded(one, ranges))), None)


def _number(four: bytes) -> int:
    return int.from_bytes(four, "little")


def _decoded(value: int, ranges: Ranges) -> str | None:
    """The version that a number stands for; None where it is not plausible."""
    for low, high, major in ranges:
        if low <= value < high:
            return f"{value // major}.{value % major // 100}.{value % 100}"
    return None


def _runtime(value: int) -> str | None:
    """12090 → 12.9 (CUDA's own numbering)."""
    plausible = 8000 <= value < 20000 and value % 10 == 0
    return f"{value // 1000}.{value % 1000 // 10}" if plausible else None


def _agreed(versions: Iterable[str | None]) -> str | None:
    """The one version that all plausible numbers give."""
    found = {version for version in versions if version}
    return found.pop() if len(found) == 1 else None


def _exported(symbols: Symbols | PeSymbols) -> str | None:
    """The version that cuDNN's parts export as data."""
    for name in _DATA:
        found = symbols.find(name)
        if found and found.size in (0, 4):
            value = _number(symbols.image.take(symbols.place(found.address), 4, name))
            plausible = 0x040000 <= value < 0x200000
            return f"{value >> 16}.{value >> 8 & 255}.{value & 255}" if plausible else None
    return None


def _code(symbols: Symbols, call: str) -> bytes:
    """The instructions of a function; none where the library does not have it."""
    found = symbols.find(call) if call else None
    if not found:
        return b""
    return symbols.image.pread(symbols.place(found.address), min(found.size or 64, _MAX_FUNCTION))


def _stored_inside(symbols: Symbols, call: str) -> Iterator[int]:
    """What a function, or one that it calls, stores where its caller's pointer points."""
    code = _code(symbols, call)
    start = found.address if (found := symbols.find(call)) else 0
    pieces = [code]
    for match in _CALL.finditer(code):
        target = start + match.start() + 5 + int.from_bytes(match[1], "little", signed=True)
        with suppress(MalformedError):  # bytes that look like a call
            pieces.append(symbols.image.pread(symbols.place(target), _INNER))
    for piece in pieces:
        yield from map(_number, _STORE.findall(piece))


def _pair(symbols: Symbols, call: str) -> str | None:
    """`nvrtcVersion(int *major, int *minor)` stores two small numbers."""
    code = _code(symbols, call)
    major, minor = code.find(b"\xc7\x07"), code.find(b"\xc7\x06")
    if major < 0 or minor < 0 or max(major, minor) + 6 > len(code):
        return None
    high, low = (_number(code[place + 2 : place + 6]) for place in (major, minor))
    return f"{high}.{low}" if 7 <= high < 30 and low < 30 else None


# ---------------------------------------------------------------- Windows


def _of_dll(pread: Pread, size: int, name: str) -> str | None:
    pe = read_pe(pread, size)
    if name.lower().startswith("cudnn"):
        return _of_cudnn_dll(pread, size, pe, name)
    if said := _SAYS.search(pe.description) or _SAYS_OLD.search(pe.description):
        return said[1]
    numbered = _NUMBERED.match(pe.version) if name.lower().startswith("cudart") else None
    named = numbered or _RUNTIME.match(name)
    return f"{named[1]}.{named[2]}" if named else None


def _of_cudnn_dll(pread: Pread, size: int, pe: Pe, name: str) -> str | None:
    places = pe.version.split(".")
    if 8 <= int(places[0] or 0) < 30:
        return ".".join(places[:3])
    with suppress(MalformedError):
        symbols = PeSymbols(pread, size)
        if exact := _exported(symbols) or _returned(symbols, "cudnnGetVersion"):
            return exact
    major = re.search(r"64_(\d+)\.dll$", name, re.IGNORECASE)
    found = (_SAYS.search(pe.description), _PRODUCT.fullmatch(pe.product))
    said = [one[1] for one in found if one and major and one[1].startswith(f"{major[1]}.")]
    return said[0] if said else None  # another number is of the CUDA that it was built with


def _returned(symbols: PeSymbols, call: str) -> str | None:
    """cuDNN 7's version call returns 7605."""
    found = symbols.find(call)
    code = _RETURN.match(symbols.image.pread(symbols.place(found.address), 24)) if found else None
    return _decoded(_number(code[1]), _CUDNN[1:]) if code else None
