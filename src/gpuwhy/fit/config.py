"""config.json of transformers: its fields under the names that different models give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuwhy.fit import dtypes
from gpuwhy.fit.model import Architecture, Kind
from gpuwhy.fit.tables import table

_NAMES: dict[str, str] = table("fields")
_PARTS = ("text_config", "llm_config", "language_config", "thinker_config", "text_cfg")
_EVERY = {"gemma2": 2, "gemma3": 6, "gemma3_text": 6, "cohere2": 4, "gpt_oss": 2}
"""Every so many layers one of these sees everything, where their configuration does not say it."""
_MOST = 1 << 31


class Config:
    """The fields of one configuration; what is no number or is absurd is absent."""

    def __init__(
        self, values: Mapping[str, Any], defaults: Mapping[str, int] | None = None
    ) -> None:
        self.values = values
        self._defaults = defaults or {}
        self.taken: list[str] = []  # fields that it does not have, and whose defaults were taken

    def count(self, *keys: str) -> int | None:
        """The first of these fields that holds a count, else their default."""
        for key in keys:
            value = self.values.get(key)
            plain = isinstance(value, int) and not isinstance(value, bool)
            if plain and 0 <= value < _MOST:  # type: ignore[operator]
                return value
        for key in keys:
            if key in self._defaults and key not in self.values:  # null means null
                self.taken += [key] if key not in self.taken else []
                return self._defaults[key]
        return None

    def of(self, name: str) -> int | None:
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
        listed = (one[:200] for one in self.list("architectures") if isinstance(one, str))
        return next(listed, "")

    @property
    def head_dim(self) -> int | None:
        """The width of a head."""
        told = self.count("head_dim", "d_kv", "kv_channels", "attention_head_dim")
        hidden, heads = self.of("hidden"), self.of("heads")
        return told or (hidden // heads if hidden and heads else None)

    @property
    def kv_heads(self) -> int | None:
        """Heads of keys and values."""
        single = self.kind == "gpt_bigcode" or (
            self.kind == "falcon" and not self.flag("new_decoder_architecture")
        )
        if single:
            return 1 if self.flag("multi_query", True) else self.of("heads")
        return self.of("kv_heads") or self.of("heads")

    @property
    def dtype(self) -> str | None:
        """What the weights are loaded as, where it says so."""
        word = self.text("dtype", "torch_dtype")
        return dtypes.named(word) if word else None

    @property
    def quantisation(self) -> str | None:
        """How the weights are quantised, as `quantization_config` says."""
        part = self.part("quantization_config", "compression_config")
        if part is None:
            return None
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
        return self if inner is None or self.of("layers") is not None else inner.body


def architecture_of(config: Config) -> Architecture:
    """What the fields say; what they do not say is None."""
    from gpuwhy.fit.families import filled, kind_of

    main = filled(config.body)
    experts = main.of("experts")
    window, every = _window(main)
    vision = filled(config.part("vision_config") or config)
    kind: Kind = kind_of(config)
    return Architecture(
        kind=kind,
        name=config.name or config.kind,
        layers=main.of("layers"),
        decoder_layers=main.count("num_decoder_layers", "decoder_layers"),
        hidden=main.of("hidden"),
        intermediate=main.of("inner"),
        heads=main.of("heads"),
        kv_heads=main.kv_heads,
        head_dim=main.head_dim,
        vocab=main.count("vocab_size"),
        positions=main.of("positions"),
        experts=experts,
        experts_used=main.of("used") if experts else None,
        expert_intermediate=(main.count("moe_intermediate_size") or main.of("inner")),
        kv_rank=main.count("kv_lora_rank"),
        rope_dim=main.count("qk_rope_head_dim"),
        window=window,
        window_every=every,
        image=vision.count("image_size"),
        patch=vision.count("patch_size"),
        activation=main.text("hidden_act", "activation_function", "hidden_activation") or None,
    )


def _window(config: Config) -> tuple[int | None, int | None]:
    """The sliding window, and every so many layers one sees everything."""
    window = config.of("window") or None
    if window is None or config.values.get("use_sliding_window") is False:
        return None, None
    types = config.list("layer_types")
    if types:
        whole = types.count("full_attention")
        every = round(len(types) / whole) if whole else None
        return (None, None) if whole == len(types) else (window, every)
    told = config.count("sliding_window_pattern", "_sliding_window_pattern")
    return window, told or config.count("global_attn_every_n_layers") or _EVERY.get(config.kind)
