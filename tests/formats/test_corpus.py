"""The fuzzing corpus, read on every change: nothing but MalformedError comes out."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from gpuwhy.formats import MalformedError
from gpuwhy.formats.cuda_version import read_cuda_version
from gpuwhy.formats.elf import read_elf
from gpuwhy.formats.fatbin import read_gpu_code
from gpuwhy.formats.ldcache import read_ldcache
from gpuwhy.formats.pe import PeSymbols, read_pe
from gpuwhy.formats.symbols import Symbols, read_versions

from .test_elf import over

CORPUS = Path(__file__).parent.parent.parent / "fuzz" / "corpus"
READERS = {
    "elf": (lambda d: read_elf(over(d), len(d)), lambda d: read_versions(over(d), len(d))),
    "fatbin": (lambda d: read_gpu_code(over(d), len(d), 64),),
    "symbols": (lambda d: Symbols(over(d), len(d)).imports("cu"), lambda d: Symbols(over(d), len(d)).find("malloc")),
    "cudaversion": (lambda d: read_cuda_version(over(d), len(d), "libcudart.so.12"),),
    "ldcache": (read_ldcache,),
    "pe": (
        lambda d: read_pe(over(d), len(d)),
        lambda d: PeSymbols(over(d), len(d)).exports("c", 100),
        lambda d: read_cuda_version(over(d), len(d), "cudnn64_7.dll"),
        lambda d: read_gpu_code(over(d), len(d), 64),
    ),
}


@pytest.mark.parametrize("harness", list(READERS))
def test_corpus(harness):
    files = sorted((CORPUS / harness).iterdir())
    assert len(files) > 2
    for file in files:
        for read in READERS[harness]:
            with contextlib.suppress(MalformedError):
                read(file.read_bytes())
