"""Platforms: systems without a CUDA build of a framework, and borders between its series."""

import msgspec

from gpuwhy.facts.fact import Source
from gpuwhy.facts.version import at_least
from gpuwhy.knowledge.tables import rows, source

ZLIB = source(
    "cuDNN 8.3 to 8.9 installation guide, Windows",
    "zlib's DLL must be on PATH; cuDNN opens it by name",
)
ZLIB_DLL = "zlibwapi.dll"
_VISUAL_C = ("msvcp140", "vcruntime140", "concrt140", "vcomp140", "msvcr1", "msvcp1")


class Dropped(msgspec.Struct, frozen=True):
    """No CUDA build of `framework` in [since, until), where every condition given fits."""

    framework: str
    text: str
    source: Source
    system: str = ""  # linux, windows, darwin
    machine: str = ""
    libc: str = ""  # how the libc's name starts
    since: str = "0"
    until: str = ""  # the first release that has one again, or at last
    instead: str = ""  # what to do, in a few words
    last: str = ""  # newest release that had one


class Migration(msgspec.Struct, frozen=True):
    """A border between two series; crossing it upwards needs what `text` says."""

    framework: str
    border: str
    text: str
    source: Source


def dropped(framework: str, version: str, system: str, machine: str, libc: str) -> Dropped | None:
    """The row that says why this release has no CUDA build here; None when it may have one."""
    for row in rows("platforms.jsonl", Dropped):
        fits = row.framework == framework and libc.startswith(row.libc)
        here = row.system in ("", system) and row.machine in ("", machine)
        ended = row.until and at_least(version, row.until)
        if fits and here and at_least(version, row.since) and not ended:
            return row
    return None


def crossed(framework: str, before: str, after: str) -> tuple[Migration, ...]:
    """The borders between two releases, going up; () when it goes down."""
    return tuple(
        row
        for row in rows("migrations.jsonl", Migration)
        if row.framework == framework
        and at_least(after, row.border)
        and not at_least(before, row.border)
    )


def is_visual_c(name: str) -> bool:
    """Whether a DLL belongs to the Visual C++ runtime."""
    return name.lower().startswith(_VISUAL_C)
