"""Raised: what an exception says by its type, its words and its place, taken together.

No expression on one line can tell these: a library that imports a module and gets the user's file,
a package that lacks what its own code imports, a cache folder that a framework cannot make.
"""

import re
from collections.abc import Iterator
from functools import cache

from gpuwhy.log.ending import Ending, Frame
from gpuwhy.log.endings import Course
from gpuwhy.log.expressions import Expressions, entry, names
from gpuwhy.log.message import Message
from gpuwhy.log.reasons import FRAMEWORKS
from gpuwhy.log.tracebacks import PYTHON, USER, owner_of

_E = Expressions("raised")

OWNERS: dict[str, str] = entry("raised.table_owners")
ALWAYS: dict[str, str] = entry("raised.table_always")
PLACES = names("raised.names_places")
NEAR = 5
"""How many frames from the raised one still tell what was being done."""
_LACKING = ("AttributeError", "ModuleNotFoundError", "ImportError")


def raised(messages: list[Message], course: Course) -> list[Message]:
    """The messages with these among them, by line; Python's plain words on the line say less."""
    more = {one.line: one for one in _found(course)}
    if not more:
        return messages
    parts = [f"'{one.fields['part']}'" for one in more.values() if "part" in one.fields]
    kept = []
    for message in messages:
        less = message.family in ("python", "pairs", "packages") and message.line in more
        repeats = message.family in ("python", "packages", "build")
        if not less and not (repeats and any(part in message.text for part in parts)):
            kept.append(message)
    known = {(one.line, one.family) for one in kept}
    new = [one for one in more.values() if (one.line, one.family) not in known]
    return sorted([*kept, *new], key=lambda one: one.line)


def _found(course: Course) -> Iterator[Message]:
    endings = (course.ending, *course.outlived)
    for ending in (one for outer in endings for one in (outer, *outer.chain)):
        if ending.kind != "exception" or not ending.line:
            continue
        made = _lacks(ending) if ending.name in _LACKING else _cache(ending)
        if made is not None:
            name, fields = made
            text = f"{ending.type}: {ending.message}".split("\n", 1)[0][:400]
            yield Message(name, ending.line, text, "error", fields, rank=ending.rank)


def _lacks(ending: Ending) -> tuple[str, dict[str, str]] | None:
    """A module that is not the one its name promises, is incomplete, or of another release."""
    from gpuwhy.knowledge.modules import FAMILIES

    frame, families = ending.frame, dict(FAMILIES)
    if ending.name == "AttributeError" and (found := _E.lacks.search(ending.message)):
        name, what, fields = found["name"], found["what"], found.groupdict()
        if what in _standard().get(name, "").split() and not _E.unix_only.fullmatch(what):
            return "shadow.attribute", fields
        if frame and what in ALWAYS.get(name, "").split():
            return "shadow.hollow", {**fields, "by": frame.owner}
    if frame is None:
        return None
    asker = frame.owner
    if (found := _E.part.search(ending.message)) and found["name"] in families:
        name, fields = found["name"], found.groupdict()
        beside = re.compile(rf".*[\\/]{name}(?=[\\/])")
        folders = [beside.match(one.file) for one in ending.stack if _is_users(one.file)]
        outside = [folder[0] for folder in folders if folder]
        if outside:
            return "shadow.in_part", {**fields, "path": outside[-1]}
        if families.get(asker) == families[name]:
            return "packages.in_part", {**fields, "by": "" if asker == name else asker}
    found = _E.of_another.search(ending.message)
    if found is None or "getattr(" in frame.code:
        return None
    name, what = found["name"] or found["name2"], found["what"] or found["what2"]
    family = families.get(name.partition(".")[0])
    imported = any(one.function == "<module>" and one.owner == asker for one in ending.stack)
    others = asker not in (USER, PYTHON) and families.get(asker, asker) != family
    if family is None or not imported or not others:
        return None
    return "pairs.between", {"name": name, "what": what, "path": ""}


def _cache(ending: Ending) -> tuple[str, dict[str, str]] | None:
    """A cache folder that a framework cannot make or write to."""
    path, name = _E.quoted.search(ending.message), ending.name
    numbered = name not in ("OSError", "EnvironmentError") or ending.message.startswith("[")
    if name not in PLACES or path is None or not numbered:
        return None
    near = [one.owner for one in ending.stack[-NEAR:] if _is_of_a_cache(one)]
    return ("limit.cache", {"path": path["path"], "by": near[-1]}) if near else None


def _is_of_a_cache(frame: Frame) -> bool:
    base = frame.file.replace("\\", "/").rsplit("/", 1)[-1]
    said = f"{base} {frame.function} {frame.code}"
    return frame.owner in FRAMEWORKS and bool(_E.cache.search(said))


def _is_users(path: str) -> bool:
    return not path.startswith(("unknown", "<")) and owner_of(path) == USER


@cache
def _standard() -> dict[str, str]:
    """The names that the modules of Python's own library have."""
    from gpuwhy.knowledge.tables import load

    return load("standard_names.json", dict[str, str])
