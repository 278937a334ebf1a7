"""Outside: what other files of a run say of a Dockerfile or a requirements file: arguments of a build, an image."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping

from gpuwhy.knowledge import containers

_OPTION = re.compile(r"--build-arg[ =]+[\"']?([A-Za-z_]\w*)=")
_BLOCK = re.compile(r"^(?P<indent>[ \t]*)(?:- )?(?:build-args|args):[ \t]*[|>]?-?[ \t]*\n", re.MULTILINE)
_GIVEN = re.compile(r"[ \t]*(?:- )?[\"']?([A-Za-z_]\w*)[\"']?[ \t]*[:=]")
_FROM = re.compile(r"^[ \t]*FROM[ \t].*", re.MULTILINE | re.IGNORECASE)


def arguments(texts: Iterable[str]) -> frozenset[str]:
    """The names of the build arguments that compose files, workflows and scripts hand to a build."""
    return frozenset(name for text in texts if "arg" in text for name in (*_OPTION.findall(text), *_of_blocks(text)))


def _of_blocks(text: str) -> Iterator[str]:
    """args: of a compose file and build-args: of a workflow, as long as their lines stand deeper."""
    for found in _BLOCK.finditer(text):
        depth = len(found["indent"])
        for line in text[found.end() :].split("\n"):
            listed = line.lstrip().startswith("- ") and len(line) - len(line.lstrip()) == depth
            if line.strip() and len(line) - len(line.lstrip()) <= depth and not listed:
                break
            named = _GIVEN.match(line)
            if named:
                yield named[1]


def choosing(dockerfile: str, handed: frozenset[str]) -> Mapping[str, str]:
    """The arguments by which others choose the image of a Dockerfile, each as itself: its value is not known here."""
    images = " ".join(_FROM.findall(dockerfile)) if handed else ""
    return {name: f"${{{name}}}" for name in re.findall(r"\$\{?([A-Za-z_]\w*)", images) if name in handed}


def is_named(image: str, others: Iterable[str]) -> bool:
    """Whether another file names an image, to build it or to hand it to the build (NAME=docker-image://…)."""
    plain = re.sub(r"[:@][^/]*$", "", image)
    wanted = re.compile(rf"(^|[\s/\"'=:]){re.escape(plain)}(?=$|[\s:=@\"'-])", re.MULTILINE)
    return bool(plain) and any(plain in text and wanted.search(text) for text in others)


_UNKNOWN = re.compile(r"^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)?[\w-]+(?:\.[\w-]+)+(?::\d+)?/", re.MULTILINE | re.IGNORECASE)
"""An image of another registry than Docker's, which holds a Python and packages of its own."""


def is_in_image(path: str, dockerfiles: Mapping[str, str]) -> bool:
    """Whether one of some Dockerfiles installs a requirements file, by its name and the name of its folder."""
    folder, name = posixpath.split(path)
    plain = re.compile(rf"-r[ =]?(\S*/)?{re.escape(name)}\b")
    beside = (text for one, text in dockerfiles.items() if posixpath.dirname(one) == folder)
    if any(plain.search(text) and _UNKNOWN.search(text) for text in beside):
        return True
    folder = posixpath.basename(folder)
    whole = re.compile(rf"(^|[\s/\"'=]){re.escape(f'{folder}/' if folder else '')}{re.escape(name)}\b", re.MULTILINE)
    alone = re.compile(rf"-r[ =]?(\S*/)?{re.escape(name)}\b")
    copied = re.compile(rf"^\s*(COPY|ADD)\s.*\b{re.escape(folder)}\b", re.MULTILINE) if folder else None
    own = name not in ("requirements.txt", "requirements.in")
    return any(
        whole.search(text) or (own and copied and copied.search(text) and alone.search(text))
        for text in dockerfiles.values()
        if "install" in text
    )


def is_over_unknown(path: str, dockerfiles: Mapping[str, str]) -> bool:
    """Whether every Dockerfile that installs a requirements file starts from an image that nobody here knows."""
    installing = [text for one, text in dockerfiles.items() if is_in_image(path, {one: text})]
    images = [[*_BASE.findall(text)][-1:] for text in installing]
    return bool(installing) and all(found and not containers.read(found[0]).family for found in images)


_BASE = re.compile(r"^[ \t]*FROM[ \t]+(?:--\S+[ \t]+)?[\"']?([^\s\"']+)", re.MULTILINE | re.IGNORECASE)
