"""Strings that try to leave their place in a page, and answers that hold them wherever a string can stand."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from tests.page import forms

CALL = "window.pwned=1"
_BREAKS = (
    "",
    '"',
    "'",
    "-->",
    "</title>",
    "</style>",
    "</script>",
    "</textarea>",
    "]]>",
    "</svg>",
    "</pre>",
    "`",
    "\\'",
    "%00",
    "</summary>",
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
    "\u202egnp.exe\u202c",
    "\u2066abc\u2069",
    "\x00<script>",
    "\ufeff<script>",
    "<\x00script>",
    "&lt;script&gt;",
    "&#60;script&#62;",
    "<scr\nipt>",
    "＜script＞",
    "<!--",
    "<![CDATA[",
    "{{7*7}}",
    "${7*7}",
    "<%= 7 %>",
    "\ud800",
    "a" * 5000,
    "<" * 3000,
    "שלום/עולם",
    "onload=alert(1)",
    " onmouseover=alert(1) x=",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
)
STRINGS: tuple[str, ...] = (*(a + b for a, b in itertools.product(_BREAKS, _TAGS)), *_ODD)


def planted() -> Iterator[tuple[Any, str]]:
    """Answers with every string replaced, one injection after the other, until all have been used in each form."""
    for values, log in ((forms.lean(values), log) for values, log in forms.small().values()):
        turn = itertools.cycle(STRINGS)
        for _ in range(4):
            yield _filled(values, turn), "\n".join(next(turn) for _ in range(250)) if log else ""


def _filled(value: Any, turn: Iterator[str], name: str = "") -> Any:
    if isinstance(value, dict):
        return {k: _filled(v, turn, k) for k, v in value.items()}
    if isinstance(value, list):
        return [_filled(one, turn) for one in value]
    keeps = name in ("schema", "state", "mark", "role", "outcome", "status", "kind")
    return value if keeps or not isinstance(value, str) else next(turn)
