"""The tensors of diffusers' U-Nets and autoencoders, which are built from blocks; judged by diffusers itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gpuwhy.fit.config import Config

Row = tuple[str, tuple[int, ...]]
_MOST_BLOCKS = 32


class UnknownBlockError(Exception):
    """A part of which it is not known how it is built."""


def _linear(name: str, *shape: int, bias: bool = True) -> Iterator[Row]:
    yield f"{name}.weight", shape
    if bias:
        yield f"{name}.bias", shape[:1]


def _resnet(name: str, inputs: int, outputs: int, time: int) -> Iterator[Row]:
    """Two convolutions with their norms; a shortcut where the width changes."""
    yield from _linear(f"{name}.norm1", inputs)
    yield from _linear(f"{name}.conv1", outputs, inputs, 3, 3)
    if time:
        yield from _linear(f"{name}.time_emb_proj", outputs, time)
    yield from _linear(f"{name}.norm2", outputs)
    yield from _linear(f"{name}.conv2", outputs, outputs, 3, 3)
    if inputs != outputs:
        yield from _linear(f"{name}.conv_shortcut", outputs, inputs, 1, 1)


def _transformer(name: str, width: int, cross: int, layers: int, linear: bool) -> Iterator[Row]:
    """Attention of the image to itself and to the text."""
    ends = (width, width) if linear else (width, width, 1, 1)
    yield from _linear(f"{name}.norm", width)
    yield from _linear(f"{name}.proj_in", *ends)
    for number in range(layers):
        block = f"{name}.transformer_blocks.{number}"
        for part, source in (("attn1", width), ("attn2", cross)):
            yield from _linear(f"{block}.{part}.to_q", width, width, bias=False)
            yield from _linear(f"{block}.{part}.to_k", width, source, bias=False)
            yield from _linear(f"{block}.{part}.to_v", width, source, bias=False)
            yield from _linear(f"{block}.{part}.to_out.0", width, width)
        for norm in ("norm1", "norm2", "norm3"):
            yield from _linear(f"{block}.{norm}", width)
        yield from _linear(f"{block}.ff.net.0.proj", 8 * width, width)
        yield from _linear(f"{block}.ff.net.2", width, 4 * width)
    yield from _linear(f"{name}.proj_out", *ends)


def _counts(value: Any, count: int, what: str) -> list[int]:
    """A number for each block: one for all, or a list."""
    values = value if isinstance(value, list) else [value] * count
    if len(values) != count or not all(isinstance(one, int) and 0 < one < 1 << 20 for one in values):
        raise UnknownBlockError(f"{what} in a form that is understood")
    return values


def _widths(config: Config) -> list[int]:
    values = config.list("block_out_channels")
    if not 0 < len(values) <= _MOST_BLOCKS:
        raise UnknownBlockError("block_out_channels")
    return _counts(values, len(values), "block_out_channels")


class _UNet:
    def __init__(self, config: Config) -> None:
        self.config = config
        self.widths = _widths(config)
        count = len(self.widths)
        self.time = 4 * self.widths[0]
        self.layers = _counts(config.values.get("layers_per_block", 2), count, "layers_per_block")
        self.cross = _counts(config.values.get("cross_attention_dim"), count, "cross_attention_dim")
        self.depth = _counts(
            config.values.get("transformer_layers_per_block") or 1, count, "transformer_layers_per_block"
        )
        self.linear = config.flag("use_linear_projection")
        if max(self.layers + self.depth) > 64:
            raise UnknownBlockError("a number of layers that any model has")
        odd = ("class_embed_type", "encoder_hid_dim", "time_cond_proj_dim", "reverse_transformer_layers_per_block")
        for key in (*odd, "num_class_embeds", "cross_attention_norm"):
            if config.values.get(key):
                raise UnknownBlockError(f"how it is built with {key}, to us")

    def rows(self) -> Iterator[Row]:
        first, last = self.widths[0], self.widths[-1]
        yield from _linear("conv_in", first, self.config.count("in_channels") or 4, 3, 3)
        yield from _linear("time_embedding.linear_1", self.time, first)
        yield from _linear("time_embedding.linear_2", self.time, self.time)
        yield from self._added()
        yield from self._down()
        yield from self._middle(last)
        yield from self._up()
        yield from _linear("conv_norm_out", first)
        yield from _linear("conv_out", self.config.count("out_channels") or 4, first, 3, 3)

    def _added(self) -> Iterator[Row]:
        kind = self.config.text("addition_embed_type")
        if kind == "text_time":
            yield from _linear("add_embedding.linear_1", self.time, self._told("projection_class_embeddings_input_dim"))
            yield from _linear("add_embedding.linear_2", self.time, self.time)
        elif kind:
            raise UnknownBlockError(f"how {kind[:40]} is built, to us")

    def _told(self, key: str) -> int:
        value = self.config.count(key)
        if value is None:
            raise UnknownBlockError(key)
        return value

    def _crossed(self, key: str, number: int) -> bool:
        """Whether a block has attention."""
        kinds = self.config.list(key)
        kind = str(kinds[number]) if number < len(kinds) else ""
        if kind.startswith(("CrossAttnDownBlock2D", "CrossAttnUpBlock2D")):
            return True
        if kind in ("DownBlock2D", "UpBlock2D"):
            return False
        raise UnknownBlockError(f"how the block {kind[:40] or number} is built, to us")

    def _attention(self, name: str, width: int, place: int) -> Iterator[Row]:
        yield from _transformer(name, width, self.cross[place], self.depth[place], self.linear)

    def _down(self) -> Iterator[Row]:
        before = self.widths[0]
        for number, width in enumerate(self.widths):
            name, crossed = f"down_blocks.{number}", self._crossed("down_block_types", number)
            for layer in range(self.layers[number]):
                yield from _resnet(f"{name}.resnets.{layer}", before if not layer else width, width, self.time)
                if crossed:
                    yield from self._attention(f"{name}.attentions.{layer}", width, number)
            if number + 1 < len(self.widths):
                yield from _linear(f"{name}.downsamplers.0.conv", width, width, 3, 3)
            before = width

    def _middle(self, width: int) -> Iterator[Row]:
        kind = self.config.values.get("mid_block_type", "UNetMidBlock2DCrossAttn")
        if kind is None:
            return
        if kind != "UNetMidBlock2DCrossAttn":
            raise UnknownBlockError(f"how the block {str(kind)[:40]} is built, to us")
        yield from _resnet("mid_block.resnets.0", width, width, self.time)
        yield from self._attention("mid_block.attentions.0", width, -1)
        yield from _resnet("mid_block.resnets.1", width, width, self.time)

    def _up(self) -> Iterator[Row]:
        turned = self.widths[::-1]
        before = turned[0]
        for number, width in enumerate(turned):
            name, crossed = f"up_blocks.{number}", self._crossed("up_block_types", number)
            place = len(turned) - 1 - number
            skipped = turned[min(number + 1, len(turned) - 1)]
            count = self.layers[place] + 1
            for layer in range(count):
                inputs = (before if not layer else width) + (skipped if layer == count - 1 else width)
                yield from _resnet(f"{name}.resnets.{layer}", inputs, width, self.time)
                if crossed:
                    yield from self._attention(f"{name}.attentions.{layer}", width, place)
            if number + 1 < len(turned):
                yield from _linear(f"{name}.upsamplers.0.conv", width, width, 3, 3)
            before = width


def _unet(config: Config) -> Iterator[Row]:
    yield from _UNet(config).rows()


def _autoencoder(config: Config) -> Iterator[Row]:
    widths, latent = _widths(config), config.count("latent_channels") or 4
    layers = min(config.count("layers_per_block") or 1, 64)
    kinds = {*map(str, config.list("down_block_types")), *map(str, config.list("up_block_types"))}
    if not kinds <= {"DownEncoderBlock2D", "UpDecoderBlock2D"}:
        raise UnknownBlockError(f"how the block {min(kinds)[:40]} is built, to us")
    yield from _coder("encoder", widths, layers, config.count("in_channels") or 3, 2 * latent, config)
    yield from _coder("decoder", widths[::-1], layers + 1, latent, config.count("out_channels") or 3, config)
    if config.flag("use_quant_conv", True):
        yield from _linear("quant_conv", 2 * latent, 2 * latent, 1, 1)
    if config.flag("use_post_quant_conv", True):
        yield from _linear("post_quant_conv", latent, latent, 1, 1)


def _coder(name: str, widths: list[int], layers: int, inputs: int, outputs: int, config: Config) -> Iterator[Row]:
    """One half: blocks that halve the image, or double it, and a middle where it is smallest."""
    encodes = name == "encoder"
    way = ("down_blocks", "downsamplers") if encodes else ("up_blocks", "upsamplers")
    middle = widths[-1] if encodes else widths[0]
    yield from _linear(f"{name}.conv_in", widths[0], inputs, 3, 3)
    before = widths[0]
    for number, width in enumerate(widths):
        for layer in range(layers):
            yield from _resnet(f"{name}.{way[0]}.{number}.resnets.{layer}", before if not layer else width, width, 0)
        if number + 1 < len(widths):
            yield from _linear(f"{name}.{way[0]}.{number}.{way[1]}.0.conv", width, width, 3, 3)
        before = width
    for layer in range(2):
        yield from _resnet(f"{name}.mid_block.resnets.{layer}", middle, middle, 0)
    if config.flag("mid_block_add_attention", True):
        yield from _linear(f"{name}.mid_block.attentions.0.group_norm", middle)
        for part in ("to_q", "to_k", "to_v", "to_out.0"):
            yield from _linear(f"{name}.mid_block.attentions.0.{part}", middle, middle)
    yield from _linear(f"{name}.conv_norm_out", widths[-1])
    yield from _linear(f"{name}.conv_out", outputs, widths[-1], 3, 3)


BUILT: dict[str, Callable[[Config], Iterator[Row]]] = {"UNet2DConditionModel": _unet, "AutoencoderKL": _autoencoder}
"""By the name of the class."""
