"""Requirement lines: of requirements and constraints files, of pip commands, of every list in other files."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.lint.sheet import Environment, Include, Index, Pin, Role, Sheet, backend_of, holds_only
from gpuwhy.model.lint import Place, Problem
from gpuwhy.model.words import normal

_NAME = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
_ONE = r"(?:===?|~=|!=|<=?|>=?)\s*[A-Za-z0-9][A-Za-z0-9.*+!_-]*"
_REQUIREMENT = re.compile(
    rf"({_NAME})\s*(?:\[([^\]]*)\])?\s*(?:\(?\s*({_ONE}(?:\s*,\s*{_ONE})*)?\s*,?\s*\)?)?\s*(?:;\s*(.*))?"
)
_URL = re.compile(
    rf"(?:({_NAME})\s*(?:\[([^\]]*)\])?\s*@\s*)?((?:git|hg|svn|bzr)\+\S+|[a-z]+://\S+|file:\S+|\.{{0,2}}/\S*|\.\.?(?:\[[^\]]*\])?(?=\s|$|;)|\S+\.(?:whl|zip|tar\.gz))"
)
_OPTION = re.compile(r"(--[a-z][a-z-]*|-[a-zA-Z])(?:\s*=\s*|\s+|(?<=-[a-zA-Z])(?=\S)|$)(.*)")
_AFTER = re.compile(r"\s-{1,2}[a-zA-Z].*", re.DOTALL)
_LOCAL_RANGE = re.compile(rf"{_NAME}\s*(?:\[[^\]]*\])?\s*(?:>=?|<=?|~=)\s*[\d.]+\+[\w.*]+")
_FLAGS = frozenset(
    {"--no-index", "--pre", "--prefer-binary", "--require-hashes", "--no-deps", "--no-binary", "--only-binary",
     "--trusted-host", "--use-feature", "--no-build-isolation"}
)  # fmt: skip
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
    for number, raw in enumerate(text.lstrip("\ufeff").split("\n"), 1):
        line = raw.rstrip("\r \t")
        if "#" in line:
            line = re.sub(r"(^|\s)#.*$", "", line).rstrip()
        if not held:
            start = number
        if line.endswith("\\"):
            held.append(line[:-1])
            continue
        whole = " ".join([*held, line]).strip() if held else line.strip()
        held = []
        if whole:
            yield Logical(whole, start)
    if held:
        yield Logical(" ".join(held).strip(), start)


def read(path: str, text: str) -> Sheet:
    """A requirements or constraints file."""
    sheet = Sheet(path, "requirements")
    environment = Environment(path)
    limits = posixpath.basename(path).startswith("constraints")
    fill(environment, sheet, logical_lines(text), limits)
    sheet.environments.append(environment)
    return sheet


def fill(environment: Environment, sheet: Sheet, lines: Iterator[Logical], limits: bool = False) -> None:
    """Requirement lines and options into an environment; what cannot be read into the sheet's problems."""
    indexes: list[Index] = []
    for logical in lines:
        place = Place(environment.path, logical.line)
        if "${" in logical.text:
            sheet.notes.append(
                Problem(place, f"{_short(logical.text)!r} is not checked: only the installation knows its value")
            )
            continue
        if logical.text.startswith("-"):
            try:
                indexes += _option(environment, logical.text, place, limits)
            except BadRequirementError as error:
                sheet.problems.append(Problem(place, str(error)))
            continue
        try:
            found = requirement(logical.text, place)
        except BadRequirementError as error:
            refused = _LOCAL_RANGE.match(logical.text)
            (environment.refused if refused else sheet.problems).append(
                Problem(place, refused[0] if refused else str(error))
            )
            continue
        if misplaced := _MISPLACED.search(logical.text):
            environment.misplaced.append(Problem(place, misplaced[0].strip()))
        environment.pins.append(_replace(found, limits=limits))
    if indexes:
        _ask(environment, indexes)


def _ask(environment: Environment, named: list[Index]) -> None:
    """The indexes that a file names, for every line of it; of several --index-url pip takes the last."""
    only = [index for index in named if index.role == "only"]
    environment.outdone += [(index, only[-1]) for index in only[:-1] if index.url != only[-1].url]
    indexes = tuple(index for index in named if index.role != "only" or index is only[-1])
    environment.pins[:] = [with_indexes(pin, indexes) for pin in environment.pins]
    environment.includes[:] = [_with(i, indexes=(*i.indexes, *indexes)) for i in environment.includes]


def _with(include: Include, **changes: object) -> Include:
    import msgspec

    return msgspec.structs.replace(include, **changes)


_MISPLACED = re.compile(r"\s(-i|--index-url|--extra-index-url|-f|--find-links)[\s=].*")
ROLES: dict[str, Role] = {
    "-i": "only", "--index-url": "only", "--default-index": "only", "--extra-index-url": "extra", "--index": "extra",
    "-f": "links", "--find-links": "links",
}  # fmt: skip
"""Options that name an index, and what it is to the default one."""


def _replace(pin: Pin, **changes: object) -> Pin:
    import msgspec

    return msgspec.structs.replace(pin, **changes)


