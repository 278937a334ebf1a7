"""Skeleton: the bytes of a real Windows library that our readers touch, so that tests have its true tables and size.

    python -m tools.skeleton tensorflow-gpu 2.3.4-cp38-cp38-win_amd64 _pywrap_tensorflow_internal.pyd --into FOLDER

A published wheel is read by ranges, its member inflated in memory, every reader of `gpuwhy.formats` run over it, and the
ranges they asked for are written as NAME.json.gz: {name, source, size, sha256, chunks: [[offset, base64]]}.
`tests/windows/trees.py` expands one into a sparse file of the true size.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import gzip
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

from gpuwhy.formats import MalformedError
from gpuwhy.formats.cuda_version import read_cuda_version
from gpuwhy.formats.fatbin import read_gpu_code
from gpuwhy.formats.pe import PeSymbols, read_pe
from tools.harvest import index
from tools.harvest.web import Web
from tools.harvest.wheel import Wheel

CONTAINERS = 64  # of GPU code: what observe/ asks for
GAP = 64  # ranges closer than this are kept as one


class Touched:
    """A pread over a library that remembers which ranges were asked for."""

    def __init__(self, data: bytes | bytearray) -> None:
        self._data = data
        self.ranges: list[tuple[int, int]] = []

    def __call__(self, offset: int, size: int) -> bytes:
        """Read and remember."""
        piece = bytes(self._data[offset : offset + size])
        self.ranges.append((offset, offset + len(piece)))
        return piece

    def chunks(self) -> list[tuple[int, bytes]]:
        """The ranges, joined where they meet, with their bytes."""
        out: list[tuple[int, int]] = []
        for start, end in sorted(self.ranges):
            if out and start <= out[-1][1] + GAP:
                out[-1] = (out[-1][0], max(end, out[-1][1]))
            else:
                out.append((start, end))
        return [(start, bytes(self._data[start:end])) for start, end in out if end > start]


def touched(name: str, data: bytes | bytearray, exports: bool) -> Touched:
    """Run every reader over a library."""
    pread, size = Touched(data), len(data)
    asks: tuple[Callable[[], object], ...] = (
        lambda: read_pe(pread, size),
        lambda: read_cuda_version(pread, size, name),
        lambda: read_gpu_code(pread, size, CONTAINERS),
        lambda: _imports(pread, size),
        lambda: list(PeSymbols(pread, size).exports()) if exports else None,
    )
    for ask in asks:
        with contextlib.suppress(MalformedError):
            ask()
    return pread


def _imports(pread: Touched, size: int) -> None:
    """The names imported from CUDA libraries."""
    symbols = PeSymbols(pread, size)
    for dll in read_pe(pread, size).imports:
        if dll.lower().startswith(("cu", "nv")):
            symbols.imports(dll)


def skeleton(name: str, data: bytes | bytearray, source: str, exports: bool = False) -> bytes:
    """The file form of one skeleton."""
    chunks = touched(name, data, exports).chunks()
    body = {
        "name": name,
        "source": source,
        "size": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "chunks": [[start, base64.b64encode(piece).decode()] for start, piece in chunks],
    }
    return gzip.compress(json.dumps(body).encode(), 9, mtime=0)


def main() -> None:
    """Make the skeletons that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("project")
    parser.add_argument("file", help="part of the published file's name: 2.3.4-cp38-cp38-win_amd64")
    parser.add_argument("members", nargs="*", help="ends of member names; without any, the DLLs inside are listed")
    parser.add_argument("--into", type=Path, default=Path("tests/windows/skeletons"))
    parser.add_argument("--label", default="", help="put before the file name: cu11-cudart64_110.dll")
    parser.add_argument("--exports", action="store_true", help="keep every exported name too")
    options = parser.parse_args()
    web = Web()
    published = index.files(web, index.address(), options.project) or []
    one = next(file for file in published if options.file in file.name)
    wheel = Wheel(web, one.url)
    for member in wheel.members.values():
        if not options.members and member.name.endswith((".dll", ".pyd", ".exe")):
            print(f"{member.size:>12,} {member.name}")
        if member.name.endswith(tuple(options.members)) and options.members:
            name = member.name.rpartition("/")[2]
            made = skeleton(name, wheel.whole(member.name), f"{one.name}: {member.name}", options.exports)
            target = options.into / f"{options.label}{name}.json.gz"
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(made)
            print(f"{target}: {len(made):,} bytes for {member.size:,}")


if __name__ == "__main__":
    main()
