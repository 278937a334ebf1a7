"""Who brought a library file, and which version it is: by file name, package or its bytes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from gpuwhy.facts.environment import FileRow, Package
from gpuwhy.facts.fact import Fact, Known, Owner, Unknown, known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.version import numbers
from gpuwhy.look.files import real
from gpuwhy.look.toolkits import conda_packages, conda_prefix
from gpuwhy.machine.machine import Machine

if TYPE_CHECKING:
    from gpuwhy.knowledge.libraries import Family, LibraryName

_CONDA = r"(lib)?(cu|nccl|nv|tensorrt)[\w-]*-\d[^-]*-[^-]*\.json$"
_HASH_SIZE = 1 << 20
_SHARED = {"tensorrt_libs": r"tensorrt(-cu\d+)?-libs$", "tensorrt": r"tensorrt$"}
"""Folders of site-packages that packages of several names write to."""


class OwnerAndVersion(NamedTuple):
    """The package of a file, and the version that it gives the library ("" when it gives none)."""

    fact: Fact[Owner]
    version: str = ""


class Owners:
    """Answers for one machine."""

    def __init__(self, machine: Machine, facts: Facts) -> None:
        self._machine = machine
        self._packages = value_or(facts.environment.packages, ())
        self._prefix = conda_prefix(machine, facts)
        sites = [one.path.rstrip("/") for one in value_or(facts.environment.sites, ())]
        pairs = ((site, real(machine, site)) for site in sites)
        self._sites = tuple(dict.fromkeys(path for pair in pairs for path in pair))

    def owner(self, library: LibraryName, path: str, real: str, size: Fact[int]) -> OwnerAndVersion:
        """The package that brought a copy."""
        for place in (path, real):
            for site in self._sites:
                if place.startswith(f"{site}/"):
                    return self._wheel(library, site, place.removeprefix(f"{site}/"), size)
        family, folder = library.family, f"{self._prefix}/conda-meta"
        if self._prefix and path.startswith(f"{self._prefix}/"):
            versions = conda_packages(self._machine, self._prefix, _CONDA)
            name = next((one for one in family.conda if one in versions), "")
            if name:
                fact = known(Owner(name, versions[name], "conda"), "package", folder)
                whole = name == "cudatoolkit"
                version = "" if whole else _places(versions[name], family.places)
                return OwnerAndVersion(fact, version)
            reason = f"no conda package of {family.name} is listed in {folder}"
            return OwnerAndVersion(Unknown(reason))
        reason = f"{path} is in no folder that a package manager is known to fill"
        return OwnerAndVersion(Unknown(reason))

    def _wheel(
        self, library: LibraryName, site: str, inside: str, size: Fact[int]
    ) -> OwnerAndVersion:
        """By the folder's name; of several those whose RECORD describes the bytes on disk; none of
        another family, in whose folder somebody copied the file.
        """
        found, family = wheels_of(self._packages, library.family, inside), library.family
        own = inside.startswith(("nvidia/", "tensorrt"))
        if len(found) > 1:
            rows = [(one, one.files.find(inside) or FileRow("")) for one in found]
            fits = [(one, row) for one, row in rows if row.size == value_or(size, -1)]
            if len(fits) > 1 and fits[0][1].size <= _HASH_SIZE:
                actual = value_or(self._machine.sha256(f"{site}/{inside}"), "")
                fits = [pair for pair in fits if pair[1].sha256 == actual] or fits
            found = [one for one, _ in fits] or found
        elif inside.startswith("nvidia/") and not re.match(r"nvidia/cu\d+/", inside):
            usual = {base.removeprefix("nvidia-").replace("-", "_") for base in family.wheels}
            if inside.split("/")[1] not in usual:
                found = [o for o in found if o.files.known != "all" or o.files.find(inside)]
        if len(found) == 1:
            version = _places(found[0].version, family.places) if own else ""
            return OwnerAndVersion(known(found[0].owner, "package", found[0].location), version)
        both = " and ".join(str(one.owner) for one in found)
        none = f"no installed package is known to bring {inside}"
        return OwnerAndVersion(Unknown(f"{both} both claim {inside}" if both else none))

    def version(self, path: str, real: str, owner: OwnerAndVersion) -> Fact[str]:
        """By the real file's name, its package, else its own bytes; a DLL's bytes come first."""
        suffix, dll = (real or path).rpartition(".so.")[2], path.lower().endswith(".dll")
        if suffix.count(".") >= 2 and re.fullmatch(r"[\d.]+", suffix):
            return known(suffix, "file", real, "its name")
        stated = self._machine.cuda_version(path) if dll or not owner.version else None
        if isinstance(stated, Known):
            return stated
        if owner.version:
            return known(owner.version, "package", str(value_or(owner.fact, "")))
        return Unknown(f"{path}: neither its name nor a package nor the file states its version")


def wheels_of(packages: Sequence[Package], family: Family, inside: str) -> list[Package]:
    """The installed packages that write to a path below site-packages, by their names."""
    top = inside.partition("/")[0]
    if toolkit := re.match(r"nvidia/cu(\d+)/", inside):
        suffixed = [f"{base}-cu{toolkit[1]}" for base in family.wheels]
        plain = [one for one in packages if one.name in family.wheels]
        return plain or [one for one in packages if one.name in suffixed]
    if top == "nvidia":
        pattern = "|".join(rf"{re.escape(base)}-cu\d+$" for base in family.wheels)
    else:
        named = re.escape(re.sub(r"[-_.]+", "-", top.removesuffix(".libs")).lower()) + "$"
        pattern = _SHARED.get(top, named)
    return [one for one in packages if re.match(pattern, one.name)]


def _places(version: str, count: int) -> str:
    return ".".join(str(one) for one in numbers(version)[:count])
