"""How a child ended, as the last line of what it said: words for people, values for those who decide by them."""

from __future__ import annotations

import re
from typing import Any

from gpuwhy.border.child import OUT_OF_TIME, End

_WORDS = re.compile(
    r"(?:died by signal (?P<signal>\d{1,4})|(?P<late>ran out of time)|ended with code (?P<code>-?\d{1,19})"
    r"|(?P<why>took more than [\w ]+))(?:: (?P<last>.*))?$",
    re.DOTALL,
)


def ended(name: str, end: End, last: str) -> dict[str, Any]:
    """The line for a child that did not end well, with the last line of its errors."""
    words = f"{name} {end.words}{f': {last}' if last else ''}"
    late = end.why == OUT_OF_TIME
    return {"ended": words, "how": {"code": end.code, "late": late, "why": "" if late else end.why, "last": last}}


def of_words(words: str) -> dict[str, Any]:
    """The same where only the words were kept: an Unknown's reason, a recording from before there were values."""
    found = _WORDS.search(words)
    if found is None:
        return {"ended": words, "how": {}}
    code = -int(found["signal"]) if found["signal"] else int(found["code"]) if found["code"] else None
    late, why, last = found["late"] is not None, found["why"] or "", found["last"] or ""
    return {"ended": words, "how": {"code": code, "late": late, "why": why, "last": last}}
