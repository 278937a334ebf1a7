"""`gpuwhy record`: keep this machine's observations in a file, to be diagnosed elsewhere."""

from __future__ import annotations

import argparse
import sys

from gpuwhy.border.writing import keep
from gpuwhy.cli import HEALTHY, UsageError, say
from gpuwhy.cli.target import add_target, diagnose


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("record", help="keep what this machine answers, for `gpuwhy check --from FILE`")
    add_target(parser)
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="where to write (default: standard output)")
    parser.add_argument(
        "--root", metavar="PATH", help="record another machine's files: a folder, an OCI layout or an archive"
    )
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Observe and write."""
    data = diagnose(options).recording()
    if options.output == "-":
        sys.stdout.buffer.write(data)
        return HEALTHY
    if options.output.endswith(".gz"):
        import gzip

        data = gzip.compress(data, mtime=0)
    try:
        keep(options.output, data)
    except OSError as error:
        raise UsageError(f"cannot write {options.output}: {error.strerror}") from error
    say(f"wrote {options.output} ({len(data):,} bytes); read it before you send it")
    return HEALTHY
