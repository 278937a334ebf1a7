"""What comes before a program's first line: start-up files of Python, and whether it starts at all;
and the files and folders that it finds before the module that was meant.

Python looks into the script's folder (or the working folder), then PYTHONPATH, then the
environment; a line in a .pth file or a user's own folder of packages may come before it too.
Everything is read as text, nothing is run.
"""

import posixpath
import re
import sys
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gpuwhy.facts.environment import Python
from gpuwhy.facts.fact import Absent, Fact, absent, known, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.installs import Shadow, ShadowVia, Start, StartFile, StartProblem
from gpuwhy.facts.version import major_minor
from gpuwhy.knowledge.modules import (
    IMPORTED_AS,
    INNER_MODULES,
    NAMESPACES,
    STACK_MODULES,
    STANDARD_MODULES,
)
from gpuwhy.look.environment.packages import normal
from gpuwhy.look.environment.python import FRAMEWORK_FOLDERS, user_base
from gpuwhy.look.files import environ, exists, lines, names, real, text
from gpuwhy.look.installs.requirements import Asked, asked, refused
from gpuwhy.look.look import Options
from gpuwhy.machine.machine import Machine, printable

_READERS = (
    "CUBLAS|CUDA|CUPY|JAX|KERAS|NCCL|NUMBA|NVIDIA|PROTOCOL_BUFFERS|PYTORCH|TF|TORCH|TRITON|XLA"
)
_SET = (
    rf"(?:import\s[^#]*;\s*)?(?:os\.)?environ(?P<default>\.setdefault)?[\[(]"
    rf"\s*['\"](?P<name>(?:{_READERS})_[A-Z0-9_]+)['\"]\s*(?:\]\s*=|,)"
    rf"\s*['\"](?P<value>[^'\"\\]*)['\"]\s*\)?\s*(?:;|#|$)"
)
"""Statements that no condition guards: they begin their line."""
_BLOCKED = r"sys\.modules\[\s*['\"]([\w.]+)['\"]\s*\]\s*=\s*None"
_SECRET = r"TOKEN|KEY|SECRET|PASS|CREDENTIAL|AUTH"
_MOST = 50


def start_files(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[StartFile, ...]]:
    """The files of the environment that Python runs before any program."""
    if facts.environment.python.need() is None:
        return absent("env", "PATH", "no Python")
    found: dict[str, StartFile] = {}
    sites = value_or(facts.environment.sites, ())
    ordered = sorted(sites, key=lambda site: site.kind != "PYTHONPATH")  # first when Python runs
    for site in ordered:
        match = r"(site|user)customize\.py$"
        if site.kind != "PYTHONPATH":
            match = rf".*\.pth$|{match}"
        for name in names(machine, site.path, match)[:_MOST]:
            plain, file = name.endswith(".py"), f"{site.path}/{name}"
            code = printable(text(machine, file)).splitlines()
            if not plain:
                code = [line for line in code if re.match(r"import[ \t]", line)]
            sets: dict[str, str] = {}
            for said in filter(None, (re.match(_SET, line) for line in code)):
                if not said["default"] or said["name"] not in sets:
                    sets[said["name"]] = said["value"]
            blocks = dict.fromkeys(one for line in code for one in re.findall(_BLOCKED, line))
            shown = tuple(pair for pair in sets.items() if not re.search(_SECRET, pair[0]))
            if plain or code:  # of two sitecustomize.py the first one is run
                one = StartFile(printable(file), shown, tuple(blocks))
                found.setdefault(name if plain else file, one)
    return known(tuple(found.values()), "folder", ", ".join(site.path for site in ordered))


_TAKEN = {"PYTHONHASHSEED": r"random|\d{1,10}", "PYTHONUTF8": r"[01]"}
"""Variables with a value at which Python stops, and which values it takes."""


