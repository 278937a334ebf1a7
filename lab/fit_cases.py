"""The models and uses that lab/fit_models.py measures; each use is a line of options to `gpuwhy fit`."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Made:
    """A model: who writes it, its family there, and its config.json."""

    name: str
    by: str  # plain | transformers | jax
    family: str  # of the zoo, or transformers' class
    config: dict[str, Any]
    image: int = 0
    described: bool = True  # with a config.json; else the tensors alone


@dataclass(frozen=True)
class Case:
    """One use of one model."""

    model: str
    mode: str
    batch: int
    size: int  # tokens, or pixels
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """A name for files and tables."""
        return f"{self.model}/{self.mode}/{self.batch}x{self.size}"


def llama(hidden: int, layers: int, heads: int, kv: int, inner: int, vocab: int, **more: Any) -> dict[str, Any]:
    """config.json of Llama and its kin."""
    return {
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": hidden, "num_hidden_layers": layers,
        "num_attention_heads": heads, "num_key_value_heads": kv, "intermediate_size": inner, "vocab_size": vocab,
        "max_position_embeddings": 8192, "rms_norm_eps": 1e-6, "tie_word_embeddings": False, "hidden_act": "silu",
        "rope_theta": 10000.0, **more,
    }  # fmt: skip


def kin(name: str, kind: str, *sizes: int, **more: Any) -> dict[str, Any]:
    """The same under another name."""
    return {**llama(*sizes), "architectures": [name], "model_type": kind, **more}


MLA = {
    "kv_lora_rank": 512, "q_lora_rank": None, "qk_rope_head_dim": 64, "qk_nope_head_dim": 128, "v_head_dim": 128,
    "first_k_dense_replace": 99, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": 1,
    "moe_intermediate_size": 512, "n_group": 1, "topk_group": 1,
}  # fmt: skip
GPT2 = {"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "vocab_size": 50257, "n_positions": 4200}
BERT = {
    "architectures": ["BertForMaskedLM"],
    "model_type": "bert",
    "vocab_size": 30522,
    "max_position_embeddings": 1024,
}
VIT = {"architectures": ["ViTForImageClassification"], "model_type": "vit", "image_size": 224, "num_channels": 3}


def _bert(hidden: int, layers: int, heads: int, **more: Any) -> dict[str, Any]:
    sizes = {"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads}
    return {**sizes, "intermediate_size": 4 * hidden, **more}


MODELS = [
    Made("mha-300m", "plain", "decoder", llama(1024, 16, 16, 16, 2816, 32000)),
    Made("mha-1b", "plain", "decoder", llama(2048, 16, 16, 16, 5504, 32000)),
    Made("gqa-700m", "plain", "decoder", llama(1536, 20, 24, 8, 4096, 64000)),
    Made("gqa-1b-wide", "plain", "decoder", llama(2048, 14, 32, 4, 8192, 128256)),
    Made("eager-200m", "plain", "decoder", llama(1024, 10, 16, 8, 2816, 32000, _attention="eager")),
    Made("window-400m", "plain", "decoder",
         kin("MistralForCausalLM", "mistral", 1024, 18, 16, 4, 3584, 32000, sliding_window=1024)),
    Made("moe-8x", "plain", "decoder", kin("MixtralForCausalLM", "mixtral", 1024, 10, 16, 8, 2048, 32000,
                                           num_local_experts=8, num_experts_per_tok=2)),
    Made("moe-16x4", "plain", "decoder", kin("MixtralForCausalLM", "mixtral", 768, 8, 12, 4, 1024, 50000,
                                             num_local_experts=16, num_experts_per_tok=4)),
    Made("mla-500m", "plain", "decoder", kin("DeepseekV3ForCausalLM", "deepseek_v3", 1024, 14, 16, 16, 4096, 64000, **MLA)),
    Made("mla-1b", "plain", "decoder", kin("DeepseekV3ForCausalLM", "deepseek_v3", 2048, 14, 16, 16, 6144, 32000, **MLA)),
    Made("gpt-350m", "plain", "gpt", {**GPT2, "activation_function": "gelu_pytorch_tanh", "n_embd": 1024, "n_layer": 24, "n_head": 16}),
    Made("gpt-770m", "plain", "gpt", {**GPT2, "activation_function": "gelu_pytorch_tanh", "n_embd": 1280, "n_layer": 36, "n_head": 20}),
    Made("encoder-own", "plain", "encoder", _bert(1024, 16, 16, vocab_size=30522), described=False),
    Made("vit-own", "plain", "vit", _bert(1024, 16, 16, patch_size=16, image_size=224), 224, described=False),
    Made("resnet50", "plain", "resnet", {"layer_type": "bottleneck", "depths": [3, 4, 6, 3]}, 224, described=False),
    Made("resnet34", "plain", "resnet", {"layer_type": "basic", "depths": [3, 4, 6, 3]}, 224, described=False),
    Made("vgg", "plain", "vgg", {"widths": [64, 128, 256, 512, 512], "depths": [2, 2, 4, 4, 4]}, 224, described=False),
    Made("unet", "plain", "unet", {"block_out_channels": [64, 128, 256, 512, 1024]}, 256, described=False),
    Made("diffusion", "plain", "diffusion",
         {"_class_name": "UNet2DModel", "in_channels": 4, "out_channels": 4, "layers_per_block": 2, "sample_size": 64,
          "block_out_channels": [192, 384, 768], "down_block_types": ["DownBlock2D"] * 3,
          "up_block_types": ["UpBlock2D"] * 3, "norm_num_groups": 32}, 64),
    Made("hf-llama", "transformers", "LlamaForCausalLM", llama(2048, 12, 32, 8, 5632, 32000)),
    Made("hf-qwen3", "transformers", "Qwen3ForCausalLM",
         kin("Qwen3ForCausalLM", "qwen3", 1024, 20, 16, 8, 3072, 151936, head_dim=128)),
    Made("hf-gemma2", "transformers", "Gemma2ForCausalLM",
         kin("Gemma2ForCausalLM", "gemma2", 1152, 14, 8, 4, 4608, 128000, head_dim=128, sliding_window=1024,
             tie_word_embeddings=True, query_pre_attn_scalar=128)),
    Made("hf-mixtral", "transformers", "MixtralForCausalLM",
         kin("MixtralForCausalLM", "mixtral", 1024, 8, 16, 8, 2048, 32000, num_local_experts=8, num_experts_per_tok=2)),
    Made("hf-gpt2", "transformers", "GPT2LMHeadModel", {**GPT2, "n_embd": 1024, "n_layer": 24, "n_head": 16}),
    Made("hf-bert", "transformers", "BertForMaskedLM", {**BERT, **_bert(1024, 24, 16)}),
    Made("hf-vit", "transformers", "ViTForImageClassification", {**VIT, **_bert(1024, 24, 16, patch_size=16)}, 224),
    Made("hf-resnet", "transformers", "ResNetForImageClassification",
         {"architectures": ["ResNetForImageClassification"], "model_type": "resnet", "layer_type": "bottleneck",
          "depths": [3, 4, 23, 3], "hidden_sizes": [256, 512, 1024, 2048], "embedding_size": 64, "num_channels": 3}, 224),
    Made("hf-t5", "transformers", "T5ForConditionalGeneration",
         {"architectures": ["T5ForConditionalGeneration"], "model_type": "t5", "d_model": 768, "d_kv": 64, "d_ff": 3072,
          "num_layers": 12, "num_decoder_layers": 12, "num_heads": 12, "vocab_size": 32128,
          "is_encoder_decoder": True, "decoder_start_token_id": 0, "pad_token_id": 0}),
    Made("jax-mha", "jax", "decoder", llama(1024, 16, 16, 16, 2816, 32000)),
    Made("jax-gqa", "jax", "decoder", llama(1536, 14, 24, 8, 4096, 64000)),
    Made("jax-flash", "jax", "decoder", llama(1024, 16, 16, 16, 2816, 32000, _attention="cudnn")),
    Made("jax-encoder", "jax", "encoder", {**BERT, **_bert(1024, 16, 16, gated=False, causal=False, num_labels=30522), "architectures": ["BertForSequenceClassification"]}),
    Made("jax-vit", "jax", "vit", {**VIT, **_bert(1024, 16, 16, patch_size=16, gated=False, vocab_size=0)}, 224),
    Made("jax-cnn", "jax", "conv", {"widths": [64, 128, 256, 512], "depths": [3, 3, 4, 3]}, 224, described=False),
]  # fmt: skip
SECOND = [
    Made("hf-mistral-b", "transformers", "MistralForCausalLM",
         kin("MistralForCausalLM", "mistral", 1536, 16, 24, 6, 4864, 32768, sliding_window=None)),
    Made("hf-qwen2-b", "transformers", "Qwen2ForCausalLM", kin("Qwen2ForCausalLM", "qwen2", 896, 24, 14, 2, 4864, 151936,
                                                            tie_word_embeddings=True)),
    Made("hf-phi3-b", "transformers", "Phi3ForCausalLM",
         kin("Phi3ForCausalLM", "phi3", 2048, 10, 32, 32, 5632, 32064, pad_token_id=0)),
    Made("hf-opt-b", "transformers", "OPTForCausalLM",
         {"architectures": ["OPTForCausalLM"], "model_type": "opt", "hidden_size": 1024, "num_hidden_layers": 20,
          "num_attention_heads": 16, "ffn_dim": 4096, "vocab_size": 50272, "max_position_embeddings": 4200,
          "word_embed_proj_dim": 1024, "activation_function": "relu"}),
    Made("hf-neox-b", "transformers", "GPTNeoXForCausalLM",
         {"architectures": ["GPTNeoXForCausalLM"], "model_type": "gpt_neox", "hidden_size": 1024,
          "num_hidden_layers": 16, "num_attention_heads": 16, "intermediate_size": 4096, "vocab_size": 50432,
          "max_position_embeddings": 4096}),
    Made("hf-olmo2-b", "transformers", "Olmo2ForCausalLM", kin("Olmo2ForCausalLM", "olmo2", 1536, 12, 12, 12, 6144, 100352,
                                                            pad_token_id=0, eos_token_id=0)),
    Made("hf-roberta-b", "transformers", "RobertaForMaskedLM",
         {**BERT, "architectures": ["RobertaForMaskedLM"], "model_type": "roberta", **_bert(768, 12, 12)}),
    Made("hf-deit-b", "transformers", "DeiTForImageClassification",
         {**VIT, "architectures": ["DeiTForImageClassification"], "model_type": "deit", **_bert(768, 12, 12, patch_size=16)}, 224),
    Made("hf-convnext-b", "transformers", "ConvNextForImageClassification",
         {"architectures": ["ConvNextForImageClassification"], "model_type": "convnext", "num_channels": 3,
          "hidden_sizes": [96, 192, 384, 768], "depths": [3, 3, 9, 3], "patch_size": 4, "image_size": 224}, 224),
    Made("gqa-b", "plain", "decoder", llama(1280, 18, 20, 4, 3456, 49152)),
    Made("mha-b", "plain", "decoder", llama(1792, 12, 14, 14, 4864, 32000)),
    Made("moe-b", "plain", "decoder", kin("MixtralForCausalLM", "mixtral", 896, 9, 14, 2, 1792, 32000,
                                          num_local_experts=4, num_experts_per_tok=1)),
    Made("resnet-b", "plain", "resnet", {"layer_type": "bottleneck", "depths": [2, 3, 8, 2]}, 192, described=False),
    Made("unet-b", "plain", "unet", {"block_out_channels": [48, 96, 192, 384]}, 192, described=False),
    Made("jax-b", "jax", "decoder", llama(1280, 12, 20, 4, 3456, 49152)),
    Made("jax-vit-b", "jax", "vit", {**VIT, **_bert(768, 12, 12, patch_size=16, gated=False, vocab_size=0)}, 224),
]  # fmt: skip
"""Made after everything was calibrated on those above."""
if os.environ.get("FIT_LAB_SET") == "second":
    MODELS = SECOND
BY_NAME = {made.name: made for made in MODELS}

DECODERS = ("mha", "gqa", "window", "moe", "mla", "gpt", "hf-llama", "hf-qwen3", "hf-gemma2", "hf-mixtral", "hf-gpt2")
TRAINED: dict[str, dict[str, Any]] = {
    "adamw-f32": {"task": "train", "optimizer": "adamw", "dtype": "f32"},
    "adamw-amp": {"task": "train", "optimizer": "adamw", "amp": True},
    "adamw-bf16": {"task": "train", "optimizer": "adamw", "dtype": "bf16"},
    "adam-ckpt": {"task": "train", "optimizer": "adam", "dtype": "bf16", "checkpointing": True},
    "sgd-f32": {"task": "train", "optimizer": "momentum", "dtype": "f32"},
    "adamw-fused-bf16": {"task": "train", "optimizer": "adamw-fused", "dtype": "bf16"},
}
RUN: dict[str, dict[str, Any]] = {
    "run-bf16": {"task": "inference", "dtype": "bf16"},
    "run-f32": {"task": "inference", "dtype": "f32"},
    "run-all-bf16": {"task": "inference", "dtype": "bf16", "logits": "all"},
}
MODES = {**RUN, **TRAINED}


def _modes(made: Made, place: int) -> list[tuple[str, list[tuple[int, int]]]]:
    """Which uses of a model are measured: in turn, so that every kind meets every mode somewhere."""
    trains = list(TRAINED)
    if made.by == "jax":
        trains = ["adamw-f32", "adamw-bf16", "adam-ckpt", "sgd-f32"]
    if made.image:
        side = made.image
        few, many = ((8, side), (64, side)) if side > 64 else ((4, side), (32, side))
        first, second = trains[place % len(trains)], trains[(place + 3) % len(trains)]
        return [
            ("run-bf16", [few, many]),
            ("run-f32", [many]),
            (first, [few, many]),
            (second, [few, (many[0] // 2, side)]),
        ]
    if "MaskedLM" in made.family or made.family in ("encoder", "T5ForConditionalGeneration"):
        first, second = trains[place % len(trains)], trains[(place + 2) % len(trains)]
        return [("run-bf16", [(8, 512), (64, 512)]), (first, [(4, 512), (16, 256)]), (second, [(8, 512)])]
    short = made.by == "jax" or "eager" in made.name
    long = 1024 if short else 4096
    first, second = trains[place % len(trains)], trains[(place + 2) % len(trains)]
    runs = [
        ("run-bf16", [(1, long), (8, 1024)]),
        ("run-f32" if place % 2 or made.by == "jax" else "run-all-bf16", [(4, 1024)]),
    ]
    return [*runs, (first, [(2, 512), (4, 1024)]), (second, [(4, 512), (2, 1024)])]


def cases() -> list[Case]:
    """Every case, in the order of the models."""
    out = []
    for place, made in enumerate(MODELS):
        for mode, sizes in _modes(made, place):
            out += [Case(made.name, mode, batch, size, MODES[mode]) for batch, size in sizes]
    return out
