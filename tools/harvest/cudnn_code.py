"""The cuDNN version that TensorFlow compares the loaded one with: immediates in the code that prints the complaint.

The text "Loaded runtime CuDNN library" is found in the read-only data, its RIP-relative reference in the code, and the
instructions around it are searched for the shapes in which compilers have stored the three numbers.
"""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

import capstone
import numpy as np

_TEXTS = (b"Loaded runtime CuDNN library", b"Loaded cudnn library: ", b"Loaded runtime CuDNN")
_AROUND = 4096


def compiled(data: bytes | bytearray, major: str = "") -> str:
    """'7.6.5', or "" where the code does not tell; `major`, where known, tells versions from other numbers."""
    sections = sections_of(data)
    for text in _TEXTS:
        found: set[str] = set()
        for match in re.finditer(re.escape(text), data):
            address = _address(sections, match.start())
            for code in (s for s in sections if s[3]):
                for place in _references(data, code, address):
                    near = _instructions(data, code, place)
                    found |= _shapes(near, major) or _constant(data, sections, code, near, place, major)
        if len(found) == 1:
            return found.pop()
        if found:
            return ""
    return ""


Section = tuple[int, int, int, bool]  # file offset, address, size, executable


def sections_of(data: bytes | bytearray) -> list[Section]:
    """The loaded sections of an ELF or PE file."""
    if data[:4] == b"\x7fELF":
        return _elf(data)
    return _pe(data) if data[:2] == b"MZ" else []


def _elf(data: bytes | bytearray) -> list[Section]:
    offset, size, count = (*struct.unpack_from("<Q", data, 40), *struct.unpack_from("<HH", data, 58))
    out = []
    for number in range(count):
        if offset + (number + 1) * size > len(data):
            break
        _, kind, flags, address, place, length = struct.unpack_from("<IIQQQQ", data, offset + number * size)
        if kind == 1 and flags & 2:
            out.append((place, address, length, bool(flags & 4)))
    return out


def _pe(data: bytes | bytearray) -> list[Section]:
    (start,) = struct.unpack_from("<I", data, 60)
    if data[start : start + 4] != b"PE\0\0":
        return []
    (count,) = struct.unpack_from("<H", data, start + 6)
    (optional,) = struct.unpack_from("<H", data, start + 20)
    out = []
    for number in range(count):
        row = start + 24 + optional + 40 * number
        _, address, length, place = struct.unpack_from("<IIII", data, row + 8)
        (flags,) = struct.unpack_from("<I", data, row + 36)
        out.append((place, address, length, bool(flags & 0x20000000)))
    return out


def _address(sections: list[Section], place: int) -> int:
    return next((place - s[0] + s[1] for s in sections if s[0] <= place < s[0] + s[2]), -1)


def _offset(sections: list[Section], address: int) -> int:
    return next((address - s[1] + s[0] for s in sections if s[1] <= address < s[1] + s[2]), -1)


