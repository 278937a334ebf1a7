"""Which reader a path is for: by what its bytes begin with, then by what lies in the folder."""

import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from gpuwhy.fit import headers, torchfile
from gpuwhy.fit.config import Config, quantised
from gpuwhy.fit.families import architecture_of, tensors_of
from gpuwhy.fit.model import Folder, Model, Tensor, Unreadable
from gpuwhy.machine.files import FileSystem

_MOST_SAID, _LONGEST = 40, 280
_HUB = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}")
_SINGLE = ("model.safetensors", "pytorch_model.bin")
_ENDINGS = (".safetensors", ".gguf", ".bin", ".pt", ".pth", ".ckpt")
_NO_MODEL = re.compile(r"(optimizer|scheduler|scaler|rng_state|training_args|random_states).*")
_PART = re.compile(r"(.*)-\d{5}-of-\d{5}(\.[a-z]+)")


def read(path: str) -> Model:
    """A model as its files describe it, headers only; raises Unreadable with one sentence."""
    try:
        found = FileSystem().stat(path)
    except (OSError, ValueError):
        why = f"there is nothing at {path}"
        if _HUB.fullmatch(path):
            why = f"there is no file or folder {path}; if it is a model of the Hugging Face hub, "
            why += f"fetch its configuration alone: hf download {path} config.json "
            why += f"--local-dir {path}, then gpuwhy fit {path}"
        raise Unreadable(why) from None
    if found.kind not in ("file", "folder"):
        raise Unreadable(f"{path} is neither a file nor a folder")
    where, _, name = path.rpartition("/") if found.kind == "file" else (path, "", "")
    try:
        with closing(Folder(where or ("/" if path.startswith("/") else "."))) as folder:
            model = _file(folder, name) if name else _folder(folder)
    except RecursionError:
        raise Unreadable("it is nested deeper than any real model") from None
    except Unreadable as error:
        raise Unreadable(str(error)[:_LONGEST]) from None
    said = tuple(one[:_LONGEST] for one in model.unknown[:_MOST_SAID])
    return replace(model, path=path, unknown=said)


def _file(folder: Folder, name: str) -> Model:
    if name.endswith(".index.json"):
        return _indexed(folder, name)
    if name.endswith(".json"):
        return of_config(Config(folder.json(name)), name)
    source = folder.open(name)
    head = source.some(0, 16)
    if head.startswith(b"GGUF"):
        return headers.gguf(folder, name, source)
    if head.startswith(torchfile.MARKS):
        return _beside(Model(name, "torch", tuple(torchfile.read(source))), folder)
    if headers.is_safetensors(source):
        return _beside(Model(name, "safetensors", tuple(headers.safetensors(source))), folder)
    if not source.size:
        raise Unreadable("it is empty")
    if head.startswith(b"version https://"):
        raise Unreadable("it is a pointer of Git LFS, not the file itself: git lfs pull fetches it")
    what = "it is of no format that is read (safetensors, GGUF, PyTorch, config.json)"
    if head.startswith(b"\x89HDF\r\n\x1a\n"):
        what = "HDF5 (Keras) is not read here"
    elif head.startswith(b"\x08") or name.endswith(".onnx"):
        what = "ONNX is not read here"
    raise Unreadable(f"{what}: convert it to safetensors, or give a folder with its config.json")


def _folder(folder: Folder) -> Model:
    """The model of a folder: an index, the usual names, what else has weights, config.json."""
    names = folder.names()
    if "adapter_config.json" in names:
        raise Unreadable("it is an adapter: give the folder of the model that it changes")
    usual = (*(f"{name}.index.json" for name in _SINGLE), *_SINGLE)
    held = [one for one in usual if one in names][:1] or _other(names)
    if not held:
        if "config.json" in names:
            return of_config(Config(folder.json("config.json")), "config.json")
        raise Unreadable("there is no safetensors, GGUF or PyTorch file in it, and no config.json")
    models = [_file(folder, name) for name in held]
    if len(models) == 1:
        return models[0]
    tensors = {one.name: one for model in models for one in model.tensors}
    return replace(models[0], tensors=tuple(tensors.values()), files=len(models))


def _other(names: Sequence[str]) -> list[str]:
    """Files with weights that have no usual name: one, or the parts of one."""
    for ending in _ENDINGS:
        plain = [n for n in names if n.endswith(ending) and not _NO_MODEL.match(n)]
        if len(plain) > 1 and len({_PART.sub(r"\1\2", one) for one in plain}) > 1:
            listed = ", ".join(plain[:4])
            raise Unreadable(f"there are several models in this folder: name one ({listed})")
        if plain:
            return plain[:1] if ending == ".gguf" else plain  # whose first part names the others
    return []


def _indexed(folder: Folder, name: str) -> Model:
    """An index of safetensors or of torch's files, with what it names."""
    weights = folder.json(name).get("weight_map")
    if not isinstance(weights, dict) or not all(isinstance(v, str) for v in weights.values()):
        raise Unreadable(f"{name} names no files")
    files = sorted(set(weights.values()))
    missing = [one for one in files if not folder.has(one)]
    tensors: list[Tensor] = []
    for source in (folder.open(one) for one in files if one not in missing):
        pickled = source.some(0, 16).startswith(torchfile.MARKS)
        tensors += torchfile.read(source) if pickled else headers.safetensors(source)
    lost = f"{len(missing)} of {len(files)} files of the index are not here ("
    said = tuple(f"{lost}{one[:80]} …): their tensors are not counted" for one in missing[:1])
    form = "torch" if name.endswith("bin.index.json") else "safetensors"
    found = Model(name, form, tuple(tensors), unknown=said, files=len(files), partial=bool(said))
    return _beside(found, folder)


def _beside(model: Model, folder: Folder) -> Model:
    """A model with what the configuration beside its weights says; else what is missing."""
    try:
        config = Config(folder.json("config.json"))
    except Unreadable:
        config = Config({})
    if not config.is_model:
        said = "there is no config.json beside the weights: the layers are not known"
        return replace(model, unknown=(*model.unknown, said))
    if model.partial and config.kind:
        whole = of_config(config, "config.json")
        if whole.tensors and not whole.partial:
            why = (*model.unknown, "all of its tensors are counted by config.json instead")
            return replace(whole, path=model.path, unknown=why, files=model.files)
    arch, method = architecture_of(config), config.quantisation
    return replace(model, architecture=arch, quantisation=method, dtype=config.dtype)


def of_config(config: Config, name: str) -> Model:
    """The model that a configuration describes; raises Unreadable."""
    if not config.is_model:
        raise Unreadable(f"{name} is JSON, but no configuration of a model: it has no model_type")
    tensors, unknown, partial = tensors_of(config, config.dtype or "f32")
    if config.quantisation:
        tensors, said = quantised(tensors, config)
        unknown += said
    if not config.dtype and tensors:
        unknown.append("config.json states no type of the weights: 32-bit floats are counted")
    return Model(
        name,
        "config",
        tuple(tensors),
        architecture_of(config),
        config.quantisation,
        tuple(unknown),
        dtype=config.dtype,
        computed=True,
        partial=partial,
    )
