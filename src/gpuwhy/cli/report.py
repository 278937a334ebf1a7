"""`gpuwhy report FILE…`: a page, or Markdown for an issue, from recordings and saved answers.

Without FILE, of this machine.
"""

import argparse
import os
from typing import Any

import msgspec
from msgspec.structs import replace

from gpuwhy.answer import blocks, contract, html, issue, markdown, saved
from gpuwhy.answer.answer import Answer
from gpuwhy.answer.tree import Document
from gpuwhy.cli import HEALTHY, UsageError, machine, output, refused
from gpuwhy.cli.terminal import read_bytes, write
from gpuwhy.machine.recording import BadRecordingError, unzipped


def go(options: argparse.Namespace) -> int:
    """Read, draw, write."""
    framework = issue.PROJECTS.get(options.project.lower(), "")
    if options.project and not framework:
        known = ", ".join(issue.PROJECTS)
        text = f"known are {known}; --markdown suits every project"
        raise UsageError(f"--for {options.project}: {text}")
    names = [os.path.basename(path) for path in options.files] or ["this machine"]
    given = [_given(path) for path in options.files] or [machine.seen(options).report]
    both = list(zip(given, names, strict=True))
    printed = options.markdown or framework
    if printed:
        drawn = (output.shareable(_document(one, name, framework)) for one, name in both)
        write("\n".join(map(markdown.write, drawn)))
    if options.html or not printed:
        page = html.page(*(output.shareable(_document(one, name)) for one, name in both))
        first = options.files[0] if options.files and options.files[0] != "-" else "gpuwhy"
        beside = first.removesuffix(".gz").removesuffix(".json") + ".html"
        output.keep(options.html or beside, page, new=not options.html)
    return HEALTHY


def _document(given: Answer | dict[str, Any], name: str, framework: str = "") -> Document:
    if isinstance(given, Answer):
        answer = replace(given, about=given.about or name)
        return issue.issue(answer, framework) if framework else blocks.document(answer, 1)
    return saved.document(given, name)


def _given(path: str) -> Answer | dict[str, Any]:
    """A file by what it says that it is: an answer, or the values of another contract."""
    with refused(BadRecordingError):
        data = unzipped(read_bytes(path), path)
    try:
        values = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        hint = f"of a log: gpuwhy explain {path} --html FILE"
        raise UsageError(f"{path} is no JSON of gpuwhy ({error}); {hint}") from error
    values = values if isinstance(values, dict) else {}
    if values.get("schema") == "gpuwhy.node/1":
        report = values.get("report")
        values = report if isinstance(report, dict) else {}
    schema = values.get("schema")
    if schema == "gpuwhy.record/1":
        from gpuwhy.api.watched import again

        return again(*machine.recorded(path, data))
    if schema == "gpuwhy.report/1":
        with refused(contract.UnreadableError, f"{path}: "):
            return contract.read(msgspec.json.encode(values))
    if schema not in saved.CONTRACTS:
        raise UsageError(f"{path}: there is no page for {schema or 'a file without a schema'}")
    return values
