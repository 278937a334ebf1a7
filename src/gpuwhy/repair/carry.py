"""Carry: a distribution that no index has (any more) goes over to the copy as its files, as its RECORD lists them."""

from __future__ import annotations

import csv
import os
import shutil
from collections.abc import Iterator

from gpuwhy.model.facts import Distribution
from gpuwhy.repair.child import FailedError

_SCRIPT = 1 << 20  # bytes; larger files are no scripts


def carry(one: Distribution, old: str, new: str) -> int:
    """Copy its files from one environment to another; how many. Raises FailedError where its list is not there."""
    site = os.path.dirname(one.location)
    count = 0
    for name in _listed(one):
        source = os.path.normpath(os.path.join(site, name))
        if not source.startswith(old + "/") or "__pycache__" in source or not os.path.isfile(source):
            continue
        target = new + source[len(old) :]
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
        _own_python(target, old, new)
        count += 1
    return count


def _listed(one: Distribution) -> Iterator[str]:
    try:
        with open(f"{one.location}/RECORD", encoding="utf-8", errors="surrogateescape", newline="") as file:
            rows = [row[0] for row in csv.reader(file) if row]
    except (OSError, csv.Error) as error:
        raise FailedError(f"{one.name} {one.version} is on no index, and its list of files cannot be read") from error
    yield from (name for name in rows if not os.path.isabs(name))


def _own_python(path: str, old: str, new: str) -> None:
    """A script begins with the path of its Python."""
    if os.path.basename(os.path.dirname(path)) != "bin" or os.path.islink(path) or os.path.getsize(path) > _SCRIPT:
        return
    with open(path, "rb") as file:
        first, rest = file.readline(), file.read()
    if first.startswith(b"#!" + os.fsencode(old) + b"/"):
        with open(path, "wb") as file:
            file.write(first.replace(os.fsencode(old), os.fsencode(new), 1) + rest)
