"""Words that many sentences share."""

from __future__ import annotations

import re


def and_more(count: int, told: int) -> str:
    """ " and 3 more" where not all are told; else nothing."""
    return f" and {count - told} more" if count > told else ""


def normal(name: str) -> str:
    """A package's name as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()
