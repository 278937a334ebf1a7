"""Unwritten: of the files that a RECORD lists, those that are not on the disk, or have nothing in them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

MOST = 40
"""Names that are told; a package that was taken away has thousands."""
_OTHERWISE = re.compile(r"\.(pyc?|so(\.\d+)*|dll|pyd|dylib)$")
"""Modules and libraries, which are asked for by their ending or looked at one by one."""
_SPARED = re.compile(
    r"\.(pyi|pyx|pxd|pxi|c|cc|cpp|f|f90|a|lib|la|pc|cmake|md|rst|txt|html|ipynb|map|exe|typed|in|toml|1)$"
    r"|(^|/)[^/.]*$|(^|/)(LICEN[CS]E|NOTICE|README|COPYING|AUTHORS|CHANGE)[^/]*$|\.(dist|egg)-info/|\.data/",
    re.IGNORECASE,
)
"""What people take out of environments to make them small, and nothing opens."""
_HEADER = re.compile(r"\.(h|hh|hpp|cuh|inl)$")


def unwritten(record: bytes, ending: str, path: str, size: Callable[[str], int]) -> tuple[str, ...]:
    """Their paths below the folder that RECORD's own lies in; what was compiled and left without source is there."""
    if not ending:
        return tuple(_others(record, path, size))[:MOST]
    site, out = path.rsplit("/", 2)[0], list[str]()
    for name in _listed(record, ending):
        whole = f"{site}/{name}"
        if not _is(size, whole) and not (ending == ".py" and _is(size, f"{whole}c")):
            out.append(name)
            if len(out) >= MOST:
                break
    return tuple(out)


def _others(record: bytes, path: str, size: Callable[[str], int]) -> Iterator[str]:
    """Data that a package opens, and NVIDIA's headers; a folder that lost all of one kind was made small on purpose."""
    site, kinds = path.rsplit("/", 2)[0], dict[tuple[str, str], list[str]]()
    for name in _listed(record, ""):
        if not _OTHERWISE.search(name) and not _SPARED.search(name) and not _is_spared_header(name):
            folder, _, file = name.rpartition("/")
            kinds.setdefault((folder, file.rpartition(".")[2]), []).append(name)
    for (folder, _), names in kinds.items():
        gone = [name for name in names if not _is(size, f"{site}/{name}")]
        if gone and (len(gone) < len(names) or (len(names) == 1 and _is_kept(size, f"{site}/{folder}"))):
            yield from gone


def _is_spared_header(name: str) -> bool:
    """Of others than NVIDIA they are for those who compile against a package."""
    return bool(_HEADER.search(name)) and not name.startswith("nvidia/")


def _is_kept(size: Callable[[str], int], folder: str) -> bool:
    """Whether the package that has only one file of a kind is there itself."""
    return any(_is(size, f"{folder}/__init__.{end}") for end in ("py", "pyc"))


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
