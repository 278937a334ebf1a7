"""A folder: which of its files are the model, and the parts of a pipeline of diffusers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from gpuwhy.fit.model import Model, Part, Tensor, Unreadable
from gpuwhy.fit.readers import configured, files
from gpuwhy.fit.source import Below, Store, json_file

_MOST_PARTS = 64
_INDEXES = (
    "model.safetensors.index.json", "diffusion_pytorch_model.safetensors.index.json",
    "adapter_model.safetensors.index.json",
    "pytorch_model.bin.index.json", "diffusion_pytorch_model.bin.index.json",
)  # fmt: skip
_SINGLE = (
    "model.safetensors", "diffusion_pytorch_model.safetensors", "adapter_model.safetensors", "pytorch_model.bin",
    "diffusion_pytorch_model.bin", "adapter_model.bin", "model.onnx", "tf_model.h5", "model.keras",
)  # fmt: skip
_KINDS = (".safetensors", ".gguf", ".onnx", ".keras", ".h5", ".hdf5", ".index", ".bin", ".pt", ".pth", ".ckpt")
_PARTS_OF = re.compile(r"(.*)-\d{5}-of-\d{5}(\.[a-z]+)")
_VARIANT = re.compile(r"\.(fp16|bf16|ema|non_ema)\.")
_CONSOLIDATED = re.compile(r"consolidated\.\d+\.pth")
_NO_MODEL = re.compile(r"(optimizer|scheduler|scaler|rng_state|training_args|random_states).*")


def read(store: Store) -> Model:
    """The model of a folder; raises Unreadable."""
    names = store.names()
    if "model_index.json" in names:
        return _pipeline(store)
    if "saved_model.pb" in names:
        return files.saved_model(store)
    if "snapshots" in names and "config.json" not in names:
        return read(_snapshot(store))
    if ".metadata" in names:
        return files.distributed(store)
    weights = _weights(store, names)
    if weights is not None:
        return _with_config(weights, store, names)
    if "config.json" in names:
        return configured.read(store, "config.json")
    raise Unreadable(_nothing(names))


def _with_config(weights: Model, store: Store, names: tuple[str, ...]) -> Model:
    """The weights with what lies beside them; some formats tell all themselves."""
    if "adapter_config.json" in names:
        return configured.adapter(weights, store)
    return weights if weights.format in ("gguf", "onnx", "keras") else configured.beside(weights, store)


def _snapshot(store: Store) -> Store:
    """The state that Hugging Face's cache holds of a model: the one that `main` names, or the only one."""
    found = store.names("snapshots")
    if store.size("refs/main") is not None:
        wanted = store.open("refs/main").some(0, 100).decode("utf-8", "replace").strip()
        found = tuple(one for one in found if one == wanted) or found
    if len(found) != 1:
        raise Unreadable(f"it is a cache that holds {len(found)} states of a model: name one of them (snapshots/…)")
    return Below(store, f"snapshots/{found[0]}")


def _nothing(names: tuple[str, ...]) -> str:
    if "flax_model.msgpack" in names:
        return "it holds a model of Flax only (msgpack), which is not read"
    return (
        "there is no model in this folder: no safetensors, GGUF, ONNX, PyTorch, Keras, TensorFlow file, no config.json"
    )


def _weights(store: Store, names: tuple[str, ...]) -> Model | None:
    """The files with weights, the usual names first."""
    indexes = [*_among(_INDEXES, names), *(one for one in names if one.endswith(".index.json"))]
    if indexes:
        return files.indexed(store, indexes[0])
    single = _among(_SINGLE, names)
    if single:
        return files.read(store, single[0])
    for kind in _KINDS:
        found = [one for one in names if one.endswith(kind) and not _NO_MODEL.match(one)]
        if found:
            return _of_kind(store, kind, found)
    return files.read(store, "onnx/model.onnx") if store.kind("onnx/model.onnx") == "file" else None


def _among(usual: Iterable[str], names: tuple[str, ...]) -> list[str]:
    return [one for one in usual if one in names]


