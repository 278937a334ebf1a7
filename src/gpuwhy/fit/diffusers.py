"""Configurations of diffusers: U-Nets by their blocks, in order."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.fit.config import Config
from gpuwhy.fit.model import Architecture, Stage


def unet_of(config: Config) -> Architecture | None:
    """The architecture of a U-Net or of an autoencoder's; None where it is neither."""
    if not config.name.startswith(("UNet", "AutoencoderKL", "AutoencoderTiny", "VQModel")):
        return None
    widths = [one for one in config.list("block_out_channels") if isinstance(one, int) and one > 0]
    heads = config.values.get("attention_head_dim")
    return Architecture(
        kind="unet",
        name=config.name,
        layers=config.count("layers_per_block"),
        hidden=max(widths, default=None),
        head_dim=heads if isinstance(heads, int) else None,
        image=config.count("sample_size"),
        channels=config.count("in_channels"),
        stages=tuple(_stages(config, widths)),
    )


def _stages(config: Config, widths: list[int]) -> Iterator[Stage]:
    """Down, middle and up: two convolutions for each of a block's layers, one that changes the size."""
    if not widths:
        return
    per_block = min(config.count("layers_per_block") or 1, 32)
    before = widths[0]
    yield Stage("conv", config.count("in_channels") or 3, before, 3, name="conv_in")
    for number, width in enumerate(widths[:32]):
        yield from _block(before, width, per_block, f"down.{number}")
        if number + 1 < len(widths):
            yield Stage("conv", width, width, 3, 2, f"down.{number}.downsample")
        before = width
    yield from _block(before, before, 2, "mid")
    for number, width in enumerate(reversed(widths[:32])):
        yield from _block(before + width, width, per_block + 1, f"up.{number}")
        if number + 1 < len(widths):
            yield Stage("transposed", width, width, 3, 2, f"up.{number}.upsample")
        before = width
    yield Stage("conv", before, config.count("out_channels") or 3, 3, name="conv_out")


def _block(inputs: int, outputs: int, count: int, name: str) -> Iterator[Stage]:
    for number in range(count):
        yield Stage("conv", inputs if number == 0 else outputs, outputs, 3, name=f"{name}.{number}.conv1")
        yield Stage("conv", outputs, outputs, 3, name=f"{name}.{number}.conv2")
