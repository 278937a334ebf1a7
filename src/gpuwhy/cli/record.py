"""`gpuwhy record`: keep this machine's observations in a file, to be diagnosed elsewhere."""

import argparse
import gzip
import sys
from typing import cast

import msgspec

from gpuwhy.api.machine import observe
from gpuwhy.cli import HEALTHY, UsageError, output
from gpuwhy.cli.machine import asked_for
from gpuwhy.cli.terminal import Progress
from gpuwhy.machine.recording import RecordingMachine


def go(options: argparse.Namespace) -> int:
    """Observe and write; on standard output unless that is a terminal."""
    place = options.file or options.output
    if not place and sys.stdout.isatty():
        raise UsageError("record where? gpuwhy record machine.json.gz (- prints it)")
    with Progress() as progress:
        machine, asked = asked_for(options, progress.note)
        observe(machine, asked, note=progress.note)
    data = cast(RecordingMachine, machine).dump(msgspec.to_builtins(asked))
    if place in ("", "-"):
        sys.stdout.buffer.write(data)
    else:
        output.keep(place, packed(data, place))
    return HEALTHY


def packed(data: bytes, path: str) -> bytes:
    """A recording as its file's name asks for it."""
    return gzip.compress(data, mtime=0) if path.endswith(".gz") else data
