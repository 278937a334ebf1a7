"""Rules that are rows of rows.toml: packages, commands and apt packages."""

import re
from collections.abc import Iterator
from typing import Any

from gpuwhy.knowledge import images
from gpuwhy.lint.mistakes import Mistake, Place, know
from gpuwhy.lint.rules import read
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Pin
from gpuwhy.lint.versions import allows


def packages(scope: Scope) -> Iterator[Mistake]:
    """The first package that fits a row."""
    for row in _rows(scope, "package"):
        pins = (pin for pin in scope.pins if pin.name in row["names"])
        found = ((pin, _package(scope, pin, row)) for pin in pins)
        pin, words = next((one for one in found if one[1]), (None, None))
        if pin and words:
            yield _mistake(row, pin.place, words)


def commands(scope: Scope) -> Iterator[Mistake]:
    """The first command that fits a row, some beside an older torch alone."""
    stage, base = scope.environment, scope.base
    version = base.version if base.framework == "torch" else ""
    torch = f"torch {version} of the image"
    for pin in scope.pins:
        if pin.name == "torch" and pin.version and pin.origin == "pip":
            version, torch = pin.public, pin.said
    checked_out = any("checkout" in one.words for one in stage.commands)
    for row in _rows(scope, "command"):
        older = version and not checked_out and allows(row.get("torch", ""), version)
        calls = ((re.fullmatch(row["call"], one.text), one.line) for one in stage.commands)
        call, line = next((one for one in calls if one[0]), (None, 0))
        if call and ("torch" not in row or older):
            group = next(filter(None, call.groups()), "")
            yield _mistake(row, scope.at(line), {"torch": torch, "found": group})


def apt(scope: Scope) -> Iterator[Mistake]:
    """Packages of apt that fit a row."""
    for row in _rows(scope, "apt"):
        for name, line in scope.environment.apt.items():
            if images.from_apt(row["holds"], name) if "holds" in row else name in row["names"]:
                yield _mistake(row, scope.at(line), {"name": name})


def _rows(scope: Scope, name: str) -> list[dict[str, Any]]:
    """The rows for this kind of file."""
    every: list[dict[str, Any]] = read("rows.toml")[name]
    return [row for row in every if scope.kind in row.get("kinds", (scope.kind,))]


def _mistake(row: dict[str, Any], place: Place, words: dict[str, object]) -> Mistake:
    source = know(row["where"], row["detail"])
    text, fix = row["text"].format(**words), row["fix"].format(**words)
    return Mistake(row["rule"], row.get("severity", "error"), place, text, source, fix)


def _package(scope: Scope, pin: Pin, row: dict[str, Any]) -> dict[str, object] | None:
    """What the row's words are filled with; None where the row does not fit."""
    if pin.origin != row.get("origin", "pip") or pin.reference or not _is_written(scope, pin, row):
        return None
    version = _version(scope, pin)
    extra = next((one for one in pin.extras if one in row.get("extras", ())), "")
    others = {}
    for name in row.get("beside", {}):
        there = scope.by_pip(name)
        others[name] = _version(scope, there) if there and pin.beside(there) else ""
    fits = (
        "extras" not in row or extra,
        "takes" not in row or (version and allows(row["takes"], version)),
        not row.get("meant") or (scope.environment.runs and scope.meant),
        all(other and allows(row["beside"][name], other) for name, other in others.items()),
    )
    words = {"name": pin.name, "bound": pin.specifier, "version": version, "build": pin.build}
    words |= {"extra": extra, "other": "".join(others.values()), "meant": scope.meant}
    return dict(words) if all(fits) else None


def _is_written(scope: Scope, pin: Pin, row: dict[str, Any]) -> bool:
    """Whether a pin and what is around it are written as the row says."""
    absent = tuple(row.get("without", ()))
    return (
        bool(re.fullmatch(row.get("written", ".*"), pin.specifier))
        and bool(re.fullmatch(row.get("build", ".*"), pin.build))
        and not any(name.startswith(absent) for name in scope.names if absent)
        and (not row.get("default_index") or (not pin.indexes and scope.from_index(pin)))
        and (not scope.hinted or any(allows(row.get("python", ""), one) for one in scope.hinted))
    )


def _version(scope: Scope, pin: Pin) -> str:
    row = scope.taken(pin)
    return row.version if row else pin.public
