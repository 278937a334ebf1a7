"""Strides that no file tells, guessed from how people name and number the layers of a network of convolutions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from gpuwhy.fit.model import Stage, Tensor

_NUMBER = re.compile(r"(\d+)")
_STAGE = re.compile(
    r"(?:^|\.)(?:layer|layers|stage|stages|block_group|downs?|enc(?:oder)?s?|down_blocks|levels?)[._]?(\d+)\."
)
_UP = re.compile(r"(?:^|\.|_)(?:ups?|upsampl\w*|up_?conv\w*|up_blocks|dec(?:oder)?s?|deconv\w*)(?:[._]|\d|$)", re.I)
_SAME = re.compile(r"downsample|shortcut|skip|identity|projection", re.I)
_HALVES = re.compile(r"downsamplers?\.\d+\.(?:conv|op)|\.op\.weight$", re.I)
_DOUBLES = re.compile(r"upsamplers?\.\d+\.conv", re.I)
_STEM = re.compile(r"^(?:\w+\.)?(?:conv_?in|stem|conv1|embedder|first)", re.I)
_POINTWISE = re.compile(r"(?:pwconv|pointwise)\w*\.weight$")
_PATCHES = (4, 8, 14, 16, 32)
"""Sides of the patches that a first convolution cuts an image into."""
_END = re.compile(r"conv_out|out_conv|outc|final|head", re.I)


def guessed(tensors: tuple[Tensor, ...]) -> tuple[tuple[Stage, ...], bool]:
    """Stages from names and shapes, and whether it is a U-Net.

    The image halves where a new stage begins, where a numbered sequence leaves room for a pool, and else where channels
    double; it doubles at transposed convolutions and upsamplers.
    """
    rows = sorted(_rows(tensors), key=lambda row: _order(row.name))
    unet = any(row.up for row in rows)
    gap = _gap([row.name for row in rows])
    out: list[Stage] = []
    before, due = "", False
    for row in rows:
        if row.doubles:
            out.append(_doubled(row))
        else:
            row = row._replace(inputs=_whole(row.inputs, out))
            due = due or (not row.up and _begins(before, row, gap, out))
            out += _convolved(row, due, first=not out, pools=unet or _numbers(row.name) is not None)
            due = due and row.kernel == 1
        before = row.name
    return tuple(out), unet


class _Row(NamedTuple):
    """A convolution as its weights tell it."""

    name: str
    inputs: int
    outputs: int
    kernel: int
    up: bool  # on the way up of a U-Net

    @property
    def doubles(self) -> bool:
        return (self.up and self.kernel in (2, 4)) or bool(_DOUBLES.search(self.name))


def _rows(tensors: tuple[Tensor, ...]) -> Iterator[_Row]:
    for tensor in tensors:
        if tensor.is_kernel or _POINTWISE.search(tensor.name):
            inputs, outputs, kernel = _sides(tensor)
            if kernel:
                yield _Row(tensor.name, inputs, outputs, kernel, _part(tensor.name) == 4)


def _doubled(row: _Row) -> Stage:
    """A transposed convolution has its sides turned; one behind an upsampler has not."""
    sides = (row.outputs, row.inputs) if row.kernel in (2, 4) else (row.inputs, row.outputs)
    return Stage("transposed", *sides, row.kernel, 2, row.name)


def _convolved(row: _Row, due: bool, first: bool, pools: bool) -> list[Stage]:
    """A convolution that halves the image where that is due, by a pool before it or by its own stride."""
    name, inputs, outputs, kernel, _ = row
    pool = f"{name} pool"
    if first and kernel == 7:
        return [Stage("conv", inputs, outputs, 7, 2, name), Stage("pool", outputs, outputs, 2, 2, pool)]
    if first and kernel in _PATCHES:
        return [Stage("conv", inputs, outputs, kernel, kernel, name)]
    halves = due and kernel > 1
    if halves and kernel > 2 and pools and not _HALVES.search(name):
        return [Stage("pool", inputs, inputs, 2, 2, pool), Stage("conv", inputs, outputs, kernel, 1, name)]
    return [Stage("conv", inputs, outputs, kernel, 2 if halves else 1, name)]


def _sides(tensor: Tensor) -> tuple[int, int, int]:
    """Inputs, outputs and kernel: (out, in, k, k) as torch has them, (k, k, in, out) as JAX and Keras."""
    if tensor.is_matrix:
        return tensor.shape[1], tensor.shape[0], 1
    if len(tensor.shape) != 4:
        return 0, 0, 0
    a, b, c, d = tensor.shape
    if c == d and c <= 11:
        return b, a, c
    if a == b and a <= 11:
        return c, d, a
    return (b, a, c) if c == d else (0, 0, 0)


def _whole(inputs: int, out: list[Stage]) -> int:
    """A convolution in many groups, down to one channel each, still reads all that comes before it."""
    last = out[-1].outputs if out else 0
    grouped = 0 < inputs <= 64 and last % inputs == 0 and last // inputs >= 4
    return last if grouped else inputs


def _part(name: str) -> int:
    """Stem, way down, middle, way up, end."""
    if _END.search(name):
        return 5
    if _UP.search(name):
        return 4
    if re.search(r"mid|bottle", name, re.I):
        return 3
    return 0 if _STEM.search(name) else 2


def _order(name: str) -> tuple[int, list[tuple[int, int, str]]]:
    """Layer 10 behind layer 9; on the way up numbers go before words, as ups.0 goes with up_convs.0."""
    part = _part(name)
    pieces = [(1, int(p), "") if p.isdigit() else (0, 0, p) for p in _NUMBER.split(name)]
    if part == 4:
        numbers = [p for p in pieces if p[0] == 1]
        late = 1 if "upsampl" in name else 0
        return part, [*numbers[:1], (0, late, ""), (0, len(numbers), ""), *pieces]
    return part, pieces


def _numbers(name: str) -> tuple[str, int] | None:
    """The sequence that a layer stands in, and its number there."""
    found = re.fullmatch(r"(.*?)(\d+)\.(?:weight|kernel)", name)
    return (found[1], int(found[2])) if found else None


def _gap(names: list[str]) -> int:
    """How far layers of one sequence are apart where nothing is between them but their own norm and activation."""
    apart = [_apart(a, b) for a, b in pairwise(names)]
    return min((steps for steps in apart if steps is not None and steps > 0), default=0)


def _begins(before: str, row: _Row, gap: int, out: list[Stage]) -> bool:
    """Whether the image halves here."""
    if _HALVES.search(row.name):
        return True
    if not before or _SAME.search(row.name) or any(_HALVES.search(stage.name) for stage in out):
        return False
    one, two = _STAGE.search(before), _STAGE.search(row.name)
    if two:
        return one is not None and int(two[1]) > int(one[1])
    apart = _apart(before, row.name)
    doubles = row.outputs >= 2 * row.inputs and row.kernel > 1
    return apart > gap if apart is not None and gap else doubles and len(out) > 1


def _apart(before: str, name: str) -> int | None:
    """How far two layers of one numbered sequence are apart; None where they are of none."""
    a, b = _numbers(before), _numbers(name)
    return b[1] - a[1] if a and b and a[0] == b[0] else None
