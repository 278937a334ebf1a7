"""The limits of each of host/children, and what is kept of what they say."""

from __future__ import annotations

from gpuwhy.border.child import End, Limits, collect

__all__ = ["End", "Limits", "collect", "limits_of", "middle_cut"]

CALL_SECONDS = 8.0

_OF_CHILD = {
    "probe": Limits(40.0, 6 << 30, keeps_errors=True),
    "starts": Limits(30.0),
    "imports": Limits(400.0),
    "framework": Limits(120.0, 16 << 30, keeps_errors=True),
}
"""Children that load libraries of hundreds of megabytes and talk to a GPU; the others answer in milliseconds."""


def limits_of(child: str) -> Limits:
    """The limits of one of host/children."""
    return _OF_CHILD.get(child) or Limits(CALL_SECONDS)


def middle_cut(text: str, most: int) -> str:
    """The head and the tail of a long text, cut at lines."""
    if len(text) <= most:
        return text
    head, tail = text[: most // 2], text[-most // 2 :]
    return head[: head.rfind("\n") + 1] + "[…]\n" + tail[tail.find("\n") + 1 :]
