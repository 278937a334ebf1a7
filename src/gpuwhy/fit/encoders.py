"""The tensors of encoders, of encoder-decoders, and of networks that look at images; the rows are those of families.py."""

from __future__ import annotations

from gpuwhy.fit.config import Config
from gpuwhy.fit.families import EVER, Family, Value, key, size

_BERT = """
{0}.embeddings.word_embeddings V,{1}
{0}.embeddings.position_embeddings P,{1} if positions
{0}.embeddings.token_type_embeddings T,{1} if types
{0}.embeddings.LayerNorm {1} b
{2}
{0}.encoder.layer.[L].
{3}
 attention.output.dense H,H b
 attention.output.LayerNorm H b
 intermediate.dense I,H b
 output.dense H,I b
 output.LayerNorm H b
{0}.pooler.dense H,H b if pooler
"""
_SELF = " attention.self.query H,H b\n attention.self.key H,H b\n attention.self.value H,H b"
_TYPES: dict[str, Value] = {
    "positions": EVER,
    "types": lambda c: bool(c.count("type_vocab_size")),
    "T": size("type_vocab_size"),
}
_CLS = (
    "cls.predictions.bias V raw\ncls.predictions.transform.dense {0},H b\ncls.predictions.transform.LayerNorm {0} b\n"
    "cls.predictions.decoder V,{0} b if !tied"
)
_CLASSES = "classifier N,H b"


def _pooled(*heads: str) -> Value:
    """The bare model has a pooler, and these with a head."""
    return lambda c: _is_bare(c) or c.name.endswith(heads)


def _is_bare(config: Config) -> bool:
    return config.name.endswith("Model") or not config.name


_ROBERTA = Family(
    _BERT.format("roberta", "H", "", _SELF), "roberta", "encoder", True,
    "lm_head.bias V raw\nlm_head.dense H,H b\nlm_head.layer_norm H b\nlm_head.decoder V,H b if !tied",
    "classifier.dense H,H b\nclassifier.out_proj N,H b", {**_TYPES, "pooler": lambda c: _is_bare(c)},
)  # fmt: skip
_DEBERTA_OWN: dict[str, Value] = {
    "positions": key("position_biased_input", True), "types": lambda c: bool(c.count("type_vocab_size")),
    "T": size("type_vocab_size"), "relative": key("relative_attention"),
    "shared": lambda c: "p2c" in _attention(c) or "c2p" in _attention(c), "c2p": lambda c: "c2p" in _attention(c),
    "p2c": lambda c: "p2c" in _attention(c), "Y": lambda c: _reach(c),
    "pooled": lambda c: c.name.endswith("ForSequenceClassification"), "B": lambda c: _buckets(c),
    "normed": lambda c: "layer_norm" in c.text("norm_rel_ebd"), "apart": lambda c: not c.flag("share_att_key"),
    "conv": lambda c: bool(c.count("conv_kernel_size")), "Z": size("conv_kernel_size"), "pooler": lambda c: False, "legacy": key("legacy", True),
}  # fmt: skip
_DEBERTA_HEAD = _CLS.format("H").replace("\n", " if legacy\n") + (
    " if legacy\nlm_predictions.lm_head.bias V raw if !legacy\nlm_predictions.lm_head.dense H,H b if !legacy\n"
    "lm_predictions.lm_head.LayerNorm H b if !legacy"
)
_DEBERTA_CLASSES = "pooler.dense H,H b\nclassifier N,H b"


def _attention(config: Config) -> list[str]:
    """Which relative terms it has: a list, or words with bars between."""
    if not config.flag("relative_attention"):
        return []
    return [str(one) for one in config.list("pos_att_type")] or config.text("pos_att_type").split("|")


def _reach(config: Config) -> int:
    told = config.values.get("max_relative_positions")
    return told if isinstance(told, int) and told >= 1 else config.count("max_position_embeddings") or 0


def _buckets(config: Config) -> int:
    told = config.values.get("position_buckets")
    return (told if isinstance(told, int) and told > 0 else _reach(config)) * 2


