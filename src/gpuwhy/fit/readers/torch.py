"""PyTorch's files, zip and older, without unpickling: tensor records are followed to their storages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from gpuwhy.fit import dtypes
from gpuwhy.fit.model import Tensor, Unreadable
from gpuwhy.fit.readers.pickled import Global, Kept, Machine, Made
from gpuwhy.fit.source import MOST_NAME, MOST_TENSORS, Cursor, Source, shape_of
from gpuwhy.formats import MalformedError
from gpuwhy.formats.zip import Member, open_member, read_members

MAGIC = bytes.fromhex("80028a0a6cfc9c46f9206aa85019")
"""The first pickle of the older form: a number of ten bytes."""
_STORAGES = {
    "FloatStorage": "f32", "HalfStorage": "f16", "BFloat16Storage": "bf16", "DoubleStorage": "f64", "CharStorage": "i8",
    "ByteStorage": "u8", "ShortStorage": "i16", "IntStorage": "i32", "LongStorage": "i64", "BoolStorage": "bool",
    "ComplexFloatStorage": "c64", "ComplexDoubleStorage": "c128", "QInt8Storage": "i8", "QUInt8Storage": "u8",
    "QInt32Storage": "i32", "QUInt4x2Storage": "u4", "QUInt2x4Storage": "u2",
}  # fmt: skip
_SILENT = (
    "torch.",
    "collections.",
    "builtins.",
    "__builtin__.",
    "copyreg.",
    "copy_reg.",
    "numpy.",
    "_codecs.",
    "__torch__.",
)
_DEEPEST = 200
_FLAT = "._flat_weights."
"""Where a recurrent layer of a script holds its weights once more."""


class Contents(NamedTuple):
    """What one file holds."""

    tensors: list[Tensor]
    unknown: list[str]


class _Found(NamedTuple):
    name: str
    dtype: str
    shape: tuple[int, ...]
    storage: Any  # key; None where there is none
    room: int  # elements of the storage
    place: int  # first element in it


def is_zip(source: Source) -> bool:
    """Whether it begins as a zip archive does."""
    return source.some(0, 4) == b"PK\x03\x04"


def members(source: Source) -> dict[str, Member]:
    """The directory of a zip archive; raises Unreadable."""
    try:
        return {one.name: one for one in read_members(source.pread, source.size)}
    except MalformedError as error:
        raise Unreadable(f"its zip archive cannot be read: {error.what}") from None


def member(source: Source, one: Member) -> Source:
    """One file of a zip archive."""
    try:
        return source.within(open_member(source.pread, source.size, one), one.size, one.name)
    except MalformedError as error:
        raise Unreadable(f"{one.name[:80]} in its zip archive cannot be read: {error.what}") from None


def read_zip(source: Source, inside: dict[str, Member]) -> Contents:
    """The zip form, since torch 1.6."""
    name = next((name for name in inside if name.endswith("data.pkl")), None)
    if name is None:
        raise Unreadable("it is a zip archive without data.pkl: no file of torch.save")
    machine = Machine(Cursor(member(source, inside[name])))
    contents = _contents(machine)
    folders = (f"{name[:-8]}data/", f"{name[:-8]}tensors/")  # torch 1.4 has the second
    _check(contents, {key.rpartition("/")[2]: one.size for key, one in inside.items() if key.startswith(folders)})
    return _shared(contents, machine)


def read_legacy(source: Source) -> Contents:
    """The older form: pickles one after another, then the storages."""
    cursor = Cursor(source)
    for _ in range(3):  # magic number, version, what the machine was
        Machine(cursor).run()
    machine = Machine(cursor)
    contents = _contents(machine)
    room = sum({one.storage: one.room * _width(one.dtype) for one in contents if one.storage is not None}.values())
    if cursor.place + room > source.size:
        raise Unreadable(
            f"its storages need {room:,} bytes and {source.size - cursor.place:,} are there: it is cut short"
        )
    return _shared(contents, machine)


def _contents(machine: Machine) -> list[_Found]:
    found = []
    for one in _walk(machine.run(), "", set(), 0):
        found.append(one)
        if len(found) > MOST_TENSORS:
            raise Unreadable(f"it claims more than {MOST_TENSORS:,} tensors")
    return found


def _walk(value: Any, name: str, seen: set[int], depth: int) -> Iterator[_Found]:
    """Every tensor in what was read, with its path; each container once."""
    if isinstance(value, Made) and (rebuilt := _rebuilt(value, name, 0)):
        yield from rebuilt
        return
    if not isinstance(value, (Made, list, tuple)) or id(value) in seen or depth > _DEEPEST:
        return
    seen.add(id(value))
    if isinstance(value, Made):
        yield from _walk_made(value, name, seen, depth)
        return
    for number, one in enumerate(value):
        if isinstance(one, (Made, list, tuple)):
            yield from _walk(one, _joined(name, number), seen, depth + 1)


_LAYERS = ("_parameters", "_buffers", "_modules")
"""Where a module of torch.nn keeps what its state_dict tells; not a part of a name."""


def _walk_made(value: Made, name: str, seen: set[int], depth: int) -> Iterator[_Found]:
    pairs: list[tuple[Any, Any]]
    if value.name.endswith(("set", "deque")):
        pairs = list(enumerate(value.items))
    else:
        pairs = list(zip(value.items[::2], value.items[1::2], strict=False))
    for key, one in pairs:
        if isinstance(one, (Made, list, tuple)):
            yield from _walk(one, name if key in _LAYERS else _joined(name, key), seen, depth + 1)
    for part in (value.args, value.state):
        if isinstance(part, (Made, list, tuple)):
            yield from _walk(part, name, seen, depth + 1)


def _joined(name: str, key: Any) -> str:
    text = str(key) if isinstance(key, (str, int)) else type(key).__name__
    return f"{name}.{text}"[:MOST_NAME] if name else text[:MOST_NAME]


_DENSE = ("_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3", "_rebuild_qtensor")
_WRAPPED = ("_rebuild_parameter", "_rebuild_parameter_with_state", "_rebuild_device_tensor_from_cpu_tensor")
_SPARSE = ("_rebuild_sparse_tensor", "_rebuild_sparse_csr_tensor")


def _rebuilt(made: Made, name: str, depth: int) -> list[_Found]:
    """The tensors of a record; none where it is no tensor's."""
    args = made.args if isinstance(made.args, (tuple, list)) else ()
    if not args or depth > 8 or not made.name.startswith("torch."):
        return []
    kind = made.name.rpartition(".")[2]
    if kind in _WRAPPED:
        return _rebuilt(args[0], name, depth + 1) if isinstance(args[0], Made) else []
    return _rebuilt_of(kind, args, name, depth) if len(args) >= 2 else []


