"""Sources that import, while they are built, what their build does not have."""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator

from gpuwhy.knowledge import published, sources
from gpuwhy.knowledge.source_builds import NEED_TORCH
from gpuwhy.knowledge.tables import source
from gpuwhy.lint import solving
from gpuwhy.lint.index import from_elsewhere
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.trees import parsed
from gpuwhy.lint.versions import allowed, allows
from gpuwhy.model.lint import Mistake, Place, Rule
from gpuwhy.model.version import at_least, numbers

RULE = Rule("build-alone", "warning", "sources that import, while they are built, what their build does not have")

_APART = source("pip 25.3 and PEP 517", "every build gets an environment of its own, with what [build-system] names")
_TOLD = re.compile(r"no[-_]build[-_]isolation|setup\.py\s+(install|develop|build|bdist)")
_BESIDE = ("README.md", "readme.md", "README.rst", "INSTALL.md", "install.sh", "setup.sh", "Makefile", "Dockerfile")
_MODULES = ("torch", "numpy", "Cython", "tensorflow", "pkg_resources")


def check(scope: Scope) -> Iterator[Mistake]:
    """Releases of the index without a wheel, and a setup.py itself."""
    if scope.environment.locked:
        return
    if scope.kind == "setup":
        yield from _itself(scope)
    if scope.kind == "setup" or not scope.for_gpus:
        return
    for pin in scope.pins:
        if pin.installed and sources.knows(pin.name) and pin.name not in NEED_TORCH:
            yield from _released(scope, pin)
        elif pin.installed and pin.version in _BEFORE_CYTHON_3.get(pin.name, ()):
            yield from _by_cython(scope, pin)


_BEFORE_CYTHON_3 = {"pyyaml": ("5.4", "5.4.1", "6.0")}
"""Releases whose own setup.py fails with Cython 3, which their build takes."""


def _by_cython(scope: Scope, pin: Pin) -> Iterator[Mistake]:
    """A release that is compiled where the Python is newer than its wheels, and fails at that."""
    known = {str(version): row.newest for version, row in published.releases(pin.name).items()}
    newest = known.get(pin.version, "")
    used = scope.environment.pythons or scope.hinted or solving.of_frameworks(scope)
    older = any(numbers(python)[:2] <= numbers(newest)[:2] for python in used) if newest else True
    if older or (not used and newest and at_least(newest, "3.11")) or from_elsewhere(scope, pin):
        return
    has = f"{pin.name} {pin.version} has wheels up to Python {newest}"
    text = f"{has}; with a newer one it is built, and fails with Cython 3"
    yield RULE.mistake(pin.place, text, _CYTHON, f"write {pin.name}>=6.0.1, or use Python {newest}")


_CYTHON = source("yaml/pyyaml issue 724", "AttributeError: cython_sources, since Cython 3.0 (July 2023)")


def _released(scope: Scope, pin: Pin) -> Iterator[Mistake]:
    version = _taken(pin)
    row = sources.failing(pin.name, version) if version else None
    lacking = _lacking(scope, row.modules) if row else ()
    if row is None or not lacking or not (row.apart or _is_new(scope)) or from_elsewhere(scope, pin) or _is_told(scope):
        return
    modules = " and ".join(lacking)
    gone = ", which setuptools has no more since release 82" if "pkg_resources" in lacking else ""
    text = f"{pin.name} {version} has no wheel, and its setup.py imports {modules}{gone}: a build of its own has none"
    needs = " ".join(f'"{sources.PACKAGE.get(module, module)}"' for module in lacking)
    fix = f"first pip install {needs} wheel, then {pin.name} with --no-build-isolation; or take a newer release"
    yield RULE.mistake(pin.place, text, sources.KNOW, fix)


def _lacking(scope: Scope, modules: tuple[str, ...]) -> tuple[str, ...]:
    """The modules that a build does not have on the newest Python that may be: an older one's setuptools has more."""
    pythons = scope.environment.pythons or scope.hinted or solving.of_frameworks(scope)
    old = bool(pythons) and not any(at_least(python.rstrip("t+"), _SETUPTOOLS_82) for python in pythons)
    return tuple(module for module in modules if not (old and module == "pkg_resources"))


