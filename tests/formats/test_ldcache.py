"""The loader's cache: written by hand and read back, and compared with ldconfig."""

import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpuwhy.formats import MalformedError
from gpuwhy.formats.ldcache import CacheEntry, read_ldcache

from .made import I386, X86_64, new_format, old_format, with_levels

CHARACTERS = st.characters(codec="utf-8", exclude_characters="\0", exclude_categories=["Cs"])
NAMES = st.text(CHARACTERS, max_size=30)
FLAGS = st.sampled_from([X86_64, I386, 0x0A03])
ENTRIES = st.lists(
    st.builds(CacheEntry, NAMES, NAMES, FLAGS, st.integers(0, 2**64 - 1)), max_size=8
)


@given(ENTRIES)
def test_both_formats_read_back(entries):
    assert read_ldcache(new_format(entries)) == tuple(entries)
    plain = tuple(CacheEntry(one.name, one.path, one.flags, 0) for one in entries)
    old = old_format(entries)
    assert read_ldcache(old) == plain
    assert read_ldcache(old + bytes(-len(old) % 8) + new_format(entries[:1])) == tuple(entries[:1])


@pytest.mark.parametrize("index, level", [(0, "x86-64-v2"), (1, "x86-64-v3"), (2, "")])
def test_levels_of_the_extension(index, level):
    entry = CacheEntry("libb.so", "/b", X86_64, 1 << 62 | index)
    assert read_ldcache(with_levels(entry, "x86-64-v2", "x86-64-v3"))[0].level == level


@pytest.mark.parametrize("data", [b"", b"text", b"glibc-ld.so.cache1.1", b"ld.so-1.7.0\0"])
def test_what_is_no_cache_is_refused(data):
    with pytest.raises(MalformedError, match=r"ld\.so\.cache"):
        read_ldcache(data)


def test_each_machine_has_its_own_entries():
    both = [CacheEntry("libcuda.so.1", "/b", I386, 0), CacheEntry("libcuda.so.1", "/a", X86_64, 0)]
    served = {name: [one.path for one in both if one.serves(name)] for name in ("x86_64", "i386", "s390x")}
    assert served == {"x86_64": ["/a"], "i386": ["/b"], "s390x": ["/b", "/a"]}, "unknown: nothing is left out"


def test_endless_strings_are_refused():
    raw = new_format([CacheEntry("x", "y" * 10, X86_64, 0)] * 3).rstrip(b"\0") + b"z" * 10_000
    with pytest.raises(MalformedError, match="without an end"):
        read_ldcache(raw)


LDCONFIG = shutil.which("ldconfig") or shutil.which("ldconfig", path="/usr/sbin:/sbin")
CACHE = Path("/etc/ld.so.cache")


@pytest.mark.skipif(not LDCONFIG or not CACHE.is_file(), reason="no ldconfig or no cache")
def test_agrees_with_ldconfig():
    said = subprocess.run([LDCONFIG, "-p"], capture_output=True, text=True, check=True).stdout
    rows = [line.strip().split(" => ") for line in said.splitlines() if " => " in line]
    ours = read_ldcache(CACHE.read_bytes())
    assert [(one.name, one.path) for one in ours] == [(row[0].split(" (")[0], row[1]) for row in rows]
