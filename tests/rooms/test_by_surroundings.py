"""One cause, other surroundings: program, launcher, distribution and the place of a variable choose the fix."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text

_TWICE = "ncclInvalidUsage: invalid usage\nDuplicate GPU detected : rank 1 and rank 0 both on CUDA device 1000\n"
_OLD = "RuntimeError: CUDA driver version is insufficient for CUDA runtime version\n"
_TLS = "ImportError: /usr/lib/libgomp.so.1: cannot allocate memory in static TLS block\n"
_BF16 = "ValueError: Bfloat16 is only supported on GPUs with compute capability of at least 8.0.\n"

_SCRIPT = '  File "select.py", line 1, in <module>\n    import torch\nAttributeError: module has no attribute x\n'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"#SBATCH --ntasks-per-node=4\n{_TWICE}", "SLURM_LOCALID"),
        (_TWICE, "torchrun"),
        (f"CentOS Linux release 8\n{_OLD}", "dnf module install"),
        (f"Ubuntu 22.04\n{_OLD}", "ubuntu-drivers"),
        (f"in a Jupyter notebook:\n{_TLS}", "kernel.json"),
        (f"{_BF16}You can use float16 by setting the `dtype` flag in CLI\n", "--dtype half"),
        (_BF16, "fp16=True"),
        ("Error: llama runner process has terminated: cudaMalloc failed: out of memory\n", "num_gpu"),
        ("RuntimeError: my_kernels 0.1 is installed which is less than the minimum required version 0.5\n", ">=0.5"),
        (_SCRIPT, "mv select.py"),
    ],
)  # fmt: skip
def test_the_first_fixes_are_for_this_user(text: str, words: str) -> None:
    most = 4 if words == "SLURM_LOCALID" else 2  # behind the cure that others found, and its steps
    fixes = explain_text(text).causes[0].fixes[:most]
    assert words in " ".join(f"{fix.text} {fix.command}" for fix in fixes)
