"""Who brought a library file, and which version it is: by file name, by package, by the header beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from gpuwhy.knowledge.libraries import Family, LibraryName
from gpuwhy.model.fact import Fact, Known, Unknown, known, value_or
from gpuwhy.model.facts import Distribution
from gpuwhy.model.version import numbers
from gpuwhy.observe.scene import Scene
from gpuwhy.observe.toolkits import conda_package, conda_prefix, site_packages

_DEFINE = re.compile(r"\s*#\s*define\s+(\w+)\s+(\d+)\b")
_CU_FOLDER = re.compile(r"nvidia/cu(\d+)/")
_CONDA = r"(lib)?(cu|nccl|nv|tensorrt)[\w-]*-\d[^-]*-[^-]*\.json$"
_DPKG = r"(lib|nvidia-)?(cud|cub|cuf|cur|cus|nccl|nv(?!idia)|tensorrt|gds-tools)[^/]*\.list$"
_DPKG_INFO = "/var/lib/dpkg/info"
_HASH_SIZE = 1 << 20


class Owner(NamedTuple):
    """The package of a file, and the version that package gives the library ("" when it says nothing of it)."""

    fact: Fact[str]
    version: str = ""


class Owners:
    """Answers for one scene; package lists are read when a copy first needs them."""

    def __init__(self, scene: Scene) -> None:
        self._host = scene.host
        self._distributions = value_or(scene.facts.target.distributions, ())
        self._prefix = conda_prefix(scene)
        self._sites = tuple(
            dict.fromkeys(s for f in site_packages(scene) for s in (f, value_or(self._host.real(f), f)))
        )

    # ------------------------------------------------------------ owner

    def owner(self, library: LibraryName, path: str, real: str, size: Fact[int]) -> Owner:
        """The package that brought a copy."""
        for place in (path, real):
            for site in self._sites:
                if place.startswith(f"{site}/"):
                    return self._wheel(library, site, place.removeprefix(f"{site}/"), size)
        if self._prefix and path.startswith(f"{self._prefix}/"):
            return self._conda(library.family)
        if path.startswith(("/usr/", "/lib", "/opt/")):
            return self._dpkg(library, path, real)
        return Owner(Unknown(f"{path} is in no folder that a package manager is known to fill"))

    def _wheel(self, library: LibraryName, site: str, inside: str, size: Fact[int]) -> Owner:
        candidates = candidate_wheels(self._distributions, library.family, inside)
        own = inside.startswith(("nvidia/", "tensorrt"))
        if len(candidates) > 1:
            candidates = self._by_record(candidates, site, inside, value_or(size, -1))
        elif own and _in_anothers_folder(library.family, inside):
            candidates = [one for one in candidates if self._may_have_brought(one, inside)]
        if len(candidates) == 1:
            name, version = candidates[0].name, candidates[0].version
            fact = known(f"{name} {version} (pip)", "package", candidates[0].location)
            return Owner(fact, _places(version, library.family.places) if own else "")
        if candidates:
            both = " and ".join(f"{d.name} {d.version}" for d in candidates)
            return Owner(Unknown(f"{both} both claim {inside}", "gpuwhy check --verify"))
        return Owner(Unknown(f"no installed distribution is known to bring {inside}"))

    def _by_record(self, candidates: list[Distribution], site: str, inside: str, size: int) -> list[Distribution]:
        """Those whose RECORD describes the bytes on disk; all of them when none does."""
        rows = {candidate: self._row(candidate, inside) for candidate in candidates}
        same_size = [one for one, row in rows.items() if row[-1] == str(size)]
        if len(same_size) < 2 or not 0 <= size <= _HASH_SIZE:
            return same_size or candidates
        actual = value_or(self._host.sha256(f"{site}/{inside}"), "")
        return [one for one in same_size if rows[one][1] == f"sha256={actual}"] or same_size

    def _may_have_brought(self, candidate: Distribution, inside: str) -> bool:
        """Whether its RECORD lists the file, or cannot be asked."""
        listed = self._host.lines(f"{candidate.location}/RECORD", inside.rpartition("/")[2])
        return not isinstance(listed, Known) or any(line.startswith(f"{inside},") for line in listed.value)

    def _row(self, candidate: Distribution, inside: str) -> list[str]:
        """What a RECORD says of a file: its name, its hash, its size."""
        folder = inside.rpartition("/")[0]
        lines = value_or(self._host.lines(f"{candidate.location}/RECORD", f"{folder}/lib"), ())
        return next((line.split(",") for line in lines if line.startswith(f"{inside},")), ["", "", ""])

    def _conda(self, family: Family) -> Owner:
        files = self._host.list(f"{self._prefix}/conda-meta", _CONDA)
        if isinstance(files, Unknown):
            return Owner(files)
        versions = dict(conda_package(entry.name) for entry in value_or(files, ()))
        for name in family.conda:
            if name in versions:
                fact = known(f"{name} {versions[name]} (conda)", "package", f"{self._prefix}/conda-meta")
                return Owner(fact, "" if name == "cudatoolkit" else _places(versions[name], family.places))
        return Owner(Unknown(f"no conda package of {family.name} is listed in {self._prefix}/conda-meta"))

    def _dpkg(self, library: LibraryName, path: str, real: str) -> Owner:
        lists = self._host.list(_DPKG_INFO, _DPKG)
        if not isinstance(lists, Known):
            return Owner(Unknown(f"{_DPKG_INFO} is not there: not a dpkg system, or its package lists were removed"))
        wanted = re.compile(library.family.dpkg)
        for entry in lists.value:
            if not wanted.match(entry.name):
                continue
            lines = value_or(self._host.lines(f"{_DPKG_INFO}/{entry.name}", f"/lib{library.stem}.so"), ())
            if any(_same_file(line, place) for line in lines for place in (path, real)):
                name = entry.name.removesuffix(".list").partition(":")[0]
                return Owner(known(f"{name} (dpkg)", "file", f"{_DPKG_INFO}/{entry.name}"))
        return Owner(Unknown(f"no dpkg package of {library.family.name} lists {path}", f"dpkg -S {real or path}"))

    # ------------------------------------------------------------ version

    def version(self, library: LibraryName, path: str, real: str, owner: Owner) -> Fact[str]:
        """The exact version: the real file's name, its package, the header beside it, else Unknown."""
        suffix = (real or path).rpartition(".so.")[2]
        if suffix.count(".") >= 2 and re.fullmatch(r"[\d.]+", suffix):
            return known(suffix, "file", real, "its name")
        if owner.version:
            return known(owner.version, "package", value_or(owner.fact, ""))
        return self._by_header(library, path, real)

    def _by_header(self, library: LibraryName, path: str, real: str) -> Fact[str]:
        family, major = library.family, library.suffix.partition(".")[0]
        unknown = Unknown(f"{path}: neither its name nor a package nor a header beside it tells its version")
        if not family.header or not real:
            return unknown
        for folder in dict.fromkeys(f.rpartition("/")[0].rpartition("/")[0] for f in (real, path)):
            header = f"{folder}/include/{family.header}"
            lines = self._host.lines(header, *family.macros)
            version = defined_version(lines.value, family.macros) if isinstance(lines, Known) else ""
            if version and major in ("", version.partition(".")[0]):
                return known(version, "file", header)
        return unknown


