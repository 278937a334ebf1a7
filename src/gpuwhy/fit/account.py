"""The parts of one GPU's memory at the moment when most of it is held."""

from collections.abc import Iterable
from functools import cache

import msgspec
from msgspec.structs import replace

from gpuwhy.fit import shape as act
from gpuwhy.fit.answer import Card, How, Name, Part, Use
from gpuwhy.fit.dtypes import counted, table, width
from gpuwhy.fit.shape import Flow
from gpuwhy.fit.view import View
from gpuwhy.knowledge.tables import load

FLIGHT = {"llama.cpp": 512, "vllm": 8192}
"""Tokens that a server computes at a time, whatever the prompt: its default."""
_ROUNDING = 30 << 20
_MOVING, _CACHE = 0.20, 0.60
"""Shares of activations and of a growing cache that torch's allocator keeps above them."""
_HELD, _STEPPED = (0.03, 0.40), (0.09, 0.30)
"""In training, where activations or the optimizer's step is the fullest moment: of everything, and
of gradients and temporaries less how far these two moments are apart."""
_WORDS = 0.5  # Of the optimizer's state that settles in the blocks that larger logits leave


class Base(msgspec.Struct, frozen=True):
    """One measured framework: bytes outside its allocator, and the workspaces inside of it."""

    framework: str
    release: str
    gpu: str
    context: int  # after the first kernel, outside the allocator
    matmul: int  # more once matrices are multiplied
    training: int  # more once a backward pass and an optimizer ran
    workspace: int  # inside the allocator: cuBLAS's own
    workspace_training: int
    nccl: int  # a communicator, outside the allocator
    date: str
    assumed: bool = False


class _Table(msgspec.Struct, frozen=True):
    rows: list[Base]


@cache
def base(framework: str) -> Base:
    """The row of a framework; torch's where there is none, which is then an assumption."""
    rows = {row.framework: row for row in load("framework_memory.json", _Table).rows}
    return rows.get(framework) or replace(rows["torch"], assumed=True)


class Optimizer(msgspec.Struct, frozen=True):
    """What an optimizer keeps for each parameter, and what one step takes besides."""

    states: float  # copies of the parameters, in their own type
    fixed: float  # bytes for each parameter, whatever its type
    step: float  # copies of the parameters while it steps, as torch does it by default
    text: str


_OPTIMIZERS = msgspec.convert(table("optimizer"), dict[str, Optimizer])
Phase = tuple[str, list[Part]]
"""A moment of a step, and what is held then."""


def _part(name: Name, size: float, less: float, more: float, text: str, how: How = "know") -> Part:
    """A part with its bounds as shares of it."""
    return Part(name, int(size), int(size * (1 - less)), int(size * (1 + more)), how, text)


def _sum(parts: Iterable[Part], *names: Name) -> int:
    return sum(part.bytes for part in parts if not names or part.name in names)


def peak(view: View, use: Use, card: Card) -> list[Part]:
    """The parts at the fullest moment, the largest first, the framework last."""
    standing = _standing(view, use)
    found = _forward(view, use) if use.task == "inference" else _steps(view, use)
    phases = [(name, [*standing, *parts]) for name, parts in found]
    phases.sort(key=lambda phase: -_sum(phase[1]))
    parts = [*phases[0][1], _fragments(use, phases), *_framework(use, card)]
    merged: dict[str, Part] = {}
    for one in filter(lambda part: part.bytes, parts):
        if before := merged.get(one.name):
            names = ("bytes", "least", "most")
            sums = {name: getattr(before, name) + getattr(one, name) for name in names}
            one = replace(before, **sums, text=f"{before.text}; {one.text}")
        merged[one.name] = one
    return sorted(merged.values(), key=lambda p: (p.name == "framework", -p.bytes))


