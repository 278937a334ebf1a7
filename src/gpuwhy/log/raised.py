"""Raised: what an exception says by its type, its words and its place, taken together.

No expression on one line can tell these: a library that imports a module and gets the user's file,
a value that a framework reads and cannot convert, a cache folder that it cannot make.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TypeAlias

from gpuwhy.log.ending import Ending, Frame
from gpuwhy.log.endings import Course, name_of
from gpuwhy.log.expressions import Expressions, entry, names
from gpuwhy.log.match import Found
from gpuwhy.log.reasons import FRAMEWORKS
from gpuwhy.log.tracebacks import PYTHON, USER, owner_of

_E = Expressions("raised")

MADE = names("raised.names_made")
OWNERS: dict[str, str] = entry("raised.table_owners")
NEAR = 5
"""How many frames from the raised one still tell what was being done."""
ALWAYS: dict[str, str] = entry("raised.table_always")
PLACES = names("raised.names_places")
_LACKING = ("AttributeError", "ModuleNotFoundError", "ImportError")

Made: TypeAlias = "tuple[str, dict[str, str]] | None"


def raised(messages: list[Found], course: Course) -> list[Found]:
    """The messages with these among them, by line; Python's plain words on the line say less."""
    more = {one.line: one for one in _all((course.ending, *course.outlived))}
    if not more:
        return messages
    parts = {f"'{one.fields['part']}'" for one in more.values() if "part" in one.fields}
    kept = [
        one
        for one in messages
        if not (one.line in more and one.family in ("python", "pairs", "packages"))
        and not (one.family in ("python", "packages", "build") and _repeats(one, parts))
    ]
    known = {(one.line, one.family) for one in kept}
    new = [one for one in more.values() if (one.line, one.family) not in known]
    return sorted([*kept, *new], key=lambda one: one.line)


def _repeats(found: Found, parts: Iterable[str]) -> bool:
    return any(part in found.text for part in parts)


def _all(endings: Iterable[Ending]) -> Iterator[Found]:
    for ending in endings:
        for one in (ending, *ending.chain):
            if one.kind == "exception" and one.line:
                yield from _of(one)


def _of(ending: Ending) -> Iterator[Found]:
    first = ending.message.splitlines()[0] if ending.message else ""
    for look in (_shadowed, _in_part, _between, _unread, _warnings, _compiler, _cache):
        made = look(ending)
        if made is not None:
            name, fields = made
            text = f"{ending.type}: {first}"[:400]
            yield Found(name, ending.line, text, "error", fields, rank=ending.rank)
            return


def _shadowed(ending: Ending) -> Made:
    """A module that is not the one its name promises."""
    if found := _E.from_file.search(ending.message):
        inside = _whose(found["path"]) != USER
        by_library = bool(ending.stack) and ending.stack[-1].owner != USER
        standard = found["name"] in _standard()
        if inside or not (standard or by_library):
            return None
        return "shadow.from_file", found.groupdict()
    if name_of(ending) == "AttributeError" and (found := _E.lacks.search(ending.message)):
        name, what = found["name"], found["what"]
        if what == "__path__":  # what every package has, and no single file
            return "shadow.not_package", found.groupdict()
        if what in _standard().get(name, "").split() and not _E.unix_only.fullmatch(what):
            return "shadow.attribute", found.groupdict()
        if ending.stack and what in ALWAYS.get(name, "").split():
            return "shadow.hollow", {**found.groupdict(), "by": ending.stack[-1].owner}
    return None


def _in_part(ending: Ending) -> Made:
    """A package that was found and lacks a part which its own code, or its framework's, imports."""
    missing = name_of(ending) in ("ModuleNotFoundError", "ImportError")
    found = _E.part.search(ending.message) if missing else None
    families = _families()
    if found is None or found["name"] not in families or not ending.stack:
        return None
    name, fields = found["name"], found.groupdict()
    beside = re.compile(rf".*[\\/]{name}(?=[\\/])")
    folders = ((frame, beside.match(frame.file)) for frame in ending.stack)
    outside = [match[0] for frame, match in folders if match and _whose(frame.file) == USER]
    if outside:
        return "shadow.in_part", {**fields, "path": outside[-1]}
    asker = ending.stack[-1].owner
    if families.get(asker) != families[name]:
        return None
    return "packages.in_part", {**fields, "by": "" if asker == name else asker}


def _between(ending: Ending) -> Made:
    """A framework lacks what an installed package takes from it: one of them is too new."""
    found = _E.of_another.search(ending.message) if name_of(ending) in _LACKING else None
    if found is None or not ending.stack or "getattr(" in ending.stack[-1].code:
        return None
    name, what = found["name"] or found["name2"], found["what"] or found["what2"]
    families = _families()
    family, asker = families.get(name.partition(".")[0]), ending.stack[-1].owner
    imported = any(one.function == "<module>" and one.owner == asker for one in ending.stack)
    if family is None or asker in (USER, PYTHON) or not imported:
        return None
    if families.get(asker, asker) == family:
        return None
    return "pairs.between", {"name": name, "what": what, "path": ""}


def _unread(ending: Ending) -> Made:
    """A value that a framework took from its surroundings and could not convert."""
    frame, found = ending.frame, _E.unread.search(ending.message)
    if found is None or frame is None or frame.owner not in FRAMEWORKS:
        return None
    if not _E.option.search(f"{frame.function} {frame.code} {ending.message}"):
        return None
    value = found["value"] or found["value2"] or ""
    where = f"{_base(frame)}:{frame.line}"
    return "setting.unread", {"value": value, "by": frame.owner, "where": where}


def _warnings(ending: Ending) -> Made:
    """A warning that was raised: somebody has made warnings errors."""
    frame = ending.frame
    if not name_of(ending).endswith("Warning") or frame is None or frame.owner == USER:
        return None
    return "setting.warnings", {"name": name_of(ending), "by": frame.owner}


def _compiler(ending: Ending) -> Made:
    """A compiler that a framework starts, and that is not installed."""
    path = _E.quoted.search(ending.message)
    if name_of(ending) not in ("FileNotFoundError", "PermissionError") or path is None:
        return None
    started = any(_base(frame) == "subprocess.py" for frame in ending.stack[-NEAR:])
    if not started or not _E.compilers.search(path["path"]):
        return None
    return "triton.compiler", {"path": path["path"]}


def _cache(ending: Ending) -> Made:
    """A cache folder that a framework cannot make or write to."""
    path, name = _E.quoted.search(ending.message), name_of(ending)
    numbered = name not in ("OSError", "EnvironmentError") or ending.message.startswith("[")
    if name not in PLACES or path is None or not numbered:
        return None
    near = [
        frame
        for frame in ending.stack[-NEAR:]
        if frame.owner in FRAMEWORKS
        and _E.cache.search(f"{_base(frame)} {frame.function} {frame.code}")
    ]
    return ("limit.cache", {"path": path["path"], "by": near[-1].owner}) if near else None


def _base(frame: Frame) -> str:
    return frame.file.replace("\\", "/").rsplit("/", 1)[-1]


def _whose(path: str) -> str:
    return PYTHON if path.startswith(("unknown", "<")) else owner_of(path)


@cache
def _standard() -> dict[str, str]:
    """The names that the modules of Python's own library have."""
    from gpuwhy.knowledge.tables import load

    return load("standard_names.json", dict[str, str])


@cache
def _families() -> dict[str, str]:
    from gpuwhy.knowledge.modules import FAMILIES

    return dict(FAMILIES)
