"""config.json of transformers: its fields under the names that different models give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpuwhy.fit import dtypes
from gpuwhy.fit.model import Architecture, How

HIDDEN = ("hidden_size", "n_embd", "n_embed", "d_model", "dim", "model_dim")
LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "num_decoder_layers")
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads")
KV_HEADS = ("num_key_value_heads", "num_kv_heads", "n_head_kv", "multi_query_group_num")
INNER = ("intermediate_size", "ffn_hidden_size", "n_inner", "ffn_dim", "d_ff", "hidden_dim", "encoder_ffn_dim")
POSITIONS = ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "max_target_positions", "n_ctx")
EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
_MOST = 1 << 31


class Config:
    """The fields of one configuration; what is no number or is absurd is not there."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values
        self._defaults: Mapping[str, int] = {}
        self.taken: list[str] = []
        """The fields that it does not have, and whose defaults were taken."""

    def filled(self) -> Config:
        """The same, where a size that it does not tell is its class's own."""
        from gpuwhy.fit.defaults import DEFAULTS

        out = Config(self.values)
        out._defaults = DEFAULTS.get(self.kind, {})
        return out

    def count(self, *keys: str) -> int | None:
        """The first of these fields that holds a count."""
        for key in keys:
            value = self.values.get(key)
            if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST:
                return value
        return self._default(keys)

    def _default(self, keys: tuple[str, ...]) -> int | None:
        for key in keys:
            if key in self._defaults and self.values.get(key, _MOST) == _MOST:  # null means null
                self.taken += [key] if key not in self.taken else []
                return self._defaults[key]
        return None

    def flag(self, key: str, default: bool = False) -> bool:
        """A field that is yes or no."""
        value = self.values.get(key)
        return value if isinstance(value, bool) else default

    def text(self, *keys: str) -> str:
        """The first of these fields that holds a text."""
        return next((value[:200] for key in keys if isinstance(value := self.values.get(key), str)), "")

    def list(self, key: str) -> list[Any]:
        """A field that is a list."""
        value = self.values.get(key)
        return value[:4096] if isinstance(value, list) else []

    def part(self, *keys: str) -> Config | None:
        """A configuration in it."""
        return next((Config(value) for key in keys if isinstance(value := self.values.get(key), dict)), None)

    @property
    def kind(self) -> str:
        """The model's type: llama, bert."""
        return self.text("model_type")

    @property
    def name(self) -> str:
        """The class that its weights were saved from."""
        return next((one[:200] for one in self.list("architectures") if isinstance(one, str)), self.text("_class_name"))

    @property
    def heads(self) -> int | None:
        """Heads of attention."""
        return self.count(*HEADS)

    @property
    def head_dim(self) -> int | None:
        """The width of a head."""
        told = self.count("head_dim", "d_kv", "kv_channels", "attention_head_dim")
        hidden, heads = self.count(*HIDDEN), self.heads
        return told or (hidden // heads if hidden and heads else None)

    @property
    def dtype(self) -> str | None:
        """What the weights are loaded as, where it says so."""
        word = self.text("dtype", "torch_dtype")
        return dtypes.named(word) if word else None


def quantisation_of(config: Config) -> str | None:
    """How the weights are quantised, as `quantization_config` says."""
    part = config.part("quantization_config", "compression_config")
    if part is None:
        return None
    for bits in (4, 8):
        if part.flag(f"load_in_{bits}bit") or part.flag(f"_load_in_{bits}bit"):
            return f"bitsandbytes-{bits}bit"
    told = map(part.text, ("quant_method", "quantization_method", "format"))
    method = next(filter(None, told), "unknown")
    bits = part.count("bits", "w_bit", "nbits") or 0
    return f"{method}-{bits}bit" if bits and method not in ("fp8", "mxfp4") else method


def body(config: Config) -> Config:
    """The part that writes texts, where there are several parts."""
    inner = config.part("text_config", "llm_config", "language_config", "thinker_config", "text_cfg")
    if inner is None or config.count(*LAYERS) is not None:
        return config
    return body(inner) if inner.part("text_config") else inner


def architecture_of(config: Config) -> Architecture:
    """What the fields tell; what they do not tell is None."""
    from gpuwhy.fit.families import kind_of, tied_of

    main = body(config).filled()
    heads = main.heads
    experts = main.count(*EXPERTS)
    window, every = window_of(main)
    vision = (config.part("vision_config") or config).filled()
    return Architecture(
        kind=kind_of(config),
        name=config.name or config.kind,
        layers=main.count(*LAYERS),
        decoder_layers=main.count("num_decoder_layers", "decoder_layers"),
        hidden=main.count(*HIDDEN),
        intermediate=main.count(*INNER),
        heads=heads,
        kv_heads=_kv_heads(main),
        head_dim=main.head_dim,
        vocab=main.count("vocab_size"),
        positions=main.count(*POSITIONS),
        experts=experts,
        experts_used=main.count("num_experts_per_tok", "num_experts_per_token", "moe_topk") if experts else None,
        expert_intermediate=main.count("moe_intermediate_size", *INNER) if experts else None,
        kv_rank=main.count("kv_lora_rank"),
        rope_dim=main.count("qk_rope_head_dim"),
        window=window,
        window_every=every,
        tied=tied_of(config),
        image=vision.count("image_size", "sample_size"),
        patch=vision.count("patch_size"),
        channels=vision.count("num_channels", "in_channels"),
        activation=main.text("hidden_act", "activation_function", "hidden_activation", "activation") or None,
        how=How.SAW,
    )


def _kv_heads(config: Config) -> int | None:
    if config.kind == "falcon" and not config.flag("new_decoder_architecture"):
        return 1 if config.flag("multi_query", True) else config.heads
    if config.kind == "gpt_bigcode":
        return 1 if config.flag("multi_query", True) else config.heads
    return config.count(*KV_HEADS) or config.heads


_WHOLE_EVERY = {"gemma2": 2, "gemma3": 6, "gemma3_text": 6, "cohere2": 4, "gpt_oss": 2}
"""Every how manieth layer of these sees everything, where their configuration does not say it."""


def window_of(config: Config) -> tuple[int | None, int | None]:
    """The sliding window, and every how manieth layer sees everything; None where all have the window."""
    window = config.count("sliding_window", "local_attention", "attention_chunk_size") or None
    if window is None or config.values.get("use_sliding_window") is False:
        return None, None
    types = config.list("layer_types")
    if types:
        whole = types.count("full_attention")
        if whole == len(types):
            return None, None
        return window, round(len(types) / whole) if whole else None
    every = config.count("sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers")
    return window, every or _WHOLE_EVERY.get(config.kind)
