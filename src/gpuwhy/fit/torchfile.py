"""PyTorch's files: pickles are read as lists of opcodes, by a machine that can call nothing."""

import io
import pickletools
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

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
    r"|(datetime|decimal|pathlib\S*|enum|argparse|types)\.[A-Z]\w*"
    r"|numpy\.(_?core\.(multiarray|numeric)\.\w+|dtype|ndarray)"
    r"|torch\.((_utils|_tensor)\._\w+|serialization\._get_layout|jit\._pickle\.\w+|device|dtype"
    r"|layout|strided|(b?float|q?u?int|complex|bool|half|double|long|short)\w*)"
)
"""What a pickle of tensors may name; and classes that are not Python's own."""


@dataclass(eq=False)
class _Made:
    """A container, or what a call would have made: with which arguments, and what it holds."""

    called: str = ""
    args: tuple[Any, ...] = ()
    held: list[tuple[Any, Any]] = field(default_factory=list)


def _unpickled(file: io.BytesIO) -> Any:
    """The value of one pickle; raises Unreadable."""
    stack: list[Any] = []
    marks: list[int] = []
    memo: dict[Any, Any] = {}
    try:
        for op, arg, _ in pickletools.genops(file):
            name, before = op.name, op.stack_before
            start = len(stack) - len(before)
            if name == "MARK":
                marks.append(len(stack))
                continue
            if pickletools.markobject in before:
                start = marks.pop()
            taken = stack[start:]
            del stack[start:]
            if before[1:2] == [pickletools.markobject]:  # what it adds to lies below the mark
                taken.insert(0, stack.pop())
            if name == "MEMOIZE" or name.endswith("PUT"):
                memo[len(memo) if arg is None else arg] = taken[0] if taken else stack[-1]
            if name == "STOP":
                return taken[0]
            if op.stack_after:
                stack.append(memo[arg] if name.endswith("GET") else _value(name, arg, taken))
    except Unreadable:
        raise
    except Exception as error:  # a damaged pickle fails in as many ways as there are opcodes
        raise Unreadable(f"its pickle cannot be read ({type(error).__name__})") from None
    raise Unreadable("its pickle cannot be read: it does not end")


def _value(name: str, arg: Any, taken: list[Any]) -> Any:
    """What an opcode leaves on the stack."""
    if "TUPLE" in name:
        return tuple(taken)
    if name == "BINPERSID":
        return ("kept", taken[0])
    if name in ("GLOBAL", "STACK_GLOBAL"):
        return _named(*(arg.split(" ", 1) if arg else taken))
    if name in ("REDUCE", "NEWOBJ", "NEWOBJ_EX", "OBJ", "INST"):
        called = _named(*arg.split(" ", 1)) if name == "INST" else taken.pop(0)
        if not called.called:
            raise ValueError("a call of what is no name")
        given = taken[0] if name in ("REDUCE", "NEWOBJ") else taken
        return _Made(called.called, tuple(given))
    adds = name in ("APPEND", "APPENDS", "ADDITEMS", "SETITEM", "SETITEMS", "BUILD")
    if not adds and name not in _CONTAINERS:
        return taken[0] if taken else arg  # a plain value
    made, values = (taken[0], taken[1:]) if adds else (_Made(), taken)
    if name == "BUILD":
        made.held.append((None, values[0]))
    elif name in ("DICT", "SETITEM", "SETITEMS"):
        made.held.extend(zip(values[::2], values[1::2], strict=True))
    else:
        made.held.extend(enumerate(values, len(made.held)))
    return made


_CONTAINERS = ("EMPTY_LIST", "EMPTY_DICT", "EMPTY_SET", "LIST", "DICT", "FROZENSET")


def _named(module: str, name: str) -> _Made:
    """A name that the pickle would import; raises Unreadable where it is no tensor's."""
    root = module.partition(".")[0]
    own = root in (*sys.stdlib_module_names, "commands", "pip", "setuptools") or "." in name
    is_class = name.lstrip("_")[:1].isupper() and not own
    if not is_class and not _PLAIN.fullmatch(f"{module}.{name}"):
        said = f"its pickle would call {module}.{name}"[:120]
        raise Unreadable(f"{said} when it is loaded: do not load it")
    return _Made(f"{module}.{name}"[:MOST_NAME])


