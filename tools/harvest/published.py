"""Published: every name of the package index, and the releases of the packages that people list beside the frameworks.

    python -m tools.harvest.published NAMES.txt          # writes knowledge/data/names.bin and published.json
    python -m tools.harvest.published NAMES.txt --more   # only asks for what published.json has not yet
    python -m tools.harvest.published NAMES.txt --anew   # asks for all of published.json and these, not for the names

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
from tools.harvest.index import IndexFile, address, files
from tools.harvest.web import Web, WebError

DATA = Path(__file__).resolve().parents[2] / "src/gpuwhy/knowledge/data"
BITS_EACH = 6
THREADS = 12
NOT_HERE = -1
ANY = 99
"""A wheel for every Python."""
MANY = 1500
"""A package with more releases makes a new one every day; its numbers are no news."""


def main() -> int:
    """Ask for the list of names, then for each package of the file."""
    web, index = Web(THREADS), address()
    wanted = {*Path(sys.argv[1]).read_text().split()}
    held: dict[str, list[list[str]]] = json.loads((DATA / "published.json").read_text())["packages"]
    rows = held if "--more" in sys.argv else {}
    if "--anew" in sys.argv:
        wanted |= {*held}
    elif "--more" not in sys.argv:
        got = web.page(index, "text/html")
        names = re.findall(r'<a href="([^"/]+)/"', got[1].decode()) if got else []
        (DATA / "names.bin").write_bytes(filter_of(names))
        wanted &= {*names}
        print(len(names), "names")
    asked = sorted(wanted - {*rows})
    with ThreadPoolExecutor(THREADS) as pool:
        listed = pool.map(lambda name: _listed(web, index, name), asked)
        rows |= {name: found for name, one in zip(asked, listed, strict=True) if (found := releases(name, one))}
    save(rows)
    return 0


def _listed(web: Web, index: str, name: str) -> list[IndexFile]:
    try:
        return files(web, index, name) or []
    except WebError as error:
        print(name, error, file=sys.stderr, flush=True)
        return []


def save(rows: dict[str, list[list[str]]]) -> None:
    """The table, one package a line."""
    packed = ((name, json.dumps(rows[name], separators=(",", ":"))) for name in sorted(rows))
    body = ",\n".join(f"{json.dumps(name)}:{found}" for name, found in packed)
    head = f'"schema":"gpuwhy.knowledge.published/1","asked":"{datetime.now(timezone.utc):%Y-%m-%d}"'
    (DATA / "published.json").write_text(f'{{{head},"packages":{{\n{body}\n}}}}\n')
    print(len(rows), "packages")


def filter_of(names: Iterable[str]) -> bytes:
    """The filter's bits, eight in a byte."""
    known = list(names)
    out = bytearray(len(known) * BITS_EACH // 8)
    for name in known:
        for bit in bits(name, len(out) * 8):
            out[bit >> 3] |= 1 << (bit & 7)
    return bytes(out)


def releases(project: str, listed: list[IndexFile]) -> list[list[str]]:
    """[what it demands of Python, the newest Python of its wheels for Linux, releases], neighbours together.

    The newest Python has a ! behind it where there are no sources to build for another one.
    """
    python: dict[Version, str] = {}
    newest: dict[Version, int] = {}
    sources: set[Version] = set()
    for one in listed:
        for version, minor in wheels(one.name) or _other(project, one.name):
            python.setdefault(version, one.python.replace(" ", ""))
            newest[version] = max(newest.get(version, NOT_HERE), minor)
            sources |= {version} if not one.name.endswith(".whl") else set()
    rows: list[list[str]] = []
    for version in sorted(newest) if len(newest) <= MANY else ():
        alone = "!" if 0 < newest[version] < ANY and version not in sources else ""
        key = [python[version], _shown(newest[version]) + alone]
        if not rows or rows[-1][:2] != key:
            rows.append([*key, ""])
        rows[-1][2] = f"{rows[-1][2]} {version}".strip()
    return rows


def _other(project: str, name: str) -> list[tuple[Version, int]]:
    """A source archive, or a wheel for another system; `a-1.2-3.tar.gz` is 1.2.post3 of a."""
    try:
        if name.endswith(".whl"):
            return [(parse_wheel_filename(name)[1], NOT_HERE)]
        stem, version = parse_sdist_filename(name)
        behind = re.sub(r"\.(tar\.gz|zip)$", "", name)[len(project) + 1 :]
        return [(version if stem == project else Version(behind), 0)]
    except (InvalidSdistFilename, InvalidWheelFilename, InvalidVersion):
        return []


def _shown(minor: int) -> str:
    """'' for sources alone, 'any' for every Python, 'other' for wheels of other systems alone."""
    return {ANY: "any", NOT_HERE: "other", 0: ""}.get(minor, f"3.{minor}")


def wheels(name: str) -> list[tuple[Version, int]]:
    """The release and the Python of a wheel for Linux; 99 for every Python."""
    try:
        _, version, _, tags = parse_wheel_filename(name)
    except InvalidWheelFilename:
        return []
    return [(version, _minor(tag.interpreter, tag.abi)) for tag in tags if _is_for_linux(tag.platform)]


def _is_for_linux(platform: str) -> bool:
    return platform == "any" or ("linux" in platform and "x86_64" in platform)


def _minor(interpreter: str, abi: str) -> int:
    found = re.fullmatch(r"cp3(\d+)", interpreter)
    if abi == "abi3" or interpreter.startswith("py3"):
        return ANY
    return int(found[1]) if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
