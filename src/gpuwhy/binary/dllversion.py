"""The exact version of a CUDA library for Windows: its version resource, an exported number, or its own name.

NVIDIA's resources say "…, Version 12.4.127" in the description (CUDA 11 and newer: "NVIDIA CUDA 10.1.243 Runtime"
before), cuDNN 8 and 9 give their version as FILEVERSION; cuDNN 7's version call returns a
constant; where both are silent, cuDNN's description or ProductVersion may say it.
"""

from __future__ import annotations

import re
import struct
from contextlib import suppress

from gpuwhy.binary import MalformedError, Pread
from gpuwhy.binary.pe import Pe, read_pe
from gpuwhy.binary.pe_symbols import PeSymbols

_SAYS = re.compile(r"\bVersion (\d+(?:\.\d+)+)")
_PRODUCT = re.compile(r"(?!6\.14\.)((?:[5-9]|1\d)\.\d+\.\d+)(?:\.\d+)?")
_OLD = re.compile(r"\bCUDA (\d+\.\d+(?:\.\d+)*)\b")
_NUMBERED = re.compile(r"\d+[.,]\s*\d+[.,]\s*\d+[.,]\s*(1?\d)0(\d)0$")  # 6.14.11.10010: the runtime of CUDA 10.1
_RUNTIME = re.compile(r"cudart(?:64|32)_([6-9]|10)(\d)\.dll$", re.IGNORECASE)
_RETURNS = re.compile(rb"(?:.{0,12}?)\xb8(....)\xc3", re.DOTALL)  # mov eax, imm32; ret
_DATA = ("cudnn_graph_version", "cudnn_ops_infer_version", "cudnn_cnn_infer_version", "cudnn_adv_infer_version")


def read_dll_version(pread: Pread, size: int, name: str) -> str | None:
    """The version of the library called `name` (cudnn64_7.dll), or None when nothing in it tells."""
    pe = read_pe(pread, size)
    if name.lower().startswith("cudnn"):
        return _cudnn(pread, size, pe, name)
    for found in (_SAYS.search(pe.description), _OLD.search(pe.description)):
        if found:
            return found[1]
    numbered = _NUMBERED.match(pe.version) if name.lower().startswith("cudart") else None
    named = numbered or _RUNTIME.match(name)
    return f"{named[1]}.{named[2]}" if named else None


def _cudnn(pread: Pread, size: int, pe: Pe, name: str) -> str | None:
    places = pe.version.split(".")
    if 8 <= int(places[0] or 0) < 30:
        return ".".join(places[:3])
    with suppress(MalformedError):
        if exact := _exported(PeSymbols(pread, size)):
            return exact
    number = re.search(r"64_(\d+)\.dll$", name, re.IGNORECASE)
    found = (_SAYS.search(pe.description), _PRODUCT.fullmatch(pe.product))
    told = [one[1] for one in found if one and number and one[1].startswith(f"{number[1]}.")]
    return told[0] if told else None  # another number is of the CUDA that it was built with


def _exported(symbols: PeSymbols) -> str | None:
    """cuDNN 9's parts export 0xMMmmpp; cuDNN 7's cudnnGetVersion returns 7605."""
    for name in _DATA:
        found = symbols.find(name)
        if found:
            (value,) = struct.unpack("<I", symbols.image.take(symbols.place(found.address), 4, name))
            return f"{value >> 16}.{value >> 8 & 255}.{value & 255}" if 0x040000 <= value < 0x200000 else None
    call = symbols.find("cudnnGetVersion")
    code = _RETURNS.match(symbols.image.pread(symbols.place(call.address), 24)) if call else None
    (value,) = struct.unpack("<I", code[1]) if code else (0,)
    return f"{value // 1000}.{value % 1000 // 100}.{value % 100}" if 4000 <= value < 9000 else None