def with_indexes(pin: Pin, indexes: tuple[Index, ...]) -> Pin:
    """A pin that may come from other indexes; PyTorch's own packages follow the last of PyTorch's."""
    if pin.reference or not indexes:
        return pin
    found = _replace(pin, indexes=(*pin.indexes, *indexes))
    backend = next((index.backend for index in reversed(indexes) if index.backend), "")
    return with_backend(found, backend) if backend else found


def with_backend(pin: Pin, backend: str) -> Pin:
    """A pin from another index: PyTorch's own packages follow it, others do not."""
    if pin.backend or pin.name not in ("torch", "torchvision", "torchaudio", "xformers", "triton"):
        return pin
    return _replace(pin, backend=backend)


def _option(environment: Environment, text: str, place: Place, limits: bool) -> list[Index]:
    """An option line; returns the index that it names."""
    found = _OPTION.fullmatch(text)
    if not found:
        raise BadRequirementError(f"{_short(text)!r} is not an option that requirements files have")
    name, value = found[1], found[2].strip().strip("\"'")
    if name in ("-r", "--requirement", "-c", "--constraint"):
        only = limits or name in ("-c", "--constraint")
        environment.includes.append(Include(value, place, only))
    elif name in ROLES:
        value, _, lost = value.partition(" ")
        if lost.strip() and not lost.lstrip().startswith(("-", "#")):
            environment.misplaced.append(Problem(place, lost.strip()))
        environment.other_index = environment.other_index or not holds_only(value)
        return [Index(value, ROLES[name], place)]
    elif name in _FLAGS and value.startswith("-"):
        return _option(environment, value, place, limits)  # several options of one line
    elif name not in ("-e", "--editable", *_FLAGS):
        raise BadRequirementError(f"{_short(name)!r} is not an option that requirements files have")
    return []


def requirement(text: str, place: Place) -> Pin:
    """One requirement; raises BadRequirementError."""
    text = _AFTER.sub("", text).strip() if " -" in text else text
    if len(text) > 5000:
        raise BadRequirementError(f"a requirement of {len(text)} characters")
    reference = _URL.match(text) if _may_be_reference(text) else None
    if reference:
        _, _, marker = text[reference.end() :].partition(";")
        return _replace(_reference(reference, place), marker=marker.strip() or _for_windows(reference[3]))
    found = _REQUIREMENT.fullmatch(" ".join(text.split()))
    if not found:
        raise BadRequirementError(f"{_short(text)!r} is no requirement{_why(text)}")
    name, extras, specifier, marker = (part or "" for part in found.groups())
    words = tuple(normal(extra.strip()) for extra in extras.split(",") if extra.strip())
    wanted = re.sub(r"\s", "", specifier)
    if wanted and not _is_specifier(wanted):
        raise BadRequirementError(f"{_short(text)!r} is no requirement: {_short(wanted)!r} names no version")
    return Pin(normal(name), place, wanted, words, marker.strip())


def _for_windows(url: str) -> str:
    """The marker that a wheel of Windows, named by its file, stands for."""
    return 'sys_platform == "win32"' if re.search(r"-win(32|_\w+)\.whl", url) else ""


def _may_be_reference(text: str) -> bool:
    return "/" in text or "@" in text or text.startswith(".") or text.endswith((".whl", ".zip", ".gz"))


def _is_specifier(text: str) -> bool:
    """Whether installers read it, and the legacy versions that they once did."""
    from gpuwhy.lint.versions import specifier

    return "===" in text or specifier(text) is not None


def _reference(found: re.Match[str], place: Place) -> Pin:
    """A URL or a path: its name is before the @, in `#egg=`, or in the wheel's file name."""
    name, extras, url = found.groups()
    egg = re.search(r"[#&]egg=([\w.-]+)", url)
    wheel = re.search(r"([\w.]+)-([\w.!]+(?:(?:\+|%2[Bb])[\w.]+)?)(?:-\d\w*)?-([\w.]+)-([\w.]+)-[\w.]+\.whl", url)
    version = wheel[2].replace("%2B", "+").replace("%2b", "+") if wheel else ""
    if not name:
        name = egg[1] if egg else wheel[1] if wheel else _last_part(url)
    words = tuple(normal(e.strip()) for e in (extras or "").split(",") if e.strip())
    specifier = f"=={version}" if version else ""
    head = url.startswith("git+") and "@" not in url.rpartition("/")[2]
    tag = (wheel[3] if wheel[4] != "abi3" else "") if wheel else "HEAD" if head else ""
    path = url if url.startswith("file:") else ""
    return Pin(normal(name), place, specifier, words, backend=backend_of(url), reference=True, tag=tag, path=path)


def _last_part(url: str) -> str:
    """git+https://host/NVIDIA/apex.git@main → apex."""
    path = re.split(r"[#?\[]", url)[0].rstrip("/.")
    last = path.split("/")[-1]
    return re.sub(r"(\.git)?(@.*)?$", "", last) or "-"


def _why(text: str) -> str:
    if re.match(r"(<{7}|={7}|>{7})", text):
        return ": a merge conflict was left in the file"
    if re.match(rf"{_NAME}=[^=]", text):
        return ": pip writes ==, a single = is conda's"
    if re.match(rf"{_NAME}\s+\d", text):
        return ": an operator such as == is missing between name and version"
    return ""


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
