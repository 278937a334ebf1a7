"""`gpuwhy --version --verbose`: what a report of a bug of ours should say."""

from __future__ import annotations

import os
import platform
import sys
from importlib import metadata

from gpuwhy._version import __version__
from gpuwhy.cli import HEALTHY, UsageError
from gpuwhy.cli.output import shareable
from gpuwhy.cli.terminal import write
from gpuwhy.knowledge import releases

NEEDED = ("ahocorasick_rs", "msgspec", "nvidia-ml-py", "packaging", "pyyaml")
CONTRACTS = (
    *("cause", "code", "fit", "fix", "fleet", "inspect", "lint", "node", "plan", "proof", "ranks"),
    *("releases", "report"),
)
"""The JSON contracts, by the names of docs/NAME.schema.json."""
EXTRAS = {"ray": "ray"}


def go(argv: list[str]) -> int:
    """Print it."""
    if not set(argv) <= {"--version", "-V", "-Vv", "-v", "--verbose"}:
        raise UsageError(f"--version takes no {argv[-1]!r}; see gpuwhy --help")
    rows = {
        "python": f"{platform.python_implementation()} {platform.python_version()}"
        f", {sys.executable}",
        "system": f"{platform.system()} {platform.machine()}, {' '.join(platform.libc_ver())}",
        "installed": _installed(),
        "knowledge": _knowledge(),
        "contracts": ", ".join(f"gpuwhy.{name}/1" for name in CONTRACTS),
        "needs": ", ".join(f"{name} {_version(name)}" for name in NEEDED),
        "extras": ", ".join(f"{one} ({name} {_version(name)})" for one, name in EXTRAS.items()),
    }
    shown = "".join(f"  {name:<10} {text}\n" for name, text in rows.items())
    write(f"gpuwhy {__version__}\n{shareable(shown) if argv[1:] or argv == ['-Vv'] else ''}")
    return HEALTHY


def _installed() -> str:
    """Where it is, and how it came here."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if os.path.isfile(os.path.join(os.path.dirname(folder), ".pyz")):
        return f"{folder} (gpuwhy.pyz, unpacked)"
    packed = os.path.isfile(os.path.join(folder, "knowledge", "data", "status_codes.json.gz"))
    return f"{folder} ({'a wheel' if packed else 'a checkout'})"


def _knowledge() -> str:
    headers = releases.headers()
    rows, newest = sum(one.rows for one in headers), max(one.newest for one in headers)
    count = len(releases.projects())
    return f"{rows:,} rows of {count} projects, from files published up to {newest}"


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
