"""Who brought a library file, and which version it is: by file name, package or header."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from gpuwhy.facts.environment import FileRow, Package
from gpuwhy.facts.fact import Fact, Known, Owner, Unknown, known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.version import numbers
from gpuwhy.look.toolkits import conda_packages, conda_prefix
from gpuwhy.machine.machine import Machine

if TYPE_CHECKING:
    from gpuwhy.knowledge.libraries import Family, LibraryName

_CONDA = r"(lib)?(cu|nccl|nv|tensorrt)[\w-]*-\d[^-]*-[^-]*\.json$"
_DPKG = r"(lib|nvidia-)?(cud|cub|cuf|cur|cus|nccl|nv(?!idia)|tensorrt|gds-tools)[^/]*\.list$"
_DPKG_INFO = "/var/lib/dpkg/info"
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
        reals = [value_or(machine.real(site), site) for site in sites]
        pairs = zip(sites, reals, strict=True)
        self._sites = tuple(dict.fromkeys(path for pair in pairs for path in pair))

    def owner(self, library: LibraryName, path: str, real: str, size: Fact[int]) -> OwnerAndVersion:
        """The package that brought a copy."""
        for place in (path, real):
            for site in self._sites:
                if place.startswith(f"{site}/"):
                    return self._wheel(library, site, place.removeprefix(f"{site}/"), size)
        if self._prefix and path.startswith(f"{self._prefix}/"):
            return self._conda(library.family)
        if path.startswith(("/usr/", "/lib", "/opt/")):
            return OwnerAndVersion(self._dpkg(library, path, real))
        reason = f"{path} is in no folder that a package manager is known to fill"
        return OwnerAndVersion(Unknown(reason))

    # ------------------------------------------------------------ wheels

    def _wheel(
        self, library: LibraryName, site: str, inside: str, size: Fact[int]
    ) -> OwnerAndVersion:
        candidates = wheels_of(self._packages, library.family, inside)
        own = inside.startswith(("nvidia/", "tensorrt"))
        if len(candidates) > 1:
            candidates = self._by_record(candidates, site, inside, value_or(size, -1))
        elif own and _in_anothers_folder(library.family, inside):
            candidates = [one for one in candidates if _may_have_brought(one, inside)]
        if len(candidates) == 1:
            one = candidates[0]
            version = _places(one.version, library.family.places) if own else ""
            return OwnerAndVersion(known(one.owner, "package", one.location), version)
        if candidates:
            both = " and ".join(str(one.owner) for one in candidates)
            return OwnerAndVersion(Unknown(f"{both} both claim {inside}"))
        return OwnerAndVersion(Unknown(f"no installed package is known to bring {inside}"))

    def _by_record(
        self, candidates: list[Package], site: str, inside: str, size: int
    ) -> list[Package]:
        """Those whose RECORD describes the bytes on disk; all of them when none does."""
        rows = [(one, one.files.find(inside) or FileRow("")) for one in candidates]
        fits = [(one, row) for one, row in rows if row.size == size]
        if len(fits) > 1 and 0 <= size <= _HASH_SIZE:
            actual = value_or(self._machine.sha256(f"{site}/{inside}"), "")
            fits = [pair for pair in fits if pair[1].sha256 == actual] or fits
        return [one for one, _ in fits] or candidates

    # ------------------------------------------------------------ others

    def _conda(self, family: Family) -> OwnerAndVersion:
        folder = f"{self._prefix}/conda-meta"
        versions = conda_packages(self._machine, self._prefix, _CONDA)
        for name in family.conda:
            if name in versions:
                fact = known(Owner(name, versions[name], "conda"), "package", folder)
                whole = name == "cudatoolkit"
                version = "" if whole else _places(versions[name], family.places)
                return OwnerAndVersion(fact, version)
        reason = f"no conda package of {family.name} is listed in {folder}"
        return OwnerAndVersion(Unknown(reason))

    def _dpkg(self, library: LibraryName, path: str, real: str) -> Fact[Owner]:
        lists = self._machine.list(_DPKG_INFO, _DPKG)
        if not isinstance(lists, Known):
            return Unknown(f"{_DPKG_INFO} is not there, which says whose a file is")
        wanted = re.compile(library.family.dpkg)
        for entry in lists.value:
            if not wanted.match(entry.name):
                continue
            file = f"{_DPKG_INFO}/{entry.name}"
            lines = value_or(self._machine.lines(file, f"/lib{library.stem}.so"), ())
            if any(_same_file(line, place) for line in lines for place in (path, real)):
                name = entry.name.removesuffix(".list").partition(":")[0]
                return known(Owner(name, "", "dpkg"), "file", file)
        reason = f"no dpkg package of {library.family.name} lists {path}"
        return Unknown(reason, f"dpkg -S {real or path}")

    # ------------------------------------------------------------ version

    def version(
        self, library: LibraryName, path: str, real: str, owner: OwnerAndVersion
    ) -> Fact[str]:
        """By the real file's name, its package, the header beside it, else Unknown."""
        suffix = (real or path).rpartition(".so.")[2]
        if suffix.count(".") >= 2 and re.fullmatch(r"[\d.]+", suffix):
            return known(suffix, "file", real, "its name")
        if owner.version:
            return known(owner.version, "package", str(value_or(owner.fact, "")))
        return self._by_header(library, path, real)

    def _by_header(self, library: LibraryName, path: str, real: str) -> Fact[str]:
        family, major = library.family, library.suffix.partition(".")[0]
        for file in dict.fromkeys((real, path)) if family.header and real else ():
            header = f"{file.rpartition('/')[0].rpartition('/')[0]}/include/{family.header}"
            lines = value_or(self._machine.lines(header, *family.macros), ())
            version = defined_version(lines, family.macros)
            if version and major in ("", version.partition(".")[0]):
                return known(version, "file", header)
        return Unknown(f"{path}: neither its name nor a package nor a header states its version")


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


def _in_anothers_folder(family: Family, inside: str) -> bool:
    """Whether a library lies where the wheel of another family writes: somebody copied it there."""
    folder = inside.split("/")[1] if inside.startswith("nvidia/") else ""
    own = {base.removeprefix("nvidia-").replace("-", "_") for base in family.wheels}
    return bool(folder) and folder not in own and not re.match(r"nvidia/cu\d+/", inside)


def _may_have_brought(candidate: Package, inside: str) -> bool:
    """Whether its RECORD lists the file, or was not read whole."""
    return candidate.files.known != "all" or candidate.files.find(inside) is not None


def defined_version(lines: Sequence[str], macros: Sequence[str]) -> str:
    """The version that some #define lines spell; "" when one is missing."""
    rows = (re.match(r"\s*#\s*define\s+(\w+)\s+(\d+)\b", line) for line in lines)
    values = {row[1]: row[2] for row in rows if row}
    if any(macro not in values for macro in macros[:3]):
        return ""
    if len(macros) == 1:
        code = int(values[macros[0]])
        return f"{code // 1000}.{code % 1000 // 10}"
    return ".".join(values[macro] for macro in macros if macro in values)


def _places(version: str, count: int) -> str:
    return ".".join(str(one) for one in numbers(version)[:count])


def _same_file(listed: str, path: str) -> bool:
    """Whether a package's path is this one; /lib and /usr/lib are one folder on merged systems."""
    return bool(path) and listed.removeprefix("/usr") == path.removeprefix("/usr")
