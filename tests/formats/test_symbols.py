"""Dynamic symbols, versions and build ids against pyelftools on real libraries."""

import struct

import pytest
from elftools.elf.elffile import ELFFile

from gpuwhy.formats import MalformedError
from gpuwhy.formats.symbols import Symbols, VersionNeed, Versions, read_versions

from .made import over, with_symbol
from .real import libraries

each_library = pytest.mark.parametrize("path", libraries(), ids=lambda path: path.name)


def symbols(data: bytes) -> Symbols:
    return Symbols(over(data), len(data))


def dynsym(path) -> list:
    with path.open("rb") as file:
        table = list(ELFFile(file).get_section_by_name(".dynsym").iter_symbols())
    return [(s.name, s["st_shndx"] == "SHN_UNDEF", s["st_value"], s["st_info"]["bind"]) for s in table]


@each_library
def test_imports_agree_with_pyelftools(path):
    ours = [(one.name, one.weak) for one in symbols(path.read_bytes()).imports("")]
    theirs = [(name, bind) for name, undefined, _, bind in dynsym(path) if name and undefined]
    assert ours == [(name, bind == "STB_WEAK") for name, bind in theirs]


@each_library
def test_defined_symbols_are_found_and_others_are_not(path):
    ours, rows = symbols(path.read_bytes()), dynsym(path)
    defined: dict[str, set[int]] = {}
    for name, undefined, value, bind in rows:
        if name and not undefined and bind != "STB_LOCAL":
            defined.setdefault(name, set()).add(value)
    for name, values in defined.items():
        found = ours.find(name)
        assert found is not None, name
        assert found.address in values
    for name, undefined, _, _ in rows:
        if undefined and name not in defined:
            assert ours.find(name) is None, name


@each_library
def test_versions_agree_with_pyelftools(path):
    data = path.read_bytes()
    found = read_versions(over(data), len(data))
    with path.open("rb") as file:
        whole = ELFFile(file)
        section = whole.get_section_by_name(".gnu.version_r")
        needs = {}
        for need, nodes in section.iter_versions() if section else ():
            needs[need.name] = tuple(node.name for node in nodes if not node["vna_flags"] & 2)
        section = whole.get_section_by_name(".gnu.version_d")
        rows = section.iter_versions() if section else ()
        defines = [next(names).name for node, names in rows if not node["vd_flags"] & 1]
        section = whole.get_section_by_name(".note.gnu.build-id")
        build = [note["n_desc"] for note in section.iter_notes()] if section else [""]
    assert {need.library: need.versions for need in found.needs} == needs
    assert list(found.defines) == defines
    assert [found.build_id] == build


def test_the_glibc_floor_is_by_number_and_not_by_text():
    asked = ("GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_PRIVATE", "GLIBC_ABI_DT_RELR")
    needs = (VersionNeed("libc.so.6", asked), VersionNeed("libm.so.6", ("GLIBC_2.9",)))
    assert Versions(needs, (), "").glibc == "2.17"
    assert Versions((), (), "").glibc == ""


def test_names_of_any_length_are_found():
    """Mangled names of C++ templates have thousands of characters."""
    name = "_ZN" + "3abc" * 1000 + "Ev"
    found = symbols(with_symbol(name, b"\xc3"))
    assert found.find(name) is not None
    assert found.find(name[:-1]) is None
    assert [one.name for one in found.imports("")] == ["malloc"]


def test_a_hash_chain_that_loops_is_malformed():
    """Found by fuzzing: a chain that leads back to itself was followed a hundred thousand times."""
    data = with_symbol("f", b"\xc3")
    data = data.replace(struct.pack("<q", 0x6FFFFEF5), struct.pack("<q", 0x6FFFFEF4))
    looping = struct.pack("<IIIIII", 1, 3, 2, 0, 0, 2)
    data = data.replace(struct.pack("<IIIIII", 1, 3, 2, 0, 0, 0), looping)
    assert symbols(data).find("f") is not None
    with pytest.raises(MalformedError, match="without an end"):
        symbols(data).find("g")
