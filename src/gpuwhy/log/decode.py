"""Decode: raw bytes become bytes near UTF-8, in pieces that stay small whatever a gzip hides."""

import codecs
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress

BLOCK = 1 << 20
"""Bytes that are handled at a time."""
HEAD = 4096
"""Bytes by which an encoding is recognised."""
MOST, RATIO = 1 << 29, 200
"""A gzip that grows beyond MOST bytes at more than RATIO to one is no log."""
BINARY = "binary data"
_GZIP = b"\x1f\x8b"
_CONTROL = bytes({*range(32)} - {*b"\t\n\v\f\r\b\a\x1b"})
_PROGRAMS = (b"\x7fELF", b"MZ", b"PK\x03\x04")


class Decoder:
    """Undoes gzip and UTF-16, decided on the first bytes; `notes` says what it met."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.stopped = False
        self._unzip: zlib._Decompress | None = None
        self._wide: codecs.IncrementalDecoder | None = None
        self._started = False
        self._taken = self._made = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The next bytes, decoded."""
        if not self._started and data:
            self._start(data)
            data = data.removeprefix(codecs.BOM_UTF8)
        if self._unzip is None:
            for start in range(0, len(data), BLOCK):
                yield self._narrow(data[start : start + BLOCK])
            return
        self._taken += len(data)
        while data and not self._unzip.eof and not self.stopped:
            try:
                piece = self._unzip.decompress(data, BLOCK)
            except zlib.error as error:
                self._stop(f"the gzip data is damaged ({error}); what came before it was read")
                return
            self._made += len(piece)
            data = self._unzip.unconsumed_tail
            rest = self._unzip.unused_data
            if self._unzip.eof and rest.startswith(_GZIP):  # several are joined
                self._unzip, data = zlib.decompressobj(31), rest
            yield self._narrow(piece)
            if self._made > MOST and self._made > RATIO * self._taken:
                size = f"{self._made >> 20:,} MiB"
                self._stop(f"the gzip data is no log: reading stopped after {size} of it")

    def _stop(self, note: str) -> None:
        self.notes.append(note)
        self.stopped = True

    def _start(self, data: bytes) -> None:
        self._started = True
        head = data[:HEAD]
        if head.startswith(_GZIP):
            self.notes.append("gzip")
            self._unzip = zlib.decompressobj(31)
            head = b""
            with suppress(zlib.error):  # `feed` tells of what is damaged
                head = zlib.decompressobj(31).decompress(data, HEAD)
        # UTF-16, by its mark or by zeros at every second place
        even, odd = (head[at::2].count(0) * 2 / max(4, len(head)) for at in (0, 1))
        name = ""
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            name = "utf-16"
        elif min(even, odd) < 0.1 and max(even, odd) > 0.6 and not head.startswith(_PROGRAMS):
            name = "utf-16-le" if odd > even else "utf-16-be"
        if name:
            self.notes.append("UTF-16")
            self._wide = codecs.getincrementaldecoder(name)("replace")
            return
        head = head.strip(b"\0")  # a log that was cut off may begin with zeros
        strange = len(head) - len(head.translate(None, _CONTROL))
        if head.startswith(_PROGRAMS) or (b"\0" in head and strange * 20 > len(head)):
            self.notes.append(BINARY)

    def _narrow(self, data: bytes) -> bytes:
        text = self._wide.decode(data).encode("utf-8", "replace") if self._wide else data
        return text.replace(b"\0", b"")


def decoded(chunks: Iterable[bytes], decoder: Decoder) -> Iterator[bytes]:
    """All pieces of a text, decoded."""
    for chunk in chunks:
        yield from decoder.feed(chunk)
        if decoder.stopped:
            return
