"""Reasons: why an installer failed, from its own words, as a sentence with what to do."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_NETWORK = (
    "dns error", "error sending request", "name resolution", "network is unreachable", "connection refused",
    "connection reset", "connection timed out", "failed to fetch", "could not connect", "newconnectionerror",
    "network connectivity is disabled", "request failed after", "timed out", "readtimeouterror", "max retries exceeded",
    "client error (connect)", "tunnel error", "certificate",
)  # fmt: skip
_DISK = ("no space left on device", "os error 28", "errno 28", "disk quota exceeded", "os error 122")
_READ_ONLY = ("read-only file system", "os error 30", "errno 30", "permission denied", "os error 13", "errno 13")
_LACKS = re.compile(
    r"(?:no matching distribution found for|there is no version of|no version of|satisfies the requirement|"
    r"was not found in the package registry|not found in the provided package locations)",
)
_WHICH = re.compile(
    r"(?:no matching distribution found for|there is no version of|satisfies the requirement)\s+([\w.\-\[\],=<>!~+*]+)"
    r"|because\s+([\w.\-]+)\s+was not found",
    re.IGNORECASE,
)


class Reason(NamedTuple):
    """Why, in one word and in a sentence."""

    kind: Literal["disk", "lacks", "network", "closed", "contradiction", ""] = ""
    text: str = ""


def reason(said: str) -> Reason:
    """What the last words of an installer mean."""
    text = " ".join(_ESCAPES.sub("", said).split())
    low = text.lower()
    if any(words in low for words in _DISK):
        return Reason("disk", "the disk is full: make room, or choose another folder with --into")
    if any(words in low for words in _NETWORK):
        return Reason(
            "network", "the package index cannot be reached: look at the network, the proxy and the index's address"
        )
    if _LACKS.search(low):
        found = _WHICH.search(text)
        which = (found[1] or found[2] or "").rstrip(".,") if found else ""
        return Reason(
            "lacks", f"the package index does not have {which or 'a release that is asked for'} for this Python"
        )
    if any(words in low for words in _READ_ONLY):
        return Reason("closed", "a folder cannot be written to: choose another with --into")
    if "no solution found" in low or "resolutionimpossible" in low or "conflicting dependencies" in low:
        return Reason("contradiction", "the releases that are asked for contradict each other's metadata")
    return Reason()
