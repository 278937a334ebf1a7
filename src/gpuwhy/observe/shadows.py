"""Shadows: files and folders that Python finds before the module that was meant.

Python looks into the script's folder (or the working folder), then PYTHONPATH, then the environment; a line in a .pth
file or a user's own site-packages may come before the environment too.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from gpuwhy.host.archives import ENDINGS
from gpuwhy.host.base import Entry
from gpuwhy.knowledge.modules import IMPORTED_AS, INNER_MODULES, NAMESPACES, STACK_MODULES, STANDARD_MODULES
from gpuwhy.model.fact import Absent, Fact, Known, absent, known, value_or
from gpuwhy.model.facts import SCRIPT_FOLDER, USER_SITE, WORKING_FOLDER, Interpreter, Shadow
from gpuwhy.model.version import major_minor
from gpuwhy.model.words import normal
from gpuwhy.observe.contradictions import asked_by_the_stack, refused_by_the_stack
from gpuwhy.observe.hidden import hidden
from gpuwhy.observe.overlaid import overlaid, strangers
from gpuwhy.observe.own_modules import made_for_others
from gpuwhy.observe.provided import added
from gpuwhy.observe.scene import Scene

NO_FOLDER = "-"
"""The script of a program whose Python looks into no folder of its own (python -I, an installed command)."""
STANDARD = "Python's own library"
_MODULE = re.compile(r"([A-Za-z_]\w*)(?:\.py|\.(?:cpython|abi3)[\w.-]*\.so|\.so)$")
_INSERTED = re.compile(r"sys\.path\.insert\(\s*0\s*,\s*[rR]?(['\"])(?P<folder>[^'\"]+)\1")
_SITE_PYTHON = re.compile(r"/python(\d+\.\d+)/(?:site|dist)-packages$")
_KNOWN_PTH = ("distutils-precedence.pth", "_virtualenv.pth", "matplotlib", "ray", "coverage")
_MOST = 4000  # names of a folder that are looked at


def shadows(scene: Scene) -> Fact[tuple[Shadow, ...]]:
    """What stands in for a module of the GPU stack, or for one of Python's that the stack imports."""
    python = scene.facts.target.interpreter.need()
    if python is None:
        return absent("env", "PATH", "no Python")
    sites = own_sites(scene, python)
    there = _installed(scene, sites)
    places = list(_places(scene, python, sites))
    behind = [one for site in sites for one in added(scene, site)]
    found: dict[str, Shadow] = {}
    for one in (
        *_before(scene, python, places, sites, there),
        *strangers(scene, [*places, *behind], there, major_minor(python.version)),
        *made_for_others(scene, [*places, *behind]),
        *hidden(scene, [*places, *((site, "") for site in sites), *behind], sites),
    ):
        found.setdefault(one.module, one)
    return known(tuple(found.values()), "folder", ", ".join(f for f, _ in places) or "sys.path", "names compared")


def _installed(scene: Scene, sites: list[str]) -> dict[str, str]:
    """The modules that the environment's own folders hold, each with the folder that it is imported from."""
    beside = frozenset(_beside(scene))
    return {
        name: site
        for site in reversed(sites)
        for wanted in (STACK_MODULES, INNER_MODULES, beside)
        for name in _modules(scene, site, wanted)
    }


def _before(
    scene: Scene, python: Interpreter, places: list[tuple[str, str]], sites: list[str], there: dict[str, str]
) -> Iterator[Shadow]:
    """What the folders before the environment hold of its modules."""
    real_sites = {value_or(scene.host.real(site), site) for site in sites}
    for folder, via in places:
        if value_or(scene.host.real(folder), folder) not in real_sites:
            yield from _in_folder(scene, folder, via, there, python)
            yield from overlaid(scene, folder, via, sites)


def own_sites(scene: Scene, python: Interpreter) -> list[str]:
    """The environment's own folders: without PYTHONPATH's, and without the user's."""
    borrowed = {*_pythonpath(scene), *_user_sites(scene, python)}
    return [s for s in scene.facts.target.site_packages.need() or () if s not in borrowed]


def _places(scene: Scene, python: Interpreter, sites: list[str]) -> Iterator[tuple[str, str]]:
    """The folders that are searched before the environment, in order, and what put them there."""
    environ = value_or(scene.host.environ(), {})
    if not environ.get("PYTHONSAFEPATH") and scene.options.script != NO_FOLDER:
        if scene.options.script:
            yield value_or(scene.host.real(scene.options.script), scene.options.script), SCRIPT_FOLDER
        elif scene.options.folder and isinstance(scene.host.offline(), Absent):
            yield value_or(scene.host.real(scene.options.folder), scene.options.folder), WORKING_FOLDER
    yield from ((folder, "PYTHONPATH") for folder in _pythonpath(scene))
    for site in sites:
        yield from _inserted(scene, site)
    if python.kind == "conda":
        yield from ((site, USER_SITE) for site in _user_sites(scene, python))


def _pythonpath(scene: Scene) -> list[str]:
    value = value_or(scene.host.environ(), {}).get("PYTHONPATH", "")
    parts = [part.rstrip("/") or "/" for part in value.split(":") if part]
    start = value_or(scene.host.real(scene.options.folder or "."), "")
    return [p if p.startswith(("/", "~")) else posixpath.normpath(f"{start}/{p}") for p in parts]


