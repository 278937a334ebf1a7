"""What quantised weights take, where only config.json tells of them: by the bits and blocks that it says."""

from __future__ import annotations

from gpuwhy.fit.config import Config
from gpuwhy.fit.model import Tensor

_LEFT = ("embed", "lm_head", "norm", "wte", "wpe", "router", "mlp.gate.", "score", "classifier", "pooler", "ln_")
"""What quantisers leave as it is: embeddings, the output, norms, routers, heads."""
_CALIBRATED = ("gptq", "awq", "compressed-tensors", "autoround", "intel/auto-round", "auto-round")


def quantised(tensors: list[Tensor], config: Config, method: str) -> tuple[list[Tensor], list[str]]:
    """The same tensors with the bytes that the method makes of the weights of linear layers."""
    part = config.part("quantization_config", "compression_config") or Config({})
    rule = _rule(part, method)
    if rule is None:
        return tensors, [f"how much {method} saves is not known: the weights are counted as if they were not quantised"]
    dtype, bits, each = rule
    return [_packed(one, dtype, bits, each) if _is_linear(one) else one for one in tensors], []


def _is_linear(tensor: Tensor) -> bool:
    plain = tensor.name.endswith(".weight") or ".experts." in tensor.name
    return plain and len(tensor.shape) >= 2 and not any(word in tensor.name for word in _LEFT)


def _packed(tensor: Tensor, dtype: str, bits: int, each: float) -> Tensor:
    count = tensor.elements
    return Tensor(tensor.name, dtype, tensor.shape, -(-count * bits // 8) + round(count * each))


def _rule(part: Config, method: str) -> tuple[str, int, float] | None:
    """(type, bits of a weight, bytes of scales for each weight) of a method."""
    if method == "bitsandbytes-4bit":
        double = part.flag("bnb_4bit_use_double_quant") or part.flag("_bnb_4bit_use_double_quant")
        return "u4", 4, (1 + 4 / 256) / 64 if double else 4 / 64  # a scale for 64 weights
    if method == "bitsandbytes-8bit":
        return "i8", 8, 0.0
    if method == "mxfp4":
        return "f4", 4, 1 / 32  # one byte for 32 weights
    if method.startswith("fp8") or method == "fbgemm_fp8":
        return "f8_e4m3", 8, 4 / (128 * 128) if part.list("weight_block_size") else 0.0
    return _grouped(part, method)


def _grouped(part: Config, method: str) -> tuple[str, int, float] | None:
    """GPTQ, AWQ and their kin: a 16-bit scale and a zero point for each group."""
    if not method.startswith(_CALIBRATED):
        return None
    weights = next(filter(None, (group.part("weights") for group in _groups(part))), None)
    told = weights or part
    bits = told.count("bits", "w_bit", "num_bits")
    if bits not in (2, 3, 4, 8):
        return None
    if weights is not None and weights.text("type") == "float" and bits == 8:
        return "f8_e4m3", 8, 0.0
    zero = 0 if weights is not None else bits / 8
    group = told.count("group_size", "q_group_size")
    return f"u{bits}", bits, (2 + zero) / group if group else 0.0


def _groups(part: Config) -> list[Config]:
    groups = part.part("config_groups")
    return [Config(one) for one in groups.values.values() if isinstance(one, dict)][:64] if groups else []
