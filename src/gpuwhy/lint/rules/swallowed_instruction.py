"""An instruction of a Dockerfile that the line before it has made a part of its command."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.knowledge.tables import source
from gpuwhy.lint.dockerfile import BadDockerfileError, instructions
from gpuwhy.lint.scope import Scope
from gpuwhy.model.lint import Mistake, Place, Rule

RULE = Rule("swallowed-instruction", "error", "an instruction that belongs to the command before it")

_KNOW = source("Dockerfile reference, escape", "a line that ends in \\ goes on; empty lines and comments do not end it")
_KEYWORD = re.compile(r"\s*(RUN|COPY|ADD|ENV|WORKDIR|EXPOSE|ENTRYPOINT|CMD|USER|ARG|FROM|VOLUME)\s+\S")


def check(scope: Scope) -> Iterator[Mistake]:
    """The first RUN whose later lines begin with an instruction."""
    text = (scope.read(scope.environment.path) or "") if scope.kind == "dockerfile" else ""
    if not text or scope.environment.image is None:
        return
    try:
        runs = [one for one in instructions(text) if one.keyword == "RUN" and "<<" not in one.text]
    except BadDockerfileError:
        return
    for one in runs:
        for number, line in enumerate(one.text.split("\n")[1:], one.line + 1):
            if _KEYWORD.match(line) and not _is_quoted(one.text, number - one.line):
                name = line.split()[0]
                said = (
                    f"{name} belongs to the command of line {one.line}, whose last line ends in \\: the shell gets it"
                )
                fix = f"take the \\ before line {number} away"
                yield RULE.mistake(Place(scope.environment.path, number), said, _KNOW, fix)
                return


def _is_quoted(text: str, line: int) -> bool:
    """Whether a quotation mark is open before a line: a file that is written out."""
    before = "\n".join(text.split("\n")[:line])
    return before.count('"') % 2 == 1 or before.count("'") % 2 == 1
