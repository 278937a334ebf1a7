"""PyTorch's files: tensor records are followed to their storages; what a pickle names never runs.

Every name that the pickle would import becomes a stand-in that only remembers what it was given.
"""

from __future__ import annotations

import io
import pickle
import re
import sys
from collections import OrderedDict
from collections.abc import Iterator
from typing import Any, ClassVar

from gpuwhy.fit import dtypes
from gpuwhy.fit.model import MOST_NAME, MOST_TENSORS, Source, Tensor, Unreadable, shape_of
from gpuwhy.formats import MalformedError
from gpuwhy.formats.zip import open_member, read_members

MARKS = (b"PK\x03\x04", bytes.fromhex("80028a0a6cfc9c46f9206aa85019"))
"""How the zip form begins, and the older one: a pickle of a number of ten bytes."""
_MOST_PICKLE, _DEEPEST = 40 << 20, 200
_TRAINING = ("optim", "opt_", "lr_sched", "scheduler", "scaler", "rng", "amp", "random")
_LAYERS = ("_parameters", "_buffers", "_modules")
"""Where a module of torch.nn keeps what its state_dict names; not a part of a name."""
_DENSE = ("_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_tensor_v3", "_rebuild_qtensor")
_WRAPPED = ("_rebuild_parameter", "_rebuild_parameter_with_state", "_rebuild_from_type_v2")
_PLAIN = re.compile(
    r"(builtins|__builtin__)\.(bool|bytearray|bytes|complex|dict|float|frozenset|int|list|range|set"
    r"|slice|str|tuple|object)|collections\.\w+|copy_?reg\._reconstructor|_codecs\.encode"
    r"|(datetime|decimal|fractions|uuid|pathlib\S*|enum|random|logging)\.[A-Z]\w*"
    r"|argparse\.Namespace|types\.SimpleNamespace"
    r"|numpy\.(_?core\.(multiarray|numeric)\.\w+|dtype|ndarray|random\._pickle\.\w+_ctor)"
    r"|torch\.((_utils|_tensor)\._\w+|serialization\._get_layout|jit\._pickle\.\w+|device|dtype"
    r"|layout|strided|(b?float|q?u?int|complex|bool|half|double|long|short)\w*)"
)
"""What a pickle of tensors may name; and classes that are not Python's own."""


class _Made(dict[Any, Any]):
    """What a call would have made: whose it is, with what, and the state it was given."""

    called = ""
    args: tuple[Any, ...] = ()
    state: Any = None

    def __init__(self, *args: Any) -> None:
        super().__init__()
        self.args = args

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def append(self, value: Any) -> None:
        """A member of a list or a set."""
        self[len(self)] = value

    add = append

    def extend(self, values: Any) -> None:
        """Several members."""
        self.update(enumerate(values, len(self)))


class _Inert(pickle._Unpickler):
    """Imports nothing, calls nothing but stand-ins, and hashes nothing that could be endless."""

    stack: list[Any]
    append: Any
    pop_mark: Any
    dispatch: ClassVar[dict[int, Any]] = dict(pickle._Unpickler.dispatch)

    def find_class(self, module: str, name: str) -> Any:
        """A class of our own that only remembers."""
        root = module.partition(".")[0]
        own = root in (*sys.stdlib_module_names, "commands", "pip", "setuptools") or "." in name
        is_class = name.lstrip("_")[:1].isupper() and not own
        if not is_class and not _PLAIN.fullmatch(f"{module}.{name}"):
            said = f"its pickle would call {module}.{name}"[:120]
            raise Unreadable(f"{said} when it is loaded: do not load it")
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        return type("_Named", (_Made,), {"called": f"{module}.{name}"[:MOST_NAME]})

    def persistent_load(self, pid: Any) -> Any:
        """A storage, as its record names it."""
        return ("kept", pid)

    def _put(self, values: list[Any]) -> None:
        target = self.stack[-1]
        for key, value in zip(values[::2], values[1::2], strict=False):
            plain = key if isinstance(key, (str, int, float, bytes)) else len(target)
            target[plain] = value

    def _pair(self) -> None:
        value, key = self.stack.pop(), self.stack.pop()
        self._put([key, value])

    def _dict(self) -> None:
        values = self.pop_mark()
        self.append({})
        self._put(values)

    def _frozen(self) -> None:
        self.pop_mark()
        self.append(())

    dispatch[pickle.SETITEM[0]] = _pair
    dispatch[pickle.SETITEMS[0]] = lambda self: self._put(self.pop_mark())
    dispatch[pickle.DICT[0]] = _dict
    dispatch[pickle.ADDITEMS[0]] = lambda self: self.pop_mark()  # nobody needs members of a set
    dispatch[pickle.FROZENSET[0]] = _frozen


def _load(file: io.BytesIO) -> Any:
    try:
        return _Inert(file).load()
    except Unreadable:
        raise
    except Exception as error:  # a damaged pickle fails in as many ways as there are opcodes
        raise Unreadable(f"its pickle cannot be read ({type(error).__name__})") from None


