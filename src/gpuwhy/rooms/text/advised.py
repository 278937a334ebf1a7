"""Advised: what a message itself says to set, to pass or to install, as a remedy: the program knows its own switches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.shown import unprompted, variables
from gpuwhy.rooms.text.ways import tried

_VERB = r"(?<!found, )\b(?:set|setting|use|using|try|pass|passing|specify|specifying|add|adding|enable|disable|run|export|install|please|consider|supply|provide|start)\b"
_ADVICE = Later(rf"{_VERB}[^\n]{{0,200}}", re.IGNORECASE)
_VARIABLE = re.compile(r"(?<![\w/.-])([A-Z][A-Z0-9]*_[A-Z0-9_]+) ?= ?[\"'`]?([\w.:/,+-]*[\w/])")
_KEYWORD = re.compile(r"[`'\"]?(?<![\w.-])([a-z]\w*_\w+ ?= ?(?:True|False|None|\d[\d.]*|'\w+'|\"\w+\"))\b")
_OPTION = re.compile(
    r"(?:[`'\"]|\b(?:use|using|pass|passing|add|adding|specify|with|set|try|without|flag|option|argument|by) )(--[a-z][a-z0-9-]*[a-z0-9](?:=[\w.:-]+)?)(?![\w-])"
)
_AGAINST = re.compile(r"\b(?:not (?:us|pass|add|sett|specify)ing|(?:do not|don't) (?:use|pass|add|set|specify)|avoid(?:ing)?|remov(?:e|ing)|omit(?:ting)?|dropp?(?:ing)?) [`'\"]?--[\w-]+")  # fmt: skip
"""An option that the message says to leave out."""
_INSTALL = re.compile(r"((?:pip3?|python3? -m pip|conda|mamba) install (?:-\S+ )*[\w\[\]\"'.,=<>~-]*[\w\]\"'])")
_ONLY_LOOKS = re.compile(
    r"DEBUG|VERBOSE|LOG|BLOCKING|_DSA|TRACE|FULL_ERROR|HYDRA|DUMP|PROFIL|SHOW_|STACK|ONEDNN_OPTS|MIN_LOG|TOKENIZERS"
    r"|ALLOC_CONF|TF_GPU_ALLOCATOR|DUPLICATE_LIB|WARN|traceback|--help|--verbose|--version|--debug|disable[-_]nan"
    r"|SKIP_CUDA|trust|force_download|local_files|suppress|skip-torch|--pre\b|ignore-installed|break-system"
    r"|__version__|index-url|gpus\b|--user\b",
    re.IGNORECASE,
)
"""What shows more, hides a warning or loosens a check mends nothing."""
_NAMED = re.compile(r"environment variable[s:]? [`'\"]?([A-Z][A-Z0-9]*_[A-Z0-9_]+)\b(?! ?=)")
_STARTS = re.compile(r"\b(?:docker|podman) run\b")
_MOST = 2


def advised(case: Asked, known: Sequence[Fix]) -> Iterator[Fix]:
    """The advice of the deciding messages and of the ending, as far as no remedy says the same."""
    advice = _advice(case)
    yield from _built_anew(case, known)
    told = " ".join(f"{fix.text} {fix.command}" for fix in known[:_MOST])
    if fresh := _settings(advice, told, variables(case.text)):
        settings = " ".join(f"{name}={value}" for name, value in fresh[:_MOST])
        yield tried(f"Set what the message itself names ({settings}), before the program starts", f"export {settings}")
        return
    yield from _in_code(advice, told)
    named = [one for one in _NAMED.findall(advice) if one not in told and not _ONLY_LOOKS.search(one)]
    if named:
        yield tried(f"Set the variable that the message itself names, {named[0]}, to what it asks for, before the program starts")  # fmt: skip


_REBUILD = Later(r"\b(?:re-?install|re-?build|re-?compile|build|compile|install) (?P<name>[A-Za-z][\w-]{2,30}) with (?P<flags>[A-Z][A-Z0-9]*_[A-Z0-9_]+=\w+)")  # fmt: skip


def _built_anew(case: Asked, known: Sequence[Fix]) -> Iterator[Fix]:
    """A package that the message says to build again with a variable: past pip's cache, over the one that is there."""
    found = _REBUILD.search(f"{case.lines}\n{case.reading.ending.message}")
    if found and not any(found["flags"] in fix.command for fix in known):
        name = found["name"].lower()
        yield tried(f"Build {found['name']} again as the message itself says, with what it was built without installed first, and a compiler and cmake there; where that stops, its output names what is missing", f"{found['flags']} pip install --no-cache-dir --force-reinstall --no-deps --verbose {name}")  # fmt: skip


def _advice(case: Asked) -> str:
    """What follows a word of advice in the program's own lines; nobody's commands."""
    said = unprompted(f"{case.lines}\n{case.reading.ending.message}")
    lines = "\n".join(line for line in said.splitlines() if not _STARTS.search(line))
    return _AGAINST.sub("", "\n".join(found[0] for found in _ADVICE.finditer(lines)))


def _settings(advice: str, told: str, held: Mapping[str, str]) -> list[tuple[str, str]]:
    """The variables with their values that are advised, and neither set nor told yet."""
    pairs = dict.fromkeys((name, value) for name, value in _VARIABLE.findall(advice) if not _ONLY_LOOKS.search(name))
    fresh = [(name, value) for name, value in pairs if name not in told and held.get(name) != value]
    return [(name, value) for name, value in fresh if value.lower() != "cpu"]  # it would only hide the failure


def _in_code(advice: str, told: str) -> Iterator[Fix]:
    """An argument, an option or a package that is named."""
    for words, sentence in ((_KEYWORD, "Pass the argument that the message itself names"), (_OPTION, "Start the program with the option that the message itself names")):  # fmt: skip
        found = [one for one in dict.fromkeys(words.findall(advice)) if not _ONLY_LOOKS.search(one)]
        if found and not any(re.split("[= ]", one)[0] in told for one in found):
            yield tried(f"{sentence}: {' and '.join(found[:_MOST])}", on.code(", ".join(found[:_MOST])))
            return
    package = next((one.strip("\"'") for one in _INSTALL.findall(advice)), "")
    if package and package.split()[-1] not in told and not _ONLY_LOOKS.search(package):
        yield tried("Install what the message itself names", package)