def _references(data: bytes | bytearray, code: Section, target: int) -> list[int]:
    """File offsets in a section where a RIP-relative displacement points at `target`."""
    if target < 0:
        return []
    offset, address, size, _ = code
    size = min(size, len(data) - offset)
    out = []
    for shift in range(4):
        words = np.frombuffer(data, "<i4", (size - shift) // 4, offset + shift)
        step = 1 << 21
        for start in range(0, len(words), step):
            part = words[start : start + step]
            ends = (np.arange(start, start + len(part), dtype=np.int64) * 4) + (shift + 4 + address)
            out += [offset + shift + 4 * (start + int(i)) for i in np.nonzero(part + ends == target)[0]]
    return sorted(out)


def _instructions(data: bytes | bytearray, code: Section, place: int) -> list[capstone.CsInsn]:
    """The instructions around a reference; decoding starts where it meets the referring instruction."""
    machine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    machine.skipdata = True
    begin, end = max(place - 3 - _AROUND, code[0]), min(place + _AROUND, code[0] + code[2])
    for first in range(begin, begin + 16):
        found = list(machine.disasm(bytes(data[first:end]), first))
        if any(i.address <= place < i.address + i.size and "rip" in i.op_str for i in found):
            return found
    return []


_CONSTANT = re.compile(r"rsi, \[rip ([+-]) (0x[0-9a-f]+)\]$")


def _constant(
    data: bytes | bytearray, sections: list[Section], code: Section, near: list[capstone.CsInsn], place: int, major: str
) -> set[str]:
    """A record of three numbers in the read-only data, handed by address to the function that prints it."""
    out = set()
    for one in near:
        if one.mnemonic == "lea" and place - 96 <= one.address < place and (m := _CONSTANT.match(one.op_str)):
            step = int(m[2], 0) * (-1 if m[1] == "-" else 1)
            where = _offset(sections, one.address + one.size + step - code[0] + code[1])
            if 0 <= where <= len(data) - 12:
                out.add(_version(*struct.unpack_from("<III", data, where)))
    return {v for v in out if v and v.split(".")[0] == major}


_STORE = re.compile(r"(dword|qword) ptr \[(\w+)(?: ([+-]) (0x[0-9a-f]+|\d+))?\], (0x[0-9a-f]+|\d+|r\w+)$")
_MOVE = re.compile(r"(\w+), (0x[0-9a-f]+|\d+)$")


def _shapes(code: list[capstone.CsInsn], major: str) -> set[str]:
    """The versions that the first fitting kind of shape gives; later kinds are looser."""
    for shape in (_calls, _triples, _single):
        found = {v for v in shape(code) if v and (not major or v.split(".")[0] == major)}
        if found:
            return found
    return set()


class _Store(NamedTuple):
    index: int
    base: str
    place: int
    width: int
    value: int


def _stores(code: list[capstone.CsInsn]) -> list[_Store]:
    """Constants stored to memory, directly or through a register that `movabs` filled."""
    out, wide = [], dict[str, int]()
    for index, one in enumerate(code):
        if one.mnemonic == "movabs" and (m := _MOVE.match(one.op_str)):
            wide[m[1]] = int(m[2], 0)
        elif one.mnemonic == "mov" and (m := _STORE.match(one.op_str)):
            place = int(m[4] or "0", 0) * (-1 if m[3] == "-" else 1)
            value = wide.get(m[5]) if m[5].startswith("r") else int(m[5], 0)
            if value is not None:
                out.append(_Store(index, m[2], place, 4 if m[1] == "dword" else 8, value))
    return out


def _version(*numbers: int) -> str:
    major, minor, patch = numbers
    fits = 5 <= major <= 12 and 0 <= minor <= 40 and 0 <= patch <= 99
    return f"{major}.{minor}.{patch}" if fits else ""


def _triples(code: list[capstone.CsInsn]) -> set[str]:
    """A record of three 32-bit numbers on the stack, stored as 8 + 4, 4 + 8 or 4 + 4 + 4 bytes."""
    out, stores = set(), _stores(code)
    for one in stores:
        near = {s.place: s for s in stores if s.base == one.base and abs(s.index - one.index) <= 12}
        last, rest = near.get(one.place + 8), near.get(one.place + 4)
        if one.width == 8 and last and last.width == 4:
            out.add(_version(one.value & 0xFFFFFFFF, one.value >> 32, last.value))
        if one.width == 4 and rest and rest.width == 8:
            out.add(_version(one.value, rest.value & 0xFFFFFFFF, rest.value >> 32))
        if one.width == 4 and rest and last and rest.width == last.width == 4:
            out.add(_version(one.value, rest.value, last.value))
    return out


def _single(code: list[capstone.CsInsn]) -> set[str]:
    """CUDNN_VERSION as one number (5110), beside the comparison with its hundreds (5100)."""
    compared, stored = set(), set()
    for one in code:
        if one.mnemonic in ("cmp", "mov") and (m := re.search(r", (0x[0-9a-f]+|\d+)$", one.op_str)):
            value = int(m[1], 0)
            if 5000 <= value < 8000:
                (compared if one.mnemonic == "cmp" and value % 100 == 0 else stored).add(value)
    fits = {v for v in stored if v // 100 * 100 in compared and v % 100}
    return {_version(v // 1000, v % 1000 // 100, v % 100) for v in fits}


def _calls(code: list[capstone.CsInsn]) -> set[str]:
    """Three calls in a row of one function with a constant first argument (clang): major, minor, patch as text."""
    made: list[tuple[str, int | None]] = []  # target, first argument where it is a constant
    argument: int | None = None
    for one in code:
        if one.mnemonic == "mov" and (m := re.match(r"edi, (0x[0-9a-f]+|\d+)$", one.op_str)):
            argument = int(m[1], 0)
        elif one.mnemonic == "xor" and one.op_str == "edi, edi":
            argument = 0
        elif one.mnemonic == "call":
            made.append((one.op_str, argument))
            argument = None
        elif re.match(r"[er]di, ", one.op_str):
            argument = None
    out = set()
    for first, second, third in zip(made, made[1:], made[2:], strict=False):
        if first[0] == second[0] == third[0] and None not in (first[1], second[1], third[1]):
            numbers = (first[1] or 0, second[1] or 0, third[1] or 0)
            out |= {_version(*numbers), _version(*reversed(numbers))}  # gcc evaluates the last argument first
    return out
