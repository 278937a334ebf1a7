"""Strings that try to leave their place, and answers that hold them wherever a string can stand."""

import itertools
from collections.abc import Iterator
from typing import Any

import msgspec

from gpuwhy.answer.answer import Answer
from tests.answer.examples import ANSWERS

CALL = "window.pwned=1"
_BREAKS = (
    "", '"', "'", "-->", "</title>", "</style>", "</script>", "</textarea>", "]]>", "</svg>",
    "</pre>", "`", "\\'", "%00", "</summary>",
)
_TAGS = (
    f"<script>{CALL}</script>",
    f"<img src=x onerror={CALL}>",
    f"<svg onload={CALL}>",
    f"<svg><script>{CALL}</script></svg>",
    f"<iframe srcdoc='<script>parent.{CALL}</script>'></iframe>",
    f"<details open ontoggle={CALL}>",
    f"<body onload={CALL}>",
    f"<a href='javascript:{CALL}' autofocus onfocus={CALL}>x</a>",
    f"<input autofocus onfocus={CALL}>",
    "<style>*{background:url('http://evil.invalid/x')}</style>",
    f"<math><mtext><script>{CALL}</script></mtext></math>",
    "<meta http-equiv=refresh content='0;url=http://evil.invalid/'>",
    "<link rel=stylesheet href=http://evil.invalid/x.css>",
    "<base href=http://evil.invalid/>",
    "<form action=http://evil.invalid/><input name=x><button>go</button></form>",
)
_ODD = (
    "\u202egnp.exe\u202c", "\u2066abc\u2069", "\x00<script>", "\ufeff<script>", "<\x00script>",
    "&lt;script&gt;", "&#60;script&#62;", "<scr\nipt>", "＜script＞", "<!--", "<![CDATA[",
    "{{7*7}}", "${7*7}", "<%= 7 %>", "\ud800", "a" * 5000, "<" * 3000, "שלום/עולם",
    "onload=alert(1)", " onmouseover=alert(1) x=", "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
)
_TERMINAL = (
    "\x1b[2J\x1b[H gone", "\x1b]0;title\x07",
    "\x1b]8;;http://evil.invalid\x1b\\click\x1b]8;;\x1b\\", "\x9b31m", "\rrm -rf /",
    "a\x08\x08b", "one\u2028two\x85three\x0bfour", "::error file=x::owned",
    "\n::set-output name=x::y", "##[error]owned", "##vso[task.setvariable variable=x]y",
    "\U000e0041\U000e0042",
)
_MARKDOWN = (
    "```\n@octocat closes #1\n```", "````` @octocat",
    "@octocat/team closes #12 GH-34 octo/repo#56",
    "https://evil.invalid/x www.evil.invalid mailto:x@evil.invalid",
    "[click](http://evil.invalid) ![x](http://evil.invalid/x.png)",
    "<details><summary>x</summary>", "| a | b |\n| --- | --- |", "# title", "1. one", "- one",
    "===", "---", "    code", "~~~\nx\n~~~", "$$x$$",
)
STRINGS: tuple[str, ...] = (
    *(a + b for a, b in itertools.product(_BREAKS, _TAGS)),
    *_ODD,
    *_TERMINAL,
    *_MARKDOWN,
)
_KEPT = {
    "schema", "status", "verdict", "mark", "role", "kind", "id", "means", "note", "command",
    "standing", "action", "language", "manager", "what", "answers",
}  # fmt: skip
"""Fields of which gpuwhy itself chooses the words, or that decide what is drawn."""


def planted() -> Iterator[Answer]:
    """Answers with every string replaced, until each injection was used."""
    turn = itertools.cycle(STRINGS)
    for _ in range(8):
        for answer in ANSWERS.values():
            yield msgspec.convert(_filled(msgspec.to_builtins(answer), turn), Answer)


def _filled(value: Any, turn: Iterator[str], name: str = "") -> Any:
    if isinstance(value, dict):
        return {k: _filled(v, turn, "id" if name == "answers" else k) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_filled(one, turn, name) for one in value]
    typed = name == "command" and "\n" not in str(value) and " " in str(value)
    if not isinstance(value, str) or not value or (name in _KEPT and not typed):
        return value
    return next(turn)
