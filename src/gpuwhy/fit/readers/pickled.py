"""Pickle without unpickling: opcodes build plain records; nothing is imported, and what would run code is refused."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from gpuwhy.fit.model import Unreadable
from gpuwhy.fit.readers.pickled_names import allowed
from gpuwhy.fit.source import Cursor

MOST_OPCODES = 10_000_000
_MOST_TEXT = 1 << 24
_MOST_HELD = 8_000_000
"""Values in all containers together."""


class Global:
    """A name of a function or class that unpickling would import."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class Made:
    """What a call would have made: whose it is, with what, and the state it was given."""

    __slots__ = ("args", "items", "name", "state")

    def __init__(self, name: str, args: Any) -> None:
        self.name = name
        self.args = args
        self.state: Any = None
        self.items: list[Any] = []  # keys and values in turn, or members


class Kept:
    """What lies outside of the pickle: a storage."""

    __slots__ = ("id",)

    def __init__(self, ident: Any) -> None:
        self.id = ident


class _Mark:
    pass


_MARK = _Mark()


class Machine:
    """One pickle, read to its end."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._held = 0
        self.named: set[str] = set()
        """Every name that was called or built and is not a tensor's."""

    def run(self) -> Any:
        """The value of the pickle; raises Unreadable."""
        take, table = self._cursor.take, _TABLE
        try:
            for _ in range(MOST_OPCODES):
                code = take(1)
                if code == b".":
                    return self._pop()
                act = table.get(code)
                if act is None:
                    raise Unreadable("it is not a pickle, or a damaged one")
                act(self)
        except Unreadable:
            raise
        except (IndexError, KeyError, TypeError, ValueError, struct.error, OverflowError):
            raise Unreadable("its pickle makes no sense: it is damaged or cut short") from None
        raise Unreadable("its pickle is longer than any real model's")

    def _pop(self) -> Any:
        value = self._stack.pop()
        if value is _MARK:
            raise IndexError
        return value

    def _push(self, value: Any) -> None:
        self._stack.append(value)
        if len(self._stack) > 100_000:
            raise Unreadable("its pickle is nested deeper than any real model's")

    def _marked(self) -> list[Any]:
        """What lies above the last mark."""
        for place in range(len(self._stack) - 1, -1, -1):
            if self._stack[place] is _MARK:
                out = self._stack[place + 1 :]
                del self._stack[place:]
                return out
        raise IndexError

    def _hold(self, target: Any, values: list[Any]) -> None:
        """Put values into a container."""
        self._held += len(values)
        if self._held > _MOST_HELD:
            raise Unreadable("its pickle holds more values than any real model's")
        if isinstance(target, Made):
            target.items += values
        elif isinstance(target, list):
            target += values
        else:
            raise TypeError

    def _text(self, form: str) -> bytes:
        length = self._cursor.number(form)
        if not 0 <= length <= _MOST_TEXT:
            raise Unreadable(f"a text in its pickle claims {length:,} bytes")
        return self._cursor.take(length)

    def _call(self, function: Any, args: Any) -> Made:
        if isinstance(function, Kept) and isinstance(function.id, tuple) and function.id[:1] == ("module",):
            function = function.id[1]  # older files keep a class with its source beside it
        if not isinstance(function, Global):
            raise Unreadable(
                "its pickle would call what it has made itself: torch writes no such thing; do not load it"
            )
        if not allowed(function.name):
            raise Unreadable(f"its pickle would run {_short(function.name)} when it is loaded: do not load it")
        self.named.add(function.name)
        return Made(function.name, args)

    def _global(self, module: str, name: str) -> None:
        self._push(Global(f"{module}.{name}"))

    # opcodes, in the order of the protocol's description

    def _mark(self) -> None:
        self._push(_MARK)

    def _pop_mark(self) -> None:
        self._marked()

    def _drop(self) -> None:
        self._stack.pop()

    def _dup(self) -> None:
        self._push(self._stack[-1])

    def _line_number(self) -> None:
        line = self._cursor.line(4096).rstrip(b"L\r")
        if line in (b"00", b"01"):
            self._push(line == b"01")
        elif len(line) < 100 and line.lstrip(b"-").isdigit():
            self._push(int(line))
        else:
            raise TypeError

    def _line_float(self) -> None:
        try:
            self._push(float(self._cursor.line(400)))
        except ValueError:
            raise TypeError from None

    def _line_text(self) -> None:
        self._push(self._cursor.line(1 << 16).strip(b"'\"\r").decode("utf-8", "replace"))

    def _line_global(self) -> None:
        module, name = self._cursor.line().decode("utf-8", "replace"), self._cursor.line().decode("utf-8", "replace")
        self._global(module, name)

    def _stack_global(self) -> None:
        name, module = self._pop(), self._pop()
        if not isinstance(name, str) or not isinstance(module, str):
            raise TypeError
        self._global(module, name)

    def _long(self, form: str) -> None:
        length = self._cursor.number(form)
        if not 0 <= length <= 64:
            raise Unreadable("a number in its pickle is longer than any real one")
        self._push(int.from_bytes(self._cursor.take(length), "little", signed=True))

    def _tuple(self) -> None:
        out = tuple(self._marked())
        self._held += len(out)
        if self._held > _MOST_HELD:
            raise Unreadable("its pickle holds more values than any real model's")
        self._push(out)

    def _tuple_of(self, count: int) -> None:
        values = tuple(self._stack[-count:])
        if len(values) < count or _MARK in values:
            raise IndexError
        del self._stack[-count:]
        self._push(values)

    def _list(self) -> None:
        self._push(self._marked())

    def _dict(self) -> None:
        made = Made("dict", ())
        self._hold(made, self._marked())
        self._push(made)

    def _empty_dict(self) -> None:
        self._push(Made("dict", ()))

    def _empty_set(self) -> None:
        self._push(Made("builtins.set", ()))

    def _append(self) -> None:
        value = self._pop()
        self._hold(self._stack[-1], [value])

    def _appends(self) -> None:
        values = self._marked()
        self._hold(self._stack[-1], values)

    def _setitem(self) -> None:
        value, key = self._pop(), self._pop()
        self._hold(self._stack[-1], [key, value])

    def _put(self, place: int) -> None:
        if len(self._memo) > _MOST_HELD:
            raise Unreadable("its pickle holds more values than any real model's")
        self._memo[place] = self._stack[-1]

    def _get(self, place: int) -> None:
        self._push(self._memo[place])

    def _reduce(self) -> None:
        args, function = self._pop(), self._pop()
        self._push(self._call(function, args))

    def _newobj_ex(self) -> None:
        _, args, cls = self._pop(), self._pop(), self._pop()
        self._push(self._call(cls, args))

    def _inst(self) -> None:
        args = tuple(self._marked())
        self._line_global()
        self._push(self._call(self._pop(), args))

    def _obj(self) -> None:
        values = self._marked()
        self._push(self._call(values[0], tuple(values[1:])))

    def _build(self) -> None:
        state = self._pop()
        target = self._stack[-1]
        if not isinstance(target, Made):
            raise TypeError
        target.state = state

    def _persistent(self) -> None:
        self._push(Kept(self._pop()))

    def _line_persistent(self) -> None:
        self._push(Kept(self._cursor.line().decode("utf-8", "replace")))


