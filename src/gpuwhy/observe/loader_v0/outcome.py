"""How the search for a library goes: what each place gave, where it ended, and what stays missing."""

from __future__ import annotations

import msgspec

from gpuwhy.model.fact import Absent, Fact, Known, Source, Unknown
from gpuwhy.model.facts import Fate


class Outcome(msgspec.Struct, frozen=True):
    """The fate of one file, and in words why."""

    fate: Fate
    note: str = ""

    def __str__(self) -> str:
        return f"{self.fate.value}: {self.note}" if self.note else self.fate.value


FOUND, NOT_THERE = Outcome(Fate.FOUND), Outcome(Fate.NOT_THERE)


class Tried(msgspec.Struct, frozen=True):
    """One place that was looked at."""

    path: str
    why: str  # "RUNPATH of …", "LD_LIBRARY_PATH", "ld.so.cache", "default folder", "PATH"
    outcome: Outcome


class Located(msgspec.Struct, frozen=True):
    """The end of a search: the file, how it was found, and everything tried on the way."""

    name: str
    path: Fact[str]  # Absent: nothing found; Unknown: a file that stops the search, or a place we could not read
    via: str
    tried: tuple[Tried, ...]


class Library(msgspec.Struct, frozen=True):
    """One file in a process: the name asked for, the path opened, how it was found, who asked."""

    name: str
    path: str
    real: str
    via: str
    needed_by: str
    needs: tuple[str, ...]  # the libraries that the file names


class Missing(msgspec.Struct, frozen=True):
    """A library that the loader does not find, or finds damaged."""

    name: str
    needed_by: str
    tried: tuple[Tried, ...]
    refused: Tried | None = None  # the file that was there and not taken

    @property
    def fate(self) -> Fate:
        """That of the file."""
        return self.refused.outcome.fate if self.refused else Fate.NOT_THERE

    @property
    def why(self) -> str:
        """In words: "not found", or what is wrong with the file."""
        return str(self.refused.outcome) if self.refused else "not found"


def ended(name: str, tried: tuple[Tried, ...]) -> Located:
    """A search that ended at the last place tried."""
    path, why, outcome = tried[-1].path, tried[-1].why, tried[-1].outcome
    if outcome == FOUND:
        return Located(name, Known(path, Source("file", path, why)), why, tried)
    if outcome == NOT_THERE:
        return Located(name, Absent(Source("file", path)), "", tried)
    return Located(name, Unknown(f"{path} {outcome}"), why, tried)


def missing(located: Located, by: str, *refusals: Fate) -> Missing:
    """What a search in vain leaves: the first file with one of these fates, the graver fate first, or nothing."""
    met = (one for fate in refusals for one in located.tried if one.outcome.fate is fate)
    return Missing(located.name, by, located.tried, next(met, None))
