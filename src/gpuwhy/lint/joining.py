"""Joining: what other files bring into an environment: requirements, environments of conda, scripts that it runs."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from gpuwhy.lint import folders, pythons, requirements
from gpuwhy.lint.sheet import Command, Environment, Include, Pin, Read, Sheet
from gpuwhy.model.lint import Mistake, Place, Problem

_DEPTH, _REPEATED = 20, 20
_NOWHERE = Place("", 0)


def join(sheet: Sheet, read: Read) -> None:
    """The pins of included files, into the environment that includes them."""
    sheet.environments += [made for one in sheet.environments for made in _of_conda(one, read)]
    for environment in sheet.environments if sheet.kind in ("dockerfile", "script") else ():
        _run_scripts(environment, read)
    for environment in sheet.environments:
        if sheet.kind in ("modal", "workflow", "gitlab", "devcontainer"):
            pythons.of_image(environment)
        _take_in(sheet, environment, environment.includes, read, (sheet.path,))
        environment.pins = _thinned(environment.pins)
        carried = Environment(sheet.path)
        _take_in(Sheet(sheet.path, ""), carried, environment.carried_includes, read, (sheet.path,))
        environment.carried = _thinned([*environment.carried, *carried.pins])
        if sheet.kind == "requirements" and not environment.pythons:
            pythons.of_project(environment, read)
        if any(pin.local and not pin.indexes and not pin.backend for pin in environment.pins):
            environment.told_elsewhere = _told_elsewhere(sheet.path, read)


def _of_conda(stage: Environment, read: Read) -> Iterator[Environment]:
    """The environments of conda that a Dockerfile or a script makes from files, each with the image that holds it."""
    for include in stage.conda_files:
        path = found(include, read)
        text = read(path)
        if text is None:
            continue
        from gpuwhy.lint import conda

        for made in conda.read(path, text).environments:
            made.image, made.system, made.runs, made.apt = stage.image, stage.system, stage.runs, stage.apt
            made.variables = stage.variables
            made.through[path] = include.place
            yield made


def _run_scripts(stage: Environment, read: Read) -> None:
    """What scripts install that a command runs, as of that command."""
    for step, command in enumerate(stage.commands, 1):
        named = _script_of(command)
        include = (
            Include(stage.copied.get(posixpath.basename(named), named), Place(stage.path, command.lines[0]), must=False)
            if named
            else None
        )
        path = found(include, read) if include else ""
        text = read(path) if path and path != stage.path else None
        if include and text is not None:
            _take_script(stage, command, step, path, text)
            stage.through[path] = include.place


def _take_script(stage: Environment, command: Command, step: int, path: str, text: str) -> None:
    from gpuwhy.lint import scripts

    made = scripts.read(path, text).environments
    if len(made) != 1:
        return  # several environments: which of them is the one, nobody can tell
    arms = command.arms
    stage.pins += [msgspec.structs.replace(pin, step=step, arms=(*pin.arms, *arms)) for pin in made[0].pins]
    stage.includes += [msgspec.structs.replace(one, step=step, arms=(*one.arms, *arms)) for one in made[0].includes]
    stage.other_index = stage.other_index or made[0].other_index
    for name in made[0].apt:
        stage.apt.setdefault(name, command.lines[0])
    if not stage.pythons and any(re.match(r"python3(-|$)", name) for name in made[0].apt):
        pythons.of_distribution(stage)


def _script_of(command: Command) -> str:
    """The script that a command runs: bash install.sh, ./install.sh, /tmp/install.sh."""
    words = [word for word in command.words if not word.startswith("-")]
    if words and words[0].rsplit("/", 1)[-1] in ("bash", "sh", "source", "."):
        words = words[1:]
    named = words[0] if words and words[0].endswith(".sh") and "$" not in words[0] else ""
    return posixpath.basename(named) if named.startswith("/") else named.removeprefix("./")


def _told_elsewhere(path: str, read: Read) -> bool:
    """Whether this file (a comment counts) or one beside it tells how to install from PyTorch's index."""
    folders = [posixpath.dirname(path)]
    folders += [posixpath.dirname(folders[0])] if folders[0] not in ("", ".", "/") else []
    beside = (posixpath.join(folder, name) for folder in folders for name in _TELLING)
    texts = (read(one) for one in (path, *beside))
    return any(text is not None and re.search(r"download\.pytorch\.org/whl|torch-backend", text) for text in texts)


