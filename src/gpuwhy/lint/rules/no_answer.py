"""An installer that asks in a build, where nobody answers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("no-answer", "error", "an installer that asks in a build, where nobody answers")

_KNOW = source("apt-get(8), dnf(8)", "without -y they ask, and stop where no terminal answers")
_ASKING = re.compile(
    r"^(?:sudo )?(?:/\S+/)?(?:(?P<apt>apt|apt-get)(?: -[\w=:/-]+)* (?:install|upgrade|dist-upgrade)"
    r"|(?P<yum>yum|dnf) (?:-\S+ )*(?:install|update))\b"
)
_ANSWERED = re.compile(
    r"(^| )(-\w*y\w*|--yes|--assume-yes|-qq|--assumeyes|-\w*q=\d|-f \S+\.txt --yes|--dry-run|--download-only)( |$)"
)
_BRINGS = re.compile(
    r"git|python|build-essential|cmake|ffmpeg|vim|wget|curl|openssh|nvidia|cuda|software|g\+\+|gcc|(dist-)?upgrade"
)
"""Packages that bring others along: apt asks only then."""
_LIBRARY = re.compile(r"lib\S")
"""They do so too, where no other command has brought what they need."""
_IMPLIED = {
    "openssh-client": r"openssh-server|git$",
    "git": r"git-",
    "gcc": r"build-essential|g\+\+|python3-pip",
    "g++": r"build-essential|python3-pip",
    "python3": r"python3",
}
"""Package → packages that bring it along."""
_BRINGS_MORE = re.compile(r"^(python|lib|nvidia|cuda|software)|-dev$")
"""Additions to a package that bring more than it did; others (git-lfs to git) come alone."""
_PLAIN = ("cuda", "distro", "python", "pytorch")
"""Images of which it is known what they lack; others may hold anything."""
_ALWAYS = re.compile(r"APT::Get::Assume-Yes|assumeyes", re.IGNORECASE)


def check(scope: Scope) -> Iterator[Mistake]:
    """The first such command of a Dockerfile's stage, of each installer."""
    stage = scope.environment
    said = [*(c.text for c in stage.commands), *(f"{v.name}={v.value}" for v in stage.variables.values())]
    if scope.kind not in ("dockerfile", "singularity") or not scope.for_gpus or any(map(_ALWAYS.search, said)):
        return
    yield from _zone(scope, said)
    told: set[str] = set()
    for before, command in zip([None, *stage.commands], stage.commands, strict=False):
        found = _ASKING.match(command.text)
        program = found.lastgroup or "" if found else ""
        if not found or program in told or _ANSWERED.search(command.text) or _is_fed(before):
            continue
        if program == "apt" and not _brings_others(scope, command):
            continue
        told.add(program)
        yield _mistake(scope, command)


def _brings_others(scope: Scope, command: Command) -> bool:
    """Whether apt has to install more than what is named: nothing of it is there already."""
    base = scope.base
    if base.family not in _PLAIN or (base.family == "python" and "slim" not in base.name):
        return False
    before = [name for name, line in scope.environment.apt.items() if line < command.lines[0]]
    held = _COMPILERS if base.variant == "devel" else ()
    new = [word for word in command.words[1:] if word not in (*before, *held) and not _is_implied(word, before)]
    return any(map(_BRINGS.match, new)) or (not before and any(map(_LIBRARY.match, new)))


_COMPILERS = ("gcc", "g++", "make", "build-essential", "libc6-dev")
"""What NVIDIA's images for developers hold."""


def _is_implied(name: str, before: list[str]) -> bool:
    by = _IMPLIED.get(name)
    addition = not _BRINGS_MORE.search(name) and name.rpartition("-")[0] in before
    return addition or (by is not None and any(re.match(by, other) for other in before))


_ZONE = source(
    "lgarithm/crystalnet issue 56, jrottenberg/ffmpeg pull request 235, NVIDIA/cudf-spark pull request 8957",
    "tzdata asks for the geographic area, and the build waits for ever",
)
_ASKS_ZONE = re.compile(
    r"^(?:sudo )?apt(?:-get)? .*\binstall\b.* (tzdata|libopencv-dev|python3-opencv|python3-tk|tk-dev|tcl|tclsh"
    r"|tesseract-ocr|keyboard-configuration|xorg|ubuntu-desktop|xubuntu-desktop|devscripts)( |$)"
)
_ZONE_KNOWN = re.compile(r"DEBIAN_FRONTEND|localtime|zoneinfo|debconf|^TZ=|noninteractive", re.IGNORECASE)


def _zone(scope: Scope, said: list[str]) -> Iterator[Mistake]:
    """tzdata, or what brings it: in an image of Ubuntu it asks where one lives, unless it is told not to."""
    stage = scope.environment
    told = [f"{v.name}={v.value}" for v in stage.arguments.values()]
    told += [name for command in stage.commands for name, _ in command.assigned]
    ubuntu = re.search(r"ubuntu[:-]?(18|20|22)\.04|ubuntu:(bionic|focal|jammy)", scope.base.name)
    if not ubuntu or any(map(_ZONE_KNOWN.search, [*said, *told])):
        return
    for before, command in zip([None, *stage.commands], stage.commands, strict=False):
        found = _ASKS_ZONE.match(command.text)
        if found and not _is_fed(before):
            why = "" if found[1] == "tzdata" else " brings tzdata, which"
            text = f"{found[1]}{why} asks for the time zone, whatever -y says, and the build waits for an answer"
            place = Place(stage.path, command.lines[command.words.index(found[1])])
            yield RULE.mistake(place, text, _ZONE, "write ARG DEBIAN_FRONTEND=noninteractive before it", "warning")
            return


def _is_fed(before: Command | None) -> bool:
    """Whether another program answers: yes | apt install …"""
    return before is not None and before.then == "|"


def _mistake(scope: Scope, command: Command) -> Mistake:
    name = command.words[0]
    text = f"`{command.text[:60].rstrip()}` asks whether to go on, and in a build nobody answers: it stops there"
    return RULE.mistake(Place(scope.environment.path, command.lines[0]), text, _KNOW, f"write {name} … -y")
