"""Message: a recognised line of a text, with its fields, who printed it, and how it counts."""

from enum import Enum

import msgspec

from gpuwhy.causes.schema import Role
from gpuwhy.facts.fact import Source


class Standing(Enum):
    """How a message counts in this text; given once, when the ending is known."""

    DECIDES = "decides"  # only these find a cause
    FOLLOWS = "follows"  # an earlier message explains it
    NOTED = "noted"  # the program went on, or ended for a reason of its own
    QUOTED = "quoted"  # the text only quotes it: source code, a test's expectation, a search hit
    HARMLESS = "harmless"  # looks like an error and is none; or is context


class Message(msgspec.Struct):
    """One known message in a text: which, its fields, and where it stands.

    Only log/ changes it, until the Log is made.
    """

    id: str  # "loader.cannot_open"
    line: int  # from 1
    text: str  # the line, cleaned and cut
    role: Role = "error"
    fields: dict[str, str] = {}
    standing: Standing = Standing.DECIDES
    explained_by: int = -1  # the place, in Log.messages, of the message that explains this one
    program: str = ""  # the known program of its block: "ollama"; "" = not known
    rank: str = ""  # of a job with several processes: "1", "(pid=812)"; "" = one process
    times: int = 1  # how often the same was said
    last: int = 0  # the line where it was said last, where that is another
    observed: Source | None = None  # not printed but seen: a signal, a row of the kernel log
    warning: bool = False  # its line calls itself a warning or a note
    quoted: bool = False  # it stands in a string, a comment, or among lines that a text quotes
    speakers: tuple[str, ...] = ()  # the programs that print it; empty: any

    @property
    def family(self) -> str:
        """The part of the id before the dot."""
        return self.id.split(".", 1)[0]

    @property
    def decides(self) -> bool:
        """Whether it may find a cause."""
        return self.standing is Standing.DECIDES

    @property
    def key(self) -> object:
        """What makes two of them the same message."""
        return (self.id, tuple(self.fields.items()), self.program)

    def get(self, name: str) -> str:
        """A field, "" where the message did not say it."""
        return self.fields.get(name) or ""
