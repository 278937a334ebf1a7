"""expect: shape, dtype, layout and device of an array, with names for sizes and the likely slip in the error."""

from __future__ import annotations

import difflib
import functools
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from gpuwhy.inside.arrays import Array, contiguous, describe, device_name, dtype_name
from gpuwhy.inside.shapes import Bound, Shape, fit, parse, words
from gpuwhy.inside.slips import device_slip, dtype_slip, layout_slip, shape_slips

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

SWITCH = "GPUWHY_EXPECT"
LAYOUTS = ("contiguous", "channels_last", "fortran")
_KINDS = {
    "float": ("float16", "float32", "float64", "bfloat16"),
    "int": ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
}


_DTYPE = re.compile(
    r"q?u?int\d+|b?float\d+\w*|complex\d*|bool|str\d*|string|object|bytes\d*|datetime64|resource|variant"
)


class MismatchError(ValueError):
    """An array is not as expected; the text says what came, what was expected, and the likely slip."""

    def __init__(self, name: str, came: Array, expected: str, wrong: Sequence[str], slip: str) -> None:
        likely = f"\n  likely: {slip}" if slip else ""
        super().__init__(f"{name} came as {came}\n  expected: {expected}\n  wrong: {'; '.join(wrong)}{likely}")
        self.came, self.expected, self.wrong, self.slip = came, expected, tuple(wrong), slip


class Dims(dict[str, Bound]):
    """The sizes that names stand for."""


_current: ContextVar[Dims | None] = ContextVar("gpuwhy_dims", default=None)


class Expect:
    """`gpuwhy.expect`: call it to check an array; `scope()`, `on()` and `off()` steer it."""

    def __init__(self) -> None:
        self.active = os.environ.get(SWITCH, "").lower() not in ("0", "off", "false", "no")

    def on(self) -> None:
        """Check from now on."""
        self.active = True

    def off(self) -> None:
        """Check nothing from now on; functions decorated later are left as they are."""
        self.active = False

    @contextmanager
    def scope(self) -> Iterator[Dims]:
        """Names keep their sizes across the calls inside the block."""
        dims = Dims()
        token = _current.set(dims)
        try:
            yield dims
        finally:
            _current.reset(token)

    def __call__(
        self,
        array: T,
        shape: Shape | None = None,
        *,
        dtype: Any = None,
        layout: str | None = None,
        device: str | None = None,
        dims: Dims | None = None,
        name: str = "array",
    ) -> T:
        """Return the array if it is as expected, else raise MismatchError.

        A shape is words: sizes, names (one size each, in a scope or in `dims`), `_` for any size, `...` or `*name` for
        any number of dimensions; or a tuple of these, with None for any size.
        """
        if self.active:
            bound = dims if dims is not None else _current.get()
            _check(
                describe(array),
                None if shape is None else words(shape),
                dtype,
                layout,
                device,
                Dims() if bound is None else bound,
                name,
            )
        return array


expect = Expect()


def _check(
    came: Array, shape: str | None, dtype: Any, layout: str | None, device: str | None, dims: Dims, name: str
) -> None:
    new: dict[str, Bound] = {}
    wrong: list[str] = []
    slip = ""
    if shape is not None and came.shape is not None:
        tokens = parse(shape)
        new, wrong = fit(tokens, came.shape, dims)
        if wrong:
            slip = next(shape_slips(tokens, came.shape, dims), "")
    for text, likely in (_dtype(came, dtype), _layout(came, layout), _device(came, device)):
        if text:
            wrong.append(text)
            slip = slip or likely
    if wrong:
        raise MismatchError(name, came, _said(shape, dtype, layout, device), wrong, slip)
    dims.update(new)


def _said(shape: str | None, dtype: Any, layout: str | None, device: str | None) -> str:
    parts = [f'"{shape}"' if shape is not None else "", "|".join(_wanted(dtype)), layout or ""]
    return " ".join([part for part in parts if part] + ([f"on {device}"] if device else []))


def _wanted(dtype: Any) -> tuple[str, ...]:
    if dtype is None:
        return ()
    many = dtype if isinstance(dtype, (tuple, list, set, frozenset)) else (dtype,)
    return tuple(_known(dtype_name(one)) if isinstance(one, str) else dtype_name(one) for one in many)


def _known(name: str) -> str:
    """A dtype that was written as a word; raises ValueError where no framework has one of that name."""
    if name in _KINDS or _DTYPE.fullmatch(name):
        return name
    near = difflib.get_close_matches(name, [*_KINDS, *(one for kind in _KINDS.values() for one in kind), "bool"], 1)
    raise ValueError(f"dtype={name!r} is no dtype" + (f"; did you mean {near[0]!r}?" if near else ""))


