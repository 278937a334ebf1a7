"""Whether it fits: what every GPU holds beside what each card has."""

import math
from collections.abc import Callable

from msgspec.structs import replace

from gpuwhy.answer.text import size as shown
from gpuwhy.fit.account import FLIGHT, base, kv_width, peak
from gpuwhy.fit.answer import About, Card, Fit, FitError, Part, Serving, Share, Status, Use
from gpuwhy.fit.dtypes import FLOATS, pattern
from gpuwhy.fit.model import Model
from gpuwhy.fit.view import tokens_of, view_of

_MOST_SHARES, _MOST_RANKS, _MOST_BATCH = 16, 16384, 1 << 16
_OUTSIDE = ("framework", "fragmentation", "communication")
_GIVEN = 0.5
"""Of fragmentation, what is given back when memory runs short, before an allocation fails."""
VLLM_SHARE = 0.9
"""Of the card that vLLM takes where --gpu-memory-utilization does not say otherwise."""
_TASKS = {"inference": "inference", "train": "training", "lora": "LoRA training"}


def judged(model: Model, use: Use, cards: tuple[Card, ...], *, changes: bool = True) -> Fit:
    """Whether this use of the model fits into these cards."""
    use, cards = settled(model, use, cards)
    shares = shares_of(model, use, cards)
    fullest = shares[0]
    blind = view_of(model, use).shape is None
    unsure = (model.partial or blind) and fullest.status != "does_not_fit"
    unseen = "the layers are not known, so activations and a KV cache are not counted"
    arch = model.architecture
    about = About(
        path=model.path,
        format=model.format,
        name=arch.name,
        kind=arch.kind,
        parameters=model.parameters,
        bytes=model.bytes,
        files=model.files,
        how="know" if model.computed else "saw",
        quantisation=model.quantisation,
    )
    found = Fit(
        status="unknown" if unsure else fullest.status,
        headline="",
        model=about,
        use=use,
        bytes=fullest.bytes,
        least=fullest.least,
        most=fullest.most,
        room=fullest.card.room,
        margin=fullest.card.room - fullest.needs,
        shares=tuple(shares),
        unknown=(*model.unknown, unseen) if blind else model.unknown,
        largest=0 if blind or not changes else largest(model, use, cards) % _MOST_BATCH,
        serving=_serving(model, use, shares) if use.framework == "vllm" else None,
    )
    if changes and found.status in ("does_not_fit", "only_just"):
        from gpuwhy.fit.changes import smallest

        found = replace(found, changes=smallest(model, use, cards))
    return replace(found, headline=_headline(found))


def settled(model: Model, use: Use, cards: tuple[Card, ...]) -> tuple[Use, tuple[Card, ...]]:
    """The use with what the model and the cards decide; as many cards as it takes."""
    if not model.tensors:
        why = f": {model.unknown[0]}" if model.unknown else ", so nothing can be counted"
        raise FitError(f"{model.path}: no tensors could be read{why}")
    if use.ranks > _MOST_RANKS:
        many = f"a split over {use.ranks:,} GPUs"
        raise FitError(f"{many}: more than {_MOST_RANKS:,} are not counted")
    floats = sum(tensor.bytes for tensor in model.tensors if tensor.dtype in FLOATS)
    if use.task == "train" and floats < model.bytes / 2:
        said = "its weights are quantised and cannot be trained; adapters can: --train lora"
        raise FitError(f"{model.path}: {said}")
    if use.ranks == 1 and len(cards) > 1:
        way = "tp" if use.task == "inference" else "gpus"
        use = replace(use, **{way: len(cards)})
    cards = cards * use.ranks if len(cards) == 1 else cards
    if len(cards) < use.ranks:
        split = f"{use.tp} × {use.gpus}"
        raise FitError(f"the split asks for {use.ranks} GPUs ({split}), and {len(cards)} are there")
    arch, gguf = model.architecture, model.format == "gguf"
    framework = use.framework or ("llama.cpp" if gguf else "torch")
    scored = pattern("scored").search(arch.name) and framework == "torch"
    use = replace(
        use,
        tokens=0 if arch.kind == "vit" else tokens_of(model, use),
        framework=framework,
        attention=use.attention or ("eager" if scored else "fused"),
        dtype="f32" if use.amp and not use.dtype else use.dtype,
    )
    return use, cards[: use.ranks]


