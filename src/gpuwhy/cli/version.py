"""`gpuwhy --version --verbose`: what a report of a bug of ours should say."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib import metadata, resources

from gpuwhy._version import __version__
from gpuwhy.cli import HEALTHY
from gpuwhy.cli.output import shareable
from gpuwhy.cli.terminal import write

ASKED = (["--version", "--verbose"], ["--version", "-v"], ["-V", "-v"], ["-V", "--verbose"], ["-Vv"])
NEEDED = ("ahocorasick_rs", "msgspec", "nvidia-ml-py", "packaging", "pyyaml")
EXTRAS = {"ray": "ray"}


def go() -> int:
    """Print it."""
    rows = "".join(f"  {name:<10} {text}\n" for name, text in _rows())
    write(f"gpuwhy {__version__}\n{shareable(rows)}")
    return HEALTHY


def _rows() -> Iterator[tuple[str, str]]:
    yield "python", f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}"
    yield "system", f"{platform.system()} {platform.machine()}, {' '.join(filter(None, platform.libc_ver()))}"
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    yield "installed", f"{folder} ({_kind(folder)})"
    yield "knowledge", _knowledge()
    yield "contracts", ", ".join(sorted(_contracts()))
    yield "needs", ", ".join(f"{name} {_version(name)}" for name in NEEDED)
    yield "extras", ", ".join(f"{extra} ({name} {_version(name)})" for extra, name in EXTRAS.items())


def _kind(folder: str) -> str:
    """How it came here."""
    if os.path.isfile(os.path.join(os.path.dirname(folder), ".pyz")):
        return "gpuwhy.pyz, unpacked"
    packed = os.path.isfile(os.path.join(folder, "knowledge", "data", "status_codes.json.gz"))
    return "a wheel" if packed else "a checkout"


def _knowledge() -> str:
    from gpuwhy.knowledge import releases

    headers = releases.headers()
    rows = sum(one.rows for one in headers)
    newest = max((one.newest for one in headers), default="")
    return f"{rows:,} rows of {len(releases.projects())} projects, from files published up to {newest}"


def _contracts() -> Iterator[str]:
    for file in resources.files("gpuwhy.schemas").iterdir():
        if file.name.endswith(".schema.json"):
            yield f"gpuwhy.{file.name.removesuffix('.schema.json')}/1"


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
