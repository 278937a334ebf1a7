"""What diffusers says of a configuration's tensors, on the meta device: `python make_diffusers.py OUT.json [SHORT.jsonl]`."""

from __future__ import annotations

import json
import math
import random
import sys

import diffusers
import torch

UNET, VAE, FLUX, SD3, DIT, PIXART = (
    "UNet2DConditionModel", "AutoencoderKL", "FluxTransformer2DModel", "SD3Transformer2DModel", "DiTTransformer2DModel", "PixArtTransformer2DModel",
)  # fmt: skip
DOWN, UP = "CrossAttnDownBlock2D", "CrossAttnUpBlock2D"
CASES = {
    "sd15": (UNET, {"cross_attention_dim": 768}),
    "sd21": (UNET, {"cross_attention_dim": 1024, "attention_head_dim": [5, 10, 20, 20], "use_linear_projection": True, "sample_size": 96}),
    "sdxl": (UNET, {
        "cross_attention_dim": 2048, "block_out_channels": [320, 640, 1280], "down_block_types": ["DownBlock2D", DOWN, DOWN], "sample_size": 128,
        "up_block_types": [UP, UP, "UpBlock2D"], "transformer_layers_per_block": [1, 2, 10], "attention_head_dim": [5, 10, 20],
        "use_linear_projection": True, "addition_embed_type": "text_time", "addition_time_embed_dim": 256, "projection_class_embeddings_input_dim": 2816,
    }),
    "inpaint": (UNET, {"cross_attention_dim": 768, "in_channels": 9}),
    "unet": (UNET, {}),
    "tiny": (UNET, {"block_out_channels": [32, 64], "layers_per_block": 1, "cross_attention_dim": 32, "attention_head_dim": 8,
                    "down_block_types": [DOWN, "DownBlock2D"], "up_block_types": ["UpBlock2D", UP]}),
    "three": (UNET, {"block_out_channels": [32, 64, 96], "layers_per_block": 3, "cross_attention_dim": 40, "attention_head_dim": [4, 8, 8],
                     "down_block_types": [DOWN, DOWN, "DownBlock2D"], "up_block_types": ["UpBlock2D", UP, UP]}),
    "vae": (VAE, {}),
    "vae-sd": (VAE, {"block_out_channels": [128, 256, 512, 512], "layers_per_block": 2, "down_block_types": ["DownEncoderBlock2D"] * 4,
                     "up_block_types": ["UpDecoderBlock2D"] * 4}),
    "vae-flux": (VAE, {"block_out_channels": [128, 256, 512, 512], "layers_per_block": 2, "down_block_types": ["DownEncoderBlock2D"] * 4,
                       "up_block_types": ["UpDecoderBlock2D"] * 4, "latent_channels": 16, "use_quant_conv": False, "use_post_quant_conv": False}),
    "flux": (FLUX, {}),
    "flux-dev": (FLUX, {"guidance_embeds": True}),
    "flux-small": (FLUX, {"num_layers": 2, "num_single_layers": 3, "attention_head_dim": 16, "num_attention_heads": 4, "joint_attention_dim": 40,
                          "pooled_projection_dim": 24, "in_channels": 8, "axes_dims_rope": [4, 6, 6]}),
    "sd3": (SD3, {}),
    "sd3-small": (SD3, {"num_layers": 3, "attention_head_dim": 16, "num_attention_heads": 4, "joint_attention_dim": 40, "caption_projection_dim": 64,
                        "pooled_projection_dim": 24, "sample_size": 16, "pos_embed_max_size": 24}),
    "sd35": (SD3, {"qk_norm": "rms_norm", "num_layers": 3, "dual_attention_layers": [0, 1], "attention_head_dim": 16, "num_attention_heads": 4,
                   "caption_projection_dim": 64}),
}  # fmt: skip


def wild() -> dict:
    """More U-Nets, thrown together."""
    out = {}
    for number in range(12):
        dice = random.Random(number)
        count = dice.randrange(2, 5)
        plain = [dice.random() < 0.4 for _ in range(count)]
        out[f"wild {number}"] = (UNET, {
            "block_out_channels": [32 * dice.randrange(1, 5) for _ in range(count)], "layers_per_block": dice.randrange(1, 4),
            "down_block_types": ["DownBlock2D" if one else DOWN for one in plain], "cross_attention_dim": dice.choice([24, 40]),
            "up_block_types": ["UpBlock2D" if one else UP for one in reversed(plain)], "attention_head_dim": 8,
            "transformer_layers_per_block": dice.choice([1, 2]), "use_linear_projection": dice.random() < 0.5, "in_channels": dice.choice([4, 9]),
        })  # fmt: skip
    return out


def main(out: str, brief: str = "") -> None:
    """All of them."""
    made = {}
    for label, (name, values) in (CASES | wild()).items():
        try:
            cls = getattr(diffusers, name)
            with torch.device("meta"):
                model = cls.from_config({**values})
            rows = {key: list(one.shape) for key, one in model.state_dict().items()}
            made[label] = {"config": {"_class_name": name, **json.loads(model.to_json_string())}, "tensors": rows}
        except Exception as error:
            print(label, type(error).__name__, str(error)[:200])
    with open(out, "w") as file:
        json.dump(made, file)
    if brief:
        with open(brief, "w") as file:
            for label, case in made.items():
                kept = {
                    key: value
                    for key, value in case["config"].items()
                    if value is not None and not isinstance(value, float)
                }
                count = sum(math.prod(shape) for shape in case["tensors"].values())
                file.write(json.dumps([label, kept, len(case["tensors"]), count]) + "\n")
    print(len(made), "cases with diffusers", diffusers.__version__)


if __name__ == "__main__":
    main(*sys.argv[1:])
