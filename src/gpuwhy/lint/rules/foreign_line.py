"""A line that only the machine it was written on can install."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.model.lint import Mistake, Rule

RULE = Rule("foreign-line", "error", "a line that only the machine it was written on can install")

_KNOW = source("pip freeze", "what conda or the distribution built is written as a path, or with a version of theirs")
_BUILDERS = re.compile(
    r"^file:/+(croot|tmp/build|home/conda|home/[\w.-]+|Users/|opt/conda|private/|var/folders|C:|D:|mnt/|work/|builds/"
    r"|media/|root/|data/)",
    re.IGNORECASE,
)
_DISTRIBUTION = re.compile(r"ubuntu|\+deb|\.el\d|-\dubuntu", re.IGNORECASE)


def check(scope: Scope) -> Iterator[Mistake]:
    """The first path of another machine, and the first version of a distribution."""
    yield from _of_list(scope)
    if scope.environment.locked:
        return
    paths = [pin for pin in scope.environment.pins if _BUILDERS.match(pin.path)]
    if paths and _is_shared(scope):
        text = f"{paths[0].name} @ {_short(paths[0].path)}: a file of the machine that wrote this{_more(paths)}"
        fix = "write name==version instead (pip list --format=freeze does)"
        yield RULE.mistake(paths[0].place, text, _KNOW, fix)
    yield from _of_windows(scope)
    versions = [p for p in scope.environment.pins if p.origin == "pip" and _DISTRIBUTION.search(p.specifier)]
    if versions:
        one = versions[0]
        text = f"{one.name}{one.specifier}: a version of a distribution, which no index has{_more(versions)}"
        yield RULE.mistake(one.place, text, _KNOW, "leave out what apt installed: freeze inside a venv")


_LISTED = source("conda list --export", "packages of pip are written with the build pypi_0, which no channel has")


def _of_list(scope: Scope) -> Iterator[Mistake]:
    """A list of conda's with packages of pip in it: neither of the two installs it."""
    pins = [pin for pin in scope.environment.pins if pin.origin == "pip" and pin.build.startswith("pypi")]
    if scope.kind == "conda" and pins and scope.for_gpus:
        one = f"{pins[0].name}={pins[0].version}={pins[0].build}"
        text = (
            f"{one}: pip installed that{_more(pins)}; no channel of conda's has that build, and pip reads no such line"
        )
        fix = "write it with conda env export (an environment.yml), or with pip freeze"
        yield RULE.mistake(pins[0].place, text, _LISTED, fix)


_WINDOWS = frozenset(
    {"vs2015-runtime", "wincertstore", "vc14-runtime", "pywinpty", "pywin32", "win-inet-pton", "winpty"}
)
_EXPORTED = source("conda env export", "without --no-builds or --from-history it writes the builds of one system")


def _of_windows(scope: Scope) -> Iterator[Mistake]:
    """An environment of conda that was exported on Windows, with its builds."""
    pins = [pin for pin in scope.environment.pins if pin.origin == "conda"]
    built = [pin for pin in pins if pin.build]
    own = [pin for pin in built if pin.name in _WINDOWS or pin.name.startswith("m2w64-")]
    told = re.search(r"win|dml|directml", scope.environment.path.rsplit("/", 1)[-1].lower())
    if scope.kind == "conda" and own and len(built) > len(pins) / 2 and not told:
        text = f"{own[0].name}={own[0].build} is a build for Windows, where the file was exported: Linux has none"
        fix = "write it with conda env export --from-history, and the packages without builds"
        yield RULE.mistake(own[0].place, text, _EXPORTED, fix, "warning")


def _is_shared(scope: Scope) -> bool:
    return scope.kind in ("requirements", "conda", "dockerfile", "pyproject", "cog", "script", "notebook", "setup")


def _more(pins: list[Pin]) -> str:
    return f", as in {len(pins) - 1} more line{'s' if len(pins) > 2 else ''}" if len(pins) > 1 else ""


def _short(text: str) -> str:
    return text if len(text) <= 50 else text[:50] + "…"
