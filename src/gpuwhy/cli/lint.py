"""`gpuwhy lint FILE…`: GPU mistakes in files that describe an installation or a container."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from gpuwhy._version import __version__
from gpuwhy.cli import FOUND, HEALTHY, USAGE, UsageError, forms, refused
from gpuwhy.cli.output import paper
from gpuwhy.cli.terminal import write
from gpuwhy.machine import reading, writing

if TYPE_CHECKING:
    from gpuwhy.answer.tree import Document
    from gpuwhy.lint.mistakes import Lint

_BYTES = 33_000_000
_FILES, _CHARACTERS = 200_000, 512_000_000
"""How much of a folder is read: beyond it the answer says so."""
_AROUND, _DEEP, _CLIMBED = 5_000, 7, 8
_ROOTS = (".git", ".hg", ".svn")
_SKIPPED = frozenset(
    [
        *_ROOTS,
        *[".tox", ".nox", ".venv", "venv", "env", "node_modules", "site-packages", "__pycache__"],
        *[".mypy_cache", ".ruff_cache", ".pytest_cache", "wandb"],
    ]
)
_HELP = {
    "--driver": ("V", "the driver that they will run on: 535, 550.54.15"),
    "--os": ("OS", "the system that they will run on: linux, windows or wsl"),
    "--arch": ("A", "the processor that they will run on: x86_64 or aarch64"),
}
_FORMS = {
    "--json": "the findings as JSON (gpuwhy.lint/1)",
    "--github": "the findings as annotations of GitHub Actions",
    "--sarif": "the findings as SARIF 2.1.0, for code scanning",
    "--gitlab": "the findings as GitLab's code quality report",
    "--diff": "what --fix would change, and change nothing",
    "--fix": "show and write the corrections that are certain",
}


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("lint", help="find GPU mistakes in requirements, Dockerfiles …")
    parser.add_argument("paths", nargs="*", metavar="FILE", help="files, or folders of them")
    parser.add_argument("--explain", default="", metavar="RULE", help="the page of one rule")
    for option, (name, text) in _HELP.items():
        parser.add_argument(option, default="", metavar=name, help=text)
    text = "the GPU that they will run on; repeatable"
    parser.add_argument("--gpu", action="append", default=[], metavar="G", help=text)
    parser.add_argument("--strict", action="store_true", help="warnings count for the exit code")
    text = "where each finding is known from"
    parser.add_argument("-v", "--verbose", action="count", default=0, help=text)
    form = parser.add_mutually_exclusive_group()
    for option, text in _FORMS.items():
        form.add_argument(option, action="store_true", help=text)
    parser.add_argument("--junit", default="", metavar="FILE", help="write JUnit's XML too")
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
    from gpuwhy.lint.target import BadTargetError, described

    system = options.os or ("windows" if os.name == "nt" else "")
    with refused(BadTargetError):
        target = described(options.driver, tuple(options.gpu), system, options.arch)
    texts, unread = _collect(options.paths)
    around = Around(options.paths)
    result = lint(texts, _read, target, unread, around)
    if options.fix or options.diff:
        changed = _changes(result, texts)
        if options.fix:
            _write_back(changed, texts)
            result = lint(texts, _read, target, unread, around)
    _print(result, options)
    if result.problems:
        return USAGE
    failing = options.strict or any(one.severity == "error" for one in result.mistakes)
    return FOUND if result.mistakes and failing else HEALTHY


def _print(result: Lint, options: argparse.Namespace) -> None:
    """The findings in the form that was asked for, without the secrets of an index's address."""
    from gpuwhy.answer import ci, html
    from gpuwhy.answer.contract import as_json
    from gpuwhy.lint import report
    from gpuwhy.lint.mistakes import contract
    from gpuwhy.lint.rules import rules
    from gpuwhy.machine.redact import of_this_machine

    shared = options.json or options.html or getattr(options, "markdown", False)
    hide = of_this_machine(paths=not shared)
    notes = tuple(report.hidden(report.notes(result), hide.hide))
    if options.junit:
        forms.keep_page(options.junit, ci.junit(notes, "gpuwhy lint"))
    document = report.document(report.without_secrets(result, hide.hide), options.verbose)
    if options.html:
        forms.keep_page(options.html, html.page(document))
    if options.json:
        write(as_json(hide.values(contract(result, __version__))))
    elif options.github:
        write(ci.github(notes), orders=True)
    elif options.sarif:
        titles = {rule.id: rule.title for rule in rules().values()}
        write(ci.sarif(notes, __version__, titles))
    elif options.gitlab:
        write(ci.gitlab(notes))
    else:
        _show(document, options)


