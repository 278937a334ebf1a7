"""The tensors that a configuration means: the rows of families.toml with its sizes put in."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from typing import Any

import msgspec

from gpuwhy.fit import dtypes
from gpuwhy.fit.config import Config
from gpuwhy.fit.model import Kind, Tensor
from gpuwhy.fit.tables import rows

_MOST_ROWS, _MOST_LAYERS = 100_000, 10_000
_HEADS = (
    "ForCausalLM",
    "LMHeadModel",
    "MTModel",
    "ForConditionalGeneration",
    "ForMaskedLM",
    "ForPreTraining",
)
_CLASSES = ("ForSequenceClassification", "ForImageClassification")
_OTHERS = {"ForTokenClassification": "classifier N,H b", "ForQuestionAnswering": "qa_outputs N,H b"}
_KINDS: tuple[tuple[tuple[str, ...], Kind], ...] = (
    (("ForCausalLM", "LMHeadModel"), "decoder"),
    (("ForConditionalGeneration",), "encoder-decoder"),
    (("ForMaskedLM", "ForSequenceClassification"), "encoder"),
)
_GUESSED = {
    "text_config": {"llava": "llama", "gemma3": "gemma3_text", "paligemma": "gemma"},
    "vision_config": {
        "llava": "clip_vision_model",
        **dict.fromkeys(("gemma3", "paligemma"), "siglip_vision_model"),
    },
}
"""What a part is, where it does not name its type."""
_WORDS = {
    "H": "hidden_size",
    "V": "vocab_size",
    "L": "num_hidden_layers",
    "A": "num_attention_heads",
    "E": "the number of experts",
}
_SIZES = {"H": "hidden", "L": "layers", "A": "heads", "P": "positions", "E": "experts"}


class Family(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One architecture: its rows, what its bare model leaves out of the names, what is its own."""

    rows: str
    base: str = "model"
    kind: Kind = "decoder"
    tied: bool = False
    head: str = "lm_head V,H if !tied"
    classes: str = "score N,H"
    own: dict[str, str] = {}


class _File(msgspec.Struct, forbid_unknown_fields=True):
    family: dict[str, Family]
    encoder_of: dict[str, str]
    defaults: dict[str, dict[str, int]]


class MissingError(Exception):
    """A size that the configuration does not state."""


@cache
def _file() -> _File:
    return msgspec.convert(rows("families"), _File)


def families() -> dict[str, Family]:
    """Every architecture by its model type."""
    return _file().family


def filled(config: Config) -> Config:
    """The same, where a size that it does not state is its class's own."""
    return Config(config.values, _file().defaults.get(config.kind, {}))


def kind_of(config: Config) -> Kind:
    """Of which kind a configuration is."""
    known = families().get(config.kind)
    if known is not None:
        alone = known.kind == "encoder-decoder" and config.name.endswith("EncoderModel")
        return "encoder" if alone else known.kind
    if config.part("text_config"):
        return "decoder"
    named: Kind = next((k for ends, k in _KINDS if config.name.endswith(ends)), "unknown")
    return "encoder-decoder" if config.flag("is_encoder_decoder") and named != "decoder" else named


def is_tied(config: Config) -> bool:
    """Whether the output shares the embeddings: as it says, else as its class does."""
    told = config.values.get("tie_word_embeddings")
    known = families().get(config.kind)
    return told if isinstance(told, bool) else known is None or known.tied


def tensors_of(config: Config, dtype: str) -> tuple[list[Tensor], list[str], bool]:
    """The tensors, sentences on what is not among them, and whether whole parts are missing."""
    if config.part("text_config", "vision_config") and config.kind not in families():
        return _several(config, dtype)
    family = families().get(config.kind)
    if family is None:
        name = config.kind or config.name or "of this file"
        return [], [f"the architecture {name} is not known: nothing is counted"], True
    own = filled(config)
    try:
        found = list(islice(_tensors(family, own), _MOST_ROWS + 1))
    except MissingError as error:
        return [], [f"config.json does not say {error}: nothing is counted"], True
    if len(found) > _MOST_ROWS:
        return [], ["config.json means more tensors than any real model has"], True
    made = [Tensor(n, dtype, shape, dtypes.size_of(dtype, shape) or 0) for n, shape in found]
    return made, list(_left_out(own)), False


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
    tensors: list[Tensor] = []
    unknown: list[str] = []
    partial = False
    for part, prefix in (("text_config", "text_model."), ("vision_config", "vision_model.")):
        inner = config.part(part)
        if inner is None:
            continue
        own = _GUESSED[part].get(config.kind, "")
        if config.kind in ("clip", "siglip"):
            own = f"{config.kind}_{part.removesuffix('_config')}_model"
        writes = part == "text_config" and config.name.endswith("ForConditionalGeneration")
        named = ["ForCausalLM"] if writes else [inner.name] if inner.name else []
        values = {**inner.values, "model_type": inner.kind or own, "architectures": named}
        tied = config.values.get("tie_word_embeddings")
        values |= {"tie_word_embeddings": tied} if isinstance(tied, bool) else {}
        got, said, missing = tensors_of(Config(values), dtype)
        tensors += [Tensor(prefix + one.name, one.dtype, one.shape, one.bytes) for one in got]
        unknown += [f"{part}: {sentence}" for sentence in said]
        partial |= missing
    joined = list(_joined(config)) if tensors else []
    if tensors and not joined:
        name = config.name or config.kind
        unknown.append(f"what joins texts and images in {name} is not known and not counted")
    tensors += [Tensor(n, dtype, s, dtypes.size_of(dtype, s) or 0) for n, s in joined]
    counted = ("text", "vision", "quantization", "compression", "generation")
    others = [key for key in config.values if key.endswith("_config") and config.part(key)]
    others = [key[:60] for key in others if key.removesuffix("_config") not in counted]
    unknown += [f"{key}: this part is not known and not counted" for key in others]
    return tensors, unknown, partial or bool(others)


