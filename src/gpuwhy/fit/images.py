"""Activations of networks of convolutions: the image's size at every layer, what is kept, what is held at once."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpuwhy.fit.model import Model, Stage, Tensor

_NUMBER = re.compile(r"(\d+)")
_BESIDE = re.compile(r"downsample|shortcut|skip|identity|proj(ection)?\.", re.I)
_UP = re.compile(r"\bup|upsampl|transpos|deconv", re.I)
_DOWN = re.compile(r"downsamplers?\.", re.I)
_HALVES = re.compile(r"downsamplers?\.\d|down(sample)?_?conv", re.I)


@dataclass(frozen=True, slots=True)
class Layer:
    """One convolution with the image before and behind it, in elements for each picture."""

    before: int
    behind: int
    beside: bool  # a shortcut that runs beside the main path


@dataclass(frozen=True, slots=True)
class Network:
    """The layers in order; `sure` where strides were read, not guessed."""

    layers: tuple[Layer, ...]
    sure: bool
    normed: bool
    skips: int = 0  # elements that a U-Net carries across
    branches: int = 1  # tensors kept of each layer's output by training

    @property
    def kept(self) -> int:
        """Elements that training keeps of one picture."""
        return sum(self.branches * one.behind for one in self.layers) + (self.layers[0].before if self.layers else 0)

    @property
    def held(self) -> int:
        """The most elements that are held at once when nothing is kept."""
        most = max((one.before + max(one.before + one.behind, 2 * one.behind) for one in self.layers), default=0)
        return most + self.skips


def network(model: Model, image: int) -> Network | None:
    """The network of a model for square images of this size; None where it has no convolutions."""
    arch = model.architecture
    stages = arch.stages if arch else ()
    sure = bool(stages) and any(stage.stride > 1 for stage in stages)
    unet = bool(arch and arch.kind == "unet")
    if not sure:
        stages = guessed(model.tensors, unet)
    layers, skips = _walk(stages, image, unet)
    if not layers:
        return None
    normed = any(len(t.shape) == 1 and re.search(r"norm|bn|running_mean", t.name) for t in model.tensors)
    group = unet and not any("running_mean" in t.name for t in model.tensors)
    return Network(tuple(layers), sure, normed, skips if unet else 0, 1 + normed + (group and normed))


def natural(name: str) -> list[tuple[int, int | str]]:
    """A key by which layer10 comes behind layer9."""
    return [(0, int(part)) if part.isdigit() else (1, part) for part in _NUMBER.split(name)]


def guessed(tensors: tuple[Tensor, ...], unet: bool) -> tuple[Stage, ...]:
    """Stages from the tensors' names and shapes: where channels grow to the double the image is taken to halve."""
    convolutions = [t for t in tensors if len(t.shape) == 4 and t.shape[2] == t.shape[3]]
    out: list[Stage] = []
    widest = 0
    for place, tensor in enumerate(sorted(convolutions, key=lambda t: _path_order(t.name))):
        outputs, inputs, kernel = tensor.shape[0], tensor.shape[1], tensor.shape[2]
        if _UP.search(tensor.name) and kernel in (2, 4):
            out.append(Stage("transposed", outputs, inputs, kernel, 2, tensor.name))
            continue
        stride = _stride(tensor.name, inputs, outputs, kernel, place, widest, unet)
        widest = max(widest, outputs)
        out.append(Stage("conv", inputs, outputs, kernel, stride, tensor.name))
    return tuple(out)


def _path_order(name: str) -> tuple[int, list[tuple[int, int | str]]]:
    """Stems first, then what goes down, the middle, what goes up, the head."""
    low = name.lower()
    words = ((0, r"conv_in|stem|^conv1|embedder"), (2, r"\bdown|enc|layer|stage"), (3, r"mid|bottle"), (4, r"\bup|dec"))
    rank = next((rank for rank, word in reversed(words) if re.search(word, low)), 1)
    return (5 if re.search(r"conv_out|head|final|^out", low) else rank), natural(name)


def _stride(name: str, inputs: int, outputs: int, kernel: int, place: int, widest: int, unet: bool) -> int:
    if _HALVES.search(name):
        return 2
    if place == 0:
        return 4 if kernel == 7 else 1
    grows = outputs >= 2 * inputs or _BESIDE.search(name)
    return 2 if not unet and grows and outputs > widest and widest else 1


def _walk(stages: tuple[Stage, ...], image: int, unet: bool) -> tuple[list[Layer], int]:
    """Follow the image through the stages; shortcuts end at the size that the main path has reached."""
    layers: list[Layer] = []
    size, skips, floor = image, 0, image
    for stage in stages:
        if stage.kind in ("linear", "norm"):
            continue
        beside = bool(_BESIDE.search(stage.name)) and not _DOWN.search(stage.name)
        before = size
        if stage.kind in ("transposed", "up"):
            size *= max(1, stage.stride)
        elif not beside:
            size = max(1, -(-size // max(1, stage.stride)))
        if size < floor:
            skips, floor = skips + stage.inputs * before * before, size
        if stage.kind != "pool":
            layers.append(Layer(stage.inputs * before * before, stage.outputs * size * size, beside))
    return layers, skips
