"""The KV cache: what attention keeps of every token."""

from __future__ import annotations

from gpuwhy.fit.shape import Shape


def cached(shape: Shape, batch: int, tokens: int, size: float, block: int = 0) -> int:
    """Bytes of keys and values of `tokens` tokens in every sequence; `block` rounds up to whole pages."""
    layers = shape.decoder_layers or shape.layers
    seen = _paged(tokens, block)
    near = _paged(min(tokens, shape.window), block) if shape.window else seen
    whole = _whole(shape, layers) if shape.window else layers
    crossed = layers * seen if shape.decoder_layers else 0  # what the decoder keeps of the encoder's tokens
    return int(batch * size * row(shape) * (whole * seen + (layers - whole) * near + crossed))


def row(shape: Shape) -> int:
    """Elements that one layer keeps of one token: the compressed row of MLA, else keys and values."""
    return shape.kv_rank + shape.rope if shape.kv_rank else 2 * shape.value


def expanded(shape: Shape, batch: int, tokens: int, size: float) -> int:
    """The same where MLA's rows are kept expanded, as transformers does."""
    return int(batch * size * shape.layers * (shape.query + shape.value) * tokens)


def _whole(shape: Shape, layers: int) -> int:
    """Layers that see everything beside those with a window."""
    return layers // shape.window_every if shape.window_every else 0


def _paged(tokens: int, block: int) -> int:
    return -(-tokens // block) * block if block else tokens