def read(source: Source) -> list[Tensor]:
    """The tensors of a file of torch.save; raises Unreadable."""
    file = io.BytesIO(source.some(0, _MOST_PICKLE))
    if source.some(0, 4) == MARKS[0]:
        try:
            members = read_members(source.some, source.size)
            found = next((one for one in members if one.name.endswith("data.pkl")), None)
            if found is None:
                raise Unreadable("it is a zip archive without data.pkl: no file of torch.save")
            inner = open_member(source.some, source.size, found)
        except MalformedError as error:
            raise Unreadable(f"its zip archive cannot be read: {error.what}") from None
        pickled = Source(inner, found.size, found.name).at(0, found.size, "its pickle")
        file = io.BytesIO(pickled)
    else:
        for _ in range(3):  # magic number, version, what the machine was
            _unpickled(file)
    rows = list(_walk(_unpickled(file), "", set(), 0))
    if len(rows) > MOST_TENSORS:
        raise Unreadable(f"it claims more than {MOST_TENSORS:,} tensors")
    left = {storage: room for _, storage, room in rows}  # what no tensor has taken
    tensors = {}
    for one, storage, _ in sorted(rows, key=lambda row: -row[0].bytes):  # the largest counts first
        size = min(one.bytes, left[storage])
        left[storage] -= size
        tensors[one.name] = Tensor(one.name, one.dtype, one.shape, size)
    own = [t for name, t in tensors.items() if not name.lower().startswith(_TRAINING)]
    return own or list(tensors.values())


_Found = tuple[Tensor, str, int]
"""A tensor, and the key and the bytes of its storage."""


def _walk(value: Any, name: str, seen: set[int], depth: int) -> Iterator[_Found]:
    """Every tensor in what was read, with its path; each container once."""
    if id(value) in seen or depth > _DEEPEST or not isinstance(value, (_Made, tuple)):
        return
    seen.add(id(value))
    made = value if isinstance(value, _Made) else _Made(args=value)
    if made.called.startswith("torch.") and made.args and (tensor := _tensor(made, name, 0)):
        yield tensor
        return
    for key, one in (*made.held, *enumerate(made.args)):
        inner = name
        if key is not None and key not in _LAYERS:
            key = key if isinstance(key, (str, int)) else "?"
            inner = f"{name}.{key}" if name else str(key)
        yield from _walk(one, inner[:MOST_NAME], seen, depth + 1)


def _tensor(made: _Made, name: str, depth: int) -> _Found | None:
    """The tensor of a record; None where it is no tensor's."""
    kind, args = made.called.rpartition(".")[2], made.args
    if kind in _WRAPPED and depth < 8:
        inner = args[0]
        if kind.startswith("_rebuild_from") and isinstance(inner, _Made) and len(args) > 2:
            inner = _Made(inner.called, args[2]) if isinstance(args[2], tuple) else None
        return _tensor(inner, name, depth + 1) if isinstance(inner, _Made) else None
    if kind not in _DENSE or len(args) < 3:
        return None
    kept: Any = args[0][1] if isinstance(args[0], tuple) and args[0][:1] == ("kept",) else ()
    plain = isinstance(kept, tuple) and len(kept) >= 5 and type(kept[4]) is int
    if not plain or not 0 <= kept[4] <= 1 << 50:
        raise Unreadable(f"the tensor {name[:80]} has no storage: it is no file of torch.save")
    dims = args[2].args[0] if isinstance(args[2], _Made) and args[2].args else args[2]
    word, bits = str(getattr(kept[1], "called", "")).removesuffix("Storage"), 0
    if kind.endswith("v3") and len(args) > 6:  # its storage is counted in bytes
        word, bits = str(getattr(args[6], "called", "")), 8
    dtype, shape = dtypes.named(word.rpartition(".")[2]), shape_of(dims, name)
    room = kept[4] * (bits or dtypes.bits(dtype)) // 8
    return Tensor(name, dtype, shape, dtypes.size_of(dtype, shape)), str(kept[2])[:MOST_NAME], room
