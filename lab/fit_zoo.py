"""Models in plain torch for lab/fit_models.py; tensors are named as in transformers, torchvision and diffusers."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as fn
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

# ---------------------------------------------------------------- decoders


class RMSNorm(nn.Module):
    """The norm as Llama's reference has it: in f32, step by step."""

    def __init__(self, width: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(width)), eps

    def forward(self, x: Tensor) -> Tensor:
        """Normalise the last axis."""
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight * wide.to(x.dtype)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions."""
    a, b = x.chunk(2, -1)
    return x * cos + torch.cat((-b, a), -1) * sin


def angles(tokens: int, width: int, device: Any, dtype: Any, start: int = 0) -> tuple[Tensor, Tensor]:
    """Cosines and sines of the rotary positions."""
    inverse = 1.0 / (10000 ** (torch.arange(0, width, 2, device=device).float() / width))
    at = torch.arange(start, start + tokens, device=device).float()[:, None] * inverse[None]
    at = torch.cat((at, at), -1)
    return at.cos().to(dtype), at.sin().to(dtype)


class Attention(nn.Module):
    """Multi-head or grouped attention with a cache."""

    def __init__(self, c: dict[str, Any]) -> None:
        super().__init__()
        self.heads, self.kv = c["num_attention_heads"], c.get("num_key_value_heads", c["num_attention_heads"])
        self.head = c.get("head_dim") or c["hidden_size"] // self.heads
        hidden = c["hidden_size"]
        self.q_proj = nn.Linear(hidden, self.heads * self.head, bias=False)
        self.k_proj = nn.Linear(hidden, self.kv * self.head, bias=False)
        self.v_proj = nn.Linear(hidden, self.kv * self.head, bias=False)
        self.o_proj = nn.Linear(self.heads * self.head, hidden, bias=False)
        self.eager = c.get("_attention") == "eager"
        self.window = c.get("sliding_window")

    def forward(self, x: Tensor, start: int, cache: list[Tensor] | None) -> Tensor:
        """One layer's attention; `cache` is filled where it is given."""
        b, t, _ = x.shape
        cos, sin = angles(t, self.head, x.device, x.dtype, start)
        q = rotate(self.q_proj(x).view(b, t, self.heads, self.head).transpose(1, 2), cos, sin)
        k = rotate(self.k_proj(x).view(b, t, self.kv, self.head).transpose(1, 2), cos, sin)
        v = self.v_proj(x).view(b, t, self.kv, self.head).transpose(1, 2)
        if cache is not None:
            k, v = (torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)) if cache else (k, v)
            cache[:] = [k[:, :, -self.window :], v[:, :, -self.window :]] if self.window else [k, v]
        out = self._eager(q, k, v) if self.eager else attend(q, k, v, t > 1, self.kv < self.heads)
        return self.o_proj(out.transpose(1, 2).reshape(b, t, -1))

    def _eager(self, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        k, v = (x.repeat_interleave(self.heads // self.kv, 1) for x in (k, v))
        scores = q @ k.transpose(2, 3) * self.head**-0.5
        mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool, device=q.device).triu(1)
        scores = scores.masked_fill(mask, torch.finfo(scores.dtype).min)
        return torch.softmax(scores, -1, dtype=torch.float32).to(q.dtype) @ v


def attend(q: Tensor, k: Tensor, v: Tensor, causal: bool, grouped: bool = False) -> Tensor:
    """The fused kernel."""
    return fn.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=grouped)


class Latent(nn.Module):
    """DeepSeek's attention: keys and values from a compressed row, which is what the cache keeps."""

    def __init__(self, c: dict[str, Any]) -> None:
        super().__init__()
        self.heads, self.rank, self.rope = c["num_attention_heads"], c["kv_lora_rank"], c["qk_rope_head_dim"]
        self.plain, self.value = c["qk_nope_head_dim"], c["v_head_dim"]
        hidden = c["hidden_size"]
        self.q_proj = nn.Linear(hidden, self.heads * (self.plain + self.rope), bias=False)
        self.kv_a_proj_with_mqa = nn.Linear(hidden, self.rank + self.rope, bias=False)
        self.kv_a_layernorm = RMSNorm(self.rank)
        self.kv_b_proj = nn.Linear(self.rank, self.heads * (self.plain + self.value), bias=False)
        self.o_proj = nn.Linear(self.heads * self.value, hidden, bias=False)

    def forward(self, x: Tensor, start: int, cache: list[Tensor] | None) -> Tensor:
        """One layer's attention."""
        b, t, _ = x.shape
        q = self.q_proj(x).view(b, t, self.heads, -1).transpose(1, 2)
        rows, turned = self.kv_a_proj_with_mqa(x).split((self.rank, self.rope), -1)
        cos, sin = angles(t, self.rope, x.device, x.dtype, start)
        q = torch.cat((q[..., : self.plain], rotate(q[..., self.plain :], cos, sin)), -1)
        rows, turned = self.kv_a_layernorm(rows), rotate(turned, cos, sin)
        if cache is not None:
            if cache:
                rows, turned = torch.cat((cache[0], rows), 1), torch.cat((cache[1], turned), 1)
            cache[:] = [rows, turned]
        wide = self.kv_b_proj(rows).view(b, rows.shape[1], self.heads, -1).transpose(1, 2)
        k = torch.cat((wide[..., : self.plain], turned[:, None].expand(-1, self.heads, -1, -1)), -1)
        v = wide[..., self.plain :]
        return self.o_proj(attend(q, k, v, t > 1).transpose(1, 2).reshape(b, t, -1))


class Gated(nn.Module):
    """The gated feed-forward part."""

    def __init__(self, hidden: int, inner: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(hidden, inner, bias=False)
        self.up_proj = nn.Linear(hidden, inner, bias=False)
        self.down_proj = nn.Linear(inner, hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Both branches and their product."""
        return self.down_proj(fn.silu(self.gate_proj(x)) * self.up_proj(x))


class Experts(nn.Module):
    """A router and its experts, one after the other."""

    def __init__(self, c: dict[str, Any]) -> None:
        super().__init__()
        self.used = c["num_experts_per_tok"]
        self.gate = nn.Linear(c["hidden_size"], c["num_local_experts"], bias=False)
        inner = c["intermediate_size"]
        self.experts = nn.ModuleList(Gated(c["hidden_size"], inner) for _ in range(c["num_local_experts"]))

    def forward(self, x: Tensor) -> Tensor:
        """Every token through the experts that the router picks."""
        flat = x.reshape(-1, x.shape[-1])
        weights, picked = torch.topk(fn.softmax(self.gate(flat).float(), -1), self.used)
        out = torch.zeros_like(flat)
        for number, expert in enumerate(self.experts):
            rows, place = torch.where(picked == number)
            out = out.index_add(0, rows, expert(flat[rows]) * weights[rows, place, None].to(x.dtype))
        return out.view_as(x)


class DecoderLayer(nn.Module):
    """Attention and feed-forward part, each behind a norm."""

    def __init__(self, c: dict[str, Any]) -> None:
        super().__init__()
        self.self_attn = Latent(c) if c.get("kv_lora_rank") else Attention(c)
        moe = bool(c.get("num_local_experts"))
        if moe:
            self.block_sparse_moe = Experts(c)
        else:
            self.mlp = Gated(c["hidden_size"], c["intermediate_size"])
        self.moe = moe
        self.input_layernorm, self.post_attention_layernorm = RMSNorm(c["hidden_size"]), RMSNorm(c["hidden_size"])

    def forward(self, x: Tensor, start: int = 0, cache: list[Tensor] | None = None) -> Tensor:
        """One layer."""
        x = x + self.self_attn(self.input_layernorm(x), start, cache)
        inner = self.block_sparse_moe if self.moe else self.mlp
        return x + inner(self.post_attention_layernorm(x))


class Inner(nn.Module):
    """Embedding, layers, norm."""

    def __init__(self, c: dict[str, Any]) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(c["vocab_size"], c["hidden_size"])
        self.layers = nn.ModuleList(DecoderLayer(c) for _ in range(c["num_hidden_layers"]))
        self.norm = RMSNorm(c["hidden_size"])


class Decoder(nn.Module):
    """A decoder as Llama, Mistral, Mixtral and DeepSeek are."""

    def __init__(self, c: dict[str, Any]) -> None:
        super().__init__()
        self.model = Inner(c)
        self.lm_head = nn.Linear(c["hidden_size"], c["vocab_size"], bias=False)
        self.checkpointing = False

    def forward(
        self, ids: Tensor, caches: list[list[Tensor]] | None = None, start: int = 0, last: bool = False
    ) -> Tensor:
        """Logits; `caches` has a list for each layer."""
        x = self.model.embed_tokens(ids)
        for number, layer in enumerate(self.model.layers):
            cache = caches[number] if caches is not None else None
            x = checkpoint(layer, x, use_reentrant=False) if self.checkpointing else layer(x, start, cache)
        x = self.model.norm(x)
        return self.lm_head(x[:, -1:] if last else x)


class GptLayer(nn.Module):
    """A layer of GPT-2."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.attn = nn.ModuleDict({"c_attn": nn.Linear(hidden, 3 * hidden), "c_proj": nn.Linear(hidden, hidden)})
        self.mlp = nn.ModuleDict({"c_fc": nn.Linear(hidden, 4 * hidden), "c_proj": nn.Linear(4 * hidden, hidden)})
        self.heads = heads

    def forward(self, x: Tensor, cache: list[Tensor] | None = None) -> Tensor:
        """One layer."""
        b, t, h = x.shape
        parts = self.attn["c_attn"](self.ln_1(x)).split(h, -1)
        q, k, v = (part.view(b, t, self.heads, -1).transpose(1, 2) for part in parts)
        if cache is not None:
            k, v = (torch.cat((cache[0], k), 2), torch.cat((cache[1], v), 2)) if cache else (k, v)
            cache[:] = [k, v]
        x = x + self.attn["c_proj"](attend(q, k, v, t > 1).transpose(1, 2).reshape(b, t, h))
        return x + self.mlp["c_proj"](fn.gelu(self.mlp["c_fc"](self.ln_2(x)), approximate="tanh"))


class Gpt(nn.Module):
    """GPT-2 with its names."""

    def __init__(self, c: dict[str, Any]) -> None:
        super().__init__()
        layers = nn.ModuleList(GptLayer(c["n_embd"], c["n_head"]) for _ in range(c["n_layer"]))
        parts = {"wte": nn.Embedding(c["vocab_size"], c["n_embd"]), "wpe": nn.Embedding(c["n_positions"], c["n_embd"])}
        self.transformer = nn.ModuleDict({**parts, "h": layers, "ln_f": nn.LayerNorm(c["n_embd"])})
        self.checkpointing = False

    def forward(
        self, ids: Tensor, caches: list[list[Tensor]] | None = None, start: int = 0, last: bool = False
    ) -> Tensor:
        """Logits with the embedding's own weights."""
        t = self.transformer
        x = t["wte"](ids) + t["wpe"](torch.arange(start, start + ids.shape[1], device=ids.device))
        for number, layer in enumerate(t["h"]):
            cache = caches[number] if caches is not None else None
            x = checkpoint(layer, x, use_reentrant=False) if self.checkpointing else layer(x, cache)
        x = t["ln_f"](x)
        return fn.linear(x[:, -1:] if last else x, t["wte"].weight)


# ---------------------------------------------------------------- encoders, pictures


class Encoder(nn.Module):
    """A stack of torch's own encoder layers over words or patches."""

    def __init__(self, c: dict[str, Any]) -> None:
        super().__init__()
        hidden = c["hidden_size"]
        self.patch, self.channels = c.get("patch_size"), c.get("num_channels", 3)
        if self.patch:
            self.patch_embedding = nn.Conv2d(self.channels, hidden, self.patch, self.patch)
            count = (c["image_size"] // self.patch) ** 2
            self.position_embedding = nn.Parameter(torch.zeros(1, count, hidden))
        else:
            self.embeddings = nn.Embedding(c["vocab_size"], hidden)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(
                hidden, c["num_attention_heads"], c["intermediate_size"], 0.0, "gelu", batch_first=True, norm_first=True
            )
            for _ in range(c["num_hidden_layers"])
        )
        self.head = nn.Linear(hidden, c.get("num_labels", 1000))
        self.checkpointing = False

    def forward(self, x: Tensor) -> Tensor:
        """Classes."""
        if self.patch:
            x = self.patch_embedding(x).flatten(2).transpose(1, 2) + self.position_embedding
        else:
            x = self.embeddings(x)
        for layer in self.layers:
            x = checkpoint(layer, x, use_reentrant=False) if self.checkpointing else layer(x)
        return self.head(x.mean(1))


class Bottleneck(nn.Module):
    """A block of ResNet-50, or of ResNet-18 where it is basic."""

    def __init__(self, inputs: int, width: int, stride: int, basic: bool) -> None:
        super().__init__()
        outputs = width if basic else 4 * width
        sizes = [(inputs, width, 3, stride), (width, width, 3, 1)]
        sizes = sizes if basic else [(inputs, width, 1, 1), (width, width, 3, stride), (width, outputs, 1, 1)]
        for number, (a, b, kernel, step) in enumerate(sizes, 1):
            setattr(self, f"conv{number}", nn.Conv2d(a, b, kernel, step, kernel // 2, bias=False))
            setattr(self, f"bn{number}", nn.BatchNorm2d(b))
        self.count = len(sizes)
        self.downsample = None
        if stride > 1 or inputs != outputs:
            self.downsample = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x: Tensor) -> Tensor:
        """Convolutions beside a shortcut."""
        beside, y = x, x
        for number in range(1, self.count + 1):
            y = getattr(self, f"bn{number}")(getattr(self, f"conv{number}")(y))
            y = fn.relu(y, inplace=True) if number < self.count else y
        beside = self.downsample(x) if self.downsample is not None else beside
        return fn.relu(y + beside, inplace=True)


class ResNet(nn.Module):
    """ResNet with torchvision's names."""

    def __init__(self, c: dict[str, Any]) -> None:
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64)
        basic, inputs = c["layer_type"] == "basic", 64
        for stage, depth in enumerate(c["depths"]):
            width = 64 << stage
            blocks = []
            for number in range(depth):
                blocks.append(Bottleneck(inputs, width, 2 if stage and not number else 1, basic))
                inputs = width if basic else 4 * width
            setattr(self, f"layer{stage + 1}", nn.Sequential(*blocks))
        self.stages = len(c["depths"])
        self.fc = nn.Linear(inputs, 1000)
        self.checkpointing = False

    def forward(self, x: Tensor) -> Tensor:
        """Classes."""
        x = fn.max_pool2d(fn.relu(self.bn1(self.conv1(x)), inplace=True), 3, 2, 1)
        for stage in range(1, self.stages + 1):
            layer = getattr(self, f"layer{stage}")
            x = checkpoint(layer, x, use_reentrant=False) if self.checkpointing else layer(x)
        return self.fc(x.mean((2, 3)))


class Vgg(nn.Module):
    """Plain convolutions with pools, as VGG."""

    def __init__(self, c: dict[str, Any]) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        inputs = 3
        for width, depth in zip(c["widths"], c["depths"], strict=True):
            for _ in range(depth):
                layers += [nn.Conv2d(inputs, width, 3, padding=1), nn.ReLU(inplace=True)]
                inputs = width
            layers.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*layers)
        self.classifier = nn.Linear(inputs, 1000)
        self.checkpointing = False

    def forward(self, x: Tensor) -> Tensor:
        """Classes."""
        return self.classifier(self.features(x).mean((2, 3)))


def double(inputs: int, outputs: int) -> nn.Sequential:
    """Two convolutions of the classic U-Net."""
    parts = []
    for a, b in ((inputs, outputs), (outputs, outputs)):
        parts += [nn.Conv2d(a, b, 3, padding=1, bias=False), nn.BatchNorm2d(b), nn.ReLU(inplace=True)]
    return nn.Sequential(*parts)


class UNet(nn.Module):
    """The classic U-Net."""

    def __init__(self, c: dict[str, Any]) -> None:
        super().__init__()
        widths = c["block_out_channels"]
        self.downs = nn.ModuleList(double(a, b) for a, b in zip([3, *widths], widths, strict=False))
        pairs = list(zip(widths[1:], widths[:-1], strict=True))[::-1]
        self.ups = nn.ModuleList(nn.ConvTranspose2d(a, b, 2, 2) for a, b in pairs)
        self.up_convs = nn.ModuleList(double(2 * b, b) for _, b in pairs)
        self.out_conv = nn.Conv2d(widths[0], c.get("out_channels", 3), 1)
        self.checkpointing = False

    def forward(self, x: Tensor) -> Tensor:
        """A picture of the same size."""
        kept = []
        for number, down in enumerate(self.downs):
            x = down(fn.max_pool2d(x, 2) if number else x)
            kept.append(x)
        kept.pop()
        for up, both in zip(self.ups, self.up_convs, strict=True):
            x = both(torch.cat((kept.pop(), up(x)), 1))
        return self.out_conv(x)


class Res(nn.Module):
    """A residual block of a diffusion U-Net."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(32, inputs), nn.Conv2d(inputs, outputs, 3, padding=1)
        self.norm2, self.conv2 = nn.GroupNorm(32, outputs), nn.Conv2d(outputs, outputs, 3, padding=1)
        self.conv_shortcut = nn.Conv2d(inputs, outputs, 1) if inputs != outputs else None

    def forward(self, x: Tensor) -> Tensor:
        """Two convolutions beside a shortcut."""
        y = self.conv2(fn.silu(self.norm2(self.conv1(fn.silu(self.norm1(x))))))
        return y + (self.conv_shortcut(x) if self.conv_shortcut is not None else x)


class Diffusion(nn.Module):
    """A U-Net with diffusers' names, without attention: UNet2DModel of DownBlock2D and UpBlock2D."""

    def __init__(self, c: dict[str, Any]) -> None:
        super().__init__()
        widths, deep = c["block_out_channels"], c["layers_per_block"]
        self.conv_in = nn.Conv2d(c["in_channels"], widths[0], 3, padding=1)
        self.down_blocks, self.up_blocks = nn.ModuleList(), nn.ModuleList()
        skips, now = [widths[0]], widths[0]
        for stage, width in enumerate(widths):
            blocks = nn.ModuleList()
            for _ in range(deep):
                blocks.append(Res(now, width))
                now = width
                skips.append(now)
            parts = {"resnets": blocks}
            if stage < len(widths) - 1:
                parts["downsamplers"] = nn.ModuleList([nn.ModuleDict({"conv": nn.Conv2d(now, now, 3, 2, 1)})])
                skips.append(now)
            self.down_blocks.append(nn.ModuleDict(parts))
        self.mid_block = nn.ModuleDict({"resnets": nn.ModuleList([Res(now, now), Res(now, now)])})
        for stage, width in enumerate(reversed(widths)):
            blocks = nn.ModuleList()
            for _ in range(deep + 1):
                blocks.append(Res(now + skips.pop(), width))
                now = width
            parts = {"resnets": blocks}
            if stage < len(widths) - 1:
                parts["upsamplers"] = nn.ModuleList([nn.ModuleDict({"conv": nn.Conv2d(now, now, 3, padding=1)})])
            self.up_blocks.append(nn.ModuleDict(parts))
        self.conv_norm_out = nn.GroupNorm(32, now)
        self.conv_out = nn.Conv2d(now, c["out_channels"], 3, padding=1)
        self.checkpointing = False

    def forward(self, x: Tensor) -> Tensor:
        """A picture of the same size."""
        x = self.conv_in(x)
        kept = [x]
        for block in self.down_blocks:
            for one in block["resnets"]:
                x = self._run(one, x)
                kept.append(x)
            if "downsamplers" in block:
                x = block["downsamplers"][0]["conv"](x)
                kept.append(x)
        for one in self.mid_block["resnets"]:
            x = self._run(one, x)
        for block in self.up_blocks:
            for one in block["resnets"]:
                x = self._run(one, torch.cat((x, kept.pop()), 1))
            if "upsamplers" in block:
                x = block["upsamplers"][0]["conv"](fn.interpolate(x, scale_factor=2.0, mode="nearest"))
        return self.conv_out(fn.silu(self.conv_norm_out(x)))

    def _run(self, block: nn.Module, x: Tensor) -> Tensor:
        return checkpoint(block, x, use_reentrant=False) if self.checkpointing else block(x)


FAMILIES: dict[str, type[nn.Module]] = {
    "decoder": Decoder,
    "gpt": Gpt,
    "encoder": Encoder,
    "vit": Encoder,
    "resnet": ResNet,
    "vgg": Vgg,
    "unet": UNet,
    "diffusion": Diffusion,
}
