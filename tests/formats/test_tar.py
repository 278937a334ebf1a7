"""The tar reader against the standard library's, on every form it writes, and against garbage."""

from __future__ import annotations

import contextlib
import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuwhy.formats import MalformedError
from gpuwhy.formats.tar import looks_like_tar, read_tar

KINDS = {
    tarfile.REGTYPE: "file", tarfile.DIRTYPE: "folder", tarfile.SYMTYPE: "link", tarfile.LNKTYPE: "hard",
    tarfile.CHRTYPE: "char", tarfile.FIFOTYPE: "other",
}  # fmt: skip
FORMS = [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]


def preader(data: bytes):
    return lambda offset, size: data[offset : offset + size]


def written(form: int, entries) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as tar:
        for name, kind, data, target in entries:
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.mode, info.mtime = kind, target, 0o640, 1_700_000_000
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


def by_the_library(data: bytes):
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return [(m.name, KINDS[m.type], m.mode, m.mtime, m.size, m.linkname) for m in tar]


def by_us(data: bytes):
    return [(e.name.rstrip("/"), e.kind, e.mode, e.mtime, e.size, e.target) for e in read_tar(preader(data))]


ENTRIES = [
    ("etc", tarfile.DIRTYPE, b"", ""),
    ("etc/a", tarfile.REGTYPE, b"x" * 1000, ""),
    ("a/" * 40 + "long", tarfile.REGTYPE, b"1", ""),
    ("link", tarfile.SYMTYPE, b"", "etc/a"),
    ("again", tarfile.LNKTYPE, b"", "etc/a"),
    ("null", tarfile.CHRTYPE, b"", ""),
    ("pipe", tarfile.FIFOTYPE, b"", ""),
    ("last", tarfile.REGTYPE, b"y" * 512, ""),
]


@pytest.mark.parametrize("form", FORMS)
def test_every_form(form):
    data = written(form, ENTRIES)
    assert by_us(data) == by_the_library(data)
    assert looks_like_tar(data[:512])


@pytest.mark.parametrize("form", FORMS[1:])
@given(names=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=300)))
def test_any_name(form, names):
    names = [name for name in names if name.strip(".")]
    data = written(form, [(name, tarfile.REGTYPE, b"data", "") for name in names])
    assert [e.name for e in read_tar(preader(data))] == names


def test_bytes_lie_where_the_entry_says():
    data = written(tarfile.PAX_FORMAT, ENTRIES)
    found = {e.name: data[e.offset : e.offset + e.size] for e in read_tar(preader(data)) if e.kind == "file"}
    assert found == {"etc/a": b"x" * 1000, "a/" * 40 + "long": b"1", "last": b"y" * 512}


def test_missing_zeros_and_padding_are_no_damage_but_missing_data_is():
    data = written(tarfile.GNU_FORMAT, [("etc/a", tarfile.REGTYPE, b"x" * 700, "")])
    assert [e.size for e in read_tar(preader(data[: 512 + 700]))] == [700]
    for cut in (512 + 699, 600, 513, 300):
        with pytest.raises(MalformedError):
            list(read_tar(preader(data[:cut])))


def test_numbers_too_large_for_octal():
    data = bytearray(written(tarfile.GNU_FORMAT, [("big", tarfile.REGTYPE, b"", "")]))
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        info = tar.next()
    info.size = 9 << 30
    head = info.tobuf(tarfile.GNU_FORMAT)
    zeros = lambda offset, size: head[offset : offset + size] if offset < 512 else bytes(size)  # noqa: E731
    assert [e.size for e in read_tar(zeros)] == [9 << 30]


def test_a_gigantic_extension_is_refused_unread():
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 5 << 30
    asked = []

    def pread(offset, size):
        asked.append(size)
        return info.tobuf(tarfile.GNU_FORMAT)[offset : offset + size]

    with pytest.raises(MalformedError, match="extension"):
        list(read_tar(pread))
    assert max(asked) < 1 << 20


@given(st.binary(max_size=2000))
def test_garbage_is_malformed_or_nothing(data):
    with contextlib.suppress(MalformedError):
        list(read_tar(preader(data)))


@given(st.integers(0, 5000), st.integers(0, 255))
def test_one_wrong_byte_never_breaks_out(place, value):
    data = bytearray(written(tarfile.PAX_FORMAT, ENTRIES))
    data[place % len(data)] = value
    with contextlib.suppress(MalformedError):
        list(read_tar(preader(bytes(data))))
