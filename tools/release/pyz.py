"""Make gpuwhy.pyz: one file that runs on Python 3.10 to 3.14 without installing anything.

    python -m tools.release.pyz WHEEL OUT.pyz [--wheels FOLDER] [--platform linux-x86_64 …]

Holds gpuwhy and its dependencies; of those with compiled parts (msgspec) one copy for each Python and platform, which
pip downloads into FOLDER. PyYAML goes along without its compiled part. The same wheels give the same bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

PYTHONS = ("3.10", "3.11", "3.12", "3.13", "3.14")
PLATFORMS = {
    "linux-x86_64": "manylinux2014_x86_64",
    "linux-aarch64": "manylinux2014_aarch64",
    "macosx-arm64": "macosx_11_0_arm64",
    "win-amd64": "win_amd64",
}
"""As the interpreter calls a platform, and as pip does."""
PURE = ("nvidia-ml-py", "packaging", "tomli")
COMPILED = ("msgspec",)
SHEDS = ("pyyaml",)
"""Works without its compiled part, only slower."""
START = Path(__file__).parent / "start.py"
DATE = (2020, 1, 1, 0, 0, 0)


def main(argv: list[str]) -> int:
    """Download, pack, say what was made."""
    parser = argparse.ArgumentParser(description="Make gpuwhy.pyz.")
    parser.add_argument("wheel", type=Path, help="gpuwhy's own wheel")
    parser.add_argument("out", type=Path)
    parser.add_argument("--wheels", type=Path, default=Path("build/pyz-wheels"), help="where downloads are kept")
    parser.add_argument("--platform", action="append", choices=PLATFORMS, help="only these (default: all)")
    parser.add_argument("--python", action="append", choices=PYTHONS, help="only these (default: all)")
    options = parser.parse_args(argv)
    members = dict(_members(options))
    data = packed(members)
    options.out.write_bytes(data)
    options.out.chmod(0o755)
    digest = hashlib.sha256(data).hexdigest()
    print(f"{options.out}: {len(data):,} bytes, {len(members)} files, sha256 {digest}")
    return 0


def _members(options: argparse.Namespace) -> Iterator[tuple[str, bytes]]:
    """Every file that goes in, by its name in the archive."""
    first = (options.platform or list(PLATFORMS))[0]
    yield from _of(options.wheel, "common")
    for name in PURE:
        yield from _of(_download(name, options.wheels, PYTHONS[0], "any"), "common")
    for name in SHEDS:
        wheel = _download(name, options.wheels, PYTHONS[0], PLATFORMS[first])
        yield from ((path, data) for path, data in _of(wheel, "common") if not _compiled(path))
    for python in options.python or PYTHONS:
        for platform in options.platform or PLATFORMS:
            tag = f"cp{python.replace('.', '')}-{platform}"
            for name in COMPILED:
                yield from _of(_download(name, options.wheels, python, PLATFORMS[platform]), f"native/{tag}")


def _of(wheel: Path, prefix: str) -> Iterator[tuple[str, bytes]]:
    """A wheel's modules and its metadata; no tests, no caches."""
    with zipfile.ZipFile(wheel) as file:
        for name in file.namelist():
            if not name.endswith("/") and ".data/" not in name:
                yield f"{prefix}/{name}", file.read(name)


def _compiled(path: str) -> bool:
    return path.endswith((".so", ".pyd", ".dylib"))


def _download(name: str, folder: Path, python: str, platform: str) -> Path:
    """The newest wheel of a project for a Python and a platform, by pip."""
    folder.mkdir(parents=True, exist_ok=True)
    where = folder / f"{name}-{python}-{platform}"
    if not list(where.glob("*.whl")):
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "-d", str(where)]
        narrow = [f"--platform={platform}", f"--python-version={python}", "--implementation=cp"]
        subprocess.run([*command, *(narrow if platform != "any" else ["--platform=any"]), name], check=True)
    (wheel,) = where.glob("*.whl")
    return wheel


def packed(members: dict[str, bytes]) -> bytes:
    """The archive with its first line and its start; the same members give the same bytes."""
    import io

    stamp = hashlib.sha256()
    for name in sorted(members):
        stamp.update(name.encode() + b"\0" + hashlib.sha256(members[name]).digest())
    start = START.read_text(encoding="utf-8").replace("@STAMP@", stamp.hexdigest()[:16])
    out = io.BytesIO(b"#!/usr/bin/env python3\n")
    out.seek(0, io.SEEK_END)
    with zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name, data in [("__main__.py", start.encode()), *sorted(members.items())]:
            one = zipfile.ZipInfo(name, DATE)
            one.external_attr, one.compress_type, one.create_system = 0o644 << 16, zipfile.ZIP_DEFLATED, 3
            file.writestr(one, data)
    return out.getvalue()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
