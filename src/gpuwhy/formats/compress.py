"""Compressed streams, any part of which can be read in bounded memory: deflate and gzip.

Plain bytes are made in blocks of a few megabytes. The decompressor's state is kept on the way
forward, so that going back costs one block: 1 GB costs one pass and some 50 MB.
"""

import threading
import zlib
from typing import Any

from gpuwhy.formats import CutError, MalformedError, Pread

GZIP = b"\x1f\x8b"
BLOCK = 8 << 20
_INPUT = 256 << 10
_KEEP = 4  # blocks held at a time
_MOST_MARKS = 1024  # states of a decompressor, 40 KB each
_MAX_SIZE = 256 << 30
# more than 1 GB must come of 1/200 of its bytes: layers shrink to a third, bombs to a thousandth
_FREE, _DENSE = 1 << 30, 200


def inflated(pread: Pread, start: int, packed: int, size: int) -> Pread:
    """A reader of the `size` plain bytes of a deflate stream of `packed` bytes at `start`."""
    return _Deflated(pread, start, start + packed, -zlib.MAX_WBITS, size).pread


def gunzipped(pread: Pread, packed: int) -> Pread:
    """A reader of the plain bytes of a gzip file of `packed` bytes, of one or more members."""
    return _Deflated(pread, 0, packed, 16 + zlib.MAX_WBITS, None).pread


class _Deflated:
    """A deflate stream of known plain size, or gzip members up to the end of the file: in blocks,
    of which the last few are kept; a short one ends the stream.
    """

    def __init__(self, pread: Pread, start: int, end: int, form: int, size: int | None) -> None:
        self._pread, self._end, self._form, self._size = pread, end, form, size
        self._blocks: dict[int, bytes] = {}
        self._lock = threading.Lock()
        self._last = None if size is None else (size - 1) // BLOCK
        self._step = 1  # blocks from mark to mark
        # by block: where the input stands, and the decompressor there
        self._marks: dict[int, tuple[int, Any]] = {0: (start, zlib.decompressobj(form))}

    def pread(self, offset: int, size: int) -> bytes:
        """Read up to `size` bytes at `offset`; fewer at the end."""
        parts: list[bytes] = []
        with self._lock:
            while size > 0:
                number, start = divmod(offset, BLOCK)
                if number not in self._blocks:
                    self._make(number)
                part = self._blocks.get(number, b"")[start : start + size]
                if not part:
                    break
                parts.append(part)
                offset, size = offset + len(part), size - len(part)
        return b"".join(parts)

    def _make(self, number: int) -> None:
        """Inflate from the nearest mark on until the block is there, or the stream ends."""
        if self._last is not None and number > self._last:
            return
        start = max(mark for mark in self._marks if mark <= number)
        place, inflater = self._marks[start]
        inflater = inflater.copy()  # reading on changes it
        for between in range(start, number + 1):
            while len(self._blocks) >= _KEEP:
                del self._blocks[next(iter(self._blocks))]
            block, place, inflater = self._inflate(place, inflater, between * BLOCK)
            self._blocks[between] = block
            if len(block) < BLOCK:
                self._last = between
                return
            if (between + 1) % self._step == 0 and between + 1 not in self._marks:
                self._marks[between + 1] = place, inflater.copy()
            if len(self._marks) > _MOST_MARKS:
                self._step *= 2
                self._marks = {n: mark for n, mark in self._marks.items() if n % self._step == 0}

    def _inflate(self, place: int, inflater: Any, done: int) -> tuple[bytes, int, Any]:
        """The next block, shorter where the stream ends, and the state after it."""
        wanted = BLOCK if self._size is None else min(BLOCK, self._size - done)
        out = bytearray()
        while len(out) < wanted:
            if inflater.eof:
                if self._size is not None or self._pread(place, 2) != GZIP:
                    break  # what follows the last member is padding
                inflater = zlib.decompressobj(self._form)
            given = self._pread(place, min(_INPUT, self._end - place))
            try:
                part = inflater.decompress(given, wanted - len(out))
            except zlib.error as error:
                raise MalformedError(f"compressed data is damaged ({error})", place) from error
            out += part
            # at the end of a member zlib may give what is left under both names
            left = inflater.unused_data if inflater.eof else inflater.unconsumed_tail
            place += len(given) - len(left)
            if not given and not part and not inflater.eof:
                break
        if len(out) < wanted and (self._size is not None or not inflater.eof):
            what = f"compressed data is cut short after {done + len(out)} plain bytes"
            raise CutError(what, place)
        size = done + len(out)
        if self._size is None and (size > _MAX_SIZE or size > max(_FREE, place * _DENSE)):
            what = f"compressed data grows from {place} to more than {size} bytes"
            raise MalformedError(f"{what}, which no layer does", place)
        return bytes(out), place, inflater
