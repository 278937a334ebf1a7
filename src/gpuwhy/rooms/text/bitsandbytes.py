"""bitsandbytes: which release has a library for a CUDA version, by the harvested rows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.knowledge.releases import family
from gpuwhy.model.cause import Fix
from gpuwhy.model.symptom import Reading
from gpuwhy.model.version import at_least, numbers

_LIBRARY = re.compile(r"libbitsandbytes_cuda(\d\d)(\d)")


def matching(reading: Reading, windows: bool) -> Iterator[Fix]:
    """The newest release with a library for the CUDA that was looked for; else the nearest library that it has."""
    found = next(filter(None, (_LIBRARY.search(one.text) for one in reading.all("bnb."))), None)
    if found is None:
        return
    builds = _builds("windows-x86_64" if windows else "linux-x86_64")
    if not builds:
        return
    cuda, newest = f"{found[1]}.{found[2]}", next(reversed(builds))
    having = [version for version, has in builds.items() if cuda in has]
    if having:
        wanted = "--upgrade bitsandbytes" if having[-1] == newest else f'"bitsandbytes=={having[-1]}"'
        text = f"Install bitsandbytes {having[-1]}, the newest release with a library for CUDA {cuda}"
        yield Fix(text, f"pip install {wanted}", safe=True)
    else:
        yield from _nearest(cuda, newest, builds[newest], "set" if windows else "export")


def _nearest(cuda: str, newest: str, has: Sequence[str], set_: str) -> Iterator[Fix]:
    near = [one for one in has if numbers(one)[0] == numbers(cuda)[0] and at_least(cuda, one)]
    if not near and not at_least(cuda, "11"):
        yield Fix(f"No release has a library for CUDA {cuda}: bitsandbytes begins with CUDA 11. Install a PyTorch that brings CUDA 11.8 or newer (driver 450 or newer runs it), and the newest bitsandbytes, which takes PyTorch's CUDA", "pip install --upgrade torch --index-url https://download.pytorch.org/whl/cu118\npip install --upgrade bitsandbytes", safe=True)  # fmt: skip
        yield Fix("And leave the old toolkit out of the search, which bitsandbytes finds first", "unset LD_LIBRARY_PATH CUDA_HOME BNB_CUDA_VERSION", safe=True)  # fmt: skip
    if near:
        text = f"No release has a library for CUDA {cuda}: install {newest}, and let it take the one for {near[-1]}"
        command = f"pip install --upgrade bitsandbytes\n{set_} BNB_CUDA_VERSION={near[-1].replace('.', '')}"
        yield Fix(text, command, safe=True)


def for_windows(reading: Reading, windows: bool) -> Iterator[Fix]:
    """The first release that has libraries for Windows."""
    builds = _builds("windows-x86_64") if windows and reading.has("bnb.") else {}
    if builds:
        text = f"Install bitsandbytes {next(iter(builds))} or newer: older releases have libraries for Linux only"
        yield Fix(text, f'pip install --upgrade "bitsandbytes>={next(iter(builds))}"', safe=True)


def _builds(platform: str) -> dict[str, list[str]]:
    """Release → the CUDA versions it has a library for, oldest release first."""
    known = family("bitsandbytes")
    rows = [row for row in known.rows if row.platform == platform] if known else []
    return {row.version: row.also.get("builds", "").split() for row in rows if isinstance(row.also, dict)}
