"""Registry hives for tests, written cell by cell."""

import struct
from typing import Any

Tree = dict[str, Any]  # a subkey (a dict), or a value: a text, a number, (text,) for one that expands


class _Cells:
    def __init__(self) -> None:
        self.data = bytearray(b"hbin" + bytes(28))

    def add(self, content: bytes) -> int:
        place, size = len(self.data), (len(content) + 4 + 7) // 8 * 8
        self.data += struct.pack("<i", -size) + content + bytes(size - 4 - len(content))
        return place


def hive(tree: Tree, kind: bytes = b"lh", wide: bool = False) -> bytes:
    """The bytes of a hive with these keys and values."""
    cells = _Cells()
    root = _key(cells, "ROOT", tree, kind, wide)
    head = b"regf" + bytes(0x20) + struct.pack("<II", root, len(cells.data))
    return head.ljust(0x1000, b"\0") + bytes(cells.data)


def _named(name: str, wide: bool) -> tuple[bytes, int]:
    return (name.encode("utf-16-le"), 0) if wide else (name.encode("latin-1"), 1)


def _key(cells: _Cells, name: str, tree: Tree, kind: bytes, wide: bool) -> int:
    below, values = [], []
    for title, one in tree.items():
        if isinstance(one, dict):
            below.append(_key(cells, title, one, kind, wide))
        else:
            values.append(_value(cells, title, one, wide))
    listed = _listed(cells, below, kind) if below else 0xFFFFFFFF
    lines = cells.add(struct.pack(f"<{len(values)}I", *values)) if values else 0xFFFFFFFF
    title, short = _named(name, wide)
    node = bytearray(0x4C)
    node[:2] = b"nk"
    struct.pack_into("<H", node, 2, 0x20 if short else 0)
    struct.pack_into("<I", node, 0x14, len(below))
    struct.pack_into("<I", node, 0x1C, listed)
    struct.pack_into("<II", node, 0x24, len(values), lines)
    struct.pack_into("<H", node, 0x48, len(title))
    return cells.add(bytes(node) + title)


def _listed(cells: _Cells, below: list[int], kind: bytes) -> int:
    if kind == b"ri":
        parts = [_listed(cells, [one], b"li") for one in below]
        return cells.add(b"ri" + struct.pack(f"<H{len(parts)}I", len(parts), *parts))
    gap = bytes(4) if kind in (b"lf", b"lh") else b""
    step = b"".join(struct.pack("<I", one) + gap for one in below)
    return cells.add(kind + struct.pack("<H", len(below)) + step)


def _value(cells: _Cells, name: str, value: Any, wide: bool) -> int:
    title, short = _named(name, wide)
    if isinstance(value, int):
        row = (0x80000004, value, 4)
    else:
        kind, text = (2, value[0]) if isinstance(value, tuple) else (1, value)
        data = (text + "\0").encode("utf-16-le")
        row = (len(data), _data(cells, data), kind)
    return cells.add(b"vk" + struct.pack("<HIIIHH", len(title), *row, short, 0) + title)


def _data(cells: _Cells, data: bytes) -> int:
    if len(data) <= 16344:
        return cells.add(data)
    parts = [cells.add(data[at : at + 16344]) for at in range(0, len(data), 16344)]
    listed = cells.add(struct.pack(f"<{len(parts)}I", *parts))
    return cells.add(b"db" + struct.pack("<HI", len(parts), listed))
