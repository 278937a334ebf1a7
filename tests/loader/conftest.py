"""The grounds: this machine and a small root on every run; whole distributions with `-m real`."""

import itertools
import os
import re
import subprocess
from pathlib import Path

import pytest

from .ground import Ground, RootGround, can_enter_roots, describe_cpu, glibc_version, small_root, this_glibc

ROOTS = sorted(Path(os.environ["GPUWHY_ROOTS"]).glob("*/lib")) if os.environ.get("GPUWHY_ROOTS") else []
_COUNT = itertools.count()


def _grounds() -> list:
    return ["here", "root", *(pytest.param(path.parent, marks=pytest.mark.real, id=path.parent.name) for path in ROOTS)]


@pytest.fixture(params=_grounds())
def ground(request, tmp_path):
    """A place for worlds; those of a distribution's root are numbered and left there."""
    if request.param == "here":
        return Ground(tmp_path / "t", str(tmp_path / "w"), tmp_path / "w", this_glibc())
    return _rooted(request.param, tmp_path)


@pytest.fixture(params=_grounds()[1:])
def root(request, tmp_path):
    """A root alone, for laws about files that only a root can change: a copy of its own."""
    if request.param == "root":
        return _rooted("root", tmp_path)
    subprocess.run(["cp", "-al", str(request.param), str(tmp_path / "root")], check=True)
    return _rooted(tmp_path / "root", tmp_path)


def _rooted(kind, tmp_path):
    if not can_enter_roots():
        pytest.skip("chroot is not allowed here")
    scratch = tmp_path / f"t{os.getpid()}-{next(_COUNT)}"
    if kind == "root":
        if not Path("/lib/x86_64-linux-gnu/libc.so.6").exists():
            pytest.skip("the small root is made of Debian's files")
        return RootGround(scratch, small_root(tmp_path / "root"), this_glibc())
    describe_cpu(kind)
    banner = next(kind.glob("lib/x86_64-linux-gnu/libc-2*.so"), None)
    version = glibc_version(banner.name) if banner else _version(kind)
    return RootGround(scratch, kind, version, old=version < (2, 34))


def _version(root):
    data = (root / "lib/x86_64-linux-gnu/libc.so.6").read_bytes()
    return glibc_version(re.search(rb"GNU C Library [^\n]* version (2\.\d+)", data)[1].decode())
