"""Models in plain JAX for lab/fit_models.py: parameters in a flat dictionary, named as transformers names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

Parameters = dict[str, Any]


def shapes(family: str, c: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    """Every parameter's shape; matrices are (in, out)."""
    if family == "conv":
        return _conv_shapes(c)
    hidden, inner, heads = c["hidden_size"], c["intermediate_size"], c["num_attention_heads"]
    kv = c.get("num_key_value_heads", heads) * (hidden // heads)
    out: dict[str, tuple[int, ...]] = {}
    if c.get("patch_size"):
        out["patch_embedding.weight"] = (3 * c["patch_size"] ** 2, hidden)
    else:
        out["model.embed_tokens.weight"] = (c["vocab_size"], hidden)
    for n in range(c["num_hidden_layers"]):
        at = f"model.layers.{n}."
        for name, width in (("q", hidden), ("k", kv), ("v", kv), ("o", hidden)):
            out[f"{at}self_attn.{name}_proj.weight"] = (hidden, width)
        names = (("gate", (hidden, inner)), ("up", (hidden, inner)), ("down", (inner, hidden)))
        for name, shape in names if c.get("gated", True) else names[1:]:
            out[f"{at}mlp.{name}_proj.weight"] = shape
        out[f"{at}input_layernorm.weight"] = out[f"{at}post_attention_layernorm.weight"] = (hidden,)
    out["model.norm.weight"] = (hidden,)
    out["lm_head.weight"] = (hidden, c.get("vocab_size") or c.get("num_labels", 1000))
    return out


def _conv_shapes(c: dict[str, Any]) -> dict[str, tuple[int, ...]]:
    out: dict[str, tuple[int, ...]] = {}
    inputs = 3
    for stage, (width, depth) in enumerate(zip(c["widths"], c["depths"], strict=True)):
        for n in range(depth):
            out[f"stages.{stage}.{n}.conv.weight"] = (3, 3, inputs, width)
            out[f"stages.{stage}.{n}.conv.bias"] = (width,)
            inputs = width
    out["classifier.weight"] = (inputs, 1000)
    return out


def made(family: str, c: dict[str, Any], dtype: str) -> Parameters:
    """Parameters on the device."""

    @jax.jit
    def fill() -> Parameters:
        key = jax.random.key(0)
        every = shapes(family, c).items()
        return {name: (jax.random.normal(key, shape) * 0.02).astype(dtype) for name, shape in every}

    return fill()


def norm(x: Any, weight: Any) -> Any:
    """Without mean, in f32."""
    wide = x.astype("float32")
    wide = wide * jax.lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-6)
    return wide.astype(x.dtype) * weight


def layer(p: Parameters, at: str, x: Any, c: dict[str, Any], causal: bool) -> Any:
    """Attention and feed-forward part."""
    b, t, h = x.shape
    heads = c["num_attention_heads"]
    y = norm(x, p[f"{at}input_layernorm.weight"])
    q, k, v = ((y @ p[f"{at}self_attn.{n}_proj.weight"]).reshape(b, t, -1, h // heads) for n in "qkv")
    kind = c.get("_attention", "xla")
    y = jax.nn.dot_product_attention(q, k, v, is_causal=causal, implementation=kind).reshape(b, t, h)
    x = x + y @ p[f"{at}self_attn.o_proj.weight"]
    y = norm(x, p[f"{at}post_attention_layernorm.weight"])
    up = y @ p[f"{at}mlp.up_proj.weight"]
    up = jax.nn.silu(y @ p[f"{at}mlp.gate_proj.weight"]) * up if c.get("gated", True) else jax.nn.gelu(up)
    return x + up @ p[f"{at}mlp.down_proj.weight"], (k, v)


def transformer(p: Parameters, given: Any, c: dict[str, Any], remat: bool, last: bool) -> Any:
    """Logits of a decoder, an encoder or a ViT."""
    causal = not c.get("patch_size") and c.get("causal", True)
    if c.get("patch_size"):
        b, side, size = given.shape[0], given.shape[1], c["patch_size"]
        n = side // size
        patches = given.reshape(b, n, size, n, size, 3).transpose(0, 1, 3, 2, 4, 5).reshape(b, n * n, -1)
        x = patches @ p["patch_embedding.weight"]
    else:
        x = p["model.embed_tokens.weight"][given]
    cache: list[Any] = []
    for n in range(c["num_hidden_layers"]):
        own = {name: value for name, value in p.items() if name.startswith(f"model.layers.{n}.")}

        def one(own: Parameters, x: Any, at: str = f"model.layers.{n}.") -> Any:
            return layer(own, at, x, c, causal)

        x, pair = (jax.checkpoint(one) if remat else one)(own, x)
        cache.append(pair)
    x = norm(x, p["model.norm.weight"])
    x = x[:, -1] if last else x if causal else x.mean(1)
    out = x @ p["lm_head.weight"]
    return (out, cache) if last and causal else out


def convolutions(p: Parameters, given: Any, c: dict[str, Any]) -> Any:
    """Classes of a plain network of convolutions."""
    x = given
    for stage, depth in enumerate(c["depths"]):
        for n in range(depth):
            at = f"stages.{stage}.{n}.conv"
            stride = 2 if n == 0 and stage else 1
            weight = p[f"{at}.weight"]
            x = jax.lax.conv_general_dilated(
                x, weight, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
            x = jax.nn.relu(x + p[f"{at}.bias"])
    return x.mean((1, 2)) @ p["classifier.weight"]


def applied(family: str, c: dict[str, Any], remat: bool, last: bool) -> Callable[[Parameters, Any], Any]:
    """The model as a function of parameters and input."""
    if family == "conv":
        return lambda p, x: convolutions(p, x, c)
    return lambda p, x: transformer(p, x, c, remat, last)


def cost(logits: Any, labels: Any) -> Any:
    """Cross entropy in f32."""
    logs = jax.nn.log_softmax(logits.astype("float32"))
    return -jnp.take_along_axis(logs, labels[..., None], -1).mean()


def trainer(forward: Callable[[Parameters, Any], Any], optimizer: str) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """A jitted step that gives its arguments away, and the optimizer's first state."""

    def start(p: Parameters) -> Any:
        if optimizer == "sgd":
            return ()
        return jax.tree.map(jnp.zeros_like, (p, p))

    def step(p: Parameters, state: Any, x: Any, y: Any) -> Any:
        loss, g = jax.value_and_grad(lambda q: cost(forward(q, x), y))(p)
        if optimizer == "sgd":
            return jax.tree.map(lambda a, b: a - 1e-3 * b.astype(a.dtype), p, g), state, loss
        m = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, state[0], g)
        v = jax.tree.map(lambda a, b: 0.999 * a + 0.001 * b * b, state[1], g)
        p = jax.tree.map(lambda a, b, d: (a - 1e-3 * b / (jnp.sqrt(d) + 1e-8)).astype(a.dtype), p, m, v)
        return p, (m, v), loss

    return jax.jit(step, donate_argnums=(0, 1)), jax.jit(start)
