"""Real frameworks that really fail; `pytest -m real` with GPUWHY_TORCH_ENV naming an environment that has torch."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from .programs import run

pytestmark = pytest.mark.real


@pytest.fixture
def broken(tmp_path) -> Path:
    """A copy, by hard links, of an environment with torch, without one of its cuDNN libraries."""
    source = os.environ.get("GPUWHY_TORCH_ENV", "")
    if not source or not list(Path(source).glob("lib/python*/site-packages/torch")):
        pytest.skip("GPUWHY_TORCH_ENV names no environment with torch")
    copy = tmp_path / "env"
    shutil.copytree(source, copy, symlinks=True, copy_function=os.link)
    settings = copy / "pyvenv.cfg"
    text = settings.read_text()
    settings.unlink()
    settings.write_text(text.replace(source, str(copy)))
    for file in copy.glob("lib/python*/site-packages/nvidia/cudnn/lib/libcudnn.so.9"):
        file.unlink()
    return copy


def test_a_failing_import_names_the_missing_file(broken):
    done = run(str(broken / "bin" / "python"), "-c", "import torch")
    assert done.returncode == 1
    text = done.stderr.decode()
    assert "ImportError: libcudnn.so.9" in text
    assert "install.corrupted" in text