_T5_BLOCK = """
{0}.block.[{1}].
 layer.0.SelfAttention.q W,H
 layer.0.SelfAttention.k W,H
 layer.0.SelfAttention.v W,H
 layer.0.SelfAttention.o H,W
 layer.0.SelfAttention.relative_attention_bias Y,A at {3}
 layer.0.layer_norm H
 {2}.DenseReluDense.wi I,H if !gated
 {2}.DenseReluDense.wi_0 I,H if gated
 {2}.DenseReluDense.wi_1 I,H if gated
 {2}.DenseReluDense.wo H,I
 {2}.layer_norm H
"""
_T5_CROSS = """
 layer.1.EncDecAttention.q W,H
 layer.1.EncDecAttention.k W,H
 layer.1.EncDecAttention.v W,H
 layer.1.EncDecAttention.o H,W
 layer.1.layer_norm H
decoder.final_layer_norm H
"""


def _t5(both: bool, every: str = "first") -> str:
    rows = "shared V,H\n" + _T5_BLOCK.format("encoder", "L", "layer.1", every) + "encoder.final_layer_norm H\n"
    return rows + (_T5_BLOCK.format("decoder", "Ld", "layer.2", every) + _T5_CROSS if both else "")


def _t5_family(tied: bool, every: str = "first") -> Family:
    own: dict[str, Value] = {
        "W": lambda c: (c.count("num_heads") or 0) * (c.count("d_kv") or 64), "Ld": size("num_decoder_layers", "num_layers"),
        "Y": size("relative_attention_num_buckets"), "gated": lambda c: c.flag("is_gated_act", c.text("feed_forward_proj").startswith("gated")),
        "L": size("num_layers"),
    }  # fmt: skip
    return Family(_t5(True, every), "", "encoder-decoder", tied, own=own)


T5_ENCODER = _t5(False)

_BART_LAYER = """
{0}.layers.[{1}].
 self_attn.k_proj H,H b{3}
 self_attn.v_proj H,H b
 self_attn.q_proj H,H b
 self_attn.out_proj H,H b
 self_attn_layer_norm H b
 fc1 {2},H b
 fc2 H,{2} b
 final_layer_norm H b
"""
_BART_CROSS = """
 encoder_attn.k_proj H,H b{0}
 encoder_attn.v_proj H,H b
 encoder_attn.q_proj H,H b
 encoder_attn.out_proj H,H b
 encoder_attn_layer_norm H b
"""
_BART_SIZES: dict[str, Value] = {
    "L": size("encoder_layers"), "Ld": size("decoder_layers"), "F": size("encoder_ffn_dim"), "J": size("decoder_ffn_dim"),
}  # fmt: skip


def _bart(extra: str, positions: str, last: str) -> str:
    return "\n".join([
        "model.shared V,H\nmodel.encoder.embed_tokens V,H if !tied\nmodel.decoder.embed_tokens V,H if !tied",
        f"model.encoder.embed_positions {positions}\nmodel.decoder.embed_positions {positions}",
        _BART_LAYER.format("model.encoder", "L", "F", "") + extra.format("encoder"),
        _BART_LAYER.format("model.decoder", "Ld", "J", "") + _BART_CROSS.format("") + extra.format("decoder") + last,
    ])  # fmt: skip


_EMBEDDING_NORM = "model.{0}.layernorm_embedding H b\n"
_LAST_NORM = "model.{0}.layer_norm H b\n"
_BART_HEAD = "final_logits_bias 1,V raw\nlm_head V,H if !tied"
_WHISPER = "\n".join([
    "model.encoder.conv1 H,Y,3 b\nmodel.encoder.conv2 H,H,3 b\nmodel.encoder.embed_positions P,H",
    _BART_LAYER.format("model.encoder", "L", "F", "?kb") + "model.encoder.layer_norm H b",
    "model.decoder.embed_tokens V,H\nmodel.decoder.embed_positions Z,H",
    _BART_LAYER.format("model.decoder", "Ld", "J", "?kb") + _BART_CROSS.format("?kb") + "model.decoder.layer_norm H b",
])  # fmt: skip

