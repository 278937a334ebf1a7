"""`gpuwhy inspect` of a whole image hands it to `gpuwhy check --root`."""

from __future__ import annotations

import tarfile
from pathlib import Path

from gpuwhy.cli.inspect import _is_image


def test_an_archive_and_an_oci_layout_are_images(tmp_path: Path) -> None:
    saved, layout, library = tmp_path / "image.tar", tmp_path / "layout", tmp_path / "libcudart.so.12"
    with tarfile.open(saved, "w") as archive:
        archive.addfile(tarfile.TarInfo("manifest.json"))
    layout.mkdir()
    (layout / "oci-layout").write_text("{}")
    library.write_bytes(b"\x7fELF" + bytes(200))
    assert _is_image(str(saved))
    assert _is_image(str(layout))
    assert not _is_image(str(library))
    assert not _is_image(str(tmp_path))
    assert not _is_image("")
