"""Sources: releases without a wheel whose setup.py imports what a build of its own does not have.

    nice python -m tools.harvest.sources                     # writes knowledge/data/sources.json, for published.json
    nice python -m tools.harvest.sources --more NAMES.txt    # asks for these packages only, and keeps the others

Read, never run: the imports at the top of setup.py against [build-system] requires of pyproject.toml.
"""

from __future__ import annotations

import ast
import io
import json
import re
import sys
import tarfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path

from packaging.utils import InvalidSdistFilename, canonicalize_name, parse_sdist_filename
from packaging.version import InvalidVersion, Version

from gpuwhy.knowledge import published
from tools.harvest.index import IndexFile, address, files
from tools.harvest.web import Web, WebError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

OUT = Path(__file__).resolve().parents[2] / "src/gpuwhy/knowledge/data/sources.json"
LARGEST = 12_000_000
NEWEST = 8
MODULES = {
    "pkg_resources": "setuptools<82", "numpy": "numpy", "torch": "torch", "Cython": "cython", "pybind11": "pybind11",
    "scipy": "scipy", "tensorflow": "tensorflow", "mxnet": "mxnet", "jax": "jax", "cupy": "cupy",
    "requests": "requests",
    "torchvision": "torchvision", "yaml": "pyyaml", "six": "six", "pip": "pip",
}  # fmt: skip
"""Module → the package that brings it; others are left alone."""


def main() -> int:
    """Each package of the table that has releases of sources alone."""
    web, index = Web(), address()
    more = sys.argv[2:] if "--more" in sys.argv else []
    wanted = Path(more[0]).read_text().split() if more else published.names()
    names = [n for n in wanted if any(not r.newest for r in published.releases(n).values())]
    with ThreadPoolExecutor(6) as pool:
        found = {
            name: rows
            for name, rows in zip(names, pool.map(lambda n: _rows(web, index, n), names), strict=True)
            if rows
        }
    found = dict(sorted({**(json.loads(OUT.read_text())["packages"] if more else {}), **found}.items()))
    body = ",\n".join(f"{json.dumps(n)}:{json.dumps(rows, separators=(',', ':'))}" for n, rows in found.items())
    head = f'"schema":"gpuwhy.knowledge.sources/1","asked":"{datetime.now(timezone.utc):%Y-%m-%d}"'
    OUT.write_text(f'{{{head},"packages":{{\n{body}\n}}}}\n')
    print(len(names), "packages asked,", len(found), "with such releases")
    return 0


def _rows(web: Web, index: str, name: str) -> list[list[object]]:
    """[modules, whether it has a pyproject.toml, releases], neighbours of a kind together."""
    alone = sorted(v for v, r in published.releases(name).items() if not r.newest and not v.is_prerelease)[-NEWEST:]
    try:
        listed = {v: f for f in files(web, index, name) or [] if (v := _version(f.name)) in alone}
        out: list[list[object]] = []
        for version in (v for v in alone if v in listed):
            missing, told = _read(web, listed[version], name)
            if missing and out and out[-1][:2] == [missing, told]:
                out[-1][2] = f"{out[-1][2]} {version}"
            elif missing:
                out.append([missing, told, str(version)])
        return out
    except (WebError, tarfile.TarError, zipfile.BadZipFile, OSError, EOFError, ValueError) as error:
        print(name, repr(error)[:100], file=sys.stderr)
        return []


def _version(name: str) -> Version | None:
    try:
        return parse_sdist_filename(name)[1] if name.endswith((".tar.gz", ".zip")) else None
    except (InvalidSdistFilename, InvalidVersion):
        return None


def _read(web: Web, one: IndexFile, name: str) -> tuple[list[str], bool]:
    got = web.page(one.url)
    if got is None or len(got[1]) > LARGEST:
        return [], False
    members = _members(one.name, got[1])
    setup, project = members.get("setup.py"), members.get("pyproject.toml")
    needs = _needs(project) if project is not None else {"setuptools"}
    imports = _imports(setup) if setup else []
    own = canonicalize_name(name)
    missing = [m for m in imports if m in MODULES and not _brought(MODULES[m], needs) and MODULES[m] != own]
    return sorted(set(missing)), project is not None


def _brought(package: str, needs: set[str]) -> bool:
    """pkg_resources comes with a setuptools that is held back."""
    if package.startswith("setuptools"):
        return any(re.match(r"setuptools\s*(==|<|~=)", need) or "setuptools<" in need for need in needs)
    return any(canonicalize_name(re.split(r"[\s<>=!~;\[]", need)[0]) == package for need in needs)


def _members(name: str, data: bytes) -> dict[str, str]:
    """setup.py and pyproject.toml of the archive's top folder."""
    out: dict[str, str] = {}
    if name.endswith(".zip"):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            for member in archive.namelist():
                if re.fullmatch(r"[^/]+/(setup\.py|pyproject\.toml)", member):
                    out[member.split("/")[1]] = archive.read(member).decode("utf-8", "replace")
        return out
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        for entry in tar:
            if re.fullmatch(r"(\./)?[^/]+/(setup\.py|pyproject\.toml)", entry.name) and (
                file := tar.extractfile(entry)
            ):
                out[entry.name.rsplit("/", 1)[1]] = file.read().decode("utf-8", "replace")
    return out


def _needs(text: str) -> set[str]:
    try:
        wanted = tomllib.loads(text).get("build-system", {}).get("requires", ["setuptools"])
    except (tomllib.TOMLDecodeError, AttributeError):
        return {"setuptools"}
    named = {one.replace(" ", "") for one in wanted if isinstance(one, str)}
    return {re.sub(r"^oldest-supported-numpy\b", "numpy", one) for one in named}  # a package that only brings NumPy


def _imports(text: str) -> list[str]:
    """What the lines of the module itself import: not in functions, not in a try."""
    try:
        body = ast.parse(text).body
    except (SyntaxError, ValueError):
        return []
    out: list[str] = []
    for node in body:
        if isinstance(node, ast.Import):
            out += [alias.name.split(".")[0] for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            out.append(node.module.split(".")[0])
    return out


if __name__ == "__main__":
    raise SystemExit(main())
