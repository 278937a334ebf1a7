"""A release that no Python of today can install, in a file that names no Python."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.knowledge import compiled, published, tables
from gpuwhy.knowledge.guests import is_guest
from gpuwhy.knowledge.releases import family, has_python
from gpuwhy.lint import through
from gpuwhy.lint.index import JUDGED, from_index, rows_name
from gpuwhy.lint.repository import Repository
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import LINUX, allowed, parsed
from gpuwhy.model.fact import Source
from gpuwhy.model.lint import Mistake, Rule
from gpuwhy.model.version import numbers

RULE = Rule("python-unnamed", "warning", "a release that no Python of today can install, and no Python is named")

TODAY = ("3.12", "3.13", "3.14")
"""What Ubuntu 24.04, Colab, Debian 13 and the newest installers of conda have."""

_FIRST_OF_TODAY, _FIRST_ALIVE = 12, 10  # a wheel of a Python that is still kept up says enough by its name
_TAGS = tables.source("binary distribution format", "cp310 in a wheel's name: for CPython 3.10 alone")

_KINDS = ("requirements", "conda", "script", "setup", "setup-config", "makefile", "pyproject")
_NAMING = (
    "README.md", "readme.md", "README.rst", "README.txt", "INSTALL.md", ".python-version", "runtime.txt", "Pipfile",
    "pyproject.toml", "setup.py", "setup.cfg", ".tool-versions", "mise.toml",
)  # fmt: skip
_PROJECTS = ("pyproject.toml", "setup.py", "setup.cfg")
_INSTALLING = (
    "environment.yml", "environment.yaml", "conda.yaml", "install.sh", "setup.sh", "Dockerfile", "docker/Dockerfile",
    "Dockerfile.gpu", "docker/Dockerfile.gpu", "gpu.Dockerfile", "cog.yaml", "tox.ini", "Makefile",
    "docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml",
)  # fmt: skip
"""Files that name a Python for this one where they install it."""
_OF_PROJECT = (
    "cog.yaml", "environment.yml", "environment.yaml", "environment-gpu.yml", "environment_gpu.yml",
    "environment-cpu.yml", "environment_cpu.yml", "conda.yaml", ".travis.yml",
)  # fmt: skip
"""Files that name the Python of a whole project, its requirements included."""

_NAMED = re.compile(
    r"\bpython(?:[_ -]?(?:version|requires))?[\"']?[\s:=<>~(\"',`*v\[-]{0,8}(?:3\.\d+|2\.7)"
    r"|\bpy(?:thon)?3\d{1,2}\b|\bcp3\d|^python:\s+-\s+[\"']?(?:3\.\d|2\.7)",
    re.IGNORECASE | re.MULTILINE,
)
_VERSION = re.compile(r"^\s*(python-)?3\.\d+", re.MULTILINE)


_BESIDE = re.compile(r"scikit-(learn|image)|pandas|onnx|gensim|pyarrow|catboost|mediapipe|spacy|ray")
"""Packages that are named with others, and are no matter of GPUs alone."""


class Ended(NamedTuple):
    """A pin, the release that it takes, and the newest Python that it has a wheel for."""

    pin: Pin
    version: str
    newest: str
    source: Source

    @property
    def order(self) -> tuple[bool, tuple[int, ...]]:
        """Frameworks first, then the oldest Python."""
        return self.pin.name not in JUDGED, numbers(self.newest)


def check(scope: Scope) -> Iterator[Mistake]:
    """The framework that ended first, else the first of what stands beside it; once in a file."""
    found = sorted(_all(scope), key=lambda one: one.order)
    first = next((one for one in found if not _BESIDE.fullmatch(one.pin.name)), None)
    if first is None or not any(map(_runs_on_gpus, scope.pins)) or _is_named(scope, first.pin):
        return
    others = list(dict.fromkeys(one.pin.name for one in found if one.pin.name != first.pin.name))
    listed = f"{', '.join(others[:3])}{' …' if len(others) > 3 else ''}"
    more = f" ({listed} ha{'s' if len(others) == 1 else 've'} none for {TODAY[0]} either)" if others else ""
    has = f"{first.pin.name} {first.version} has wheels up to Python {first.newest}{more}"
    why = "the project admits newer ones" if _is_open(scope) else "nothing here keeps newer ones out"
    text = f"{has}, and {why}: with one of today ({TODAY[0]} and newer) it cannot be installed"
    oldest = min((one.newest for one in found), key=numbers)
    fix = f"say that Python {oldest} is needed, or take a newer {first.pin.name}"
    yield RULE.mistake(first.pin.place, text, first.source, fix)


def _all(scope: Scope) -> list[Ended]:
    stage = scope.environment
    if (
        scope.kind not in _KINDS
        or (scope.kind == "pyproject" and not _is_open(scope))
        or (stage.pythons and not _is_open(scope))
        or stage.locked
        or stage.image
        or stage.in_image
        or "/.cog/" in f"/{stage.path}"  # Cog wrote it for the Python of its cog.yaml
    ):
        return []
    return [one for pin in scope.pins if (one := _ended(scope, pin))]


def _is_open(scope: Scope) -> bool:
    """Whether the Pythons of a setup.py are those of a lower bound alone."""
    return scope.kind in ("setup", "setup-config", "pyproject") and TODAY[-1] in scope.environment.pythons


def _ended(scope: Scope, pin: Pin) -> Ended | None:
    """A pin all of whose releases ended before the Pythons of today."""
    if pin.reference and family(pin.name) is not None and (found := re.fullmatch(r"cp3(\d+)", pin.tag)):
        late = int(found[1]) >= _FIRST_ALIVE or pin.marker or pin.arms
        return None if late else Ended(pin, pin.version, f"3.{found[1]}", _TAGS)
    if not pin.installed or not pin.specifier or pin.marker or not from_index(scope, pin):
        return None
    if pin.name in JUDGED:
        return _framework(pin)
    return _beside(scope, pin)


def _beside(scope: Scope, pin: Pin) -> Ended | None:
    """A package beside the frameworks, or what it brings along."""
    version = pin.version
    newest = compiled.newest_python(pin.name, version) if version else compiled.ended(pin.name, pin.specifier)
    newest = newest or _without_sources(pin)
    brought = through.ended(pin, frozenset(scope.names)) if not newest else None
    if brought:
        return Ended(pin, f"{version} takes {brought.name} {brought.version}, which", brought.newest, compiled.SOURCE)
    return Ended(pin, version or pin.specifier, newest, compiled.SOURCE) if newest else None


def _without_sources(pin: Pin) -> str:
    """The newest Python of a release that has wheels for older ones alone, and nothing that pip could build."""
    last = published.last_python(pin.name, pin.version) if pin.version else ""
    return last if last and numbers(last) < numbers(TODAY[0]) else ""


def _framework(pin: Pin) -> Ended | None:
    asked, found = parsed(pin.version), allowed(rows_name(pin), pin.specifier)
    if (asked is not None and asked.is_prerelease) or (found and found[-1].platform == "source"):
        return None  # a trial version that the index may have dropped; the package that fails on every Python
    rows = [row for row in found if row.platform in (LINUX, "any")]
    if not rows or any(has_python(row, python) for row in rows for python in TODAY):
        return None
    last = rows[-1]
    newest = last.pythons[-1] if last.pythons else ""
    source = Source("know", last.file, f"and its siblings on the index, uploaded {last.uploaded}")
    return Ended(pin, last.version, newest, source) if re.fullmatch(r"3\.\d+", newest) else None


def _runs_on_gpus(pin: Pin) -> bool:
    return is_guest(pin.name) or family(pin.name) is not None


def _is_named(scope: Scope, pin: Pin) -> bool:
    """Whether this file (a comment counts) or one beside it names a Python, or an image that has one."""
    path = scope.environment.path
    folder = posixpath.dirname(path)
    folders = [folder] if folder in ("", ".", "/") else [folder, posixpath.dirname(folder)]
    own = re.sub(r"-cp3\d+-", "", _own(scope)) if pin.reference else _own(scope)  # a wheel names itself
    if scope.kind == "script" and re.search(r"conda env (create|update)\b|mamba env (create|update)\b", own):
        return True  # the file that it makes the environment from does
    if _NAMED.search(re.sub(r";[^\n]*", "", own) if scope.kind == "requirements" else own):
        return True
    if not _is_open(scope) and _is_told(scope.repository):
        return True
    for beside in (posixpath.join(one, name) for one in folders for name in (*_NAMING, *_OF_PROJECT, *_INSTALLING)):
        text = scope.read(beside) if beside != path else None
        if text is not None and _says(posixpath.basename(beside), text, posixpath.basename(path)):
            return True
    return False


def _is_told(repository: Repository) -> bool:
    """Whether other files name a Python for this one, or a page does for the project."""
    return bool(repository.pythons) or repository.tells_python


def _own(scope: Scope) -> str:
    """The file's text; of a project that is open to newer Pythons without what leaves it so."""
    text = scope.read(scope.environment.path) or ""
    return _closed(text) if _is_open(scope) else text