def _of_kind(store: Store, kind: str, found: list[str]) -> Model:
    """One file, or the parts of one model; several models are too many to choose from."""
    plain = sorted(one for one in found if not _VARIANT.search(one)) or sorted(found)
    if all(map(_CONSOLIDATED.fullmatch, plain)):
        return _beside_each_other([files.read(store, one) for one in plain])
    split = len({_PARTS_OF.sub(r"\1\2", one) for one in plain}) == 1
    if len(plain) == 1 or (split and kind == ".gguf"):  # the first part of a GGUF names the others
        return files.read(store, plain[0])
    if kind == ".safetensors" or (split and kind == ".bin"):
        return _together([files.read(store, one) for one in plain])
    raise Unreadable(f"there are several models in this folder: name one of them ({', '.join(plain[:4])})")


def _together(models: Sequence[Model]) -> Model:
    """Files that hold one model without an index."""
    tensors = tuple({one.name: one for model in models for one in model.tensors}.values())
    said = tuple(sentence for model in models for sentence in model.unknown)
    if len({one.name for one in tensors}) < sum(len(model.tensors) for model in models):
        said += ("several files hold tensors of the same names: each name is counted once",)
    return configured.named(replace(models[0], tensors=tensors, unknown=said, files=len(models)))


def _beside_each_other(models: Sequence[Model]) -> Model:
    """Files that each hold a slice of every tensor: all are counted."""
    tensors = tuple(
        Tensor(f"{one.name}@{number}", one.dtype, one.shape, one.bytes)
        for number, model in enumerate(models)
        for one in model.tensors
    )
    return replace(models[0], tensors=tensors if len(models) > 1 else models[0].tensors, files=len(models))


def _pipeline(store: Store) -> Model:
    """The parts of a pipeline, each a folder of its own."""
    parts: list[Part] = []
    unknown: list[str] = []
    for name in _named_parts(json_file(store, "model_index.json")):
        if store.kind(name) != "folder":
            unknown.append(f"{name} is not here and not counted")
        elif _has_model(store.names(name)):
            _add(Below(store, name), name, parts, unknown)
    if not parts:
        raise Unreadable("model_index.json names parts, and none of them is here")
    return _joined(parts, unknown)


def _named_parts(index: dict[str, Any]) -> Iterator[str]:
    """The parts that a pipeline has: a library and a class each, null where it goes without."""
    for name, value in list(index.items())[:_MOST_PARTS]:
        pair = isinstance(value, list) and len(value) == 2
        if pair and value[1] is not None and not name.startswith("_"):
            yield name


def _joined(parts: list[Part], unknown: list[str]) -> Model:
    """The parts as one model, described by the one that does the work."""
    kinds = {part.model.format for part in parts}
    main = next((part.model for part in parts if part.name in ("unet", "transformer", "prior")), parts[0].model)
    said = [f"{part.name}: {sentence}" for part in parts for sentence in part.model.unknown]
    return replace(
        main,
        format=min(kinds - {"config"}, default="config"),
        tensors=tuple(_named(part, one) for part in parts for one in part.model.tensors),
        parts=tuple(parts),
        unknown=(*unknown, *said),
        files=sum(part.model.files for part in parts),
        partial=bool(unknown) or any(part.model.partial for part in parts),
    )


def _named(part: Part, tensor: Tensor) -> Tensor:
    return Tensor(f"{part.name}.{tensor.name}", tensor.dtype, tensor.shape, tensor.bytes)


def _has_model(names: tuple[str, ...]) -> bool:
    """Not a tokenizer's folder, nor a scheduler's."""
    return "config.json" in names or any(one.endswith((".safetensors", ".bin", ".onnx")) for one in names)


def _add(store: Store, name: str, parts: list[Part], unknown: list[str]) -> None:
    try:
        parts.append(Part(name, read(store)))
    except Unreadable as error:
        unknown.append(f"{name} could not be read ({error}) and is not counted")
