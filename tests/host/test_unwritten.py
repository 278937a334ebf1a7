"""Files of a RECORD that are neither modules nor libraries, and are not on the disk."""

from __future__ import annotations

import pytest

from gpuwhy.host.unwritten import unwritten

SITE = "/v/lib/python3.12/site-packages"
INCLUDE = "nvidia/cuda_runtime/include"
PACKAGE = ("certs/__init__.py", "certs/cacert.pem")


@pytest.mark.parametrize(
    ("listed", "gone", "told"),
    [
        (PACKAGE, ("certs/cacert.pem",), True),
        (PACKAGE, PACKAGE, False),  # its modules tell that
        ((f"{INCLUDE}/a.h", f"{INCLUDE}/b.h"), (f"{INCLUDE}/a.h",), True),
        ((f"{INCLUDE}/a.h", f"{INCLUDE}/b.h"), (f"{INCLUDE}/a.h", f"{INCLUDE}/b.h"), False),  # made small on purpose
        (("numpy/a.h", "numpy/b.h"), ("numpy/a.h",), False),  # for those who compile against it
        (("p/a.pyi", "p/b.pyi"), ("p/a.pyi",), False),
        (("p/__init__.py", "p/README.md"), ("p/README.md",), False),
        (("p-1.dist-info/direct.json", "p-1.dist-info/x.json"), ("p-1.dist-info/x.json",), False),
        (("p/data/a.json", "p/data/b.json"), ("p/data/b.json",), True),
        (("../../../etc/a.json", "../../../etc/b.json"), ("../../../etc/b.json",), False),
    ],
)
def test_data_that_is_gone(listed: tuple[str, ...], gone: tuple[str, ...], told: bool) -> None:
    there = {f"{SITE}/{name}" for name in listed if name not in gone}

    def size(path: str) -> int:
        if path not in there:
            raise FileNotFoundError(path)
        return 3

    record = "\n".join(f"{name},sha256=x,3" for name in listed).encode()
    found = unwritten(record, "", f"{SITE}/p-1.dist-info/RECORD", size)
    assert found == (gone if told else ())
