"""What quantised weights take where only config.json names the method: by its bits and blocks."""

from __future__ import annotations

import re
from dataclasses import replace

from gpuwhy.fit.config import Config
from gpuwhy.fit.model import Tensor

_LEFT = re.compile(r"embed|lm_head|norm|wte|wpe|router|mlp\.gate\.|score|classifier|pooler|ln_")
"""What quantisers leave as it is: embeddings, the output, norms, routers, heads."""
_CALIBRATED = ("gptq", "awq", "compressed-tensors", "autoround", "intel/auto-round", "auto-round")


def quantised(tensors: list[Tensor], config: Config, method: str) -> tuple[list[Tensor], list[str]]:
    """The same tensors with the bytes that the method makes of the weights of linear layers."""
    part = config.part("quantization_config", "compression_config") or Config({})
    rule = _rule(part, method)
    if rule is None:
        return tensors, [f"how much {method} saves is not known: the weights are counted in full"]
    dtype, bits, each = rule
    out = []
    for one in tensors:
        plain = one.name.endswith(".weight") or ".experts." in one.name
        linear = plain and len(one.shape) >= 2 and not _LEFT.search(one.name)
        size = -(-one.elements * bits // 8) + round(one.elements * each)
        out.append(replace(one, dtype=dtype, bytes=size) if linear else one)
    return out, []


def _rule(part: Config, method: str) -> tuple[str, int, float] | None:
    """(type, bits of a weight, bytes of scales for each weight) of a method."""
    double = part.flag("bnb_4bit_use_double_quant") or part.flag("_bnb_4bit_use_double_quant")
    blocks = part.list("weight_block_size")
    fixed = {
        "bitsandbytes-4bit": ("u4", 4, (1 + 4 / 256) / 64 if double else 4 / 64),
        "bitsandbytes-8bit": ("i8", 8, 0.0),
        "mxfp4": ("f4", 4, 1 / 32),  # one byte for 32 weights
        "fbgemm_fp8": ("f8_e4m3", 8, 0.0),
    }
    if method.startswith("fp8"):
        return "f8_e4m3", 8, 4 / (128 * 128) if blocks else 0.0
    if method in fixed or not method.startswith(_CALIBRATED):
        return fixed.get(method)
    groups = part.part("config_groups")
    listed = (
        [Config(one) for one in groups.values.values() if isinstance(one, dict)] if groups else []
    )
    weights = next(filter(None, (group.part("weights") for group in listed[:64])), None)
    told = weights or part
    bits = told.count("bits", "w_bit", "num_bits")
    if bits not in (2, 3, 4, 8):
        return None
    if weights is not None and weights.text("type") == "float" and bits == 8:
        return "f8_e4m3", 8, 0.0
    zero = 0 if weights is not None else bits / 8
    group = told.count("group_size", "q_group_size")
    return f"u{bits}", bits, (2 + zero) / group if group else 0.0