def shares_of(model: Model, use: Use, cards: tuple[Card, ...]) -> list[Share]:
    """What each GPU holds, the one with the least left first."""
    view = view_of(model, use)
    known: dict[str, tuple[Part, ...]] = {}
    out = []
    for gpu, card in enumerate(cards if len(set(cards)) > 1 else cards[:_MOST_SHARES]):
        parts = known.setdefault(card.name, tuple(peak(view, use, card)))
        size = sum(one.bytes for one in parts)
        # errors of parts add up as independent ones do
        less = math.sqrt(sum((one.bytes - one.least) ** 2 for one in parts))
        more = math.sqrt(sum((one.most - one.bytes) ** 2 for one in parts))
        held = sum(one.bytes for one in parts if one.name not in _OUTSIDE)
        given = int(_GIVEN * sum(one.bytes for one in parts if one.name == "fragmentation"))
        least, most, needs = int(size - less), int(size + more), size - given
        status: Status = "does_not_fit"
        if needs <= card.room:
            status = "fits" if most - given <= card.room else "only_just"
        out.append(Share(gpu, card, parts, size, least, most, status, held, needs))
    return sorted(out, key=lambda share: share.card.room - share.needs)[:_MOST_SHARES]


def largest(model: Model, use: Use, cards: tuple[Card, ...]) -> int:
    """The largest batch that the account lets in; 0 where not even one fits."""

    def fits(batch: int) -> bool:
        share = shares_of(model, replace(use, batch=batch), cards)[0]
        return share.needs <= share.card.room

    return bisected(_MOST_BATCH, fits)


def bisected(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to `most` that fits; 0 where none does."""
    low, high = 0, 1
    while high < most and fits(high):
        low, high = high, min(high * 2, most)
    if high == most and high > low and fits(high):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _serving(model: Model, use: Use, shares: list[Share]) -> Serving | None:
    """vLLM's two numbers: the tokens that its KV cache holds, and requests at once."""
    flight = replace(use, batch=1, tokens=min(FLIGHT["vllm"], use.tokens))
    view, card, row = view_of(model, flight), shares[0].card, base("vllm")
    if view.shape is None or not view.shape.causal or use.task != "inference":
        return None
    parts = peak(view, flight, card)
    held = sum(one.bytes for one in parts if one.name not in ("kv cache", "framework"))
    cache = max(0, int(VLLM_SHARE * card.total) - held - row.context - row.matmul)
    concurrency = cache / max(1, view.shape.cached(1, use.tokens, kv_width(view, use)[1]))
    return Serving(VLLM_SHARE, cache, int(concurrency * use.tokens), use.tokens, concurrency)


def _headline(found: Fit) -> str:
    worst = found.shares[0]
    name = found.model.name or found.model.path.rstrip("/").rpartition("/")[2]
    what, spread = _TASKS[found.use.task], shown((found.most - found.least) // 2)
    where = worst.card.name
    if len(found.shares) > 1:
        names = " and ".join(dict.fromkeys(share.card.name for share in found.shares))
        where = f"{found.use.ranks} GPUs, {names} (GPU {worst.gpu} is the fullest)"
    room = shown(found.room)
    if found.status == "does_not_fit":
        sure = "" if found.least > found.room else "probably "
        taken = f"about {shown(worst.needs)} of {room}"
        much = f"{shown(-found.margin)} too much (± {spread})"
        return f"{name}: {what} {sure}does not fit into {where}: {taken}, {much}"
    if found.status == "unknown":
        held = sum(one.bytes for one in worst.parts if one.name == "weights")
        rest = "what else it needs is not known"
        return f"{name}: weights alone take {shown(held)} of {room} of {where}; {rest}"
    words = {"fits": "fits into", "only_just": "only just fits into"}[found.status]
    spare = f"{shown(max(0, found.room - found.bytes))} to spare (± {spread})"
    return f"{name}: {what} {words} {where}: about {shown(found.bytes)} of {room}, {spare}"