_LOOKED = """
 attention.q_proj H,H b?qb
 attention.k_proj H,H b?qb
 attention.v_proj H,H b?qb
 attention.o_proj H,H b
"""
_PATCHES: dict[str, Value] = {
    "qb": key("qkv_bias", True), "Y": size("num_channels"), "Z": size("patch_size"), "X": lambda c: patches(c),
}  # fmt: skip


def patches(config: Config) -> int:
    """How many patches an image has."""
    image, patch = config.count("image_size") or 0, config.count("patch_size") or 1
    return (image // max(patch, 1)) ** 2


_VIT = (
    "{0}.embeddings.cls_token 1,1,H raw\n{0}.embeddings.position_embeddings 1,X+{1},H raw\n{2}"
    "{0}.embeddings.patch_embeddings.projection H,Y,Z,Z b\n{0}.layers.[L]." + _LOOKED +
    " layernorm_before H b\n layernorm_after H b\n mlp.fc1 I,H b\n mlp.fc2 H,I b\n{0}.layernorm H b\n"
    "{0}.pooler.dense H,H b if pooler"
)  # fmt: skip
_CLIP_LAYER = """
{0}encoder.layers.[L].
 self_attn.k_proj H,H b
 self_attn.v_proj H,H b
 self_attn.q_proj H,H b
 self_attn.out_proj H,H b
 layer_norm1 H b
 mlp.fc1 I,H b
 mlp.fc2 H,I b
 layer_norm2 H b
"""
_CLIP_TEXT = (
    "embeddings.token_embedding V,H\nembeddings.position_embedding P,H"
    + _CLIP_LAYER.format("")
    + "final_layer_norm H b"
)
_CLIP_VISION = (
    "embeddings.class_embedding H raw\nembeddings.patch_embedding H,Y,Z,Z\nembeddings.position_embedding X+1,H\n"
    "pre_layrnorm H b" + _CLIP_LAYER.format("") + "post_layernorm H b"
)
_SIGLIP_VISION = (
    "embeddings.patch_embedding H,Y,Z,Z b\nembeddings.position_embedding X,H"
    + _CLIP_LAYER.format("")
    + "post_layernorm H b\n"
    "head.probe 1,1,H raw if pooling\nhead.attention.in_proj_weight 3*H,H raw if pooling\nhead.attention.in_proj_bias 3*H raw if pooling\n"
    "head.attention.out_proj H,H b if pooling\nhead.layernorm H b if pooling\nhead.mlp.fc1 I,H b if pooling\nhead.mlp.fc2 H,I b if pooling"
)

_PROJECTED: dict[str, Value] = {
    "projected": lambda c: c.name.endswith("WithProjection"), "J": size("projection_dim"),
}  # fmt: skip
ENCODERS = {
    "ernie": Family(
        _BERT.format("ernie", "H", "ernie.embeddings.task_type_embeddings J,H if tasks", _SELF), "ernie", "encoder", True,
        _CLS.format("H"), _CLASSES,
        {**_TYPES, "pooler": _pooled("ForSequenceClassification", "ForPreTraining"), "tasks": key("use_task_id"), "J": size("task_type_vocab_size")},
    ),
    "bert": Family(
        _BERT.format("bert", "H", "", _SELF), "bert", "encoder", True, _CLS.format("H"), _CLASSES,
        {**_TYPES, "pooler": _pooled("ForSequenceClassification", "ForPreTraining", "ForMultipleChoice", "ForNextSentencePrediction")},
    ),
    "roberta": _ROBERTA,
    "xlm-roberta": _ROBERTA,
    "camembert": _ROBERTA,
    "electra": Family(
        _BERT.format("electra", "J", "electra.embeddings_project H,J b if project", _SELF), "electra", "encoder", True,
        "generator_predictions.LayerNorm J b\ngenerator_predictions.dense J,H b\ngenerator_lm_head.bias V raw",
        "classifier.dense H,H b\nclassifier.out_proj N,H b",
        {**_TYPES, "J": size("embedding_size"), "project": lambda c: c.count("embedding_size") != c.count("hidden_size"), "pooler": lambda c: False},
    ),
    "deberta": Family(
        _BERT.format("deberta", "H", "deberta.encoder.rel_embeddings 2*Y,H if relative",
            " attention.self.q_bias H raw\n attention.self.v_bias H raw\n attention.self.in_proj 3*H,H\n"
            " attention.self.pos_proj H,H if c2p\n attention.self.pos_q_proj H,H b if p2c"),
        "deberta", "encoder", True, _DEBERTA_HEAD, _DEBERTA_CLASSES, _DEBERTA_OWN,
    ),
    "deberta-v2": Family(
        _BERT.format("deberta", "H",
            "deberta.encoder.rel_embeddings B,H if relative\ndeberta.encoder.LayerNorm H b if normed\n"
            "deberta.encoder.conv.conv H,H,Z b if conv\ndeberta.encoder.conv.LayerNorm H b if conv",
            " attention.self.query_proj H,H b\n attention.self.key_proj H,H b\n attention.self.value_proj H,H b\n"
            " attention.self.pos_key_proj H,H b if c2p if apart\n attention.self.pos_query_proj H,H b if p2c if apart"),
        "deberta", "encoder", True, _DEBERTA_HEAD, _DEBERTA_CLASSES, _DEBERTA_OWN,
    ),
    "albert": Family(
        "albert.embeddings.word_embeddings V,J\nalbert.embeddings.position_embeddings P,J\nalbert.embeddings.token_type_embeddings T,J\n"
        "albert.embeddings.LayerNorm J b\nalbert.encoder.embedding_hidden_mapping_in H,J b\n"
        "albert.encoder.albert_layer_groups.[X].albert_layers.[Y].\n full_layer_layer_norm H b\n attention.query H,H b\n attention.key H,H b\n"
        " attention.value H,H b\n attention.dense H,H b\n attention.LayerNorm H b\n ffn I,H b\n ffn_output H,I b\n"
        "albert.pooler H,H b if pooler",
        "albert", "encoder", True, "predictions.bias V raw\npredictions.LayerNorm J b\npredictions.dense J,H b\npredictions.decoder V,J b if !tied", _CLASSES,
        {"J": size("embedding_size"), "T": size("type_vocab_size"), "X": size("num_hidden_groups"), "Y": size("inner_group_num"),
         "pooler": _pooled("ForSequenceClassification", "ForPreTraining", "ForMultipleChoice")},
    ),
    "mpnet": Family(
        "mpnet.embeddings.word_embeddings V,H\nmpnet.embeddings.position_embeddings P,H\nmpnet.embeddings.LayerNorm H b\n"
        "mpnet.encoder.layer.[L].\n attention.attn.q H,H b\n attention.attn.k H,H b\n attention.attn.v H,H b\n attention.attn.o H,H b\n"
        " attention.LayerNorm H b\n intermediate.dense I,H b\n output.dense H,I b\n output.LayerNorm H b\n"
        "mpnet.encoder.relative_attention_bias Y,A\nmpnet.pooler.dense H,H b if pooler",
        "mpnet", "encoder", True, "lm_head.bias V raw\nlm_head.dense H,H b\nlm_head.layer_norm H b", "classifier.dense H,H b\nclassifier.out_proj N,H b",
        {"Y": size("relative_attention_num_buckets"), "pooler": lambda c: _is_bare(c)},
    ),
    "distilbert": Family(
        "distilbert.embeddings.word_embeddings V,H\ndistilbert.embeddings.position_embeddings P,H\ndistilbert.embeddings.LayerNorm H b\n"
        "distilbert.transformer.layer.[L].\n attention.q_lin H,H b\n attention.k_lin H,H b\n attention.v_lin H,H b\n attention.out_lin H,H b\n"
        " sa_layer_norm H b\n ffn.lin1 F,H b\n ffn.lin2 H,F b\n output_layer_norm H b",
        "distilbert", "encoder", True,
        "vocab_transform H,H b\nvocab_layer_norm H b\nvocab_projector.bias V raw\nvocab_projector V,H if !tied",
        "pre_classifier H,H b\nclassifier N,H b", {"F": size("hidden_dim")},
    ),
    "modernbert": Family(
        "model.embeddings.tok_embeddings V,H\nmodel.embeddings.norm H b?nb\nmodel.layers.[L].\n attn.Wqkv 3*H,H b?ab\n attn.Wo H,H b?ab\n"
        " mlp_norm H b?nb\n mlp.Wi 2*I,H b?mb\n mlp.Wo H,I b?mb\n attn_norm H b?nb at rest\nmodel.final_norm H b?nb",
        "model", "encoder", True, "head.dense H,H b?cb\nhead.norm H b?nb\ndecoder.bias V raw if db\ndecoder V,H if !tied",
        "head.dense H,H b?cb\nhead.norm H b?nb\nclassifier N,H b",
        {"nb": key("norm_bias"), "ab": key("attention_bias"), "mb": key("mlp_bias"), "cb": key("classifier_bias"), "db": key("decoder_bias", True)},
    ),
    "t5": _t5_family(True),
    "mt5": _t5_family(False),
    "umt5": _t5_family(False, "all"),
    "bart": Family(_bart(_EMBEDDING_NORM, "P+2,H", ""), "model", "encoder-decoder", True, _BART_HEAD,
                   "classification_head.dense H,H b\nclassification_head.out_proj N,H b", _BART_SIZES),
    "mbart": Family(_bart(_EMBEDDING_NORM + _LAST_NORM, "P+2,H", ""), "model", "encoder-decoder", True, _BART_HEAD, "", _BART_SIZES),
    "pegasus": Family(_bart(_LAST_NORM, "P,H", ""), "model", "encoder-decoder", True, _BART_HEAD, "", _BART_SIZES),
    "marian": Family(_bart("", "P,H", ""), "model", "encoder-decoder", True, _BART_HEAD, "", _BART_SIZES),
    "whisper": Family(
        _WHISPER, "model", "encoder-decoder", True, "proj_out V,H if !tied", "",
        {**_BART_SIZES, "Y": size("num_mel_bins"), "P": size("max_source_positions"), "Z": size("max_target_positions"), "kb": lambda c: False},
    ),
    "vit": Family(
        _VIT.format("vit", 1, ""), "vit", "vit", True, "", _CLASSES, {**_PATCHES, "pooler": lambda c: _is_bare(c)},
    ),
    "deit": Family(
        _VIT.format("deit", 2, "deit.embeddings.distillation_token 1,1,H raw\n"), "deit", "vit", True, "", _CLASSES,
        {**_PATCHES, "pooler": lambda c: _is_bare(c)},
    ),
    "dinov2": Family(
        "dinov2.embeddings.cls_token 1,1,H raw\ndinov2.embeddings.mask_token 1,H raw if mask\ndinov2.embeddings.position_embeddings 1,X+1,H raw\n"
        "dinov2.embeddings.patch_embeddings.projection H,Y,Z,Z b\ndinov2.encoder.layer.[L].\n norm1 H b" + _LOOKED +
        " layer_scale1.lambda1 H raw\n norm2 H b\n mlp.fc1 F,H b if !gated\n mlp.fc2 H,F b if !gated\n"
        " mlp.weights_in 2*J,H b if gated\n mlp.weights_out H,J b if gated\n layer_scale2.lambda1 H raw\ndinov2.layernorm H b",
        "dinov2", "vit", True, "", "classifier N,2*H b",
        {**_PATCHES, "mask": key("use_mask_token", True), "gated": key("use_swiglu_ffn"),
         "F": lambda c: (c.count("mlp_ratio") or 4) * (c.count("hidden_size") or 0),
         "J": lambda c: (int((c.count("mlp_ratio") or 4) * (c.count("hidden_size") or 0) * 2 / 3) + 7) // 8 * 8},
    ),
    "clip_text_model": Family(_CLIP_TEXT + "\ntext_projection J,H if projected", "", "encoder", True, "", "", _PROJECTED),
    "clip_vision_model": Family(
        _CLIP_VISION + "\nvisual_projection J,H if projected", "", "vit", True, "", "", {**_PATCHES, **_PROJECTED}
    ),
    "siglip_text_model": Family(_CLIP_TEXT + "\nhead J,H b", "", "encoder", True, "", "", {"J": size("projection_size", "hidden_size")}),
    "siglip_vision_model": Family(_SIGLIP_VISION, "", "vit", True, "", "", {**_PATCHES, "pooling": key("vision_use_head", True)}),
}  # fmt: skip