_SETUPTOOLS_82 = "3.9"
"""The oldest Python that setuptools 82 takes: builds for older ones get 75.3, which still has pkg_resources."""


def _taken(pin: Pin) -> str:
    """The release that pip takes, where that is plain."""
    if pin.version:
        return pin.version
    known = [v for v in published.releases(pin.name) if not v.is_prerelease and allows(pin.specifier, str(v))]
    return str(max(known)) if known else ""


def _is_new(scope: Scope) -> bool:
    """Whether pip is surely one that builds everything apart: a Python without setuptools, uv, or pip made new."""
    pythons = scope.environment.pythons
    texts = [command.text for command in scope.environment.commands]
    made = any(re.search(r"install .*(-U|--upgrade)\b.*\bpip\b|^uv ", text) for text in texts)
    late = bool(pythons) and all(at_least(python, "3.12") for python in pythons)
    return (
        made
        or late
        or (scope.kind == "requirements" and not pythons and not _is_of_old(scope) and not scope.repository.old_pip)
    )


def _is_of_old(scope: Scope) -> bool:
    """Whether a pinned framework, or a pip or setuptools beside it, is for a Python whose last pip builds as of old."""
    if any(pin.name in ("pip", "setuptools") and pin.specifier for pin in scope.pins):
        return True
    rows = [row for pin in scope.pins if pin.version for row in allowed(pin.name, pin.specifier) if row.pythons]
    return any(not any(at_least(python.rstrip("t+"), _ISOLATING) for python in row.pythons) for row in rows)


_ISOLATING = "3.9"
"""The oldest Python that pip 25.3 takes."""


def _itself(scope: Scope) -> Iterator[Mistake]:
    """Imports at the top of a project's own setup.py that no pyproject.toml asks for."""
    folder = posixpath.dirname(scope.environment.path)
    text = scope.read(scope.environment.path) or ""
    if not (scope.for_gpus or "cpp_extension" in text) or _TOLD.search(text) or _is_told(scope):
        return
    if scope.repository.installed_over(_OLD_PIP) or scope.repository.old_pip:
        return
    asked = scope.read(posixpath.join(folder, "pyproject.toml")) or ""
    for module, line in _imports(text):
        if module in _lacking(scope, _MODULES) and not _is_asked(asked, module):
            said = f"setup.py imports {module} before anything is installed: pip builds it apart, where there is none"
            fix = f"name {module.lower()} in [build-system] requires, or say --no-build-isolation where it is installed"
            yield RULE.mistake(Place(scope.environment.path, line), said, _APART, fix)
            return


_OLD_PIP = ("ngc", "pytorch", "tensorflow", "aws")
"""Images whose pip is as old as they are."""


def _is_asked(pyproject: str, module: str) -> bool:
    """Whether [build-system] names what brings a module: pkg_resources is setuptools' own, of before release 82."""
    requires = "".join(re.findall(r"requires\s*=\s*\[[^\]]*", pyproject))
    if module == "pkg_resources":
        found = re.search(r"setuptools\s*([<=~][^\"';]*|>[^\"';]*<[^\"';]*)", requires)
        return bool(found and not allows(found[1].strip(), "82.0.0"))
    return bool(re.search(rf"\b{module}", requires, re.IGNORECASE))


def _imports(text: str) -> list[tuple[str, int]]:
    """Modules that the lines of the file itself import, not within a try."""
    try:
        body = parsed(text[:500_000]).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    plain = [(alias.name.split(".")[0], n.lineno) for n in body if isinstance(n, ast.Import) for alias in n.names]
    return plain + [(n.module.split(".")[0], n.lineno) for n in body if isinstance(n, ast.ImportFrom) and n.module]


def _is_told(scope: Scope) -> bool:
    """Whether a file beside this one tells a way that works."""
    folder = posixpath.dirname(scope.environment.path)
    paths = [posixpath.join(f, name) for f in {folder, posixpath.dirname(folder)} for name in _BESIDE]
    if any(_TOLD.search(scope.read(path) or "") for path in (scope.environment.path, *paths)):
        return True
    return scope.repository.says(_TOLD)