def read(source: Source) -> tuple[list[Tensor], list[str]]:
    """The tensors of a file of torch.save, and what is not counted; raises Unreadable."""
    sizes: dict[str, int] = {}
    if source.some(0, 4) == MARKS[0]:
        pickled, sizes = _of_zip(source)
        file = io.BytesIO(pickled)
    else:
        file = io.BytesIO(source.some(0, _MOST_PICKLE))
        for _ in range(3):  # magic number, version, what the machine was
            _load(file)
    found = list(_walk(_load(file), "", set(), 0))
    if len(found) > MOST_TENSORS:
        raise Unreadable(f"it claims more than {MOST_TENSORS:,} tensors")
    left: dict[str, int] = {}  # of each storage, what no tensor has taken
    for name, _, _, storage, room in found:
        if sizes and sizes.get(storage, -1) < room:
            raise Unreadable(f"the storage of {name[:80]} is not in the archive as its record says")
        left[storage] = max(room, left.get(storage, 0))
    taken = [dtypes.size_of(one[1], one[2]) for one in found]
    for at in sorted(range(len(found)), key=lambda at: -taken[at]):  # the largest counts first
        storage = found[at][3]
        taken[at] = min(taken[at], left[storage])
        left[storage] -= taken[at]
    tensors = [Tensor(*one[:3], size) for one, size in zip(found, taken, strict=True)]
    own = [one for one in tensors if not one.name.lower().startswith(_TRAINING)]
    spare = sum(left.values())
    said = f"its storages hold {spare:,} bytes more than its tensors use: slices were saved"
    return own or tensors, [said] if spare else []


def _of_zip(source: Source) -> tuple[bytes, dict[str, int]]:
    """The pickle of an archive, and the bytes of each storage in it."""
    try:
        members = {one.name: one for one in read_members(source.some, source.size)}
        name = next((name for name in members if name.endswith("data.pkl")), "")
        if not name:
            raise Unreadable("it is a zip archive without data.pkl: no file of torch.save")
        size = members[name].size
        inner = Source(open_member(source.some, source.size, members[name]), size, name)
    except MalformedError as error:
        raise Unreadable(f"its zip archive cannot be read: {error.what}") from None
    folders = (f"{name[:-8]}data/", f"{name[:-8]}tensors/")
    held = {key.rpartition("/")[2]: members[key].size for key in members if key.startswith(folders)}
    return inner.at(0, size, "its pickle"), held


_Found = tuple[str, str, tuple[int, ...], str, int]
"""Name, type, shape, key of the storage, bytes of the storage."""


def _walk(value: Any, name: str, seen: set[int], depth: int) -> Iterator[_Found]:
    """Every tensor in what was read, with its path; each container once."""
    if id(value) in seen or depth > _DEEPEST or not isinstance(value, (dict, list, tuple)):
        return
    seen.add(id(value))
    made = value if isinstance(value, _Made) else _Made()
    if made.called.startswith("torch.") and made.args and (tensor := _tensor(made, name, 0)):
        yield tensor
        return
    for key, one in value.items() if isinstance(value, dict) else enumerate(value):
        inner = name if key in _LAYERS else f"{name}.{key}" if name else str(key)
        yield from _walk(one, inner[:MOST_NAME], seen, depth + 1)
    for part in (made.args, made.state):
        yield from _walk(part, name, seen, depth + 1)


def _tensor(made: _Made, name: str, depth: int) -> _Found | None:
    """The tensor of a record; None where it is no tensor's."""
    kind, args = made.called.rpartition(".")[2], made.args
    if kind in _WRAPPED and depth < 8:
        inner = args[2] if kind.startswith("_rebuild_from") and len(args) > 2 else args[0]
        if isinstance(inner, tuple) and isinstance(args[0], type):
            inner, called = _Made(*inner), getattr(args[0], "called", "")
            inner.called = called
        return _tensor(inner, name, depth + 1) if isinstance(inner, _Made) else None
    if kind not in _DENSE or len(args) < 3:
        return None
    kept: Any = args[0][1] if isinstance(args[0], tuple) and args[0][:1] == ("kept",) else ()
    plain = isinstance(kept, tuple) and len(kept) >= 5 and isinstance(kept[4], int)
    if not plain or not 0 <= kept[4] <= 1 << 50:
        raise Unreadable(f"the tensor {name[:80]} has no storage: it is no file of torch.save")
    dims = args[2].args[0] if isinstance(args[2], _Made) and args[2].args else args[2]
    word, bits = str(getattr(kept[1], "called", "")).removesuffix("Storage"), 0
    if kind.endswith("v3") and len(args) > 6:  # its storage is counted in bytes
        word, bits = str(getattr(args[6], "called", "")), 8
    dtype = dtypes.named(word.rpartition(".")[2])
    size = kept[4] * (bits or dtypes.bits(dtype)) // 8
    return name, dtype, shape_of(dims, name), str(kept[2]), size
