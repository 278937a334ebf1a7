"""The tensors that a configuration means: the rows of families.toml with its sizes put in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from types import CodeType
from typing import Any

import msgspec

from gpuwhy.fit import dtypes
from gpuwhy.fit.config import Config
from gpuwhy.fit.model import Architecture, Kind, Tensor

_MOST_ROWS, _MOST_LAYERS = 100_000, 10_000
_PLAIN = ("layers", "decoder_layers", "hidden", "heads", "vocab", "positions", "kv_rank")
_COUNTED = ("text", "vision", "quantization", "compression", "generation")
Shaped = Iterator[tuple[str, tuple[int, ...]]]  # names and shapes of tensors


class Family(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One architecture: its rows, what its bare model leaves out of the names, what is its own."""

    rows: str
    base: str = "model"
    kind: Kind = "decoder"
    tied: bool = False
    head: str = "lm_head V,H if !tied"
    classes: str = "score N,H"
    own: dict[str, str] = {}


class _Joined(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    text: str = ""  # the type of the part that does not name its own
    vision: str = ""
    rows: str = ""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    writers: tuple[str, ...]
    classifiers: tuple[str, ...]
    others: dict[str, str]
    bare: tuple[str, ...]
    kinds: dict[str, Kind]
    patterns: dict[str, str]
    letters: dict[str, str]
    missing: dict[str, str]
    family: dict[str, Family]
    joined: dict[str, _Joined]
    encoder_of: dict[str, str]
    defaults: dict[str, dict[str, int]]


class MissingError(Exception):
    """A size that the configuration does not state."""


@cache
def _file() -> _File:
    return msgspec.convert(dtypes.rows("families"), _File)


def families() -> dict[str, Family]:
    """Every architecture by its model type."""
    return _file().family


def _filled(config: Config) -> Config:
    """The same, where a size that it does not state is its class's own."""
    return Config(config.values, _file().defaults.get(config.kind, {}))


def architecture_of(config: Config) -> Architecture:
    """What the fields say; what they do not say is 0."""
    family, name = families().get(config.kind), config.name
    kinds = (one for end, one in _file().kinds.items() if name.endswith(end))
    kind: Kind = next(kinds, "unknown")
    if family is not None:
        kind = family.kind
        if kind == "encoder-decoder" and name.endswith("EncoderModel"):
            kind = "encoder"
    elif config.part("text_config"):
        kind = "decoder"
    elif config.flag("is_encoder_decoder") and kind != "decoder":
        kind = "encoder-decoder"
    main, vision = _filled(config.body), _filled(config.part("vision_config") or config)
    window, every = main.window
    experts = main.of("experts")
    sizes: dict[str, Any] = {
        **{name: main.of(name) for name in (*_PLAIN, "rope_dim")},
        **{name: vision.of(name) for name in ("image", "patch")},
        "intermediate": main.of("inner"),
        "kv_heads": main.kv_heads,
        "head_dim": main.head_dim,
        "experts": experts,
        "experts_used": main.of("used") if experts else 0,
        "expert_intermediate": main.count("moe_intermediate_size") or main.of("inner"),
        "window": window,
        "window_every": every,
        "activation": main.text("hidden_act", "activation_function", "hidden_activation"),
    }
    return replace(Architecture(kind, name or config.kind), **sizes)


def tensors_of(config: Config, dtype: str) -> tuple[list[Tensor], list[str], bool]:
    """The tensors, sentences on what is not among them, and whether whole parts are missing."""
    family = families().get(config.kind)
    if family is None and config.part("text_config", "vision_config"):
        return _several(config, dtype)
    if family is None:
        name = config.kind or config.name or "of this file"
        return [], [f"the architecture {name} is not known: nothing is counted"], True
    own = _filled(config)
    try:
        found = _made(_tensors(family, own), dtype)
    except MissingError as error:
        return [], [f"config.json does not say {error}: nothing is counted"], True
    if len(found) > _MOST_ROWS:
        return [], ["config.json means more tensors than any real model has"], True
    said, file = [], _file()
    known = (*file.writers, *file.classifiers, *file.others, *file.bare)
    if own.name and not own.name.endswith(known):
        said.append(f"the head of {own.name} is not known and not counted")
    if own.taken:
        more = ", ".join(own.taken[:4]) + (" …" if len(own.taken) > 4 else "")
        said.append(f"config.json does not say {more}: the defaults of transformers are counted")
    if own.count("num_nextn_predict_layers"):
        said.append("layers that predict further tokens (num_nextn_predict_layers) are not counted")
    return found, said, False


def _made(shaped: Shaped, dtype: str) -> list[Tensor]:
    listed = islice(shaped, _MOST_ROWS + 1)
    return [Tensor(name, dtype, shape, dtypes.size_of(dtype, shape)) for name, shape in listed]


def _several(config: Config, dtype: str) -> tuple[list[Tensor], list[str], bool]:
    """A model of texts and one of images, and what joins them."""
    joined = _file().joined.get(config.kind, _Joined())
    tensors: list[Tensor] = []
    unknown: list[str] = []
    partial = False
    widths = {}
    for part, kind in (("text", joined.text), ("vision", joined.vision)):
        inner = config.part(f"{part}_config")
        if inner is None:
            continue
        writes = part == "text" and config.name.endswith("ForConditionalGeneration")
        named = ["ForCausalLM"] if writes else [inner.name] if inner.name else []
        values = {**inner.values, "model_type": inner.kind or kind, "architectures": named}
        tied = config.values.get("tie_word_embeddings")
        values |= {"tie_word_embeddings": tied} if isinstance(tied, bool) else {}
        got, said, missing = tensors_of(Config(values), dtype)
        widths[part] = _filled(Config(values)).of("hidden")
        tensors += [replace(one, name=f"{part}_model.{one.name}") for one in got]
        unknown += [f"{part}_config: {sentence}" for sentence in said]
        partial |= missing
    if tensors and joined.rows and len(widths) == 2:
        own = {"T": "text", "S": "vision", "J": "projection_dim or text"}
        whole = _filled(config)
        both = Config({**whole.defaults, **whole.values, **widths})
        tensors += _made(_of_rows(joined.rows, _Names(Family("", own=own), both)), dtype)
    elif tensors:
        name = config.name or config.kind
        unknown.append(f"what joins texts and images in {name} is not known and not counted")
    parts = [key for key in config.values if key.endswith("_config") and config.part(key)]
    others = [key[:60] for key in parts if key.removesuffix("_config") not in _COUNTED]
    unknown += [f"{key}: this part is not known and not counted" for key in others]
    return tensors, unknown, partial or bool(others)


def _tensors(family: Family, config: Config) -> Shaped:
    """The rows of a family, and those of the head that its class has."""
    name, rows, file = config.name, family.rows, _file()
    if name.endswith("EncoderModel") and family.kind == "encoder-decoder":
        rows = file.encoder_of["t5"]
    bare = name.endswith("Model") and not name.endswith(file.writers)
    drop = f"{family.base}." if bare and family.base else ""
    heads = dict.fromkeys(file.classifiers, family.classes) | file.others
    heads |= dict.fromkeys(file.writers, family.head)
    head = next((rows for end, rows in heads.items() if name.endswith(end)), "")
    names = _Names(family, config)
    for one, shape in _of_rows(rows, names):
        yield one.removeprefix(drop), shape
    yield from _of_rows(head if name else family.head, names)


def _of_rows(text: str, names: _Names) -> Shaped:
    prefix = ""
    for line in text.split("\n"):
        words = line.split()
        if len(words) == 1:
            prefix = words[0]
        elif words:
            yield from _of_row((prefix if line[0] == " " else "") + words[0], words[1:], names)


def _of_row(name: str, words: list[str], names: _Names) -> Shaped:
    """A row for each layer that has it, with its bias."""
    asked = [words[at + 1] for at, word in enumerate(words) if word == "if"]
    if not all(bool(names[one.lstrip("!")]) != one.startswith("!") for one in asked):
        return
    kind = words[words.index("at") + 1] if "at" in words else ""
    shape = tuple(int(names.value(one)) for one in words[0].split(","))
    biased = any(w == "b" or (w.startswith("b?") and names[w[2:]]) for w in words[1:])
    for one in _numbered(name, names, kind):
        yield (one if "raw" in words else f"{one}.weight"), shape
        if biased:
            yield f"{one}.bias", shape[-1:] if "last" in words else shape[:1]


def _numbered(name: str, names: _Names, kind: str) -> Iterator[str]:
    """The name with the number of each layer in place of `[L]`."""
    found = re.search(r"\[([A-Za-z]+)\]", name)
    if not found:
        yield name
        return
    count = int(names[found[1]])
    if count > _MOST_LAYERS:
        raise MissingError(f"a count of layers that any model has ({count:,})")
    for number in range(count):
        if _is_layer(names.config, number, kind):
            inner = f"{name[: found.start()]}{number}{name[found.end() :]}"
            yield from _numbered(inner, names, "")


def _is_layer(config: Config, number: int, kind: str) -> bool:
    """Whether a layer is of that kind: first, rest, sparse, dense."""
    if kind in ("first", "rest"):
        return (number == 0) == (kind == "first")
    if kind not in ("sparse", "dense"):
        return True
    types = config.list("mlp_layer_types")
    if number < len(types):
        return bool((types[number] == "sparse") == (kind == "sparse"))
    step = config.count("decoder_sparse_step", "moe_layer_freq") or 1
    sparse = number >= config.count("first_k_dense_replace") and (number + 1) % step == 0
    routed = bool(config.of("experts")) and number not in config.list("mlp_only_layers")
    return (sparse and routed) == (kind == "sparse")


class _Names(dict[str, Any]):
    """What the names in rows and expressions of families.toml mean for one configuration."""

    def __init__(self, family: Family, config: Config) -> None:
        self.family, self.config = family, config
        super().__init__(
            ENDS=lambda *ends: config.name.endswith(ends),
            HAS=lambda key: key in config.values,
            TEXT=config.text,
            LIST=lambda key: config.list(key) or config.text(key).split("|"),
        )

    def value(self, expression: str) -> Any:
        """An expression of our own data; the configuration gives values alone."""
        try:
            return eval(_compiled(expression), {"__builtins__": {}}, self)
        except ZeroDivisionError:
            return 0

    def __missing__(self, name: str) -> Any:
        self[name] = found = self._found(name)
        return found

    def _found(self, name: str) -> Any:
        config, own, file = self.config, self.family.own, _file()
        if name in own:
            return self.value(own[name])
        if name in file.letters:
            size = self.value(file.letters[name])
            if not size:
                raise MissingError(file.missing.get(name, "all sizes that it needs"))
            return size
        if name == "tied":  # the output shares the embeddings: as it says, else as its class does
            return config.flag("tie_word_embeddings", self.family.tied)
        if name == "BARE":
            return config.name.endswith("Model") or not config.name
        if name == "LABELS":
            names = config.values.get("id2label")
            return len(names) if isinstance(names, dict) and names else 2
        if name.isupper():  # a size by our name
            return config.head_dim if name == "HEAD" else config.of(name.lower())
        if name.endswith("_"):
            return config.flag(name[:-1], True)
        value = config.values.get(name)
        return value if isinstance(value, bool) else config.count(name)


@cache
def _compiled(expression: str) -> CodeType:
    return compile(expression, "families.toml", "eval")
