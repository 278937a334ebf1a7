"""The tensors that a configuration means: the rows of families.toml with its sizes put in."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

import msgspec

from gpuwhy.fit import dtypes
from gpuwhy.fit.config import Config
from gpuwhy.fit.model import Architecture, Kind, Tensor

_MOST_ROWS, _MOST_LAYERS = 100_000, 10_000
_HEADS = (
    *("ForCausalLM", "LMHeadModel", "MTModel", "ForConditionalGeneration", "ForMaskedLM"),
    "ForPreTraining",
)
_CLASSES = ("ForSequenceClassification", "ForImageClassification")
_OTHERS = {"ForTokenClassification": "classifier N,H b", "ForQuestionAnswering": "qa_outputs N,H b"}
_KINDS: tuple[tuple[tuple[str, ...], Kind], ...] = (
    (("ForCausalLM", "LMHeadModel"), "decoder"),
    (("ForConditionalGeneration",), "encoder-decoder"),
    (("ForMaskedLM", "ForSequenceClassification"), "encoder"),
)
_WORDS = {
    "H": "hidden_size",
    "V": "vocab_size",
    "L": "num_hidden_layers",
    "A": "num_attention_heads",
    "E": "the number of experts",
}
_SIZES = {"H": "hidden", "L": "layers", "A": "heads", "P": "positions", "E": "experts"}
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
    text: str  # the type of the part that does not name its own
    vision: str
    rows: str


class _File(msgspec.Struct, forbid_unknown_fields=True):
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


def architecture_of(config: Config) -> Architecture:
    """What the fields say; what they do not say is 0."""
    main = _filled(config.body)
    vision = _filled(config.part("vision_config") or config)
    window, every = main.window
    experts = main.of("experts")
    plain = ("layers", "decoder_layers", "hidden", "heads", "vocab", "positions", "kv_rank")
    sizes: dict[str, Any] = {
        **{name: main.of(name) for name in (*plain, "rope_dim")},
        **{name: vision.of(name) for name in ("image", "patch")},
        "intermediate": main.of("inner"),
        "kv_heads": main.kv_heads,
        "head_dim": main.head_dim,
        "experts": experts,
        "experts_used": main.of("used") if experts else 0,
        "expert_intermediate": main.count("moe_intermediate_size") or main.of("inner"),
        "window": window,
        "window_every": every,
    }
    activation = main.text("hidden_act", "activation_function", "hidden_activation")
    named = Architecture(_kind_of(config), config.name or config.kind, activation=activation)
    return replace(named, **sizes)


def _filled(config: Config) -> Config:
    """The same, where a size that it does not state is its class's own."""
    return Config(config.values, _file().defaults.get(config.kind, {}))


def _kind_of(config: Config) -> Kind:
    known = families().get(config.kind)
    if known is not None:
        alone = known.kind == "encoder-decoder" and config.name.endswith("EncoderModel")
        return "encoder" if alone else known.kind
    if config.part("text_config"):
        return "decoder"
    named: Kind = next((k for ends, k in _KINDS if config.name.endswith(ends)), "unknown")
    return "encoder-decoder" if config.flag("is_encoder_decoder") and named != "decoder" else named


def tensors_of(config: Config, dtype: str) -> tuple[list[Tensor], list[str], bool]:
    """The tensors, sentences on what is not among them, and whether whole parts are missing."""
    if config.part("text_config", "vision_config") and config.kind not in families():
        return _several(config, dtype)
    family = families().get(config.kind)
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
    return found, list(_left_out(own)), False


def _made(shaped: Shaped, dtype: str) -> list[Tensor]:
    listed = islice(shaped, _MOST_ROWS + 1)
    return [Tensor(name, dtype, shape, dtypes.size_of(dtype, shape)) for name, shape in listed]


def _left_out(config: Config) -> Iterator[str]:
    ends = (*_HEADS, *_CLASSES, *_OTHERS, "Model", "WithProjection", "ForMultipleChoice")
    if config.name and not config.name.endswith(ends):
        yield f"the head of {config.name} is not known and not counted"
    if config.taken:
        more = ", ".join(config.taken[:4]) + (" …" if len(config.taken) > 4 else "")
        yield f"config.json does not say {more}: the defaults of transformers are counted"
    if config.flag("tie_encoder_decoder"):
        yield "encoder and decoder share their weights: they are counted as if they did not"
    if config.count("num_nextn_predict_layers"):
        yield "layers that predict further tokens (num_nextn_predict_layers) are not counted"


