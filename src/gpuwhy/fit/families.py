"""The tensors of known architectures, a row each, as transformers names them; judged by it on the meta device.

A row: name, dimensions, then `b` (a bias too; `b?x` where x holds), `raw` (no .weight behind the name), `last` (the bias is
as long as the last dimension), `if x`, `if !x`, `at x` (only in layers of that kind). A line that ends with a dot begins the
names of the rows set in below it. `[L]` counts the layers. Letters are sizes of the configuration (parameters.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from gpuwhy.fit.config import Config
from gpuwhy.fit.model import Kind

Value = Callable[[Config], int | bool | None]
Own = Mapping[str, Value]


@dataclass(frozen=True)
class Family:
    """One architecture: its rows, what its bare model leaves out of the names, and what is its own."""

    rows: str
    base: str = "model"
    kind: Kind = "decoder"
    tied: bool = False
    head: str = "lm_head V,H if !tied"
    classes: str = "score N,H"
    own: Own = field(default_factory=dict)


def key(name: str, default: bool = False) -> Value:
    """A field that is yes or no."""
    return lambda config: config.flag(name, default)


def size(*names: str) -> Value:
    """A field that is a count."""
    return lambda config: config.count(*names)


def always(value: bool) -> Value:
    """The same for every configuration."""
    return lambda config: value


NEVER, EVER = always(False), always(True)
QKVO = """
 self_attn.q_proj Q,H b?qb
 self_attn.k_proj K,H b?qb
 self_attn.v_proj K,H b?qb
 self_attn.o_proj H,Q b?ob
"""
GATED = """
 mlp.gate_proj I,H b?mb
 mlp.up_proj I,H b?mb
 mlp.down_proj H,I b?mb
"""
NORMS = """
 input_layernorm H b?nb
 post_attention_layernorm H b?nb
"""
QK_NORMS = """
 self_attn.q_norm D
 self_attn.k_norm D
"""
EXPERTS = """
 mlp.gate E,H
 mlp.experts.gate_up_proj E,2*M,H raw
 mlp.experts.down_proj E,H,M raw
"""


def decoder(
    *layer: str,
    last: str = "model.norm H b?nb",
    tied: bool = False,
    head: str = Family.head,
    sizes: Own | None = None,
    **own: Value,
) -> Family:
    """One with the names that Llama gave them."""
    rows = "\n".join(["model.embed_tokens V,H", "model.layers.[L].", *layer, last])
    plain: Own = {"qb": NEVER, "ob": NEVER, "mb": NEVER, "nb": NEVER}
    return Family(rows, tied=tied, head=head, own={**plain, **(sizes or {}), **own})


_LLAMA = decoder(
    QKVO, GATED, NORMS, qb=key("attention_bias"), ob=key("attention_bias"), mb=key("mlp_bias")
)  # fmt: skip
_SHARED = """
 mlp.gate_proj I,H b?mb at dense
 mlp.up_proj I,H b?mb at dense
 mlp.down_proj H,I b?mb at dense
 mlp.gate E,H at sparse
 mlp.experts.gate_up_proj E,2*M,H raw at sparse
 mlp.experts.down_proj E,H,M raw at sparse
"""
_ROUTED = """
 mlp.shared_experts.gate_proj S*M,H at sparse
 mlp.shared_experts.up_proj S*M,H at sparse
 mlp.shared_experts.down_proj H,S*M at sparse
"""
_MLA = """
 self_attn.q_proj A*X,H if !q_rank
 self_attn.q_a_proj R,H b?qb if q_rank
 self_attn.q_a_layernorm R if q_rank
 self_attn.q_b_proj A*X,R if q_rank
 self_attn.kv_a_proj_with_mqa C+O,H b?qb
 self_attn.kv_a_layernorm C
 self_attn.kv_b_proj A*Y+A*Z,C
 self_attn.o_proj H,A*Z b?qb
"""
_MLA_SIZES: dict[str, Value] = {
    "q_rank": lambda c: bool(c.count("q_lora_rank")), "R": size("q_lora_rank"), "C": size("kv_lora_rank"),
    "O": size("qk_rope_head_dim"), "Y": size("qk_nope_head_dim"), "Z": size("v_head_dim"),
    "X": lambda c: (c.count("qk_rope_head_dim") or 0) + (c.count("qk_nope_head_dim") or 0), "S": size("n_shared_experts"),
}  # fmt: skip
_GEMMA_NORMS = """
 pre_feedforward_layernorm H
 post_feedforward_layernorm H
