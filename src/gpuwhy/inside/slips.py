"""The likely slip behind an array that is not as expected: channels swapped, a batch missing, float64."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import combinations
from math import prod

from gpuwhy.inside.arrays import Array, Dim
from gpuwhy.inside.shapes import Bound, Token, fit

Fits = Callable[[tuple[Dim, ...]], bool]

FEW_CHANNELS = 4


def shape_slips(tokens: tuple[Token, ...], shape: tuple[Dim, ...], bound: Mapping[str, Bound]) -> Iterator[str]:
    """What would make the shape fit, the likeliest first; the first is the one to tell."""

    def fits(other: tuple[Dim, ...]) -> bool:
        return not fit(tokens, other, bound)[1]

    yield from _channels(shape, fits)
    yield from _batch(shape, fits)
    yield from _extra(shape, fits)
    yield from _swapped(shape, fits)
    yield from _flat(tokens, shape, bound)
    yield from _last_batch(tokens, shape, fits)


def _moved(shape: tuple[Dim, ...], origin: int, place: int) -> tuple[Dim, ...]:
    rest = [*shape]
    rest.insert(place, rest.pop(origin))
    return tuple(rest)


def _axes(count: int, origin: int, place: int) -> str:
    axes = [*range(count)]
    axes.insert(place, axes.pop(origin))
    return ", ".join(map(str, axes))


def _channels(shape: tuple[Dim, ...], fits: Fits) -> Iterator[str]:
    """Channels first where last is expected, or the other way: of a batch of images, or of one image."""
    last = len(shape) - 1
    for first in (1, 0):
        if last - first < 2:
            continue
        if fits(_moved(shape, first, last)):
            yield f"the channels come first and are expected last: permute to ({_axes(last + 1, first, last)})"
        elif fits(_moved(shape, last, first)):
            yield f"the channels come last and are expected first: permute to ({_axes(last + 1, last, first)})"


def _batch(shape: tuple[Dim, ...], fits: Fits) -> Iterator[str]:
    if fits((1, *shape)):
        yield "the batch dimension is missing: x[None] adds one"
    elif len(shape) == 3 and fits((1, *_moved(shape, 0, 2))):
        yield "the batch dimension is missing, and the channels come first and are expected last"
    elif len(shape) == 3 and fits((1, *_moved(shape, 2, 0))):
        yield "the batch dimension is missing, and the channels come last and are expected first"
    elif fits((*shape, 1)):
        yield "the last dimension is missing, of size 1, such as the channel of a grey image: x[..., None] adds it"


def _extra(shape: tuple[Dim, ...], fits: Fits) -> Iterator[str]:
    spare = [place for place in range(len(shape)) if fits((*shape[:place], *shape[place + 1 :]))]
    for place in sorted(spare, key=lambda place: shape[place] != 1)[:1]:
        what = "of size 1: squeeze it" if shape[place] == 1 else f"of size {shape[place]}"
        yield f"dimension {place} is one too many, {what}"


def _swapped(shape: tuple[Dim, ...], fits: Fits) -> Iterator[str]:
    for left, right in combinations(range(len(shape)), 2):
        other = [*shape]
        other[left], other[right] = other[right], other[left]
        if fits(tuple(other)):
            image = len(shape) in (3, 4) and right == left + 1
            what = "height and width (dimensions" if image and _spatial(shape, left) else "two dimensions ("
            yield f"{what} {left} and {right}) are swapped".replace("( ", "(")
            return


def _spatial(shape: tuple[Dim, ...], left: int) -> bool:
    """Whether dimensions `left` and the next are the two of an image's sides, the others being batch and channels."""
    sides = [n for n in shape[left : left + 2] if n is not None]
    return len(sides) == 2 and min(sides) > FEW_CHANNELS


def _flat(tokens: tuple[Token, ...], shape: tuple[Dim, ...], bound: Mapping[str, Bound]) -> Iterator[str]:
    """The right number of elements in another shape."""
    sizes = [size for size in shape if size is not None]
    if not sizes or len(sizes) != len(shape) or len(tokens) == len(shape) or any(token.many for token in tokens):
        return
    if _as_many(sizes, [token.size for token in tokens]):
        yield "the number of elements is right: a reshape or a flatten is missing"


def _as_many(sizes: list[int], told: list[int]) -> bool:
    """Whether the sizes that are told, and at most one that is not, hold as many elements."""
    wanted = [size for size in told if size >= 0]
    free = len(told) - len(wanted)
    return bool(wanted) and free <= 1 and len(sizes) > free and prod(sizes[free:]) == prod(wanted)


def _last_batch(tokens: tuple[Token, ...], shape: tuple[Dim, ...], fits: Fits) -> Iterator[str]:
    first = tokens[0].size if tokens else -1
    if shape and first > 1 and shape[0] is not None and shape[0] < first and fits((first, *shape[1:])):
        yield f"the last batch of a data set may be smaller: name the dimension instead of writing {first}, or drop it"


def dtype_slip(came: str, wanted: tuple[str, ...]) -> str:
    """What usually makes this dtype of that one."""
    if came == "float64" and "float32" in wanted:
        return "NumPy and Python make float64 unless told otherwise: cast to float32"
    if came.startswith(("uint8", "int")) and any(w.startswith(("float", "bfloat")) for w in wanted):
        return f"{came} data was not converted: cast, and scale images from 0…255"
    if came.startswith("float") and any(w.startswith("int") for w in wanted):
        return "labels and indexes must be integers: cast them"
    if {came, *wanted} & {"float16", "bfloat16"}:
        return "mixed precision on one side only: autocast or cast both"
    return ""


def device_slip(came: str, wanted: str) -> str:
    """How the array gets to the other device."""
    if came == "cpu":
        return 'it was never moved to the GPU: x.to("cuda"), jax.device_put(x), or with tf.device("GPU:0")'
    if wanted == "cpu":
        return "it is still on the GPU: x.cpu(), or jax.device_get(x)"
    return "two GPUs are in use: move one of the arrays" if came.startswith("gpu") else ""


def layout_slip(came: Array, wanted: str) -> str:
    """How the array gets the layout."""
    if came.sparse:
        return f"it is sparse ({came.sparse}): x.to_dense()"
    if wanted == "contiguous":
        return "a transpose, a permute or a slice left it strided: x.contiguous(), or numpy.ascontiguousarray(x)"
    return "x.contiguous(memory_format=torch.channels_last)" if wanted == "channels_last" else ""
