"""config.json of transformers: its fields under the names that different models give them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gpuwhy.fit import dtypes
from gpuwhy.fit.model import Tensor

_NAMES: dict[str, str] = dtypes.table("fields")
_EVERY: dict[str, int] = dtypes.table("every")["config"]
_PARTS = ("text_config", "llm_config", "language_config", "thinker_config", "text_cfg")
_MOST = 1 << 31
_LEFT = re.compile(r"embed|lm_head|norm|wte|wpe|router|mlp\.gate\.|score|classifier|pooler|ln_")
"""What quantisers leave as it is: embeddings, the output, norms, routers, heads."""
_CALIBRATED = ("gptq", "awq", "compressed-tensors", "autoround", "intel/auto-round", "auto-round")


class Config:
    """The fields of one configuration; what is no number or is absurd is absent."""

    def __init__(
        self, values: Mapping[str, Any], defaults: Mapping[str, int] | None = None
    ) -> None:
        self.values = values
        self._defaults = defaults or {}
        self.taken: list[str] = []  # fields that it does not have, and whose defaults were taken

    @property
    def filled(self) -> dict[str, Any]:
        """Its fields, with the defaults of those that it does not have."""
        return {**self._defaults, **self.values}

    def count(self, *keys: str) -> int:
        """The first of these fields that holds a count, else their default, else 0."""
        for key in keys:
            value = self.values.get(key)
            if type(value) is int and 0 <= value < _MOST:
                return value
        for key in keys:
            if key in self._defaults and key not in self.values:  # null means null
                self.taken += [key] if key not in self.taken else []
                return self._defaults[key]
        return 0

    def of(self, name: str) -> int:
        """A size by our name: hidden, layers, heads …"""
        return self.count(*_NAMES[name].split())

    def flag(self, key: str, default: bool = False) -> bool:
        """A field that is yes or no."""
        value = self.values.get(key)
        return value if isinstance(value, bool) else default

    def text(self, *keys: str) -> str:
        """The first of these fields that holds a text."""
        found = (self.values.get(key) for key in keys)
        return next((value[:200] for value in found if isinstance(value, str)), "")

    def list(self, key: str) -> list[Any]:
        """A field that is a list."""
        value = self.values.get(key)
        return value[:4096] if isinstance(value, list) else []

    def part(self, *keys: str) -> Config | None:
        """A configuration in it."""
        found = (self.values.get(key) for key in keys)
        return next((Config(value) for value in found if isinstance(value, dict)), None)

    @property
    def kind(self) -> str:
        """The model's type: llama, bert."""
        return self.text("model_type")

    @property
    def name(self) -> str:
        """The class that its weights were saved from."""
        return next((one[:200] for one in self.list("architectures") if isinstance(one, str)), "")

    @property
    def is_model(self) -> bool:
        """Whether it says at all what it is a configuration of."""
        return bool(self.kind or self.name or self.part("text_config"))

    @property
    def head_dim(self) -> int:
        """The width of a head."""
        stated = self.count("head_dim", "d_kv", "kv_channels", "attention_head_dim")
        return stated or self.of("hidden") // (self.of("heads") or 1)

    @property
    def kv_heads(self) -> int:
        """Heads of keys and values."""
        older = self.kind == "falcon" and not self.flag("new_decoder_architecture")
        if older or self.kind == "gpt_bigcode":
            return 1 if self.flag("multi_query", True) else self.of("heads")
        return self.of("kv_heads") or self.of("heads")

    @property
    def dtype(self) -> str:
        """What the weights are loaded as, where it says so."""
        word = self.text("dtype", "torch_dtype")
        return dtypes.named(word) if word else ""

    @property
    def window(self) -> tuple[int, int]:
        """The sliding window, and every so many layers one sees everything."""
        window = self.of("window")
        if not window or self.values.get("use_sliding_window") is False:
            return 0, 0
        if types := self.list("layer_types"):
            whole = types.count("full_attention")
            every = round(len(types) / whole) if whole else 0
            return (0, 0) if whole == len(types) else (window, every)
        stated = self.count("sliding_window_pattern", "_sliding_window_pattern")
        stated = stated or self.count("global_attn_every_n_layers")
        return window, stated or _EVERY.get(self.kind, 0)

    @property
    def quantisation(self) -> str:
        """How the weights are quantised, as `quantization_config` says."""
        part = self.part("quantization_config", "compression_config")
        if part is None:
            return ""
        for bits in (4, 8):
            if part.flag(f"load_in_{bits}bit") or part.flag(f"_load_in_{bits}bit"):
                return f"bitsandbytes-{bits}bit"
        method = part.text("quant_method", "quantization_method", "format") or "unknown"
        count = part.count("bits", "w_bit", "nbits")
        return f"{method}-{count}bit" if count and method not in ("fp8", "mxfp4") else method

    @property
    def body(self) -> Config:
        """The part that writes texts, where there are several parts."""
        inner = self.part(*_PARTS)
        return self if inner is None or self.of("layers") else inner.body


def quantised(tensors: list[Tensor], config: Config) -> tuple[list[Tensor], list[str]]:
    """The same tensors with the bytes that its method makes of the weights of linear layers."""
    method = config.quantisation
    rule = _rule(config.part("quantization_config", "compression_config") or Config({}), method)
    if rule is None:
        return tensors, [f"how much {method} saves is not known: the weights are counted in full"]
    dtype, bits, each = rule
    out = []
    for one in tensors:
        plain = one.name.endswith(".weight") or ".experts." in one.name
        if plain and len(one.shape) >= 2 and not _LEFT.search(one.name):
            size = -(-one.elements * bits // 8) + round(one.elements * each)
            one = replace(one, dtype=dtype, bytes=size)
        out.append(one)
    return out, []


def _rule(part: Config, method: str) -> tuple[str, int, float] | None:
    """(type, bits of a weight, bytes of scales for each weight) of a method."""
    double = part.flag("bnb_4bit_use_double_quant") or part.flag("_bnb_4bit_use_double_quant")
    fixed = {
        "bitsandbytes-4bit": ("u4", 4, (1 + 4 / 256) / 64 if double else 4 / 64),
        "bitsandbytes-8bit": ("i8", 8, 0.0),
        "mxfp4": ("f4", 4, 1 / 32),  # one byte for 32 weights
        "fbgemm_fp8": ("f8_e4m3", 8, 0.0),
    }
    if method.startswith("fp8"):
        return "f8_e4m3", 8, 4 / (128 * 128) if part.list("weight_block_size") else 0.0
    if method in fixed or not method.startswith(_CALIBRATED):
        return fixed.get(method)
    groups = part.part("config_groups") or Config({})
    listed = (groups.part(name) for name in [*groups.values][:64])
    weights = next(filter(None, (one.part("weights") for one in listed if one)), None)
    stated = weights or part
    bits = stated.count("bits", "w_bit", "num_bits")
    if bits not in (2, 3, 4, 8):
        return None
    if weights is not None and weights.text("type") == "float" and bits == 8:
        return "f8_e4m3", 8, 0.0
    zero = 0 if weights is not None else bits / 8
    group = stated.count("group_size", "q_group_size")
    return f"u{bits}", bits, (2 + zero) / group if group else 0.0
