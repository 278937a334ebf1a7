"""Lock files: uv, Poetry, PDM, pylock and Pipenv; by their regular shape, so that a megabyte takes milliseconds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import takewhile

import msgspec

from gpuwhy.lint.sheet import Environment, Pin, Sheet, backend_of
from gpuwhy.lint.versions import pythons_in
from gpuwhy.model.lint import Place, Problem
from gpuwhy.model.words import normal

_LINE = re.compile(
    r"\s*(#.*|\[\[?[^\]]*\]\]?\s*(#.*)?|[\"']?[\w.@ +-]+[\"']?\s*(\.[\w\"'-]+)*\s*=\s*\S.*|[\]})].*|[{\"'\d].*)?"
)
_KEY = re.compile(r"([\w-]+) = (?:\"([^\"]*)\"|(true|false)|(\[.*|\{.*))")
_HEADS = ("[[package]]", "[[packages]]")


def read(path: str, text: str) -> Sheet:
    """uv.lock, poetry.lock, pdm.lock or pylock.toml."""
    sheet = Sheet(path, "lock")
    text = text.replace("\r\n", "\n")
    wrong = _wrong_line(text)
    if wrong:
        sheet.problems.append(Problem(Place(path, wrong[0]), wrong[1]))
        return sheet
    head = text.split("[[package", 1)[0]
    environment = Environment(path, locked=True, forked=bool(re.search(r"^conflicts = \[", head, re.M)))
    optional = _named_in_extras(text)
    for line, fields, block in _blocks(text):
        environment.pins.append(_pin(path, line, fields, block, optional))
    environment.pythons = _pythons(text, head)
    environment.python_from = "requires-python" if environment.pythons else ""
    _fork(environment)
    sheet.environments.append(environment)
    return sheet


def _wrong_line(text: str) -> tuple[int, str] | None:
    """The first line that cannot be TOML; multi-line strings do not occur in lock files."""
    if not any(head in text for head in _HEADS):
        return (1, "no lock file: it holds no [[package]]") if text.strip() else None
    for number, line in enumerate(text.split("\n"), 1):
        if re.match(r"<{7}|={7}|>{7}", line):
            return number, "a merge conflict was left in the file"
        if len(line) < 2000 and not _LINE.fullmatch(line):
            return number, f"no TOML: {line.strip()[:60]!r}"
    return None


def _blocks(text: str) -> Iterator[tuple[int, dict[str, str], list[str]]]:
    """Each package: the line of its name, its own keys, all its lines."""
    lines = text.split("\n")
    starts = [n for n, line in enumerate(lines) if line in _HEADS]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        block = lines[start + 1 : end]
        fields: dict[str, str] = {}
        line = start + 1
        for number, one in enumerate(takewhile(lambda one: not one.startswith("["), block), start + 2):
            if found := _KEY.match(one):
                fields.setdefault(found[1], found[2] or found[3] or found[4] or "")
                line = number if found[1] == "name" else line
        if fields.get("name"):
            yield line, fields, block


def _pin(path: str, line: int, fields: dict[str, str], block: list[str], optional: set[str]) -> Pin:
    name, version = normal(fields["name"]), fields.get("version", "")
    source = fields.get("source", "") or fields.get("index", "")
    if not source:
        source = next((one for one in block if one.startswith(("url = ", "reference = "))), "").replace('"', "")
    url = re.search(r"[a-z]+://[^\"\s}]+", source)
    groups = re.findall(r"\"([^\"]+)\"", fields.get("groups", ""))
    some = (
        fields.get("optional") == "true" or name in optional or bool(groups and not {"default", "main"} & set(groups))
    )
    return Pin(
        name,
        Place(path, line),
        f"=={version}" if version else "",
        marker=_marker(fields, block),
        backend=backend_of(url[0] if url else ""),
        optional=some,
        reference=any(
            word in source for word in ("git =", "url =", "path =", "editable =", "virtual =", "directory =")
        ),
    )


def _marker(fields: dict[str, str], block: list[str]) -> str:
    """Poetry's `markers`, PDM's and pylock's `marker`, uv's `resolution-markers`."""
    plain = fields.get("markers") or fields.get("marker") or ""
    if plain.startswith("{"):
        plain = (re.findall(r"main = \"((?:[^\"\\]|\\.)*)\"", plain) or [""])[0].replace('\\"', '"')
    if plain or "resolution-markers" not in fields:
        return plain
    start = next(n for n, line in enumerate(block) if line.startswith("resolution-markers"))
    end = next((n for n, line in enumerate(block) if n >= start and "]" in line), len(block))
    found = [marker for line in block[start : end + 1] for marker in re.findall(r"\"([^\"]+)\"", line)]
    return " or ".join(f"({marker})" for marker in found)


def _named_in_extras(text: str) -> set[str]:
    """uv: names that only extras or groups of the project itself ask for."""
    out: set[str] = set()
    for found in re.finditer(
        r"^\[package\.(?:optional-dependencies|dev-dependencies)\]\n((?:(?!\[).*\n?)*)", text, re.M
    ):
        out |= {normal(name) for name in re.findall(r"\{ name = \"([^\"]+)\"", found[1])}
    return out


def _pythons(text: str, head: str) -> tuple[str, ...]:
    found = re.search(r"^requires-python = \"([^\"]+)\"", head, re.M) or re.search(
        r"^python-versions = \"([^\"]+)\"", text[text.rfind("\n[metadata]") :], re.M
    )
    return pythons_in(found[1]) if found and not re.search(r"[|^~]", found[1].replace("~=", "")) else ()


def _fork(environment: Environment) -> None:
    """Several versions of one package without markers: the lock serves several installations."""
    seen: dict[str, Pin] = {}
    for pin in environment.pins:
        if pin.name in seen and seen[pin.name].version != pin.version and not (pin.marker and seen[pin.name].marker):
            environment.forked = True
        seen[pin.name] = pin


def read_pipfile(path: str, text: str) -> Sheet:
    """Pipfile.lock."""
    sheet = Sheet(path, "pipfile-lock")
    try:
        data = msgspec.json.decode(text.encode("utf-8", "replace"))
    except msgspec.DecodeError as error:
        sheet.problems.append(Problem(Place(path, json_line(text)), f"no JSON: {error}"))
        return sheet
    except RecursionError:
        sheet.problems.append(Problem(Place(path, 0), "nested too deep"))
        return sheet
    environment = Environment(path, locked=True)
    lines = {m[1]: text.count("\n", 0, m.start()) + 1 for m in re.finditer(r"^\s*\"([\w.-]+)\": *\{", text, re.M)}
    meta = data.get("_meta") if isinstance(data, dict) else None
    environment.pythons, environment.python_from = _pipfile_python(meta), "the lock's python_version"
    default = data.get("default") if isinstance(data, dict) else None
    for name, entry in default.items() if isinstance(default, dict) else []:
        if isinstance(entry, dict):
            version, marker = entry.get("version"), entry.get("markers")
            place = Place(path, lines.get(name, 1))
            environment.pins.append(
                Pin(normal(name), place, version if isinstance(version, str) else "", marker=str(marker or ""))
            )
    sheet.environments.append(environment)
    return sheet


def _pipfile_python(meta: object) -> tuple[str, ...]:
    requires = meta.get("requires") if isinstance(meta, dict) else None
    version = requires.get("python_version") if isinstance(requires, dict) else None
    return (version,) if isinstance(version, str) and re.fullmatch(r"3\.\d+", version) else ()


def json_line(text: str) -> int:
    """The line where JSON breaks, as the standard library's parser tells it; msgspec tells no line."""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.lineno
    except (ValueError, RecursionError):  # a number of thousands of digits
        return 0
    return 1
