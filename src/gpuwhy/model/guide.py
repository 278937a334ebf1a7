"""Guide: the answer to a complaint or a question in plain words, where no message of a program decides."""

from __future__ import annotations

import msgspec


class Way(msgspec.Struct, frozen=True):
    """One likely cause, and how a reader sees that it is the one."""

    cause: str
    tell: str  # the sentence that completes "it is this if": "this prints None"
    command: str = ""  # what to run to see it
    windows: str = ""  # the same there, where it is another
    seen: bool = False  # it is so on this machine, and `tell` says why
    fix: str = ""  # what to do then, where the cause's own remedies say something else


class Next(msgspec.Struct, frozen=True):
    """A command to go on with, and what it gives."""

    command: str
    gives: str


class Guide(msgspec.Struct, frozen=True):
    """What was understood, the likely causes (most common first) with their tests, and how to go on."""

    topic: str
    about: str  # the headline
    ways: tuple[Way, ...] = ()
    next: tuple[Next, ...] = ()
    note: str = ""  # what is worth knowing whatever the cause is
    here: str = ""  # what gpuwhy sees on this machine
