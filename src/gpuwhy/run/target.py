"""What a command line runs, by its files: which Python, which script, and what its text says."""

import os
import re
import shutil
from collections.abc import Sequence

from gpuwhy.facts.run import CodeLine
from gpuwhy.machine.live import permitted
from gpuwhy.machine.reading import regular
from gpuwhy.run.tables import pattern, tables

LINE, TEXT, FILES = 512, 1 << 20, 12
"""Bytes of a first line and of a text, and how many files of a command are read."""
_TEXT_OR_MODULE = re.compile(r"-(?!-)[BbdEiIOPqRsSuvx]*[cm]")
_ISOLATED = re.compile(r"-(?!-)[^cmWX]*[IP]")
_IMPORTS = re.compile(r"(?:^|; ?)(?:from (\w+)|import ([\w., ]+))", re.MULTILINE)
_SET_IN_PYTHON = re.compile(
    r"^(?:\w+\.)?(?:environ\[|environ\.setdefault\(|putenv\()['\"](?P<name>[A-Z_][A-Z0-9_]*)['\"]"
    r"(?:\]\s*=|,)\s*['\"](?P<value>[^'\"\n]*)['\"]",
    re.MULTILINE,
)
_SET_IN_SHELL = re.compile(
    r"^\s*(?:export\s+)?(?P<name>[A-Z_][A-Z0-9_]*)="
    r"(?P<quote>['\"]?)(?P<value>[^\s;&|()$`'\"]*)(?P=quote)(?=[\s;]|$)",
    re.MULTILINE,
)
_CALLED = re.compile(r"[\w./~-]+\.(?:sh|bash|py|env)\b")


def python_of_command(argv: Sequence[str]) -> str:
    """The interpreter that a command starts, or "": by its first line, where it is a script."""
    found = shutil.which(argv[0]) or ""
    if not found or os.path.basename(found).startswith("python"):
        return found
    head = _read(found, LINE)
    lines = head[2:].decode("utf-8", "surrogateescape").splitlines() if head[:2] == b"#!" else []
    words = lines[0].split() if lines else []
    if words == ["/bin/sh"] and lines[1:] and lines[1].startswith("'''exec' "):
        # an installer's trick for long paths
        words = [lines[1].removeprefix("'''exec' ").strip().split(' "$0"')[0].strip('"')]
    if words and os.path.basename(words[0]) == "env":
        named = (word for word in words[1:] if not word.startswith("-") and "=" not in word)
        words = [shutil.which(next(named, "")) or ""]
    return words[0] if words and os.path.basename(words[0]).startswith("python") else ""


def _read(path: str, most: int = TEXT) -> bytes:
    try:
        with os.fdopen(regular(path), "rb") as file:
            return file.read(most)
    except OSError:
        return b""


def script_place(argv: Sequence[str]) -> int:
    """Which word of a Python's command line is the script; 0 where none is."""
    if not os.path.basename(argv[0]).startswith("python"):
        return 0
    at, end = 1, len(argv)
    while at < end and argv[at].startswith("-") and argv[at] not in ("-", "--"):
        if _TEXT_OR_MODULE.match(argv[at]):
            return 0
        at += 2 if argv[at] in ("-W", "-X", "--check-hash-based-pycs") else 1
    at += argv[at : at + 1] == ["--"]
    return at if at < end and argv[at] != "-" else 0


def script_folder(argv: Sequence[str]) -> str:
    """The folder that Python searches first: a script's; "" = the working folder; "-" = none."""
    python, at = os.path.basename(argv[0]).startswith("python"), script_place(argv)
    if python and any(_ISOLATED.match(word) for word in argv[1 : at or len(argv)]):
        return "-"
    words = argv[1:] if not python else [argv[at]] if at else []
    scripts = (one for one in words if one.endswith((".py", ".pyc")) and os.path.isfile(one))
    if script := next(scripts, ""):
        return os.path.dirname(os.path.realpath(script))
    return "" if python else "-"


def wanted_gpu(argv: Sequence[str]) -> CodeLine | None:
    """The line of a Python program's own text that asks for a GPU; None where none does."""
    name, text = own_text(argv)
    for number, line in enumerate(text.splitlines(), 1):
        if pattern("asks").search(line.partition("#")[0]):
            return CodeLine(name, number)
    return None


def imported(argv: Sequence[str]) -> tuple[str, ...]:
    """The frameworks that a Python program's own text imports at its margin: it needs them."""
    found = _IMPORTS.findall(own_text(argv)[1])
    several = (name for one, more in found for name in (one, *more.split(",")))
    names = {re.split(r"[. ]", name.strip())[0] for name in several}
    return tuple(sorted(names & tables().words["frameworks"]))


def own_text(argv: Sequence[str]) -> tuple[str, str]:
    """The name and the text of the Python program in a command."""
    if "-c" in argv[:-1] and os.path.basename(argv[0]).startswith("python"):
        return "its text", argv[argv.index("-c") + 1]
    path = next((word for word in argv[1:] if word.endswith(".py") and os.path.isfile(word)), "")
    return os.path.basename(path), _read(path).decode("utf-8", "replace") if path else ""


def settings(argv: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The steering variables that a command's own files set, the last statement of each: by
    scripts before a program starts, and by Python itself, which no environment shows.

    Only plain statements count: at the margin, with a value that needs no code to be known.
    """
    by_scripts: dict[str, str] = {}
    by_python: dict[str, str] = {}
    texts: list[tuple[str, str]] = []  # of the scripts that it names, and those that they name
    if "-c" in argv[1:-1] and os.path.basename(argv[0]).endswith("sh"):
        texts.append(("", argv[argv.index("-c") + 1]))
    waiting, seen = [word for word in argv[:8] if "=" not in word], set[str]()
    while waiting and len(seen) < FILES:
        path = os.path.realpath(os.path.expanduser(waiting.pop(0)))
        data = b"" if path in seen else _read(path)
        seen.add(path)
        if data and b"\0" not in data[:4096]:
            texts.append((path, data.decode("utf-8", "replace")))
            waiting += [] if path.endswith(".py") else _CALLED.findall(texts[-1][1])
    for name, text in texts:
        python = name.endswith(".py")
        found = (_SET_IN_PYTHON if python else _SET_IN_SHELL).finditer(text)
        (by_python if python else by_scripts).update({one["name"]: one["value"] for one in found})
    return permitted(by_scripts), permitted(by_python)
