"""The tensors that a configuration means, where there are no weights: the rows of a family with its sizes put in."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from gpuwhy.fit import dtypes
from gpuwhy.fit.config import EXPERTS, HIDDEN, INNER, KV_HEADS, LAYERS, POSITIONS, Config
from gpuwhy.fit.encoders import T5_ENCODER
from gpuwhy.fit.families import Family, families, tied_of
from gpuwhy.fit.model import Tensor
from gpuwhy.fit.unets import BUILT, UnknownBlockError

_MOST_LAYERS = 10_000
_MOST_ROWS = 100_000
_HEADS = ("ForCausalLM", "LMHeadModel", "MTModel", "ForConditionalGeneration", "ForMaskedLM", "ForPreTraining")
_CLASSES = ("ForSequenceClassification", "ForImageClassification", "ForTokenClassification", "ForQuestionAnswering")


class Computed(NamedTuple):
    """Tensors as a configuration means them, and sentences on what is not among them."""

    tensors: list[Tensor]
    unknown: list[str]
    partial: bool = False  # whole parts are not known


class _MissingError(Exception):
    """A size that the configuration does not tell."""


class _Row(NamedTuple):
    name: str
    dims: str
    words: tuple[str, ...]


def computed(config: Config, dtype: str = "f32") -> Computed:
    """The tensors of a configuration; an empty list and the reason where its architecture is not known."""
    if config.part("text_config", "vision_config") and config.kind not in families():
        return _several(config, dtype)
    if config.name in BUILT:
        return _built(config, dtype)
    family = families().get(config.kind or config.name)
    if family is None:
        name = config.kind or config.name or "of this file"
        return _nothing(f"the architecture {name} is not known")
    return _of_family(family, config.filled(), dtype)


def _nothing(why: str) -> Computed:
    return Computed([], [f"{why}: nothing is counted"], True)


def _of_family(family: Family, config: Config, dtype: str) -> Computed:
    try:
        rows = list(islice(_tensors(family, config), _MOST_ROWS + 1))
    except _MissingError as error:
        return _nothing(f"config.json does not say {error}")
    if len(rows) > _MOST_ROWS:
        return _nothing("config.json means more tensors than any real model has")
    return Computed([_tensor(name, shape, dtype) for name, shape in rows], list(_unknown(family, config)))


def _built(config: Config, dtype: str) -> Computed:
    """The tensors of a class that is built from blocks."""
    try:
        rows = list(islice(BUILT[config.name](config), _MOST_ROWS))
    except UnknownBlockError as error:
        return Computed([], [f"config.json does not say {error}: nothing of {config.name} is counted"], True)
    return Computed([_tensor(name, shape, dtype) for name, shape in rows], [])


def _tensor(name: str, shape: tuple[int, ...], dtype: str) -> Tensor:
    return Tensor(name, dtype, shape, dtypes.size_of(dtype, shape) or 0)


def _unknown(family: Family, config: Config) -> Iterator[str]:
    name = config.name
    if name and not name.endswith((*_HEADS, *_CLASSES, "Model", "WithProjection")):
        yield f"the head of {name} is not known and not counted"
    if config.taken:
        more = " …" if len(config.taken) > 4 else ""
        yield f"config.json does not say {', '.join(config.taken[:4])}{more}: the defaults of transformers are counted"
    if config.flag("tie_encoder_decoder"):
        yield "its encoder and decoder share their weights (tie_encoder_decoder): they are counted as if they did not"
    if config.count("num_nextn_predict_layers"):
        yield "layers that predict further tokens (num_nextn_predict_layers) are not counted"


def _several(config: Config, dtype: str) -> Computed:
    """A model of texts and one of images, and what joins them."""
    tensors: list[Tensor] = []
    unknown: list[str] = []
    partial = False
    for part, prefix in (("text_config", "text_model."), ("vision_config", "vision_model.")):
        inner = config.part(part)
        if inner is None:
            continue
        got = computed(_one_of_several(config, inner, part), dtype)
        tensors += [Tensor(prefix + one.name, one.dtype, one.shape, one.bytes) for one in got.tensors]
        unknown += [f"{part}: {sentence}" for sentence in got.unknown]
        partial |= got.partial
    joined = [_tensor(name, shape, dtype) for name, shape in _joined(config)]
    if tensors and not joined:
        unknown.append(f"what joins texts and images in {config.name or config.kind} is not known and not counted")
    others = [f"{key[:60]}: this part is not known and not counted" for key in _other_parts(config)]
    return Computed(tensors + joined, unknown + others, partial or bool(others))


def _one_of_several(config: Config, inner: Config, part: str) -> Config:
    """The configuration of one of the models, with what stands beside it in the outer one."""
    kind = inner.kind or _assumed(config.kind, part)
    values = {**inner.values, "model_type": kind, "architectures": _classes(config, inner, part)}
    tied = config.values.get("tie_word_embeddings")
    return Config({**values, "tie_word_embeddings": tied} if isinstance(tied, bool) else values)


def _other_parts(config: Config) -> list[str]:
    named = [key for key in config.values if key.endswith("_config") and key not in _COUNTED_PARTS]
    return [key for key in named if config.part(key)]


_COUNTED_PARTS = ("text_config", "vision_config", "quantization_config", "compression_config", "generation_config")


def _classes(config: Config, inner: Config, part: str) -> list[str]:
    """A text model inside writes; an encoder of CLIP's kind does not."""
    if part == "text_config" and config.name.endswith("ForConditionalGeneration"):
        return ["ForCausalLM"]
    return [inner.name] if inner.name else []


