"""`gpuwhy report FILE…`: a page, or Markdown for an issue, from recordings and saved answers.

Without FILE, of this machine.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from gpuwhy.cli import HEALTHY, UsageError, forms, refused
from gpuwhy.cli.terminal import MOST, read_bytes, write

if TYPE_CHECKING:
    from gpuwhy.answer.answer import Answer
    from gpuwhy.answer.tree import Document


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "report", help="make a web page or Markdown from recordings and JSON reports"
    )
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="recordings and JSON reports; this machine without any",
    )
    parser.add_argument(
        "--python", default="", metavar="PATH", help="without FILE: the Python under diagnosis"
    )
    parser.add_argument(
        "--for",
        dest="project",
        default="",
        metavar="PROJECT",
        help="the fields of the issue template of pytorch, tensorflow, jax …, as Markdown",
    )
    forms.add_forms(parser)
    parser.set_defaults(go=go, verify=False, probe=False, gentle=False, json=False)


class _Given(NamedTuple):
    """A file that was named: an answer, or the values of another contract."""

    name: str
    answer: Answer | None
    values: dict[str, Any]


def go(options: argparse.Namespace) -> int:
    """Read, draw, write."""
    forms.ready(options)
    from gpuwhy.answer import html, markdown
    from gpuwhy.cli.output import shareable

    framework = _framework(options.project)
    given = [_given(path) for path in options.files] or [_here(options)]
    if options.markdown or framework:
        texts = (markdown.write(shareable(_document(one, framework))) for one in given)
        write("\n".join(texts))
    if options.html or not (options.markdown or framework):
        page = html.page(*(shareable(_document(one)) for one in given))
        forms.keep_page(options.html or _beside(options.files), page, new=not options.html)
    return HEALTHY


def _framework(project: str) -> str:
    from gpuwhy.answer.issue import PROJECTS

    if project and project.lower() not in PROJECTS:
        raise UsageError(
            f"--for {project}: known are {', '.join(PROJECTS)}; --markdown suits every project"
        )
    return PROJECTS.get(project.lower(), "")


def _beside(files: list[str]) -> str:
    """The name of the page where none was given: beside the first file."""
    if not files or files[0] == "-":
        return "gpuwhy.html"
    name = files[0].removesuffix(".gz").removesuffix(".json")
    return f"{name}.html"


def _document(given: _Given, framework: str = "") -> Document:
    if given.answer is None:
        return _saved(given)
    from msgspec.structs import replace

    answer = replace(given.answer, about=given.answer.about or given.name)
    if framework:
        from gpuwhy.answer.issue import issue

        return issue(answer, framework)
    from gpuwhy.answer.blocks import document

    return document(answer, 1)


def _saved(given: _Given) -> Document:
    """An inspection in its own words; other contracts by their values."""
    import msgspec

    from gpuwhy.answer import saved
    from gpuwhy.inspect import document, inspected

    if given.values.get("schema") == inspected.SCHEMA:
        with contextlib.suppress(msgspec.ValidationError):
            return document.document(inspected.read(given.values), 1)
    return saved.document(given.values, given.name)


def _here(options: argparse.Namespace) -> _Given:
    from gpuwhy.cli.machine import seen

    return _Given("this machine", seen(options).report, {})


def _given(path: str) -> _Given:
    """A file by what it says that it is."""
    import msgspec

    from gpuwhy.answer import contract, saved

    name, data = os.path.basename(path), _unpacked(read_bytes(path), path)
    try:
        values = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(
            f"{path} is no JSON of gpuwhy ({error}); of a log: gpuwhy explain {path} --html FILE"
        ) from error
    schema = values.get("schema") if isinstance(values, dict) else None
    if schema == "gpuwhy.record/1":
        return _Given(name, _replayed(data, path), {})
    if schema == "gpuwhy.proof-record/1":
        return _Given(name, None, _proof(data, path))
    if schema == "gpuwhy.node/1":
        values = values.get("report")
        schema = values.get("schema") if isinstance(values, dict) else None
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


def _unpacked(data: bytes, path: str) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data
    import zlib

    opened = zlib.decompressobj(31)
    with refused(zlib.error, f"cannot read {path}: "):
        out = opened.decompress(data, MOST)
    if opened.unconsumed_tail:
        raise UsageError(f"cannot read {path}: more than {MOST >> 20} MiB unpacked")
    return out


def _replayed(data: bytes, path: str) -> Answer:
    """The answer on a recorded machine, and on the program that was run there."""
    from gpuwhy.api.watched import again
    from gpuwhy.cli.machine import replayed

    answer, _ = again(*replayed(data, path))
    return answer


def _proof(data: bytes, path: str) -> dict[str, Any]:
    from gpuwhy.prove.page import values
    from gpuwhy.proving.answer import proof_of
    from gpuwhy.proving.record import BadRecordError, replay

    with refused(BadRecordError, f"{path} is no record of a proof: "):
        return values(proof_of(replay(data)))
