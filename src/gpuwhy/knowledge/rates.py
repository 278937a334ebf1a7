"""Rates: what even the slowest card of a compute capability does, to tell a broken card from a small one."""

from __future__ import annotations

import msgspec

from gpuwhy.facts.fact import Source

GB, TFLOP = 1e9, 1e12
FAR_BELOW = 0.1
"""A card is called slow only below this part of the slowest card of its kind: a short test never reaches the figure."""


class Slowest(msgspec.Struct, frozen=True):
    """The slowest card of a compute capability: its memory and its float32 arithmetic."""

    capability: str
    card: str
    bytes_per_second: float
    flops: float
    source: Source


def _row(capability: str, card: str, gigabytes: float, teraflops: float) -> Slowest:
    source = Source("know", "NVIDIA's product specifications", card)
    return Slowest(capability, card, gigabytes * GB, teraflops * TFLOP, source)


SLOWEST: tuple[Slowest, ...] = (
    _row("5.0", "GeForce 940M", 14.4, 0.75), _row("5.2", "GeForce GTX 950", 105.6, 1.5),
    _row("6.0", "Tesla P100 12 GB", 549, 9.3), _row("6.1", "GeForce GT 1030 DDR4", 16.8, 0.9),
    _row("7.0", "Tesla V100", 900, 14.0), _row("7.5", "T400", 80, 1.0), _row("8.0", "A30", 933, 10.3),
    _row("8.6", "RTX A400", 96, 2.7), _row("8.9", "RTX 500 Ada laptop", 128, 5.0), _row("9.0", "H100 PCIe", 2000, 51),
    _row("10.0", "B200", 7700, 74), _row("12.0", "GeForce RTX 5050 laptop", 256, 8.0),
)  # fmt: skip


def slowest(capability: str) -> Slowest | None:
    """The row of a capability; None where nobody wrote one."""
    return next((row for row in SLOWEST if row.capability == capability), None)
