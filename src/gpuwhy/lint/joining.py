"""What other files bring into an environment: requirements, conda's environments, scripts."""

from __future__ import annotations

import posixpath
from collections import Counter

from msgspec.structs import replace

from gpuwhy.lint.mistakes import Place, Problem
from gpuwhy.lint.read import requirements
from gpuwhy.lint.sheet import Command, Environment, Include, Pin, Read, Sheet

_DEPTH, _REPEATED = 20, 20


def join(sheet: Sheet, read: Read) -> None:
    """The packages of included files, into the environment that includes them."""
    for stage in sheet.environments:
        if sheet.kind in ("dockerfile", "script"):
            _run_scripts(stage, read)
        _take_in(sheet, stage, stage.includes, read, (sheet.path,))
        stage.pins = _thinned(stage.pins)


def _run_scripts(stage: Environment, read: Read) -> None:
    """What scripts install that a command runs, as of that command."""
    from gpuwhy.lint.read import script

    for step, command in enumerate(stage.commands, 1):
        named = _script_of(command)
        include = Include(named, Place(stage.path, command.line), must=False)
        path = _found(include, read) if named else ""
        text = read(path) if path and path != stage.path else None
        made = script.read(path, text).environments if text is not None else []
        if len(made) != 1:
            continue  # several environments: which of them is the one, nobody can tell
        stage.through[path] = include.place
        arms = command.arms
        stage.pins += [replace(one, step=step, arms=(*one.arms, *arms)) for one in made[0].pins]
        stage.includes += [
            replace(one, step=step, arms=(*one.arms, *arms)) for one in made[0].includes
        ]
        stage.other_index |= made[0].other_index
        stage.apt |= {name: command.line for name in made[0].apt if name not in stage.apt}


def _script_of(command: Command) -> str:
    """The script that a command runs: bash install.sh, ./install.sh, /opt/install.sh."""
    words = [word for word in command.words if not word.startswith("-")]
    if words and words[0].rsplit("/", 1)[-1] in ("bash", "sh", "source", "."):
        words = words[1:]
    named = words[0] if words and words[0].endswith(".sh") and "$" not in words[0] else ""
    return posixpath.basename(named) if named.startswith("/") else named.removeprefix("./")


def _thinned(pins: list[Pin]) -> list[Pin]:
    """Each demand once, and no package more often than a real file has it."""
    seen: set[Pin] = set()
    counts: Counter[str] = Counter()
    out = []
    for pin in pins:
        plain = replace(pin, place=Place("", 0))
        if plain not in seen and counts[pin.name] < _REPEATED:
            seen.add(plain)
            counts[pin.name] += 1
            out.append(pin)
    return out


def _take_in(
    sheet: Sheet, stage: Environment, includes: list[Include], read: Read, inside: tuple[str, ...]
) -> None:
    for include in includes:
        path = _found(include, read)
        if path in inside or len(inside) > _DEPTH:
            said = f"{include.path} includes itself ({' → '.join((*inside, path))})"
            sheet.problems.append(Problem(include.place, said))
            continue
        text = read(path)
        if text is None:
            stage.includes_unknown = True
            if include.must:
                said = f"{include.path} cannot be read, so what it asks for is not checked"
                sheet.notes.append(Problem(include.place, said))
            continue
        stage.through.setdefault(path, stage.through.get(include.place.path, include.place))
        made = Environment(path)
        lines = requirements.logical_lines(text)
        requirements.fill(made, Sheet(path, "requirements"), lines, include.limits)
        stage.pins += [_taken(pin, include) for pin in made.pins]
        stage.other_index |= made.other_index
        stage.refused += made.refused
        asked = include.indexes
        inner = [
            replace(one, indexes=(*one.indexes, *asked), arms=include.arms, step=include.step)
            for one in made.includes
        ]
        _take_in(sheet, stage, inner, read, (*inside, path))


def _taken(pin: Pin, include: Include) -> Pin:
    """A pin of an included file, with what the including one says of it."""
    backed = requirements.with_backend(pin, include.backend)
    indexed = requirements.with_indexes(backed, include.indexes)
    limits = pin.limits or include.limits
    return replace(indexed, limits=limits, arms=(*pin.arms, *include.arms), step=include.step)


def _found(include: Include, read: Read) -> str:
    """The path of an included file: beside the one that names it, or where a build starts."""
    folder = posixpath.dirname(include.place.path)
    first = posixpath.normpath(posixpath.join(folder, include.path))
    if include.must or include.path.startswith("/"):
        return first
    folders = [folder]
    while folders[-1] not in ("", ".", "/") and len(folders) < 4:
        folders.append(posixpath.dirname(folders[-1]))
    tries = [posixpath.normpath(posixpath.join(one, include.path)) for one in folders]
    tries.append(posixpath.join(folder, posixpath.basename(include.path)))
    return next((path for path in tries if read(path) is not None), first)
