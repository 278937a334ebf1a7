"""The wire form of protocol buffers: fields in order, long ones by their place, so that weights are passed over."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from gpuwhy.fit.model import Unreadable
from gpuwhy.fit.source import Source

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
MOST_FIELDS = 20_000_000
_PIECE = 1 << 16
_FEW = 1 << 20


class Field(NamedTuple):
    """One field: its number, its wire form, and its value, or the place and length of its bytes."""

    number: int
    wire: int
    value: int
    place: int
    length: int

    def is_bytes(self, number: int) -> bool:
        """Whether it is this field, as bytes: a text or a message."""
        return self.number == number and self.wire == BYTES

    def is_number(self, number: int) -> bool:
        """Whether it is this field, as a number."""
        return self.number == number and self.wire == VARINT


class Wire:
    """A file of protocol buffers."""

    def __init__(self, source: Source, most: int = MOST_FIELDS) -> None:
        self.source = source
        self._data, self._start, self._end = b"", 0, 0
        self._left = most

    def fields(self, start: int, end: int) -> Iterator[Field]:
        """The fields of the message that lies there; raises Unreadable where it is none."""
        place = start
        while place < end:
            self._left -= 1
            if self._left < 0:
                raise Unreadable("it has more fields than any real model")
            key, place = self.varint(place, end)
            field, place = self._field(key >> 3, key & 7, place, end)
            yield field

    def _field(self, number: int, wire: int, place: int, end: int) -> tuple[Field, int]:
        if wire == VARINT:
            value, after = self.varint(place, end)
            return Field(number, wire, value, place, after - place), after
        if wire == BYTES:
            length, place = self.varint(place, end)
        elif wire in (FIXED32, FIXED64):
            length = 4 if wire == FIXED32 else 8
        else:
            raise Unreadable("it is not written as its format is: the file is damaged, or of another kind")
        if not number or place + length > end:
            raise Unreadable("a part of it claims to be longer than the whole: the file is cut short or damaged")
        return Field(number, wire, 0, place, length), place + length

    def varint(self, place: int, end: int) -> tuple[int, int]:
        """A number and the place after it."""
        value = shift = 0
        while place < end and shift < 64:
            if not self._start <= place < self._end:
                self._fill(place)
            byte = self._data[place - self._start]
            place += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value & 0xFFFFFFFFFFFFFFFF, place
            shift += 7
        raise Unreadable("a number in it has no end: the file is cut short or damaged")

    def _fill(self, place: int) -> None:
        self._data = self.source.at(place, min(_PIECE, self.source.size - place))
        self._start, self._end = place, place + len(self._data)

    def bytes(self, field: Field, most: int = _FEW) -> bytes:
        """The bytes of a field that is short."""
        if field.wire == VARINT or field.length > most:
            raise Unreadable("a text in it is longer than any real one")
        if self._start <= field.place and field.place + field.length <= self._end:
            return self._data[field.place - self._start : field.place - self._start + field.length]
        return self.source.at(field.place, field.length)

    def text(self, field: Field) -> str:
        """The same as text."""
        return self.bytes(field).decode("utf-8", "replace")

    def within(self, field: Field) -> Iterator[Field]:
        """The fields of a message in a field."""
        if field.wire != BYTES:
            raise Unreadable("it is not written as its format is: the file is damaged, or of another kind")
        return self.fields(field.place, field.place + field.length)

    def numbers(self, field: Field) -> list[int]:
        """A repeated number, packed or one of several, as signed 64-bit."""
        if field.wire == VARINT:
            return [signed(field.value)]
        if field.wire != BYTES or field.length > _FEW:
            raise Unreadable("a list of numbers in it is longer than any real one")
        out, place, end = [], field.place, field.place + field.length
        while place < end:
            value, place = self.varint(place, end)
            out.append(signed(value))
        return out


def signed(value: int) -> int:
    """A varint as a signed 64-bit number."""
    return value - (1 << 64) if value >= 1 << 63 else value
