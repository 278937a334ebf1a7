"""A real conda prefix without a channel: packages made of a Python and of wheels, solved and installed by rattler.

`uv run --no-project --with py-rattler prefix.py HOME TARGET NAME==VERSION…`: HOME is the CPython that becomes conda's
package `python`. Nothing of the tests is imported: this runs in an environment of its own.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

LEFT = ("site-packages", "test", "config-", "__pycache__", "idlelib", "tkinter")


def python(home: Path) -> Iterator[tuple[str, Path]]:
    """The files of a Python, without its packages and tests, by their places in a prefix."""
    for path in sorted([*home.glob("bin/python*"), *home.glob("lib/**/*")]):
        place = path.relative_to(home)
        if not any(part.startswith(LEFT) for part in place.parts) and path.suffix not in (".a", ".pyc"):
            yield str(place), path


def wheel(home: Path, wanted: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """The files of a wheel, as conda's package of it has them."""
    install = ["uv", "pip", "install", "-q", "--no-deps", "--python", str(home / "bin/python3"), "--target"]
    subprocess.run([*install, str(folder), wanted], check=True)
    site = f"{next((home / 'lib').glob('python3*')).relative_to(home)}/site-packages"
    for path in sorted(folder.glob("**/*")):
        if path.name == "INSTALLER":
            path.unlink()
            path.write_text("conda\n")
        yield f"{site}/{path.relative_to(folder)}", path


def pack(channel: Path, name: str, version: str, files: Iterator[tuple[str, Path]], depends: list[str]) -> None:
    """One package of the channel."""
    listed = []
    file = channel / "linux-64" / f"{name}-{version}-0.tar.bz2"
    with tarfile.open(file, "w:bz2", compresslevel=1) as tar:
        for place, path in files:
            if path.is_dir() and not path.is_symlink():
                continue
            tar.add(path, place, recursive=False)
            data = b"" if path.is_symlink() else path.read_bytes()
            kind = "softlink" if path.is_symlink() else "hardlink"
            digest = hashlib.sha256(data).hexdigest()
            listed.append({"_path": place, "path_type": kind, "sha256": digest, "size_in_bytes": len(data)})
        about = {"name": name, "version": version, "build": "0", "build_number": 0, "depends": depends}
        _text(tar, "info/index.json", {**about, "subdir": "linux-64", "arch": "x86_64", "platform": "linux"})
        _text(tar, "info/paths.json", {"paths": listed, "paths_version": 1})


def _text(tar: tarfile.TarFile, name: str, value: object) -> None:
    data = json.dumps(value).encode()
    member = tarfile.TarInfo(name)
    member.size = len(data)
    tar.addfile(member, io.BytesIO(data))


async def installed(channel: Path, target: Path, wanted: list[str], store: Path) -> None:
    """Solve and install, as pixi does."""
    from rattler import Channel, MatchSpec, Subdir, install, solve
    from rattler.index import index_fs

    await index_fs(channel, Subdir("linux-64"))
    specs = [MatchSpec("python"), *map(MatchSpec, wanted)]
    records = await solve([Channel(channel.as_uri())], specs, platforms=[Subdir("linux-64")])
    await install(records, str(target), cache_dir=str(store), show_progress=False)


def main(argv: list[str]) -> None:
    """Make the prefix."""
    home, target, *wanted = argv
    shutil.rmtree(target, ignore_errors=True)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(target)) as made:
        channel = Path(made) / "channel"
        (channel / "linux-64").mkdir(parents=True)
        version = next(Path(home).glob("bin/python3.*[0-9]")).name.removeprefix("python")
        pack(channel, "python", version, python(Path(home)), [])
        for one in wanted:
            name, _, release = one.partition("==")
            pack(channel, name, release, wheel(Path(home), one, Path(made) / name), ["python"])
        asyncio.run(installed(channel, Path(target), wanted, Path(made) / "store"))


if __name__ == "__main__":
    main(sys.argv[1:])