"""

DECODERS = {
    "llama": _LLAMA,
    "mistral": decoder(QKVO, GATED, NORMS),
    "qwen2": decoder(QKVO, GATED, NORMS, qb=EVER),
    "qwen3": decoder(QKVO, QK_NORMS, GATED, NORMS, qb=key("attention_bias"), ob=key("attention_bias")),
    "gemma": decoder(QKVO, GATED, NORMS, tied=True, qb=key("attention_bias"), ob=key("attention_bias")),
    "gemma2": decoder(QKVO, GATED, NORMS, _GEMMA_NORMS, tied=True, qb=key("attention_bias"), ob=key("attention_bias")),
    "gemma3_text": decoder(
        QKVO, QK_NORMS, GATED, NORMS, _GEMMA_NORMS, tied=True, qb=key("attention_bias"), ob=key("attention_bias")
    ),
    "phi": decoder(
        " self_attn.q_proj Q,H b\n self_attn.k_proj K,H b\n self_attn.v_proj K,H b\n self_attn.dense H,Q b",
        " self_attn.q_layernorm D b if qk\n self_attn.k_layernorm D b if qk",
        " mlp.fc1 I,H b\n mlp.fc2 H,I b\n input_layernorm H b",
        last="model.final_layernorm H b", head="lm_head.bias V raw\nlm_head V,H if !tied", qk=key("qk_layernorm"),
    ),
    "phi3": decoder(
        " self_attn.o_proj H,Q\n self_attn.qkv_proj Q+2*K,H\n mlp.gate_up_proj 2*I,H\n mlp.down_proj H,I", NORMS
    ),
    "stablelm": decoder(
        QKVO, GATED, " input_layernorm H b\n post_attention_layernorm H b if !parallel",
        " self_attn.q_layernorm.norms.[A] D if qk\n self_attn.k_layernorm.norms.[G] D if qk",
        qb=key("use_qkv_bias"), nb=EVER, parallel=key("use_parallel_residual"), qk=key("qk_layernorm"),
    ),
    "starcoder2": decoder(
        QKVO, " mlp.c_fc I,H b?mb\n mlp.c_proj H,I b?mb", NORMS, tied=True,
        qb=key("use_bias", True), ob=key("use_bias", True), mb=key("use_bias", True), nb=EVER,
    ),
    "olmo": decoder(QKVO, GATED, last="", qb=key("attention_bias"), ob=key("attention_bias")),
    "olmo3": decoder(
        QKVO, " self_attn.q_norm Q\n self_attn.k_norm K", GATED,
        " post_attention_layernorm H\n post_feedforward_layernorm H", qb=key("attention_bias"), ob=key("attention_bias"),
    ),
    "olmo2": decoder(
        QKVO, " self_attn.q_norm Q\n self_attn.k_norm K", GATED,
        " post_attention_layernorm H\n post_feedforward_layernorm H", qb=key("attention_bias"), ob=key("attention_bias"),
    ),
    "cohere": decoder(
        QKVO, " self_attn.q_norm A,D if qk\n self_attn.k_norm G,D if qk", GATED, " input_layernorm H", tied=True,
        qb=key("attention_bias"), ob=key("attention_bias"), qk=key("use_qk_norm"),
    ),
    "granite": _LLAMA,
    "ministral": decoder(QKVO, GATED, NORMS),
    "ministral3": decoder(QKVO, GATED, NORMS),
    "qwen2_vl_text": decoder(QKVO, GATED, NORMS, qb=EVER),
    "qwen2_5_vl_text": decoder(QKVO, GATED, NORMS, qb=EVER),
    "qwen3_vl_text": decoder(QKVO, QK_NORMS, GATED, NORMS, qb=key("attention_bias"), ob=key("attention_bias")),
    "arcee": decoder(
        QKVO, " mlp.up_proj I,H b?mb\n mlp.down_proj H,I b?mb", NORMS, qb=key("attention_bias"), ob=key("attention_bias"),
        mb=key("mlp_bias"),
    ),
    "seed_oss": decoder(
        QKVO, GATED, NORMS, qb=key("attention_bias", True), ob=key("attention_out_bias"), mb=key("mlp_bias")
    ),
    "exaone4": decoder(QKVO, QK_NORMS, GATED, " post_attention_layernorm H\n post_feedforward_layernorm H"),
    "cohere2": decoder(
        QKVO, GATED, " input_layernorm H", tied=True, qb=key("attention_bias"), ob=key("attention_bias")
    ),
    "persimmon": decoder(
        " self_attn.query_key_value 3*H,H b\n self_attn.dense H,H b\n mlp.dense_h_to_4h I,H b\n mlp.dense_4h_to_h H,I b",
        " self_attn.q_layernorm D b if qk\n self_attn.k_layernorm D b if qk", NORMS, last="model.final_layernorm H b",
        nb=EVER, qk=key("qk_layernorm", True),
    ),
    "mamba": Family(
        "backbone.embeddings V,H\nbackbone.layers.[L].\n norm H\n mixer.A_log F,X raw\n mixer.D F raw\n"
        " mixer.conv1d F,1,Y b?cb\n mixer.in_proj 2*F,H b?ub\n mixer.x_proj Z+2*X,F\n mixer.dt_proj F,Z b\n"
        " mixer.out_proj H,F b?ub\nbackbone.norm_f H",
        "backbone", tied=True,
        own={
            "F": lambda c: c.count("intermediate_size") or (c.count("expand") or 2) * (c.count("hidden_size") or 0),
            "X": size("state_size"), "Y": size("conv_kernel"), "cb": key("use_conv_bias", True), "ub": key("use_bias"),
            "Z": lambda c: c.count("time_step_rank") or -(-(c.count("hidden_size") or 0) // 16),
        },
    ),
    "nemotron": decoder(
        QKVO, " mlp.up_proj I,H b?mb\n mlp.down_proj H,I b?mb", NORMS, qb=key("attention_bias"), ob=key("attention_bias"),
        mb=key("mlp_bias"), nb=EVER,
    ),
    "smollm3": decoder(
        QKVO, GATED, NORMS, tied=True, qb=key("attention_bias"), ob=key("attention_bias"), mb=key("mlp_bias")
    ),
    "glm": decoder(QKVO, " mlp.gate_up_proj 2*I,H\n mlp.down_proj H,I", NORMS, qb=key("attention_bias", True)),
    "glm4": decoder(
        QKVO, " mlp.gate_up_proj 2*I,H\n mlp.down_proj H,I", NORMS,
        " post_self_attn_layernorm H\n post_mlp_layernorm H", qb=key("attention_bias", True),
    ),
    "mixtral": decoder(QKVO, EXPERTS, NORMS),
    "olmoe": decoder(
        QKVO, " self_attn.q_norm Q\n self_attn.k_norm K", EXPERTS, NORMS,
        qb=key("attention_bias"), ob=key("attention_bias"),
    ),
    "phimoe": decoder(
        QKVO, EXPERTS.replace("mlp.gate ", "mlp.router "), NORMS, head="lm_head V,H b?hb if !tied",
        qb=key("attention_bias"), ob=key("attention_bias"), nb=EVER, hb=key("lm_head_bias"),
    ),
    "qwen2_moe": decoder(
        QKVO, _SHARED, NORMS, " mlp.shared_expert.gate_proj W,H at sparse\n mlp.shared_expert.up_proj W,H at sparse",
        " mlp.shared_expert.down_proj H,W at sparse\n mlp.shared_expert_gate 1,H at sparse",
        qb=key("qkv_bias", True), W=size("shared_expert_intermediate_size"),
    ),
    "qwen3_moe": decoder(
        QKVO, QK_NORMS, _SHARED, NORMS, qb=key("attention_bias"), ob=key("attention_bias")
    ),
    "gpt_oss": decoder(
        QKVO, " self_attn.sinks A raw\n mlp.router E,H b", NORMS,
        " mlp.experts.gate_up_proj E,H,2*I raw\n mlp.experts.gate_up_proj_bias E,2*I raw",
        " mlp.experts.down_proj E,I,H raw\n mlp.experts.down_proj_bias E,H raw",
        qb=key("attention_bias", True), ob=key("attention_bias", True),
    ),
    "deepseek_v2": decoder(
        _MLA, _SHARED, _ROUTED, NORMS, sizes=_MLA_SIZES, qb=key("attention_bias"), mb=key("mlp_bias")
    ),
    "deepseek_v3": decoder(
        _MLA, _SHARED, " mlp.gate.e_score_correction_bias E raw at sparse", _ROUTED, NORMS, sizes=_MLA_SIZES,
        qb=key("attention_bias"),
    ),
    "glm4_moe": decoder(
        QKVO, " self_attn.q_norm D if qk\n self_attn.k_norm D if qk", _SHARED,
        " mlp.gate.e_score_correction_bias E raw at sparse", _ROUTED, NORMS,
        qb=key("attention_bias"), qk=key("use_qk_norm"), S=size("n_shared_experts"),
    ),
}  # fmt: skip

_GPT_LAYER = "transformer.h.[L].\n ln_1 H b\n{}\n ln_2 H b\n{}\ntransformer.ln_f H b"
_GPT2 = _GPT_LAYER.format(
    " attn.c_attn H,3*H b last\n attn.c_proj H,H b last", " mlp.c_fc H,I b last\n mlp.c_proj I,H b last"
)
_BLOOM_MLP = " mlp.dense_h_to_4h F,H b?fb\n mlp.dense_4h_to_h H,F b?fb"
GPTS = {
    "gpt2": Family("transformer.wte V,H\ntransformer.wpe P,H\n" + _GPT2, "transformer", tied=True),
    "gpt_neo": Family(
        "transformer.wte V,H\ntransformer.wpe P,H\n" + _GPT_LAYER.format(
            " attn.attention.k_proj H,H\n attn.attention.v_proj H,H\n attn.attention.q_proj H,H\n attn.attention.out_proj H,H b",
            " mlp.c_fc I,H b\n mlp.c_proj H,I b"),
        "transformer", tied=True,
    ),
    "gptj": Family(
        "transformer.wte V,H\ntransformer.h.[L].\n ln_1 H b\n attn.k_proj H,H\n attn.v_proj H,H\n attn.q_proj H,H\n"
        " attn.out_proj H,H\n mlp.fc_in I,H b\n mlp.fc_out H,I b\ntransformer.ln_f H b",
        "transformer", head="lm_head.bias V raw\nlm_head V,H if !tied",
    ),
    "codegen": Family(
        "transformer.wte V,H\ntransformer.h.[L].\n ln_1 H b\n attn.qkv_proj 3*H,H\n attn.out_proj H,H\n mlp.fc_in I,H b\n"
        " mlp.fc_out H,I b\ntransformer.ln_f H b",
        "transformer", head="lm_head.bias V raw\nlm_head V,H if !tied",
    ),
    "gpt_bigcode": Family(
        "transformer.wte V,H\ntransformer.wpe P,H\n" + _GPT_LAYER.format(
            " attn.c_attn H+2*U,H b\n attn.c_proj H,H b", " mlp.c_fc I,H b\n mlp.c_proj H,I b"),
        "transformer", tied=True,
        own={"U": lambda c: (c.head_dim or 0) * (1 if c.flag("multi_query", True) else c.heads or 0)},
    ),
    "gpt_neox": Family(
        "gpt_neox.embed_in V,H\ngpt_neox.layers.[L].\n input_layernorm H b\n post_attention_layernorm H b\n"
        " attention.query_key_value 3*H,H b?ab\n attention.dense H,H b?ab\n mlp.dense_h_to_4h I,H b\n mlp.dense_4h_to_h H,I b\n"
        "gpt_neox.final_layer_norm H b",
        "gpt_neox", head="embed_out V,H if !tied", own={"ab": key("attention_bias", True)},
    ),
    "bloom": Family(
        "transformer.word_embeddings V,H\ntransformer.word_embeddings_layernorm H b\ntransformer.h.[L].\n input_layernorm H b\n"
        " self_attention.query_key_value 3*H,H b\n self_attention.dense H,H b\n post_attention_layernorm H b\n"
        f"{_BLOOM_MLP}\ntransformer.ln_f H b",
        "transformer", tied=True, own={"F": lambda c: 4 * (c.count("hidden_size", "n_embed") or 0), "fb": EVER},
    ),
    "falcon": Family(
        "transformer.word_embeddings V,H\ntransformer.h.[L].\n self_attention.query_key_value Q+2*U,H b?fb\n"
        f" self_attention.dense H,H b?fb\n{_BLOOM_MLP}\n ln_attn H b if two\n ln_mlp H b if two\n input_layernorm H b if one\n"
        " post_attention_layernorm H b if after\ntransformer.ln_f H b",
        "transformer", tied=True,
        own={
            "fb": key("bias"), "F": size("ffn_hidden_size", "intermediate_size"),
            "two": lambda c: _two_norms(c), "one": lambda c: not _two_norms(c), "after": lambda c: not c.flag("parallel_attn", True),
            "U": lambda c: (c.head_dim or 0) * _falcon_heads(c),
        },
    ),
    "mpt": Family(
        "transformer.wte V,H\ntransformer.blocks.[L].\n norm_1 H\n attn.Wqkv 3*H,H\n attn.out_proj H,H\n norm_2 H\n"
        " ffn.up_proj F,H\n ffn.down_proj H,F\ntransformer.norm_f H",
        "transformer", tied=True, own={"F": lambda c: (c.count("expansion_ratio") or 4) * (c.count("d_model") or 0)},
    ),
    "opt": Family(
        "model.decoder.embed_tokens V,J\nmodel.decoder.embed_positions P+2,H\nmodel.decoder.project_in H,J if project\n"
        "model.decoder.project_out J,H if project\nmodel.decoder.final_layer_norm H b if before\nmodel.decoder.layers.[L].\n"
        " self_attn.k_proj H,H b?eb\n self_attn.v_proj H,H b?eb\n self_attn.q_proj H,H b?eb\n self_attn.out_proj H,H b?eb\n"
        " self_attn_layer_norm H b if affine\n fc1 I,H b?eb\n fc2 H,I b?eb\n final_layer_norm H b if affine",
        tied=True, head="lm_head V,J if !tied",
        own={
            "J": size("word_embed_proj_dim", "hidden_size"), "eb": key("enable_bias", True),
            "project": lambda c: (c.count("word_embed_proj_dim") or c.count("hidden_size")) != c.count("hidden_size"),
            "affine": key("layer_norm_elementwise_affine", True),
            "before": lambda c: c.flag("layer_norm_elementwise_affine", True) and c.flag("do_layer_norm_before", True) and not c.flag("_remove_final_layer_norm"),
        },
    ),
}  # fmt: skip


def _two_norms(config: Config) -> bool:
    return config.flag("new_decoder_architecture") and config.count("num_ln_in_parallel_attn") != 1


def _falcon_heads(config: Config) -> int:
    if config.flag("new_decoder_architecture"):
        return config.count("num_kv_heads") or config.heads or 0
    return 1 if config.flag("multi_query", True) else config.heads or 0


def families() -> dict[str, Family]:
    """Every architecture by its model type."""
    from gpuwhy.fit.diffusion import DIFFUSION
    from gpuwhy.fit.encoders import ENCODERS

    return {**DECODERS, **GPTS, **ENCODERS, **DIFFUSION}


_KINDS: tuple[tuple[tuple[str, ...], Kind], ...] = (
    (("ForCausalLM", "LMHeadModel"), "decoder"),
    (("ForConditionalGeneration",), "encoder-decoder"),
    (("ForMaskedLM", "ForSequenceClassification"), "encoder"),
)
"""How the names of transformers' classes end, by what they are."""


def kind_of(config: Config) -> Kind:
    """Of which kind a configuration is."""
    known = families().get(config.kind or config.name)
    if known is not None:
        encoder = known.kind == "encoder-decoder" and config.name.endswith("EncoderModel")
        return "encoder" if encoder else known.kind
    if config.part("text_config"):
        return "decoder"
    if "UNet" in config.name:
        return "unet"
    named: Kind = next((kind for ends, kind in _KINDS if config.name.endswith(ends)), "unknown")
    return "encoder-decoder" if named != "decoder" and config.flag("is_encoder_decoder") else named


def tied_of(config: Config) -> bool | None:
    """Whether the output shares the embeddings: as it says, else as its class does."""
    told = config.values.get("tie_word_embeddings")
    if isinstance(told, bool):
        return told
    known = families().get(config.kind)
    if known is None:
        inner = config.part("text_config")
        return tied_of(inner) if inner else None
    return known.tied
