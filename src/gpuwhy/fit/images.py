"""Activations of networks of convolutions: the image's size at every layer, what is kept, what is held at once."""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpuwhy.fit.model import Architecture, Model, Stage
from gpuwhy.fit.strides import guessed

_BESIDE = re.compile(r"downsample|shortcut|skip|identity|projection", re.I)
_NORM = re.compile(r"norm|bn\d|running_mean|\.gamma$")
WORKSPACE = 0.6
"""cuDNN's workspace for a convolution of three, as a share of its output; seen on an H200 between 0.3 and 1.9."""
POOLED = 3.0
"""A pool keeps its output, and where each maximum came from in eight bytes."""


@dataclass(frozen=True, slots=True)
class Layer:
    """One convolution with the image before and behind it, in elements for each picture."""

    before: int
    behind: int
    kept: float  # of them, by training
    held: float  # while it is computed, its workspace included


@dataclass(frozen=True, slots=True)
class Network:
    """The layers in order; `sure` where strides were read, not guessed."""

    layers: tuple[Layer, ...]
    sure: bool
    skips: int = 0  # elements that a U-Net carries across
    unet: bool = False
    joined: bool = False  # has shortcuts

    @property
    def kept(self) -> float:
        """Elements that training keeps of one picture."""
        return (self.layers[0].before if self.layers else 0) + sum(one.kept for one in self.layers)

    @property
    def held(self) -> float:
        """The most elements that are held at once when nothing is kept, a shortcut included."""
        return self.skips + max((one.held + self._beside(one) for one in self.layers), default=0.0)

    @property
    def widest(self) -> int:
        """The largest output of a layer."""
        return max((one.behind for one in self.layers), default=0)

    def _beside(self, one: Layer) -> float:
        """What a shortcut holds meanwhile: as much as a layer that widens gives."""
        return (
            float(one.behind)
            if self.joined and not self.unet and one.behind > one.before > self.layers[0].before
            else 0.0
        )

    @property
    def turned(self) -> float:
        """The most elements of the backward pass: what is still kept before a layer, and the gradients around it."""
        most, kept = 0.0, float(self.layers[0].before if self.layers else 0)
        for one in self.layers:
            kept += one.kept
            most = max(most, kept + one.before + one.behind)
        return most


def network(model: Model, image: int) -> Network | None:
    """The network of a model for square images of this size; None where it has no convolutions."""
    arch = model.architecture or Architecture()
    stages, unet = arch.stages, arch.kind == "unet"
    sure = any(stage.stride > 1 for stage in stages)
    named = any("downsamplers." in tensor.name for tensor in model.tensors)
    if not sure or named:
        stages, unet = guessed(model.tensors)
    layers, skips = _walk(stages, image, *_copies(model, unet))
    joined = any(_BESIDE.search(stage.name) for stage in stages)
    return Network(tuple(layers), sure or named, skips if unet else 0, unet, joined) if layers else None


def _copies(model: Model, unet: bool) -> tuple[int, int]:
    """How often training keeps a layer's input, and its output.

    A norm keeps its input, an activation its output, which is the next layer's input; where the norm comes first, as in
    networks of diffusion, a layer's input is kept before the norm, behind it, and behind the activation.
    """
    normed = any(len(t.shape) == 1 and _NORM.search(t.name) for t in model.tensors)
    batch = any("running_mean" in t.name for t in model.tensors)
    return (3, 0) if normed and unet and not batch else (0, 1 + normed)


def _walk(stages: tuple[Stage, ...], image: int, before_: int, behind_: int) -> tuple[list[Layer], int]:
    """Follow the image through the stages; shortcuts end at the size that the main path has reached."""
    layers: list[Layer] = []
    size, skips = image, 0
    last = 0  # channels that came last
    for stage in stages:
        if stage.kind in ("linear", "norm"):
            continue
        beside = stage.kernel == 1 and bool(_BESIDE.search(stage.name))
        before, size = size, _size_behind(stage, size, beside)
        skips += last * before * before if size < before else 0
        a, b = stage.inputs * before * before, stage.outputs * size * size
        own = before_ * a + behind_ * b
        if behind_ and 0 < last < stage.inputs and not beside:
            own += a  # what is joined to the last output is a copy of both
        layers.append(Layer(a, b, _kept(stage, b, beside, own), _held(stage, a, b, bool(before_))))
        last = stage.outputs
    return layers, skips


def _size_behind(stage: Stage, size: int, beside: bool) -> int:
    """The image's side behind a stage; a shortcut does not move it."""
    stride = max(1, stage.stride)
    if stage.kind in ("transposed", "up"):
        return size * stride
    return size if beside else max(1, -(-size // stride))


def _kept(stage: Stage, b: int, beside: bool, own: float) -> float:
    """What enlarges an image is kept where it is joined with what came across."""
    if stage.kind in ("transposed", "up"):
        return 0.0
    return POOLED * b if stage.kind == "pool" else float(b) if beside else own


def _held(stage: Stage, a: int, b: int, normed_first: bool) -> float:
    """Input, output and one more; with a norm before it three of the input. cuDNN takes room for kernels of three."""
    space = WORKSPACE * b if stage.kernel == 3 and stage.kind == "conv" else 0.0
    return (3.0 * a + b if normed_first else a + 2.0 * b) + space
