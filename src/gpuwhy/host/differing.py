"""Differing: of the modules and data that a RECORD lists, those that are there and are not what was installed.

Whatever their time is: a write that was cut short, a disk that lost a page and a patch leave no other trace. Libraries
are left to `altered`, which reads more of them than a hash; large files to --verify.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.host.altered import Reader, Row, digest

MOST, MOST_FILES, MOST_BYTES, LARGE = 60, 12000, 192 << 20, 2 << 20
_LEFT = re.compile(r"\.(so(\.\d+)*|dll|pyd|dylib|pyc|a|exe)$|(^|/)__pycache__/|\.(dist|egg)-info/")
"""Libraries, and what is written again by others than installers."""


def differing(record: bytes, path: str, reader: Reader) -> tuple[str, ...]:
    """'size:INSTALLED name' or 'bytes name' of each; what is gone, empty or cannot be read is not among them."""
    site, out, room = path.rsplit("/", 2)[0], list[str](), MOST_BYTES
    for count, row in enumerate(_rows(record)):
        room -= row.size
        if count >= MOST_FILES or room < 0 or len(out) >= MOST:
            break
        how = _how(reader, f"{site}/{row.name}", row)
        if how:
            out.append(f"{how} {row.name}")
    return tuple(out)


def _rows(record: bytes) -> Iterator[Row]:
    """The files with their hash and size, inside the folder."""
    for line in record.split(b"\n"):
        parts = line.decode("utf-8", "surrogateescape").rstrip("\r").rsplit(",", 2)
        if len(parts) != 3 or not parts[1].startswith("sha256=") or not parts[2].isdecimal():
            continue
        size = int(parts[2][:18])
        if size <= LARGE and not _LEFT.search(parts[0]) and not parts[0].startswith(("/", "..", '"')):
            yield Row(parts[0], parts[1].removeprefix("sha256=").rstrip("="), size)


def _how(reader: Reader, path: str, row: Row) -> str:
    try:
        whole = reader.place(path)
        stat = reader.stat(whole)
        if stat.kind != "file" or not stat.size or not reader.readable(whole):
            return ""
        if stat.size != row.size:
            return f"size:{row.size}"
        return "" if digest(reader.parts(whole)) == row.digest else "bytes"
    except OSError:
        return ""
