"""Reasons: why an installer failed, from its own words, as a sentence with what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable
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
_LACKS = (
    r"no matching distribution found for ([\w.\-\[\],=<>!~+*]+)",
    r"there (?:is|are) no versions? of ([\w.\-\[\],=<>!~+*]+)",
    r"satisfies the requirement ([\w.\-\[\],=<>!~+*]+)",
    r"([\w.\-\[\]=+]+) has no (?:usable )?wheels",
    r"([\w.\-]+) was not found in the (?:package registry|provided package locations|cache)",
    r"no usable wheels for ([\w.\-\[\]=+]+)",
)
"""How installers say that they cannot get a release; the group is its name, with or without the version."""


class Reason(NamedTuple):
    """Why, in one word and in a sentence."""

    kind: Literal["disk", "lacks", "network", "closed", "contradiction", ""] = ""
    text: str = ""
    which: str = ""  # the distribution that is not to be had


_ENDED = {
    25: Reason("", "a file would be larger than this shell lets programs write (ulimit -f)"),
    24: Reason("", "it took more processor time than this shell lets programs have (ulimit -t)"),
    9: Reason("", "the system or somebody ended it; where memory is short, the kernel does"),
}
"""Signals by their numbers on Linux, where alone repairs are carried out."""


def reason(said: str, code: int = 0) -> Reason:
    """What the last words of an installer mean, and where it has none, the signal that ended it."""
    return _ENDED.get(-code, Reason()) if code < 0 and not _told(said).text else _told(said)


def _told(said: str) -> Reason:
    text = " ".join(_ESCAPES.sub("", said).split())
    low = text.lower()
    if _holds(low, _DISK):
        return Reason("disk", "the disk is full: make room, or choose another folder with --into")
    if _holds(low, _NETWORK):
        return Reason(
            "network", "the package index cannot be reached: look at the network, the proxy and the index's address"
        )
    lacks = next((found for words in _LACKS if (found := re.search(words, text, re.IGNORECASE))), None)
    if lacks:
        which = lacks[1].rstrip(".,")
        text = f"the package index does not have {which or 'a release that is asked for'} for this Python"
        return Reason("lacks", text, which)
    if _holds(low, _READ_ONLY):
        return Reason("closed", "a folder cannot be written to: choose another with --into")
    if _holds(low, _CONTRADICT):
        return Reason("contradiction", "the releases that are asked for contradict each other's metadata")
    return Reason()


_CONTRADICT = ("no solution found", "resolutionimpossible", "conflicting dependencies")


def _holds(text: str, words: Iterable[str]) -> bool:
    return any(one in text for one in words)
