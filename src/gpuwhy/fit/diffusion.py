"""The tensors of diffusion transformers, by the names of diffusers' classes; the rows are those of families.py."""

from __future__ import annotations

from gpuwhy.fit.families import Family, Value, key, size

_OWN: dict[str, Value] = {
    "H": lambda c: (c.count("num_attention_heads") or 0) * (c.count("attention_head_dim") or 0), "D": size("attention_head_dim"),
    "L": size("num_layers"), "Ls": size("num_single_layers"), "J": size("joint_attention_dim"), "X": size("pooled_projection_dim"),
    "Y": size("in_channels"), "Z": size("patch_size"), "P": size("pos_embed_max_size"), "guided": key("guidance_embeds"),
    "W": lambda c: (c.count("out_channels") or c.count("in_channels") or 0) * (c.count("patch_size") or 1) ** 2,
    "normed": lambda c: bool(c.text("qk_norm")),
}  # fmt: skip
_TIME = """
time_text_embed.timestep_embedder.linear_1 H,256 b
time_text_embed.timestep_embedder.linear_2 H,H b
time_text_embed.guidance_embedder.linear_1 H,256 b if guided
time_text_embed.guidance_embedder.linear_2 H,H b if guided
time_text_embed.text_embedder.linear_1 H,X b
time_text_embed.text_embedder.linear_2 H,H b
context_embedder H,J b
"""
_BOTH = """
 attn.to_q H,H b
 attn.to_k H,H b
 attn.to_v H,H b
 attn.to_out.0 H,H b
 attn.add_q_proj H,H b
 attn.add_k_proj H,H b
 attn.add_v_proj H,H b
 ff.net.0.proj 4*H,H b
 ff.net.2 H,4*H b
"""
_FLUX = (
    _TIME
    + "x_embedder H,Y b\ntransformer_blocks.[L]."
    + _BOTH
    + """
 norm1.linear 6*H,H b
 norm1_context.linear 6*H,H b
 attn.norm_q D
 attn.norm_k D
 attn.norm_added_q D
 attn.norm_added_k D
 attn.to_add_out H,H b
 ff_context.net.0.proj 4*H,H b
 ff_context.net.2 H,4*H b
single_transformer_blocks.[Ls].
 norm.linear 3*H,H b
 proj_mlp 4*H,H b
 proj_out H,5*H b
 attn.norm_q D
 attn.norm_k D
 attn.to_q H,H b
 attn.to_k H,H b
 attn.to_v H,H b
norm_out.linear 2*H,H b
proj_out W,H b
"""
)
_SD3 = (
    _TIME
    + "pos_embed.pos_embed 1,P*P,H raw\npos_embed.proj H,Y,Z,Z b\ntransformer_blocks.[L]."
    + _BOTH
    + """
 norm1.linear 6*H,H b at single
 norm1.linear 9*H,H b at dual
 norm1_context.linear 6*H,H b at inner
 norm1_context.linear 2*H,H b at end
 attn.norm_q D if normed
 attn.norm_k D if normed
 attn.norm_added_q D if normed
 attn.norm_added_k D if normed
 attn.to_add_out H,H b at inner
 ff_context.net.0.proj 4*H,H b at inner
 ff_context.net.2 H,4*H b at inner
 attn2.to_q H,H b at dual
 attn2.to_k H,H b at dual
 attn2.to_v H,H b at dual
 attn2.to_out.0 H,H b at dual
 attn2.norm_q D if normed at dual
 attn2.norm_k D if normed at dual
norm_out.linear 2*H,H b
proj_out W,H b
"""
)

DIFFUSION = {
    "FluxTransformer2DModel": Family(_FLUX, "", "vit", True, "", "", _OWN),
    "SD3Transformer2DModel": Family(_SD3, "", "vit", True, "", "", _OWN),
}
