"""No input breaks a reader: whatever the bytes are, only MalformedError comes out."""

import contextlib
import gzip
import io
import tarfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpuwhy.formats import MalformedError
from gpuwhy.formats.compress import gunzipped
from gpuwhy.formats.cuda_version import read_cuda_version
from gpuwhy.formats.elf import read_elf, read_sections
from gpuwhy.formats.fatbin import SECTIONS, read_gpu_code
from gpuwhy.formats.hive import Hive
from gpuwhy.formats.ldcache import CacheEntry, read_ldcache
from gpuwhy.formats.pe import PeSymbols, read_pe
from gpuwhy.formats.symbols import Symbols, read_versions
from gpuwhy.formats.tar import read_tar
from gpuwhy.formats.wheel import read_wheel

from . import made
from .made_hive import hive
from .made_pe import RICH
from .real import files

CORPUS = Path(__file__).parent.parent.parent / "fuzz" / "corpus"


def _tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name in ("etc/a", "ü" * 120):
            info = tarfile.TarInfo(name)
            info.size, info.mtime = 700, 1.5
            tar.addfile(info, io.BytesIO(bytes(700)))
    return out.getvalue()


def _sized(read):
    return lambda data: read(made.over(data), len(data))


def _cuda(name):
    return lambda data: read_cuda_version(made.over(data), len(data), name)


def _symbols(kind, *calls):
    return [lambda data, call=call: call(kind(made.over(data), len(data))) for call in calls]


READERS = {
    "elf": [_sized(read_elf), _sized(read_versions), _sized(partial(read_sections, names=SECTIONS))],
    "symbols": _symbols(
        Symbols, lambda s: s.imports("cu"), lambda s: s.find("malloc"), lambda s: s.find("f")
    ),
    "cudaversion": [_cuda(f"lib{one}.so.12") for one in ("cudart", "cublasLt", "nvrtc")]
    + [_cuda("libcudnn_cnn.so.9")],
    "fatbin": [_sized(partial(read_gpu_code, most=64))],
    "ldcache": [read_ldcache],
    "pe": [
        _sized(read_pe),
        _sized(partial(read_gpu_code, most=64)),
        _cuda("cudnn64_7.dll"),
        *_symbols(
            PeSymbols,
            lambda s: [*s.exports()],
            lambda s: s.imports("KERNEL32.dll"),
            lambda s: s.find("cudnnGetVersion"),
        ),
    ],
    "wheel": [_sized(read_wheel)],
    "tar": [lambda data: [*read_tar(made.over(data))]],
    "gzip": [lambda data: gunzipped(made.over(data), len(data))(0, 1 << 20)],
    "hive": [lambda data, key=key: Hive(made.over(data)).key(key) for key in ("A/b", "Long")],
}
LEVELS = made.with_levels(CacheEntry("libb.so", "/b", made.X86_64, 1 << 62), "x86-64-v2")
CODE = made.padded(made.container(made.entry(made.SASS, 80), made.entry(made.PTX, 90)))
WHOLE = {
    "elf": [made.elf(("libc.so.6",), "liba.so", "$ORIGIN"), min(map(Path.read_bytes, files()), key=len)],
    "symbols": [made.with_symbol("f", b"\xc3")],
    "cudaversion": [made.with_symbol("cudaRuntimeGetVersion", b"\xc7\x07" + made.number(12090))],
    "fatbin": [made.library(CODE * 2)],
    "ldcache": [LEVELS, made.old_format([CacheEntry("liba.so", "/a", made.I386, 0)] * 3)],
    "pe": [RICH],
    "wheel": [made.wheel({"demo/liba.so": made.elf(("libc.so.6",), "liba.so")})],
    "tar": [_tar()],
    "gzip": [gzip.compress(_tar()) + gzip.compress(b"more")],
    "hive": [hive({"A": {"b": {"c": 1, "Path": ("%a%",)}}, "Long": {"Path": "x" * 20_000}})],
}


def read_all(kind: str, data: bytes) -> None:
    for read in READERS[kind]:
        with contextlib.suppress(MalformedError):
            read(data)


@pytest.mark.parametrize("kind", READERS)
@given(data=st.data())
@settings(max_examples=150)
def test_damaged_bytes_are_read_or_refused(kind, data):
    damaged = bytearray(data.draw(st.sampled_from(WHOLE[kind])))
    near, size = st.integers(0, min(4096, len(damaged) - 1)), len(damaged)
    for _ in range(data.draw(st.integers(0, 8))):
        place = data.draw(near | st.integers(0, size - 1))
        patch = data.draw(st.binary(min_size=1, max_size=8))
        damaged[place : place + len(patch)] = patch
    read_all(kind, bytes(damaged[: data.draw(st.just(size) | st.integers(0, size))]))


@pytest.mark.parametrize("kind", READERS)
@given(data=st.binary(max_size=600))
@settings(max_examples=40)
def test_random_bytes_break_nothing(kind, data):
    read_all(kind, data)
    read_all(kind, WHOLE[kind][0][:16] + data)


@pytest.mark.parametrize("harness", sorted(one.name for one in CORPUS.iterdir()))
def test_what_fuzzing_found(harness):
    found = sorted((CORPUS / harness).iterdir())
    assert len(found) > 2
    for file in found:
        read_all(harness, file.read_bytes())
