"""pyproject.toml: the standard tables, Poetry's, uv's sources, PDM's and Hatch's; one environment for each extra."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from gpuwhy.lint import requirements
from gpuwhy.lint.sheet import Environment, Pin, Sheet, backend_of
from gpuwhy.lint.tomls import BadTomlError, Finder, parse
from gpuwhy.lint.versions import pythons_in
from gpuwhy.model.lint import Place, Problem
from gpuwhy.model.words import normal


def read(path: str, text: str) -> Sheet:
    """A pyproject.toml."""
    sheet = Sheet(path, "pyproject")
    try:
        data = parse(text)
    except BadTomlError as error:
        sheet.problems.append(Problem(Place(path, error.line), str(error)))
        return sheet
    _Reader(sheet, data, Finder(text)).fill()
    return sheet


class _Reader:
    def __init__(self, sheet: Sheet, data: dict[str, Any], finder: Finder) -> None:
        self.sheet, self.data, self.finder = sheet, data, finder

    def fill(self) -> None:
        base, extras = self._standard()
        poetry_base, poetry_extras = self._poetry()
        base += poetry_base
        for name, pins in poetry_extras.items():
            extras.setdefault(name, []).extend(pins)
        pythons = self._pythons()
        self._environment(base, "", pythons)
        for name, pins in extras.items():
            self._environment([*base, *pins], name, pythons)
            own = {pin.name for pin in pins} - {pin.name for pin in base}
            self.sheet.environments[-1].extra = name if "torch" in own else ""
            self.sheet.environments[-1].part = name

    def _environment(self, pins: list[Pin], extra: str, pythons: tuple[str, ...]) -> None:
        sources = self._sources(extra)
        chosen = [self._sourced(pin, sources) for pin in pins]
        made = Environment(self.sheet.path, chosen, pythons=pythons, python_from="requires-python" if pythons else "")
        overrides = self._pins(_list(_table(self.data, "tool", "uv"), "override-dependencies"), "tool.uv")
        made.overridden = frozenset(pin.name for pin in overrides)
        if re.search(r"(^|[^a-z])(gpu|cuda|cu1\d\d?)([^a-z]|$)", extra.lower()):
            made.gpu = f"the extra {extra} is for GPUs"
        self.sheet.environments.append(made)

    def _standard(self) -> tuple[list[Pin], dict[str, list[Pin]]]:
        project = _table(self.data, "project")
        base = self._pins(project.get("dependencies"), "project")
        extras: dict[str, list[Pin]] = {}
        for name, entries in _table(project, "optional-dependencies").items():
            extras[name] = self._pins(entries, "project.optional-dependencies", name)
        groups = _table(self.data, "dependency-groups")
        for name in groups:
            extras.setdefault(name, []).extend(self._group(groups, name, ()))
        for name, entries in _table(_table(self.data, "tool", "pdm"), "dev-dependencies").items():
            extras.setdefault(name, []).extend(self._pins(entries, "tool.pdm.dev-dependencies"))
        for name, made in _table(self.data, "tool", "hatch", "envs").items():
            if isinstance(made, dict):
                entries = [*_list(made, "dependencies"), *_list(made, "extra-dependencies")]
                extras.setdefault(f"hatch {name}", []).extend(self._pins(entries, f"tool.hatch.envs.{name}"))
        return base, extras

    def _group(self, groups: dict[str, Any], name: str, inside: tuple[str, ...]) -> list[Pin]:
        """A dependency group and those it includes; a circle ends where it closes."""
        entries = groups.get(name)
        if name in inside or len(inside) > 20 or not isinstance(entries, list):
            return []
        out = self._pins([e for e in entries if isinstance(e, str)], "dependency-groups")
        for entry in entries:
            if isinstance(entry, dict) and isinstance(entry.get("include-group"), str):
                out += self._group(groups, entry["include-group"], (*inside, name))
        return out

    def _pins(self, entries: object, section: str, below: str = "") -> list[Pin]:
        out = []
        for entry in entries if isinstance(entries, list) else []:
            if not isinstance(entry, str):
                continue
            place = Place(self.sheet.path, self.finder.value(entry, section, below))
            try:
                out.append(requirements.requirement(entry.strip(), place))
            except requirements.BadRequirementError as error:
                self.sheet.problems.append(Problem(place, str(error)))
        return out

    def _poetry(self) -> tuple[list[Pin], dict[str, list[Pin]]]:
        poetry = _table(self.data, "tool", "poetry")
        base: list[Pin] = []
        optional: dict[str, list[Pin]] = {}
        for name, entry, pin in self._poetry_pins(poetry, "tool.poetry.dependencies"):
            if isinstance(entry, dict) and entry.get("optional"):
                optional.setdefault(normal(name), []).append(pin)
            else:
                base.append(pin)
        extras = {
            extra: [pin for name in names if isinstance(name, str) for pin in optional.get(normal(name), [])]
            for extra, names in _table(poetry, "extras").items()
            if isinstance(names, list)
        }
        for group, table in _table(poetry, "group").items():
            inner = table if isinstance(table, dict) else {}
            found = self._poetry_pins(inner, f"tool.poetry.group.{group}.dependencies")
            extras.setdefault(f"group {group}", []).extend(pin for _, _, pin in found)
        return base, extras

    def _poetry_pins(self, table: dict[str, Any], section: str) -> Iterator[tuple[str, Any, Pin]]:
        """Name, entry and pin of every dependency of a table; one name may have several entries."""
        for name, value in _table(table, "dependencies").items():
            for entry in value if isinstance(value, list) else [value]:
                pin = self._poetry_pin(name, entry, section)
                if pin:
                    yield name, entry, pin

    def _poetry_pin(self, name: str, entry: object, section: str) -> Pin | None:
        table = entry if isinstance(entry, dict) else {"version": entry}
        if normal(name) == "python" or not isinstance(name, str):
            return None
        place = Place(self.sheet.path, self.finder.key(name, section))
        version = table.get("version", "")
        specifier = poetry_specifier(version) if isinstance(version, str) else ""
        if specifier is None:
            self.sheet.problems.append(Problem(place, f"{version!r} is no version that Poetry understands"))
            return None
        extras = tuple(normal(e) for e in _list(table, "extras") if isinstance(e, str))
        backend = self._poetry_sources().get(str(table.get("source", "")), "") or backend_of(str(table.get("url", "")))
        reference = any(key in table for key in ("git", "path", "url", "file"))
        if isinstance(table.get("url"), str) and str(table["url"]).endswith(".whl"):
            named = requirements.requirement(f"{name} @ {table['url']}", place)
            return msgspec.structs.replace(named, marker=_marker(table), extras=extras)
        return Pin(normal(name), place, specifier, extras, _marker(table), backend=backend, reference=reference)

    def _poetry_sources(self) -> dict[str, str]:
        entries = _list(_table(self.data, "tool", "poetry"), "source")
        return {str(e.get("name")): backend_of(str(e.get("url", ""))) for e in entries if isinstance(e, dict)}

    def _sources(self, extra: str) -> dict[str, list[tuple[str, str]]]:
        """uv: package → (build, marker) for an extra."""
        uv = _table(self.data, "tool", "uv")
        indexes = {
            str(e.get("name")): backend_of(str(e.get("url", ""))) for e in _list(uv, "index") if isinstance(e, dict)
        }
        out: dict[str, list[tuple[str, str]]] = {}
        for name, value in _table(uv, "sources").items():
            entries = [e for e in (value if isinstance(value, list) else [value]) if isinstance(e, dict)]
            for entry in entries:
                if entry.get("extra", extra) == extra == entry.get("group", extra):
                    build = _build_of(entry, indexes), str(entry.get("marker", ""))
                    out.setdefault(normal(name), []).append(build)
        return out

    def _sourced(self, pin: Pin, sources: dict[str, list[tuple[str, str]]]) -> Pin:
        """A pin with the build of its source; with a marker the build is that of some systems only, so unsaid."""
        found = sources.get(pin.name, [])
        if any(build == "elsewhere" for build, _ in found):
            return msgspec.structs.replace(pin, reference=True)
        if len(found) == 1 and found[0][0] and not found[0][1]:
            return msgspec.structs.replace(pin, backend=found[0][0])
        return msgspec.structs.replace(pin, backend="mixed") if found else pin

    def _pythons(self) -> tuple[str, ...]:
        declared = _table(self.data, "project").get("requires-python")
        poetry = _table(self.data, "tool", "poetry", "dependencies").get("python")
        if isinstance(declared, str):
            return pythons_in(declared)
        return pythons_in(poetry_specifier(poetry) or "") if isinstance(poetry, str) and poetry != "*" else ()


def _marker(table: dict[str, Any]) -> str:
    parts = [str(table["markers"])] if table.get("markers") else []
    if table.get("platform"):
        parts.append(f"sys_platform == {str(table['platform'])!r}")
    if isinstance(table.get("python"), str) and table["python"] != "*":
        for one in (poetry_specifier(table["python"]) or "").split(","):
            if found := re.match(r"([<>=!~]+)([\d.]+)$", one):
                parts.append(f"python_version {found[1]} '{found[2]}'")
    return " and ".join(f"({part})" for part in parts)


def poetry_specifier(text: str) -> str | None:
    """`^2.1`, `~2.1`, `2.1.*`, `>=2,<3`, `2.1` as pip writes them; '' for any, None for what is none."""
    out: list[str] = []
    if "|" in text:
        return ""
    for part in filter(None, re.split(r"\s*,\s*|(?<=[\w*])\s+(?=[\^~<>=!])", text.strip())):
        found = re.fullmatch(r"(\^|~=|~|===?|=|!=|<=?|>=?)?\s*v?(\d[\w.*+!-]*|\*)", part.strip(", "))
        if not found:
            return None
        out += _one(found[1] or "", found[2])
    return ",".join(out)


def _one(operator: str, version: str) -> Iterator[str]:
    if version == "*":
        return
    numbers = [int(n) for n in re.match(r"\d+(?:\.\d+)*", version)[0].split(".")]  # type: ignore[index]
    if operator == "^":
        first = next((n for n, value in enumerate(numbers) if value), len(numbers) - 1)
        yield from (f">={version}", f"<{_bumped(numbers, first)}")
    elif operator == "~":
        yield from (f">={version}", f"<{_bumped(numbers, min(1, len(numbers) - 1))}")
    else:
        yield f"{'==' if operator in ('', '=') else operator}{version}"


def _bumped(numbers: list[int], place: int) -> str:
    return ".".join(str(n) for n in [*numbers[:place], numbers[place] + 1])


def _build_of(entry: dict[str, Any], indexes: dict[str, str]) -> str:
    """The build of PyTorch that a source of uv brings; "elsewhere" where it comes from no index."""
    build = indexes.get(str(entry.get("index", "")), "") or backend_of(str(entry.get("url", "")))
    return build or ("elsewhere" if entry.keys() & {"git", "path", "url", "workspace"} else "")


def _table(data: object, *path: str) -> dict[str, Any]:
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def _list(data: dict[str, Any], key: str) -> list[Any]:
    found = data.get(key)
    return found if isinstance(found, list) else []
