"""Published: the releases of the GPU stack's packages, and which slips of their names are projects.

    python -m tools.harvest.published          # asks for all of published.json, and for the list of names
    python -m tools.harvest.published NAME …   # asks for these, not for the list
"""

from __future__ import annotations

import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path

from packaging.utils import InvalidSdistFilename, InvalidWheelFilename, parse_sdist_filename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from gpuwhy.knowledge.published import SHORTEST, slips
from tools.harvest.index import IndexFile, address, files
from tools.harvest.web import Web, WebError

OUT = Path(__file__).resolve().parents[2] / "src/gpuwhy/knowledge/data/published.json"
THREADS = 12
MANY = 1500
"""A package with more releases makes a new one every day; its numbers are no news."""


def main(named: list[str]) -> int:
    """Ask for each package, and for the list of names where none is given."""
    web, index, table = Web(THREADS), address(), json.loads(OUT.read_text())
    held: dict[str, str] = table["packages"]
    asked = named or sorted(held)
    with ThreadPoolExecutor(THREADS) as pool:
        listed = pool.map(lambda name: _listed(web, index, name), asked)
        held |= {name: found for name, one in zip(asked, listed, strict=True) if (found := releases(name, one))}
    if not named:
        got = web.page(index, "text/html")
        every = {*re.findall(r'<a href="([^"/]+)/"', got[1].decode())} if got else set()
        wrong = {slip for name in held if len(name) >= SHORTEST for slip in slips(name)} - {*held}
        table["taken"] = " ".join(sorted(wrong & every)) or table["taken"]
    save(held, table["taken"])
    return 0


def _listed(web: Web, index: str, name: str) -> list[IndexFile]:
    try:
        return files(web, index, name) or []
    except WebError as error:
        print(name, error, file=sys.stderr, flush=True)
        return []


def save(held: dict[str, str], taken: str) -> None:
    """The table, one package a line."""
    body = ",\n".join(f"{json.dumps(name)}:{json.dumps(held[name])}" for name in sorted(held))
    head = f'"schema":"gpuwhy.knowledge.published/2","asked":"{datetime.now(timezone.utc):%Y-%m-%d}"'
    OUT.write_text(f'{{{head},"taken":{json.dumps(taken)},"packages":{{\n{body}\n}}}}\n')
    print(len(held), "packages")


def releases(project: str, listed: list[IndexFile]) -> str:
    """The releases of a project, oldest first."""
    found = {version for one in listed if (version := _version(project, one.name))}
    return " ".join(map(str, sorted(found))) if len(found) <= MANY else ""


def _version(project: str, name: str) -> Version | None:
    """The release of a file; `a-1.2-3.tar.gz` is 1.2.post3 of a."""
    try:
        if name.endswith(".whl"):
            return parse_wheel_filename(name)[1]
        stem, version = parse_sdist_filename(name)
        behind = re.sub(r"\.(tar\.gz|zip)$", "", name)[len(project) + 1 :]
        return version if stem == project else Version(behind)
    except (InvalidSdistFilename, InvalidWheelFilename, InvalidVersion):
        return None


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
