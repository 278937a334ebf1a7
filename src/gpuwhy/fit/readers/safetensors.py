"""safetensors: a length, then JSON with each tensor's type, shape and place; and the index over several such files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from gpuwhy.fit import dtypes
from gpuwhy.fit.forms import forms_of
from gpuwhy.fit.model import Tensor, Unreadable
from gpuwhy.fit.source import MOST_TENSORS, Source, Store, inside, shape_of

MOST_HEADER = 40 << 20
_TYPES = {
    "F64": "f64", "F32": "f32", "F16": "f16", "BF16": "bf16", "I64": "i64", "U64": "u64", "I32": "i32", "U32": "u32",
    "I16": "i16", "U16": "u16", "I8": "i8", "U8": "u8", "BOOL": "bool", "C64": "c64", "F8_E4M3": "f8_e4m3",
    "F8_E5M2": "f8_e5m2", "F8_E8M0": "f8_e8m0", "F8_E4M3FNUZ": "f8_e4m3fnuz", "F8_E5M2FNUZ": "f8_e5m2fnuz",
    "F4": "f4", "F6_E2M3": "f6", "F6_E3M2": "f6",
}  # fmt: skip
"""As the format writes them → as we do."""


class _Entry(msgspec.Struct):
    dtype: str
    shape: list[int]
    data_offsets: tuple[int, int]


def is_one(source: Source) -> bool:
    """Whether a file begins like one."""
    head = source.some(0, 9)
    return len(head) == 9 and head[8:] == b"{" and 2 <= int.from_bytes(head[:8], "little") <= source.size - 8


def read(source: Source) -> list[Tensor]:
    """The tensors of one file; raises Unreadable."""
    length = source.number(0, "<Q")
    if length > MOST_HEADER:
        raise Unreadable(f"its header claims {length:,} bytes: this is no safetensors file, or a damaged one")
    data = source.at(8, length, "its header")
    room = source.size - 8 - length
    entries = _entries(data)
    if sum(max(entry.data_offsets[1] - entry.data_offsets[0], 0) for entry in entries.values()) > room:
        raise Unreadable("its tensors need more bytes than it has: it is cut short, or they lie upon each other")
    return [_tensor(name, entry, room) for name, entry in entries.items()]


def _entries(data: bytes) -> dict[str, _Entry]:
    try:
        raw = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        raw.pop("__metadata__", None)
        if len(raw) > MOST_TENSORS:
            raise Unreadable(f"its header claims {len(raw):,} tensors")
        return {name: _decoder.decode(entry) for name, entry in raw.items()}
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Unreadable("its header is not the JSON of a safetensors file: it is damaged or cut short") from None


_decoder = msgspec.json.Decoder(_Entry)


def _tensor(name: str, entry: _Entry, room: int) -> Tensor:
    start, end = entry.data_offsets
    if not 0 <= start <= end <= room:
        raise Unreadable(f"the tensor {name[:80]} lies past the end of the file: it is cut short or still downloading")
    dtype = _TYPES.get(entry.dtype, "?")
    shape = shape_of(entry.shape, name)
    size = dtypes.size_of(dtype, shape)
    if size is not None and size != end - start:
        raise Unreadable(f"the tensor {name[:80]} needs {size:,} bytes by its shape, and has {end - start:,}")
    return Tensor(name, dtype, shape, end - start)


class Index(NamedTuple):
    """Which file holds which tensor."""

    files: dict[str, list[str]]  # file → names of its tensors
    total: int | None  # bytes, as it says


class _Meta(msgspec.Struct):
    total_size: int | float | None = None


class _Index(msgspec.Struct):
    weight_map: dict[str, str]
    metadata: _Meta | None = None


def read_index(source: Source) -> Index:
    """A `….index.json`; raises Unreadable."""
    try:
        found = msgspec.json.decode(source.at(0, source.size, source.name), type=_Index)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Unreadable(f"{source.name} is no index of a model: it has no weight_map, or is damaged") from None
    files: dict[str, list[str]] = {}
    for name, file in found.weight_map.items():
        files.setdefault(file, []).append(name)
    total = found.metadata.total_size if found.metadata else None
    return Index({inside(file): names for file, names in files.items()}, int(total) if total else None)


Reader = Callable[[Source], list[Tensor]]


class Read(NamedTuple):
    """What an index and its files gave."""

    tensors: list[Tensor]
    unknown: list[str]
    opened: int
    partial: bool  # the index names tensors that are not among them


def read_sharded(store: Store, index: Index, folder: str = "", of: Reader = read) -> Read:
    """The tensors of all files; as many are opened as tell the rest by likeness, with the total as proof."""
    there = [file for file in index.files if store.size(folder + file) is not None]
    shards = _Shards(store, folder, of, index)
    for file in there:
        if not shards.known_forms(file):
            shards.open(file)
    tensors = shards.likened(list(index.files))
    if sum(one.bytes for one in tensors) != index.total:  # no proof: every file has to tell itself
        for file in there:
            shards.open(file)
        tensors = shards.likened(there)
    named = sum(map(len, index.files.values()))
    return Read(tensors, list(_told(index, there, tensors)), len(shards.opened), len(tensors) < named)


class _Shards:
    """The files of an index, as far as they were opened."""

    def __init__(self, store: Store, folder: str, of: Reader, index: Index) -> None:
        self._store, self._folder, self._of, self._index = store, folder, of, index
        self._forms_in = {file: forms_of(names) for file, names in index.files.items()}
        self._known: dict[str, Tensor] = {}
        self._forms: dict[str, Tensor] = {}
        self.opened: set[str] = set()

    def known_forms(self, file: str) -> bool:
        """Whether something like each of its tensors was seen."""
        return self._forms.keys() >= set(self._forms_in[file])

    def open(self, file: str) -> None:
        """Take the header of one of them."""
        if file in self.opened:
            return
        self.opened.add(file)
        found = self._of(self._store.open(self._folder + file))
        self._known.update((one.name, one) for one in found)
        for form, one in zip(forms_of([one.name for one in found]), found, strict=True):
            self._forms.setdefault(form, one)

    def likened(self, files: list[str]) -> list[Tensor]:
        """The tensors that the index names: as their file told them, or like another of their form."""
        out = []
        known, forms = self._known, self._forms
        for file in files:
            if file in self.opened:
                out += [known[name] for name in self._index.files[file] if name in known]
                continue
            for name, form in zip(self._index.files[file], self._forms_in[file], strict=True):
                like = forms.get(form)
                if like is not None:
                    out.append(Tensor(name, like.dtype, like.shape, like.bytes))
        return out


def _told(index: Index, there: list[str], tensors: list[Tensor]) -> Iterator[str]:
    total = sum(one.bytes for one in tensors)
    missing = list(index.files.keys() - set(there))
    named = sum(len(names) for names in index.files.values())
    if missing:
        first = min(missing)[:80]
        files = (
            f"{len(missing)} of {len(index.files)} files of the index are not here ({first}{' …' * (len(missing) > 1)})"
        )
        proof = "the rest is counted like its neighbours, and the index's total agrees"
        yield f"{files}: {proof if total == index.total else f'{named - len(tensors):,} tensors are not counted'}"
    elif named > len(tensors):
        yield f"{named - len(tensors):,} of {named:,} tensors of the index are in none of its files"
    elif index.total is not None and index.total != total:
        yield f"the index says {index.total:,} bytes, the headers of its files {total:,}: the headers are counted"
