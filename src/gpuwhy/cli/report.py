"""`gpuwhy report FILE…`: a page, or Markdown for an issue, from recordings and saved answers.

Without FILE, of this machine.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from gpuwhy.answer import blocks, contract, html, issue, markdown, saved
from gpuwhy.answer.answer import Answer
from gpuwhy.answer.tree import Document
from gpuwhy.cli import HEALTHY, UsageError, output, refused
from gpuwhy.cli.machine import replayed, seen
from gpuwhy.cli.terminal import read_bytes, write
from gpuwhy.inspect import document, inspected
from gpuwhy.machine.recording import BadRecordingError, unzipped


class _Given(NamedTuple):
    """A file that was named: an answer, or the values of another contract."""

    name: str
    answer: Answer | None
    values: dict[str, Any]


def go(options: argparse.Namespace) -> int:
    """Read, draw, write."""
    output.ready(options)
    framework = issue.PROJECTS.get(options.project.lower(), "")
    if options.project and not framework:
        known = ", ".join(issue.PROJECTS)
        text = f"known are {known}; --markdown suits every project"
        raise UsageError(f"--for {options.project}: {text}")
    given = [_given(path) for path in options.files]
    given = given or [_Given("this machine", seen(options).report, {})]
    printed = bool(options.markdown or framework)
    if printed:
        documents = (output.shareable(_document(one, framework)) for one in given)
        write("\n".join(map(markdown.write, documents)))
    if options.html or not printed:
        page = html.page(*(output.shareable(_document(one)) for one in given))
        output.keep(options.html or _beside(options.files), page, new=not options.html)
    return HEALTHY


def _beside(files: list[str]) -> str:
    """The name of the page where none was given: beside the first file."""
    if not files or files[0] == "-":
        return "gpuwhy.html"
    return files[0].removesuffix(".gz").removesuffix(".json") + ".html"


def _document(given: _Given, framework: str = "") -> Document:
    if given.answer is not None:
        answer = replace(given.answer, about=given.answer.about or given.name)
        return issue.issue(answer, framework) if framework else blocks.document(answer, 1)
    if given.values.get("schema") == inspected.SCHEMA:
        with contextlib.suppress(msgspec.ValidationError):
            return document.document(inspected.read(given.values), 1)
    return saved.document(given.values, given.name)


def _given(path: str) -> _Given:
    """A file by what it says that it is."""
    name = os.path.basename(path)
    with refused(BadRecordingError):
        data = unzipped(read_bytes(path), path)
    try:
        values = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        hint = f"of a log: gpuwhy explain {path} --html FILE"
        raise UsageError(f"{path} is no JSON of gpuwhy ({error}); {hint}") from error
    if _schema(values) == "gpuwhy.record/1":
        from gpuwhy.api.watched import again

        return _Given(name, again(*replayed(data, path))[0], {})
    if _schema(values) == "gpuwhy.node/1":
        values = values.get("report")
    schema = _schema(values)
    if schema == "gpuwhy.report/1":
        with refused(contract.UnreadableError, f"{path}: "):
            return _Given(name, contract.read(msgspec.json.encode(values)), {})
    if schema not in saved.NEEDED:
        raise UsageError(f"{path}: there is no page for {schema or 'a file without a schema'}")
    wanted = saved.NEEDED[schema]
    if wanted and not any(one in values for one in wanted):
        holds = f"{path} says that it is {schema}, and holds no answer"
        raise UsageError(f"{holds}: {' or '.join(wanted)} is missing")
    return _Given(name, None, values)


def _schema(values: Any) -> Any:
    return values.get("schema") if isinstance(values, dict) else None
