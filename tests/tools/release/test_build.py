"""Wheel and source: built twice, the same bytes; complete; accepted by twine; small."""

import gzip
import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def built(folder: Path) -> dict[str, str]:
    environ = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    command = [sys.executable, "-m", "build", "-q", "-o", str(folder), str(ROOT)]
    subprocess.run(command, check=True, env=environ, timeout=600)
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


@pytest.mark.doors
def test_built_twice_the_same_bytes_and_twine_is_content(tmp_path):
    pytest.importorskip("build")
    first = built(tmp_path / "a")
    assert built(tmp_path / "b") == first
    files = [str(file) for file in (tmp_path / "a").iterdir()]
    subprocess.run([sys.executable, "-m", "twine", "check", "--strict", *files], check=True, timeout=60)
    (wheel,) = (tmp_path / "a").glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
        data = ROOT / "src" / "gpuwhy" / "knowledge" / "data"
        for table in (one for one in data.rglob("*") if one.is_file()):
            inside = f"gpuwhy/knowledge/data/{table.relative_to(data).as_posix()}"
            assert inside not in names
            assert gzip.decompress(file.read(inside + ".gz")) == table.read_bytes()
        for page in (ROOT / "src" / "gpuwhy").rglob("*.md"):
            assert page.relative_to(ROOT / "src").as_posix() in names