def _standing(view: View, use: Use) -> list[Part]:
    """What is held at every moment: weights, buffers of NCCL, the cache of an inference."""
    w, s, size = view.weights, view.shape, float(view.weights.bytes)
    text = f"{counted(w.parameters)} parameters, mostly {w.dtype}" if w.parameters else w.dtype
    if use.zero == 3:
        size = w.bytes / use.gpus + 2 * w.layer
        text += f", a {use.gpus}th of it and two whole layers at a time"
    out = [_part("weights", size, 0.005, 0.01, text, "saw" if w.stored else "know")]
    if use.ranks > 1:
        size, text = float(base(use.framework).nccl), f"NCCL between {use.ranks} GPUs"
        if use.task != "inference" and use.gpus > 1:
            grads = _gradient(view, use) * _trained(view, use)
            size += min(grads, 2 * 5e8) if use.zero else grads
            text += ", and the buckets that gradients are summed in"
        out.append(_part("communication", size, 0.5, 1.0, text, "assumed"))
    if use.task == "inference" and s is not None and s.causal:
        kind, wide = kv_width(view, use)
        size = s.cached(use.batch, view.tokens, wide)
        text = f"{use.batch} × {view.tokens} tokens, {s.decoder_layers or s.layers} layers of "
        text, more = f"{text}{s.row} {kind}", 0.02
        if s.kv_rank:
            text += ", compressed (MLA); transformers keeps it expanded"
            expanded = use.batch * wide * s.layers * (s.query + s.value) * view.tokens
            more = max(more, expanded / max(1, size) - 1)
        out.append(_part("kv cache", size, 0.02, more, text))
    return out


def _flow(view: View, use: Use) -> Flow:
    """What goes through the layers; quantised weights compute in 16 bits."""
    s, size = view.shape, {"f32": 4.0, "f64": 8.0}.get(use.dtype or view.weights.dtype, 2.0)
    low, stream = (2.0, 4.0) if use.amp else (size, size)
    # torch has no fused kernel for grouped heads in f32
    grouped = use.framework == "torch" and low == 4 and s is not None and s.value < s.query
    whole = use.attention != "fused" or (grouped and s is not None and not s.kv_rank)
    return Flow(low, stream, view.tokens, not whole)


def kv_width(view: View, use: Use) -> tuple[str, float]:
    """The type of the KV cache and its bytes."""
    kind = use.kv_dtype or ("bf16" if _flow(view, use).low < 4 else "f32")
    return kind, width(kind)


def _forward(view: View, use: Use) -> list[Phase]:
    """The moments of inference: the widest layer, the logits."""
    s, f = view.shape, _flow(view, use)
    if s is None:
        return [("layers", [])]
    many = use.batch * view.tokens
    many = min(many, FLIGHT.get(use.framework, many))
    size = act.forward(s, f) * many
    text = f"one layer at a time, {use.batch} × {view.tokens} tokens"
    out: list[Phase] = [("layers", [_part("activations", size, 0.3, 0.3, text)])]
    if s.vocab and (s.causal or s.masked):
        rows = many if s.masked else use.batch  # generate() asks for the last token's alone
        words = f"{rows} rows of {s.vocab} words"
        logits = _part("logits", rows * s.vocab * f.low, 0.05, 1.0, words)
        size, text = s.hidden * f.stream * many, "the last layer's output"
        out.append(("logits", [logits, _part("activations", size, 0.2, 1.0, text)]))
    return out


def _trained(view: View, use: Use) -> int:
    """Parameters that are trained: of LoRA, those of adapters on every matrix."""
    return view.weights.rows * use.rank if use.task == "lora" else view.weights.parameters


def _gradient(view: View, use: Use) -> float:
    """Bytes of a gradient."""
    return 4.0 if use.amp or use.task == "lora" else max(2.0, width(view.weights.dtype))