def _assumed(kind: str, part: str) -> str:
    known = {"clip": "clip", "siglip": "siglip"}.get(kind)
    if known:
        return f"{known}_{part.removesuffix('_config')}_model"
    return _GUESSED.get((kind, part), "")


_GUESSED = {
    ("llava", "text_config"): "llama", ("llava", "vision_config"): "clip_vision_model",
    ("gemma3", "text_config"): "gemma3_text", ("gemma3", "vision_config"): "siglip_vision_model",
    ("paligemma", "text_config"): "gemma", ("paligemma", "vision_config"): "siglip_vision_model",
}  # fmt: skip
"""What a part is, where it does not name its type."""


def _joined(config: Config) -> Iterator[tuple[str, tuple[int, ...]]]:
    text, vision = config.part("text_config"), config.part("vision_config")
    width = config.count("projection_dim")
    if config.kind == "clip" and text and vision and width:
        yield "logit_scale", ()
        yield "text_projection.weight", (width, _wide(text, "clip_text_model"))
        yield "visual_projection.weight", (width, _wide(vision, "clip_vision_model"))
    elif config.kind == "siglip":
        yield "logit_scale", (1,)
        yield "logit_bias", (1,)
    elif text and vision:
        yield from _projector(config, _wide(vision, "clip_vision_model"), _wide(text, "llama"))


def _projector(config: Config, seen: int, said: int) -> Iterator[tuple[str, tuple[int, ...]]]:
    """What brings images of that width to texts of that width."""
    name = "multi_modal_projector"
    if config.kind == "llava":
        for layer, source in (("linear_1", seen), ("linear_2", said)):
            yield f"{name}.{layer}.weight", (said, source)
            yield f"{name}.{layer}.bias", (said,)
    elif config.kind == "gemma3":
        yield f"{name}.mm_input_projection_weight", (seen, said)
        yield f"{name}.mm_soft_emb_norm.weight", (seen,)
    elif config.kind == "paligemma":
        width = config.count("projection_dim") or said
        yield f"{name}.linear.weight", (width, seen)
        yield f"{name}.linear.bias", (width,)


def _wide(config: Config, kind: str) -> int:
    return Config({"model_type": kind, **config.values}).filled().count(*HIDDEN) or 0


def _tensors(family: Family, config: Config) -> Iterator[tuple[str, tuple[int, ...]]]:
    bare = config.name.endswith("Model") and not config.name.endswith(_HEADS)
    rows = T5_ENCODER if config.name.endswith("EncoderModel") and family.kind == "encoder-decoder" else family.rows
    sizes = _Sizes(family, config)
    drop = f"{family.base}." if bare and family.base else ""
    for row in _rows(rows):
        for name, shape in _expanded(row, sizes):
            yield name.removeprefix(drop), shape
    for row in _rows("" if bare else _head(family, config.name)):
        yield from _expanded(row, sizes)


def _head(family: Family, name: str) -> str:
    if name.endswith(("ForSequenceClassification", "ForImageClassification")):
        return family.classes
    if name.endswith("ForTokenClassification"):
        return "classifier N,H b"
    if name.endswith("ForQuestionAnswering"):
        return "qa_outputs N,H b"
    return family.head if name.endswith(_HEADS) or not name else ""


def _rows(text: str) -> Iterator[_Row]:
    prefix = ""
    for line in text.split("\n"):
        words = line.split()
        if not words:
            continue
        if len(words) == 1:
            prefix = words[0]
        else:
            yield _Row((prefix if line.startswith(" ") else "") + words[0], words[1], tuple(words[2:]))