def start(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[Start, ...]]:
    """What keeps the environment's Python from starting, or from finding its packages."""
    python = facts.environment.python.need()
    if python is None or python.gone:
        return absent("env", "PATH", "no Python that could be started")
    found = tuple(_problems(machine, facts, python))
    return known(found, "file", python.path, "by its files and variables")


def _problems(machine: Machine, facts: Facts, python: Python) -> Iterator[Start]:
    """No pyvenv.cfg any more, another Python behind the link, variables that it refuses."""
    above, release = python.path.rpartition("/bin/")[0], major_minor(python.version)
    own = f"{above}/lib/python{release}/site-packages"
    searched = {real(machine, site.path) for site in value_or(facts.environment.sites, ())}
    if above and python.kind != "conda" and real(machine, own) not in searched:
        lost = tuple(one for one in names(machine, own, FRAMEWORK_FOLDERS) if one != "nvidia")
        if lost:
            kind = StartProblem.NO_CONFIG
            yield Start(kind, path=own, version=python.version, lost=lost)
    said = re.search(r"/python(\d+\.\d+)t?$", value_or(machine.real(python.path), ""))
    config = text(machine, f"{python.prefix}/pyvenv.cfg")
    said = said or re.search(r"(?m)^version(?:_info)?\s*=\s*(\d+\.\d+)", config)
    if said and said[1] != release:  # the system's Python was upgraded
        modules = {one.path.rpartition("/")[2] for one in value_or(facts.frameworks.installed, ())}
        lost = tuple(sorted(name for name in modules if name.isidentifier()))
        yield Start(StartProblem.OTHER_PYTHON, path=python.path, version=said[1], lost=lost)
    variables = environ(machine)
    for name, taken in _TAKEN.items():
        value = variables.get(name, "")
        if value and not re.fullmatch(taken, value):
            yield Start(StartProblem.VARIABLE, variable=name, value=value)
    home = variables.get("PYTHONHOME", "").split(":")[0].rstrip("/")
    lib = f"{home}/lib/python{release}"
    if home and not any(exists(machine, f"{lib}/{one}") for one in ("encodings", "os.py")):
        yield Start(StartProblem.VARIABLE, path=home, variable="PYTHONHOME", value=home)


def presets(facts: Facts) -> Mapping[str, tuple[str, str]]:
    """The variables of the GPU stack that start-up files set: name → value, file."""
    files = value_or(facts.installs.start_files, ())
    return {name: (value, file.path) for file in files for name, value in file.sets}


NO_FOLDER = "-"
"""The script of a program whose Python looks into no folder of its own (python -I)."""
_STANDARD = STANDARD_MODULES | {one for one in sys.stdlib_module_names if one.startswith("_")}
_MODULE = r"([A-Za-z_]\w*)(?:\.py|\.(?:cpython|abi3)[\w.-]*\.so|\.so)$"
_INSERTED = r"sys\.path\.insert\(\s*0\s*,\s*[rR]?(['\"])(?P<folder>[^'\"]+)\1"
_MOST_NAMES = 4000  # names of a folder that are looked at


class Place(NamedTuple):
    """A folder that Python searches, and what put it there."""

    folder: str
    via: ShadowVia
    file: str = ""  # the .pth file


def shadows(machine: Machine, facts: Facts, options: Options) -> Fact[tuple[Shadow, ...]]:
    """What stands in for a module of the GPU stack, or for one of Python's that it imports.

    Names that several packages share (google, nvidia) are no module of one of them.
    """
    python = facts.environment.python.need()
    if python is None:
        return absent("env", "PATH", "no Python")
    before = list(_before(machine, facts, options, python))
    first = {place.folder for place in before}
    sites = [site.path for site in value_or(facts.environment.sites, ()) if site.path not in first]
    stack = asked(facts)
    strangers = {IMPORTED_AS.get(one) or one.replace("-", "_") for one in stack.owners}
    wanted = (STACK_MODULES | INNER_MODULES | strangers) - frozenset(NAMESPACES) - _STANDARD
    there = {name: site for site in sites[::-1] for name, _ in _modules(machine, site, wanted)}
    own = {real(machine, site) for site in sites}
    found: dict[str, Shadow] = {}
    sought = frozenset((there.keys() & wanted) | _STANDARD)
    for place in before:
        if real(machine, place.folder) in own:
            continue
        for name, entry in _modules(machine, place.folder, sought):
            one = _shadow(machine, facts, stack, place, name, entry, there.get(name, ""))
            found.setdefault(name, one)
    where = ", ".join(place.folder for place in before) or "sys.path"
    return known(tuple(found.values()), "folder", where, "names compared")


