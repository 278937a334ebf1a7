"""The linter: reads each text by its kind, joins the files it includes, applies the rules, minds the comments."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from gpuwhy.lint import installing, jinja, joining, kinds, outside, overrides, requirements, views
from gpuwhy.lint.labels import labelled
from gpuwhy.lint.repository import Listed, Repository, Shared
from gpuwhy.lint.rules import ROOMS
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Read, Sheet, Workload
from gpuwhy.model.lint import Checked, Lint, Mistake, Place, Problem
from gpuwhy.model.plan import Machine

__all__ = ["Lint", "lint"]

_CHARACTERS, _PROBLEMS, _NOTED = 32_000_000, 5, 50
T = TypeVar("T")
_IGNORE = re.compile(r"gpuwhy:\s*ignore(-file)?(?:\[([\w\s,-]*)\])?")


def lint(
    texts: Mapping[str, str],
    read: Read,
    described: Machine | None = None,
    unread: Mapping[str, str] | None = None,
    note: Callable[[str], None] = lambda _: None,
    listed: Listed | None = None,
) -> Lint:
    """Every text that was asked for, in order; `read` gives files they name, `unread` says why others have none.

    `listed` gives the paths of the repository that a file belongs to; without it that is what was asked for.
    """
    read = _remembering(read)
    given = tuple(texts)
    around = _Around(read, listed or (lambda _: given), {})
    paths = _told(list(texts), note, "understanding")
    sheets = {path: around.sheet(path, texts[path]) for path in paths}
    _told_by_others(sheets, texts)
    found: dict[str, list[Mistake]] = {path: [] for path in texts}
    seen: list[views.View] = []
    for sheet in _told([*sheets.values(), *_built(sheets, read)], note, "judging"):
        joining.join(sheet, read)
        seen += _apply(sheet, around, described)
        for mistake in _started(sheet, sheets, around, described):
            found.setdefault(mistake.place.path, []).append(mistake)
    for sheet in installing.sheets(sheets, lambda path, text: _sheet(path, text, read), read):
        # of the installing file nothing was asked
        seen += [view.only_of(texts) for view in _apply(sheet, around, described)]
    for mistake in views.agreed(seen):
        found.setdefault(mistake.place.path, []).append(mistake)
    others = {path: read(path) or "" for path in found if path not in texts}
    whole = {**texts, **others}
    checked = [_checked(path, sheets.get(path), whole[path], found[path]) for path in found]
    missing = [_missing(path, why) for path, why in (unread or {}).items()]
    return Lint((*checked, *missing))


def _told_by_others(sheets: dict[str, Sheet], texts: Mapping[str, str]) -> None:
    """Dockerfiles whose image others choose, read again so; requirements that a Dockerfile installs, marked so."""
    built = {path: texts[path] for path, sheet in sheets.items() if sheet.kind == "dockerfile"}
    others = [text for path, text in texts.items() if path not in built]
    handed = outside.arguments(others)
    for path, text in built.items():
        chosen = outside.choosing(text, handed)
        if chosen:
            from gpuwhy.lint import dockerfile

            sheets[path] = dockerfile.read(path, text, chosen)
        for stage in sheets[path].environments:
            stage.made_elsewhere = stage.image is not None and outside.is_named(stage.image.text, others)
    for path, sheet in sheets.items():
        for environment in sheet.environments if sheet.kind == "requirements" else ():
            environment.in_image = outside.is_in_image(path, built)
            environment.over_unknown = environment.in_image and outside.is_over_unknown(path, built)


def _told(things: Sequence[T], note: Callable[[str], None], doing: str) -> Iterator[T]:
    """All of them, and every now and then how many were done."""
    for done, one in enumerate(things):
        if done % _NOTED == 0:
            note(f"{doing} {done} of {len(things)} files")
        yield one


def _built(sheets: Mapping[str, Sheet], read: Read) -> list[Sheet]:
    """The Dockerfiles that services and development containers are built from, as those builds see them."""
    out: dict[tuple[object, ...], Sheet] = {}
    for sheet in sheets.values():
        for work in sheet.workloads:
            path = posixpath.normpath(posixpath.join(posixpath.dirname(sheet.path), work.built)) if work.built else ""
            text = read(path) if path and "$" not in path and "://" not in work.built else None
            if text is not None:
                asks = f"{work.name} of {posixpath.basename(sheet.path)} asks for a GPU" if work.request else ""
                key = (path, tuple(sorted(work.arguments.items())), work.target, bool(asks))
                out[key] = _built_for(work, path, text, asks)
    return list(out.values())


def _built_for(work: Workload, path: str, text: str, asks: str) -> Sheet:
    from gpuwhy.lint import dockerfile

    made = dockerfile.read(path, text, work.arguments, work.target)
    for environment in made.environments:
        environment.gpu = asks if environment.runs else ""
        work.built_on = environment.image.text if environment.runs and environment.image else work.built_on
        work.built_sets = (*work.built_sets, *environment.variables)
    return made


def _missing(path: str, why: str) -> Checked:
    return Checked(path, "", problems=(Problem(Place(path, 0), f"cannot be read: {why}"),))


def _sheet(path: str, text: str, read: Read) -> Sheet:
    kind = kinds.recognise(path, text)
    if len(text) > _CHARACTERS:
        return Sheet(path, kind, problems=[Problem(Place(path, 0), f"{len(text)} characters, more than {_CHARACTERS}")])
    if kind == "kubernetes" and kinds.is_template(text):
        from gpuwhy.lint import kubernetes

        if not jinja.is_template(path, text):
            return kubernetes.read_chart(path, text, read)
    if kind == "helm":
        return Sheet(path, kind, notes=[Problem(Place(path, 1), "part of a chart: its templates are checked with it")])
    reader = _reader(kind)
    if reader is None:
        text = "no kind of file that lint knows, by name or content (docs/commands/lint.md lists them)"
        return Sheet(path, "", problems=[Problem(Place(path, 0), text)])
    return (
        _filled(path, text, read, reader) if kind in _FILLED and jinja.is_template(path, text) else reader(path, text)
    )


_FILLED = ("requirements", "dockerfile", "compose", "conda", "kubernetes", "script", "skypilot", "cog")


def _filled(path: str, text: str, read: Read, reader: Callable[[str, str], Sheet]) -> Sheet:
    """A template, as each of the files that it may become."""
    made = jinja.worlds(text, jinja.defaults(path, read))
    sheets = [reader(path, one) for one, _ in made]
    whole = jinja.joined(path, sheets, [doubt for _, doubt in made])
    if any(sheet.problems for sheet in sheets):
        whole.notes.append(Problem(Place(path, 1), "a template, not checked in every form that it may take: render it"))
    return whole


def _reader(kind: str) -> Callable[[str, str], Sheet] | None:
    """Imported where they are needed: YAML and TOML cost more than the rest together."""
    if kind == "requirements":
        return requirements.read
    if kind in ("lock", "pipfile-lock"):
        from gpuwhy.lint import locks

        return locks.read if kind == "lock" else locks.read_pipfile
    if kind in ("conda", "conda-lock", "conda-list"):
        from gpuwhy.lint import conda

        return {"conda": conda.read, "conda-lock": conda.read_lock}.get(kind, conda.read_list)
    return _other_reader(kind)


def _other_reader(kind: str) -> Callable[[str, str], Sheet] | None:
    if kind == "pyproject":
        from gpuwhy.lint import pyproject

        return pyproject.read
    if kind in ("pipfile", "pixi"):
        from gpuwhy.lint import pixi

        return pixi.read_pipfile if kind == "pipfile" else pixi.read_pixi
    if kind == "dockerfile":
        from gpuwhy.lint import dockerfile

        return dockerfile.read
    if kind == "singularity":
        from gpuwhy.lint import singularity

        return singularity.read
    if kind == "compose":
        from gpuwhy.lint import compose

        return compose.read
    if kind == "kubernetes":
        from gpuwhy.lint import kubernetes

        return kubernetes.read
    if kind == "devcontainer":
        from gpuwhy.lint import devcontainer

        return devcontainer.read
    return _program_reader(kind) or _job_reader(kind)


def _program_reader(kind: str) -> Callable[[str, str], Sheet] | None:
    if kind == "script":
        from gpuwhy.lint import scripts

        return scripts.read
    if kind in ("makefile", "cmake"):
        from gpuwhy.lint import cmake, makefile

        return makefile.read if kind == "makefile" else cmake.read
    if kind == "notebook":
        from gpuwhy.lint import notebook

        return notebook.read
    if kind in ("setup", "setup-config"):
        from gpuwhy.lint import setup_file

        return setup_file.read if kind == "setup" else setup_file.read_config
    if kind == "modal":
        from gpuwhy.lint import modal

        return modal.read
    if kind == "sagemaker":
        from gpuwhy.lint import sagemaker

        return sagemaker.read
    return None


def _job_reader(kind: str) -> Callable[[str, str], Sheet] | None:
    if kind not in ("workflow", "gitlab", "skypilot", "cog"):
        return None
    from gpuwhy.lint import jobs

    readers = {"workflow": jobs.read_workflow, "gitlab": jobs.read_gitlab, "skypilot": jobs.read_skypilot}
    return readers.get(kind, jobs.read_cog)


class _Around(NamedTuple):
    """How other files are read, and which there are."""

    read: Read
    listed: Listed
    shared: Shared

    def sheet(self, path: str, text: str) -> Sheet:
        """A text as it is understood where it lies."""
        return self._asleep(path) or _sheet(path, text, self.read)

    def _asleep(self, path: str) -> Sheet | None:
        """A workflow in a folder of the repository (a copy of another project), which GitHub never starts."""
        above, found, _ = path.rpartition(".github/workflows/")
        if not found or not above.strip("./") or all(one.startswith(above) for one in self.listed(path)):
            return None
        text = "GitHub starts the workflows of the repository's own .github alone: this one is not checked"
        return Sheet(path, "workflow", notes=[Problem(Place(path, 1), text)])

    def of(self, path: str) -> Repository:
        """The repository around a file."""
        return Repository(path, self.listed(path), self.read, self.shared)


def _remembering(read: Read) -> Read:
    """A reader that keeps what it read: every file of a repository is asked what it says of every other."""
    return lru_cache(maxsize=4096)(read)


def _apply(sheet: Sheet, around: _Around, described: Machine | None) -> Iterator[views.View]:
    """The environments of a sheet, judged."""
    repository = around.of(sheet.path)
    for environment in sheet.environments:
        if described and described.system == "windows" and not environment.system and environment.image is None:
            environment.system = "windows"  # a file that says nothing of its system is for the machine described
        scope = Scope(environment, described, sheet.kind, around.read, repository)
        made = (mistake for room in ROOMS.values() if room.check for mistake in room.check(scope))
        yield views.seen(scope, [joining.through(labelled(one, scope), environment, sheet.path) for one in made])


def _started(
    sheet: Sheet, sheets: Mapping[str, Sheet], around: _Around, described: Machine | None
) -> Iterator[Mistake]:
    """What is wrong with what a sheet starts."""
    asked = overrides.asked_elsewhere(sheet, sheets, around.read)
    for work in sheet.workloads:
        if work.name in asked:
            work.partial = True
        for room in ROOMS.values():
            yield from room.check_workload(work, described) if room.check_workload else ()


def _checked(path: str, sheet: Sheet | None, text: str, found: list[Mistake]) -> Checked:
    """One file's mistakes: each once, without those that a comment silences, by line."""
    unique = {(m.rule, m.place.line, m.text if m.place.line == 0 else ""): m for m in reversed(found)}
    silenced = _silenced(text) if "gpuwhy:" in text else {}
    kept = [m for m in unique.values() if not _is_silenced(m, silenced)]
    kept.sort(key=lambda m: (m.place.line, m.rule))
    problems = sheet.problems if sheet else []
    shown = problems[:_PROBLEMS]
    if len(problems) > _PROBLEMS:
        shown = [
            *shown,
            Problem(problems[_PROBLEMS].place, f"and {len(problems) - _PROBLEMS} more lines that cannot be read"),
        ]
    notes = tuple(sheet.notes) if sheet else ()
    kind = sheet.kind if sheet else "requirements"
    return Checked(path, kind, tuple(kept), tuple(shown), notes, len(unique) - len(kept))


def _silenced(text: str) -> dict[int, set[str]]:
    """Line → rules that a comment there silences; 0 = everywhere; an empty set = all rules."""
    out: dict[int, set[str]] = {}
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        found = _IGNORE.search(line) if "gpuwhy:" in line else None
        if not found or not re.search(r"(#|//).*gpuwhy:", line):
            continue
        names = {name.strip() for name in (found[2] or "").split(",") if name.strip()}
        alone = line.lstrip().startswith(("#", "//"))
        out[0 if found[1] else number + 1 if alone else number] = names
    return out


def _is_silenced(mistake: Mistake, silenced: dict[int, set[str]]) -> bool:
    for line in (mistake.place.line, 0):
        names = silenced.get(line)
        if names is not None and (not names or mistake.rule in names):
            return True
    return False
