"""The readers of variables: from Python's syntax trees and from a library's strings."""

import pytest

pytest.importorskip("isal")
pytest.importorskip("packaging")

from tools.variables.binary_reads import names
from tools.variables.python_reads import Read, reads


@pytest.mark.parametrize(
    "source, read",
    [
        ('x = os.environ.get("TORCH_A_B", "0") == "1"', Read("TORCH_A_B", "bool", "0", ("1",))),
        ('x = int(os.environ["TORCH_N_THREADS"])', Read("TORCH_N_THREADS", "int")),
        ('x = os.getenv("XLA_ALLOC", "default").lower()', Read("XLA_ALLOC", "", "default")),
        ('if "TF_X_Y" in os.environ: pass', Read("TF_X_Y")),
        ('A = "TORCH_LOGS_X"\nos.environ.get(A)', Read("TORCH_LOGS_X")),
        ('N = _readenv("NUMBA_OPT_X", int, 3)', Read("NUMBA_OPT_X", "int", "3")),
        ('cache = env_bool("TRITON_C_A", True)', Read("TRITON_C_A", "bool", "True")),
        ('p = env_nvidia_tool("ptxas-blackwell")', Read("TRITON_PTXAS_BLACKWELL_PATH", "string")),
        ('c = Config(default=1, env_name_force="TORCHINDUCTOR_F_C")', Read("TORCHINDUCTOR_F_C", "bool")),
        ("x = bool_state(name='jax_enable_foo', default=False, help='')", Read("JAX_ENABLE_FOO", "bool", "False")),
        ("x = enum_state(name='jax_p', enum_values=['a', 'b'], default='a')", Read("JAX_P", "enum", "a", ("a", "b"))),
    ],
)  # fmt: skip
def test_python(source, read):
    assert reads(source) == [read]


def test_what_is_no_read():
    assert reads('os.environ["TORCH_A_B"] = "1"\nprint("TORCH_A_B")\nget("HOME")') == []


def test_strings_of_a_library():
    library = b"\0NCCL_DEBUG\0xNCCL_NOT\0NCCL_ALGO\0CUDA_ERROR_UNKNOWN\0NCCL_P2P_\0TF_OK\0TF_GPU_ALLOCATOR\0"
    pieces = [library[:9], library[9:40], library[40:]]
    assert names(pieces, ("NCCL", "TF", "CUDA")) == {"NCCL_DEBUG", "NCCL_ALGO", "TF_GPU_ALLOCATOR"}
