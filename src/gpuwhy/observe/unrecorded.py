"""Unrecorded: packages without a list of their files, as an installation that was cut short leaves them.

Installers write RECORD last, and the metadata folder shortly before. What such a package lacks is seen by following
the imports that run whenever it is imported, within the package itself, and by the headers of its libraries.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from gpuwhy.host.base import Entry
from gpuwhy.knowledge.flavours import flavour
from gpuwhy.model.fact import Absent, Known, Unknown, value_or
from gpuwhy.model.facts import Damage, Distribution
from gpuwhy.observe.altered import VERSION
from gpuwhy.observe.distributions import by_metadata
from gpuwhy.observe.scene import Scene

_MODULES = ("torch", "tensorflow", "jax", "jaxlib", "onnxruntime", "cupy", "numpy")
_ALSO_FIRST = {"jaxlib": ("xla_client",)}
"""Modules that a package's own __init__ does not import, and whoever imports the package does."""
_COMPILED = re.compile(r"\.(so|pyd)$")
_ASIDE = re.compile(r"~+(?P<rest>[\w.]+?)-(?P<version>\d[^-]*)\.dist-info")
"""How pip calls what it has moved aside: with another first letter."""
_MOST_FILES, _MOST_LIBRARIES, _MOST_PARTS = 80, 60, 4000


class Package(NamedTuple):
    """A package on the disk: its folder and who it belongs to."""

    folder: str
    owner: str

    @property
    def name(self) -> str:
        """Its import name."""
        return self.folder.rpartition("/")[2]


def unrecorded(scene: Scene, among: Iterable[Distribution]) -> Iterator[Damage]:
    """What is missing or cut in packages that no RECORD describes."""
    known = list(among)
    for package in (*_without_record(scene, known), *_without_metadata(scene)):
        yield from _cut(scene, package)
        yield from _lacking(scene, package)
    yield from _broken_off(scene)


def _broken_off(scene: Scene) -> Iterator[Damage]:
    """Frameworks that pip had moved aside (~orch) for another release when it was ended: neither is whole."""
    names = {one.name for one in value_or(scene.facts.target.distributions, ())}
    for site in value_or(scene.facts.target.site_packages, ()):
        for entry in value_or(scene.host.list(site, r"~.*\.dist-info$"), ()):
            aside = _ASIDE.fullmatch(entry.name)
            module = next((one for one in _MODULES if aside and one[1:] == aside["rest"]), "")
            if not aside or not module or module in names:
                continue
            path = _not_there(scene, site, entry.name, module)
            if path:
                version = by_metadata(scene, f"{site}/{entry.name}", "dist-info")[1] or aside["version"]
                yield Damage(path, f"{module} {version}", "missing", "", f"an upgrade was broken off: {entry.name}")


def _not_there(scene: Scene, site: str, aside: str, module: str) -> str:
    """The first package of what was moved aside, by its list of files, that is not in its old place; "" if all are."""
    lines = value_or(scene.host.lines(f"{site}/{aside}/RECORD", "/__init__.py,"), ())
    named = (line.partition(",")[0] for line in lines if line.startswith(f"{module}/"))
    paths = (f"{site}/{one}" for one in dict.fromkeys((f"{module}/__init__.py", *named)))
    return next((path for path in islice(paths, _MOST_PARTS) if isinstance(scene.host.stat(path), Absent)), "")


def _without_record(scene: Scene, among: Iterable[Distribution]) -> Iterator[Package]:
    for dist in among:
        site = dist.location.rpartition("/")[0]
        if not dist.location.endswith(".dist-info") or not isinstance(
            scene.host.stat(f"{dist.location}/RECORD"), Absent
        ):
            continue
        kind = flavour(dist.name)
        folder = f"{site}/{kind.module if kind else dist.name.replace('-', '_')}"
        if isinstance(scene.host.stat(f"{folder}/__init__.py"), Known):
            yield Package(folder, f"{dist.name} {dist.version}")


def _without_metadata(scene: Scene) -> Iterator[Package]:
    """Folders of the frameworks that no installed distribution is called after."""
    installed = value_or(scene.facts.target.distributions, ())
    named = {kind.module if (kind := flavour(one.name)) else one.name.replace("-", "_") for one in installed}
    wanted = [name for name in _MODULES if name not in named and not any(one.startswith(f"{name}_") for one in named)]
    for site in value_or(scene.facts.target.site_packages, ()) if wanted else ():
        for entry in value_or(scene.host.list(site, rf"({'|'.join(wanted)})$"), ()):
            if isinstance(scene.host.stat(f"{site}/{entry.name}/__init__.py"), Known):
                folder = f"{site}/{entry.name}"
                yield Package(folder, f"{entry.name} {_version(scene, folder)}".strip())


