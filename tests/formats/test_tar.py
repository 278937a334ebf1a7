"""The tar reader against the standard library's, on every form that it writes."""

import io
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuwhy.formats import MalformedError
from gpuwhy.formats.tar import looks_like_tar, read_tar

from .made import over

KINDS = {
    tarfile.REGTYPE: "file",
    tarfile.DIRTYPE: "folder",
    tarfile.SYMTYPE: "link",
    tarfile.LNKTYPE: "hard",
    tarfile.CHRTYPE: "char",
    tarfile.FIFOTYPE: "other",
}
FORMS = [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]
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
ANY_NAME = st.text(st.characters(codec="utf-8", exclude_characters="\0/"), min_size=1, max_size=300)


def written(form: int, entries) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as tar:
        for name, kind, data, target in entries:
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.mode, info.mtime = kind, target, 0o640, 1_700_000_000
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return out.getvalue()


@pytest.mark.parametrize("form", FORMS)
def test_every_form(form):
    data = written(form, ENTRIES)
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        theirs = [(m.name, KINDS[m.type], m.mode, m.mtime, m.size, m.linkname) for m in tar]
    ours = list(read_tar(over(data)))
    assert [(e.name.rstrip("/"), e.kind, e.mode, e.mtime, e.size, e.target) for e in ours] == theirs
    assert looks_like_tar(data[:512])
    found = {e.name: data[e.offset : e.offset + e.size] for e in ours if e.kind == "file"}
    assert found == {name: body for name, kind, body, _ in ENTRIES if kind == tarfile.REGTYPE}


@pytest.mark.parametrize("form", FORMS[1:])
@given(names=st.lists(ANY_NAME))
def test_any_name(form, names):
    names = [name for name in names if name.strip(".")]
    data = written(form, [(name, tarfile.REGTYPE, b"data", "") for name in names])
    assert [e.name for e in read_tar(over(data))] == names


def test_missing_zeros_and_padding_are_no_damage_but_missing_data_is():
    data = written(tarfile.GNU_FORMAT, [("etc/a", tarfile.REGTYPE, b"x" * 700, "")])
    assert [e.size for e in read_tar(over(data[: 512 + 700]))] == [700]
    for cut in (512 + 699, 600, 513, 300):
        with pytest.raises(MalformedError, match="cut short"):
            list(read_tar(over(data[:cut])))


def test_numbers_too_large_for_octal():
    info = tarfile.TarInfo("big")
    info.size = 9 << 30
    head = info.tobuf(tarfile.GNU_FORMAT)

    def pread(offset: int, size: int) -> bytes:
        return head[offset : offset + size] if offset < 512 else bytes(size)

    assert [e.size for e in read_tar(pread)] == [9 << 30]


def test_a_gigantic_extension_is_refused_unread():
    info, asked = tarfile.TarInfo("x"), []
    info.type, info.size = tarfile.XHDTYPE, 5 << 30
    head = info.tobuf(tarfile.GNU_FORMAT)

    def pread(offset: int, size: int) -> bytes:
        asked.append(size)
        return head[offset : offset + size]

    with pytest.raises(MalformedError, match="extension"):
        list(read_tar(pread))
    assert max(asked) < 1 << 20
