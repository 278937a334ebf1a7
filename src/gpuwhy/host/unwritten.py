"""Unwritten: of the files that a RECORD lists, those that are not on the disk, or have nothing in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

MOST = 40
"""Names that are told; a package that was taken away has thousands."""


def unwritten(record: bytes, ending: str, path: str, size: Callable[[str], int]) -> tuple[str, ...]:
    """Their paths below the folder that RECORD's own lies in; what was compiled and left without source is there."""
    site, out = path.rsplit("/", 2)[0], list[str]()
    for name in _listed(record, ending):
        whole = f"{site}/{name}"
        if not _is(size, whole) and not (ending == ".py" and _is(size, f"{whole}c")):
            out.append(name)
            if len(out) >= MOST:
                break
    return tuple(out)


def _listed(record: bytes, ending: str) -> Iterator[str]:
    """The files that should hold something, inside the folder."""
    mark = f"{ending},".encode()
    for line in record.split(b"\n"):
        if mark not in line:
            continue
        name, _, size = [*line.decode("utf-8", "surrogateescape").rstrip("\r").rsplit(",", 2), "", ""][:3]
        if name.endswith(ending) and size.isdecimal() and int(size[:12]) and not name.startswith(("/", "..", '"')):
            yield name


def _is(size: Callable[[str], int], path: str) -> bool:
    try:
        return size(path) > 0
    except OSError:
        return False
