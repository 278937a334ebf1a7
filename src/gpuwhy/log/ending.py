"""Ending: how a program ended: what was raised and where, or which signal or status."""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal["exception", "signal", "status", "fatal", "exit", "timeout", "none"]
"""exception: Python raised it. signal: sent by the kernel. status: a program printed a failing
call. fatal: a log line that ends a process, or C++'s last words. exit: a code, and at most a last
line. timeout: it was waited for. none: nothing ended badly."""

Owner = str
"""Whose file a frame is of: "user", "python", or the package ("torch")."""


class Frame(msgspec.Struct, frozen=True):
    """One place in the stack: file, line, function, the source shown, and whose file it is."""

    file: str
    line: int = 0
    function: str = ""
    code: str = ""
    owner: Owner = "user"


class Ending(msgspec.Struct, frozen=True):
    """How a program ended; of an exception inside wrappers the inner one, with the wrappers
    beside it.
    """

    kind: Kind = "none"
    type: str = ""  # KeyError, torch.OutOfMemoryError, SIGSEGV
    message: str = ""
    stack: tuple[Frame, ...] = ()  # outermost first
    line: int = 0  # of the message, from 1; 0 where it was not printed
    first: int = 0  # the lines that belong to it: a traceback, a message of several lines
    last: int = 0
    chain: tuple[Ending, ...] = ()  # the exceptions that were raised before it, in order
    wrappers: tuple[str, ...] = ()  # the types of what it was wrapped in, outermost first
    exit_code: int | None = None
    rank: str = ""  # the process of a job that failed first, where the text shows it
    well: bool = False  # the program ended well, by its code or by its last words
    gpu: bool = False  # its words or its place have to do with the GPU stack
    own: bool = False  # a reason of its own, which what was printed before does not explain

    @property
    def name(self) -> str:
        """The type without its modules."""
        return self.type.rsplit(".", 1)[-1]

    @property
    def is_relayed(self) -> bool:
        """Whether only a launcher's word is known: that what it started ended."""
        return self.kind == "exit" and bool(self.type)

    @property
    def frame(self) -> Frame | None:
        """Where it was raised."""
        return self.stack[-1] if self.stack else None

    @property
    def user_frame(self) -> Frame | None:
        """The user's own place nearest to where it was raised."""
        return next((one for one in reversed(self.stack) if one.owner == "user"), None)

    def holds(self, line: int) -> bool:
        """Whether a line of the text is of this ending's message, or of one that it was raised
        from.
        """
        return self.line <= line <= self.last or any(one.holds(line) for one in self.chain)
