"""JAX's version module: the numbers that its `…_build_version()` functions return, read from the code, never run.

The module registers each function beside its name: the address of the code is taken shortly before that of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import capstone

from tools.harvest.cudnn_code import Section, sections_of

NAMES = ("cuda_runtime", "cudnn", "cublas", "cufft", "cusolver", "cusparse", "cupti")
_NEAR = 16


def build_versions(data: bytes) -> dict[str, int]:
    """Name → the number that it was built with, for x86-64 and AArch64 modules."""
    sections = sections_of(data)
    texts = {_address(sections, m.start()): m[1].decode() for m in re.finditer(rb"(\w+)_build_version\0", data)}
    arm = int.from_bytes(data[18:20], "little") == 183
    out: dict[str, int] = {}
    for code in (s for s in sections if s[3]):
        taken = list((_taken_arm if arm else _taken_x86)(data, code))
        for number, (index, address) in enumerate(taken):
            name = texts.get(address)
            if name not in NAMES:
                continue
            for before, target in reversed(taken[max(0, number - 6) : number]):
                if index - before <= _NEAR and code[1] <= target < code[1] + code[2]:
                    value = _returned(data, code, target, arm)
                    if value is not None and out.setdefault(name, value) != value:
                        return {}
                    break
    return out


def _address(sections: list[Section], place: int) -> int:
    return next((place - s[0] + s[1] for s in sections if s[0] <= place < s[0] + s[2]), -1)


def _machine(arm: bool) -> capstone.Cs:
    kind = (capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM) if arm else (capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    machine = capstone.Cs(*kind)
    machine.skipdata = True
    return machine


def _taken_x86(data: bytes, code: Section) -> Iterator[tuple[int, int]]:
    """(instruction number, address) of each address taken relative to RIP."""
    rows = _machine(False).disasm_lite(data[code[0] : code[0] + code[2]], code[1])
    for index, (address, size, name, text) in enumerate(rows):
        if name == "lea" and (m := re.search(r"\[rip ([+-]) (0x[0-9a-f]+)\]", text)):
            yield index, address + size + int(m[2], 0) * (-1 if m[1] == "-" else 1)


def _taken_arm(data: bytes, code: Section) -> Iterator[tuple[int, int]]:
    pages: dict[str, int] = {}
    rows = _machine(True).disasm_lite(data[code[0] : code[0] + code[2]], code[1])
    for index, (_, _, name, text) in enumerate(rows):
        if name == "adr" and (m := re.match(r"x\d+, #(0x[0-9a-f]+)", text)):
            yield index, int(m[1], 0)
        elif name == "adrp" and (m := re.match(r"(x\d+), #(0x[0-9a-f]+)", text)):
            pages[m[1]] = int(m[2], 0)
        elif name == "add" and (m := re.match(r"(x\d+), (x\d+), #(0x[0-9a-f]+|\d+)$", text)) and m[2] in pages:
            yield index, pages[m[2]] + int(m[3], 0)


def _returned(data: bytes, code: Section, target: int, arm: bool) -> int | None:
    """The first constant that a small function hands on as an integer."""
    place = target - code[1] + code[0]
    value = None
    for _, _, name, text in list(_machine(arm).disasm_lite(data[place : place + 64], target))[:8]:
        if arm and name in ("mov", "movz") and (m := re.match(r"[wx]0, #(0x[0-9a-f]+|\d+)$", text)):
            value = int(m[1], 0)
        elif (
            arm
            and name == "movk"
            and value is not None
            and (m := re.match(r"[wx]0, #(0x[0-9a-f]+|\d+), lsl #16", text))
        ):
            value |= int(m[1], 0) << 16
        elif not arm and name == "mov" and (m := re.match(r"edi, (0x[0-9a-f]+|\d+)$", text)):
            return int(m[1], 0)
    return value
