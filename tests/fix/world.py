"""Stand-in packages in a folder that serves as the index, and environments of them; no network."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

NEEDS_NUMPY_1 = b"""
import numpy
if not numpy.__version__.startswith("1."):
    raise ImportError("numpy.core.multiarray failed to import")
"""
BACKEND = """
import os, pathlib
pathlib.Path(os.environ["MARK"]).write_text("the build ran")
"""
PROJECT = """
[build-system]
requires = []
build-backend = "own"
backend-path = ["."]
"""


def files_of(name: str, version: str, files: dict[str, bytes]) -> dict[str, bytes]:
    """A wheel's files with its metadata and its RECORD."""
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    head = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    whole = {
        **files,
        f"{info}/METADATA": head.encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    rows = "".join(f"{path},sha256={_hash(data)},{len(data)}\n" for path, data in whole.items())
    return {**whole, f"{info}/RECORD": f"{rows}{info}/RECORD,,\n".encode()}


def _hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def numpy(version: str) -> dict[str, bytes]:
    """NumPy, as far as its version goes."""
    return files_of("numpy", version, {"numpy/__init__.py": f"__version__ = {version!r}".encode()})


def onnxruntime() -> dict[str, bytes]:
    """An ONNX Runtime that was compiled for NumPy 1."""
    files = {"onnxruntime/__init__.py": NEEDS_NUMPY_1, "onnxruntime/capi/__init__.py": b""}
    return files_of("onnxruntime", "1.16.3", files)


class World:
    """An index, and one environment: ONNX Runtime for NumPy 1 beside NumPy 2."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.links = folder, folder / "links"
        self.links.mkdir()
        self.env = folder / "env"
        venv.create(self.env, symlinks=True)
        self.site = next(self.env.glob("lib/python3*/site-packages"))
        for files in (numpy("2.2.6"), onnxruntime()):
            self.put(files)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "UV_", "VIRTUAL"))}
        source = str(Path(__file__).parents[2] / "src")
        pip = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.links), "PIP_CONFIG_FILE": os.devnull}
        self.environ = {**kept, **pip, "PYTHONPATH": source, "MARK": str(folder / "mark")}

    def put(self, files: dict[str, bytes]) -> None:
        """Install a wheel's files, as an installer does."""
        for path, data in files.items():
            (self.site / path).parent.mkdir(parents=True, exist_ok=True)
            (self.site / path).write_bytes(data)

    def wheel(self, name: str, version: str, files: dict[str, bytes]) -> None:
        """A wheel on the index."""
        with zipfile.ZipFile(self.links / f"{name}-{version}-py3-none-any.whl", "w") as archive:
            for path, data in files.items():
                archive.writestr(path, data)

    def sdist(self) -> None:
        """A source release of NumPy 1 whose build writes a mark, and needs nothing to run."""
        with tarfile.open(self.links / "numpy-1.26.9.tar.gz", "w:gz") as archive:
            told = "Metadata-Version: 2.1\nName: numpy\nVersion: 1.26.9\n"
            files = (("own.py", BACKEND), ("pyproject.toml", PROJECT), ("PKG-INFO", told))
            for name, text in files:
                info = tarfile.TarInfo(f"numpy-1.26.9/{name}")
                info.size = len(text)
                archive.addfile(info, io.BytesIO(text.encode()))

    def argv(self, *words: str) -> list[str]:
        """`gpuwhy fix` of the environment."""
        apply = ["--installer", "pip"] if "--apply" in words else []
        given = ["fix", "--python", str(self.env), *words, *apply]
        return [sys.executable, "-m", "gpuwhy", *given]

    def fix(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run it to its end."""
        how = {"env": self.environ, "cwd": self.folder, "stdin": subprocess.DEVNULL, "timeout": 120}
        return subprocess.run(self.argv(*words), capture_output=True, text=True, **how)

    def releases(self, env: Path | None = None) -> set[str]:
        """What is installed."""
        site = next((env or self.env).glob("lib/python3*/site-packages"))
        return {one.name.removesuffix(".dist-info") for one in site.glob("*.dist-info")}

    def tree(self) -> dict[str, bytes]:
        """Every file of the environment, without compiled ones."""
        found = (one for one in sorted(self.env.rglob("*")) if "__pycache__" not in one.parts)
        return {str(one): one.read_bytes() for one in found if one.is_file()}
