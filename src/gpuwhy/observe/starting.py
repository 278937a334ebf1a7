"""Starting: whether the environment's Python starts as its user starts it, where something steers that.

A start is tried only where a variable, a file of site-packages or another Python behind the environment's link could
change it: else there is nothing to see, and no process is started.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown, absent, value_or
from gpuwhy.model.facts import Interpreter, Start
from gpuwhy.model.version import major_minor
from gpuwhy.observe.places import FRAMEWORK_FOLDERS
from gpuwhy.observe.scene import Scene

_VALUES = (
    "PYTHONIOENCODING",
    "PYTHONHASHSEED",
    "PYTHONMALLOC",
    "PYTHONUTF8",
    "PYTHONTRACEMALLOC",
    "PYTHONINTMAXSTRDIGITS",
)
"""Variables with a value that Python does not know end it before its first line."""
STEERING = ("LD_PRELOAD", "LD_AUDIT", "PYTHONHOME", "PYTHONPLATLIBDIR", *_VALUES)
"""Variables that alone are reason enough to try a start."""
TAKEN_AWAY = (*STEERING, "PYTHONPATH", "LD_LIBRARY_PATH")
"""Variables that a start which went badly is tried without."""
_HARMLESS = re.compile(r"(distutils-precedence|_virtualenv|a1_coverage|__editable__.*|.*-nspkg)\.pth")
"""Files that most environments have; their code is known."""
_CODE = re.compile(r"import[ \t]")  # how a line of a .pth file begins that Python runs
_NO_TEXT = re.compile("[\0\udc80-\udcff]")  # what decoding leaves of bytes that are not UTF-8
_NAMES = r".*\.pth$|(site|user)customize\.py$"
_PYTHON = re.compile(r"/python(\d+\.\d+)t?$")
_SAID = re.compile(r"(?m)^version(?:_info)?\s*=\s*(\d+\.\d+)")  # of pyvenv.cfg: which Python it was made with
_MOST = 12  # files that are tried one by one


def start(scene: Scene) -> Fact[Start]:
    """How the environment's Python starts, and which of the installed frameworks it then does not find."""
    python = scene.facts.target.interpreter.need()
    if python is None or python.gone:
        return absent("env", "PATH", "no Python that could be started")
    sites = value_or(scene.facts.target.site_packages, ())
    aside = _aside(scene, python, sites)
    if aside is not None:
        return aside
    files = starting_files(scene, sites)
    variables = [name for name in STEERING if value_or(scene.host.environ(), {}).get(name)]
    if not (files or variables or _another(scene, python) or _without_itself(scene, python)):
        return Known(Start(), Source("file", python.path, "nothing steers its start"))
    if not isinstance(scene.host.offline(), Absent):
        if other := _another(scene, python):
            return Known(Start(lost=tuple(_modules(scene)), version=other), Source("file", python.path, "by its name"))
        return Unknown(f"{python.path} cannot be started: these are another machine's files", kind="offline")
    return _tried(scene, python, sites, files)


def _aside(scene: Scene, python: Interpreter, sites: tuple[str, ...]) -> Fact[Start] | None:
    """Frameworks beside a Python that does not look there: an environment without its pyvenv.cfg."""
    own = f"{python.path.rpartition('/bin/')[0]}/lib/python{major_minor(python.version)}/site-packages"
    real = {value_or(scene.host.real(site), site) for site in sites}
    if "/bin/" not in python.path or python.kind == "conda" or value_or(scene.host.real(own), own) in real:
        return None
    found = value_or(scene.host.list(own, FRAMEWORK_FOLDERS), ())
    names = tuple(entry.name for entry in found if entry.name != "nvidia")
    return Known(Start(lost=names, version=python.version, aside=own), Source("folder", own)) if names else None


def _tried(scene: Scene, python: Interpreter, sites: tuple[str, ...], files: tuple[str, ...]) -> Fact[Start]:
    modules = ",".join(_modules(scene))
    said = scene.host.call("starts", python.path, modules, ",".join(TAKEN_AWAY), sites[0] if sites else "", *files)
    if not isinstance(said, Known):
        return said if isinstance(said, Unknown) else Unknown(f"{python.path} was not tried")
    lines = [line for line in said.value if "how" not in line] + [{}, {}]
    return Known(_read(lines[0], lines[1]), Source("call", python.path, "started as its user starts it"))


def _read(first: Mapping[str, Any], blame: Mapping[str, Any]) -> Start:
    lost, sets = first.get("lost"), first.get("sets")
    return Start(
        ends=str(first.get("ended", "")),
        lost=tuple(map(str, lost)) if isinstance(lost, list) else (),
        version=str(first.get("version", "")),
        variable=str(blame.get("variable", "")),
        file=str(blame.get("file", "")),
        sets=tuple((str(name), str(value)) for name, value in sets.items()) if isinstance(sets, dict) else (),
    )


def _modules(scene: Scene) -> list[str]:
    """The import names of the frameworks that are installed, and of NumPy, without which most of them do not start."""
    found = value_or(scene.facts.target.frameworks, ())
    names = {one.path.rpartition("/")[2] for one in found}
    if names and any(one.name == "numpy" for one in value_or(scene.facts.target.distributions, ())):
        names.add("numpy")
    return sorted(name for name in names if name.isidentifier())


def starting_files(scene: Scene, sites: tuple[str, ...], known: bool = False) -> tuple[str, ...]:
    """The first files that Python runs before any program; with `known` those of well-known packages too."""
    return tuple(path for path in _files(scene, sites) if known or not _is_known(path))[:_MOST]


def _is_known(path: str) -> bool:
    return bool(_HARMLESS.fullmatch(path.rpartition("/")[2]))


def _files(scene: Scene, sites: tuple[str, ...]) -> Iterator[str]:
    """Files of site-packages that Python runs before any program."""
    for site in sites:
        for entry in value_or(scene.host.list(site, _NAMES), ()):
            path = f"{site}/{entry.name}"
            if entry.name.endswith(".py") or _has_code(scene, path):
                yield path


def _has_code(scene: Scene, path: str) -> bool:
    """Whether a .pth file runs something, a line that begins with `import`, or is no text, at which Python may end."""
    if _NO_TEXT.search(value_or(scene.host.read(path), "")):
        return True
    return any(_CODE.match(line) for line in value_or(scene.host.lines(path, "import"), ()))


def _another(scene: Scene, python: Interpreter) -> str:
    """The minor release that the environment's Python is, where its packages are for another; "" where they fit."""
    real = _PYTHON.search(value_or(scene.host.real(python.path), ""))
    said = _SAID.search(value_or(scene.host.read(f"{python.prefix}/pyvenv.cfg"), ""))
    is_now = real[1] if real else said[1] if said else ""
    return is_now if is_now != major_minor(python.version) else ""


def _without_itself(scene: Scene, python: Interpreter) -> bool:
    """Whether the library in which all of Python is lies in no folder that its executable names, nor in the cache."""
    real = value_or(scene.host.real(python.path), python.path)
    elf = scene.host.elf(real)
    if not isinstance(elf, Known):
        return False
    named = f"{elf.value.rpath}:{elf.value.runpath}".replace("$ORIGIN", real.rpartition("/")[0]).split(":")
    for name in (one for one in elf.value.needed if one.startswith("libpython")):
        beside = any(isinstance(scene.host.stat(f"{folder}/{name}"), Known) for folder in named if folder)
        if not beside and all(entry.name != name for entry in value_or(scene.host.ldcache(), ())):
            return True
    return False
