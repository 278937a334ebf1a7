"""Published: every name of the package index, and the releases of the packages that people list beside the frameworks.

    python -m tools.harvest.published NAMES.txt   # writes knowledge/data/names.bin and published.json

names.bin is a filter of bits: a name that it does not hold is not on the index; one in twenty of those passes.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from gpuwhy.knowledge.published import bits
from tools.harvest.compiled import ANY, wheels
from tools.harvest.index import IndexFile, address, files
from tools.harvest.web import Web

DATA = Path(__file__).resolve().parents[2] / "src/gpuwhy/knowledge/data"
BITS_EACH = 6
NOT_HERE = -1
MANY = 500
"""A package with more releases makes a new one every day; its numbers are no news."""


def main() -> int:
    """Ask for the list of names, then for each package of the file."""
    web, index = Web(), address()
    got = web.page(index, "text/html")
    names = re.findall(r'<a href="([^"/]+)/"', got[1].decode()) if got else []
    (DATA / "names.bin").write_bytes(filter_of(names))
    asked = sorted({*Path(sys.argv[1]).read_text().split()} & {*names})
    with ThreadPoolExecutor(8) as pool:
        listed = pool.map(lambda name: files(web, index, name) or [], asked)
        rows = {name: found for name, one in zip(asked, listed, strict=True) if (found := releases(one))}
    body = ",\n".join(f"{json.dumps(n)}:{json.dumps(found, separators=(',', ':'))}" for n, found in rows.items())
    head = f'"schema":"gpuwhy.knowledge.published/1","asked":"{datetime.now(timezone.utc):%Y-%m-%d}"'
    (DATA / "published.json").write_text(f'{{{head},"packages":{{\n{body}\n}}}}\n')
    print(len(names), "names,", len(rows), "packages")
    return 0


def filter_of(names: Iterable[str]) -> bytes:
    """The filter's bits, eight in a byte."""
    known = list(names)
    out = bytearray(len(known) * BITS_EACH // 8)
    for name in known:
        for bit in bits(name, len(out) * 8):
            out[bit >> 3] |= 1 << (bit & 7)
    return bytes(out)


def releases(listed: list[IndexFile]) -> list[list[str]]:
    """[what it demands of Python, the newest Python of its wheels for Linux, releases], neighbours together."""
    python: dict[Version, str] = {}
    newest: dict[Version, int] = {}
    for one in listed:
        for version, minor in wheels(one.name) or _other(one.name):
            python.setdefault(version, one.python.replace(" ", ""))
            newest[version] = max(newest.get(version, NOT_HERE), minor)
    rows: list[list[str]] = []
    for version in sorted(newest) if len(newest) <= MANY else ():
        key = [python[version], _shown(newest[version])]
        if not rows or rows[-1][:2] != key:
            rows.append([*key, ""])
        rows[-1][2] = f"{rows[-1][2]} {version}".strip()
    return rows


def _other(name: str) -> list[tuple[Version, int]]:
    """A source archive, or a wheel for another system."""
    try:
        if name.endswith(".whl"):
            return [(parse_wheel_filename(name)[1], NOT_HERE)]
        return [(parse_sdist_filename(name)[1], 0)]
    except (InvalidSdistFilename, InvalidWheelFilename, InvalidVersion):
        return []


def _shown(minor: int) -> str:
    """'' for sources alone, 'any' for every Python, 'other' for wheels of other systems alone."""
    return {ANY: "any", NOT_HERE: "other", 0: ""}.get(minor, f"3.{minor}")


if __name__ == "__main__":
    raise SystemExit(main())
