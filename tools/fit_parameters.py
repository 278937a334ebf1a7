"""What transformers says of an architecture's tensors, on the meta device: `python make_parameters.py OUT.json [SHORT.jsonl]`.

For every row a default configuration and a small odd one: config.json as save_pretrained writes it, the names and
shapes of parameters and persistent buffers, tied ones once. Needs torch and transformers; nothing of gpuwhy.
"""

from __future__ import annotations

import json
import math
import random
import sys
import warnings

import torch
import transformers

CLASSES = {
    "llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM", "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM",
    "gemma": "GemmaForCausalLM", "gemma2": "Gemma2ForCausalLM", "gemma3_text": "Gemma3ForCausalLM", "phi": "PhiForCausalLM",
    "phi3": "Phi3ForCausalLM", "gpt2": "GPT2LMHeadModel", "gpt_neo": "GPTNeoForCausalLM", "gpt_neox": "GPTNeoXForCausalLM",
    "gptj": "GPTJForCausalLM", "falcon": "FalconForCausalLM", "opt": "OPTForCausalLM", "bloom": "BloomForCausalLM",
    "mpt": "MptForCausalLM", "stablelm": "StableLmForCausalLM", "starcoder2": "Starcoder2ForCausalLM",
    "olmo": "OlmoForCausalLM", "olmo2": "Olmo2ForCausalLM", "cohere": "CohereForCausalLM", "granite": "GraniteForCausalLM",
    "gpt_bigcode": "GPTBigCodeForCausalLM", "smollm3": "SmolLM3ForCausalLM", "glm": "GlmForCausalLM", "glm4": "Glm4ForCausalLM",
    "nemotron": "NemotronForCausalLM", "ministral3": "Ministral3ForCausalLM", "arcee": "ArceeForCausalLM", "seed_oss": "SeedOssForCausalLM",
    "exaone4": "Exaone4ForCausalLM", "cohere2": "Cohere2ForCausalLM", "persimmon": "PersimmonForCausalLM", "mamba": "MambaForCausalLM", "olmo3": "Olmo3ForCausalLM", "codegen": "CodeGenForCausalLM",
    "mixtral": "MixtralForCausalLM", "qwen2_moe": "Qwen2MoeForCausalLM", "qwen3_moe": "Qwen3MoeForCausalLM",
    "deepseek_v2": "DeepseekV2ForCausalLM", "deepseek_v3": "DeepseekV3ForCausalLM", "olmoe": "OlmoeForCausalLM",
    "gpt_oss": "GptOssForCausalLM", "phimoe": "PhimoeForCausalLM", "glm4_moe": "Glm4MoeForCausalLM",
    "bert": "BertForMaskedLM", "roberta": "RobertaForMaskedLM", "xlm-roberta": "XLMRobertaModel", "distilbert": "DistilBertForMaskedLM",
    "deberta": "DebertaModel", "deberta-v2": "DebertaV2ForMaskedLM", "electra": "ElectraModel", "albert": "AlbertModel",
    "mpnet": "MPNetModel", "ernie": "ErnieForMaskedLM", "modernbert": "ModernBertForMaskedLM",
    "t5": "T5ForConditionalGeneration", "mt5": "MT5ForConditionalGeneration", "bart": "BartForConditionalGeneration",
    "mbart": "MBartForConditionalGeneration", "pegasus": "PegasusForConditionalGeneration", "marian": "MarianMTModel", "umt5": "UMT5ForConditionalGeneration", "whisper": "WhisperForConditionalGeneration",
    "vit": "ViTForImageClassification", "deit": "DeiTModel", "dinov2": "Dinov2Model", "clip": "CLIPModel", "siglip": "SiglipModel",
    "clip_text_model": "CLIPTextModel", "clip_vision_model": "CLIPVisionModel",
}  # fmt: skip
OTHERS = {
    "bert-base": ("bert", "BertModel"), "bert-classes": ("bert", "BertForSequenceClassification"),
    "roberta-classes": ("roberta", "RobertaForSequenceClassification"), "llama-base": ("llama", "LlamaModel"),
    "llama-classes": ("llama", "LlamaForSequenceClassification"), "t5-encoder": ("t5", "T5EncoderModel"),
    "distilbert-classes": ("distilbert", "DistilBertForSequenceClassification"), "vit-base": ("vit", "ViTModel"),
    "bert-tokens": ("bert", "BertForTokenClassification"), "bert-answers": ("bert", "BertForQuestionAnswering"),
    "clip-text": ("clip_text_model", "CLIPTextModelWithProjection"), "clip-vision": ("clip_vision_model", "CLIPVisionModelWithProjection"),
    "gpt2-base": ("gpt2", "GPT2Model"), "bart-base": ("bart", "BartModel"),
}  # fmt: skip
SMALL = {
    "vocab_size": 131, "hidden_size": 96, "n_embd": 96, "d_model": 96, "dim": 96, "n_positions": 70, "max_position_embeddings": 70,
    "n_ctx": 70, "num_hidden_layers": 3, "n_layer": 3, "n_layers": 3, "num_layers": 3, "num_attention_heads": 6, "n_head": 6,
    "n_heads": 6, "num_heads": 6, "num_key_value_heads": 2, "intermediate_size": 80, "n_inner": 80, "d_ff": 80, "hidden_dim": 80,
    "ffn_dim": 80, "encoder_layers": 2, "decoder_layers": 4, "encoder_attention_heads": 6, "decoder_attention_heads": 4,
    "encoder_ffn_dim": 72, "decoder_ffn_dim": 88, "head_dim": 20, "num_local_experts": 5, "num_experts": 5,
    "n_routed_experts": 6, "moe_intermediate_size": 24, "shared_expert_intermediate_size": 40, "kv_lora_rank": 12,
    "q_lora_rank": 28, "qk_rope_head_dim": 8, "qk_nope_head_dim": 12, "v_head_dim": 10, "first_k_dense_replace": 1, "num_labels": 3,
    "embedding_size": 48, "patch_size": 8, "image_size": 40, "type_vocab_size": 3, "d_kv": 14, "num_decoder_layers": 2,
    "max_source_positions": 50, "max_target_positions": 30, "num_mel_bins": 20, "projection_dim": 36, "n_group": 1, "topk_group": 1,
    "rotary_dim": 8, "max_seq_len": 70, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "n_shared_experts": 2,
    "num_experts_per_tok": 2, "decoder_start_token_id": 1, "dense_attention": True,
}  # fmt: skip
"""One odd value for each field that a configuration may have."""
SIZES = ("default", "small", "wild 1", "wild 2", "wild 3")
LISTS = {
    "layer_types": None,
    "mlp_layer_types": None,
    "attention_types": [[["global", "local"], 2]],
    "attention_layers": None,
}


