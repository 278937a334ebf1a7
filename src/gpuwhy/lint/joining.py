"""What the requirements files that a file names bring into its environment."""

from __future__ import annotations

import posixpath
from collections import Counter

from msgspec.structs import replace

from gpuwhy.lint.mistakes import Place, Problem
from gpuwhy.lint.read import requirements
from gpuwhy.lint.sheet import Environment, Include, Pin, Read, Sheet

_DEPTH, _REPEATED = 20, 20


def join(sheet: Sheet, read: Read) -> None:
    """The packages of included files, into the environment that includes them."""
    for stage in sheet.environments:
        _take_in(sheet, stage, stage.includes, read, (sheet.path,))
        stage.pins = _thinned(stage.pins)


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
