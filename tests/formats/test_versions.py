"""Version nodes and build ids, judged by pyelftools on the libraries of this system, and on damaged bytes."""

from __future__ import annotations

import glob
import os

import pytest
from elftools.elf.elffile import ELFFile
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuwhy.formats import MalformedError
from gpuwhy.formats.symbols import VersionNeed, Versions, read_versions

LIBRARIES = [
    path
    for pattern in (
        "/lib/*-linux-gnu/libc.so.6",
        "/lib/*-linux-gnu/libm.so.6",
        "/lib/*-linux-gnu/libz.so.1",
        "/lib64/libc.so.6",
    )
    for path in glob.glob(pattern)
]


def read(data: bytes) -> Versions:
    return read_versions(lambda offset, size: data[offset : offset + size], len(data))


def judged(path: str) -> tuple[dict[str, set[str]], set[str], str]:
    """What pyelftools says: needs per library (weak ones aside), definitions but the base, build id."""
    with open(path, "rb") as file:
        elf = ELFFile(file)
        needs, defines, build = {}, set(), ""
        section = elf.get_section_by_name(".gnu.version_r")
        for need, nodes in section.iter_versions() if section else ():
            needs[need.name] = {node.name for node in nodes if not node["vna_flags"] & 2}
        section = elf.get_section_by_name(".gnu.version_d")
        for node, names in section.iter_versions() if section else ():
            if not node["vd_flags"] & 1:
                defines.add(next(names).name)
        section = elf.get_section_by_name(".note.gnu.build-id")
        for note in section.iter_notes() if section else ():
            build = note["n_desc"]
    return needs, defines, build


@pytest.mark.skipif(not LIBRARIES, reason="needs glibc's own libraries")
@pytest.mark.parametrize("path", LIBRARIES)
def test_pyelftools_agrees(path):
    with open(path, "rb") as file:
        found = read(file.read())
    needs, defines, build = judged(path)
    assert {need.library: set(need.versions) for need in found.needs} == needs
    assert set(found.defines) == defines
    assert found.build_id == build


@pytest.mark.skipif(not LIBRARIES, reason="needs glibc's own libraries")
def test_the_c_library_defines_its_own_version():
    with open(LIBRARIES[0], "rb") as file:
        defines = read(file.read()).defines
    assert f"GLIBC_{os.confstr('CS_GNU_LIBC_VERSION').split()[1]}" in defines


def test_the_glibc_floor_is_by_number_and_not_by_text():
    versions = Versions(
        (
            VersionNeed("libc.so.6", ("GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_PRIVATE", "GLIBC_ABI_DT_RELR")),
            VersionNeed("libm.so.6", ("GLIBC_2.9",)),
            VersionNeed("libstdc++.so.6", ("GLIBCXX_3.4.30",)),
        ),
        (),
        "",
    )
    assert versions.glibc == "2.17"
    assert Versions((), (), "").glibc == ""


@pytest.mark.skipif(not LIBRARIES, reason="needs glibc's own libraries")
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_damaged_bytes_are_read_or_refused(data):
    with open(LIBRARIES[-1], "rb") as file:
        broken = bytearray(file.read(1 << 20))
    for _ in range(data.draw(st.integers(1, 30))):
        broken[data.draw(st.integers(0, min(len(broken) - 1, 8192)))] = data.draw(st.integers(0, 255))
    try:
        found: object = read(bytes(broken))
    except MalformedError as error:
        found = error
    assert isinstance(found, (Versions, MalformedError))
