"""Paths of a Windows machine as hosts take them: forward slashes, a drive letter or `~` in front."""

from __future__ import annotations

import re

from gpuwhy.host.base import Host
from gpuwhy.model.fact import Known, value_or

WINDOWS = "C:/Windows"
_VARIABLE = re.compile(r"%([^%;]+)%")
_WHOLE = re.compile(r"(?:[A-Za-z]:/|~(?:/|$)|//)")


def tidy(path: str) -> str:
    """A path with forward slashes, without quotes around it and without a slash at its end."""
    plain = re.sub(r"(?<!^)/+", "/", path.strip().strip('"').strip().replace("\\", "/"))
    return plain if re.fullmatch(r"[A-Za-z]:/", plain) else plain.rstrip("/")


def is_whole(path: str) -> bool:
    """Whether a path starts at a drive, at the user's folder or at a share."""
    return _WHOLE.match(path) is not None


def environ(host: Host) -> dict[str, str]:
    """The variables with upper-case names, as Windows compares them; {} where they were not seen."""
    return {name.upper(): value for name, value in value_or(host.environ(), {}).items()}


def system_folder(host: Host) -> str:
    """System32."""
    return f"{tidy(environ(host).get('SYSTEMROOT', '')) or WINDOWS}/System32"


def expanded(text: str, variables: dict[str, str]) -> str:
    """%NAME% replaced where the variable is known."""
    return _VARIABLE.sub(lambda found: variables.get(found[1].upper(), found[0]), text)


def path_folders(host: Host) -> tuple[str, ...]:
    """The folders of PATH, each once, in order."""
    variables = environ(host)
    found = (tidy(expanded(one, variables)) for one in variables.get("PATH", "").split(";"))
    return tuple({one.casefold(): one for one in reversed([f for f in found if is_whole(f)])}.values())[::-1]


def folders(host: Host, parent: str, match: str) -> list[str]:
    """The folders below another one whose names match, newest version last."""
    listed = host.list(parent, match)
    names = [entry.name for entry in listed.value if entry.kind != "file"] if isinstance(listed, Known) else []
    return [f"{parent}/{name}" for name in sorted(names, key=lambda n: [int(d) for d in re.findall(r"\d+", n)])]


def exists(host: Host, path: str) -> bool:
    """Whether something is there; a path that could not be looked at counts as not there."""
    return isinstance(host.stat(path), Known)
