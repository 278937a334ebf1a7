"""Shown: the commands that stand in a text at a prompt, with what came of them, and the variables that it shows to be set."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

import msgspec

from gpuwhy.rooms.text.later import Later

_PROMPT = Later(
    r"(?:^[ \t]*"
    r"|(?<=\s)(?=(?:\([\w.+-]+\) )?[\w.-]+@[\w.-]+:[^\s$#]{0,60}[$#] ))(?:\([\w.+-]+\) ?)*(?:\[?[\w.-]+@[\w.-]+[^\n$#%>]{0,80}[$#%](?=\s)"
    r"|\[[\w.-]+\][$#%](?=\s)|[$%](?=\s)|PS(?: [^>\n]{0,80})?>|[A-Z]:\\[^>\n]{0,80}>|sh-[\d.]+[$#]|bash-[\d.]+[$#]"
    r"|!(?=pip|apt|nvidia|conda|python))[ \t]*(?P<command>\S[^\n]*)$",
    re.MULTILINE,
)
"""A line that somebody typed: at a Unix prompt with or without user and environment, in Windows' shells, in a notebook."""
_REFUSED = Later(
    r"\b(?:error|fatal|failed|fails|cannot|could not|couldn'?t|unable|denied|rejected|refused|not permitted"
    r"|not found|no such|unmet|held broken|not in the sudoers|externally-managed|mismatch)\b",
    re.IGNORECASE,
)


_INSIDE = Later(r"\b[a-z_][\w-]*@[0-9a-f]{12}\b|\bjovyan@|@[\w-]+-[a-z0-9]{5}:|/\.dockerenv")


CONDA = Later(
    r"\b(?:mini|ana)?conda\d?\b|\bmamba|miniforge|[\\/]envs[\\/]|^\(base\)|^\((?!\.?venv|\.?env\))[\w.-]+\) (?:PS )?[A-Z]:\\",
    re.IGNORECASE | re.MULTILINE,
)
"""By what a text shows conda."""
PLAIN_PYTHON = Later(r"[\\/]\.?venv[\\/]|[\\/]\.virtualenvs[\\/]|/usr/(?:local/)?lib/python3|/dist-packages/|\buv (?:pip|run|sync)\b|\bpoetry\b|/\.local/lib/python3|^\(\.?venv\)|\\Programs\\Python\\Python3|^ii +\S*cud(?:a|nn)|apt(?:-get)? install [^\n]*cud(?:a|nn)", re.MULTILINE)  # fmt: skip
"""By what it shows a Python, or a CUDA, that is none of conda's."""


def typed_inside(text: str) -> bool:
    """Whether its prompt is a container's: the host has a number for a name."""
    return bool(_INSIDE.search(text))


class Ran(msgspec.Struct, frozen=True):
    """A command of the text, and the lines below it up to the next one."""

    command: str
    outcome: str

    @property
    def refused(self) -> bool:
        """Whether what came of it says that it failed."""
        return bool(_REFUSED.search(self.outcome))


@lru_cache(maxsize=4)
def commands(text: str) -> tuple[Ran, ...]:
    """What was typed, in order."""
    found = list(_PROMPT.finditer(text))
    ends = (*(one.start() for one in found[1:]), len(text))
    return tuple(Ran(one["command"].strip(), text[one.end() : end].strip("\n")) for one, end in zip(found, ends, strict=False))  # fmt: skip


def unprompted(text: str) -> str:
    """A text without the lines that somebody typed."""
    return "\n".join(line for line in text.splitlines() if not _PROMPT.match(line))


