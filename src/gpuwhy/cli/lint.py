"""`gpuwhy lint FILE…`: GPU mistakes in files that describe an installation, a container or a job, before they run."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from gpuwhy._version import __version__
from gpuwhy.border import reading, writing
from gpuwhy.border.listing import Listing
from gpuwhy.cli import FOUND, HEALTHY, USAGE, UsageError, forms, refused
from gpuwhy.cli.progress import Progress
from gpuwhy.cli.terminal import paper, write

if TYPE_CHECKING:
    from gpuwhy.lint.linter import Lint
    from gpuwhy.plan.answer import Machine

_BYTES = 33_000_000
_FILES, _CHARACTERS = 200_000, 512_000_000
"""How much of a folder is read: beyond it the answer says so."""
_SKIPPED = frozenset(
    [
        ".git",
        ".hg",
        ".svn",
        ".tox",
        ".nox",
        ".venv",
        "venv",
        "env",
        "node_modules",
        "site-packages",
        "__pycache__",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
    ]
)


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("lint", help="find GPU mistakes in requirements, lock files, Dockerfiles, manifests")
    parser.add_argument("paths", nargs="*", metavar="FILE", help="files, or folders to look for them in")
    parser.add_argument("--explain", default="", metavar="RULE", help="the page of one rule: bad, good, source")
    parser.add_argument("--driver", default="", metavar="V", help="the driver that they will run on: 535, 550.54.15")
    parser.add_argument(
        "--gpu", action="append", default=[], metavar="G", help="the GPU that they will run on; repeatable"
    )
    parser.add_argument(
        "--os", default="", metavar="OS", help="the system that they will run on: linux, windows or wsl"
    )
    parser.add_argument(
        "--arch", default="", metavar="A", help="the processor that they will run on: x86_64 or aarch64"
    )
    parser.add_argument("--strict", action="store_true", help="warnings count as errors for the exit code")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="the findings as JSON (gpuwhy.lint/1)")
    form.add_argument("--github", action="store_true", help="the findings as annotations of GitHub Actions")
    form.add_argument("--sarif", action="store_true", help="the findings as SARIF 2.1.0, for code scanning")
    form.add_argument("--gitlab", action="store_true", help="the findings as GitLab's code quality report")
    form.add_argument("--diff", action="store_true", help="what --fix would change, and change nothing")
    form.add_argument("--fix", action="store_true", help="show and write the corrections that are certain")
    forms.add_forms(parser)
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Read, check, print."""
    forms.ready(options)
    if options.explain:
        return _explain(options.explain)
    if not options.paths:
        raise UsageError("name a file or a folder, or --explain RULE")
    from gpuwhy.lint.linter import lint
    from gpuwhy.plan.machine import BadMachineError

    with refused(BadMachineError):
        machine = _machine(options)
    with Progress() as progress:
        texts, unread = _collect(options.paths, progress.note)
        result = lint(texts, _read, machine, unread, progress.note, Listing(options.paths))
    if options.fix or options.diff:
        result = _fix(result, texts, machine, unread, Listing(options.paths)) if options.fix else _show(result, texts)
    _print(result, options)
    if result.problems:
        return USAGE
    return FOUND if any(options.strict or m.severity == "error" for m in result.mistakes) else HEALTHY


def _print(result: Lint, options: argparse.Namespace) -> None:
    """The findings in the form that was asked for."""
    from gpuwhy.render import lint as render

    if forms.asked(options) and forms.shown(options, result):
        return
    if options.json:
        write(render.as_json(result, __version__))
    elif options.github:
        write(render.as_annotations(result), orders=True)
    elif options.sarif:
        from gpuwhy.lint.rules import ROOMS
        from gpuwhy.render.lint_reports import as_sarif

        write(as_sarif(result, (room.rule for room in ROOMS.values()), __version__))
    elif options.gitlab:
        from gpuwhy.render.lint_reports import as_gitlab

        write(as_gitlab(result))
    else:
        write(render.as_text(result, paper()))


def _show(result: Lint, texts: dict[str, str]) -> Lint:
    """The differences that the certain edits make."""
    _changes(result, texts)
    return result


def _changes(result: Lint, texts: dict[str, str]) -> dict[str, str]:
    """The corrected texts of the files that were named, each shown as a difference first."""
    from gpuwhy.lint.edits import corrected, difference

    out: dict[str, str] = {}
    for file in result.files:
        before = texts.get(file.path)
        after, made = corrected(before, file.mistakes) if before is not None else ("", 0)
        if made and before is not None:
            write(difference(file.path, before, after))
            out[file.path] = after
    return out


