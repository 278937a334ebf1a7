"""Requirement lines: of requirements files, of pip commands, of every list in other files."""

import posixpath
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace
from packaging.requirements import InvalidRequirement, Requirement

from gpuwhy.lint.mistakes import Place, Problem
from gpuwhy.lint.rules import pattern, table
from gpuwhy.lint.sheet import (
    OWN,
    Environment,
    Include,
    Index,
    Pin,
    Role,
    Sheet,
    backend_of,
    holds_only,
)
from gpuwhy.lint.versions import normal

_URL = pattern("requirements.url")
_WHEEL = re.compile(
    r"([\w.]+)-([\w.!]+(?:(?:\+|%2[Bb])[\w.]+)?)(?:-\d\w*)?-([\w.]+)-([\w.]+)-([\w.]+)\.whl"
)
_OPTION = re.compile(r"(--[a-z][a-z-]*|-[a-zA-Z])(?:\s*=\s*|\s+|(?<=-[a-zA-Z])(?=\S)|$)(.*)")
_AFTER = re.compile(r"\s-{1,2}[a-zA-Z].*", re.DOTALL)
MISPLACED = re.compile(r"\s(-i|--index-url|--extra-index-url|-f|--find-links)[\s=].*")
"""An index option behind a requirement, where pip does not read it, and Cog does."""
_FLAGS = table("requirements.flags")
ROLES: dict[str, Role] = table("requirements.roles")
"""Options that name an index, and what it is to the default one."""
_SHOWN = 60


class BadRequirementError(ValueError):
    """A line that is no requirement."""


class Logical(NamedTuple):
    """A line with its continuations and without its comment."""

    text: str
    line: int


def logical_lines(text: str) -> Iterator[Logical]:
    """Lines as pip joins them."""
    held: list[str] = []
    start = 0
    for number, raw in enumerate([*text.lstrip("\ufeff").split("\n"), ""], 1):
        line = re.sub(r"(^|\s)#.*$", "", raw.rstrip("\r \t")).rstrip()
        start = start if held else number
        held.append(line.removesuffix("\\"))
        if not line.endswith("\\"):
            whole, held = " ".join(held).strip(), []
            if whole:
                yield Logical(whole, start)


def read(path: str, text: str) -> Sheet:
    """A requirements or constraints file."""
    sheet = Sheet(path, "requirements", [Environment(path)])
    limits = posixpath.basename(path).startswith("constraints")
    fill(sheet.environments[0], sheet, logical_lines(text), limits)
    return sheet


def fill(
    environment: Environment, sheet: Sheet, lines: Iterable[Logical], limits: bool = False
) -> None:
    """Requirement lines and options into an environment; what cannot be read is a problem."""
    indexes: list[Index] = []
    for text, line in lines:
        place = Place(environment.path, line)
        if "${" in text:
            said = f"{_short(text)!r} is not checked: only the installation knows its value"
            sheet.notes.append(Problem(place, said))
            continue
        try:
            if text.startswith("-"):
                indexes += _option(environment, text, place, limits)
            else:
                environment.pins.append(replace(requirement(text, place), limits=limits))
        except BadRequirementError as error:
            sheet.problems.append(Problem(place, str(error)))
    if indexes:  # for every line of the file; of several --index-url pip takes the last
        only = [index for index in indexes if index.role == "only"]
        kept = tuple(index for index in indexes if index.role != "only" or index is only[-1])
        environment.pins[:] = [with_indexes(pin, kept) for pin in environment.pins]
        included = environment.includes
        included[:] = [replace(one, indexes=(*one.indexes, *kept)) for one in included]


def with_indexes(pin: Pin, indexes: tuple[Index, ...]) -> Pin:
    """A pin that may come from other indexes; PyTorch's packages follow the last of PyTorch's."""
    if pin.reference or not indexes:
        return pin
    backend = next((index.backend for index in reversed(indexes) if index.backend), "")
    return with_backend(replace(pin, indexes=(*pin.indexes, *indexes)), backend)


def with_backend(pin: Pin, backend: str) -> Pin:
    """A pin from another index: PyTorch's own packages follow it, others do not."""
    follows = pin.name in OWN and backend and not pin.backend
    return replace(pin, backend=backend) if follows else pin


def _option(environment: Environment, text: str, place: Place, limits: bool) -> list[Index]:
    """An option line; returns the index that it names."""
    found = _OPTION.fullmatch(text)
    name, value = (found[1], found[2].strip().strip("\"'")) if found else (text, "")
    if name in ("-r", "--requirement", "-c", "--constraint"):
        only = limits or name in ("-c", "--constraint")
        environment.includes.append(Include(value, place, only))
    elif name in ROLES:
        url = value.partition(" ")[0]
        environment.other_index |= not holds_only(url)
        return [Index(url, ROLES[name], place)]
    elif name not in _FLAGS:
        said = f"{_short(name)!r} is not an option that requirements files have"
        raise BadRequirementError(said)
    elif value.startswith("-"):
        return _option(environment, value, place, limits)  # several options of one line
    return []


def requirement(text: str, place: Place) -> Pin:
    """One requirement; raises BadRequirementError."""
    text = _AFTER.sub("", text).strip() if " -" in text else text
    if len(text) > 5000:
        raise BadRequirementError(f"a requirement of {len(text)} characters")
    before, *marker = re.split(r";\s+|\s+;", text, maxsplit=1)
    reference = _URL.match(before)
    if reference:
        return _reference(reference, "".join(marker).strip(), place)
    try:
        found = Requirement(text.rstrip(", "))
    except (InvalidRequirement, RecursionError, ValueError):
        hint = ": pip writes ==, a single = is conda's" if re.match(r"[\w.-]+=[^=]", text) else ""
        raise BadRequirementError(f"{_short(text)!r} is no requirement{hint}") from None
    clauses = sorted(found.specifier, key=lambda one: text.find(one.version))
    specifier = ",".join(f"{one.operator}{one.version}" for one in clauses)
    extras = tuple(normal(extra) for extra in found.extras)
    return Pin(normal(found.name), place, specifier, extras, str(found.marker or ""))


def _reference(found: re.Match[str], marker: str, place: Place) -> Pin:
    """A URL or a path: its name is before the @, in `#egg=`, or in the wheel's file name."""
    url = found["url"]
    last = re.split(r"[#?\[]", url)[0].rstrip("/.").split("/")[-1]  # apex.git@main
    name = re.sub(r"(\.git)?(@.*)?$", "", last) or "-"
    head = url.startswith("git+") and "@" not in url.rpartition("/")[2]
    version, tag = "", "HEAD" if head else ""
    egg, wheel = re.search(r"[#&]egg=([\w.-]+)", url), _WHEEL.search(url)
    if wheel:
        name, version = wheel[1], re.sub("%2[Bb]", "+", wheel[2])
        tag = wheel[3] if wheel[4] != "abi3" else ""
        marker = marker or ('sys_platform == "win32"' if wheel[5].startswith("win") else "")
    name = found["name"] or (egg[1] if egg else name)
    extras = tuple(map(normal, re.findall(r"[\w.-]+", found["extras"] or "")))
    pin = Pin(normal(name), place, f"=={version}" if version else "", extras, marker, tag=tag)
    return replace(pin, reference=True, backend=backend_of(url))


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