_TELLING = (
    "README.md",
    "readme.md",
    "README.rst",
    "INSTALL.md",
    "Dockerfile",
    "install.sh",
    "setup.sh",
    "Makefile",
    "install.bat",
)


def _thinned(pins: list[Pin]) -> list[Pin]:
    """Each demand once, and no package more often than a real file has it: rules compare pins in pairs."""
    seen: set[Pin] = set()
    counts: Counter[str] = Counter()
    out = []
    for pin in pins:
        plain = msgspec.structs.replace(pin, place=_NOWHERE)
        if plain not in seen and counts[pin.name] < _REPEATED:
            seen.add(plain)
            counts[pin.name] += 1
            out.append(pin)
    return out


def _take_in(
    sheet: Sheet, environment: Environment, includes: Iterable[Include], read: Read, inside: tuple[str, ...]
) -> None:
    for include in includes:
        path = found(include, read)
        if len(inside) == 1 and _is_of_a_clone(environment, include, read):
            environment.includes_unknown = True
            continue
        if path in inside or len(inside) > _DEPTH:
            sheet.problems.append(
                Problem(include.place, f"{include.path} includes itself ({' → '.join((*inside, path))})")
            )
            continue
        text = read(path)
        if text is None:
            environment.includes_unknown = True
            if include.must:
                sheet.notes.append(
                    Problem(include.place, f"{include.path} cannot be read, so what it asks for is not checked")
                )
            continue
        environment.through.setdefault(path, environment.through.get(include.place.path, include.place))
        inner = Sheet(path, "requirements")
        made = Environment(path)
        requirements.fill(made, inner, requirements.logical_lines(text), include.limits)
        environment.pins += [_taken(pin, include) for pin in made.pins]
        environment.other_index = environment.other_index or made.other_index
        environment.misplaced += made.misplaced
        environment.refused += made.refused
        made.includes[:] = [
            msgspec.structs.replace(i, indexes=(*i.indexes, *include.indexes), arms=include.arms, step=include.step)
            for i in made.includes
        ]
        _take_in(sheet, environment, made.includes, read, (*inside, path))


def _is_of_a_clone(environment: Environment, include: Include, read: Read) -> bool:
    """Whether a command stands in a project that was cloned, and that is not this one: its file is another."""
    cloned = folders.clones(environment.commands[: include.step])
    folder = folders.normal(folders.folder_of(environment, include.step)) if cloned and include.step else ""
    if not folder or folder not in cloned:
        return False
    above = posixpath.dirname(environment.path)
    told = [read(posixpath.join(one, name)) or "" for one in {above, posixpath.dirname(above), ""} for name in _OWN]
    own = {folders.normal(part) for part in re.split(r"[/+]", environment.path)}
    return folder not in own and not any(folder in folders.normal(word) for text in told for word in text[:400].split())


_OWN = ("README.md", "pyproject.toml", "setup.py", "setup.cfg")
"""Files that say in their first lines what a project is called."""


def found(include: Include, read: Read) -> str:
    """The path of an included file: beside the file that names it, else in a folder above it, where builds start."""
    folder = posixpath.dirname(include.place.path)
    first = posixpath.normpath(posixpath.join(folder, include.path))
    path, tries = first, 3 if not include.must else 0
    while tries and folder not in ("", ".", "/") and not include.path.startswith("/") and read(path) is None:
        folder, tries = posixpath.dirname(folder), tries - 1
        path = posixpath.normpath(posixpath.join(folder, include.path))
    beside = posixpath.join(posixpath.dirname(include.place.path), posixpath.basename(include.path))
    if not include.must and read(path) is None and read(beside) is not None:
        return beside  # a build that starts in the folder above
    return path if tries or read(path) is not None else first


def _taken(pin: Pin, include: Include) -> Pin:
    """A pin of an included file, with what the including one says of it."""
    backed = requirements.with_backend(pin, include.backend) if include.backend else pin
    indexed = requirements.with_indexes(backed, include.indexes)
    return msgspec.structs.replace(
        indexed, limits=pin.limits or include.limits, arms=(*pin.arms, *include.arms), step=include.step
    )


def through(mistake: Mistake, environment: Environment, path: str) -> Mistake:
    """A mistake in a file that another one takes in, with the line that does so."""
    if mistake.place.path == path:
        return mistake
    return msgspec.structs.replace(mistake, through=environment.through.get(mistake.place.path))
