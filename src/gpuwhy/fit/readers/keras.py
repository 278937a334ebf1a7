"""Keras: the configuration of its layers as stages, from the archive or from the attribute of the older file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpuwhy.fit.model import Architecture, Kind, Stage, Unreadable
from gpuwhy.fit.source import json

WEIGHTS, CONFIG = "model.weights.h5", "config.json"
_MOST_LAYERS = 100_000
_ATTENTION = ("MultiHeadAttention", "GroupedQueryAttention", "GroupQueryAttention", "Attention")


def architecture_of(data: bytes) -> Architecture | None:
    """What the configuration tells; None where there is none."""
    if not data:
        return None
    try:
        config = json(data, CONFIG)
    except Unreadable:
        return None
    layers = list(_layers(config, 0))
    stages = tuple(_stages(layers))
    attention = [layer for layer in layers if layer.get("class_name") in _ATTENTION]
    heads = _config(attention[0]).get("num_heads") if attention else None
    image, channels = _picture(layers)
    return Architecture(
        kind=_kind(stages, bool(attention)),
        name=str(config.get("class_name", ""))[:80],
        layers=len(attention) or None,
        heads=heads if isinstance(heads, int) else None,
        image=image,
        channels=channels,
        stages=stages,
    )


def _picture(layers: list[dict[str, Any]]) -> tuple[int | None, int | None]:
    """Side and channels of the pictures that go in."""
    shape = next(filter(None, map(_input, layers)), [])
    return (_count(shape[1]), _count(shape[-1])) if len(shape) == 4 else (None, None)


def _stages(layers: list[dict[str, Any]]) -> Iterator[Stage]:
    """Layers with weights, each fed by the one before where its own input is not told."""
    width = 0
    for layer in layers:
        shape = _input(layer)
        width = (_count(shape[-1]) or 0) if shape else width
        if stage := _stage(layer, width):
            yield stage
            width = stage.outputs


def _kind(stages: tuple[Stage, ...], attention: bool) -> Kind:
    if attention:
        return "encoder"
    return "cnn" if any(one.kind in ("conv", "transposed") for one in stages) else "unknown"


def _config(layer: dict[str, Any]) -> dict[str, Any]:
    inner = layer.get("config")
    return inner if isinstance(inner, dict) else {}


def _layers(model: dict[str, Any], depth: int) -> Iterator[dict[str, Any]]:
    """Every layer in order, those of models inside too."""
    inner = _config(model).get("layers")
    if not isinstance(inner, list) or depth > 20:
        yield model
        return
    for layer in inner[:_MOST_LAYERS]:
        if isinstance(layer, dict):
            yield from _layers(layer, depth + 1)


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 31 else None


def _largest(value: object) -> int:
    values = value if isinstance(value, list) else [value]
    return max((found for one in values if (found := _count(one))), default=1)


def _input(layer: dict[str, Any]) -> list[Any]:
    config = _config(layer)
    shape = config.get("batch_shape", config.get("batch_input_shape"))
    return shape if isinstance(shape, list) else []


def _stage(layer: dict[str, Any], before: int) -> Stage | None:
    """A layer with weights; None for another."""
    kind, config = str(layer.get("class_name", "")), _config(layer)
    inputs = _built_for(layer) or before
    name = str(config.get("name", ""))[:200]
    if kind == "Dense":
        return Stage("linear", inputs, _count(config.get("units")) or 0, name=name)
    if "Conv" in kind:
        return _convolution(kind, config, inputs, name)
    if "Pooling" in kind and not kind.startswith("Global"):
        size = _largest(config.get("pool_size"))
        stride = _largest(config.get("strides")) if config.get("strides") else size
        return Stage("pool", inputs, inputs, size, stride, name)
    return Stage("norm", inputs, inputs, name=name) if "Normalization" in kind else None


def _built_for(layer: dict[str, Any]) -> int | None:
    """The channels of the input that a layer was built for."""
    built = layer.get("build_config")
    shape = built.get("input_shape") if isinstance(built, dict) else None
    return _count(shape[-1]) if isinstance(shape, list) and shape else None


def _convolution(kind: str, config: dict[str, Any], inputs: int, name: str) -> Stage:
    outputs = _count(config.get("filters")) or inputs * (_count(config.get("depth_multiplier")) or 1)
    kernel, stride = _largest(config.get("kernel_size")), _largest(config.get("strides"))
    return Stage("transposed" if "Transpose" in kind else "conv", inputs, outputs, kernel, stride, name)


def is_optimizers(name: str) -> bool:
    """Whether a dataset's path says that it belongs to training."""
    return name.startswith(("optimizer/", "optimizer_weights/", "_optimizer/"))
