"""What a table of nvidia-smi in a text shows: each card's memory, and the processes that hold it."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from gpuwhy.rooms.text.later import Later

_CARD = Later(r"^\s*\|\s+(\d{1,2})\s+\S.*\|.*\|.*\|")
_MEMORY = Later(r"(\d+) ?MiB */ *(\d+) ?MiB")
_HOLDER = Later(r"^\s*\|\s+(\d{1,2})(?:\s+N/A\s+N/A)?\s+(\d{2,8})\s+[CGM+]{1,4}\s+(\S.*?)\s+(\d+) ?MiB\s*\|", re.MULTILINE)  # fmt: skip


class Card(msgspec.Struct, frozen=True):
    """One card's memory in MiB."""

    index: int
    used: int
    total: int


class Holder(msgspec.Struct, frozen=True):
    """A process that holds memory, in MiB."""

    gpu: int
    pid: int
    name: str
    used: int


def cards(text: str) -> Iterator[Card]:
    """The cards of the table, each with the memory in its second line."""
    index = -1
    for line in text.splitlines():
        memory = _MEMORY.search(line)
        if memory and index >= 0:
            yield Card(index, int(memory[1]), int(memory[2]))
            index = -1
        elif found := _CARD.match(line):
            index = int(found[1])


def holders(text: str) -> Iterator[Holder]:
    """The processes of the table."""
    for gpu, pid, name, used in (one.groups() for one in _HOLDER.finditer(text)):
        yield Holder(int(gpu), int(pid), name, int(used))