def small(config):
    """The configuration with small odd values, its parts too."""
    values = {}
    for key in config.to_dict():
        if key in SMALL and getattr(config, key, None) is not None:
            values[key] = SMALL[key]
        elif key in LISTS:
            values[key] = LISTS[key]
    if config.model_type == "gpt_neo":
        values.update(num_layers=4)
        values.pop("attention_layers", None)
    if config.model_type == "mpt":
        values.update(n_heads=6)
    if config.model_type == "falcon":
        values.update(num_kv_heads=2, new_decoder_architecture=True)
    if config.model_type in ("glm", "glm4", "codegen"):
        values.update(head_dim=16, n_head=4, num_attention_heads=6)
    if config.model_type in ("t5", "mt5"):
        values.update(feed_forward_proj="gated-gelu")
    for part in ("text_config", "vision_config"):
        if part in config.to_dict():
            values[part] = {**small(getattr(config, part)).to_dict()}
    return type(config)(**values)


WILD = (
    "is_decoder",
    "use_cache",
    "add_cross_attention",
    "output",
    "return",
    "torchscript",
    "is_encoder_decoder",
    "gradient",
    "tf_legacy",
)


def wild(config, dice):
    """The small one with its yes and no turned at random, and other sizes."""
    values = {
        key: value
        for key, value in small(config).to_dict().items()
        if key not in ("layer_types", "mlp_layer_types", "no_rope_layers")
    }
    for key, value in values.items():
        if isinstance(value, bool) and not key.startswith(WILD) and not key.startswith("_"):
            values[key] = dice.random() < 0.5
        elif key in (
            "num_hidden_layers",
            "n_layer",
            "n_layers",
            "encoder_layers",
            "decoder_layers",
        ):
            values[key] = dice.randrange(1, 6)
        elif key in (
            "intermediate_size",
            "n_inner",
            "d_ff",
            "ffn_dim",
            "hidden_dim",
            "moe_intermediate_size",
        ):
            values[key] = dice.choice([56, 64, 120])
        elif key in ("vocab_size",):
            values[key] = dice.randrange(50, 500)
    if "relative_attention" in values:
        values.update(
            pos_att_type=dice.choice([["c2p", "p2c"], ["c2p"], ["p2c"], "p2c|c2p"]),
            position_buckets=dice.choice([-1, 16]),
            max_relative_positions=dice.choice([-1, 24]),
            norm_rel_ebd=dice.choice(["none", "layer_norm"]),
            share_att_key=dice.random() < 0.5,
            conv_kernel_size=dice.choice([0, 3]),
            conv_act="tanh",
            type_vocab_size=dice.choice([0, 2]),
        )
    if "mlp_only_layers" in values:
        values.update(
            mlp_only_layers=dice.choice([[], [0]]), decoder_sparse_step=dice.choice([1, 2])
        )
    if "q_lora_rank" in values:
        values.update(q_lora_rank=dice.choice([None, 20]))
    if "num_key_value_heads" in values:
        values.update(num_key_value_heads=dice.choice([1, 2, 3, 6]))
    if "word_embed_proj_dim" in values:
        values.update(word_embed_proj_dim=dice.choice([96, 40]))
    if "num_labels" in values or "id2label" in values:
        values.pop("label2id", None)
        values.update(id2label={number: str(number) for number in range(dice.randrange(1, 9))})
    return type(config)(**values)