def _rebuilt_of(kind: str, args: Sequence[Any], name: str, depth: int) -> list[_Found]:
    if kind in _SPARSE:
        return _sparse(args[1], name, depth)
    if kind == "_rebuild_meta_tensor_no_storage":
        return [_Found(name, _dtype(args[0]), shape_of(_dims(args[1]), name), None, 0, 0)]
    if len(args) < 3:
        return []
    if kind in _DENSE:
        return _dense(args, name, args[6] if kind.endswith("v3") and len(args) > 6 else None)
    return _from_type(args, name, depth) if kind.startswith("_rebuild_from_type") else []


def _dense(args: Any, name: str, dtype: Any) -> list[_Found]:
    storage = args[0].id if isinstance(args[0], Kept) else None
    if not isinstance(storage, tuple) or len(storage) < 5 or storage[0] != "storage" or not _is_count(storage[4]):
        raise Unreadable(f"the tensor {name[:80]} has no storage: its pickle is not one of torch.save")
    kind = _storage_dtype(storage[1]) if dtype is None else _dtype(dtype)
    place = args[1] if isinstance(args[1], int) else 0
    count = (
        storage[4] if dtype is None else storage[4] // max(_width(kind), 1)
    )  # of bytes where the type stands outside
    key = str(storage[2]) if isinstance(storage[2], (str, int)) else ""
    return [_Found(name, kind, shape_of(_dims(args[2]), name), key, count, place)]