def _version(scene: Scene, folder: str) -> str:
    """What the package says of itself."""
    for name in ("version.py", "_version.py"):
        lines = value_or(scene.host.lines(f"{folder}/{name}", "ersion"), ())
        for line in lines:
            if found := VERSION.match(line):
                return found[1].partition("+")[0]
    return ""


def _cut(scene: Scene, package: Package) -> Iterator[Damage]:
    """Libraries that are empty or end too early."""
    folders = (package.folder, f"{package.folder}/lib")
    found = [
        f"{folder}/{e.name}" for folder in folders for e in value_or(scene.host.list(folder, r".*\.so(\.\d+)*$"), ())
    ]
    for path in found[:_MOST_LIBRARIES]:
        stat, elf = scene.host.stat(path), scene.host.elf(path)
        if isinstance(elf, Unknown) and elf.kind in ("foreign", "cut"):
            yield Damage(
                path, package.owner, "not ELF" if elf.kind == "foreign" else "truncated", "", "no whole ELF file"
            )
        elif isinstance(elf, Known) and isinstance(stat, Known) and elf.value.extent > stat.value.size:
            told = f"{stat.value.size} bytes, its headers say {elf.value.extent}"
            yield Damage(path, package.owner, "truncated", "", told)


def _lacking(scene: Scene, package: Package) -> Iterator[Damage]:
    """The first module that an import of the package asks for and does not find."""
    waiting = ["__init__", *_ALSO_FIRST.get(package.name, ())]
    seen: set[str] = set()
    while waiting and len(seen) < _MOST_FILES:
        module = waiting.pop(0)
        if module in seen or module == "-":
            continue
        seen.add(module)
        for wanted in _imports(scene, package, module):
            found = _found(scene, package, wanted)
            if not found:
                path = f"{package.folder}/{wanted.lstrip('?').replace('.', '/')}"
                yield Damage(path, package.owner, "module missing", "", "no file")
                return
            waiting.append(found)


def _imports(scene: Scene, package: Package, module: str) -> Iterator[str]:
    """The modules of the package, by their name within it, that a module imports without a condition."""
    text = scene.host.read(f"{package.folder}/{module.replace('.', '/')}.py")
    try:
        body = ast.parse(text.value).body if isinstance(text, Known) else []
    except (SyntaxError, ValueError, RecursionError):
        return
    here = module.split(".")[:-1]
    for node in body:
        if isinstance(node, ast.Import):
            yield from (name for one in node.names if (name := _inside(package, one.name)))
        elif isinstance(node, ast.ImportFrom) and node.level <= len(here) + 1:
            yield from _from(package, node, here)


def _inside(package: Package, name: str) -> str:
    return name.removeprefix(f"{package.name}.") if name.startswith(f"{package.name}.") else ""


def _from(package: Package, node: ast.ImportFrom, here: list[str]) -> Iterator[str]:
    """`from .a import b` asks for a; what b is cannot be told, so of `from . import b` only a stub's folder counts."""
    base = here[: len(here) + 1 - node.level] if node.level else []
    inside = node.module if node.level else _inside(package, node.module or "")
    if inside:
        yield ".".join([*base, inside])
    elif node.level:
        yield from (f"?{'.'.join([*base, one.name])}" for one in node.names if one.name != "*")


def _found(scene: Scene, package: Package, asked: str) -> str:
    """The file to read on with, "" where nothing of that name is there; a folder is read by its __init__."""
    module = asked.lstrip("?")
    for place in range(1, module.count(".") + 2):
        parts = module.split(".")[:place]
        there = _there(scene, package, parts)
        if any(_COMPILED.search(entry.name) for entry in there):
            return "-"  # what lies below a compiled module is made when it is loaded
        if not there:
            return "-" if asked != module else ""
    folder = f"{package.folder}/{module.replace('.', '/')}"
    if all(entry.kind == "file" for entry in there):
        return module
    if _only_stubs(scene, folder):
        return ""
    return f"{module}.__init__" if asked == module else "-"


def _there(scene: Scene, package: Package, parts: list[str]) -> tuple[Entry, ...]:
    parent = "/".join([package.folder, *parts[:-1]])
    return value_or(scene.host.list(parent, rf"{re.escape(parts[-1])}(\.(py|pyc|so|pyd|cpython.*|abi3.*))?$"), ())


def _only_stubs(scene: Scene, folder: str) -> bool:
    """Whether a folder has the types of a compiled module, and the module beside it is gone."""
    names = {entry.name for entry in value_or(scene.host.list(folder, r"__init__\.pyi?$"), ())}
    return names == {"__init__.pyi"}
