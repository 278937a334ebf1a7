"""A cause's page in the terminal: its paragraphs and lists folded to the width, commands and code left whole."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.render.terminal import Paper, plain

_ITEM = re.compile(r"( *(?:[-*]|\d+\.) +)(.*)")
_CODE = re.compile(r"`[^`]+`")
_AS_IT_IS = ("#", "|", "    ", ">")
_MESSAGES = "## What you see"
_GLUE = "\x1f"


def render(text: str, paper: Paper) -> str:
    """The whole page; of long messages, unlike commands, the words are folded too."""
    return plain("\n".join(_lines(text, paper)) + "\n", paper)


def _lines(text: str, paper: Paper) -> Iterator[str]:
    held: list[str] = []
    fenced = messages = False
    for line in text.rstrip().splitlines():
        fence = line.startswith("```")
        apart = fenced or fence or not line or line.startswith(_AS_IT_IS)
        if held and (apart or _ITEM.match(line)):
            yield from _folded(held, paper, messages)
            held = []
        if apart:
            yield line
        else:
            held.append(line)
        fenced ^= fence
        messages = line == _MESSAGES if line.startswith("## ") else messages
    if held:
        yield from _folded(held, paper, messages)


def _folded(lines: list[str], paper: Paper, messages: bool) -> list[str]:
    """One paragraph or item, with a hanging indent."""
    item = _ITEM.match(lines[0])
    indent, first = (item[1], item[2]) if item else ("", lines[0])
    text = " ".join([first, *(line.strip() for line in lines[1:])])
    room = paper.width - len(indent) if messages else 1 << 30

    def glued(code: re.Match[str]) -> str:
        return code[0].replace(" ", _GLUE) if len(code[0]) < room else code[0]

    return [line.replace(_GLUE, " ") for line in paper.wrap(_CODE.sub(glued, text), indent, " " * len(indent))]
