"""Numba ways: the CUDA toolkit that a release of Numba compiles with, and how it is brought."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import at_least
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.shown import CONDA
from gpuwhy.rooms.text.ways import tried
from gpuwhy.rooms.text.where import told_release

_NVVM = Later(r"NVVM|libdevice|No supported GPU compute capabilities|nvrtc|cudart", re.IGNORECASE)
_WRITTEN = Later(r"\bnumba\W{1,4}(?:v|version )?(0\.\d\d)", re.IGNORECASE)
_THIRTEEN = Later(r"CUDA (?:Toolkit |Version: ?)?v?13\b|\\CUDA\\v13|cuda-13", re.IGNORECASE)
_CAUSES = ("cuda.compiler_missing", "cuda.version_mismatch", "cuda.missing_library", "env.path")


_TOOLKIT = Later(r"\bcudatoolkit[ =]=? ?(\d+\.\d)")
_GONE = Later(r"(/\S*?cuda-(\d+\.\d+))/nvvm/\S+: cannot open shared object file")


def _stale(case: Asked) -> Iterator[Fix]:
    """A folder by its release that is not there: only a variable sends Numba to it."""
    if gone := _GONE.search(case.text):
        yield tried(f"A variable sends Numba to {gone[1]}, which has no libnvvm: take it out, here and in the file that sets it; Numba then finds the toolkit of conda, or /usr/local/cuda", on.linux(f"unset NUMBAPRO_NVVM NUMBAPRO_LIBDEVICE NUMBAPRO_CUDALIB CUDA_HOME; grep -n 'cuda-{gone[2]}' ~/.bashrc ~/.profile ~/.zshrc"))  # fmt: skip


_SAYS = Later(r"Do `?conda install cudatoolkit")
_NAMED = Later(r"[\\/]envs[\\/](?P<name>[\w.-]+)[\\/]")


def _as_it_says(case: Asked) -> Iterator[Fix]:
    """Numba up to 0.60 in an environment of conda's, which says itself what it takes: the toolkit of CUDA 11 there."""
    named = _NAMED.search(case.text)
    if _SAYS.search(case.text) and (named or CONDA.search(case.text)):
        into = f"-n {named['name']} " if named else ""
        yield tried("Install the toolkit that this Numba itself names, of CUDA 11, into its conda environment, where it looks first", f"conda install {into}-c conda-forge cudatoolkit=11.8")  # fmt: skip


def for_numba(cause: str, case: Asked) -> Iterator[Fix]:
    """A toolkit that this Numba knows: before 0.57 one of CUDA 11, then one of 12, from 0.61 on its own package's."""
    if cause not in _CAUSES or "numba" not in case.tools or not _NVVM.search(case.text):
        return
    yield from _stale(case)
    yield from _as_it_says(case)
    found = _WRITTEN.search(case.text)
    release = told_release(case.reading, "numba") or (found[1] if found else "")
    if release and not at_least(release, "0.57"):
        yield tried(f"Numba {release} knows no CUDA newer than 11: install the toolkit of 11.2 into its environment, where it looks first", "conda install -c conda-forge cudatoolkit=11.2")  # fmt: skip
        yield tried("Or install a newer Numba with its CUDA part, which brings the compiler of CUDA 12 as wheels (Python 3.10 and newer)", 'pip install --upgrade numba "numba-cuda[cu12]"')  # fmt: skip
        return
    major = "13" if _THIRTEEN.search(case.text) and not re.search(r"Driver Version: [1-4]\d\d", case.text) else "12"
    yield tried(f"Install Numba's CUDA part with the compiler of CUDA {major} as wheels, which it finds by itself (Python 3.10 and newer)", f'pip install --upgrade numba "numba-cuda[cu{major}]"')  # fmt: skip
    if _TOOLKIT.search(case.text) and not release:
        cuda = _TOOLKIT.search(case.text)
        yield tried(f"Or with conda: the toolkit of CUDA {cuda[1] if cuda else ''}, which the text names, where Numba looks first", f"conda install -c conda-forge cudatoolkit={cuda[1] if cuda else ''}")  # fmt: skip
    elif release:
        yield tried("Or with conda, where it looks first", "conda install -c conda-forge cuda-version=12 cuda-nvcc cuda-nvrtc cuda-cudart")  # fmt: skip
    else:
        yield tried("Or with conda: for Numba before 0.57 the toolkit of CUDA 11 (python -m pip show numba tells); for a newer one cuda-version=12 cuda-nvcc cuda-nvrtc cuda-cudart", "conda install -c conda-forge cudatoolkit=11.2")  # fmt: skip
