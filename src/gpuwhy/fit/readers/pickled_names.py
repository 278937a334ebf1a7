"""Which names a pickle of tensors may call: tensors', plain values', and classes that are not Python's own."""

from __future__ import annotations

import sys

_TORCH = (
    "_utils._rebuild_tensor", "_utils._rebuild_tensor_v2", "_utils._rebuild_tensor_v3", "_utils._rebuild_parameter",
    "_utils._rebuild_parameter_with_state", "_utils._rebuild_qtensor", "_utils._rebuild_sparse_tensor",
    "_utils._rebuild_sparse_csr_tensor", "_utils._rebuild_meta_tensor_no_storage", "_utils._rebuild_nested_tensor",
    "_utils._rebuild_device_tensor_from_numpy", "_utils._rebuild_device_tensor_from_cpu_tensor",
    "_utils._rebuild_xla_tensor",
    "_utils._rebuild_wrapper_subclass", "_utils._sparse_tensors_to_validate", "_tensor._rebuild_from_type_v2",
    "_tensor._rebuild_from_type", "serialization._get_layout", "device", "dtype", "layout",
    "jit._pickle.build_intlist", "jit._pickle.build_tensorlist", "jit._pickle.build_doublelist",
    "jit._pickle.build_boollist",
    "jit._pickle.build_tensor_from_id", "jit._pickle.restore_type_tag",
)  # fmt: skip
_NUMPY = ("multiarray._reconstruct", "multiarray.scalar", "multiarray._frombuffer", "numeric._frombuffer")
_PLAIN = {
    "builtins": "bool bytearray bytes complex dict float frozenset int list range set slice str tuple object NoneType",
    "collections": "OrderedDict defaultdict Counter deque",
    "copyreg": "_reconstructor",
    "_codecs": "encode",
    "datetime": "date datetime time timedelta timezone",
    "decimal": "Decimal", "fractions": "Fraction", "uuid": "UUID", "argparse": "Namespace", "types": "SimpleNamespace",
    "pathlib": "Path PosixPath WindowsPath PurePath PurePosixPath PureWindowsPath",
    "pathlib._local": "Path PosixPath WindowsPath",
    "logging": "Logger RootLogger", "random": "Random", "enum": "Enum IntEnum",
}  # fmt: skip
ALLOWED = frozenset(
    [f"torch.{name}" for name in _TORCH]
    + [f"{package}.{name}" for package in ("numpy.core", "numpy._core") for name in _NUMPY]
    + [
        "numpy.dtype",
        "numpy.ndarray",
        "numpy.random._pickle.__randomstate_ctor",
        "numpy.random._pickle.__generator_ctor",
    ]
    + [f"{module}.{name}" for module, names in _PLAIN.items() for name in names.split()]
    + ["__builtin__." + name for name in _PLAIN["builtins"].split()]
    + ["copy_reg._reconstructor", "torch.Size"]
)
_OWN = frozenset(sys.stdlib_module_names) | {
    "__builtin__",
    "copy_reg",
    "commands",
    "os2",
    "posix",
    "nt",
    "pip",
    "setuptools",
}


def allowed(name: str) -> bool:
    """Whether a call of it is one of a tensor, of a plain value, or of a class that is nobody's way to run code."""
    if name in ALLOWED:
        return True
    root, _, last = name.partition(".")[0], "", name.rpartition(".")[2]
    return root not in _OWN and last.lstrip("_")[:1].isupper()
