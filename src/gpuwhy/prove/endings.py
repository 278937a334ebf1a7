"""Two endings compared, and an ending in words."""

from __future__ import annotations

import re

from gpuwhy.log.ending import Ending

_PATH = re.compile(r"(?:[A-Za-z]:)?(?:[\\/][\w.+@~-]+)+[\\/]([\w.+@~-]+)")
_NUMBER = re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-f]{12,}\b|\d+(?:[.:]\d+)*")


def said(ending: Ending) -> str:
    """The type and the message: "KeyError: 'x'"."""
    parts = (ending.type, ending.message)
    return ": ".join(part for part in parts if part)


def name(ending: Ending) -> str:
    """The type without its modules."""
    return ending.type.rpartition(".")[2]


def owner(ending: Ending) -> str:
    """Whose code raised it: "user", "python" or a package; "" where no frame is shown."""
    return ending.frame.owner if ending.frame else ""


def place(ending: Ending) -> tuple[str, str]:
    """The name of the file and of the function where it was raised; empty where none is shown."""
    frame = ending.frame
    if frame is None:
        return "", ""
    return frame.file.replace("\\", "/").rpartition("/")[2], frame.function


def alike(one: Ending, other: Ending) -> bool:
    """Whether two runs ended the same way: kind, type, place, and message but for numbers and
    paths.
    """
    return _essence(one) == _essence(other)


def _essence(ending: Ending) -> tuple[object, ...]:
    if ending.kind == "exit":  # its message is only what happened to be printed last
        return (ending.kind, ending.exit_code)
    message = _NUMBER.sub("#", _PATH.sub(r"\1", ending.message.split("\n", 1)[0]))[:300]
    return (ending.kind, name(ending), message, *place(ending))
