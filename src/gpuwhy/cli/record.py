"""`gpuwhy record`: keep this machine's observations in a file, to be diagnosed elsewhere."""

from __future__ import annotations

import argparse
import sys
from typing import cast

from gpuwhy.cli import HEALTHY, UsageError, refused, say
from gpuwhy.cli.target import add_target


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "record", help="save what gpuwhy sees of this machine, to diagnose it elsewhere"
    )
    add_target(parser)
    parser.add_argument(
        "file", nargs="?", default="", metavar="FILE", help="where to write; .gz is compressed"
    )
    parser.add_argument(
        "-o", "--output", default="", metavar="FILE", help="where to write, like FILE"
    )
    parser.add_argument(
        "--root",
        metavar="PATH",
        help="record another machine's files: a folder, an OCI layout or an archive",
    )
    parser.set_defaults(go=go)


def go(options: argparse.Namespace) -> int:
    """Observe and write."""
    from gpuwhy.machine.writing import keep

    place = _place(options)
    data = _recording(options)
    if place == "-":
        sys.stdout.buffer.write(data)
        return HEALTHY
    if place.endswith(".gz"):
        import gzip

        data = gzip.compress(data, mtime=0)
    with refused(OSError, f"cannot write {place}: "):
        keep(place, data)
    say(f"wrote {place} ({len(data):,} bytes); read it before you send it")
    return HEALTHY


def _recording(options: argparse.Namespace) -> bytes:
    """What a check asks, with the answers."""
    import msgspec

    from gpuwhy.api.machine import observe
    from gpuwhy.cli.machine import asked_for
    from gpuwhy.cli.progress import Progress
    from gpuwhy.machine.recording import RecordingMachine

    with Progress() as progress:
        machine, asked = asked_for(options, progress.note)
        observe(machine, asked, note=progress.note)
    return cast(RecordingMachine, machine).dump(msgspec.to_builtins(asked))


def _place(options: argparse.Namespace) -> str:
    """The file; standard output unless that is a terminal, where so much JSON helps nobody."""
    if options.file and options.output and options.file != options.output:
        raise UsageError(f"record where? Both {options.file} and {options.output} are named")
    place: str = options.file or options.output
    if place:
        return place
    if sys.stdout.isatty():
        raise UsageError("record where? gpuwhy record machine.json.gz (- prints it)")
    return "-"
