"""A checkpoint of torch.distributed (FSDP, Megatron): its `.metadata` names each tensor, its type and whole shape."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gpuwhy.fit import dtypes
from gpuwhy.fit.model import Model, Tensor, Unreadable
from gpuwhy.fit.readers.configured import named
from gpuwhy.fit.readers.pickled import Global, Machine, Made
from gpuwhy.fit.readers.torch import is_optimizers
from gpuwhy.fit.source import MOST_NAME, MOST_TENSORS, Cursor, Source, Store, shape_of

METADATA = ".metadata"


def model(store: Store) -> Model:
    """The model of such a folder; raises Unreadable."""
    tensors = read(store.open(METADATA))
    files = sum(name.endswith(".distcp") for name in store.names())
    own = tuple(one for one in tensors if not is_optimizers(one.name))
    beside = tuple(one for one in tensors if is_optimizers(one.name))
    unknown = (
        () if files else ("the files with the values (.distcp) are not here: they are counted as .metadata tells them",)
    )
    return named(Model(METADATA, "torch", own, unknown=unknown, files=files + 1, beside=beside))


def read(source: Source) -> list[Tensor]:
    """The tensors of `.metadata`; raises Unreadable."""
    entries = _field(Machine(Cursor(source)).run(), "state_dict_metadata")
    if not isinstance(entries, Made):
        raise Unreadable("its .metadata is not one of torch.distributed.checkpoint")
    return list(_tensors(entries))


def _tensors(entries: Made) -> Iterator[Tensor]:
    for number, (name, value) in enumerate(_pairs(entries)):
        if number > MOST_TENSORS:
            raise Unreadable(f"it claims more than {MOST_TENSORS:,} tensors")
        if isinstance(value, Made) and value.name.endswith(".TensorStorageMetadata") and isinstance(name, str):
            shape = shape_of(_size(_field(value, "size")), name)
            dtype = _dtype(_field(value, "properties"))
            yield Tensor(name[:MOST_NAME], dtype, shape, dtypes.size_of(dtype, shape) or 0)


def _pairs(made: Made) -> Iterator[tuple[Any, Any]]:
    yield from zip(made.items[::2], made.items[1::2], strict=False)


def _field(value: Any, name: str) -> Any:
    """A field of an object's state."""
    state = value.state if isinstance(value, Made) else None
    return next((one for key, one in _pairs(state) if key == name), None) if isinstance(state, Made) else None


def _size(value: Any) -> tuple[int, ...]:
    inner = value.args[0] if isinstance(value, Made) and isinstance(value.args, tuple) and value.args else ()
    return tuple(inner) if isinstance(inner, (tuple, list)) else ()


def _dtype(value: Any) -> str:
    state = value.state if isinstance(value, Made) else None
    first = state[0] if isinstance(state, tuple) and state else None
    return dtypes.named(first.name) if isinstance(first, Global) else "?"
