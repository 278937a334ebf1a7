"""What the loader's variables put first, and which object needs it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from gpuwhy.facts.fact import Absent, Known, Source
from gpuwhy.run.around import put_first

HERE = Source("file", "x")


class Machine:
    """A folder with a library, and an extension that needs one of its name."""

    def list(self, path):
        return Known((SimpleNamespace(name="libffi.so.8"), SimpleNamespace(name="notes.txt")), HERE)

    def elf(self, path):
        return Known(SimpleNamespace(needed=("libffi.so.8", "libc.so.6")), HERE)


LINE = "ImportError: /usr/lib/python3.12/lib-dynload/_ctypes.so: undefined symbol: ffi_call, version LIBFFI_BASE_8.0"


@pytest.mark.parametrize(
    "variables", [{"LD_PRELOAD": "/x/libffi.so.8"}, {"LD_LIBRARY_PATH": "/x"}, {"LD_AUDIT": "/x/libffi.so.8"}]
)
def test_the_object_that_needs_it_is_told(variables):
    (one,) = put_first(variables, Machine(), LINE).value
    assert (one.path, one.needed_by) == ("/x/libffi.so.8", "/usr/lib/python3.12/lib-dynload/_ctypes.so")
    assert one.variable in variables


def test_what_nothing_needs_is_told_only_where_it_is_in_every_program():
    assert put_first({"LD_LIBRARY_PATH": "/x"}, Machine(), "KeyError: 'a'").value == ()
    assert [one.needed_by for one in put_first({"LD_PRELOAD": "/x/a.so"}, Machine(), "").value] == [""]
    assert isinstance(put_first({}, Machine(), LINE), Absent)
