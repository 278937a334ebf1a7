"""Libraries to messages: strings of read-only data that read like sentences, and the source file that refers to them.

A message and the name of its source file are handed to the same call (TORCH_CHECK, LOG, a status with its place), so
the code refers to both within a few instructions: that is how a string gets its module. Its function is the exported
symbol around the reference, where there is one.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_right
from typing import NamedTuple

import numpy as np

from tools.atlas.message import Message, any_format

_RUN = re.compile(rb"[\x20-\x7e\t\n]{10,1200}\0")
_PATH = re.compile(r"[\w./+-]+\.(?:cc|cpp|cu|cuh|h|hpp|c|cxx|inl|pyx)$")
_WORD = re.compile(r"[A-Za-z][a-z]+\b|\b[a-z]{2,}\b")
_CODE = re.compile(r"Tensor[?]? \w+[,)=]|[;{}\\]|=>|::.*::|<<|//|\(\*|std::|llvm\.|\bi32\b|\bptr\b|template|__|->")
_NEAR = 240
_MOST = 400
_STEP = 1 << 22


class Section(NamedTuple):
    """A section of an ELF file."""

    name: str
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int


def sections(data: bytes | bytearray) -> list[Section]:
    """The section table of a 64-bit little-endian ELF file; none for anything else."""
    if data[:6] != b"\x7fELF\x02\x01":
        return []
    (table,), (size, count, names) = struct.unpack_from("<Q", data, 40), struct.unpack_from("<HHH", data, 58)
    rows = []
    for number in range(count):
        if table + (number + 1) * size > len(data):
            return []
        rows.append(struct.unpack_from("<IIQQQQI", data, table + number * size))
    base = rows[names][4] if names < len(rows) else 0
    return [Section(_name(data, base + r[0]), r[1], r[2], r[3], r[4], r[5], r[6]) for r in rows]


def _name(data: bytes | bytearray, place: int) -> str:
    return bytes(data[place : data.find(b"\0", place, place + 200)]).decode("ascii", "replace")


def messages(data: bytes | bytearray, library: str) -> list[Message]:
    """The sentences of a library, each with the module that refers to it."""
    parts = sections(data)
    texts, paths = _strings(data, parts)
    if not texts:
        return []
    wanted = sorted([*texts, *paths])
    places, targets = _references(data, parts, np.array(wanted, dtype=np.int64))
    where = _modules(places, targets, paths)
    functions = _functions(data, parts)
    out = []
    for address, text in texts.items():
        place, path = where.get(address, (0, ""))
        out.append(Message(any_format(text), _module(path) or library, _around(functions, place), ""))
    return out


def sentence(text: str) -> bool:
    """Whether a string reads like a message: several words, few signs of code."""
    found = _WORD.findall(text)
    letters = sum(map(len, found)) + text.count(" ")
    if len(found) < 3 or len(text) > _MOST or letters < 0.62 * len(text) or " " not in text.strip():
        return False
    return not _CODE.search(text) and not text.startswith("\n ")


def _strings(data: bytes | bytearray, parts: list[Section]) -> tuple[dict[int, str], dict[int, str]]:
    texts: dict[int, str] = {}
    paths: dict[int, str] = {}
    for part in parts:
        if not part.name.startswith((".rodata", ".data.rel.ro")) or part.kind != 1:
            continue
        view = memoryview(data)[part.offset : part.offset + part.size]
        for found in _RUN.finditer(view):
            start = found.start()
            if start and view[start - 1] != 0:
                continue
            text = found.group()[:-1].decode("ascii")
            address = part.address + start
            if _PATH.fullmatch(text):
                paths[address] = text
            elif sentence(any_format(text)):
                texts[address] = text
    return texts, paths


def _references(data: bytes | bytearray, parts: list[Section], wanted: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(code addresses, targets) of RIP-relative displacements that point at one of `wanted`, by code address."""
    places, targets = [], []
    low, high = int(wanted[0]), int(wanted[-1])
    for part in parts:
        if part.kind != 1 or not part.flags & 4:
            continue
        size = min(part.size, len(data) - part.offset)
        for shift in range(4):
            words = np.frombuffer(data, "<i4", max(0, (size - shift) // 4), part.offset + shift)
            for start in range(0, len(words), _STEP):
                piece = words[start : start + _STEP].astype(np.int64)
                ends = np.arange(start, start + len(piece), dtype=np.int64) * 4 + (shift + 4 + part.address)
                piece += ends
                inside = np.nonzero((piece >= low) & (piece <= high))[0]
                aims = piece[inside]
                found = np.searchsorted(wanted, aims)
                hit = wanted[np.minimum(found, len(wanted) - 1)] == aims
                places.append(ends[inside[hit]])
                targets.append(aims[hit])
    if not places:
        return np.array([], dtype=np.int64), np.array([], dtype=np.int64)
    every, aims = np.concatenate(places), np.concatenate(targets)
    order = np.argsort(every, kind="stable")
    return every[order], aims[order]


def _modules(places: np.ndarray, targets: np.ndarray, paths: dict[int, str]) -> dict[int, tuple[int, str]]:
    """Text address → (where the code refers to it, the nearest source file that the code names there)."""
    named = [n for n, target in enumerate(targets) if int(target) in paths]
    at = [int(places[n]) for n in named]
    best: dict[int, tuple[int, int, str]] = {}
    for place, target in zip(places.tolist(), targets.tolist(), strict=True):
        if target in paths:
            continue
        spot = bisect_right(at, place)
        near = [(abs(at[k] - place), paths[int(targets[named[k]])]) for k in (spot - 1, spot) if 0 <= k < len(at)]
        distance, path = min(near, default=(_NEAR + 1, ""))
        known = best.get(target)
        if known is None or distance < known[0]:
            best[target] = (distance, place, path if distance <= _NEAR else "")
    return {target: (place, path) for target, (_, place, path) in best.items()}


def _module(path: str) -> str:
    """A source path without the build machine's folders in front."""
    path = re.sub(
        r"^.*?/(?=(?:aten|c10|torch|caffe2|third_party|tensorflow|xla|jaxlib|onnxruntime|external)/)", "", path
    )
    return re.sub(r"^(?:external/)?(?:local_xla|xla|org_tensorflow)/(?=xla/|tensorflow/)", "", path).lstrip("./")


Functions = tuple[list[int], list[tuple[int, int]], bytes]


def _functions(data: bytes | bytearray, parts: list[Section]) -> Functions:
    """Exported functions by address."""
    table = next((p for p in parts if p.kind == 11), None)
    if table is None or table.link >= len(parts):
        return [], [], b""
    raw = np.frombuffer(
        data,
        np.dtype([("name", "<u4"), ("info", "u1"), ("other", "u1"), ("at", "<u2"), ("value", "<u8"), ("size", "<u8")]),
        table.size // 24,
        table.offset,
    )
    rows = raw[((raw["info"] & 15) == 2) & (raw["value"] > 0)]
    rows = rows[np.argsort(rows["value"], kind="stable")]
    names = parts[table.link]
    text = bytes(data[names.offset : names.offset + names.size])
    ends = (rows["value"] + rows["size"]).tolist()
    return rows["value"].tolist(), list(zip(ends, rows["name"].tolist(), strict=True)), text


def _around(functions: Functions, place: int) -> str:
    starts, rows, names = functions
    spot = bisect_right(starts, place) - 1
    if not place or spot < 0 or place >= rows[spot][0]:
        return ""
    start = rows[spot][1]
    return plain(names[start : names.find(b"\0", start)].decode("ascii", "replace"))


def plain(symbol: str) -> str:
    """The last two names of a C++ symbol, or the symbol of a C function."""
    if not symbol.startswith("_Z"):
        return symbol
    rest, out = re.sub(r"^_Z(?:N[KVrRO]*)?(?:St|L)?", "", symbol), []
    while found := re.match(r"(\d+)", rest):
        size = int(found.group())
        out.append(rest[found.end() : found.end() + size])
        rest = re.sub(r"^(?:B5cxx11)?L?", "", rest[found.end() + size :])
    out = [name for name in out if not name.startswith("_GLOBAL__N")]
    return "::".join(out[-2:])
