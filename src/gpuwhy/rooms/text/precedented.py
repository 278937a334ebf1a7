"""Precedented: what cured others whose program said the same, as fixes for the place that a text is from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from msgspec import structs

from gpuwhy.knowledge.precedents import alike
from gpuwhy.knowledge.prompts import WindowsShell, windows_shell
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.deeds import only_looks
from gpuwhy.model.precedent import Alike, Kind
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.inside_wsl import inside_wsl
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.ways import tried

MOST = 2
"""Precedents that are told of."""
_TYPED = {
    "linux": on.linux, "host": on.host, "engine": on.engine, "driver": on.driver, "wsl": on.wsl, "across": on.across,
    "cmd": on.cmd, "powershell": on.powershell, "code": on.code, "dockerfile": on.dockerfile,
}  # fmt: skip
_PROMPTS: frozenset[Kind] = frozenset({"cmd", "powershell"})
_SHELLS: frozenset[Kind] = frozenset({"linux", "host", "engine", "driver", "wsl"})
_THEN: Mapping[Kind, str] = {
    "code": "Then, in the program", "dockerfile": "Then, in the Dockerfile", "across": "Then, in Windows",
    "host": "Then, on the machine itself", "engine": "Then, on the machine that starts containers",
}  # fmt: skip


def precedented(cause: str, case: Asked) -> tuple[tuple[Fix, ...], ...]:
    """The cures of the precedents that a text is like and that had this cause, the closest first, each with its steps.

    The closest for a text from Windows is Windows' own: the gate puts such before what is for everywhere, and leaves its steps together.
    """
    found = [one for one in alike(_whole(case)) if one.row.cause == cause and _is_for(one, case)][:MOST]
    cures = [tuple(_fixes(one, case)) for one in found]
    if case.windows and cures:
        cures[0] = tuple(structs.replace(fix, text=on.in_windows(fix.text)) for fix in cures[0])
    return tuple(cures)


def decisive(cause: str, case: Asked) -> bool:
    """Whether the closest precedent of this cause says that nothing else of it helps."""
    found = next((one for one in alike(_whole(case)) if one.row.cause == cause and _is_for(one, case)), None)
    return found is not None and found.row.only


def _whole(case: Asked) -> str:
    """The text's beginning and end, with the deciding lines where they are of neither."""
    inside = all(one in case.reading.excerpt for _, one, _ in case.behind)
    return case.reading.excerpt if inside else case.text


_LINUX = Later(
    r"\.so\b|and-cuda|jax\[cuda|\bsudo\b|\bapt\b|\bldconfig\b|LD_LIBRARY_PATH|/(?:usr|etc|dev|proc|sys|var|opt)/|ulimit|\$[A-Z_]+|which nv"
)
_WINDOWS = Later(r"(?i)\.dll\b|\b[a-z]:\\|%\w+%|\bMSVC\b|paging file")


_FOR_NVIDIA = Later(r"download\.pytorch\.org/whl/(?:nightly/)?cu1|--torch-backend")
_NO_PYTHON = frozenset({"dotnet", "native"})
_OF_LLAMA = Later(r"(?<!\w)-(?:ngl|ctk|fa)\b")
_OWN_OPTIONS = frozenset({"ollama", "lmstudio"})
"""Programs on llama.cpp that take none of its options."""


def _is_for(one: Alike, case: Asked) -> bool:
    """Whether a cure is in the words of the system that the text is from, and of Compose where that speaks."""
    if "compose" in case.tools and any(command.startswith("docker run") for _, command in one.row.run):
        return False
    if case.windows and one.row.run and not _here(one.row.run, case):  # all that it says to type is another system's
        return False
    if case.tools & _NO_PYTHON and any(kind == "code" or command.startswith("pip ") for kind, command in one.row.run):
        return False
    return not (_LINUX if case.windows else _WINDOWS).search(one.row.do) and not _of_another_program(one, case)


def _of_another_program(one: Alike, case: Asked) -> bool:
    """Whether a cure is for another maker's card, or in options that the program which speaks does not take."""
    if "other_card" in case.tools and any(_FOR_NVIDIA.search(command) for _, command in one.row.run):
        return True
    return bool(_OF_LLAMA.search(one.row.do)) and any(program.name in _OWN_OPTIONS for program in case.programs)


def _fixes(one: Alike, case: Asked) -> Iterator[Fix]:
    """The sentence with its first commands; those for another place follow as its second step."""
    text = one.filled(one.row.do).rstrip(".")
    runs = _into_wsl(one.row.run) if case.windows else one.row.run
    steps = [(kind, _joined(kind, one, list(parts))) for kind, parts in groupby(_here(runs, case), _kind)]
    yield _fix(text, steps[0][1] if steps else "")
    for kind, command in steps[1:]:
        yield _fix(_THEN.get(kind, "Then"), command)


_BY_PIP = Later(r'^(?:python3? -m )?pip3? install (?:-U |--upgrade )?"?(?P<package>[A-Za-z][\w.-]*(?:\[[\w,-]+\])?)"?$')
_GETS_WSL = Later(r"^wsl --install\b")


def _into_wsl(runs: Sequence[tuple[Kind, str]]) -> Sequence[tuple[Kind, str]]:
    """What follows the installation of WSL is typed inside of it, not at Windows' prompt."""
    found = _BY_PIP.search(runs[1][1]) if len(runs) > 1 and _GETS_WSL.search(runs[0][1]) else None
    return [("across", str(inside_wsl("env", found["package"]))), *runs[2:]] if found else runs


def _fix(text: str, command: str) -> Fix:
    root = "sudo" in command and not only_looks(command)  # to look, who may not leaves it
    return tried(text, command, safe=not root, root=root)


def _kind(run: tuple[Kind, str]) -> Kind:
    return run[0]


def _joined(kind: Kind, one: Alike, runs: Sequence[tuple[Kind, str]]) -> str:
    """Commands of one kind, a line each, typed."""
    lines = "\n".join(one.filled(command) for _, command in runs)
    return _TYPED[kind](lines) if kind in _TYPED else lines


def _at_prompt(runs: list[tuple[Kind, str]], prompt: WindowsShell) -> list[tuple[Kind, str]]:
    """Of commands for both of Windows' shells those of the one that is told, else of cmd."""
    if not {kind for kind, _ in runs} >= _PROMPTS:
        return runs
    other: Kind = "cmd" if prompt == "powershell" else "powershell"
    return [run for run in runs if run[0] != other]


def _here(runs: Sequence[tuple[Kind, str]], case: Asked) -> list[tuple[Kind, str]]:
    """The commands that the system of the text has; beside those of a Unix shell the portable ones are so too."""
    others = _SHELLS if case.windows else _PROMPTS
    kept = _at_prompt([run for run in runs if run[0] not in others], windows_shell(case.text))
    unix = any(kind == "linux" for kind, _ in kept)
    return [("linux", command) if unix and kind == "any" else (kind, command) for kind, command in kept]
