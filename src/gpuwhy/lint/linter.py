"""Reads each text by its kind, joins the files that it includes, applies the rules."""

import posixpath
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import NamedTuple

from msgspec.structs import replace

from gpuwhy.choose.demand import Demand
from gpuwhy.lint import kinds
from gpuwhy.lint.check import CHECKS, images
from gpuwhy.lint.mistakes import Checked, Lint, Mistake, Place, Problem
from gpuwhy.lint.read import requirements
from gpuwhy.lint.repository import Listed, Repository
from gpuwhy.lint.rules import gone
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Environment, Include, Pin, Read, Sheet, Workload
from gpuwhy.lint.versions import applies

_CHARACTERS, _PROBLEMS = 32_000_000, 5
_DEPTH, _REPEATED = 20, 20  # of includes; of one package in an environment
_READERS = {"cog": "conda:read_cog", "notebook": "script:read_notebook"}
_IGNORE = re.compile(r"(?:#|//).*?gpuwhy:\s*ignore(-file)?(?:\[([\w\s,-]*)\])?")
_OF_IMAGES = frozenset(("base-image", "old-apt-key", "driver-in-image", "image-tag"))
"""Rules that speak of the image alone: a requirements file cannot deny them."""


class _View(NamedTuple):
    """One environment: the files that it was made of, what it knows, what is wrong in it."""

    covers: frozenset[str]
    informed: bool  # its image or its Python is known
    mistakes: tuple[Mistake, ...]


def lint(
    texts: Mapping[str, str],
    read: Read,
    target: Demand | None = None,
    unread: Mapping[str, str] | None = None,
    listed: Listed | None = None,
) -> Lint:
    """Every text that was asked for, in order; `read` gives files that they name."""
    read = lru_cache(maxsize=4096)(read)
    given = tuple(texts)
    around = listed or (lambda _: given)
    sheets = {path: _sheet(path, text) for path, text in texts.items()}
    found: dict[str, list[Mistake]] = {path: [] for path in texts}
    views: list[_View] = []
    for sheet in [*sheets.values(), *_built(sheets, read)]:
        repository = Repository(sheet.path, around(sheet.path), read)
        for stage in sheet.environments:
            _take_in(sheet, stage, stage.includes, read, (sheet.path,))
            views.append(_judged(Scope(stage, target, sheet.kind, read, repository)))
        for work in _services(sheet, around(sheet.path), read):
            for one in images.service(work, target):
                found.setdefault(one.place.path, []).append(one)
    for one in _agreed(views):
        found.setdefault(one.place.path, []).append(one)
    checked = []
    for path, mistakes in found.items():
        text = texts[path] if path in texts else read(path) or ""
        checked.append(_checked(path, sheets.get(path), text, mistakes))
    for path, why in (unread or {}).items():
        problem = Problem(Place(path, 0), f"cannot be read: {why}")
        checked.append(Checked(path, "", problems=(problem,)))
    return Lint(tuple(checked))


def _sheet(path: str, text: str) -> Sheet:
    kind = kinds.recognise(path, text)
    if kind and len(text) <= _CHARACTERS:  # YAML costs more than the rest together
        module, _, name = _READERS.get(kind, kind).partition(":")
        made: Sheet = getattr(import_module(f"gpuwhy.lint.read.{module}"), name or "read")(
            path, text
        )
        return made
    said = f"{len(text)} characters, more than {_CHARACTERS}"
    if not kind and kinds.is_left_out(path, text):
        note = "not checked: a kind of file that gpuwhy lint no longer reads"
        return Sheet(path, "", notes=[Problem(Place(path, 1), note)])
    if not kind:
        said = "no kind of file that lint knows, by name or content (docs/commands/lint.md)"
    return Sheet(path, kind, problems=[Problem(Place(path, 0), said)])


def _built(sheets: Mapping[str, Sheet], read: Read) -> Iterator[Sheet]:
    """The Dockerfiles that services are built from, as those builds see them."""
    from gpuwhy.lint.read import dockerfile

    for compose, work in [(one, work) for one in sheets.values() for work in one.workloads]:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(compose.path), work.built))
        known = work.built and "$" not in path and "://" not in work.built
        text = read(path) if known else None
        if text is None:
            continue
        made = dockerfile.read(path, text, work.arguments, work.target)
        for environment in made.environments:
            if environment.runs and environment.image:
                asks = f"{work.name} of {posixpath.basename(compose.path)} asks for a GPU"
                environment.gpu = asks if work.request else ""
                work.built_on = environment.image.text
        yield made


