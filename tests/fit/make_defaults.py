"""Writes src/gpuwhy/fit/defaults.py: the sizes that transformers takes where config.json is silent: `python make_defaults.py OUT.py`."""

from __future__ import annotations

import sys

import transformers
from make_parameters import CLASSES

KEYS = (
    "vocab_size", "hidden_size", "n_embd", "d_model", "dim", "num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers",
    "decoder_layers", "num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads", "intermediate_size", "d_ff",
    "ffn_dim", "hidden_dim", "encoder_ffn_dim", "decoder_ffn_dim", "max_position_embeddings", "n_positions", "max_source_positions",
    "max_target_positions", "num_mel_bins", "type_vocab_size", "embedding_size", "image_size", "patch_size", "num_channels",
    "projection_dim", "projection_size", "relative_attention_num_buckets", "d_kv", "num_hidden_groups", "inner_group_num",
    "kv_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim", "v_head_dim", "n_routed_experts", "num_local_experts", "num_experts",
    "moe_intermediate_size", "shared_expert_intermediate_size", "n_shared_experts", "first_k_dense_replace", "expansion_ratio", "mlp_ratio",
)  # fmt: skip
"""Not those that follow from others: heads of keys, a head's width."""
HEADS = ("gemma", "gemma2", "gemma3_text", "qwen3", "gpt_oss", "glm", "glm4")
"""Where a head's width is a number of its own."""


def main(out: str) -> None:
    """A row for each model type."""
    kinds = {getattr(transformers, name).config_class for name in CLASSES.values()}
    kinds |= {transformers.SiglipTextConfig, transformers.SiglipVisionConfig}
    lines = [
        f'"""Sizes that transformers {transformers.__version__} takes where config.json is silent; made by tests/fit/make_defaults.py."""',
        "", "DEFAULTS: dict[str, dict[str, int]] = {",
    ]  # fmt: skip
    for kind in sorted(kinds, key=lambda one: one.model_type):
        keys = (*KEYS, "head_dim") if kind.model_type in HEADS else KEYS
        try:
            config = kind()
        except Exception as error:
            print(kind.model_type, error)
            continue
        values = {
            key: getattr(config, key)
            for key in keys
            if key in config.to_dict() and isinstance(getattr(config, key), int)
        }
        if values:
            lines.append(f'    "{kind.model_type}": {values!r},'.replace("'", '"'))
    with open(out, "w") as file:
        file.write("\n".join([*lines, "}  # fmt: skip", ""]))


if __name__ == "__main__":
    main(*sys.argv[1:])
