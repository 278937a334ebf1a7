"""Bytes to blocks of lines: gzip, UTF-16, colours, carriage returns; never more than a block in memory."""

from __future__ import annotations

import codecs
import re
import zlib
from collections.abc import Iterator

import msgspec

BLOCK = 1 << 22
BINARY = "binary data"
OVERLAP = 1 << 12
"""A line longer than a block is cut; the pieces overlap so that a message on the cut is seen."""

_ODD = bytes({*range(32)} - {*b"\t\n\v\f\r\b\a\x1b"})
_ANSI = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[@-Z\\^_])")


class Block(msgspec.Struct, frozen=True):
    """Some lines of the text, as bytes near UTF-8, and the number of the first."""

    data: bytes
    first: int


class Decoder:
    """Undoes gzip and UTF-16, decided on the first bytes; says in `notes` what it met."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self._unzip: zlib._Decompress | None = None
        self._utf16: codecs.IncrementalDecoder | None = None
        self._started = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Turn raw bytes into bytes near UTF-8, in pieces that stay small even where gzip hides gigabytes."""
        if not self._started and data:
            self._start(data)
        if self._unzip is None:
            yield self._decoded(data)
            return
        while data and not self._unzip.eof:
            try:
                piece = self._unzip.decompress(data, BLOCK)
            except zlib.error as bad:
                self.notes.append(f"the gzip data is damaged ({bad}); what came before is read")
                return
            data = self._unzip.unconsumed_tail or self._next_member()
            yield self._decoded(piece)

    def _next_member(self) -> bytes:
        assert self._unzip is not None
        rest = self._unzip.unused_data
        if self._unzip.eof and rest.startswith(b"\x1f\x8b"):
            self._unzip = zlib.decompressobj(31)
            return rest
        return b""

    def _start(self, data: bytes) -> None:
        self._started = True
        if data.startswith(b"\x1f\x8b"):
            self.notes.append("gzip")
            self._unzip = zlib.decompressobj(31)
            data = zlib.decompressobj(31).decompress(data, 4096) if len(data) > 18 else b""
        name = _utf16(data[:4096])
        if name:
            self.notes.append("UTF-16")
            self._utf16 = codecs.getincrementaldecoder(name)("replace")
        elif _binary(data[:4096].lstrip(b"\x00")):  # a log cut while it is written begins with zeros
            self.notes.append(BINARY)

    def _decoded(self, data: bytes) -> bytes:
        return self._utf16.decode(data).encode("utf-8", "replace") if self._utf16 else data


def _binary(head: bytes) -> bool:
    """A program, an archive, or control characters all over."""
    odd = len(head) - len(head.translate(None, _ODD))
    return b"\x00" in head and (head.startswith((b"\x7fELF", b"MZ", b"PK")) or odd * 20 > len(head))


def _utf16(head: bytes) -> str:
    """The UTF-16 flavour by its mark, or by zeros at every second place; "" for anything else."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if len(head) < 4:
        return ""
    even, odd = head[::2].count(0) * 2 / len(head), head[1::2].count(0) * 2 / len(head)
    if odd > 0.6 and even < 0.1:
        return "utf-16-le"
    return "utf-16-be" if even > 0.6 and odd < 0.1 else ""


class Cutter:
    """Cuts a stream into blocks that end with a line, or with an overlap where a line is longer than a block."""

    def __init__(self) -> None:
        self.decoder = Decoder()
        self._held = b""
        self._line = 1

    def feed(self, chunk: bytes) -> Iterator[Block]:
        """The blocks that are complete with this piece."""
        for piece in self.decoder.feed(chunk):
            self._held += piece
            while len(self._held) >= BLOCK:
                cut = self._held.rfind(b"\n", 0, BLOCK) + 1
                whole = cut or BLOCK
                yield Block(plain(self._held[:whole]), self._line)
                self._line += self._held.count(b"\n", 0, whole)
                self._held = self._held[whole if cut else whole - OVERLAP :]

    def flush(self) -> Iterator[Block]:
        """What is left; a line that grows later is read again from its start."""
        if not self._held:
            return
        cut = self._held.rfind(b"\n") + 1
        yield Block(plain(self._held), self._line)
        self._line += self._held.count(b"\n")
        self._held = self._held[cut:]

    @property
    def lines(self) -> int:
        """How many lines came so far."""
        return self._line - 1 + bool(self._held)


def plain(data: bytes) -> bytes:
    """Without colours and cursor movements."""
    return _ANSI.sub(b"", data) if b"\x1b" in data else data


_PREFIX = re.compile(
    r"(?:\[rank ?\d+\]:? ?|\(\w+ pid=\d+[^)]{0,60}\) ?|\[\d+,\d+\]<std\w{3}>: ?|\[\d+\]: |\d{1,4}: {1,3}"
    r"|[\w.-]{1,60}-\d+ +\| ?|\[[\w .:/-]{4,40}\] ?|\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[.,\d]*:? ?"
    r"|[EWIF]\d{4} \d\d:\d\d:[\d.]+ +\d+ [\w./-]+:\d+\] ?"
    r"|(?:ERROR|WARNING|INFO|CRITICAL|DEBUG)[: ]+(?:\d\d-\d\d \d\d:\d\d:\d\d )?(?:[\w./-]+:\d+\])? ?)+"
)


def unprefixed(line: str) -> str:
    """A line without the rank, the process and the time in front of it."""
    match = _PREFIX.match(line)
    return line[match.end() :] if match and match.end() < len(line) else line