def _short(name: str) -> str:
    return name if len(name) <= 100 else name[:99] + "…"


def _number(form: str) -> Callable[[Machine], None]:
    return lambda m: m._push(m._cursor.number(form))


def _string(form: str) -> Callable[[Machine], None]:
    return lambda m: m._push(m._text(form).decode("utf-8", "replace"))


def _bytes(form: str) -> Callable[[Machine], None]:
    return lambda m: m._push(m._text(form))


def _value(value: Any) -> Callable[[Machine], None]:
    return lambda m: m._push(value)


def _big_endian_float(machine: Machine) -> None:
    machine._push(struct.unpack(">d", machine._cursor.take(8))[0])


_TABLE: dict[bytes, Callable[[Machine], None]] = {
    b"(": Machine._mark, b"0": Machine._drop, b"1": Machine._pop_mark, b"2": Machine._dup, b"F": Machine._line_float,
    b"I": Machine._line_number, b"L": Machine._line_number, b"J": _number("i"), b"K": _number("B"), b"M": _number("H"),
    b"N": _value(None), b"P": Machine._line_persistent, b"Q": Machine._persistent, b"R": Machine._reduce,
    b"S": Machine._line_text, b"V": Machine._line_text, b"T": _string("i"), b"U": _string("B"), b"X": _string("I"),
    b"a": Machine._append, b"b": Machine._build, b"c": Machine._line_global, b"d": Machine._dict,
    b"}": Machine._empty_dict,
    b"e": Machine._appends, b"u": Machine._appends, b"g": lambda m: m._get(int(m._cursor.line(40))),
    b"h": lambda m: m._get(m._cursor.number("B")), b"j": lambda m: m._get(m._cursor.number("I")), b"i": Machine._inst,
    b"l": Machine._list, b"]": lambda m: m._push([]), b"o": Machine._obj,
    b"p": lambda m: m._put(int(m._cursor.line(40))),
    b"q": lambda m: m._put(m._cursor.number("B")), b"r": lambda m: m._put(m._cursor.number("I")),
    b"s": Machine._setitem, b"t": Machine._tuple, b")": _value(()),
    b"G": _big_endian_float, b"\x80": lambda m: m._cursor.skip(1),
    b"\x81": Machine._reduce, b"\x85": lambda m: m._tuple_of(1), b"\x86": lambda m: m._tuple_of(2),
    b"\x87": lambda m: m._tuple_of(3), b"\x88": _value(True), b"\x89": _value(False), b"\x8a": lambda m: m._long("B"),
    b"\x8b": lambda m: m._long("i"), b"B": _bytes("I"), b"C": _bytes("B"), b"\x8c": _string("B"), b"\x8d": _string("Q"),
    b"\x8e": _bytes("Q"), b"\x8f": Machine._empty_set, b"\x90": Machine._appends,
    b"\x91": lambda m: m._push(m._marked()), b"\x92": Machine._newobj_ex, b"\x93": Machine._stack_global,
    b"\x94": lambda m: m._put(len(m._memo)), b"\x95": lambda m: m._cursor.skip(8), b"\x96": _bytes("Q"),
}  # fmt: skip
"""Opcode → what it does here. Extension registry (82–84) and buffers outside (97, 98) are not torch's."""
