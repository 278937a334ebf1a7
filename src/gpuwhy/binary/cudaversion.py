"""The exact version of a CUDA library, from its own bytes: a version symbol, or the number its version call stores.

cuDNN exports its version as data (0xMMmmpp); the small libraries' `…GetVersion(int *)` is a store of an immediate
(`c7 07 imm32`). What a newer compiler hides from this reading is None, never a guess: each number must be plausible
for its family.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from gpuwhy.binary import Pread
from gpuwhy.binary.symbols import Symbols

_STORES = (b"\xc7\x07", b"\xc7\x06", b"\xc7\x03", b"\x41\xc7\x04\x24", b"\x41\xc7\x45\x00", b"\xb8")
_MAX_FUNCTION = 1024


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
    "libcudart": (("cudaRuntimeGetVersion", _thousands),),
    "libnccl": (("ncclGetVersion", _nccl),),
    "libcufft": (("cufftGetVersion", _dotted),),
    "libcurand": (("curandGetVersion", _dotted),),
    "libcusolver": (("cusolverGetVersion", _dotted),),
    "libcusparse": (("cusparseGetVersion", _dotted),),
    "libcublasLt": (("cublasLtGetVersion", _cublas),),
    "libcudnn": (("cudnnGetVersion", _cudnn_old),),
}
_PAIRS = {"libnvrtc": "nvrtcVersion", "libnvJitLink": "nvJitLinkVersion"}
_CUDNN_DATA = ("cudnn_graph_version", "cudnn_ops_infer_version", "cudnn_adv_infer_version", "cudnn_cnn_infer_version")


def read_cuda_version(pread: Pread, size: int, name: str) -> str | None:
    """The version of the library called `name` (libcudnn_graph.so.9), or None when its bytes do not tell."""
    symbols = Symbols(pread, size)
    stem = name.split(".so")[0]
    if stem.startswith("libcudnn"):
        exact = _cudnn_data(symbols)
        if exact:
            return exact
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


def _pair(symbols: Symbols, call: str) -> str | None:
    """`nvrtcVersion(int *major, int *minor)` stores two small numbers."""
    code = _code(symbols, call)
    major, minor = code.find(b"\xc7\x07"), code.find(b"\xc7\x06")
    if major < 0 or minor < 0 or max(major, minor) + 6 > len(code):
        return None
    high, low = (struct.unpack_from("<I", code, place + 2)[0] for place in (major, minor))
    return f"{high}.{low}" if 7 <= high < 30 and low < 30 else None
