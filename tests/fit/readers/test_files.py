"""Real files by the reference libraries (make.py), read as those libraries read them: names, types, shapes, bytes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gpuwhy.fit import read

HERE = Path(__file__).parent / "files"
LARGE = os.environ.get("GPUWHY_FIT")
"""A folder with more of them, made in the same way."""


def cases(folder: Path) -> dict[str, list]:
    return json.loads((folder / "expected.json").read_text())


def rows(path: Path, expected: list) -> list:
    """Bytes only where the library tells them: not those of texts."""
    model = read(str(path))
    silent = {name for name, *_, size in expected if size is None}
    found = model.tensors + model.beside
    return sorted([one.name, one.dtype, list(one.shape), None if one.name in silent else one.bytes] for one in found)


@pytest.mark.parametrize("path", cases(HERE))
def test_tensors_are_those_of_the_reference_library(path):
    expected = cases(HERE)[path]
    assert rows(HERE / path, expected) == sorted(expected)


@pytest.mark.real
def test_larger_ones_too():
    assert LARGE, "GPUWHY_FIT=FOLDER names what make.py made"
    folder = Path(LARGE)
    wrong = [path for path, expected in cases(folder).items() if rows(folder / path, expected) != sorted(expected)]
    assert wrong == []
