"""Account: the parts of one GPU's memory at the moment when most of it is held."""

from __future__ import annotations

import msgspec

from gpuwhy.fit import activations as act
from gpuwhy.fit import base, cache, loose, training
from gpuwhy.fit.bits import computed_in, counted, width
from gpuwhy.fit.phase import Phase, part
from gpuwhy.fit.shape import Shape
from gpuwhy.fit.view import View
from gpuwhy.model.fit import How, Part, Use

FLIGHT = {"llama.cpp": 512, "vllm": 8192}
"""Tokens that a server computes at a time, whatever the prompt: its default."""
XLA_TRIES = 6.0
"""Outputs of the widest convolution that XLA's trials take, seen with JAX 0.11 on one network."""
XLA_SCORES = 2.5
"""Bytes more of a score that XLA keeps in f32."""


def scaled(phase: Phase, scale: float) -> Phase:
    """What moves as a measurement says it does."""
    if scale == 1.0:
        return phase
    parts = (_times(one, scale) if one.name in ("activations", "logits", "attention") else one for one in phase.parts)
    return Phase(phase.name, tuple(parts))


def _times(one: Part, scale: float) -> Part:
    sizes = {name: int(getattr(one, name) * scale) for name in ("bytes", "least", "most")}
    return msgspec.structs.replace(one, **sizes, text=f"{one.text}; × {scale:.2f} by what was measured")


def peak(view: View, use: Use) -> list[Part]:
    """The parts at the fullest moment, the largest first, the framework last; empty ones left out."""
    every = sorted((scaled(phase, use.scale) for phase in phases(view, use)), key=lambda phase: -phase.bytes)
    parts = [one for one in every[0].parts if one.bytes]
    parts += [loose.fragments(view, use, every), *_framework(view, use)]
    return sorted((p for p in parts if p.bytes), key=lambda p: (p.name == "framework", -p.bytes))


def phases(view: View, use: Use) -> list[Phase]:
    """The moments that can be the fullest."""
    standing = [_weights(view, use), *_shared(view, use)]
    if use.task == "inference":
        standing += _kv(view, use)
        return [Phase(name, (*standing, *parts)) for name, parts in _forward(view, use)]
    return [Phase(name, (*standing, *parts)) for name, parts in _steps(view, use)]


# ---------------------------------------------------------------- what stays


def _weights(view: View, use: Use) -> Part:
    w = view.weights
    size: float = w.bytes
    text = f"{counted(w.parameters)} parameters, mostly {w.dtype}"
    if use.zero == 3:
        size = w.bytes / use.gpus + 2 * w.layer
        text += f", a {use.gpus}th of it and two whole layers at a time"
    if "weights" in use.offload:
        size, text = 2.0 * w.layer + w.largest, f"{text}; kept on the host, two layers at a time here"
    how: How = "saw" if w.stored else "know"
    return part("weights", size, (0.005, 0.01), how, text)


def width_of(view: View, use: Use) -> act.Width:
    """How wide numbers are in this use."""
    size = float(computed_in(use.dtype or view.weights.dtype))
    return act.Width.of(size, use.amp)


def _kv(view: View, use: Use) -> list[Part]:
    shape = view.shape
    if shape is None or not shape.causal:
        return []
    kind = use.kv_dtype or ("bf16" if width_of(view, use).low < 4 else "f32")
    size = cache.cached(shape, use.batch, view.tokens, width(kind), use.kv_block)
    layers = shape.decoder_layers or shape.layers
    text = f"{use.batch} × {view.tokens} tokens, {layers} layers of {cache.row(shape)} {kind}"
    more = 0.02
    if shape.kv_rank:
        text += "; compressed, as vLLM, SGLang and llama.cpp keep it"
        more = max(more, cache.expanded(shape, use.batch, view.tokens, width(kind)) / max(1, size) - 1)
    if "cache" in use.offload:
        size, text = size // max(1, shape.layers) * 2, f"{text}; kept on the host, two layers at a time here"
    return [part("kv cache", size, (0.01, more), "know", text)]


def _shared(view: View, use: Use) -> list[Part]:
    """What several GPUs need to talk to each other."""
    ranks = use.ranks
    if ranks <= 1:
        return []
    size, text = float(base.of(use.framework).nccl), f"NCCL between {ranks} GPUs"
    if use.task != "inference" and use.gpus > 1:
        grads = training.trained_width(view.weights, use.amp) * _trained(view, use)
        size += grads if use.zero == 0 else min(grads, 2 * 5e8)
        text += ", and the buckets that gradients are summed in"
    return [part("communication", size, (0.5, 1.0), "assumed", text)]