def _several(config: Config, dtype: str) -> tuple[list[Tensor], list[str], bool]:
    """A model of texts and one of images, and what joins them."""
    joined = _file().joined.get(config.kind, _Joined("", "", ""))
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
        tensors += [Tensor(f"{part}_model.{t.name}", t.dtype, t.shape, t.bytes) for t in got]
        unknown += [f"{part}_config: {sentence}" for sentence in said]
        partial |= missing
    if tensors and joined.rows and len(widths) == 2:
        own = {"T": "text", "S": "vision", "J": "projection_dim or text"}
        sizes = _Sizes(Family("", own=own), Config({**_filled(config).filled, **widths}))
        tensors += _made(_of_rows(joined.rows, sizes), dtype)
    elif tensors:
        name = config.name or config.kind
        unknown.append(f"what joins texts and images in {name} is not known and not counted")
    counted = ("text", "vision", "quantization", "compression", "generation")
    parts = [key for key in config.values if key.endswith("_config") and config.part(key)]
    others = [key[:60] for key in parts if key.removesuffix("_config") not in counted]
    unknown += [f"{key}: this part is not known and not counted" for key in others]
    return tensors, unknown, partial or bool(others)


def _tensors(family: Family, config: Config) -> Shaped:
    bare = config.name.endswith("Model") and not config.name.endswith(_HEADS)
    rows = family.rows
    if config.name.endswith("EncoderModel") and family.kind == "encoder-decoder":
        rows = _file().encoder_of["t5"]
    sizes = _Sizes(family, config)
    drop = f"{family.base}." if bare and family.base else ""
    for name, shape in _of_rows(rows, sizes):
        yield name.removeprefix(drop), shape
    yield from _of_rows("" if bare else _head(family, config.name), sizes)


def _head(family: Family, name: str) -> str:
    if name.endswith(_CLASSES):
        return family.classes
    other = next((rows for end, rows in _OTHERS.items() if name.endswith(end)), "")
    return other or (family.head if name.endswith(_HEADS) or not name else "")


def _of_rows(text: str, sizes: _Sizes) -> Shaped:
    prefix = ""
    for line in text.split("\n"):
        words = line.split()
        if len(words) == 1:
            prefix = words[0]
        elif words:
            yield from _of_row((prefix if line[0] == " " else "") + words[0], words[1:], sizes)


def _of_row(name: str, words: list[str], sizes: _Sizes) -> Shaped:
    """A row for each layer that has it, with its bias."""
    asked = [words[at + 1] for at, word in enumerate(words) if word == "if"]
    if not all(sizes.holds(one.lstrip("!")) != one.startswith("!") for one in asked):
        return
    kind = words[words.index("at") + 1] if "at" in words else ""
    shape = tuple(map(sizes.sum, words[0].split(",")))
    biased = any(w == "b" or (w.startswith("b?") and sizes.holds(w[2:])) for w in words[1:])
    for one in _numbered(name, sizes, kind):
        yield (one if "raw" in words else f"{one}.weight"), shape
        if biased:
            yield f"{one}.bias", shape[-1:] if "last" in words else shape[:1]


def _numbered(name: str, sizes: _Sizes, kind: str) -> Iterator[str]:
    found = re.search(r"\[([A-Za-z]+)\]", name)
    if not found:
        yield name
        return
    count = sizes.sum(found[1])
    if count > _MOST_LAYERS:
        raise MissingError(f"a count of layers that any model has ({count:,})")
    for number in range(count):
        if sizes.is_layer(number, kind):
            inner = f"{name[: found.start()]}{number}{name[found.end() :]}"
            yield from _numbered(inner, sizes, "")


