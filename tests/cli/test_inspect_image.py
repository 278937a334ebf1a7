"""`gpuwhy inspect` of a whole image hands it to `gpuwhy check --root`."""

from __future__ import annotations

import tarfile
from pathlib import Path

from gpuwhy.cli.inspect import is_image


def test_an_archive_and_an_oci_layout_are_images(tmp_path: Path) -> None:
    saved, layout, library = tmp_path / "image.tar", tmp_path / "layout", tmp_path / "libcudart.so.12"
    with tarfile.open(saved, "w") as archive:
        archive.addfile(tarfile.TarInfo("manifest.json"))
    layout.mkdir()
    (layout / "oci-layout").write_text("{}")
    library.write_bytes(b"\x7fELF" + bytes(200))
    assert is_image(str(saved))
    assert is_image(str(layout))
    assert not is_image(str(library))
    assert not is_image(str(tmp_path))
    assert not is_image("")