def rows(model):
    """Names and shapes, tied ones once, as named in the checkpoint."""
    kept = set(model.state_dict())
    out = {name: list(one.shape) for name, one in model.named_parameters()}
    out |= {name: list(one.shape) for name, one in model.named_buffers() if name in kept}
    return out


DROPPED = ("label2id", "transformers_version", "dtype")


def short(config: dict) -> dict:
    """Of a configuration what can matter: no empty, no real numbers, labels counted."""
    kept = {
        key: short(value) if isinstance(value, dict) and key.endswith("_config") else value
        for key, value in config.items()
        if key not in DROPPED
    }
    names = kept.pop("id2label", None)
    kept = {
        key: value
        for key, value in kept.items()
        if isinstance(value, (int, str, list, dict)) and "token" not in key
    }
    return kept if names is None else {**kept, "num_labels": len(names)}


def main(out: str, brief: str = "") -> None:
    """Every row of the table in every size; the brief form keeps counts only."""
    warnings.simplefilter("ignore")
    transformers.logging.set_verbosity_error()
    made = {}
    table = {name: (name, cls) for name, cls in CLASSES.items()} | OTHERS
    for label, (_, cls) in table.items():
        for size in SIZES:
            try:
                made_class = getattr(transformers, cls)
                config = made_class.config_class()
                if size != "default":
                    config = (
                        small(config)
                        if size == "small"
                        else wild(config, random.Random(f"{label} {size}"))
                    )
                config.architectures = [cls]
                with torch.device("meta"):
                    model = made_class(config)
                model.tie_weights()
                made[f"{label} {size}"] = {
                    "config": json.loads(model.config.to_json_string(use_diff=True)),
                    "tensors": rows(model),
                }
            except Exception as error:
                print(label, size, type(error).__name__, str(error)[:150].replace("\n", " "))
    with open(out, "w") as file:
        json.dump(made, file)
    if brief:
        with open(brief, "w") as file:
            for label, case in made.items():
                if not label.endswith(("2", "3")):
                    count = sum(math.prod(shape) for shape in case["tensors"].values())
                    file.write(
                        json.dumps([label, short(case["config"]), len(case["tensors"]), count])
                        + "\n"
                    )
    print(len(made), "cases with transformers", transformers.__version__)


if __name__ == "__main__":
    main(*sys.argv[1:])