class _Sizes:
    """What the letters and words of rows mean for one configuration."""

    def __init__(self, family: Family, config: Config) -> None:
        self._family, self._config = family, config
        self._kept: dict[str, int] = {}

    def sum(self, expression: str) -> int:
        """A sum of products of letters and numbers."""
        return sum(math.prod(map(self.of, term.split("*"))) for term in expression.split("+"))

    def of(self, letter: str) -> int:
        """One letter; raises MissingError where the configuration does not state it."""
        if letter not in self._kept:
            self._kept[letter] = int(letter) if letter.isdigit() else self._found(letter)
        return self._kept[letter]

    def _found(self, letter: str) -> int:
        config, own = self._config, self._family.own.get(letter)
        if own is not None:
            value = int(_value(_parsed(own), config))
            return 4 * self.of("H") if not value and letter == "F" else value
        names = config.values.get("id2label")
        labels = len(names) if isinstance(names, dict) and names else 2
        found: dict[str, Callable[[], int]] = {
            "V": lambda: config.count("vocab_size"),
            "G": lambda: config.of("kv_heads") or config.of("heads"),
            "D": lambda: config.head_dim,
            "Q": lambda: self.of("A") * self.of("D"),
            "K": lambda: self.of("G") * self.of("D"),
            "I": lambda: config.of("inner") or 4 * self.of("H"),
            "M": lambda: config.count("moe_intermediate_size") or config.of("inner"),
            "N": lambda: config.count("num_labels") or labels,
        }
        size = config.of(_SIZES[letter]) if letter in _SIZES else found[letter]()
        if not size:
            raise MissingError(_WORDS.get(letter, "all sizes that it needs"))
        return size

    def holds(self, word: str) -> bool:
        """Whether a word of a condition does."""
        if word == "tied":  # the output shares the embeddings: as it says, else as its class does
            return self._config.flag("tie_word_embeddings", self._family.tied)
        own = self._family.own.get(word)
        return bool(own and _value(_parsed(own), self._config))

    def is_layer(self, number: int, kind: str) -> bool:
        """Whether a layer is of that kind."""
        if kind in ("first", "rest"):
            return (number == 0) == (kind == "first")
        return kind not in ("sparse", "dense") or self._sparse(number) == (kind == "sparse")

    def _sparse(self, number: int) -> bool:
        config = self._config
        types = config.list("mlp_layer_types")
        if number < len(types):
            return bool(types[number] == "sparse")
        dense = number < config.count("first_k_dense_replace")
        step = config.count("decoder_sparse_step", "moe_layer_freq") or 1
        routed = bool(config.of("experts")) and number not in config.list("mlp_only_layers")
        return routed and not dense and (number + 1) % step == 0


_TWO: dict[Any, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: lambda a, b: a // b if b else 0,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.In: lambda a, b: a in b,
}


@cache
def _parsed(text: str) -> ast.AST:
    """An expression of the data over fields of a configuration."""
    return ast.parse(text, mode="eval").body


def _value(node: ast.AST, config: Config) -> Any:
    match node:
        case ast.Constant(value):
            return value
        case ast.Name(name):
            return _field(name, config)
        case ast.BoolOp(op, [first, *others]):
            found = _value(first, config)
            for one in others:
                if bool(found) is not isinstance(op, ast.Or):
                    found = _value(one, config)
            return found
        case ast.IfExp(test, body, orelse):
            return _value(body if _value(test, config) else orelse, config)
        case ast.UnaryOp(ast.Not(), operand):
            return not _value(operand, config)
        case ast.Call(ast.Name(name), arguments):
            return _called(name, [_value(one, config) for one in arguments], config)
        case ast.BinOp(left, op, right) | ast.Compare(left, [op], [right]):
            return _TWO[type(op)](_value(left, config), _value(right, config))
    raise ValueError(f"families.toml: {ast.dump(node)[:80]}")


def _field(name: str, config: Config) -> Any:
    if name in ("HEAD", "HEADS"):
        return config.head_dim if name == "HEAD" else config.of("heads")
    if name == "BARE":
        return config.name.endswith("Model") or not config.name
    if name.endswith("_"):
        return config.flag(name[:-1], True)
    value = config.values.get(name)
    return value if isinstance(value, bool) else config.count(name)


def _called(name: str, given: list[Any], config: Config) -> Any:
    if name == "ENDS":
        return config.name.endswith(tuple(given))
    if name == "HAS":
        return given[0] in config.values
    text = config.text(given[0])
    return text if name == "TEXT" else config.list(given[0]) or text.split("|")