def _user_sites(scene: Scene, python: Interpreter) -> list[str]:
    base = value_or(scene.host.environ(), {}).get("PYTHONUSERBASE", "").rstrip("/") or "~/.local"
    return [f"{base}/lib/python{major_minor(python.version)}/site-packages"]


def _inserted(scene: Scene, site: str) -> Iterator[tuple[str, str]]:
    """Folders that a .pth file puts in front; a plain path in one comes behind everything."""
    for entry in value_or(scene.host.list(site, r".*\.pth$"), ()):
        if entry.name.startswith(_KNOWN_PTH):
            continue
        for line in value_or(scene.host.lines(f"{site}/{entry.name}", "sys.path.insert"), ()):
            for match in _INSERTED.finditer(line):
                yield match["folder"].rstrip("/"), f"{site}/{entry.name}"


def _beside(scene: Scene) -> Iterator[str]:
    """The import names of what is installed besides, as far as a distribution's name tells them."""
    for one in value_or(scene.facts.target.distributions, ()):
        name = IMPORTED_AS.get(one.name) or one.name.replace("-", "_").replace(".", "_")
        if name.isidentifier() and name not in STACK_MODULES | INNER_MODULES | STANDARD_MODULES:
            yield name


def _modules(scene: Scene, folder: str, wanted: frozenset[str]) -> Iterator[str]:
    """The modules of some names that a folder holds."""
    yield from (name for name, _ in _named(scene, folder, wanted))


def _name(scene: Scene, folder: str, entry: Entry) -> str:
    """The import name of an entry; "" for what is no module (a folder without __init__.py loses to a package)."""
    match = _MODULE.fullmatch(entry.name)
    if match:
        return match[1]
    if entry.kind == "folder" and folder.endswith(ENDINGS) and entry.name.isidentifier():
        return entry.name
    if entry.kind in ("folder", "link") and entry.name.isidentifier():
        init = scene.host.stat(f"{folder}/{entry.name}/__init__.py")
        return entry.name if isinstance(init, Known) else ""
    return ""


def _named(scene: Scene, folder: str, names: frozenset[str]) -> Iterator[tuple[str, Entry]]:
    """The modules of some names in a folder; each set of names is one question, so that recordings keep its answer."""
    asked = scene.host.list(folder, rf"({'|'.join(sorted(names))})(\.|$)") if names else None
    for entry in (asked.value if isinstance(asked, Known) else ())[:_MOST]:
        name = _name(scene, folder, entry)
        if name in names:
            yield name, entry


def _in_folder(scene: Scene, folder: str, via: str, there: dict[str, str], python: Interpreter) -> Iterator[Shadow]:
    inner, stack = INNER_MODULES & there.keys(), STACK_MODULES & there.keys()
    asked: frozenset[str] | None = None
    for name, entry in (
        *_named(scene, folder, stack | STANDARD_MODULES),
        *_named(scene, folder, inner),
        *_named(scene, folder, frozenset(there) - inner - stack),
    ):
        site = there.get(name, "")
        if name in NAMESPACES:
            continue  # what they hide is told part by part
        if site and name not in inner | stack:
            asked = _asked_for(scene) if asked is None else asked
            if name not in asked:
                continue
        here = _release(scene, folder, name)
        version, meant = _told_apart(here, _release(scene, site, name) if site else ("", ""))
        yield Shadow(
            module=name,
            path=f"{folder}/{entry.name}",
            instead=site or STANDARD,
            via=via,
            version=version,
            meant=meant,
            other_python=_other_python(folder, python),
            wanted_by=refused_by_the_stack(scene, *here) if site and here[1] else "",
        )


def _asked_for(scene: Scene) -> frozenset[str]:
    """The import names of what the GPU stack asks for in its metadata."""
    return frozenset(IMPORTED_AS.get(name) or name.replace("-", "_") for name in asked_by_the_stack(scene))


def _other_python(folder: str, python: Interpreter) -> str:
    """The Python that a folder of packages belongs to, where it is another than the one that runs; else ""."""
    match = _SITE_PYTHON.search(folder)
    return match[1] if match and match[1] != major_minor(python.version) else ""


def _release(scene: Scene, folder: str, module: str) -> tuple[str, str]:
    """The distribution of the module's name in a folder, and its release; empty where its metadata is not there."""
    listed = value_or(scene.host.list(folder, rf"(?i){re.escape(module)}(_gpu|_cpu)?-\d.*\.dist-info$"), ())
    names = (entry.name.removesuffix(".dist-info").rpartition("-") for entry in listed)
    found = ((normal(name), version) for name, _, version in names if normal(name).startswith(normal(module)))
    return next(found, ("", ""))


def _told_apart(found: tuple[str, str], meant: tuple[str, str]) -> tuple[str, str]:
    """Both releases; with the package's name where one release is another package, for the CPU or the GPU."""
    if found[1] and found[1] == meant[1] and found[0] != meant[0]:
        return f"{found[1]} ({found[0]})", f"{meant[1]} ({meant[0]})"
    return found[1], meant[1]
