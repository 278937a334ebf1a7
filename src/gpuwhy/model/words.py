"""Words that many sentences share."""

from __future__ import annotations


def and_more(count: int, told: int) -> str:
    """ " and 3 more" where not all are told; else nothing."""
    return f" and {count - told} more" if count > told else ""
