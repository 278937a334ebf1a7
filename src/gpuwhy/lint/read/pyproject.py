"""pyproject.toml: the standard tables and uv's sources; one environment for each extra."""

import re
from typing import Any

import msgspec
from msgspec.structs import replace

from gpuwhy.lint.mistakes import BadFileError, Place, Problem
from gpuwhy.lint.read import requirements
from gpuwhy.lint.sheet import Environment, Pin, Sheet, backend_of
from gpuwhy.lint.versions import normal, pythons_in

_LIMIT = 2_000_000
_DEEP = re.compile(r"(?:[\w\"'-]{1,40}[ \t]{0,4}\.[ \t]{0,4}){200}|[\[{]{200}")


def read(path: str, text: str) -> Sheet:
    """A pyproject.toml."""
    sheet = Sheet(path, "pyproject")
    try:
        _Reader(sheet, parse(text), text).fill()
    except BadFileError as error:
        sheet.problems.append(Problem(Place(path, error.line), str(error)))
    return sheet


def parse(text: str) -> dict[str, Any]:
    """The values; raises BadFileError."""
    deep = _DEEP.search(text)
    if len(text) > _LIMIT or deep:
        line = text.count("\n", 0, deep.start()) + 1 if deep else 0
        raise BadFileError(line, "too long, or nested too deep")
    try:
        return msgspec.toml.decode(text.replace("\r\n", "\n"), type=dict[str, Any])
    except (ValueError, RecursionError) as error:
        found = re.search(r"\(at line (\d+), column \d+\)", str(error))
        reason = re.sub(r"\s*\(at .*\)$", "", str(error))
        line = int(found[1]) if found else text.count("\n") + 1
        raise BadFileError(line, f"no TOML: {reason}") from None


class _Reader:
    def __init__(self, sheet: Sheet, data: dict[str, Any], text: str) -> None:
        self.sheet, self.lines = sheet, text.split("\n")
        self.project, self.uv = _table(data, "project"), _table(data, "tool", "uv")
        self.groups = _table(data, "dependency-groups")
        self.indexes = {one.get("name"): one.get("url") for one in _tables(self.uv.get("index"))}
        sources = _table(self.uv, "sources").items()
        self.sources = {normal(name): _tables(value) for name, value in sources}

    def fill(self) -> None:
        """The base, and the base with each extra or group."""
        base = self._pins(self.project.get("dependencies"), "[project]")
        parts: dict[str, list[Pin]] = {"": []}
        for name, entries in _table(self.project, "optional-dependencies").items():
            parts[name] = self._pins(entries, "[project.optional-dependencies]", name)
        for name in self.groups:
            parts.setdefault(name, []).extend(self._group(name, ()))
        poetry = next(
            (n for n, one in enumerate(self.lines, 1) if "[tool.poetry.dependencies" in one), 0
        )
        if poetry:
            said = "Poetry's own table of dependencies is not checked: lint reads [project]"
            self.sheet.notes.append(Problem(Place(self.sheet.path, poetry), said))
        declared = self.project.get("requires-python")
        pythons = pythons_in(declared) if isinstance(declared, str) else ()
        overrides = self._pins(self.uv.get("override-dependencies"), "[tool.uv]")
        for part, pins in parts.items():
            sourced = [self._sourced(pin, part) for pin in base + pins]
            made = Environment(self.sheet.path, sourced)
            made.pythons, made.part, made.python_from = pythons, part, "requires-python"
            made.overridden = frozenset(pin.name for pin in overrides)
            if re.search(r"(^|[^a-z])(gpu|cuda|cu1\d\d?)([^a-z]|$)", part.lower()):
                made.gpu = f"the extra {part} is for GPUs"
            self.sheet.environments.append(made)

    def _group(self, name: str, inside: tuple[str, ...]) -> list[Pin]:
        """A dependency group and those it includes; a circle ends where it closes."""
        entries = self.groups.get(name)
        if name in inside or len(inside) > 20 or not isinstance(entries, list):
            return []
        out = self._pins(entries, "[dependency-groups]", name)
        for entry in entries:
            if isinstance(entry, dict) and isinstance(entry.get("include-group"), str):
                out += self._group(entry["include-group"], (*inside, name))
        return out

    def _pins(self, entries: object, *headers: str) -> list[Pin]:
        """The requirements of a list, each with the line that has it below the headers."""
        out, above = [], 0
        for header in headers:
            at = (n for n, line in enumerate(self.lines) if n >= above and header in line)
            above = next(at, above)
        listed = entries if isinstance(entries, list) else []
        for entry in (one for one in listed if isinstance(one, str)):
            quoted = (f'"{entry}"', f"'{entry}'")
            below = (n for n, line in enumerate(self.lines) if n >= above)
            at = (n for n in below if any(one in self.lines[n] for one in quoted))
            place = Place(self.sheet.path, next(at, above) + 1)
            try:
                out.append(requirements.requirement(entry.strip(), place))
            except requirements.BadRequirementError as error:
                self.sheet.problems.append(Problem(place, str(error)))
        return out

    def _sourced(self, pin: Pin, part: str) -> Pin:
        """A pin with the build of uv's source; with a marker it is that of some systems only."""
        builds = []
        for entry in self.sources.get(pin.name, ()):
            if entry.get("extra", part) == part == entry.get("group", part):
                url = str(self.indexes.get(entry.get("index")) or entry.get("url", ""))
                if not backend_of(url) and entry.keys() & {"git", "path", "url", "workspace"}:
                    return replace(pin, reference=True)
                builds.append("" if entry.get("marker") else backend_of(url))
        alone = builds[0] if len(builds) == 1 else ""
        return replace(pin, backend=alone or "mixed") if builds else pin


def _table(data: object, *path: str) -> dict[str, Any]:
    for key in path:
        data = data.get(key) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def _tables(value: object) -> list[dict[str, Any]]:
    """The tables of a list; one table alone is such a list."""
    listed = value if isinstance(value, list) else [value]
    return [one for one in listed if isinstance(one, dict)]
