"""Tiny wheels in a folder that stands for the package index, and environments made of them; no network."""

import base64
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path


UV = shutil.which("uv") or ""


def wheel(folder: Path, name: str, version: str, files: dict[str, bytes], *requires: str) -> None:
    """Write one wheel with its RECORD."""
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    asks = "".join(f"Requires-Dist: {one}\n" for one in requires)
    whole = {
        **files,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{asks}".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},sha256={_hash(data)},{len(data)}\n" for path, data in whole.items())
    with zipfile.ZipFile(folder / f"{stem}-py3-none-any.whl", "w") as archive:
        for path, data in {**whole, f"{info}/RECORD": f"{record}{info}/RECORD,,\n".encode()}.items():
            archive.writestr(path, data)


def _hash(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def variables(folder: Path, links: Path) -> dict[str, str]:
    """The environment in which uv and pip see that folder and nothing else."""
    settings = folder / "uv.toml"
    settings.write_text(f'[pip]\nno-index = true\nfind-links = ["{links}"]\n')
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("UV_", "PIP_", "VIRTUAL_ENV", "CONDA"))}
    return {
        **kept,
        "UV_CONFIG_FILE": str(settings),
        "UV_CACHE_DIR": str(folder / "cache"),
        "UV_OFFLINE": "1",
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(links),
        "PIP_CONFIG_FILE": os.devnull,
        "PYTHONIOENCODING": "utf-8",
    }


def environment(folder: Path, environ: dict[str, str], *wanted: str) -> Path:
    """An environment made by uv."""
    call = {"env": environ, "check": True, "capture_output": True, "timeout": 60}
    subprocess.run([UV, "venv", "--no-project", "--python", sys.executable, str(folder)], **call)
    if wanted:
        subprocess.run([UV, "pip", "install", "--python", f"{folder}/bin/python", "--no-deps", *wanted], **call)
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    """Every file of an environment, to compare."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
