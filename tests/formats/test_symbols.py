"""Dynamic symbols against pyelftools on real libraries, and against damage."""

from __future__ import annotations

import contextlib
import os
import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuwhy.formats import MalformedError
from gpuwhy.formats.cuda_version import read_cuda_version
from gpuwhy.formats.symbols import Symbols

from .made import with_symbol
from .test_elf import over, real_files

elffile = pytest.importorskip("elftools.elf.elffile")

FILES = [f for f in real_files() if ".so" in f and Path(f).stat().st_size < 3_000_000][:12]
SMALL = min((Path(f).read_bytes() for f in FILES), key=len)


def dynsym(path: str) -> list:
    with open(path, "rb") as file:
        table = elffile.ELFFile(file).get_section_by_name(".dynsym")
        return [
            (s.name, s["st_shndx"] == "SHN_UNDEF", s["st_value"], s["st_info"]["bind"]) for s in table.iter_symbols()
        ]


@pytest.mark.parametrize("path", FILES, ids=os.path.basename)
def test_imports_agree_with_pyelftools(path):
    data = Path(path).read_bytes()
    ours = [(i.name, i.weak) for i in Symbols(over(data), len(data)).imports("")]
    assert ours == [(name, bind == "STB_WEAK") for name, undefined, _, bind in dynsym(path) if name and undefined]


@pytest.mark.parametrize("path", FILES, ids=os.path.basename)
def test_defined_symbols_are_found(path):
    data = Path(path).read_bytes()
    symbols = Symbols(over(data), len(data))
    rows = dynsym(path)
    defined: dict[str, set[int]] = {}
    for name, undefined, value, bind in rows:
        if name and not undefined and bind != "STB_LOCAL":
            defined.setdefault(name, set()).add(value)
    for name, values in defined.items():
        found = symbols.find(name)
        assert found is not None, name
        assert found.address in values
    for name, undefined, _, _ in rows:
        if undefined and name not in defined:
            assert symbols.find(name) is None, name


def test_versions_name_the_library():
    read = [Path(file).read_bytes() for file in FILES]
    bound = [i for data in read for i in Symbols(over(data), len(data)).imports("") if i.version]
    assert all(i.library.endswith((".so.6", ".so.1", ".so.2", ".so.3", ".so.0")) or ".so" in i.library for i in bound)
    assert any(i.version.startswith("GLIBC_") for i in bound)


def test_a_library_that_is_not_cudas_has_no_version():
    assert read_cuda_version(over(SMALL), len(SMALL), "libcudnn.so.9") is None


@given(st.data())
@settings(max_examples=150)
def test_damage_never_breaks_the_reader(data):
    damaged = bytearray(SMALL[: data.draw(st.integers(len(SMALL) // 2, len(SMALL)))])
    for _ in range(data.draw(st.integers(1, 10))):
        place = data.draw(st.integers(0, min(8192, len(damaged) - 1)))
        damaged[place] = data.draw(st.integers(0, 255))
    raw = bytes(damaged)
    for ask in (
        lambda: Symbols(over(raw), len(raw)).imports(""),
        lambda: Symbols(over(raw), len(raw)).find("malloc"),
        lambda: Symbols(over(raw), len(raw)).find("_init"),
        lambda: read_cuda_version(over(raw), len(raw), "libcudart.so.12"),
        lambda: read_cuda_version(over(raw), len(raw), "libcudnn.so.9"),
    ):
        with contextlib.suppress(MalformedError):
            ask()


def test_a_hash_chain_that_loops_is_told():
    """Found by fuzzing: a chain that leads back to itself was followed a hundred thousand times."""
    data = with_symbol("f", b"\xc3")
    data = data.replace(struct.pack("<qQ", 0x6FFFFEF5, 0)[:8], struct.pack("<q", 0x6FFFFEF4))  # no GNU hash table
    data = data.replace(struct.pack("<IIIIII", 1, 3, 2, 0, 0, 0), struct.pack("<IIIIII", 1, 3, 2, 0, 0, 2))
    assert Symbols(over(data), len(data)).find("f") is not None
    with pytest.raises(MalformedError, match="without an end"):
        Symbols(over(data), len(data)).find("g")
