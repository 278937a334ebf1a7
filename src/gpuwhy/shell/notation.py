"""The notation of our commands: a small part of what a Unix shell understands, read into typed steps.

What lies outside of it (pipes, substitutions) is a Script of the shell that its writer said (`model/on.py`): it is
never put into another's words, and printed nowhere where nothing was said.
"""

from __future__ import annotations

import re
import shlex
from functools import lru_cache

import msgspec

from gpuwhy.model import on


class Sets(msgspec.Struct, frozen=True):
    """Variables of this shell: export A=1 B=2."""

    variables: tuple[tuple[str, str], ...]


class Clears(msgspec.Struct, frozen=True):
    """Variables that this shell forgets: unset A B."""

    names: tuple[str, ...]


class Shows(msgspec.Struct, frozen=True):
    """A variable that is looked at: echo $A."""

    name: str


class Prepends(msgspec.Struct, frozen=True):
    """Folders in front of a search path: export PATH=a:b:$PATH."""

    variable: str
    folders: tuple[str, ...]


class Ends(msgspec.Struct, frozen=True):
    """A process that is ended: kill 4242."""

    pid: str


class Runs(msgspec.Struct, frozen=True):
    """A program with its words, under variables of its own, its lines filtered: A=1 python x | grep -i y."""

    words: tuple[str, ...]
    variables: tuple[tuple[str, str], ...] = ()
    root: bool = False
    keeps: tuple[str, ...] = ()  # only lines that hold one of these


class Code(msgspec.Struct, frozen=True):
    """Not for a shell: a line of a program, of a manifest, of a Dockerfile."""

    text: str


class Script(msgspec.Struct, frozen=True):
    """A line that only one shell understands; "any" where its writer did not say which."""

    text: str
    shell: on.Shell


Step = Sets | Clears | Shows | Ends | Prepends | Runs | Code | Script


class Line(msgspec.Struct, frozen=True):
    """One line of a command: its steps, each after the one before succeeded, and a comment."""

    text: str
    steps: tuple[Step, ...]
    comment: str = ""


_PREPEND = re.compile(r"export (\w+)=([^$'\"() ;|&]+?):?(?:\$\1|\$\{\1(?::\+:\$\1)?\})$")
_ASSIGNED = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_ENDS = {"&&", ";"}
_BEYOND = {"|", "||", "&", ">", ">>", "<", "(", ")", "<<", ">&", "&>", "|&"}


def shell_of(command: str) -> on.Shell:
    """The shell that the writer of a command said; "any" for the portable notation."""
    return command.shell if isinstance(command, on.Command) else "any"


def read(command: str) -> tuple[Line, ...]:
    """Every line of a command."""
    shell = shell_of(command)
    return tuple(_line(line, shell) for line in command.split("\n") if line.strip())


@lru_cache(maxsize=1024)
def _line(text: str, shell: on.Shell) -> Line:
    body, _, comment = text.partition("    # ")
    body = body.strip()
    if shell in ("code", "dockerfile"):
        return Line(text, (Code(body),), comment)
    if shell in ("cmd", "powershell"):
        return Line(text, (Script(body, shell),), comment)
    found = _PREPEND.fullmatch(body)
    steps = (Prepends(found[1], tuple(found[2].split(":"))),) if found else _steps(body)
    return Line(text, steps or (Script(body, shell),), comment)


def _steps(body: str) -> tuple[Step, ...]:
    """The steps of a line; () where one of them is beyond the notation."""
    tokens = _tokens(body)
    if not tokens:
        return ()
    parts: list[list[str]] = [[]]
    for token in tokens:
        if token in _ENDS:
            parts.append([])
        else:
            parts[-1].append(token)
    steps = [_step(part) for part in parts if part]
    return tuple(one for one in steps if one) if all(steps) else ()


def _tokens(body: str) -> list[str]:
    lexer = shlex.shlex(body, posix=True, punctuation_chars=";&|<>()")
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        return list(lexer)
    except ValueError:
        return []


def _step(words: list[str]) -> Step | None:
    if "|" in words:
        return _filtered(words)
    if any(word in _BEYOND or "`" in word for word in words):
        return None
    if words[0] == "echo" and len(words) == 2 and (name := re.fullmatch(r"(?:\w+=)?\$\{?(\w+)\}?", words[1])):
        return Shows(name[1])
    if words[-2:-1] == ["kill"] and words[-1].isdigit() and words[:-2] in ([], ["sudo"]):
        return Ends(words[-1])
    if _expands(words):
        return None
    if words[0] == "export":
        return _sets(words[1:])
    return Clears(tuple(words[1:])) if words[0] == "unset" else _run(words)


def _sets(words: list[str]) -> Sets | None:
    pairs = [_ASSIGNED.fullmatch(word) for word in words]
    return Sets(tuple((pair[1], pair[2]) for pair in pairs if pair)) if all(pairs) else None


def _expands(words: list[str]) -> bool:
    return any("$" in word for word in words)


def _run(words: list[str]) -> Runs | None:
    variables = []
    while words and (found := _ASSIGNED.fullmatch(words[0])):
        variables.append((found[1], found[2]))
        words = words[1:]
    root = words[:1] == ["sudo"]
    return Runs(tuple(words[root:]), tuple(variables), root) if words[root:] else None


def _filtered(words: list[str]) -> Runs | None:
    """A program whose lines grep filters."""
    at = words.index("|")
    left, right = words[:at], words[at + 1 :]
    if right[:1] != ["grep"] or any(word in _BEYOND for word in (*left, *right)) or _expands(left):
        return None
    patterns = [word for word in right[1:] if not word.startswith("-")]
    one = _run(left)
    return msgspec.structs.replace(one, keeps=tuple(patterns)) if one and patterns else None
