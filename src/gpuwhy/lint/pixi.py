"""Pipfile and pixi.toml: tables of packages by name, each an environment."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from gpuwhy.lint import conda
from gpuwhy.lint.sheet import Environment, Index, Pin, Sheet, backend_of
from gpuwhy.lint.tomls import BadTomlError, Finder, parse
from gpuwhy.model.lint import Place, Problem
from gpuwhy.model.words import normal

_ELSEWHERE = ("git", "path", "url", "file", "ref", "editable")


def read_pipfile(path: str, text: str) -> Sheet:
    """A Pipfile: [packages], with the sources that it names."""
    sheet, data = _opened(path, text, "pipfile")
    finder, stage = Finder(text), Environment(path)
    urls = {str(e.get("name")): str(e.get("url", "")) for e in _entries(data.get("source"))}
    others = tuple(Index(url, "extra", Place(path, 0)) for url in list(urls.values())[1:])
    for name, entry in _table(data, "packages"):
        pin = _pin(path, name, entry, finder.key(name, "packages"))
        of = urls.get(str(entry.get("index", ""))) if isinstance(entry, dict) else None
        stage.pins.append(_with(pin, backend_of(of or ""), others))
    python = re.match(r"3\.\d+", str(dict(_table(data, "requires")).get("python_version", "")))
    if python:
        stage.pythons, stage.python_from = (python[0],), f"the Pipfile asks for Python {python[0]}"
    sheet.environments.append(stage)
    return sheet


def read_pixi(path: str, text: str) -> Sheet:
    """A pixi.toml: conda's packages and pip's, of the default environment."""
    sheet, data = _opened(path, text, "pixi")
    finder, stage = Finder(text), Environment(path)
    about = {**dict(_table(data, "project")), **dict(_table(data, "workspace"))}
    stage.channels = [str(one) for one in about.get("channels", []) if isinstance(one, str)]
    for name, entry in _table(data, "dependencies"):
        wanted = entry.get("version", "") if isinstance(entry, dict) else entry
        spec = "" if wanted == "*" else str(wanted)
        conda.add(
            stage, f"{name} {spec}" if re.match(r"\d", spec) else f"{name}{spec}", finder.key(name, "dependencies")
        )
    for name, entry in _table(data, "pypi-dependencies"):
        pin = _pin(path, name, entry, finder.key(name, "pypi-dependencies"))
        stage.pins.append(_with(pin, backend_of(str(entry.get("index", ""))) if isinstance(entry, dict) else "", ()))
    sheet.environments.append(stage)
    return sheet


def _opened(path: str, text: str, kind: str) -> tuple[Sheet, dict[str, Any]]:
    sheet = Sheet(path, kind)
    try:
        return sheet, parse(text)
    except BadTomlError as error:
        sheet.problems.append(Problem(Place(path, error.line), str(error)))
        return sheet, {}


def _table(data: dict[str, Any], name: str) -> Iterator[tuple[str, Any]]:
    found = data.get(name)
    yield from found.items() if isinstance(found, dict) else ()


def _entries(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _pin(path: str, name: str, entry: object, line: int) -> Pin:
    table: dict[str, Any] = entry if isinstance(entry, dict) else {"version": entry}
    version = str(table.get("version", "")).replace(" ", "")
    extras = tuple(normal(one) for one in table.get("extras", []) if isinstance(one, str))
    marker = str(table.get("markers", ""))
    elsewhere = any(key in table for key in _ELSEWHERE)
    spec = "" if version == "*" else version
    return Pin(normal(name), Place(path, line), spec, extras, marker, reference=elsewhere)


def _with(pin: Pin, backend: str, indexes: tuple[Index, ...]) -> Pin:
    return msgspec.structs.replace(pin, backend=backend, indexes=() if backend else indexes)
