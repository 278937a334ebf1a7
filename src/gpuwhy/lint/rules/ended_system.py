"""A package manager in an image whose distribution has ended, or a PPA that has ended for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge import ended
from gpuwhy.lint.scope import Scope
from gpuwhy.lint.sheet import Command, Image
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("ended-system", "error", "packages of a distribution, or of a PPA for it, that were taken away")

_CURES = re.compile(r"//(?:archive|old-releases|vault|snapshot)\.|old-releases|sources\.list|yum\.repos", re.I)


def check(scope: Scope) -> Iterator[Mistake]:
    """The first command that asks for such packages; nothing where the sources are changed before."""
    image = scope.environment.image
    system = ended.system(image.text) if image and "$" not in image.text else None
    if image is None or system is None:
        return
    if system.archived:
        yield from _archived(scope, system, image)
    yield from _ppa(scope, system)


def _archived(scope: Scope, system: ended.System, image: Image) -> Iterator[Mistake]:
    managers = ("yum", "dnf", "microdnf") if system.family == "centos" else ("apt-get", "apt")
    for command in scope.environment.commands:
        if _CURES.search(command.text):
            return
        if _name(command) in managers and {"update", "install", "upgrade", "makecache"} & set(command.words):
            text = f"{scope.base.name or system.title}: {system.title} has ended and its packages moved to an archive:"
            fix = f"start from a newer image, or point the sources to {system.archive} first"
            said = f"{text} {_name(command)} (line {command.lines[0]}) finds none"
            yield RULE.mistake(image.place, said, ended.ARCHIVES, fix)
            return


def _ppa(scope: Scope, system: ended.System) -> Iterator[Mistake]:
    for command in scope.environment.commands:
        if system.without_deadsnakes and re.search(r"ppa:deadsnakes", command.text):
            text = f"the PPA deadsnakes has no packages for {system.title} any more, which has ended"
            place = Place(scope.environment.path, command.lines[0])
            fix = "start from an image of a newer Ubuntu, or take that Python from uv or conda"
            yield RULE.mistake(place, text, ended.DEADSNAKES, fix)
            return


def _name(command: Command) -> str:
    words = [word for word in command.words if word != "sudo"]
    return words[0].rsplit("/", 1)[-1] if words else ""
