"""How the search for a library goes: what each place gave, where it ended, what stays missing."""

import msgspec

from gpuwhy.facts.fact import Absent, Fact, Known, Source, Unknown
from gpuwhy.facts.libraries import Flaw
from gpuwhy.facts.loads import Found, Outcome, Rule


class Met(msgspec.Struct, frozen=True):
    """What a loader does with the file at one place, and what is wrong with that file."""

    outcome: Outcome
    flaw: Flaw = Flaw.NONE
    note: str = ""  # for people

    def __str__(self) -> str:
        return f"{self.outcome.value}: {self.note}" if self.note else self.outcome.value


FOUND, NOT_THERE = Met(Outcome.FOUND), Met(Outcome.NOT_THERE)


def flaw_of(unread: Unknown, size: int) -> Flaw:
    """What is wrong with a file whose headers could not be read."""
    if unread.kind == "denied":
        return Flaw.UNREADABLE
    if not size:
        return Flaw.EMPTY
    return Flaw.TRUNCATED if unread.kind == "cut" else Flaw.FOREIGN


def other(words: str) -> Found:
    """Found in a way that only one program has."""
    return Found(Rule.OTHER, words)


class Tried(msgspec.Struct, frozen=True):
    """One place that was looked at, by which rule."""

    path: str
    rule: Found
    met: Met


class Located(msgspec.Struct, frozen=True):
    """The end of a search: the file, how it was found, and everything tried on the way."""

    name: str
    path: Fact[str]  # Unknown: a file that stops the search, or a place we could not read
    rule: Found
    tried: tuple[Tried, ...]


class Library(msgspec.Struct, frozen=True):
    """One file in a process: the name asked for, the path opened, how it was found, who asked."""

    name: str
    path: str
    real: str
    rule: Found
    needed_by: str
    needs: tuple[str, ...]  # the libraries that the file names


class Missing(msgspec.Struct, frozen=True):
    """A library that the loader does not find, or finds damaged."""

    name: str
    needed_by: str
    tried: tuple[Tried, ...]
    refused: Tried | None = None  # the file that was there and not taken

    @property
    def met(self) -> Met:
        """What became of the file that was there."""
        return self.refused.met if self.refused else NOT_THERE


def ended(name: str, tried: tuple[Tried, ...]) -> Located:
    """A search that ended at the last place tried."""
    last = tried[-1]
    if last.met == FOUND:
        source = Source("file", last.path, str(last.rule))
        return Located(name, Known(last.path, source), last.rule, tried)
    if last.met == NOT_THERE:
        return Located(name, Absent(Source("file", last.path)), other(""), tried)
    return Located(name, Unknown(f"{last.path} {last.met}"), last.rule, tried)


def missing(located: Located, by: str, *refusals: Outcome) -> Missing:
    """What a search in vain leaves: the first file with one of these outcomes, or nothing."""
    met = (one for kind in refusals for one in located.tried if one.met.outcome is kind)
    return Missing(located.name, by, located.tried, next(met, None))