def _closed(text: str) -> str:
    """What a project's file says without lower bounds of Python, formatters' targets, and classifiers of today's."""
    text = re.sub(r"^(requires-python|python)\s*=\s*[\"'](>=?|\^)\s*3(\.\d+)*[\"']", "", text, flags=re.MULTILINE)
    text = re.sub(r"python_requires\s*=\s*[\"']?\s*>=?\s*3(\.\d+)*[\"']?(?![\s,]*<)", "", text)
    text = re.sub(r"^\s*(target[-_]version|py_version|python_version)s?\s*=\s*[^\n]*", "", text, flags=re.MULTILINE)
    classified = re.findall(r"Python\s*::\s*3\.(\d+)", text)
    late = any(int(minor) >= _FIRST_OF_TODAY - 1 for minor in classified)
    return re.sub(r"Python\s*::\s*3\.\d+", "", text) if late else text


_BUILDS_HERE = re.compile(r"^\s*(build|context):\s*[\"']?\.(/|\s|[\"']|$)", re.MULTILINE)
"""A service that is built from the folder: its image has the Python."""


def _says(name: str, text: str, file: str) -> bool:
    """Whether a file beside this one names a Python for it; a Dockerfile's image has one, and is judged there."""
    if name in (".python-version", "runtime.txt"):
        return bool(_VERSION.search(text))
    if "compose" in name:
        return bool(_BUILDS_HERE.search(text))
    if name in _OF_PROJECT and file.endswith((".txt", ".in")):
        return bool(_NAMED.search(text))
    if name not in _NAMING:
        return file in text and ("ockerfile" in name or bool(_NAMED.search(text)))
    return bool(_NAMED.search(_closed(text) if name in _PROJECTS else _OPEN.sub("", text)))


_OPEN = re.compile(
    r"\bpython(?:[ _-]?versions?)?[\s:=(\"'`*v\[-]{0,6}"
    r"(?:(?:>=|≥|&gt;=)\s*3\.\d+(?:\.\d+)?(?!\d|\s*(?:,|and|&&?)?\s*(?:<|&lt;|≤))"
    r"|3\.\d+(?:\.\d+)?\s?(?:\+|%2B|(?:or|and)\s+(?:newer|later|above|higher|greater|up)))",
    re.IGNORECASE,
)
"""A lower bound alone, as people say it: it keeps nobody from the newest Python."""