def _expanded(row: _Row, sizes: _Sizes) -> Iterator[tuple[str, tuple[int, ...]]]:
    """A row for each layer that has it, with its bias."""
    if not sizes.hold(row.words):
        return
    kind = row.words[row.words.index("at") + 1] if "at" in row.words else ""
    shape = tuple(sizes.sum(part) for part in row.dims.split(","))
    for name in _numbered(row.name, sizes, kind):
        yield (name if "raw" in row.words else f"{name}.weight"), shape
        if sizes.biased(row.words):
            yield f"{name}.bias", shape[-1:] if "last" in row.words else shape[:1]


_COUNTED = re.compile(r"\[([A-Za-z]+)\]")


def _numbered(name: str, sizes: _Sizes, kind: str) -> Iterator[str]:
    found = _COUNTED.search(name)
    if not found:
        yield name
        return
    count = sizes.sum(found[1])
    if count > _MOST_LAYERS:
        raise _MissingError(f"a count of layers that any model has ({count:,})")
    for number in range(count):
        if sizes.is_layer(number, kind):
            yield from _numbered(f"{name[: found.start()]}{number}{name[found.end() :]}", sizes, "")


class _Sizes:
    """What the letters and words of rows mean for one configuration."""

    def __init__(self, family: Family, config: Config) -> None:
        self._family, self._config = family, config
        self._kept: dict[str, int] = {}

    def sum(self, expression: str) -> int:
        """A sum of products of letters and numbers."""
        return sum(math.prod(map(self.of, term.split("*"))) for term in expression.split("+"))

    def of(self, letter: str) -> int:
        """One letter; raises where the configuration does not tell it."""
        if letter not in self._kept:
            value = int(letter) if letter.isdigit() else self._found(letter)
            if value is None:
                raise _MissingError(_WORDS.get(letter, f"all sizes that {self._config.kind or self._config.name} has"))
            self._kept[letter] = int(value)
        return self._kept[letter]

    def _found(self, letter: str) -> int | bool | None:
        own = self._family.own.get(letter)
        if own is not None:
            value = own(self._config)
            return 4 * self.of("H") if value is None and letter == "F" else value
        config = self._config
        heads = config.heads
        common = {
            "H": lambda: config.count(*HIDDEN), "V": lambda: config.count("vocab_size"),
            "L": lambda: config.count(*LAYERS),
            "A": lambda: heads, "G": lambda: config.count(*KV_HEADS) or heads, "D": lambda: config.head_dim,
            "Q": lambda: self.of("A") * self.of("D"), "K": lambda: self.of("G") * self.of("D"),
            "I": lambda: config.count(*INNER) or 4 * self.of("H"), "P": lambda: config.count(*POSITIONS),
            "E": lambda: config.count(*EXPERTS), "M": lambda: config.count("moe_intermediate_size", *INNER),
            "N": self._labels,
        }  # fmt: skip
        return common[letter]() if letter in common else None

    def _labels(self) -> int:
        names = self._config.values.get("id2label")
        return self._config.count("num_labels") or (len(names) if isinstance(names, dict) and names else 2)

    def holds(self, word: str) -> bool:
        """Whether a word of a condition does."""
        if word == "tied":
            return tied_of(self._config) is not False
        own = self._family.own.get(word)
        return bool(own(self._config)) if own else False

    def hold(self, words: tuple[str, ...]) -> bool:
        """Whether all conditions of a row do."""
        asked = [words[place + 1] for place, word in enumerate(words) if word == "if"]
        return all(self.holds(one.lstrip("!")) != one.startswith("!") for one in asked)

    def biased(self, words: tuple[str, ...]) -> bool:
        """Whether a row has a bias."""
        return "b" in words or any(word.startswith("b?") and self.holds(word[2:]) for word in words)

    def is_layer(self, number: int, kind: str) -> bool:
        """Whether a layer is of that kind."""
        if kind in ("first", "rest"):
            return (number == 0) == (kind == "first")
        if kind in ("end", "inner"):
            return (number == self.of("L") - 1) == (kind == "end")
        if kind in ("dual", "single"):
            return (number in self._config.list("dual_attention_layers")) == (kind == "dual")
        if kind in ("sparse", "dense"):
            return self._sparse(number) == (kind == "sparse")
        return True

    def _sparse(self, number: int) -> bool:
        config = self._config
        types = config.list("mlp_layer_types")
        if number < len(types):
            return bool(types[number] == "sparse")
        if number < (config.count("first_k_dense_replace") or 0) or not config.count(*EXPERTS):
            return False
        step = config.count("decoder_sparse_step", "moe_layer_freq") or 1
        return number not in config.list("mlp_only_layers") and (number + 1) % step == 0


_WORDS = {
    "H": "how wide its layers are (hidden_size)", "V": "how many tokens it knows (vocab_size)",
    "L": "how many layers it has (num_hidden_layers)", "A": "how many heads it has (num_attention_heads)",
    "P": "how many positions it has", "E": "how many experts it has",
}  # fmt: skip
