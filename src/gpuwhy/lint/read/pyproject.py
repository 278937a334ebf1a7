"""pyproject.toml: the standard tables, Poetry's, uv's sources; one environment for each extra."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from gpuwhy.lint.mistakes import Place, Problem
from gpuwhy.lint.read import requirements
from gpuwhy.lint.read.tomls import BadTomlError, Finder, parse
from gpuwhy.lint.sheet import Environment, Pin, Sheet, backend_of
from gpuwhy.lint.versions import normal, pythons_in


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
        """The base, and the base with each extra or group."""
        project = _table(self.data, "project")
        base = self._pins(project.get("dependencies"), "project")
        extras: dict[str, list[Pin]] = {}
        section = "project.optional-dependencies"
        for name, entries in _table(project, "optional-dependencies").items():
            extras[name] = self._pins(entries, section, name)
        groups = _table(self.data, "dependency-groups")
        for name in groups:
            extras.setdefault(name, []).extend(self._group(groups, name, ()))
        base += self._poetry(extras)
        pythons = self._pythons()
        self._environment(base, "", pythons)
        for name, pins in extras.items():
            self._environment([*base, *pins], name, pythons)
            own = {pin.name for pin in pins} - {pin.name for pin in base}
            self.sheet.environments[-1].own = frozenset(own)

    def _environment(self, pins: list[Pin], part: str, pythons: tuple[str, ...]) -> None:
        sources = self._sources(part)
        made = Environment(self.sheet.path, [_sourced(pin, sources) for pin in pins])
        made.pythons, made.part = pythons, part
        made.python_from = "requires-python" if pythons else ""
        overrides = _list(_table(self.data, "tool", "uv"), "override-dependencies")
        made.overridden = frozenset(pin.name for pin in self._pins(overrides, "tool.uv"))
        if re.search(r"(^|[^a-z])(gpu|cuda|cu1\d\d?)([^a-z]|$)", part.lower()):
            made.gpu = f"the extra {part} is for GPUs"
        self.sheet.environments.append(made)

    def _group(self, groups: dict[str, Any], name: str, inside: tuple[str, ...]) -> list[Pin]:
        """A dependency group and those it includes; a circle ends where it closes."""
        entries = groups.get(name)
        if name in inside or len(inside) > 20 or not isinstance(entries, list):
            return []
        out = self._pins(entries, "dependency-groups")
        for entry in entries:
            if isinstance(entry, dict) and isinstance(entry.get("include-group"), str):
                out += self._group(groups, entry["include-group"], (*inside, name))
        return out

    def _pins(self, entries: object, section: str, below: str = "") -> list[Pin]:
        out = []
        listed = entries if isinstance(entries, list) else []
        for entry in (one for one in listed if isinstance(one, str)):
            place = Place(self.sheet.path, self.finder.value(entry, section, below))
            try:
                out.append(requirements.requirement(entry.strip(), place))
            except requirements.BadRequirementError as error:
                self.sheet.problems.append(Problem(place, str(error)))
        return out

    def _poetry(self, extras: dict[str, list[Pin]]) -> list[Pin]:
        poetry = _table(self.data, "tool", "poetry")
        base: list[Pin] = []
        optional: dict[str, list[Pin]] = {}
        for entry, pin in self._poetry_pins(poetry, "tool.poetry.dependencies"):
            if isinstance(entry, dict) and entry.get("optional"):
                optional.setdefault(pin.name, []).append(pin)
            else:
                base.append(pin)
        for extra, names in _table(poetry, "extras").items():
            listed = names if isinstance(names, list) else []
            pins = [pin for name in listed for pin in optional.get(normal(str(name)), [])]
            extras.setdefault(extra, []).extend(pins)
        for group, table in _table(poetry, "group").items():
            inner = table if isinstance(table, dict) else {}
            found = self._poetry_pins(inner, f"tool.poetry.group.{group}.dependencies")
            extras.setdefault(f"group {group}", []).extend(pin for _, pin in found)
        return base

    def _poetry_pins(self, table: dict[str, Any], section: str) -> Iterator[tuple[Any, Pin]]:
        """Entry and pin of every dependency of a table; one name may have several entries."""
        for name, value in _table(table, "dependencies").items():
            for entry in value if isinstance(value, list) else [value]:
                pin = self._poetry_pin(name, entry, section)
                if pin and pin.name != "python":
                    yield entry, pin

    def _poetry_pin(self, name: str, entry: object, section: str) -> Pin | None:
        table = entry if isinstance(entry, dict) else {"version": entry}
        place = Place(self.sheet.path, self.finder.key(name, section))
        version, url = str(table.get("version", "")), str(table.get("url", ""))
        specifier = poetry_specifier(version)
        if specifier is None:
            said = f"{version!r} is no version that Poetry understands"
            self.sheet.problems.append(Problem(place, said))
            return None
        extras = tuple(normal(str(one)) for one in _list(table, "extras"))
        if url.endswith(".whl"):
            pin = requirements.requirement(f"{name} @ {url}", place)
            return replace(pin, marker=_marker(table), extras=extras)
        sources = _list(_table(self.data, "tool", "poetry"), "source")
        indexes = {one.get("name"): str(one.get("url", "")) for one in sources if _is_table(one)}
        backend = backend_of(indexes.get(table.get("source"), "") or url)
        reference = any(key in table for key in ("git", "path", "url", "file"))
        pin = Pin(normal(name), place, specifier, extras, _marker(table))
        return replace(pin, backend=backend, reference=reference)

    def _sources(self, part: str) -> dict[str, list[tuple[str, str]]]:
        """uv: package → (build, marker) for an extra."""
        uv = _table(self.data, "tool", "uv")
        indexes = {one.get("name"): one.get("url") for one in _list(uv, "index") if _is_table(one)}
        out: dict[str, list[tuple[str, str]]] = {}
        for name, value in _table(uv, "sources").items():
            for entry in filter(_is_table, value if isinstance(value, list) else [value]):
                if entry.get("extra", part) == part == entry.get("group", part):
                    url = str(indexes.get(entry.get("index")) or entry.get("url", ""))
                    elsewhere = entry.keys() & {"git", "path", "url", "workspace"}
                    build = backend_of(url) or ("elsewhere" if elsewhere else "")
                    marker = str(entry.get("marker", ""))
                    out.setdefault(normal(name), []).append((build, marker))
        return out

    def _pythons(self) -> tuple[str, ...]:
        declared = _table(self.data, "project").get("requires-python")
        if isinstance(declared, str):
            return pythons_in(declared)
        poetry = str(_table(self.data, "tool", "poetry", "dependencies").get("python", "*"))
        return pythons_in(poetry_specifier(poetry) or "") if poetry != "*" else ()


def _sourced(pin: Pin, sources: dict[str, list[tuple[str, str]]]) -> Pin:
    """A pin with the build of its source; with a marker it is that of some systems only."""
    found = sources.get(pin.name, [])
    if any(build == "elsewhere" for build, _ in found):
        return replace(pin, reference=True)
    if len(found) == 1 and found[0][0] and not found[0][1]:
        return replace(pin, backend=found[0][0])
    return replace(pin, backend="mixed") if found else pin


def _marker(table: dict[str, Any]) -> str:
    parts = [str(table["markers"])] if table.get("markers") else []
    if table.get("platform"):
        parts.append(f"sys_platform == {str(table['platform'])!r}")
    python = str(table.get("python", ""))
    for one in (poetry_specifier(python) or "").split(","):
        if found := re.match(r"([<>=!~]+)([\d.]+)$", one):
            parts.append(f"python_version {found[1]} '{found[2]}'")
    return " and ".join(f"({part})" for part in parts)


def poetry_specifier(text: str) -> str | None:
    """`^2.1`, `~2.1`, `>=2,<3`, `2.1` as pip writes them; "" for any, None for what is none."""
    out: list[str] = []
    if "|" in text:
        return ""
    for part in filter(None, re.split(r"\s*,\s*|(?<=[\w*])\s+(?=[\^~<>=!])", text.strip())):
        found = re.fullmatch(r"(\^|~=|~|[=!<>]=?=?)?\s*v?(\d[\w.*+!-]*|\*)", part.strip(", "))
        if not found:
            return None
        out += _clauses(found[1] or "", found[2])
    return ",".join(out)


def _clauses(operator: str, version: str) -> Iterator[str]:
    if version == "*":
        return
    numbers = [int(one) for one in re.findall(r"\d+", version.partition("+")[0])[:4]]
    first = next((at for at, value in enumerate(numbers) if value), len(numbers) - 1)
    kept = {"^": first, "~": min(1, len(numbers) - 1)}.get(operator)
    if kept is None:
        yield f"{'==' if operator in ('', '=') else operator}{version}"
        return
    bumped = ".".join(str(one) for one in [*numbers[:kept], numbers[kept] + 1])
    yield from (f">={version}", f"<{bumped}")


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


def _table(data: object, *path: str) -> dict[str, Any]:
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def _list(data: dict[str, Any], key: str) -> list[Any]:
    found = data.get(key)
    return found if isinstance(found, list) else []
