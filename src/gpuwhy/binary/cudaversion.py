"""The exact version of a CUDA library, from its own bytes: a version symbol, or the number its version call stores.

cuDNN exports its version as data (0xMMmmpp); the small libraries' `…GetVersion(int *)` is a store of an immediate
(`c7 07 imm32`), in cudart one call further in; cuDNN's parts since 9.12 compare the number in their version check.
What a compiler hides from this reading is None, never a guess: each number must be plausible for its family, and all
that are found must agree where more than one place is read.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from gpuwhy.binary import MalformedError, Pread
from gpuwhy.binary.dllversion import read_dll_version
from gpuwhy.binary.symbols import Symbols

_STORES = (b"\xc7\x07", b"\xc7\x06", b"\xc7\x03", b"\x41\xc7\x04\x24", b"\x41\xc7\x45\x00", b"\xb8")
_STORE = re.compile(rb"\xc7\x07(....)", re.DOTALL)  # mov dword [rdi], imm32
_CALL = re.compile(rb"(?=\xe8(....))", re.DOTALL)  # call rel32
_LOCAL = re.compile(rb"\x48\xc7\x85....(....)", re.DOTALL)  # mov qword [rbp + d32], imm32
_MAX_FUNCTION = 2048
_INNER = 48  # bytes read of a called function


def _thousands(value: int) -> str | None:
    """12090 → 12.9; 11080 → 11.8 (cudart, CUDA's own numbering)."""
    return f"{value // 1000}.{value % 1000 // 10}" if 8000 <= value < 20000 and value % 10 == 0 else None


def _dotted(value: int) -> str | None:
    """11401 → 11.4.1 (cufft, curand, cusolver: major, two places of minor below ten, patch)."""
    return f"{value // 1000}.{value % 1000 // 100}.{value % 100}" if 8000 <= value < 20000 else None


def _cublas(value: int) -> str | None:
    """120902 → 12.9.2."""
    return f"{value // 10000}.{value % 10000 // 100}.{value % 100}" if 110000 <= value < 200000 else None


def _nccl(value: int) -> str | None:
    """23203 → 2.32.3; 2708 → 2.7.8."""
    if 20900 <= value < 40000:
        return f"{value // 10000}.{value % 10000 // 100}.{value % 100}"
    return f"{value // 1000}.{value % 1000 // 100}.{value % 100}" if 2000 <= value < 2900 else None


def _cudnn_old(value: int) -> str | None:
    """7605 → 7.6.5; 8902 → 8.9.2 (cuDNN 5 to 8); 91900 → 9.19.0."""
    if 90000 <= value < 200000:
        return f"{value // 10000}.{value % 10000 // 100}.{value % 100}"
    return f"{value // 1000}.{value % 1000 // 100}.{value % 100}" if 4000 <= value < 9000 else None


_CALLS: dict[str, tuple[tuple[str, Callable[[int], str | None]], ...]] = {
    "libnccl": (("ncclGetVersion", _nccl),),
    "libcufft": (("cufftGetVersion", _dotted),),
    "libcurand": (("curandGetVersion", _dotted),),
    "libcusolver": (("cusolverGetVersion", _dotted),),
    "libcusparse": (("cusparseGetVersion", _dotted),),
    "libcublasLt": (("cublasLtGetVersion", _cublas),),
    "libcudnn": (("cudnnGetVersion", _cudnn_old),),
}
_PAIRS = {"libnvrtc": "nvrtcVersion", "libnvJitLink": "nvJitLinkVersion"}
_CHECKS = {"libcudnn_cnn": "cudnnCnnVersionCheck"}  # the one part of cuDNN 9 whose version is not exported
_CUDNN_DATA = ("cudnn_graph_version", "cudnn_ops_infer_version", "cudnn_adv_infer_version", "cudnn_cnn_infer_version")


def read_cuda_version(pread: Pread, size: int, name: str) -> str | None:
    """The version of the library called `name` (libcudnn_graph.so.9), or None when its bytes do not tell."""
    if pread(0, 2) == b"MZ":
        return read_dll_version(pread, size, name)
    symbols = Symbols(pread, size)
    stem = name.split(".so")[0]
    if stem.startswith("libcudnn"):
        exact = _cudnn_data(symbols) or _agreed(map(_cudnn_old, _compared(symbols, _CHECKS.get(stem, ""))))
        if exact:
            return exact
    if stem == "libcudart":
        return _agreed(map(_thousands, _stored_inside(symbols, "cudaRuntimeGetVersion")))
    for call, decode in _CALLS.get(stem, ()):
        for value in _stored(symbols, call):
            version = decode(value)
            if version:
                return version
    return _pair(symbols, _PAIRS[stem]) if stem in _PAIRS else None


def _cudnn_data(symbols: Symbols) -> str | None:
    for name in _CUDNN_DATA:
        found = symbols.find(name)
        if found and found.size == 4:
            (value,) = struct.unpack("<I", symbols.image.take(symbols.place(found.address), 4, name))
            return f"{value >> 16}.{value >> 8 & 255}.{value & 255}" if 0x040000 <= value < 0x200000 else None
    return None


def _code(symbols: Symbols, call: str) -> bytes:
    found = symbols.find(call)
    if not found:
        return b""
    return symbols.image.pread(symbols.place(found.address), min(found.size or 64, _MAX_FUNCTION))


def _stored(symbols: Symbols, call: str) -> list[int]:
    """Every 32-bit immediate that the function stores or returns, in order."""
    code = _code(symbols, call)
    out = []
    for place in range(len(code) - 5):
        for store in _STORES:
            if code.startswith(store, place) and place + len(store) + 4 <= len(code):
                out.append(struct.unpack_from("<I", code, place + len(store))[0])
        if code.startswith(b"\xc7\x45", place) and place + 7 <= len(code):  # mov dword [rbp + d8], imm32
            out.append(struct.unpack_from("<I", code, place + 3)[0])
    return out


def _agreed(versions: Iterable[str | None]) -> str | None:
    """The one version that all plausible numbers give."""
    found = {version for version in versions if version}
    return found.pop() if len(found) == 1 else None


def _compared(symbols: Symbols, call: str) -> Iterator[int]:
    """The numbers that a version check keeps to compare with its caller's."""
    for match in _LOCAL.finditer(_code(symbols, call) if call else b""):
        yield struct.unpack("<I", match[1])[0]


def _stored_inside(symbols: Symbols, call: str) -> Iterator[int]:
    """What a function, or one that it calls, stores where its caller's pointer points."""
    code = _code(symbols, call)
    start = found.address if (found := symbols.find(call)) else 0
    pieces = [code]
    for match in _CALL.finditer(code):
        target = start + match.start() + 5 + struct.unpack("<i", match[1])[0]
        with suppress(MalformedError):  # bytes that look like a call
            pieces.append(symbols.image.pread(symbols.place(target), _INNER))
    for piece in pieces:
        for match in _STORE.finditer(piece):
            yield struct.unpack("<I", match[1])[0]


def _pair(symbols: Symbols, call: str) -> str | None:
    """`nvrtcVersion(int *major, int *minor)` stores two small numbers."""
    code = _code(symbols, call)
    major, minor = code.find(b"\xc7\x07"), code.find(b"\xc7\x06")
    if major < 0 or minor < 0 or max(major, minor) + 6 > len(code):
        return None
    high, low = (struct.unpack_from("<I", code, place + 2)[0] for place in (major, minor))
    return f"{high}.{low}" if 7 <= high < 30 and low < 30 else None