# ---------------------------------------------------------------- inference


def _forward(view: View, use: Use) -> list[tuple[str, list[Part]]]:
    w = width_of(view, use)
    many = use.batch * view.tokens
    many = min(many, FLIGHT.get(use.framework, many))
    if view.shape is None:
        return [("layers", [*_pictures(view, use, w), *_tuned(view, use, w)])]
    s = view.shape
    fused = act.spared(s, w, use.attention == "fused", use.framework)
    layers = act.forward(s, w, view.tokens, fused) * many
    out = [("layers", [part("activations", layers, (0.3, 0.3), "know", _of_layer(view, use))])]
    rows = many if use.logits == "all" or s.masked else use.batch
    if s.vocab and view.last and (s.causal or s.masked):
        held = s.hidden * w.stream * many
        logits = part("logits", rows * s.vocab * w.low, (0.05, 1.0), "know", f"{rows} rows of {s.vocab} words")
        out.append(("logits", [logits, part("activations", held, (0.2, 1.0), "know", "the last layer's output")]))
    return out


def _of_layer(view: View, use: Use) -> str:
    return f"one layer at a time, {use.batch} × {view.tokens} tokens"


def _pictures(view: View, use: Use, w: act.Width) -> list[Part]:
    if view.net is None:
        return []
    spread = (0.3, 0.6) if view.net.sure else (0.6, 2.0)
    how: How = "know" if view.net.sure else "assumed"
    if use.task == "inference":
        return [
            part(
                "activations", view.net.held * use.batch * w.low, spread, how, f"{use.batch} pictures, the widest layer"
            )
        ]
    text = f"{use.batch} pictures, {len(view.net.layers)} convolutions"
    return [part("activations", view.net.kept * use.batch * w.low, spread, how, text)]


# ---------------------------------------------------------------- training


def _trained(view: View, use: Use) -> int:
    return training.adapters(view.weights, use.rank) if use.task == "lora" else view.weights.parameters


def _steps(view: View, use: Use) -> list[tuple[str, list[Part]]]:
    """Loss, first and last of the backward pass, optimizer step."""
    kept, back, turn = _kept(view, use)
    state = _state(view, use)
    gradients, step = _gradients(view, use), _step(view, use)
    copies = _copies(view, use)
    return [
        ("loss", [*state, *copies, *kept, *turn]),
        ("backward", [*state, *copies, *kept, *back, *_table(view, use)]),
        ("end", [*state, *gradients, *back]),
        ("step", [*state, *gradients, *step]),
    ]


def _kept(view: View, use: Use) -> tuple[list[Part], list[Part], list[Part]]:
    """Activations until the backward pass, what one layer takes in it, and what the loss takes before."""
    w = width_of(view, use)
    if view.shape is None:
        return _kept_pictures(view, use, w)
    s, many = view.shape, use.batch * view.tokens
    fused = act.spared(s, w, use.attention == "fused", use.framework)
    kept, back = act.kept(s, w, view.tokens, fused, use.checkpointing)
    if not use.checkpointing:
        kept += _more_kept(s, w, use, view.tokens, fused)
    how = "checkpoints of each layer" if use.checkpointing else f"everything {s.all_layers} layers keep"
    parts = [part("activations", kept * many, (0.25, 0.2), "know", f"{how}, {use.batch} × {view.tokens} tokens")]
    behind = [part("activations", back * many, (0.5, 0.5), "know", "one layer in the backward pass")]
    loss = _loss(s, w, view, use) * many
    rows = f"{many} rows of {s.vocab} words, with log-softmax and gradients"
    return parts, behind, [part("logits", loss, (0.4, 0.15), "know", rows)]


def _more_kept(s: Shape, w: act.Width, use: Use, tokens: int, fused: bool) -> float:
    """What XLA keeps of unfused scores beside torch's, less what frozen matrices need not keep beside adapters."""
    more = 0.0
    if use.framework == "jax" and not fused and w.low == 4:
        more += XLA_SCORES * s.all_layers * s.heads * tokens
    if use.task == "lora":
        more -= s.all_layers * w.low * (s.inner + s.hidden)
    return more


def _loss(s: Shape, w: act.Width, view: View, use: Use) -> float:
    """For one token; nothing where the model gives no words, or another GPU does."""
    speaks = s.causal or s.masked
    return act.loss(s, w, use.framework == "jax") if s.vocab and view.last and speaks else 0.0


