"""`gpuwhy lint FILE…`: GPU mistakes in files that describe an installation or a container."""

import argparse
import os
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from gpuwhy._version import __version__
from gpuwhy.answer import ci
from gpuwhy.cli import FOUND, HEALTHY, USAGE, UsageError, output, refused
from gpuwhy.cli.terminal import write
from gpuwhy.lint import kinds, report
from gpuwhy.lint.linter import lint
from gpuwhy.lint.mistakes import Lint, contract
from gpuwhy.lint.rules import gone, rules
from gpuwhy.machine import reading, writing
from gpuwhy.machine.redact import of_this_machine
from gpuwhy.plan.describe import BadMachineError, described

_BYTES = 33_000_000
_FILES, _CHARACTERS = 200_000, 512_000_000
"""How much of a folder is read: beyond it the answer says so."""
_AROUND, _DEEP = 5_000, 7
"""How many paths of a repository are listed, and from how many folders."""
_ROOTS = {".git", ".hg", ".svn"}
_SKIPPED = _ROOTS | {
    *(".tox", ".nox", ".venv", "venv", "env", "node_modules", "site-packages", "__pycache__"),
    *(".mypy_cache", ".ruff_cache", ".pytest_cache", "wandb"),
}


def go(options: argparse.Namespace) -> int:
    """Read, check, print."""
    if options.explain:
        return _page(options.explain)
    if not options.paths:
        raise UsageError("name a file or a folder, or --explain RULE")
    target, system = None, options.os or ("windows" if os.name == "nt" else "")
    gpus = tuple(options.gpu)
    if options.driver or gpus or system or options.arch:
        with refused(BadMachineError):
            target = described((), options.driver, gpus, system=system, arch=options.arch)
    texts, unread = _texts(options.paths)

    def around(path: str) -> tuple[str, ...]:
        return _listed(_root(path, options.paths), os.path.isabs(path))

    result = lint(texts, _read, target, unread, around)
    if options.fix or options.diff:
        _correct(result, texts, options.fix)
        result = lint(texts, _read, target, unread, around)
    shared = options.json or options.html or options.markdown  # an index's address has a secret
    plain = output.hidden(result, of_this_machine(paths=not shared))
    notes, printed = report.notes(plain), None
    if options.sarif:
        printed = ci.sarif(notes, __version__, {one.id: one.title for one in rules().values()})
    elif options.gitlab:
        printed = ci.gitlab(notes)
    shown, values = report.document(plain, options.verbose), contract(result, __version__)
    output.put(options, shown, values, lambda: notes, printed=printed)
    if result.problems:
        return USAGE
    failing = options.strict or any(one.severity == "error" for one in result.mistakes)
    return FOUND if result.mistakes and failing else HEALTHY


def _page(rule: str) -> int:
    """The page of a rule; of one that is gone, who finds such mistakes now."""
    if rule in gone():
        raise UsageError(f"the rule {rule} is no longer there: {gone()[rule]}")
    if rule not in rules():
        near = [name for name in rules() if any(part in name for part in rule.split("-"))]
        raise UsageError(f"there is no rule {rule!r}; see {', '.join(near or rules())}")
    write(output.text(report.page(rules()[rule])))
    return HEALTHY


def _correct(result: Lint, texts: dict[str, str], fix: bool) -> None:
    """Show the corrections that are certain as differences, and write them where asked."""
    for file in result.files:
        before = texts.get(file.path, "")
        after, made = report.corrected(before, file.mistakes) if before else ("", 0)
        if made:
            write(report.difference(file.path, before, after))
        if made and fix:
            if reading.read(file.path, _BYTES) != before.encode("utf-8", "replace"):
                raise UsageError(f"{file.path} changed meanwhile, or is not UTF-8: not written")
            writing.keep(file.path, after.encode("utf-8"))
            texts[file.path] = after


def _texts(named: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The texts of named files and of those found in named folders; what cannot be read."""
    texts: dict[str, str] = {}
    unread: dict[str, str] = {}
    held = 0
    for given in dict.fromkeys(named):
        folder = os.path.isdir(given)
        for path in _walk(given) if folder else [given]:
            if len(texts) >= _FILES or held > _CHARACTERS:
                unread[given] = f"only its first {len(texts)} files were read"
                break
            name, shown = os.path.basename(path), os.path.normpath(path).replace(os.sep, "/")
            if folder and not kinds.worth_opening(name):
                continue
            try:
                text = _text(path)
            except (OSError, ValueError) as error:
                if not folder or kinds.by_name(name):
                    unread[shown] = getattr(error, "strerror", None) or str(error)
                continue
            kind = kinds.recognise(shown, text) if folder else ""
            if not folder or (kind and kinds.installs(kind, text)):
                texts[shown] = text
                held += len(text)
    return texts, unread


def _root(path: str, named: Sequence[str]) -> str:
    """The folder above a file that holds a repository, else the one that was named."""
    above = os.path.abspath(path)
    folders = (os.path.abspath(one) for one in named if os.path.isdir(one))
    default = next((one for one in folders if above.startswith(one)), os.path.dirname(above))
    holding = [*Path(above).parents][:_DEEP]
    found = (one for one in holding if any((one / name).exists() for name in _ROOTS))
    return str(next(found, default))


@cache
def _listed(root: str, whole: bool) -> tuple[str, ...]:
    """The paths of a repository."""
    found = islice(_walk(root, _DEEP), _AROUND)
    return tuple((one if whole else os.path.relpath(one)).replace(os.sep, "/") for one in found)


def _walk(folder: str, deep: int = 100) -> Iterator[str]:
    """The files of a folder and of those in it, in order; environments are left out."""
    for where, folders, names in os.walk(folder):
        nested = os.path.relpath(where, folder).count(os.sep) >= deep
        kept = [] if nested else sorted({*folders} - _SKIPPED)
        folders[:] = [f for f in kept if not os.path.exists(os.path.join(where, f, "pyvenv.cfg"))]
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
