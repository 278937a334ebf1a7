"""Which reader a path is for: by what its bytes begin with, then by what lies in the folder."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from gpuwhy.fit import gguf, safetensors, torchfile
from gpuwhy.fit.config import Config, architecture_of
from gpuwhy.fit.families import tensors_of
from gpuwhy.fit.model import Architecture, Model, Tensor, Unreadable
from gpuwhy.fit.quantised import quantised
from gpuwhy.fit.source import Folder, Source
from gpuwhy.machine.files import FileSystem

_MOST_SAID, _LONGEST = 40, 280
_HUB = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}")
_INDEXES = (
    "model.safetensors.index.json",
    "adapter_model.safetensors.index.json",
    "pytorch_model.bin.index.json",
)
_SINGLE = (
    "model.safetensors",
    "adapter_model.safetensors",
    "pytorch_model.bin",
    "adapter_model.bin",
)
_ENDINGS = (".safetensors", ".gguf", ".bin", ".pt", ".pth", ".ckpt")
_NO_MODEL = re.compile(r"(optimizer|scheduler|scaler|rng_state|training_args|random_states).*")
_VARIANT = re.compile(r"\.(fp16|bf16|ema|non_ema)\.")
_PART = re.compile(r"(.*)-\d{5}-of-\d{5}(\.[a-z]+)")
_LIBRARIES = (
    (b"\x89HDF\r\n\x1a\n", "HDF5 (Keras)", "h5py"),
    (b"\x08", "ONNX", "onnx"),
)
_INSTEAD = "convert it to safetensors, or give a folder with its config.json"


def read(path: str) -> Model:
    """A model as its files describe it, headers only; raises Unreadable with one sentence."""
    system = FileSystem()
    try:
        found = system.stat(path)
    except (OSError, ValueError):
        raise Unreadable(_nothing_at(path)) from None
    if found.kind not in ("file", "folder"):
        raise Unreadable(f"{path} is neither a file nor a folder")
    where, _, name = path.rpartition("/") if found.kind == "file" else (path, "", "")
    folder = Folder(where or ("/" if path.startswith("/") else "."), system)
    try:
        model = _file(folder, name) if name else _folder(folder)
    except RecursionError:
        raise Unreadable("it is nested deeper than any real model") from None
    except Unreadable as error:
        raise Unreadable(str(error)[:_LONGEST]) from None
    finally:
        folder.close()
    said = tuple(one[:_LONGEST] for one in model.unknown[:_MOST_SAID])
    return replace(model, path=path, unknown=said)


def _nothing_at(path: str) -> str:
    if not _HUB.fullmatch(path):
        return f"there is nothing at {path}"
    return (
        f"there is no file or folder {path}; if it is a model of the Hugging Face hub, fetch its "
        f"configuration alone: hf download {path} config.json --local-dir {path}, then gpuwhy fit "
        f"{path}"
    )


def _file(folder: Folder, name: str) -> Model:
    if name.endswith(".index.json"):
        return _beside(_indexed(folder, name), folder)
    if name.endswith(".json"):
        return of_config(Config(folder.json(name)), name)
    source = folder.open(name)
    head = source.some(0, 16)
    if head.startswith(b"GGUF"):
        return gguf.model(folder, name, source)
    if head.startswith(torchfile.MARKS):
        tensors, said = torchfile.read(source)
        return _beside(Model(name, "torch", tuple(tensors), unknown=tuple(said)), folder)
    if safetensors.is_one(source):
        tensors = safetensors.read(source)
        return _beside(Model(name, "safetensors", tuple(tensors)), folder)
    raise Unreadable(_foreign(source, head, name))


def _foreign(source: Source, head: bytes, name: str) -> str:
    if not source.size:
        return "it is empty"
    if head.startswith(b"version https://"):
        return "it is a pointer of Git LFS, not the file itself: git lfs pull fetches it"
    for mark, format_, library in _LIBRARIES:
        if head.startswith(mark) or name.endswith(f".{library}"):
            return f"{format_} is not read here: {_INSTEAD}"
    formats = "safetensors, GGUF, PyTorch, config.json"
    return f"it is of no format that is read ({formats}): {_INSTEAD}"


def _folder(folder: Folder) -> Model:
    names = folder.names()
    if "snapshots" in names and "config.json" not in names:
        states = folder.names("snapshots")
        if len(states) != 1:
            raise Unreadable(f"it is a cache with {len(states)} states of a model: name one")
        inner = Folder(f"{folder.path}/snapshots/{states[0]}", FileSystem())
        try:
            return _folder(inner)
        finally:
            inner.close()
    weights = _weights(folder, names)
    if weights is not None and "adapter_config.json" in names:
        return _adapter(weights, Config(folder.json("adapter_config.json")))
    if weights is not None:
        return weights
    if "config.json" in names:
        return of_config(Config(folder.json("config.json")), "config.json")
    if "model_index.json" in names:
        raise Unreadable("it is a pipeline of several models: give the folder of one of them")
    raise Unreadable("there is no safetensors, GGUF or PyTorch file in it, and no config.json")


def _weights(folder: Folder, names: tuple[str, ...]) -> Model | None:
    """The files with weights, the usual names first."""
    indexes = [*_among(_INDEXES, names), *(n for n in names if n.endswith(".index.json"))]
    if indexes:
        return _beside(_indexed(folder, indexes[0]), folder)
    single = _among(_SINGLE, names)
    if single:
        return _file(folder, single[0])
    for ending in _ENDINGS:
        found = [n for n in names if n.endswith(ending) and not _NO_MODEL.match(n)]
        plain = [n for n in found if not _VARIANT.search(n)] or found
        split = len({_PART.sub(r"\1\2", one) for one in plain}) == 1
        if len(plain) == 1 or (split and plain and ending == ".gguf"):
            return _file(folder, plain[0])
        if plain and split and ending in (".safetensors", ".bin"):
            models = [_file(folder, one) for one in plain]
            tensors = tuple({t.name: t for model in models for t in model.tensors}.values())
            return replace(models[0], tensors=tensors, files=len(models))
        if plain:
            listed = ", ".join(plain[:4])
            raise Unreadable(f"there are several models in this folder: name one ({listed})")
    return None


def _among(usual: Iterable[str], names: tuple[str, ...]) -> list[str]:
    return [one for one in usual if one in names]


def _indexed(folder: Folder, name: str) -> Model:
    """An index of safetensors or of torch's files, with what it names."""
    values = folder.json(name)
    weights = values.get("weight_map")
    if not isinstance(weights, dict) or not all(isinstance(v, str) for v in weights.values()):
        raise Unreadable(f"{name} names no files")
    files = sorted(set(weights.values()))
    tensors: list[Tensor] = []
    missing = [one for one in files if not folder.has(one)]
    for file in files:
        if file not in missing:
            source = folder.open(file)
            pickled = source.some(0, 16).startswith(torchfile.MARKS)
            tensors += torchfile.read(source)[0] if pickled else safetensors.read(source)
    unknown: list[str] = []
    if missing:
        lost = f"{len(missing)} of {len(files)} files of the index are not here ({missing[0][:80]}"
        unknown.append(f"{lost} …): their tensors are not counted")
    kind = "torch" if name.endswith("bin.index.json") else "safetensors"
    said = tuple(unknown)
    return Model(name, kind, tuple(tensors), None, None, said, len(files), partial=bool(missing))