def _kept_pictures(view: View, use: Use, w: act.Width) -> tuple[list[Part], list[Part], list[Part]]:
    kept = _pictures(view, use, w)
    if not kept or view.net is None:
        return kept, [], []
    if use.checkpointing:
        kept = [part("activations", kept[0].bytes * 0.35, (0.4, 0.6), "assumed", "checkpoints of each block")]
        back = view.net.held * use.batch * w.low
    else:
        back = (view.net.turned - view.net.kept) * use.batch * w.low
    around = part("activations", back, (0.5, 0.5), "know", "gradients around one layer in the backward pass")
    return kept, [around, *_tuned(view, use, w)], []


def _tuned(view: View, use: Use, w: act.Width) -> list[Part]:
    """XLA tries the ways to convolve when it compiles, with copies and scratch for each."""
    if view.net is None or use.framework != "jax" or (use.task == "inference" and w.low < 4):
        return []
    size = XLA_TRIES * view.net.widest * use.batch * w.low
    return [part("workspace", size, (0.7, 0.7), "assumed", "XLA's trials of ways to convolve")]


def _copies(view: View, use: Use) -> list[Part]:
    """Autocast keeps the matrices in two bytes from their first use to the end of the backward pass."""
    if not use.amp or use.framework != "torch" or use.task == "lora":
        return []
    size = 2 * (view.weights.matrices + (view.weights.table // 2 if view.shape else 0))
    return [part("weight copies", size, (0.3, 0.1), "know", "autocast's copies of the matrices in bf16")]


def _table(view: View, use: Use) -> list[Part]:
    size = training.trained_width(view.weights, use.amp) * view.weights.table / 2
    if use.task == "lora" or not size:
        return []
    return [part("gradients", size, (0.5, 0.5), "know", "of the output, the first to come")]


def _gradients(view: View, use: Use) -> list[Part]:
    count, size = _trained(view, use), training.trained_width(view.weights, use.amp)
    shard = use.gpus if use.zero >= 2 else 1
    if use.task == "lora":
        size = 4.0
    text = f"{counted(count)} parameters of {size:g} bytes" + (f", a {shard}th of them" if shard > 1 else "")
    return [part("gradients", count * size / shard, (0.01, 0.02), "know", text)]


def _state(view: View, use: Use) -> list[Part]:
    """The optimizer's state, the adapters, and f32 weights where they are kept beside lower ones."""
    count, size = _trained(view, use), training.trained_width(view.weights, use.amp)
    shard = use.gpus if use.zero >= 1 else 1
    master = use.zero >= 1 and size < 4 and use.task == "train"
    size = 4.0 if master or use.task == "lora" else size
    out = []
    if use.task == "lora":
        out.append(
            part("weights", count * 4, (0.01, 0.02), "know", f"adapters of rank {use.rank} on every matrix, f32")
        )
    if "optimizer" in use.offload:
        return out
    kind = training.OPTIMIZERS[use.optimizer]
    state = training.state(use.optimizer, view.weights, count, size, shard)
    text = f"{use.optimizer}: {kind.text}" + (f", a {shard}th here" if shard > 1 else "")
    out.append(part("optimizer", state, (0.01, 0.02), "know", text))
    if master:
        out.append(part("master weights", 4 * count / shard, (0.01, 0.02), "know", "f32 copies that ZeRO steps on"))
    return out


def _step(view: View, use: Use) -> list[Part]:
    if "optimizer" in use.offload:
        return []
    shard = use.gpus if use.zero >= 1 else 1
    size = 4.0 if use.task == "lora" else training.trained_width(view.weights, use.amp)
    taken = training.step(use.optimizer, use.framework, _trained(view, use), size, shard)
    return [part("workspace", taken, (0.3, 0.1), "know", "the optimizer's step over all parameters at once (foreach)")]


# ---------------------------------------------------------------- around it


def _framework(view: View, use: Use) -> list[Part]:
    row, trains = base.of(use.framework), use.task != "inference"
    size = base.outside(row, trains, view.net is not None, bool(view.net and view.net.unet))
    assumed = row.assumed or row.framework != use.framework
    name = f"{row.framework} {row.release} on {row.gpu}, {row.date}" if not assumed else "by its kin, not measured"
    how: How = "assumed" if assumed else "know"
    source = "" if assumed else base.table().source
    text = f"CUDA context, kernels, library handles: {name}; cards with fewer multiprocessors take less"
    out = [part("framework", size, (0.4, 0.1 if not assumed else 0.5), how, text, source)]
    space = row.workspace_training if trains else row.workspace
    if space:
        out.append(part("workspace", space, (0.7, 0.3), how, f"cuBLAS's workspaces: {name}", source))
    return out
