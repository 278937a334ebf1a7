"""`gpuwhy report FILE…`: a page, or Markdown for an issue, from recordings and JSON reports; or of this machine."""

from __future__ import annotations

import argparse
import os
from typing import Any

from gpuwhy.cli import HEALTHY, UsageError, forms, refused
from gpuwhy.cli.target import diagnose
from gpuwhy.cli.terminal import MOST, read_bytes, write

PROJECTS = {
    "pytorch": "torch", "torch": "torch", "tensorflow": "tensorflow", "keras": "tensorflow", "jax": "jax",
    "flax": "jax", "onnxruntime": "onnxruntime", "cupy": "cupy", "numba": "numba", "triton": "triton", "rapids": "cudf",
    "vllm": "vllm", "xgboost": "xgboost", "paddle": "paddle", "mxnet": "mxnet",
}  # fmt: skip
"""The names of projects, and the framework that each is."""

HOLDS = {
    "gpuwhy.report/1": ("status",),
    "gpuwhy.plan/1": ("proposal", "conflict"),
    "gpuwhy.inspect/1": ("path",),
    "gpuwhy.lint/1": ("files",),
    "gpuwhy.fleet/1": ("groups",),
    "gpuwhy.proof/1": ("status",),
    "gpuwhy.fit/1": ("shares",),
}
"""What an answer of each form cannot be without."""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("report", help="make a web page or Markdown from recordings and JSON reports")
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="recordings and JSON reports; this machine without any"
    )
    parser.add_argument("--python", default="", metavar="PATH", help="without FILE: the Python under diagnosis")
    parser.add_argument("--for", dest="project", default="", metavar="PROJECT",
                        help="Markdown for an issue of pytorch, tensorflow, jax …")  # fmt: skip
    forms.add_forms(parser)
    parser.set_defaults(go=go, verify=False, probe=False, gentle=False)


def go(options: argparse.Namespace) -> int:
    """Read, draw, write."""
    forms.ready(options)
    project = _project(options.project)
    given = [_given(path) for path in options.files] or [_here(options)]
    if options.markdown or project:
        from gpuwhy.page.markdown import render

        write("\n".join(render(values, log, project) for values, log, _ in given))
    if options.html or not (options.markdown or project):
        from gpuwhy.page.page import UndrawableError, pages

        with refused(UndrawableError):
            forms.keep_page(options.html or _beside(options.files), pages(given), new=not options.html)
    return HEALTHY


def _project(name: str) -> str:
    if name and name.lower() not in PROJECTS:
        raise UsageError(f"--for {name}: known are {', '.join(PROJECTS)}; --markdown suits every project")
    return PROJECTS.get(name.lower(), "")


def _beside(files: list[str]) -> str:
    """The name of the page where none was given: beside the first file."""
    if not files or files[0] == "-":
        return "gpuwhy.html"
    name = files[0].removesuffix(".gz").removesuffix(".json")
    return f"{name}.html"


def _here(options: argparse.Namespace) -> tuple[Any, str, str]:
    from gpuwhy.showing import plain_values

    return plain_values(diagnose(options).report()), "", "this machine"


def _given(path: str) -> tuple[Any, str, str]:
    """A file as plain values, with its log and its name."""
    import msgspec

    data = _unpacked(read_bytes(path), path)
    try:
        values = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(
            f"{path} is no JSON of gpuwhy ({error}); of a log: gpuwhy explain {path} --html FILE"
        ) from error
    schema = values.get("schema") if isinstance(values, dict) else None
    if schema == "gpuwhy.record/1":
        return (*_replayed(data, path), os.path.basename(path))
    if schema == "gpuwhy.proof-record/1":
        return (_proof(data, path), "", os.path.basename(path))
    if schema == "gpuwhy.node/1":
        values = values.get("report")
    from gpuwhy.page.page import SCHEMAS

    if not isinstance(values, dict) or values.get("schema") not in SCHEMAS:
        raise UsageError(f"{path}: there is no page for {schema or 'a file without a schema'}")
    wanted = HOLDS.get(values["schema"], ())
    if wanted and not any(name in values for name in wanted):
        raise UsageError(
            f"{path} says that it is {values['schema']}, and holds no answer: {' or '.join(wanted)} is missing"
        )
    return values, "", os.path.basename(path)


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


def _replayed(data: bytes, path: str) -> tuple[Any, str]:
    import msgspec

    from gpuwhy.answer.contract import as_json
    from gpuwhy.api.watched import again
    from gpuwhy.cli.machine import replayed
    from gpuwhy.cli.output import shared

    answer, output = again(*replayed(data, path))
    return msgspec.json.decode(as_json(shared(answer))), output


def _proof(data: bytes, path: str) -> Any:
    from gpuwhy.proving.answer import proof_of
    from gpuwhy.proving.record import BadRecordError, replay
    from gpuwhy.showing import plain_values

    with refused(BadRecordError, f"{path} is no record of a proof: "):
        return plain_values(proof_of(replay(data)))
