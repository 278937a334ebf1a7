"""Brought: which of NVIDIA's wheels a package brings, by its own metadata and by that of its helpers.

    python -m tools.harvest.brought [NAME …]          # writes knowledge/data/brought.json; names alone are read anew

cudf-cu12 asks for libcudf-cu12, and that for nvidia-nvjitlink-cu12>=12.9: as an installer finds out.
A helper is read in the newest release that the asking release allows. JAX is read with its extras, cuda12 and cuda13.
"""

from __future__ import annotations

import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import NamedTuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tools.harvest.guests import DATA, GUESTS, LINUX, version_of
from tools.harvest.index import IndexFile, address, files
from tools.harvest.stated import metadata
from tools.harvest.web import Web

WHEELS = re.compile(r"nvidia-(?!ml-py|pyindex|smi|dali|modelopt|nat).+|cuda-toolkit|cutensor.*")
HELPERS = re.compile(
    r"(py)?lib\w+-cu1\d|(cu\w+|rmm|raft-dask|pylibraft|kvikio|nvforest)-cu1\d|numba-cuda(-mlir)?|nvmath-python"
)
OTHERS = ("vllm", "xformers", "bitsandbytes", "ctranslate2", "torchvision", "torchaudio", "tensorrt-llm", "numba-cuda")
SAMPLE, DEPTH = 12, 5


class Seed(NamedTuple):
    """A package, and the extra it is read with."""

    name: str
    extra: str = ""


WEB, INDEX = Web(), address()
Asks = dict[str, str]


@cache
def releases(name: str) -> dict[Version, list[IndexFile]]:
    """The published releases with a Linux or pure wheel, oldest first."""
    out: dict[Version, list[IndexFile]] = {}
    for one in files(WEB, INDEX, name) or ():
        version = version_of(one.name)
        fits = one.name.endswith(".whl") and ("any.whl" in one.name or ("linux" in one.name and "x86_64" in one.name))
        if version and fits and not one.yanked and not version.is_prerelease:
            out.setdefault(version, []).append(one)
    return dict(sorted(out.items()))


@cache
def wanted(name: str, version: Version) -> tuple[Requirement, ...]:
    """What one release requires."""
    text = metadata(WEB, releases(name)[version][-1]) or ""
    out = []
    for line in text.split("\n\n", 1)[0].splitlines():
        if line.startswith("Requires-Dist: "):
            try:
                out.append(Requirement(line.removeprefix("Requires-Dist: ")))
            except InvalidRequirement:
                continue
    return tuple(out)


def brought(name: str, version: Version, extras: frozenset[str], depth: int = 0) -> Asks:
    """What a release asks of NVIDIA's wheels, itself or by its helpers."""
    out: dict[str, list[str]] = {}
    for one in wanted(name, version):
        other = canonicalize_name(one.name)
        held = one.marker is None or any(one.marker.evaluate({**LINUX, "extra": e}) for e in ("", *extras))
        if not held or one.url:
            continue
        if WHEELS.fullmatch(other):
            inside = f"[{','.join(sorted(one.extras))}]" if one.extras else ""
            out.setdefault(other + inside, []).append(str(one.specifier))
        elif HELPERS.fullmatch(other) and depth < DEPTH:
            fitting = [v for v in releases(other) if one.specifier.contains(v)]
            below = brought(other, fitting[-1], frozenset(one.extras), depth + 1) if fitting else {}
            for wheel, spec in below.items():
                out.setdefault(wheel, []).append(spec)
    return {wheel: _joined(specs) for wheel, specs in sorted(out.items())}


def _joined(specs: list[str]) -> str:
    return ",".join(sorted({clause for spec in specs for clause in spec.split(",") if clause}))


def of(seed: Seed) -> list[list[object]]:
    """[["1.0 1.1", asks]…], oldest first; neighbours that ask for the same in one row."""
    versions = list(releases(seed.name))
    extras = frozenset({seed.extra} if seed.extra else ())
    some = versions[:: -max(1, len(versions) // SAMPLE)]
    if not any(brought(seed.name, version, extras) for version in some):
        return []
    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(lambda version: brought(seed.name, version, extras), versions))
    rows: list[list[object]] = []
    for version, asks in zip(versions, said, strict=True):
        if rows and rows[-1][1] == asks:
            rows[-1][0] = f"{rows[-1][0]} {version}"
        else:
            rows.append([str(version), asks])
    return [row for row in rows if row[1]]


def main(names: list[str]) -> int:
    """Read all seeds, or some of them, and write the table."""
    path = DATA / "brought.json"
    table = json.loads(path.read_text())["packages"] if names and path.exists() else {}
    every = [*map(Seed, dict.fromkeys((*GUESTS, *OTHERS))), Seed("jax", "cuda12"), Seed("jax", "cuda13")]
    for seed in every:
        if names and seed.name not in names:
            continue
        rows = of(seed)
        key = f"{seed.name}[{seed.extra}]" if seed.extra else seed.name
        if rows:
            table[key] = rows
        print(key, len(rows), file=sys.stderr, flush=True)
    body = ",\n".join(f"{json.dumps(n)}:{json.dumps(rows, separators=(',', ':'))}" for n, rows in sorted(table.items()))
    path.write_text(f'{{"schema":"gpuwhy.knowledge.brought/1","packages":{{\n{body}\n}}}}\n')
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
