"""Answer: what every GPU holds, whether it fits, and what would make it fit."""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec

from gpuwhy.fit import activations as act
from gpuwhy.fit.account import peak, width_of
from gpuwhy.fit.bits import shown
from gpuwhy.fit.guess import described
from gpuwhy.fit.loose import GIVEN
from gpuwhy.fit.model import Model
from gpuwhy.fit.shape import SCORED, Shape
from gpuwhy.fit.view import IMAGE, View, pixels_of, tokens_of, views
from gpuwhy.fit.weights import FLOATS
from gpuwhy.model.fit import About, Card, Fit, How, Part, Share, Status, Use

MOST_SHARES = 16
MOST_RANKS = 16384
PAGE = 16
"""Tokens of a page in vLLM."""
OUTSIDE = ("framework", "fragmentation", "communication")


class BadUseError(ValueError):
    """A use that makes no sense for the model or the GPUs; the text says why."""


def fit(model: Model, use: Use, cards: tuple[Card, ...], *, changes: bool = True) -> Fit:
    """Whether this use of the model fits into these cards."""
    model = described(model)
    use, cards = settled(model, use, cards)
    shares = shares_of(model, use, cards)
    fullest = shares[0]
    unknown = _unknown(model, use)
    unsure = model.partial or (bool(unknown) and _blind(model, use))
    status = "unknown" if unsure and fullest.status != "does_not_fit" else fullest.status
    found = Fit(
        status=status,
        headline="",
        model=about(model),
        use=use,
        bytes=fullest.bytes,
        least=fullest.least,
        most=fullest.most,
        room=fullest.card.room,
        margin=fullest.card.room - fullest.needs,
        shares=tuple(shares),
        unknown=unknown,
        notes=_notes(model, use),
    )
    if changes and status in ("does_not_fit", "only_just"):
        from gpuwhy.fit.changes import smallest

        found = msgspec.structs.replace(found, changes=smallest(model, use, cards))
    return msgspec.structs.replace(found, headline=headline(found))


def settled(model: Model, use: Use, cards: tuple[Card, ...]) -> tuple[Use, tuple[Card, ...]]:
    """The use with what the model and the cards decide; as many cards as it takes."""
    _countable(model, use)
    use, cards = _over_cards(use, cards)
    return msgspec.structs.replace(use, **_decided(model, use)), cards


def _countable(model: Model, use: Use) -> None:
    """Raises where nothing can be counted."""
    if not model.tensors:
        why = f": {model.unknown[0]}" if model.unknown else ", so nothing can be counted"
        raise BadUseError(f"{model.path}: no tensors could be read{why}")
    if use.ranks > MOST_RANKS:
        raise BadUseError(f"a split over {use.ranks:,} GPUs: more than {MOST_RANKS:,} are not counted")
    _trainable(model, use)


def _over_cards(use: Use, cards: tuple[Card, ...]) -> tuple[Use, tuple[Card, ...]]:
    """One card stands for as many as the split asks for; several cards are a split where none is asked for."""
    if use.ranks == 1 and len(cards) > 1:
        way = "pp" if use.task == "inference" else "gpus"
        use = msgspec.structs.replace(use, **{way: len(cards)})
    if len(cards) == 1:
        cards = cards * use.ranks
    if len(cards) < use.ranks:
        raise BadUseError(
            f"the split asks for {use.ranks} GPUs ({use.tp} × {use.pp} × {use.gpus}), and {len(cards)} are there"
        )
    return use, cards[: use.ranks]


def _decided(model: Model, use: Use) -> dict[str, object]:
    """What was not said, as the model's kind and the framework have it."""
    tokens, image = tokens_of(model, use), pixels_of(model, use)
    pictures = _kind(model) in ("cnn", "unet", "vit")
    framework = use.framework or ("llama.cpp" if model.format == "gguf" else "torch")
    out: dict[str, object] = {
        "tokens": 0 if pictures else tokens,
        "image": image if pictures else 0,
        "framework": framework,
    }
    if not use.attention:
        out["attention"] = _attention(model, framework)
    if framework == "vllm" and not use.kv_block:
        out["kv_block"] = PAGE
    if use.amp and not use.dtype:
        out["dtype"] = "f32"
    return out


def _attention(model: Model, framework: str) -> str:
    name = model.architecture.name if model.architecture else ""
    return "eager" if SCORED.search(name) and framework == "torch" else "fused"


def _trainable(model: Model, use: Use) -> None:
    """Quantised weights are not trained; adapters on them are."""
    floats = sum(tensor.bytes for tensor in model.tensors if tensor.dtype in FLOATS)
    if use.task == "train" and floats < model.bytes / 2:
        raise BadUseError(f"{model.path}: its weights are quantised and cannot be trained; adapters can: --train lora")


def shares_of(model: Model, use: Use, cards: tuple[Card, ...]) -> list[Share]:
    """What each GPU holds, the one with the least left first."""
    per = use.tp * use.gpus
    rooms = tuple(card.room for card in cards[::per])
    out: list[Share] = []
    for stage, view in enumerate(views(model, use, rooms)):
        out += _stage(view, use, cards[stage * per : (stage + 1) * per], stage * per)
    return sorted(out, key=lambda share: share.card.room - share.needs)[:MOST_SHARES]