def _fix(result: Lint, texts: dict[str, str], machine: Machine | None, unread: dict[str, str], listed: Listing) -> Lint:
    """Write the corrected files, and judge them again; a file that changed meanwhile is left alone."""
    from gpuwhy.lint.linter import lint

    for path, after in _changes(result, texts).items():
        if reading.read(path, _BYTES) != texts[path].encode("utf-8", "replace"):
            raise UsageError(f"{path} changed meanwhile, or is not UTF-8: nothing was written to it")
        writing.keep(path, after.encode("utf-8"))
        texts[path] = after
    return lint(texts, _read, machine, unread, listed=listed)


def _explain(rule: str) -> int:
    """The page that lies beside a rule's code."""
    from importlib.resources import files

    from gpuwhy.lint.rules import ROOMS
    from gpuwhy.render.page import render

    if rule not in ROOMS:
        near = [name for name in ROOMS if any(part in name for part in rule.split("-"))]
        raise UsageError(f"there is no rule {rule!r}; see {', '.join(near or ROOMS)}")
    page = files("gpuwhy.lint.rules").joinpath(f"{rule.replace('-', '_')}.md").read_text(encoding="utf-8")
    write(render(page, paper()))
    return HEALTHY


def _machine(options: argparse.Namespace) -> Machine | None:
    """The machine that is described, on Windows one with Windows; None where nothing is described."""
    from gpuwhy.plan.machine import described

    system = options.os or ("windows" if os.name == "nt" else "")
    if not (options.driver or options.gpu or system or options.arch):
        return None
    return described(options.driver, tuple(options.gpu), system=system, machine=options.arch)


def _collect(paths: list[str], note: Callable[[str], None]) -> tuple[dict[str, str], dict[str, str]]:
    """The texts of named files and of those found in named folders; what cannot be read."""
    texts: dict[str, str] = {}
    unread: dict[str, str] = {}
    for path in dict.fromkeys(paths):
        if os.path.isdir(path):
            _search(path, texts, unread, note)
        else:
            _take(path, texts, unread)
    return texts, unread


def _take(path: str, texts: dict[str, str], unread: dict[str, str]) -> None:
    shown = os.path.normpath(path).replace(os.sep, "/")
    try:
        texts[shown] = _text(path)
    except (OSError, ValueError) as error:
        unread[shown] = getattr(error, "strerror", None) or str(error)


def _search(folder: str, texts: dict[str, str], unread: dict[str, str], note: Callable[[str], None]) -> None:
    from gpuwhy.lint import kinds

    held = sum(map(len, texts.values()))
    for path in _worth_opening(folder, lambda where: note(f"reading {where} ({len(texts)} files so far)")):
        if len(texts) >= _FILES or held > _CHARACTERS:
            unread[folder] = f"only its first {len(texts)} files were read: name the folders in it"
            return
        found: dict[str, str] = {}
        _take(path, found, unread if kinds.by_name(os.path.basename(path)) else {})
        for shown, text in found.items():
            kind = kinds.recognise(shown, text)
            if kind and kinds.speaks_of_packages(kind, text):
                texts[shown] = text
                held += len(text)


def _worth_opening(folder: str, note: Callable[[str], None]) -> Iterator[str]:
    """The files of a folder and of those in it, in order, whose names say that lint may know them."""
    from gpuwhy.lint import kinds

    for where, folders, names in os.walk(folder):
        folders[:] = sorted(
            f for f in folders if f not in _SKIPPED and not os.path.exists(os.path.join(where, f, "pyvenv.cfg"))
        )
        note(where)
        paths = (os.path.join(where, name) for name in sorted(names) if kinds.worth_opening(name))
        yield from (path for path in paths if os.path.isfile(path) and not kinds.is_record(path))


def _read(path: str) -> str | None:
    """A file that another one names."""
    try:
        return _text(path)
    except (OSError, ValueError):
        return None


def _text(path: str) -> str:
    """A file's text, UTF-8 or UTF-16 with a mark; raises OSError or ValueError."""
    data = reading.read(path, _BYTES)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    if b"\0" in data[:8192]:
        raise ValueError("it is binary")
    return data.decode("utf-8-sig", "replace")
