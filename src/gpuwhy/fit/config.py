"""config.json of transformers: its fields under the names that different models give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gpuwhy.fit import dtypes
from gpuwhy.fit.model import Tensor

_NAMES: dict[str, str] = dtypes.table("fields")
_EVERY: dict[str, int] = dtypes.table("every")["config"]
_QUANTISED: dict[str, tuple[str, int, float]] = dtypes.table("quantised")
_PARTS = ("text_config", "llm_config", "language_config", "thinker_config", "text_cfg")
_MOST = 1 << 31
_CALIBRATED = ("gptq", "awq", "autoround", "intel/auto-round", "auto-round")


class Config:
    """The fields of one configuration; what is no number or is absurd is absent."""

    def __init__(
        self, values: Mapping[str, Any], defaults: Mapping[str, int] | None = None
    ) -> None:
        self.values = values
        self.defaults = defaults or {}
        self.taken: list[str] = []  # fields that it does not have, and whose defaults were taken
        self.kind = self.text("model_type")  # llama, bert
        named = (one[:200] for one in self.list("architectures") if isinstance(one, str))
        self.name = next(named, "")  # the class that its weights were saved from

    def count(self, *keys: str) -> int:
        """The first of these fields that holds a count, else their default, else 0."""
        for key in keys:
            value = self.values.get(key)
            if type(value) is int and 0 <= value < _MOST:
                return value
        for key in keys:
            if key in self.defaults and key not in self.values:  # null means null
                self.taken += [key] if key not in self.taken else []
                return self.defaults[key]
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
        stated = ("sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers")
        return window, self.count(*stated) or _EVERY.get(self.kind, 0)

    @property
    def _quantised(self) -> Config:
        return self.part("quantization_config", "compression_config") or Config({})

    @property
    def quantisation(self) -> str:
        """How the weights are quantised, as `quantization_config` says; "" where they are not."""
        part = self._quantised
        for bits in (4, 8):
            if part.flag(f"load_in_{bits}bit") or part.flag(f"_load_in_{bits}bit"):
                return f"bitsandbytes-{bits}bit"
        method = part.text("quant_method", "quantization_method", "format")
        count = part.count("bits", "w_bit", "nbits")
        if method in ("fp8", "mxfp4") or not count:
            return method or ("unknown" if part.values else "")
        return f"{method or 'unknown'}-{count}bit"

    def rule(self) -> tuple[str, int, float] | None:
        """(type, bits of a weight, bytes of scales for each weight) of its quantisation."""
        part, method = self._quantised, self.quantisation
        if method in _QUANTISED or not method.startswith(_CALIBRATED):
            return _QUANTISED.get(method)
        bits, group = part.count("bits", "w_bit"), part.count("group_size", "q_group_size")
        scales = (2 + bits / 8) / group if group else 0.0
        return (f"u{bits}", bits, scales) if bits in (2, 3, 4, 8) else None

    @property
    def body(self) -> Config:
        """The part that writes texts, where there are several parts."""
        inner = self.part(*_PARTS)
        return self if inner is None or self.of("layers") else inner.body


def quantised(tensors: list[Tensor], config: Config) -> tuple[list[Tensor], list[str]]:
    """The same tensors with the bytes that its method makes of the weights of linear layers."""
    rule, method = config.rule(), config.quantisation
    if rule is None:
        return tensors, [f"how much {method} saves is not known: the weights are counted in full"]
    dtype, bits, each = rule
    out = []
    for one in tensors:
        plain = one.name.endswith(".weight") or ".experts." in one.name
        if plain and len(one.shape) >= 2 and not dtypes.pattern("left").search(one.name):
            size = -(-one.elements * bits // 8) + round(one.elements * each)
            one = replace(one, dtype=dtype, bytes=size)
        out.append(one)
    return out, []
