"""Makefiles: the recipe of each target, as a script of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from gpuwhy.lint import builds, scripts
from gpuwhy.lint.sheet import Environment, Sheet

_SET = re.compile(r"^(?:export\s+)?([A-Za-z_]\w*)\s*(?:[:?]{0,2}=)\s*(.*?)\s*$")
_TARGET = re.compile(r"^([\w.%/ $(){}-]+?)\s*::?(?!=)")
_USED = re.compile(r"\$\((\w+)\)|\$\{(\w+)\}")
_DEPTH, _LENGTH = 8, 5_000
_WRAPPED = "nvidia-docker"


def read(path: str, text: str) -> Sheet:
    """Recipes, each target an environment; variables of make replaced by what the file sets."""
    sheet = Sheet(path, "makefile")
    lines = text.replace("\r\n", "\n").split("\n")
    known = _variables(lines)
    sheet.environments.append(Environment(path, system="linux"))
    for number, line in enumerate(lines, 1):
        set_here = _SET.match(line) if _WRAPPED in line and not line.startswith("\t") else None
        if set_here:  # said where it is set, not where it is used
            scripts.fill(sheet, set_here[2][set_here[2].index(_WRAPPED) :] + " run", number, {})
            known.pop(set_here[1], None)
    for start, recipe in _recipes(lines):
        sheet.environments.append(Environment(path, system="linux"))
        scripts.fill(sheet, expand(recipe, known), start, {})
    builds.join(sheet)
    return sheet


def _variables(lines: list[str]) -> dict[str, str]:
    """What is set, the last value of each."""
    found = (_SET.match(line) for line in lines if not line.startswith("\t"))
    return {one[1]: one[2] for one in found if one}


def _recipes(lines: list[str]) -> Iterator[tuple[int, str]]:
    """The recipe of each target, with the line that it starts on; `@` and `-` before a command are make's."""
    held: list[str] = []
    start, inside = 0, False
    for number, line in enumerate([*lines, "end:"], 1):
        recipe = inside and line.startswith(("\t", "        "))
        if recipe or (held and not line.strip()):
            start = start or number
            held.append(re.sub(r"^\s*[@+-]+\s*", "", line).strip() if recipe else "")
            continue
        if held:
            yield start, "\n".join(held)
        held, start = [], 0
        inside = bool(_TARGET.match(line)) or (inside and line.startswith("#"))


def expand(text: str, known: Mapping[str, str]) -> str:
    """Variables of make by their values, `$$` by the shell's; what is not set stays."""
    for _ in range(_DEPTH):
        replaced = _USED.sub(lambda one: known.get(one[1] or one[2], one[0])[:_LENGTH], text)
        if replaced == text or len(replaced) > 100 * _LENGTH:
            break
        text = replaced
    return re.sub(r"\$\((\w+)\)", r"${\1}", text).replace("$$", "$")
