"""Compressed streams, any part of which can be read in bounded memory: deflate, gzip and zstd.

Plain bytes are made in blocks of a few megabytes. Of deflate the decompressor's state is kept on
the way forward, so that going back costs one block: 1 GB costs one pass and some 50 MB. Of zstd
the starts of frames are kept, and going back costs a pass from there.
"""

from __future__ import annotations

import threading
import zlib
from typing import Any

import msgspec

from gpuwhy.formats import CutError, MalformedError, Pread

GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
BLOCK = 8 << 20
_INPUT = 256 << 10
_SKIPPABLE = b"\x2a\x4d\x18"  # a zstd frame of no data, after a byte 0x50 … 0x5f
_KEEP, _KEEP_ZSTD = 4, 16  # blocks held at a time; zstd is expensive to read back
_MOST_MARKS = 1024  # states of a decompressor, 40 KB each
_MAX_SIZE = 256 << 30
# more than 1 GB must come of 1/200 of its bytes: layers shrink to a third, bombs to a thousandth
_FREE, _GZIP_DENSE, _ZSTD_DENSE = 1 << 30, 200, 1000


def inflated(pread: Pread, start: int, packed: int, size: int) -> Pread:
    """A reader of the `size` plain bytes of a deflate stream of `packed` bytes at `start`."""
    return _Deflated(pread, start, start + packed, -zlib.MAX_WBITS, size).pread


def gunzipped(pread: Pread, packed: int) -> Pread:
    """A reader of the plain bytes of a gzip file of `packed` bytes, of one or more members."""
    return _Deflated(pread, 0, packed, 16 + zlib.MAX_WBITS, None).pread


def unzstd(pread: Pread, packed: int) -> Pread:
    """A reader of the plain bytes of a zstd file; raises ImportError before Python 3.14."""
    from compression import zstd  # type: ignore[import-not-found,unused-ignore]

    return _Unzstd(pread, packed, zstd).pread


class _Blocks:
    """Plain bytes in blocks, of which the last few are kept; a short block ends the stream."""

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._blocks: dict[int, bytes] = {}
        self._lock = threading.Lock()

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

    def _make_room(self) -> None:
        while len(self._blocks) >= self._keep:
            del self._blocks[next(iter(self._blocks))]

    def _make(self, number: int) -> None:
        """Make room, then this block in `_blocks`; none behind the end."""
        raise NotImplementedError


class _State(msgspec.Struct, frozen=True):
    """Where the input stands, and the decompressor at that place, which reading on changes."""

    place: int
    inflater: Any

    def copy(self) -> _State:
        return _State(self.place, self.inflater.copy())


class _Deflated(_Blocks):
    """A deflate stream of known plain size, or gzip members up to the end of the file."""

    def __init__(self, pread: Pread, start: int, end: int, form: int, size: int | None) -> None:
        super().__init__(_KEEP)
        self._pread, self._end, self._form, self._size = pread, end, form, size
        self._last = None if size is None else (size - 1) // BLOCK
        self._step = 1  # blocks from mark to mark
        self._marks = {0: _State(start, zlib.decompressobj(form))}

    def _make(self, number: int) -> None:
        """Inflate from the nearest mark on until the block is there, or the stream ends."""
        if self._last is not None and number > self._last:
            return
        start = max(mark for mark in self._marks if mark <= number)
        state = self._marks[start].copy()
        for between in range(start, number + 1):
            self._make_room()
            block, state = self._inflate(state, between * BLOCK)
            self._blocks[between] = block
            if len(block) < BLOCK:
                self._last = between
                return
            self._mark(between + 1, state)

    def _mark(self, number: int, state: _State) -> None:
        if number % self._step or number in self._marks:
            return
        self._marks[number] = state.copy()
        if len(self._marks) > _MOST_MARKS:
            self._step *= 2
            self._marks = {n: mark for n, mark in self._marks.items() if n % self._step == 0}

    def _inflate(self, state: _State, done: int) -> tuple[bytes, _State]:
        """The next block, shorter where the stream ends, and the state after it."""
        place, inflater = state.place, state.inflater
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
        if self._size is None:
            _no_bomb(done + len(out), place, _GZIP_DENSE)
        return bytes(out), _State(place, inflater)


class _Unzstd(_Blocks):
    """A zstd stream: frames are independent, within one there is only forward."""

    def __init__(self, pread: Pread, packed: int, zstd: Any) -> None:
        super().__init__(_KEEP_ZSTD)
        self._pread, self._packed, self._zstd = pread, packed, zstd
        self._frames = [(0, 0)]  # (plain offset, packed offset) where a frame starts
        self._go_to_frame(0)

    def _go_to_frame(self, plain: int) -> None:
        """Start at the frame that holds a plain offset, as far as frames are known."""
        self._start, self._place = max(frame for frame in self._frames if frame[0] <= plain)
        self._held = bytearray()  # plain bytes from `_start` on
        self._state = self._zstd.ZstdDecompressor()

    def _make(self, number: int) -> None:
        start = number * BLOCK
        if start < self._start:
            self._go_to_frame(start)
        while self._start + len(self._held) < start + BLOCK and (part := self._next()):
            self._held += part
            self._drop(min(start - self._start, len(self._held)))
        self._make_room()
        self._blocks[number] = block = bytes(self._held[:BLOCK])
        self._drop(len(block))

    def _drop(self, count: int) -> None:
        if count > 0:
            del self._held[:count]
            self._start += count

    def _next(self) -> bytes:
        """The plain bytes that come next; none at the end."""
        part = b""
        while not part:
            if self._state.eof and not self._next_frame():
                break
            more = min(_INPUT, self._packed - self._place)
            given = self._pread(self._place, more) if self._state.needs_input else b""
            try:
                part = self._state.decompress(given, BLOCK)
            except self._zstd.ZstdError as error:
                raise MalformedError(f"zstd data is damaged ({error})", self._place) from error
            self._place += len(given) - len(self._state.unused_data)
            if not part and not given and not self._state.eof:
                raise CutError("zstd data is cut short", self._place)
            _no_bomb(self._start + len(self._held) + len(part), self._place, _ZSTD_DENSE)
        return part

    def _next_frame(self) -> bool:
        while (head := self._pread(self._place, 8)) and head[1:4] == _SKIPPABLE:
            self._place += 8 + int.from_bytes(head[4:8], "little")
        if not head.startswith(ZSTD):
            return False
        self._state = self._zstd.ZstdDecompressor()
        plain = self._start + len(self._held)
        if plain > self._frames[-1][0]:
            self._frames.append((plain, self._place))
        return True


def _no_bomb(size: int, packed: int, dense: int) -> None:
    if size > _MAX_SIZE or (size > _FREE and size > max(packed, 1) * dense):
        what = f"compressed data grows from {packed} to more than {size} bytes"
        raise MalformedError(f"{what}, which no layer does", packed)
