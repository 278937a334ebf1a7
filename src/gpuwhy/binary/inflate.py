"""Inflated: any part of a compressed archive member, in bounded memory and without unpacking it anywhere.

The decompressor's state is kept every few megabytes on the way forward, so that going back costs one block, not the
whole stream. A 1 GB library costs one pass and some 50 MB.
"""

from __future__ import annotations

import zlib

from gpuwhy.binary import MalformedError, Pread

BLOCK = 8 << 20
_INPUT = 64 << 10
_KEEP = 4  # blocks held at a time


class Inflated:
    """A deflated stream of `packed` bytes at `start` that claims to become `size` bytes; `pread` reads any of them."""

    def __init__(self, pread: Pread, start: int, packed: int, size: int) -> None:
        self._pread = pread
        self._end = start + packed
        self.size = size
        self._marks = [(start, zlib.decompressobj(-zlib.MAX_WBITS))]  # one per block: where its input starts
        self._blocks: dict[int, bytes] = {}

    def pread(self, offset: int, size: int) -> bytes:
        """Read up to `size` bytes at `offset`; fewer at the end."""
        size = min(size, self.size - offset)
        if size <= 0:
            return b""
        first, last = offset // BLOCK, (offset + size - 1) // BLOCK
        start = offset - first * BLOCK
        if first == last:
            return self._block(first)[start : start + size]
        return b"".join(self._block(number) for number in range(first, last + 1))[start : start + size]

    def _block(self, number: int) -> bytes:
        if number not in self._blocks:
            for between in range(min(number, len(self._marks) - 1), number + 1):
                while len(self._blocks) >= _KEEP:
                    del self._blocks[next(iter(self._blocks))]
                self._blocks[between] = self._inflate(between)
        return self._blocks[number]

    def _inflate(self, number: int) -> bytes:
        """One block, from the state kept at its start; the state at its end is kept for the next."""
        place, kept = self._marks[number]
        state = kept.copy()
        wanted = min(BLOCK, self.size - number * BLOCK)
        out = bytearray()
        while len(out) < wanted:
            given = self._pread(place, min(_INPUT, self._end - place))
            try:
                part = state.decompress(given, wanted - len(out))
            except zlib.error as error:
                raise MalformedError(f"compressed data is damaged ({error})", place) from error
            out += part
            place += len(given) - len(state.unconsumed_tail) - len(state.unused_data)
            if len(out) < wanted and (state.eof or (not given and not part)):
                raise MalformedError(
                    f"compressed data ends after {number * BLOCK + len(out)} of {self.size} bytes", place
                )
        if number + 1 == len(self._marks):
            self._marks.append((place, state))
        return bytes(out)