def _dtype(came: Array, dtype: Any) -> tuple[str, str]:
    wanted = _wanted(dtype)
    allowed = tuple(name for one in wanted for name in _KINDS.get(one, (one,)))
    if not wanted or not came.dtype or came.dtype in allowed:
        return "", ""
    return f"it is {came.dtype}, {' or '.join(wanted)} expected", dtype_slip(came.dtype, allowed)


def _device(came: Array, device: str | None) -> tuple[str, str]:
    if device is None or not came.device:
        return "", ""
    wanted = device_name(device)
    if not wanted:
        raise ValueError(f"device={device!r}: write 'cpu', 'gpu', 'cuda:0' or the like")
    if came.device == wanted or (":" not in wanted and came.device.partition(":")[0] == wanted):
        return "", ""
    return f"it is on {came.device}, {device} expected", device_slip(came.device, wanted)


def _layout(came: Array, layout: str | None) -> tuple[str, str]:
    if layout is None or came.shape is None:
        return "", ""
    if layout not in LAYOUTS:
        raise ValueError(f"layout={layout!r}: the layouts are {', '.join(LAYOUTS)}")
    places = tuple(range(len(came.shape)))
    order = {"contiguous": places, "channels_last": (*places[:1], *places[2:], *places[1:2]), "fortran": places[::-1]}
    if not came.sparse and contiguous(came.shape, came.strides, order[layout]):
        return "", ""
    strides = f" (strides {came.strides})" if came.strides is not None else ""
    return f"its layout is not {layout}{strides}", layout_slip(came, layout)


Wanted = Shape | Mapping[str, Any]


def expects(*, returns: Wanted | None = None, **shapes: Wanted) -> Callable[[F], F]:
    """Check a function's arguments, and what it returns, at each call; names have one size per call.

    A value is a shape, or a mapping such as {"shape": "b 3", "dtype": "float32", "device": "gpu"}. An argument that is
    left out, or is None where None is its default, is not checked. While `expect` is off, the function stays as it is.
    """

    def decorate(function: F) -> F:
        return _checked(function, shapes, returns) if expect.active else function

    return decorate


def _checked(function: F, shapes: Mapping[str, Wanted], returns: Wanted | None) -> F:
    import inspect

    places = _places(function, shapes)
    wanted = {name: _mapping(value) for name, value in shapes.items()}
    after = None if returns is None else _mapping(returns)

    def before(args: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        for name, how in wanted.items():
            place, optional = places[name]
            value = named[name] if name in named else args[place] if place < len(args) else None
            if value is not None or not (optional or (name not in named and place >= len(args))):
                expect(value, name=f"{function.__qualname__}({name}=…)", **how)

    def finish(result: Any) -> Any:
        return result if after is None else expect(result, name=f"the result of {function.__qualname__}()", **after)

    @functools.wraps(function)
    def checked(*args: Any, **named: Any) -> Any:
        with expect.scope():
            before(args, named)
            return finish(function(*args, **named))

    @functools.wraps(function)
    async def checked_async(*args: Any, **named: Any) -> Any:
        with expect.scope():
            before(args, named)
            return finish(await function(*args, **named))

    if after is not None and (inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)):
        raise TypeError(f"expects(returns=…): {function.__qualname__} is a generator, which returns no array")
    out: Any = checked_async if inspect.iscoroutinefunction(function) else checked
    decorated: F = out
    return decorated


def _mapping(wanted: Wanted) -> dict[str, Any]:
    how = dict(wanted) if isinstance(wanted, Mapping) else {"shape": wanted}
    if how.get("shape") is not None:
        parse(words(how["shape"]))
    _wanted(how.get("dtype"))
    return how


def _places(function: Callable[..., Any], names: Mapping[str, Any]) -> dict[str, tuple[int, bool]]:
    """The position of each argument to check, and whether None is its default; raises TypeError for others."""
    import inspect

    known = {}
    for place, (name, one) in enumerate(inspect.signature(function).parameters.items()):
        if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            known[name] = (place if one.kind is not one.KEYWORD_ONLY else 1 << 30, one.default is None)
    unknown = [name for name in names if name not in known]
    if unknown:
        raise TypeError(f"expects({unknown[0]}=…): {getattr(function, '__name__', function)} has no such argument")
    return known
