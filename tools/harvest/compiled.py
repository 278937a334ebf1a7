"""Compiled: packages beside the frameworks whose wheels are for single Pythons, and the newest Python of each release.

    python -m tools.harvest.compiled          # writes knowledge/data/compiled.json

Only releases whose newest wheel for Linux is for CPython 3.11 or older are kept: the others install today.
"""

from __future__ import annotations

import json
import re
from datetime import datetime, timezone
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import Version

from tools.harvest.index import IndexFile, address, files
from tools.harvest.web import Web

DATA = Path(__file__).resolve().parents[2] / "src/gpuwhy/knowledge/data"
NAMES = """
numpy scipy numba llvmlite h5py scikit-learn scikit-image pandas tokenizers spacy pyarrow open3d faiss-gpu faiss-cpu
tensorflow-addons tensorflow-text tensorflow-io torchtext torchdata ray dgl dgl-cu101 dgl-cu102 dgl-cu110 dgl-cu111
paddlepaddle paddlepaddle-gpu ctranslate2 catboost dm-reverb onnx mediapipe gensim cupy-cuda90 cupy-cuda92 cupy-cuda100
cupy-cuda101 cupy-cuda102 cupy-cuda110 cupy-cuda111 cupy-cuda112 cupy-cuda113 cupy-cuda114 cupy-cuda115 cupy-cuda116
cupy-cuda117
"""
OLD = 11
ANY = 99


def main() -> int:
    """Ask the index for each, and write the releases that ended."""
    web, index = Web(), address()
    rows = {name: found for name in NAMES.split() if (found := releases(files(web, index, name) or []))}
    body = ",\n".join(f"{json.dumps(n)}:{json.dumps(found, separators=(',', ':'))}" for n, found in rows.items())
    head = f'"schema":"gpuwhy.knowledge.compiled/1","asked":"{datetime.now(timezone.utc):%Y-%m-%d}"'
    (DATA / "compiled.json").write_text(f'{{{head},"packages":{{\n{body}\n}}}}\n')
    return 0


def releases(listed: list[IndexFile]) -> dict[str, list[str]]:
    """Newest Python → releases, for those that have wheels of single Pythons alone."""
    newest: dict[Version, int] = {}
    for one in listed:
        for version, minor in wheels(one.name):
            newest[version] = max(newest.get(version, 0), minor)
    out: dict[str, list[str]] = {}
    for version in sorted(newest):
        if 0 < newest[version] <= OLD and not version.is_prerelease:
            out.setdefault(f"3.{newest[version]}", []).append(str(version))
    return out


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