def candidate_wheels(distributions: Sequence[Distribution], family: Family, inside: str) -> list[Distribution]:
    """The installed distributions that write to `inside`, a path below site-packages, by the nvidia wheels' naming."""
    top = inside.partition("/")[0]
    if toolkit := _CU_FOLDER.match(inside):
        suffixed = [f"{base}-cu{toolkit[1]}" for base in family.wheels]
        return _called(distributions, family.wheels) or _called(distributions, suffixed)
    pattern = re.compile(_OWNERS[top] if top in _OWNERS else _named_after(top, family))
    return [one for one in distributions if pattern.match(one.name)]


def _in_anothers_folder(family: Family, inside: str) -> bool:
    """Whether a library of a family lies where the wheel of another one writes: somebody copied it there."""
    folder = inside.split("/")[1] if inside.startswith("nvidia/") else ""
    own = {base.removeprefix("nvidia-").replace("-", "_") for base in family.wheels}
    return bool(folder) and folder not in own and not _CU_FOLDER.match(inside)


def _called(distributions: Sequence[Distribution], names: Sequence[str]) -> list[Distribution]:
    return [one for one in distributions if one.name in names]


_OWNERS = {"tensorrt_libs": r"tensorrt(-cu\d+)?-libs$", "tensorrt": r"tensorrt$"}


def _named_after(top: str, family: Family) -> str:
    """The names of the wheels that write to a top folder: NVIDIA's share one."""
    if top == "nvidia":
        return "|".join(rf"{re.escape(base)}-cu\d+$" for base in family.wheels)
    return re.escape(re.sub(r"[-_.]+", "-", top.removesuffix(".libs")).lower()) + "$"


def defined_version(lines: Sequence[str], macros: Sequence[str]) -> str:
    """The version that some #define lines spell; "" when one is missing."""
    values = {m[1]: m[2] for line in lines if (m := _DEFINE.match(line))}
    if any(macro not in values for macro in macros[:3]):
        return ""
    if len(macros) == 1:
        code = int(values[macros[0]])
        return f"{code // 1000}.{code % 1000 // 10}"
    return ".".join(values[macro] for macro in macros if macro in values)


def _places(version: str, count: int) -> str:
    return ".".join(str(n) for n in numbers(version)[:count])


def _same_file(listed: str, path: str) -> bool:
    """Whether a package's path is this one; /lib and /usr/lib are the same folder on merged systems."""
    return bool(path) and listed.removeprefix("/usr") == path.removeprefix("/usr")
