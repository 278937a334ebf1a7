"""`gpuwhy lint FILE…`: GPU mistakes in files that describe an installation or a container."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from itertools import islice

from gpuwhy._version import __version__
from gpuwhy.answer import ci
from gpuwhy.cli import FOUND, HEALTHY, USAGE, UsageError, output, refused
from gpuwhy.cli.terminal import write
from gpuwhy.lint import kinds, report
from gpuwhy.lint.linter import lint
from gpuwhy.lint.mistakes import Lint, contract
from gpuwhy.lint.rules import gone, rules
from gpuwhy.lint.target import BadTargetError, described
from gpuwhy.machine import reading, writing
from gpuwhy.machine.redact import of_this_machine

_BYTES = 33_000_000
_FILES, _CHARACTERS = 200_000, 512_000_000
"""How much of a folder is read: beyond it the answer says so."""
_AROUND, _DEEP, _CLIMBED = 5_000, 7, 8
_ROOTS = {".git", ".hg", ".svn"}
_SKIPPED = _ROOTS | {
    *(".tox", ".nox", ".venv", "venv", "env", "node_modules", "site-packages", "__pycache__"),
    *(".mypy_cache", ".ruff_cache", ".pytest_cache", "wandb"),
}
_FORMS = ("json", "github", "sarif", "gitlab", "diff", "fix")


def go(options: argparse.Namespace) -> int:
    """Read, check, print."""
    output.ready(options)
    forms = [name for name in _FORMS if getattr(options, name)]
    if len(forms) > 1:
        raise UsageError(f"--{forms[0]} and --{forms[1]} do not go together")
    if options.explain:
        return _explain(options.explain)
    if not options.paths:
        raise UsageError("name a file or a folder, or --explain RULE")
    system = options.os or ("windows" if os.name == "nt" else "")
    with refused(BadTargetError):
        target = described(options.driver, tuple(options.gpu), system, options.arch)
    files = _Files(options.paths)
    result = lint(files.texts, _read, target, files.unread, files.around)
    if options.fix or options.diff:
        changed = _changes(result, files.texts)
        if options.fix:
            _write_back(changed, files.texts)
            result = lint(files.texts, _read, target, files.unread, files.around)
    _print(result, options)
    if result.problems:
        return USAGE
    failing = options.strict or any(one.severity == "error" for one in result.mistakes)
    return FOUND if result.mistakes and failing else HEALTHY


def _print(result: Lint, options: argparse.Namespace) -> None:
    """The findings in the form that was asked for, without the secrets of an index's address."""
    shared = options.json or output.shares(options)
    hide = of_this_machine(paths=not shared)
    plain = report.without_secrets(result, hide.hide)
    notes, document = report.notes(plain), report.document(plain, options.verbose)
    printed = None
    if options.github:
        printed = ci.github(notes)
    elif options.sarif:
        titles = {rule.id: rule.title for rule in rules().values()}
        printed = ci.sarif(notes, __version__, titles)
    elif options.gitlab:
        printed = ci.gitlab(notes)
    values = contract(result, __version__)
    output.put(options, document, values, lambda: notes, printed=printed)


def _changes(result: Lint, texts: dict[str, str]) -> dict[str, str]:
    """The corrected texts of the files that were named, each shown as a difference first."""
    out: dict[str, str] = {}
    for file in result.files:
        before = texts.get(file.path, "")
        after, made = report.corrected(before, file.mistakes) if before else ("", 0)
        if made:
            write(report.difference(file.path, before, after))
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
    if rule in gone():
        raise UsageError(f"the rule {rule} is no longer there: {gone()[rule]}")
    if rule not in rules():
        near = [name for name in rules() if any(part in name for part in rule.split("-"))]
        raise UsageError(f"there is no rule {rule!r}; see {', '.join(near or rules())}")
    write(output.text(report.page(rules()[rule]), sys.stdout))
    return HEALTHY


# ---------------------------------------------------------------- files


class _Files:
    """The texts of named files and of those found in named folders; what cannot be read."""

    def __init__(self, named: Sequence[str]) -> None:
        self.texts: dict[str, str] = {}
        self.unread: dict[str, str] = {}
        self._named = [os.path.abspath(one) for one in named]
        self._known: dict[str, tuple[str, ...]] = {}
        for path in dict.fromkeys(named):
            if os.path.isdir(path):
                self._search(path)
            else:
                self._take(path)

    def _take(self, path: str, found: bool = False) -> int:
        """One file, and its length; a found one only where it installs something."""
        shown = os.path.normpath(path).replace(os.sep, "/")
        try:
            text = _text(path)
        except (OSError, ValueError) as error:
            if not found or kinds.by_name(os.path.basename(path)):
                self.unread[shown] = getattr(error, "strerror", None) or str(error)
            return 0
        kind = kinds.recognise(shown, text) if found else None
        if found and not (kind and kinds.installs(kind, text)):
            return 0
        self.texts[shown] = text
        return len(text)

    def _search(self, folder: str) -> None:
        held = sum(map(len, self.texts.values()))
        for path in _walk(folder):
            if len(self.texts) >= _FILES or held > _CHARACTERS:
                self.unread[folder] = f"only its first {len(self.texts)} files were read"
                return
            if kinds.worth_opening(os.path.basename(path)):
                held += self._take(path, found=True)

    def around(self, path: str) -> tuple[str, ...]:
        """The paths of a file's repository, written as that file's is; walked once."""
        root, whole = self._root(os.path.abspath(path)), os.path.isabs(path)
        key = f"{whole} {root}"
        if key not in self._known:
            found = islice(_walk(root, _DEEP), _AROUND)
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


def _walk(folder: str, deep: int = 100) -> Iterator[str]:
    """The files of a folder and of those in it, in order; environments are left out."""
    for where, folders, names in os.walk(folder):
        nested = os.path.relpath(where, folder).count(os.sep) >= deep
        environments = {
            one for one in folders if os.path.exists(os.path.join(where, one, "pyvenv.cfg"))
        }
        folders[:] = [] if nested else sorted({*folders} - _SKIPPED - environments)
        paths = (os.path.join(where, name) for name in sorted(names))
        yield from (path for path in paths if os.path.isfile(path))


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
