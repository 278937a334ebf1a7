"""Which variables that steer the stack a command's own files set: a job script, the program.

What a program sets itself is in no environment that can be seen from outside. Only plain statements
count: at the margin of a Python file, with a value that needs no shell and no code to be known.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from gpuwhy.machine.live import permitted
from gpuwhy.machine.reading import regular

MOST, FILES, DEEP = 1 << 18, 12, 3
"""How many bytes of a file, how many files, and how deep scripts that call scripts are read."""
STARTUP = ("BASH_ENV", "ENV", "PYTHONSTARTUP")
"""Variables that name a file which a shell or Python reads before anything else."""
_ASSIGNED = re.compile(
    r"(?:^|[;&|({]\s*|\benv\s+(?:\S+=\S*\s+)*)(?:export\s+|declare\s+-x\s+|typeset\s+-x\s+)?"
    r"(?P<more>(?:[A-Z_][A-Z0-9_]*="
    r"(?:\"[^\"$`\n]*\"|'[^'\n]*'|[^\s;&|()$`\"']*)(?=[\s;&|)]|$)\s*)+)",
    re.MULTILINE,
)
_PAIR = re.compile(
    r"(?P<name>[A-Z_][A-Z0-9_]*)=(?:\"(?P<a>[^\"\n]*)\"|'(?P<b>[^'\n]*)'|(?P<c>[^\s;&|()\"']*))"
)
_IN_PYTHON = re.compile(
    r"^(?:\w+\.)?(?:environ\[['\"](?P<name>[A-Z_][A-Z0-9_]*)['\"]\]\s*=\s*"
    r"|environ\.setdefault\(['\"](?P<name2>[A-Z_][A-Z0-9_]*)['\"],\s*"
    r"|putenv\(['\"](?P<name3>[A-Z_][A-Z0-9_]*)['\"],\s*)['\"](?P<value>[^'\"\n]*)['\"]",
    re.MULTILINE,
)
_SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "ash")
_CALLED = re.compile(
    r"(?:^|[;&|({\s])(?P<path>(?:\$\{?\w{1,40}\}?|~|\.{1,2})?/?[\w./-]{1,200}"
    r"\.(?:sh|bash|py|env|rc)|~?/[\w./-]{1,200})"
    r"(?=[\s;&|)]|$)"
)
_COMMENT = re.compile(r"(?m)(?:^|\s)#.*$")


class Setting(NamedTuple):
    """A variable that a file sets: its value, in which file, and whether by the program itself."""

    value: str
    file: str
    inside: bool  # Python sets it after the start: no environment of a process shows it


def settings(argv: Sequence[str], environ: Mapping[str, str]) -> dict[str, Setting]:
    """The steering variables that a command's files set, the last statement of each."""
    out: dict[str, Setting] = {}
    for name, text in _texts(argv, environ):
        python = name.endswith(".py")
        rows = _of_python(text) if python else _of_shell(text)
        wanted = {key: value for key, value in rows if len(value) < 400}
        out.update(
            {k: Setting(v, os.path.basename(name), python) for k, v in permitted(wanted).items()}
        )
    return out


def _of_python(text: str) -> Iterator[tuple[str, str]]:
    for found in _IN_PYTHON.finditer(text):
        yield found["name"] or found["name2"] or found["name3"], found["value"]


def _of_shell(text: str) -> Iterator[tuple[str, str]]:
    for found in _ASSIGNED.finditer(_COMMENT.sub("", text)):
        for pair in _PAIR.finditer(found["more"]):
            yield pair["name"], next(g for g in (pair["a"], pair["b"], pair["c"]) if g is not None)


def _texts(argv: Sequence[str], environ: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The texts that a command consists of, what is read first first."""
    waiting = [(environ[name], 0) for name in STARTUP if environ.get(name)]
    waiting += [(word, 0) for word in argv[:8]]
    if os.path.basename(argv[0]) in _SHELLS and "-c" in argv[1:-1]:
        text = argv[argv.index("-c") + 1]
        yield "its command", text
        waiting += [(path, 1) for path in _called(text)]
    seen: set[str] = set()
    while waiting and len(seen) < FILES:
        path, depth = waiting.pop(0)
        real = os.path.realpath(path)
        text = "" if real in seen or "=" in path else _text(real)
        if text:
            seen.add(real)
            yield real, text
            waiting += [
                (one, depth + 1)
                for one in _called(text)
                if depth < DEEP and not real.endswith(".py")
            ]


def _called(text: str) -> Iterator[str]:
    return (
        os.path.expanduser(os.path.expandvars(found["path"]))
        for found in _CALLED.finditer(_COMMENT.sub("", text))
    )


def _text(path: str) -> str:
    """The text of a script: a Python file, or one for a shell; "" for anything else."""
    try:
        with os.fdopen(regular(path), "rb") as file:
            data = file.read(MOST)
    except OSError:
        return ""
    return (
        ""
        if b"\0" in data[:4096] or data.startswith(b"\x7fELF")
        else data.decode("utf-8", "replace")
    )
