"""Put where: a package belongs into the place that the program is started from: a line of a Dockerfile, a new image; a .sif cannot be written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import structs

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.set_inside import launched_by
from gpuwhy.rooms.text.told_names import image_of

_PIP = re.compile(r"(?:python3? -m )?(?:uv )?pip3? (?:install|uninstall)\b")
_APT = re.compile(
    r"(?:sudo )?apt(?:-get)? (?:update && (?:sudo )?apt(?:-get)? )?install (?:-y )?(?P<names>[\w.+-]+(?: [\w.+-]+)*)$"
)
_PACKAGES = re.compile(rf"{_PIP.pattern}|(?:sudo )?apt(?:-get)? ")
_SET = re.compile(r"export ([A-Z_][A-Z0-9_]*=[^\s$]+)$")
_WRITTEN = re.compile(rf"{_PIP.pattern}|{_APT.pattern}|{_SET.pattern}")
"""What a Dockerfile can say too."""
_CHECKS = re.compile(r"python3? -c |pip3? (?:show|list|check)\b")
"""What only looks whether it went well."""
_SIF = Later(r"(?<![\w./-])([\w./-]+\.sif)\b")
_BY_SIF = Later(r"\b(?:singularity|apptainer) (?:exec|run|shell)\b")
_NAMED = Later(
    r"(?:^\s*|\}\}['\"]? )(?:#\d+ [\d.]+ )?(?:(?:FROM|image:) +[\"']?)?((?:[\w.-]+/)+[\w.-]+:[\w.-]+|(?<=FROM )[\w.-]+:[\w.-]+|(?<=image: )[\w.-]+:[\w.-]+)\s*$",
    re.MULTILINE,
)
"""An image by its own line: in a Dockerfile, in a service's file, or as `docker inspect` prints it."""


def into_its_place(fixes: Sequence[Fix], case: Asked) -> Iterator[Fix]:
    """The fixes; those that install packages say where, if what starts the program is a container's image."""
    sealed = bool(_BY_SIF.search(case.text)) and not case.windows
    launcher = "" if "jetson" in case.tools else _seen_by(case)  # a board's images hold its own builds
    for fix in fixes:
        lines = [line for line in str(fix.command).splitlines() if not _CHECKS.match(line)]
        if not lines or _typed_elsewhere(fix):
            yield fix
        elif sealed and all(map(_PIP.match, lines)):
            yield _into_a_new_sif(fix, lines, case)
        elif launcher and any(map(_PACKAGES.match, lines)) and all(map(_WRITTEN.match, lines)):
            yield _into_an_image(fix, lines, launcher, case)
        else:
            yield fix


_LOGS = Later(r"\b(?:docker|podman) (?:container )?logs\b")


def _seen_by(case: Asked) -> str:
    """What starts the container, also where its output alone was looked at."""
    return launched_by(case) or ("docker" if not case.windows and _LOGS.search(case.text) else "")


def _typed_elsewhere(fix: Fix) -> bool:
    return isinstance(fix.command, on.Command) and (fix.command.shell != "sh" or fix.command.host)


def _into_a_new_sif(fix: Fix, lines: Sequence[str], case: Asked) -> Fix:
    found = _SIF.search(case.text)
    old = found[1] if found else "OLD.sif"
    tool = "singularity" if re.search(r"\bsingularity (?:exec|run|shell)\b", case.text) else "apptainer"
    inside = "\n".join(f"{tool} exec --fakeroot --writable new {line}" for line in lines)
    command = f"{tool} build --sandbox new {old}\n{inside}"
    text = f"{fix.text}; a .sif cannot be written: unpack it into a folder, install there, and start that folder with --nv in its place"
    return structs.replace(fix, text=on.as_said(text, fix.text), command=on.linux(command))


_WHERE = {
    "build": "in the Dockerfile, behind the step that installs it now",
    "docker": "in an image of your own, because what is installed in a container is gone with it; then docker build -t mine . and start mine",
    "compose": "in an image of your own (build: . in place of image: in compose.yaml), because what is installed in a container is gone with it; then docker compose up -d --build",
    "kubernetes": "in an image of your own, which is pushed and then named in the manifest, because what is installed in a pod is gone with it",
}


_OF_OTHERS = re.compile(r"ubi\d|rocky|centos|fedora|alpine|rhel|amazonlinux")
"""Images whose Linux has no apt."""


def _as_written(line: str) -> str:
    """A line of a shell as a Dockerfile has it."""
    if apt := _APT.match(line):
        return f"RUN apt-get update && apt-get install -y {apt['names']}"
    if given := _SET.match(line):
        return f"ENV {given[1]}"
    if by_uv := re.match(r"(python3? -m )?uv pip (install|uninstall) ", line):
        first = "" if by_uv[1] else "pip install uv && "
        return f"RUN {first}{by_uv[1] or ''}uv pip {by_uv[2]} --system {line[by_uv.end() :]}"
    return f"RUN {re.sub(r'^(?:python3? -m )?pip3? ', 'pip ', line)}"


def _into_an_image(fix: Fix, lines: Sequence[str], launcher: str, case: Asked) -> Fix:
    named = _NAMED.search(case.text)
    base = image_of(case.text)[1] or (named[1] if named else "IMAGE")
    if _OF_OTHERS.search(base) and any(map(_APT.match, lines)):
        return fix
    run = "\n".join(map(_as_written, lines))
    command = run if launcher == "build" else f"FROM {base}\n{run}"
    said = re.sub(r"; for a container: docker run -e NAME=VALUE, or ENV in its Dockerfile$", "", fix.text)
    return structs.replace(fix, text=on.as_said(f"{said}; {_WHERE[launcher]}", fix.text), command=on.dockerfile(command), root=False)  # fmt: skip
