"""The package that a requirement names, for what is left of version 0."""

from __future__ import annotations

import re


def name_of(requirement: str) -> str:
    """The distribution that a requirement names, normalised."""
    name = re.match(r"[A-Za-z0-9._-]+", requirement.strip())
    return re.sub(r"[-_.]+", "-", name[0]).lower().rstrip("-") if name else ""