def _beside(model: Model, folder: Folder) -> Model:
    """A model with what the configuration beside its weights says; else what is missing."""
    config = _config(folder)
    if config is None:
        said = "there is no config.json beside the weights: the layers are not known"
        return replace(model, unknown=(*model.unknown, said))
    arch, method = architecture_of(config), config.quantisation
    if model.partial and config.kind:
        whole = of_config(config, "config.json")
        if whole.tensors and not whole.partial:
            why = (*model.unknown, "all of its tensors are counted by config.json instead")
            return replace(whole, path=model.path, unknown=why, files=model.files)
    return replace(model, architecture=arch, quantisation=method, dtype=config.dtype)


def _config(folder: Folder) -> Config | None:
    try:
        values: dict[str, Any] = folder.json("config.json")
    except Unreadable:
        return None
    config = Config(values)
    return config if config.kind or config.name or config.part("text_config") else None


def of_config(config: Config, name: str) -> Model:
    """The model that a configuration describes; raises Unreadable."""
    if not (config.kind or config.name or config.part("text_config")):
        raise Unreadable(f"{name} is JSON, but no configuration of a model: it has no model_type")
    tensors, unknown, partial = tensors_of(config, config.dtype or "f32")
    method = config.quantisation
    if method is not None:
        tensors, said = quantised(tensors, config, method)
        unknown += said
    if config.dtype is None and tensors:
        unknown.append("config.json states no type of the weights: 32-bit floats are counted")
    return Model(
        name,
        "config",
        tuple(tensors),
        architecture_of(config),
        method,
        tuple(unknown),
        dtype=config.dtype,
        computed=True,
        partial=partial,
    )


def _adapter(model: Model, config: Config) -> Model:
    """The weights of an adapter with what its configuration says."""
    kind, rank = config.text("peft_type") or "LORA", config.count("r")
    base = config.text("base_model_name_or_path")
    said = f"this is an adapter ({kind.lower()}{f' of rank {rank}' if rank else ''}): the model "
    said += f"that it changes{f' ({base})' if base else ''} comes on top and is not counted"
    own = [one for one in model.unknown if not one.startswith("there is no config.json")]
    arch = Architecture(name=kind)
    unknown = (*own, said)
    return replace(model, format="adapter", architecture=arch, partial=True, unknown=unknown)
