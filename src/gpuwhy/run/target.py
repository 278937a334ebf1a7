"""Which Python a command line runs, by its files: python itself, a first line, PATH."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence

from gpuwhy.facts.run import CodeLine
from gpuwhy.machine.reading import regular

LINE = 512


def python_of_command(argv: Sequence[str]) -> str:
    """The interpreter that a command starts, or ""."""
    found = shutil.which(argv[0]) or ""
    if not found or os.path.basename(found).startswith("python"):
        return found
    words = _first_line(found) or [""]
    if os.path.basename(words[0]) == "env":
        named = next(
            (word for word in words[1:] if not word.startswith("-") and "=" not in word), ""
        )
        words = [shutil.which(named) or ""]
    return words[0] if os.path.basename(words[0]).startswith("python") else ""


def _first_line(path: str) -> list[str]:
    """The words behind #!; an installer's second-line trick for long paths included."""
    try:
        fd = regular(path)
    except OSError:
        return []
    with os.fdopen(fd, "rb") as file:
        head = file.read(LINE)
    if not head.startswith(b"#!"):
        return []
    lines = head[2:].decode("utf-8", "surrogateescape").splitlines()
    if lines[0].strip() == "/bin/sh" and len(lines) > 1 and lines[1].startswith("'''exec' "):
        return [lines[1].removeprefix("'''exec' ").strip().split(' "$0"')[0].strip('"')]
    return lines[0].split()


def script_folder(argv: Sequence[str]) -> str:
    """The folder that Python searches first: a script's; "" = the working folder; "-" = none."""
    python, words = os.path.basename(argv[0]).startswith("python"), list(argv[1:])
    if python:
        words, folder = _after_options(words)
        if folder is not None:
            return folder
    script = next(
        (word for word in words if word.endswith((".py", ".pyc")) and os.path.isfile(word)), ""
    )
    if script:
        return os.path.dirname(os.path.realpath(script))
    return "" if python else "-"


def _after_options(words: list[str]) -> tuple[list[str], str | None]:
    """The first word that is no option of Python's; and the folder, where an option decides it."""
    while words and words[0].startswith("-") and words[0] not in ("-", "--"):
        option = words.pop(0)
        if option[1] != "-" and set(option) & set("IP"):
            return [], "-"
        if option[1] in "cm" or "c" in option[1:].lstrip("BbdEiOqRsSuvx")[:1]:
            return [], ""
        if option in ("-W", "-X", "--check-hash-based-pycs") and words:
            words.pop(0)
    return words[:1], None


_ASKS = re.compile(
    r"\bcuda\b|['\"/]gpu\b|list_physical_devices|CUDAExecutionProvider"
    r"|devices\(['\"](?:gpu|cuda)|\bcupy\b|is_gpu_available",
    re.IGNORECASE,
)
_TEXT = 1 << 20
_IMPORTS = re.compile(r"(?:^|; ?)(?:from (\w+)|import ([\w., ]+))", re.MULTILINE)
_FRAMEWORKS = frozenset(
    {"torch", "tensorflow", "keras", "jax", "onnxruntime", "cupy", "numba", "paddle", "mxnet"}
    | {"ctranslate2"}
)


def wanted_gpu(argv: Sequence[str]) -> CodeLine | None:
    """The line of a Python program's own text that asks for a GPU; None where none does."""
    name, text = _own_text(argv)
    for number, line in enumerate(text.splitlines(), 1):
        if _ASKS.search(line.partition("#")[0]):
            return CodeLine(name, number)
    return None


def imported(argv: Sequence[str]) -> tuple[str, ...]:
    """The frameworks that a Python program's own text imports at its margin: it needs them."""
    found = _IMPORTS.findall(_own_text(argv)[1])
    several = (name for one, more in found for name in (one, *more.split(",")))
    names = {re.split(r"[. ]", name.strip())[0] for name in several}
    return tuple(sorted(names & _FRAMEWORKS))


def _own_text(argv: Sequence[str]) -> tuple[str, str]:
    """The name and the text of the Python program in a command."""
    if "-c" in argv[:-1] and os.path.basename(argv[0]).startswith("python"):
        return "its text", argv[argv.index("-c") + 1]
    path = next((word for word in argv[1:] if word.endswith(".py") and os.path.isfile(word)), "")
    return os.path.basename(path), _text(path) if path else ""


def _text(path: str) -> str:
    try:
        fd = regular(path)
    except OSError:
        return ""
    with os.fdopen(fd, "rb") as file:
        return file.read(_TEXT).decode("utf-8", "replace")