def _show(document: Document, options: argparse.Namespace) -> None:
    from gpuwhy.answer import markdown, terminal

    if options.markdown:
        write(markdown.write(document))
    else:
        write(terminal.write(document, paper(sys.stdout)))


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


def _write_back(changed: dict[str, str], texts: dict[str, str]) -> None:
    """The corrected files; one that changed meanwhile is left alone."""
    for path, after in changed.items():
        if reading.read(path, _BYTES) != texts[path].encode("utf-8", "replace"):
            raise UsageError(f"{path} changed meanwhile, or is not UTF-8: nothing was written")
        writing.keep(path, after.encode("utf-8"))
        texts[path] = after


def _explain(rule: str) -> int:
    """The page of a rule, or who finds such mistakes now."""
    from gpuwhy.answer import terminal
    from gpuwhy.lint.report import page
    from gpuwhy.lint.rules import gone, rules

    if rule in gone():
        raise UsageError(f"the rule {rule} is no longer there: {gone()[rule]}")
    if rule not in rules():
        near = [name for name in rules() if any(part in name for part in rule.split("-"))]
        raise UsageError(f"there is no rule {rule!r}; see {', '.join(near or rules())}")
    write(terminal.write(page(rules()[rule]), paper(sys.stdout)))
    return HEALTHY


def _collect(paths: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The texts of named files and of those found in named folders; what cannot be read."""
    texts: dict[str, str] = {}
    unread: dict[str, str] = {}
    for path in dict.fromkeys(paths):
        if os.path.isdir(path):
            _search(path, texts, unread)
        else:
            _take(path, texts, unread)
    return texts, unread


def _take(path: str, texts: dict[str, str], unread: dict[str, str]) -> None:
    shown = os.path.normpath(path).replace(os.sep, "/")
    try:
        texts[shown] = _text(path)
    except (OSError, ValueError) as error:
        unread[shown] = getattr(error, "strerror", None) or str(error)


def _search(folder: str, texts: dict[str, str], unread: dict[str, str]) -> None:
    from gpuwhy.lint import kinds

    held = sum(map(len, texts.values()))
    for path in _walk(folder):
        if not kinds.worth_opening(os.path.basename(path)):
            continue
        if len(texts) >= _FILES or held > _CHARACTERS:
            unread[folder] = f"only its first {len(texts)} files were read"
            return
        found: dict[str, str] = {}
        _take(path, found, unread if kinds.by_name(os.path.basename(path)) else {})
        for shown, text in found.items():
            kind = kinds.recognise(shown, text)
            if kind and kinds.installs(kind, text):
                texts[shown] = text
                held += len(text)


def _walk(folder: str, deep: int = 100) -> Iterator[str]:
    """The files of a folder and of those in it, in order; environments are left out."""
    for where, folders, names in os.walk(folder):
        nested = os.path.relpath(where, folder).count(os.sep) >= deep
        folders[:] = [] if nested else sorted(filter(_is_source, folders))
        made = (os.path.join(where, one, "pyvenv.cfg") for one in folders)
        environments = {os.path.basename(os.path.dirname(p)) for p in made if os.path.exists(p)}
        folders[:] = [one for one in folders if one not in environments]
        paths = (os.path.join(where, name) for name in sorted(names))
        yield from (path for path in paths if os.path.isfile(path))


def _is_source(name: str) -> bool:
    return name not in _SKIPPED


class Around:
    """Which files lie in the repository of a path, by name; each repository is walked once."""

    def __init__(self, named: Sequence[str]) -> None:
        self._named = [os.path.abspath(one) for one in named]
        self._known: dict[str, tuple[str, ...]] = {}

    def __call__(self, path: str) -> tuple[str, ...]:
        """The paths of a file's repository, written as that file's is."""
        root = self._root(os.path.abspath(path))
        key = f"{os.path.isabs(path)} {root}"
        if key not in self._known:
            found = [one for one, _ in zip(_walk(root, _DEEP), range(_AROUND), strict=False)]
            whole = os.path.isabs(path)
            shown = (one if whole else os.path.relpath(one) for one in found)
            self._known[key] = tuple(one.replace(os.sep, "/") for one in shown)
        return self._known[key]

    def _root(self, path: str) -> str:
        """The folder above a file that holds a repository, else the one that was named."""
        folder = os.path.dirname(path)
        for _ in range(_CLIMBED):
            if any(os.path.exists(os.path.join(folder, one)) for one in _ROOTS):
                return folder
            folder = os.path.dirname(folder)
        named = (one for one in self._named if os.path.isdir(one) and path.startswith(one))
        return next(named, os.path.dirname(path))


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