def _before(machine: Machine, facts: Facts, options: Options, python: Python) -> Iterator[Place]:
    """The folders that Python searches before the environment's own, in its order."""
    script, folder, variables = options.script, options.folder, environ(machine)
    if not variables.get("PYTHONSAFEPATH") and script != NO_FOLDER:
        if script:
            yield Place(real(machine, script), "script folder")
        elif folder and isinstance(machine.offline(), Absent):
            yield Place(real(machine, folder), "working folder")
    parts = [part for part in variables.get("PYTHONPATH", "").split(":") if part]
    relative = not all(part.startswith("/") for part in parts)
    start = value_or(machine.real(folder or "."), "") if relative else ""
    for part in parts:
        yield Place(posixpath.normpath(posixpath.join(start, part)), "PYTHONPATH")
    sites = value_or(facts.environment.sites, ())
    for site in (one.path for one in sites if one.kind != "PYTHONPATH"):
        for name in names(machine, site, r".*\.pth$"):
            text = "\n".join(lines(machine, f"{site}/{name}", "sys.path.insert"))
            for inserted in re.finditer(_INSERTED, text):
                yield Place(inserted["folder"].rstrip("/"), "pth", f"{site}/{name}")
    if python.kind == "conda":
        short = f"python{major_minor(python.version)}"
        yield Place(f"{user_base(machine)}/lib/{short}/site-packages", "user site")


def _modules(machine: Machine, folder: str, wanted: frozenset[str]) -> Iterator[tuple[str, str]]:
    """The modules of some names in a folder, each with the name of its file or folder.

    A folder without __init__.py is no module: it loses against every other.
    """
    listed = value_or(machine.list(folder, rf"({'|'.join(sorted(wanted))})(\.|$)"), ())
    for entry in listed[:_MOST_NAMES]:
        file = re.fullmatch(_MODULE, entry.name)
        name = file[1] if file else entry.name if entry.kind != "file" else ""
        package = exists(machine, f"{folder}/{name}/__init__.py")
        if name in wanted and (file or package):
            yield name, entry.name


def _release(machine: Machine, folder: str, module: str) -> tuple[str, str]:
    """The package of a module's name in a folder, and its release."""
    match = rf"(?i){module}(_gpu|_cpu|_cuda\d+x)?-\d.*\.dist-info$"
    for info in names(machine, folder, match):
        package, _, version = info.removesuffix(".dist-info").rpartition("-")
        return normal(package), version
    return "", ""


def _shadow(
    machine: Machine, facts: Facts, stack: Asked, place: Place, name: str, entry: str, site: str
) -> Shadow:
    package, version = _release(machine, place.folder, name)
    meant_package, meant = _release(machine, site, name) if site else ("", "")
    against = refused(stack, package, version) if site and version else None
    by, wants = against or ("", "")
    python = value_or(facts.environment.python, None)
    other = re.search(r"/python(\d+\.\d+)/(?:site|dist)-packages$", place.folder)
    foreign = other and python and other[1] != major_minor(python.version)
    return Shadow(
        module=name,
        path=f"{place.folder}/{entry}",
        via=place.via,
        file=place.file,
        instead=site,
        standard=not site,
        version=version,
        package=package if package != meant_package else "",
        meant=meant,
        other_python=other[1] if other and foreign else "",
        wanted_by=facts.environment.by_name[by].owner if by else None,
        wants=wants,
    )