def _stage(view: View, use: Use, cards: tuple[Card, ...], first: int) -> list[Share]:
    parts = tuple(peak(view, use))
    known: dict[tuple[int, int], Share] = {}
    out = []
    alike = len({card.room for card in cards}) == 1
    for place, card in enumerate(cards[:MOST_SHARES] if alike else cards):
        key = (card.room, card.total)
        known.setdefault(key, share(first + place, card, parts))
        out.append(msgspec.structs.replace(known[key], gpu=first + place, card=card))
    return out


def share(gpu: int, card: Card, parts: tuple[Part, ...]) -> Share:
    """The sum of the parts beside what the card has; errors of parts add up as independent ones do."""
    size = sum(one.bytes for one in parts)
    less = math.sqrt(sum((one.bytes - one.least) ** 2 for one in parts))
    more = math.sqrt(sum((one.most - one.bytes) ** 2 for one in parts))
    least, most = int(size - less), int(size + more)
    held = sum(one.bytes for one in parts if one.name not in OUTSIDE)
    given = int(GIVEN * sum(one.bytes for one in parts if one.name == "fragmentation"))
    return Share(
        gpu, card, parts, size, least, most, status_of(size - given, most - given, card.room), held, size - given
    )


def status_of(size: int, most: int, room: int) -> Status:
    """Fits even where the estimate is too low, fits by the estimate, or does not."""
    return "fits" if most <= room else "only_just" if size <= room else "does_not_fit"


def about(model: Model) -> About:
    """The model in a few values."""
    arch = model.architecture
    how: How = "know" if model.how.value == "know" else "saw"
    return About(
        model.path,
        model.format,
        arch.name if arch else "",
        arch.kind if arch else "unknown",
        model.parameters,
        model.bytes,
        model.files,
        how,
        model.quantisation or "",
    )


def headline(found: Fit) -> str:
    """The first line."""
    worst = found.shares[0]
    name = found.model.name or found.model.path.rstrip("/").rpartition("/")[2]
    what = {"inference": "inference", "train": "training", "lora": "LoRA training"}[found.use.task]
    spread = shown((found.most - found.least) / 2)
    where = worst.card.name if len(found.shares) == 1 else f"{_all(found)} (GPU {worst.gpu} is the fullest)"
    if found.status == "does_not_fit":
        sure = "" if found.least > found.room else "probably "
        taken, much = f"{shown(worst.needs)} of {shown(found.room)}", f"{shown(-found.margin)} too much (± {spread})"
        return f"{name}: {what} {sure}does not fit into {where}: about {taken}, {much}"
    words = {"fits": "fits into", "only_just": "only just fits into", "unknown": "may fit into"}[found.status]
    spare = f"{shown(max(0, found.room - found.bytes))} to spare (± {spread})"
    return f"{name}: {what} {words} {where}: about {shown(found.bytes)} of {shown(found.room)}, {spare}"


def _all(found: Fit) -> str:
    ranks = found.use.tp * found.use.pp * found.use.gpus
    names = dict.fromkeys(share.card.name for share in found.shares)
    return f"{ranks} GPUs, {' and '.join(names)}"


def _kind(model: Model) -> str:
    return model.architecture.kind if model.architecture else "unknown"


def _blind(model: Model, use: Use) -> bool:
    """Whether the activations could not be counted at all."""
    view = views(model, msgspec.structs.replace(use, tp=1, pp=1, gpus=1), ())[0]
    return view.shape is None and view.net is None


def _unknown(model: Model, use: Use) -> tuple[str, ...]:
    out = list(model.unknown)
    others = [one.name for one in model.parts if one.model.architecture is not model.architecture]
    if others:
        out.append(
            f"activations are those of the main part alone, not of {', '.join(others)}, whose weights are counted"
        )
    if _blind(model, use):
        out.append(
            "the layers are not known, so activations are not counted: weights and the framework's own memory are"
        )
    return tuple(out)


def _notes(model: Model, use: Use) -> tuple[str, ...]:
    """What was taken for granted."""
    view = views(model, msgspec.structs.replace(use, tp=1, pp=1, gpus=1), ())[0]
    return (*_notes_on_pictures(model, view, use), *(_notes_on_tokens(view, view.shape, use) if view.shape else ()))


def _notes_on_pictures(model: Model, view: View, use: Use) -> Iterator[str]:
    if view.net is not None and not view.net.sure:
        yield "the strides of the convolutions are not in the files: the image is taken to halve where channels double"
    told = model.architecture.image if model.architecture else None
    if use.image == IMAGE != told:
        yield f"pictures of {IMAGE} × {IMAGE}: --image says otherwise"


def _notes_on_tokens(view: View, shape: Shape, use: Use) -> Iterator[str]:
    if not shape.known:
        yield "the files leave out a part of the architecture; it was taken from the tensors' shapes"
    if use.attention == "fused":
        if act.spared(shape, width_of(view, use), True, use.framework):
            yield "attention by a fused kernel (SDPA, flash); --attention eager counts the whole matrix of scores"
        else:
            yield "torch has no fused attention for grouped heads in f32: the whole matrix of scores is counted"
    if use.task == "inference" and use.logits == "last" and shape.causal:
        yield "logits of the last token only, as generate() asks for; --logits all for a plain forward pass"