def _services(sheet: Sheet, paths: Sequence[str], read: Read) -> list[Workload]:
    """The services; one whose GPU another file beside asks for is only completed there."""
    folder = posixpath.dirname(sheet.path)
    asked: set[str] = set()
    for path in paths if sheet.workloads else ():
        beside = posixpath.dirname(path) == folder and path != sheet.path
        text = read(path) if beside and kinds.by_name(path) == "compose" else None
        found = _sheet(path, text).workloads if text else []
        asked |= {work.name for work in found if work.request}
    for work in sheet.workloads:
        work.partial = work.partial or work.name in asked
    return sheet.workloads


def _take_in(
    sheet: Sheet, stage: Environment, includes: list[Include], read: Read, inside: tuple[str, ...]
) -> None:
    """What included files ask for, with what the including one says of it."""
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
        made, asked = Environment(path), include.indexes
        lines = requirements.logical_lines(text)
        requirements.fill(made, Sheet(path, "requirements"), lines, include.limits)
        for pin in made.pins:
            backed = requirements.with_backend(pin, include.backend)
            limits = pin.limits or include.limits
            indexed = requirements.with_indexes(backed, asked)
            stage.pins.append(replace(indexed, limits=limits, step=include.step))
        stage.other_index |= made.other_index
        inner = [
            replace(one, indexes=(*one.indexes, *asked), step=include.step) for one in made.includes
        ]
        _take_in(sheet, stage, inner, read, (*inside, path))


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


def _judged(scope: Scope) -> _View:
    """What is wrong in an environment: each demand once, no package oftener than real files do."""
    stage, seen = scope.environment, set[Pin]()
    counts: Counter[str] = Counter()
    pins, stage.pins = stage.pins, []
    for pin in pins:
        plain = replace(pin, place=Place("", 0))
        again = plain in seen or counts[pin.name] >= _REPEATED
        if not again and applies(pin.marker, stage.pythons):
            stage.pins.append(pin)
        seen.add(plain)
        counts[pin.name] += not again
    through = {path: line for path, line in stage.through.items() if path != stage.path}
    found = (one for check in CHECKS for one in check(scope))
    mistakes = tuple(replace(one, through=through.get(one.place.path)) for one in found)
    informed = bool(stage.image or stage.pythons)
    return _View(frozenset((stage.path, *stage.through)), informed, mistakes)


def _agreed(views: list[_View]) -> Iterator[Mistake]:
    """What an informed view of the same file did not find, one that knows less does not say."""
    for view in sorted(views, key=lambda one: not one.informed):
        for one in view.mistakes:
            looked = [v for v in views if v.informed and one.place.path in v.covers]
            found = {(other.rule, other.place) for v in looked for other in v.mistakes}
            same = (one.rule, one.place) in found
            if view.informed or not looked or same or one.rule in _OF_IMAGES:
                yield one


def _checked(path: str, sheet: Sheet | None, text: str, found: list[Mistake]) -> Checked:
    """One file's mistakes: each once, without those that a comment silences, by line."""
    sheet = sheet or Sheet(path, kinds.recognise(path, text))
    silenced, notes = _silenced(path, text)
    unique = {(one.rule, one.place.line): one for one in reversed(found)}
    kept = []
    for (rule, line), one in sorted(unique.items(), key=lambda pair: pair[0][::-1]):
        named = [silenced[at] for at in (line, 0) if at in silenced]
        if not any(not names or rule in names for names in named):
            kept.append(one)
    shown = sheet.problems[:_PROBLEMS]
    if len(sheet.problems) > _PROBLEMS:
        said = f"and {len(sheet.problems) - _PROBLEMS} more lines that cannot be read"
        shown = [*shown, Problem(sheet.problems[_PROBLEMS].place, said)]
    notes, ignored = [*sheet.notes, *notes], len(unique) - len(kept)
    return Checked(path, sheet.kind, tuple(kept), tuple(shown), tuple(notes), ignored)


def _silenced(path: str, text: str) -> tuple[dict[int, set[str]], list[Problem]]:
    """Line → rules that a comment there silences; 0 = everywhere; an empty set = all rules."""
    out: dict[int, set[str]] = {}
    notes = []
    lines = text.split("\n") if "gpuwhy:" in text else []
    for number, line in enumerate(lines, 1):
        found = _IGNORE.search(line)
        if not found:
            continue
        names = {name.strip() for name in (found[2] or "").split(",") if name.strip()}
        alone = line.lstrip().startswith(("#", "//"))
        out[0 if found[1] else number + 1 if alone else number] = names
        for name in sorted(names & gone().keys()):
            said = f"the rule {name} is no longer there: {gone()[name]}"
            notes.append(Problem(Place(path, number), said))
    return out, notes
