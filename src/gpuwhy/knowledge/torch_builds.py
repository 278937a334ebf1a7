"""PyTorch's builds: which CUDA builds its own index has of a release, and what goes with a release.

That index cannot be harvested; the builds are those of PyTorch's release matrix and its page of
previous versions, the code in them that of the scripts which build them.
"""

import re
from functools import lru_cache

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge.pairs import allows, unstated
from gpuwhy.knowledge.releases import Release, family
from gpuwhy.knowledge.tables import load

INDEX = "https://download.pytorch.org/whl"
OLD_LIST = f"{INDEX}/torch_stable.html"
_NEWEST_ROW = "2.14"
_LISTED = ("1.12", "1.13", *(f"2.{minor}" for minor in range(15)))


class Variant(msgspec.Struct, frozen=True):
    """One CUDA build of a torch release."""

    cuda: str
    code: tuple[str, ...]  # () = not known
    source: Source

    @property
    def backend(self) -> str:
        """The name of its index: cu126."""
        return "cu" + "".join(str(n) for n in numbers(self.cuda)[:2])


class Table(msgspec.Struct, frozen=True):
    """torch_builds.json."""

    sources: dict[str, Source]
    builds: dict[str, tuple[str, ...]]  # release: CUDA versions, oldest first
    on_arm: dict[str, dict[str, str]]  # release: CUDA: machine code; servers, not Jetson
    code: dict[str, tuple[tuple[str, str], ...]]  # CUDA: (first release, machine code)
    ends: dict[str, str]  # the last torch of indexes that are older than the matrix
    mirrored: frozenset[str]  # PyTorch, its companions and what they require


def _table() -> Table:
    return load("torch_builds.json", Table)


def source(name: str) -> Source:
    """Where something is said: matrix, previous, scripts, arm, held."""
    return _table().sources[name]


def listed_in(version: str, machine: str = "x86_64") -> Source:
    """Where it is said that a build of a release exists."""
    if machine == "aarch64":
        return source("arm")
    return source("matrix" if at_least(version, "1.12") else "previous")


def variants(version: str, machine: str = "x86_64") -> tuple[Variant, ...]:
    """The CUDA builds of a torch release, newest CUDA first; () where no list has the release."""
    release, where = major_minor(version), listed_in(version, machine)
    if machine == "aarch64":
        found = [*_table().on_arm.get(release, {}).items()]
    else:
        found = [(cuda, _code(cuda, version)) for cuda in _table().builds.get(release, ())]
    return tuple(
        Variant(cuda, tuple(f"sm_{number}" for number in code.split()), where)
        for cuda, code in reversed(found)
    )


def other_cudas(version: str, cuda: str) -> str:
    """The further CUDA releases that a torch release is built for: 12.6 and 13.2."""
    more = [one.cuda for one in reversed(variants(version)) if one.cuda != major_minor(cuda)]
    return " and ".join(filter(None, (", ".join(more[:-1]), *more[-1:])))


def _code(cuda: str, version: str) -> str:
    """The machine code of a build: the last row whose release is not newer holds."""
    rows = [code for since, code in _table().code.get(cuda, ()) if at_least(version, since)]
    return rows[-1] if rows else ""


# ---------------------------------------------------------------- its indexes


def index_of(backend: str) -> str:
    """The address of an index, as an option of pip: cu126 → …/whl/cu126."""
    return f"{INDEX}/{backend}"


def in_old_list(version: str) -> bool:
    """Whether a build is on the one list of files of old releases, and on no index of its own."""
    return not at_least(version, "1.11")


def index_ends(name: str) -> str:
    """The last torch release (2.7) that an index has; "" where it goes on, or is not known."""
    if name in _table().ends:
        return _table().ends[name]
    held = [minor for minor in _LISTED if any(one.backend == name for one in variants(minor))]
    return held[-1] if held and not at_least(held[-1], _NEWEST_ROW) else ""


def is_mirrored(name: str) -> bool:
    """Whether PyTorch's index has a package, or may have it."""
    return name in _table().mirrored or bool(re.match(r"nvidia-|torch|tensorrt", name))


# ---------------------------------------------------------------- its companions


def going_with(package: str, torch: str) -> str:
    """The newest release of a package whose own metadata takes this torch; "" without a row."""
    rows = enumerate(_final_rows(package))
    fit = [(numbers(row.version), at) for at, row in rows if allows(_torch_of(row), torch)]
    return _final_rows(package)[max(fit)[1]].version if fit else ""


def _torch_of(row: Release) -> str:
    asks = row.pairs if isinstance(row.pairs, dict) else unstated(row.name, row.version)
    return asks.get("torch", "").partition("+")[0]


@lru_cache(maxsize=64)
def _final_rows(package: str) -> tuple[Release, ...]:
    """The rows that say which torch they are for; withdrawn ones and previews are left out."""
    known = family(package)
    here = (row for row in known.rows if row.platform == "linux-x86_64") if known else ()
    kept = (row for row in here if not row.yanked and not row.gone and _torch_of(row))
    return tuple(row for row in kept if re.fullmatch(r"[\d.]+(\+.*|\.post\d+)?", row.version))
