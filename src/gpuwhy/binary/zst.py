"""zstd streams, where the standard library has them (Python 3.14): any part, going back costs a pass from the start."""

from __future__ import annotations

import threading
from typing import Any

from gpuwhy.binary import CutError, MalformedError, Pread
from gpuwhy.binary.inflate import BLOCK

MAGIC = b"\x28\xb5\x2f\xfd"
_SKIPPABLE = b"\x2a\x4d\x18"  # after a byte 0x50 … 0x5f
_INPUT = 256 << 10
_KEEP = 16
_FREE, _MOST_DENSE = 1 << 30, 1000


def unzstd(pread: Pread, packed: int) -> Pread:
    """A reader of the plain bytes; raises ImportError where Python has no zstd."""
    from compression import zstd  # type: ignore[import-not-found,unused-ignore]

    return _Unzstd(pread, packed, zstd).pread


class _Unzstd:
    """A stream that keeps the frames' starts: frames are independent, within one there is only forward."""

    def __init__(self, pread: Pread, packed: int, zstd: Any) -> None:
        self._pread, self._packed, self._zstd = pread, packed, zstd
        self._frames = [(0, 0)]  # (plain offset, packed offset) where a frame starts
        self._blocks: dict[int, bytes] = {}
        self._end: int | None = None
        self._lock = threading.Lock()
        self._restart(0)

    def _restart(self, plain: int) -> None:
        start, place = max(frame for frame in self._frames if frame[0] <= plain)
        self._plain, self._place, self._ahead = start, place, b""
        self._state = self._zstd.ZstdDecompressor()

    def pread(self, offset: int, size: int) -> bytes:
        """Read up to `size` bytes at `offset`; fewer at the end."""
        out = bytearray()
        with self._lock:
            while size > len(out):
                number, start = divmod(offset + len(out), BLOCK)
                part = self._block(number)[start : start + size - len(out)]
                if not part:
                    break
                out += part
        return bytes(out)

    def _block(self, number: int) -> bytes:
        start = number * BLOCK
        if self._end is not None and start >= self._end:
            return b""
        if number not in self._blocks:
            if start < self._plain - len(self._ahead):
                self._restart(start)
            while len(self._blocks) >= _KEEP:
                del self._blocks[next(iter(self._blocks))]
            self._blocks[number] = self._take(start)
        return self._blocks[number]

    def _take(self, start: int) -> bytes:
        """Inflate up to the end of the block at `start`; what lies before it is dropped."""
        out = bytearray()
        while len(out) < BLOCK:
            first = self._plain - len(self._ahead)
            if self._ahead and first + len(self._ahead) > start:
                skip = max(0, start - first)
                part = self._ahead[skip : skip + BLOCK - len(out)]
                out += part
                self._ahead = self._ahead[skip + len(part) :]
            elif not self._more():
                break
        return bytes(out)

    def _more(self) -> bool:
        """The next plain bytes, into `_ahead`; False at the end."""
        if self._state.eof and not self._next_frame():
            self._end = self._plain
            return False
        given = self._pread(self._place, min(_INPUT, self._packed - self._place)) if self._state.needs_input else b""
        try:
            part = self._state.decompress(given, BLOCK)
        except self._zstd.ZstdError as error:
            raise MalformedError(f"zstd data is damaged ({error})", self._place) from error
        self._place += len(given) - len(self._state.unused_data)
        if not part and not given and not self._state.eof:
            raise CutError("zstd data is cut short", self._place)
        self._ahead = part
        self._plain += len(part)
        if self._plain > _FREE and self._plain > max(self._place, 1) * _MOST_DENSE:
            raise MalformedError(f"zstd data grows to more than {self._plain} bytes, which no layer does", self._place)
        return True

    def _next_frame(self) -> bool:
        while (head := self._pread(self._place, 8)) and head[1:4] == _SKIPPABLE:
            self._place += 8 + int.from_bytes(head[4:8], "little")
        if not head.startswith(MAGIC):
            return False
        self._state = self._zstd.ZstdDecompressor()
        if self._plain > self._frames[-1][0]:
            self._frames.append((self._plain, self._place))
        return True
