"""Write the seeds of every harness into a folder: a few small files each, made here, none copied from elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.formats.made import (
    PTX,
    SASS,
    X86_64,
    container,
    elf,
    entry,
    library,
    new_format,
    number,
    old_format,
    padded,
    with_levels,
    with_symbol,
)
from tests.formats.made import I386 as CACHE_I386
from tests.formats.made_pe import I386, RICH, pe

from gpuwhy.formats.ldcache import CacheEntry

ENTRIES = [
    CacheEntry("libcuda.so.1", "/usr/lib/libcuda.so.1", X86_64, 0),
    CacheEntry("libb.so", "/l/b", CACHE_I386, 1 << 62),
]


def seeds() -> dict[str, list[bytes]]:
    """Harness → its seeds."""
    elves = [
        elf(("libcudart.so.12", "libc.so.6"), "libtiny.so.1", "$ORIGIN/../lib"),
        elf(("libc.so.6",), "libtiny.so.1", "/a:" * 200),
        with_symbol("cudnnGetVersion", b"\xb8" + number(92700) + b"\xc3"),
    ]
    code = container(entry(SASS, 90, flags=0x100000), entry(PTX, 90))
    return {
        "elf": elves,
        "symbols": elves,
        "cudaversion": elves,
        "pe": [RICH, pe(machine=I386, imports={"a.dll": ["x"]}), pe(sections={".nv_fatbin": padded(code)})],
        "fatbin": [library(padded(code) * 2), library(code, "__nv_relfatbin")],
        "ldcache": [new_format(ENTRIES), old_format(ENTRIES), with_levels(ENTRIES[1], "x86-64-v3")],
    }


def main() -> None:
    """Write them, numbered."""
    for harness, files in seeds().items():
        folder = Path(sys.argv[1]) / harness
        folder.mkdir(parents=True, exist_ok=True)
        for index, data in enumerate(files):
            (folder / f"seed-{index}").write_bytes(data)


if __name__ == "__main__":
    main()