def _steps(view: View, use: Use) -> list[Phase]:
    """The moments of training: loss, first and last of the backward pass, optimizer step."""
    w, lora, torch = view.weights, use.task == "lora", use.framework == "torch"
    count, size = _trained(view, use), _gradient(view, use)
    shared = use.gpus if use.zero >= 2 else 1
    text = f"{counted(count)} parameters of {size:g} bytes"
    text += f", a {shared}th of them" if shared > 1 else ""
    gradients = _part("gradients", count * size / shared, 0.01, 0.02, text)
    first = 0.0 if lora else size * w.table / 2
    begun = _part("gradients", first, 0.5, 0.5, "of the output, the first to come")
    # autocast keeps the matrices in two bytes to the end of the backward pass
    cast = torch and use.amp and not lora
    low = 2 * (w.matrices + (w.table // 2 if view.shape else 0)) if cast else 0
    copies = _part("weight copies", low, 0.3, 0.1, "autocast's copies of the matrices in bf16")
    taken = _OPTIMIZERS[use.optimizer].step if torch else 0.0
    taken *= count * size / (use.gpus if use.zero else 1)
    text = "the optimizer's step over all parameters at once (foreach)"
    kept, back, turn = _kept(view, use)
    state = _state(view, use)
    return [
        ("loss", [*state, copies, *kept, *turn]),
        ("backward", [*state, copies, *kept, *back, begun]),
        ("end", [*state, gradients, *back]),
        ("step", [*state, gradients, _part("workspace", taken, 0.3, 0.1, text)]),
    ]


def _state(view: View, use: Use) -> list[Part]:
    """The optimizer's state, the adapters, and f32 weights kept beside lower ones."""
    w, kind = view.weights, _OPTIMIZERS[use.optimizer]
    count, size = _trained(view, use), _gradient(view, use)
    shared = use.gpus if use.zero else 1
    master = bool(use.zero) and size < 4
    state = count * (kind.states * (4.0 if master else size) + kind.fixed)
    if use.optimizer == "adafactor":
        state = (w.rows + max(0, count - w.matrices - w.table)) * 4
    text = f"{use.optimizer}: {kind.text}" + (f", a {shared}th here" if shared > 1 else "")
    out = [_part("optimizer", state / shared, 0.01, 0.02, text)]
    if use.task == "lora":
        text = f"adapters of rank {use.rank} on every matrix, f32"
        out.append(_part("weights", count * 4, 0.01, 0.02, text))
    if master:
        text = "f32 copies that ZeRO steps on"
        out.append(_part("master weights", 4 * count / shared, 0.01, 0.02, text))
    return out


def _kept(view: View, use: Use) -> tuple[list[Part], list[Part], list[Part]]:
    """Activations until the backward pass, what one layer takes in it, what the loss takes."""
    s, f = view.shape, _flow(view, use)
    if s is None:
        return [], [], []
    many = use.batch * view.tokens
    kept, back = act.kept(s, f, use.checkpointing)
    how = "checkpoints of each layer"
    if not use.checkpointing:
        # frozen matrices need not keep their input beside LoRA
        kept -= s.all_layers * f.low * (s.inner + s.hidden) if use.task == "lora" else 0
        how = f"everything {s.all_layers} layers keep"
    text = f"{how}, {use.batch} × {view.tokens} tokens"
    speaks = (s.causal or s.masked) and s.vocab
    size = act.loss(s, f) * many if speaks else 0.0
    rows = f"{many} rows of {s.vocab} words, with log-softmax and gradients"
    return (
        [_part("activations", kept * many, 0.25, 0.2, text)],
        [_part("activations", back * many, 0.5, 0.5, "one layer in the backward pass")],
        [_part("logits", size, 0.4, 0.15, rows)],
    )


def _fragments(use: Use, phases: list[Phase]) -> Part:
    """What the allocator keeps above what is allocated, by what was seen on one card."""
    if use.framework != "torch":
        return _part("fragmentation", _ROUNDING, 1.0, 1.0, "the allocator's rounding", "assumed")
    (name, full), late = phases[0], ("step", "end")
    if use.task == "inference":
        size = _MOVING * _sum(full, "activations", "logits") + _CACHE * _sum(full, "kv cache")
    else:
        others = (_sum(held) for one, held in phases if (one in late) is not (name in late))
        between = _sum(full) - next(others, 0)
        stepped = next(
            _sum(held, "gradients", "workspace") for one, held in phases if one == "step"
        )
        words = max(0, _sum(full, "logits") - _sum(full, "activations"))
        held, share = _STEPPED if name in late else _HELD
        size = held * _sum(full) + max(0.0, share * stepped - between)
        size += _WORDS * min(words, _sum(full, "optimizer"))
    text = "rounding, and freed blocks that nothing else fits into"
    return _part("fragmentation", _ROUNDING + size, 0.9, 1.5, text, "assumed")


def _framework(use: Use, card: Card) -> list[Part]:
    """What the framework holds itself: measured on one card, assumed of others."""
    row, trains = base(use.framework), use.task != "inference"
    here = row.gpu.removeprefix("NVIDIA ")
    measured = not row.assumed
    how: How = "know" if measured and here in card.name else "assumed"
    seen = f"{row.framework} {row.release} on an {here}, {row.date}" if measured else "not measured"
    text = f"CUDA context, kernels, library handles: {seen}"
    text += "" if how == "know" else "; smaller cards take less"
    size = row.context + row.matmul + (row.training if trains else 0)
    space = row.workspace_training if trains else row.workspace
    return [
        _part("framework", size, 0.4, 0.1 if measured else 0.5, text, how),
        _part("workspace", space, 0.7, 0.3, f"cuBLAS's workspaces: {seen}", how),
    ]
