"""Archives list like folders; other files do not."""

from __future__ import annotations

import os
import sys
import zipfile
from pathlib import Path

import pytest

from gpuwhy.host.live import LiveHost
from gpuwhy.model.fact import Known, Unknown


def test_the_first_level_of_a_zip_is_a_folder_s_names(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "torch.zip", "w") as file:
        file.writestr("torch/__init__.py", "")
        file.writestr("torch/nn/__init__.py", "")
        file.writestr("six.py", "")
    said = LiveHost().list(str(tmp_path / "torch.zip"), ".*")
    assert [(one.name, one.kind) for one in said.need() or ()] == [("six.py", "file"), ("torch", "folder")]


def test_a_broken_archive_has_no_names_and_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "bad.egg").write_bytes(b"none")
    (tmp_path / "plain.txt").write_text("x")
    assert LiveHost().list(str(tmp_path / "bad.egg"), ".*").need() == ()
    assert not isinstance(LiveHost().list(str(tmp_path / "plain.txt"), ".*"), Known)


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_no_file_is_left_open_where_an_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.whl").write_bytes(b"nothing")
    before = len(os.listdir("/proc/self/fd"))
    said = LiveHost().wheel(str(tmp_path / "x.whl"))
    assert isinstance(said, Unknown)
    assert said.reason.endswith("x.whl: not a zip archive at offset 0")
    assert len(os.listdir("/proc/self/fd")) == before
