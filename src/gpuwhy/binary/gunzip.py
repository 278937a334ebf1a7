"""Gunzipped: any part of a gzip stream of unknown length, in bounded memory; files of several members too.

Like inflate.Inflated it keeps the decompressor's state on the way forward, every 8 MB at first and more sparsely on a
very long stream, so that one pass indexes a layer and any file of it can be read afterwards.
"""

from __future__ import annotations

import threading
import zlib

from gpuwhy.binary import CutError, MalformedError, Pread
from gpuwhy.binary.inflate import BLOCK

MAGIC = b"\x1f\x8b"
MAX_SIZE = 256 << 30
_INPUT = 256 << 10
_KEEP = 4  # blocks held at a time
_MOST_MARKS = 1024  # 40 KB each
_FREE, _MOST_DENSE = 1 << 30, 200
"""What more than 1 GB may come of: 200 times its bytes. Layers shrink to a third, and bombs to a thousandth."""


class _State:
    """Where the input stands, and the decompressor at that place."""

    def __init__(self, place: int, state: zlib._Decompress) -> None:
        self.place = place
        self.state = state

    def copy(self) -> _State:
        return _State(self.place, self.state.copy())


class Gunzipped:
    """A gzip stream of `packed` bytes at offset 0; `pread` reads any of its plain bytes, fewer at its end."""

    def __init__(self, pread: Pread, packed: int) -> None:
        self._pread = pread
        self._packed = packed
        self._step = 1  # blocks from mark to mark
        self._marks = {0: _State(0, zlib.decompressobj(31))}
        self._blocks: dict[int, bytes] = {}
        self._last: int | None = None  # the block in which the stream ends
        self._lock = threading.Lock()

    def pread(self, offset: int, size: int) -> bytes:
        """Read up to `size` bytes at `offset`; fewer at the end."""
        if size <= 0:
            return b""
        first, last = offset // BLOCK, (offset + size - 1) // BLOCK
        start = offset - first * BLOCK
        with self._lock:
            if first == last:
                return self._block(first)[start : start + size]
            return b"".join(self._block(number) for number in range(first, last + 1))[start : start + size]

    def _block(self, number: int) -> bytes:
        if self._last is not None and number > self._last:
            return b""
        if number not in self._blocks:
            self._forward(number)
        return self._blocks.get(number, b"")

    def _forward(self, number: int) -> None:
        """Inflate from the nearest mark on until the block is there, or the stream ends."""
        start = max(mark for mark in self._marks if mark <= number)
        at = self._marks[start].copy()
        for between in range(start, number + 1):
            while len(self._blocks) >= _KEEP:
                del self._blocks[next(iter(self._blocks))]
            block = self._inflate(at, between * BLOCK)
            self._blocks.pop(between, None)
            self._blocks[between] = block
            if len(block) < BLOCK:
                self._last = between
                return
            self._mark(between + 1, at)

    def _mark(self, number: int, at: _State) -> None:
        if number % self._step or number in self._marks:
            return
        self._marks[number] = at.copy()
        if len(self._marks) > _MOST_MARKS:
            self._step *= 2
            self._marks = {n: state for n, state in self._marks.items() if n % self._step == 0}

    def _inflate(self, at: _State, done: int) -> bytes:
        """The next block; shorter where the last member ends."""
        out = bytearray()
        while len(out) < BLOCK:
            if at.state.eof and not self._another(at):
                break
            given = self._pread(at.place, min(_INPUT, self._packed - at.place))
            try:
                part = at.state.decompress(given, BLOCK - len(out))
            except zlib.error as error:
                raise MalformedError(f"gzip data is damaged ({error})", at.place) from error
            out += part
            # At the end of a member zlib may give what is left under both names.
            at.place += len(given) - len(at.state.unused_data if at.state.eof else at.state.unconsumed_tail)
            if not given and not part and not at.state.eof:
                raise CutError(f"gzip data is cut short after {done + len(out)} plain bytes", at.place)
        self._no_bomb(done + len(out), at.place)
        return bytes(out)

    def _another(self, at: _State) -> bool:
        """Whether another member follows; zeros or anything else after the last one is padding."""
        if self._pread(at.place, 2) != MAGIC:
            return False
        at.state = zlib.decompressobj(31)
        return True

    def _no_bomb(self, size: int, place: int) -> None:
        if size > MAX_SIZE or (size > _FREE and size > max(place, 1) * _MOST_DENSE):
            raise MalformedError(f"gzip data grows from {place} to more than {size} bytes, which no layer does", place)