def _joined(config: Config) -> Iterator[tuple[str, tuple[int, ...]]]:
    said = _width(config, "text_config", {"clip": "clip_text_model"}.get(config.kind, "llama"))
    seen = _width(config, "vision_config", "clip_vision_model")
    width = config.count("projection_dim")
    if config.kind == "clip" and width:
        yield "logit_scale", ()
        yield "text_projection.weight", (width, said)
        yield "visual_projection.weight", (width, seen)
    elif config.kind == "siglip":
        yield from (("logit_scale", (1,)), ("logit_bias", (1,)))
    elif config.kind == "llava":
        for layer, source in (("linear_1", seen), ("linear_2", said)):
            yield f"multi_modal_projector.{layer}.weight", (said, source)
            yield f"multi_modal_projector.{layer}.bias", (said,)
    elif config.kind == "gemma3":
        yield "multi_modal_projector.mm_input_projection_weight", (seen, said)
        yield "multi_modal_projector.mm_soft_emb_norm.weight", (seen,)
    elif config.kind == "paligemma":
        yield "multi_modal_projector.linear.weight", (width or said, seen)
        yield "multi_modal_projector.linear.bias", (width or said,)


def _width(config: Config, part: str, kind: str) -> int:
    inner = config.part(part)
    values = {"model_type": kind, **(inner.values if inner else {})}
    return filled(Config(values)).of("hidden") or 0


def _tensors(family: Family, config: Config) -> Iterator[tuple[str, tuple[int, ...]]]:
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


def _of_rows(text: str, sizes: _Sizes) -> Iterator[tuple[str, tuple[int, ...]]]:
    prefix = ""
    for line in text.split("\n"):
        words = line.split()
        if len(words) == 1:
            prefix = words[0]
        elif words:
            yield from _of_row((prefix if line[0] == " " else "") + words[0], words[1:], sizes)


def _of_row(name: str, words: list[str], sizes: _Sizes) -> Iterator[tuple[str, tuple[int, ...]]]:
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
            value = int(letter) if letter.isdigit() else self._found(letter)
            if value is None:
                raise MissingError(_WORDS.get(letter, "all sizes that it needs"))
            self._kept[letter] = int(value)
        return self._kept[letter]

    def _found(self, letter: str) -> int | None:
        config, own = self._config, self._family.own.get(letter)
        if own is not None:
            value = _evaluated(own, config)
            return 4 * self.of("H") if not value and letter == "F" else value
        if letter in _SIZES:
            return config.of(_SIZES[letter])
        names = config.values.get("id2label")
        labels = len(names) if isinstance(names, dict) and names else 2
        found: dict[str, Callable[[], int | None]] = {
            "V": lambda: config.count("vocab_size"),
            "G": lambda: config.of("kv_heads") or config.of("heads"),
            "D": lambda: config.head_dim,
            "Q": lambda: self.of("A") * self.of("D"),
            "K": lambda: self.of("G") * self.of("D"),
            "I": lambda: config.of("inner") or 4 * self.of("H"),
            "M": lambda: config.count("moe_intermediate_size") or config.of("inner"),
            "N": lambda: config.count("num_labels") or labels,
        }
        return found[letter]() if letter in found else None

    def holds(self, word: str) -> bool:
        """Whether a word of a condition does."""
        if word == "tied":
            return is_tied(self._config)
        own = self._family.own.get(word)
        return bool(own and _evaluated(own, self._config))

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
        dense = number < (config.count("first_k_dense_replace") or 0)
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


def _evaluated(text: str, config: Config) -> Any:
    """An expression of the data over fields of a configuration."""
    return _value(ast.parse(text, mode="eval").body, config)


def _value(node: ast.AST, config: Config) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return _field(node.id, config)
    if isinstance(node, ast.BoolOp):
        stops = isinstance(node.op, ast.Or)
        found: Any = False
        for one in node.values:
            found = _value(one, config)
            if bool(found) is stops:
                break
        return found
    if isinstance(node, ast.IfExp):
        return _value(node.body if _value(node.test, config) else node.orelse, config)
    if isinstance(node, ast.UnaryOp):
        return not _value(node.operand, config)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _called(node.func.id, [_value(one, config) for one in node.args], config)
    return _of_two(node, config)


def _of_two(node: ast.AST, config: Config) -> Any:
    sign: Any
    if isinstance(node, ast.BinOp):
        left, right, sign = node.left, node.right, type(node.op)
    elif isinstance(node, ast.Compare):
        left, right, sign = node.left, node.comparators[0], type(node.ops[0])
    else:
        raise ValueError(f"families.toml: {ast.dump(node)[:80]}")
    return _TWO[sign](_value(left, config), _value(right, config))


def _field(name: str, config: Config) -> Any:
    if name == "HEAD":
        return config.head_dim or 0
    if name == "HEADS":
        return config.of("heads") or 0
    if name == "BARE":
        return config.name.endswith("Model") or not config.name
    if name.endswith("_"):
        return config.flag(name[:-1], True)
    value = config.values.get(name)
    return value if isinstance(value, bool) else config.count(name) or 0


def _called(name: str, given: list[Any], config: Config) -> Any:
    if name == "ENDS":
        return config.name.endswith(tuple(given))
    if name == "HAS":
        return given[0] in config.values
    text = config.text(given[0])
    return text if name == "TEXT" else config.list(given[0]) or text.split("|")