def _is_count(value: object) -> bool:
    return isinstance(value, int) and 0 <= value <= 1 << 50


def _from_type(args: Any, name: str, depth: int) -> list[_Found]:
    function, inner = args[0], args[2]
    if isinstance(function, Global) and isinstance(inner, tuple):
        return _rebuilt(Made(function.name, inner), name, depth + 1)
    return []


def _sparse(parts: Any, name: str, depth: int) -> list[_Found]:
    rows = (
        [one for one in parts if isinstance(one, Made) and one.name != "torch.Size"] if isinstance(parts, tuple) else []
    )
    words = ("indices", "values") if len(rows) < 3 else ("crow", "col", "values")
    return [
        row for word, one in zip(words, rows, strict=False) for row in _rebuilt(one, _joined(name, word), depth + 1)
    ]


def _dims(value: Any) -> tuple[int, ...]:
    if isinstance(value, Made) and value.name == "torch.Size" and isinstance(value.args, tuple) and value.args:
        value = value.args[0]
    if not isinstance(value, (tuple, list)):
        raise Unreadable("a tensor in it has a shape that is no list of numbers")
    return tuple(value)


def _dtype(value: Any) -> str:
    return dtypes.named(value.name) if isinstance(value, Global) else "?"


def _storage_dtype(value: Any) -> str:
    return _STORAGES.get(value.name.rpartition(".")[2], "?") if isinstance(value, Global) else "?"


def _width(dtype: str) -> int:
    return dtypes.BITS.get(dtype, 0) // 8


def _check(found: list[_Found], sizes: dict[str, int]) -> None:
    """Every storage is in the archive, as long as its record says."""
    for one in found:
        if one.storage is not None and sizes.get(one.storage, -1) < one.room * _width(one.dtype):
            raise Unreadable(f"the storage of {one.name[:80]} is not in the archive as its record says: it is damaged")


def _shared(found: list[_Found], machine: Machine) -> Contents:
    """Tensors with what each adds: of several in one storage the largest counts first, and none twice."""
    left: dict[Any, int] = {one.storage: one.room * _width(one.dtype) for one in found if one.storage is not None}
    whole = [dtypes.size_of(one.dtype, one.shape) or 0 for one in found]
    sizes = whole.copy()
    for number in sorted(range(len(found)), key=lambda number: (_FLAT in found[number].name, -whole[number])):
        storage = found[number].storage
        if storage is not None:
            sizes[number] = min(whole[number], left[storage])
            left[storage] -= sizes[number]
    tensors = [
        Tensor(one.name, one.dtype, one.shape, size)
        for one, size, all_of_it in zip(found, sizes, whole, strict=True)
        if size or not all_of_it or _FLAT not in one.name
    ]
    return Contents(tensors, _unknown(machine, sum(left.values())))


def _unknown(machine: Machine, spare: int) -> list[str]:
    out = []
    others = sorted(name for name in machine.named if not name.startswith(_SILENT) and "." in name)
    if others:
        names = ", ".join(name[:60] for name in others[:3]) + (" …" if len(others) > 3 else "")
        out.append(f"it holds objects of other kinds ({names}), of which only tensors are counted")
    if spare:
        out.append(f"its storages hold {spare:,} bytes more than its tensors use: slices were saved with the whole")
    return out


def is_optimizers(name: str) -> bool:
    """Whether a tensor's path says that it belongs to training, not to the model."""
    first = name.partition(".")[0].lower()
    return (
        first.startswith(("optim", "opt_", "lr_sched", "scheduler", "scaler", "rng", "amp", "random"))
        or "rng_state" in first
    )