_NAME = r"[A-Za-z_][A-Za-z0-9_]{2,40}"
_SETS = (
    Later(rf"^(?:RUN |ENV |rem )?(?:export|setenv|declare -x|set|ENV) +\"?(?P<name>{_NAME})[= ](?P<value>[^\s;&|\"']*)", re.MULTILINE),
    Later(rf"\$env:(?P<name>{_NAME}) *= *[\"']?(?P<value>[^\s\"']*)"),
    Later(r"^(?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]+) ?[=:] ?(?P<value>[^\s|\"']*) *$", re.MULTILINE),
    Later(r"^(?P<name>[A-Z][A-Z0-9_]+)=(?P<value>[A-Za-z]:\\[^\n\"]*?)\s*$", re.MULTILINE),
    Later(rf"(?P<name>{_NAME}) set by environment to (?P<value>\S+?)\.?(?=\s|$)"),
    Later(r"^(?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]+)=(?P<value>\S+)(?= +[a-z./])", re.MULTILINE),
)  # fmt: skip
"""Where a variable is shown with its value: set in a script, printed by env or by a program, before a command."""
_EXPORTED = re.compile(r"(?:^|&& |; )(?:export|setenv|set|declare -x) +(.+)")
_PREFIX = re.compile(r"(?:^|\benv |\bsudo |&& |; )((?:[A-Z_][A-Z0-9_]*=(?:\"[^\"]*\"|'[^']*'|\S*) +)+)\S")
_ONE = re.compile(r"([A-Z_][A-Z0-9_]*)=[\"']?([^\s\"']*)")
_PASSED = re.compile(r" (?:-e|--env) ?=?\"?([A-Z_][A-Z0-9_]*)=([^\s\"]*)")
_ECHOED = re.compile(
    r"(?:echo|printenv|Write-Host) +[\"']?(?:\$\{?(?:env:)?|%)?([A-Za-z_][A-Za-z0-9_]*)[}%]?[\"']?(?=\s|;|$)"
)


@lru_cache(maxsize=4)
def variables(text: str) -> Mapping[str, str]:
    """The variables that a text shows to be set for the program, the last value of each."""
    out = {one["name"]: one["value"] for words in _SETS for one in words.finditer(text)}
    for ran in commands(text):
        out.update(_of_command(ran))
    return out


def _of_command(ran: Ran) -> Iterator[tuple[str, str]]:
    for before in (*_PREFIX.finditer(ran.command), *_EXPORTED.finditer(ran.command)):
        yield from _ONE.findall(before[1])
    yield from _PASSED.findall(ran.command)
    asked = _ECHOED.search(ran.command)
    if asked and ran.outcome.strip():
        yield asked[1], ran.outcome.strip().splitlines()[0].strip()


class OwnSetting(msgspec.Struct, frozen=True):
    """A variable that a program sets for itself, and where."""

    name: str
    value: str
    file: str = ""
    line: str = ""


_BY_PROGRAM = Later(
    r"^(?P<head>[^\n]{0,120}?)os\.(?:environ(?:\[|\.setdefault\()|putenv\() ?[\"'](?P<name>[A-Z][A-Z0-9_]+)[\"'](?:\] ?=|,) ?(?:str\()?[\"']?(?P<value>[-\w.,:/]*)",
    re.MULTILINE,
)
_AT = re.compile(r"(?:(?P<file>[\w./\\-]+\.(?:py|ipynb|sh)):)?(?P<line>\d+)[:-]\s*$")
_IN_FRAME = re.compile(r"File \"(?P<file>[^\"\n]+)\", line (?P<line>\d+)[^\n]*\n\s*$")
_GREP = re.compile(r"\bgrep\b[^\n|]*?\s(?P<file>[\w./-]+\.(?:py|sh))\b")


def set_by_program(text: str) -> tuple[OwnSetting, ...]:
    """The variables that the user's own program is shown to set (`os.environ[…] = …`), with file and line."""
    return tuple(_own(text, one) for one in _BY_PROGRAM.finditer(text))


def _own(text: str, found: re.Match[str]) -> OwnSetting:
    at = _AT.search(found["head"]) or _IN_FRAME.search(text[max(0, found.start() - 300) : found.start()])
    file, line = (at["file"] or "", at["line"]) if at else ("", "")
    if not file:
        file = next((one["file"] for one in reversed(list(_GREP.finditer(text[: found.start()])))), "")
    return OwnSetting(found["name"], found["value"], re.split(r"[\\/]", file)[-1], line)
