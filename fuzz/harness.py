"""Coverage-guided fuzzing of the binary readers: only MalformedError may come out, within bounded time and memory.

python fuzz/seeds.py fuzz/corpus
python fuzz/harness.py elf fuzz/corpus/elf -max_total_time=300
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from itertools import islice

import atheris

with atheris.instrument_imports(include=["gpuwhy"]):
    from gpuwhy.formats import MalformedError, Pread
    from gpuwhy.formats.cuda_version import read_cuda_version
    from gpuwhy.formats.elf import read_elf, read_sections
    from gpuwhy.formats.fatbin import read_gpu_code
    from gpuwhy.formats.ldcache import read_ldcache
    from gpuwhy.formats.pe import PeSymbols, read_pe
    from gpuwhy.formats.symbols import Symbols, read_versions

_MOST = 64 << 20


def over(data: bytes) -> Pread:
    """A pread over bytes that refuses what the operating system's refuses."""

    def pread(offset: int, size: int) -> bytes:
        assert 0 <= offset < 2**63, offset
        assert 0 <= size < _MOST, size
        return data[offset : offset + size]

    return pread


def elf(data: bytes) -> None:
    """Summary, sections, version nodes and build id."""
    for read in (
        lambda: read_elf(over(data), len(data)),
        lambda: read_sections(over(data), len(data), frozenset({".nv_fatbin"})),
        lambda: read_versions(over(data), len(data)),
    ):
        with contextlib.suppress(MalformedError):
            read()


def ldcache(data: bytes) -> None:
    """Both formats of the loader's cache."""
    with contextlib.suppress(MalformedError):
        assert len(read_ldcache(data)) <= len(data) // 12


def fatbin(data: bytes) -> None:
    """Containers of GPU code."""
    with contextlib.suppress(MalformedError):
        read_gpu_code(over(data), len(data), 64)


def symbols(data: bytes) -> None:
    """Symbol table and hash tables."""
    for read in (
        lambda: Symbols(over(data), len(data)).imports("cu"),
        lambda: Symbols(over(data), len(data)).find("malloc"),
        lambda: Symbols(over(data), len(data)).find("cudnnGetVersion"),
    ):
        with contextlib.suppress(MalformedError):
            read()


def cudaversion(data: bytes) -> None:
    """The version of a CUDA library, whatever it calls itself."""
    for name in ("libcudart.so.12", "libcudnn.so.9", "libcudnn_cnn.so.9", "libcublasLt.so.12", "libnvrtc.so.12"):
        with contextlib.suppress(MalformedError):
            read_cuda_version(over(data), len(data), name)


def pe(data: bytes) -> None:
    """Summary, imports, exports, version and GPU code of a Windows library."""
    for read in (
        lambda: read_pe(over(data), len(data)),
        lambda: list(islice(PeSymbols(over(data), len(data)).exports(), 100)),
        lambda: PeSymbols(over(data), len(data)).imports("KERNEL32.dll"),
        lambda: PeSymbols(over(data), len(data)).find("cudnnGetVersion"),
        lambda: read_cuda_version(over(data), len(data), "cudnn64_7.dll"),
        lambda: read_gpu_code(over(data), len(data), 64),
    ):
        with contextlib.suppress(MalformedError):
            read()


HARNESSES: dict[str, Callable[[bytes], None]] = {
    one.__name__: one for one in (elf, ldcache, fatbin, symbols, cudaversion, pe)
}


def main() -> None:
    """Run the harness that the first argument names; the rest is libFuzzer's."""
    atheris.Setup([sys.argv[0], *sys.argv[2:]], HARNESSES[sys.argv[1]])
    atheris.Fuzz()


if __name__ == "__main__":
    main()
