"""Real ELF files of this machine."""

import os
import sys
import sysconfig
from functools import cache
from pathlib import Path

FOLDERS = ("/lib/x86_64-linux-gnu", "/usr/lib64", "/lib/aarch64-linux-gnu")


@cache
def files() -> tuple[Path, ...]:
    """Programs and libraries of this Python and this system."""
    found = [Path(os.path.realpath(sys.executable)), Path(os.path.realpath("/bin/sh"))]
    for folder in (sysconfig.get_config_var("DESTSHARED") or "", *FOLDERS):
        if os.path.isdir(folder):
            found += sorted(one for one in Path(folder).glob("*.so*") if one.is_file())[:25]
    return tuple(one for one in dict.fromkeys(found) if one.read_bytes()[:4] == b"\x7fELF")


def libraries(most: int = 3_000_000) -> tuple[Path, ...]:
    """A dozen of the smaller libraries."""
    return tuple(one for one in files() if ".so" in one.name and one.stat().st_size < most)[:12]
