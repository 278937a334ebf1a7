"""What programs of one run leave to each other, limits that a program sets itself, and calls that it makes itself."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text
from gpuwhy.symptoms.ending import ending_of
from gpuwhy.symptoms.own import judged

FIRST = 'Traceback (most recent call last):\n  File "/w/{file}", line 3, in <module>\n    x = torch.ones(9, device="cuda:6")\ntorch.AcceleratorError: CUDA error: invalid device ordinal\n'
THEN = (
    'Traceback (most recent call last):\n  File "/w/report.py", line 1, in <module>\n    open("features.npz")\n{said}\n'
)
MISSED = "FileNotFoundError: [Errno 2] No such file or directory: 'features.npz'"


def first(text: str) -> str:
    causes = explain_text(text).causes
    return causes[0].id if causes else ""


@pytest.mark.parametrize(
    ("file", "said", "own"),
    [
        ("features.py", MISSED, False),  # another program of the run ended before, and may have had to write it
        ("report.py", MISSED, True),  # the same program went on after it
        ("features.py", "KeyError: 'lr'", True),
    ],
)
def test_a_file_that_an_earlier_program_did_not_write_is_no_end_of_its_own(file, said, own):
    ending = judged(ending_of(FIRST.format(file=file) + THEN.format(said=said), exit_code=1))
    assert ending.line == 8
    assert ending.own is own


def test_a_queue_that_stays_empty_is_not_what_ended_the_run():
    fed = 'Traceback (most recent call last):\n  File "/usr/lib/python3.12/multiprocessing/queues.py", line 264, in _feed\n    obj = dumps(obj)\nRuntimeError: unable to allocate shared memory(shm) for file </torch_1_2_0>: No space left on device (28)\n'
    waited = 'Traceback (most recent call last):\n  File "/w/main.py", line 9, in <module>\n    q.get(timeout=9)\n_queue.Empty\n'
    assert ending_of(fed + waited, exit_code=1).line == 4
    assert ending_of(waited, exit_code=1).name == "Empty"


OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {wanted}. GPU 0 has a total capacity of 79.10 GiB of which 60.00 GiB is free."
    + "".join(f" Process {pid} has 612.00 MiB memory in use." for pid in range(5000, 5009))
    + " Including non-PyTorch memory, this process has 3.30 GiB memory in use. Process 77 has 1.00 GiB memory in use. 3.00 GiB allowed;"
    " Of the allocated memory {used} is allocated by PyTorch, and {idle} is reserved by PyTorch but unallocated."
)


@pytest.mark.parametrize(
    ("wanted", "used", "idle", "cause"),
    [
        ("1.20 GiB", "600.00 MiB", "2.20 GiB", "memory.fragmentation"),  # both would fit into the limit together
        ("1.20 GiB", "2.40 GiB", "300.00 MiB", "memory.oom"),
        ("9.00 GiB", "256.00 MiB", "0 bytes", "memory.oom"),
    ],
)
def test_below_a_limit_of_its_own_the_rest_of_the_card_is_no_matter(wanted, used, idle, cause):
    assert first(OOM.format(wanted=wanted, used=used, idle=idle)) == cause


RAISED = 'torch works\nTraceback (most recent call last):\n  File "/w/io.py", line 15, in <module>\n    do("x")\n  File "/w/io.py", line 9, in do\n    raise OSError(f"{{name}}: {{words}}")\nOSError: {said}\n'


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (RAISED.format(said="cudaHostRegister: part or all of the requested memory range is already mapped"), "program.order"),
        (RAISED.format(said="own.scale: status 700: an illegal memory access was encountered"), "program.illegal_access"),
        (RAISED.format(said="own.scale: status 209: no kernel image is available for execution on the device"), "framework.gpu_unsupported"),
        ("wave: result gave cudaErrorNotPermitted (operation not permitted)\n", "program.order"),
        ("wave: cudaIpcOpenMemHandle(&p, h, 1) gave cudaErrorNotPermitted (operation not permitted)\n", "driver.permission"),
        ("wave: cudaMemcpyFromSymbol(&v, name, 4) gave cudaErrorInvalidSymbol (invalid device symbol)\n", "program.build"),
        ("wave: cuMemExportToShareableHandle(&fd, h, t, 0) gave CUDA_ERROR_INVALID_VALUE\n", "program.shape"),
        ("checking for -lcutensor... no\nconfigure: error: libcutensor is required for contractions\n", "program.build"),
    ],
)  # fmt: skip
def test_what_the_program_calls_itself(text, cause):
    assert first(text) == cause


def test_a_function_asked_of_a_library_by_its_name():
    text = 'Traceback (most recent call last):\n  File "/w/a.py", line 6, in <module>\n    d.cuDeviceGetCounts(None)\n  File "/usr/lib/python3.12/ctypes/__init__.py", line 397, in __getitem__\n    func = self._FuncPtr((name, self))\nAttributeError: /usr/lib64/libcuda.so.1: undefined symbol: cuDeviceGetCounts\n'
    assert first(text) == "framework.extension_abi"
    bound = text.replace("/w/a.py", "/v/lib/python3.12/site-packages/pynvml/nvml.py")
    assert first(bound) == "driver.too_old"


def test_a_launchers_word_for_an_exit_code_accuses_no_peer():
    said = (
        "-" * 70
        + "\nPrimary job  terminated normally, but 1 process returned\na non-zero exit code. Per user-direction, the job has been aborted.\n"
        + "-" * 70
    )
    assert (
        first(
            f"/usr/bin/ld: cannot find -lcudart_static: No such file or directory\ncollect2: error: ld returned 1 exit status\n{said}\n"
        )
        == "program.build"
    )


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ('RuntimeError: torch_shm_manager at "/v/lib/python3.12/site-packages/torch/bin/torch_shm_manager": execl failed: Exec format error\n', "install.corrupted"),
        ("jax.errors.JaxRuntimeError: NOT_FOUND: No FFI handler registered for cusolver_syevd_ffi on a platform CUDA (canonical cuda)\n", "install.corrupted"),
        ("torch._inductor.exc.InductorError: InvalidCxxCompiler: No working C++ compiler found in torch._inductor.config.cpp.cxx: (None, 'clang++')\n", "program.build"),
    ],
)  # fmt: skip
def test_parts_of_an_environment_that_are_not_as_they_were(text, cause):
    assert first(text) == cause


def test_a_bus_error_beside_blocks_of_shared_memory_is_full_shared_memory():
    told = "run.sh: line 2:  4120 Bus error               python ring.py\n"
    left = "multiprocessing/resource_tracker.py:254: UserWarning: resource_tracker: There appear to be 1 leaked shared_memory objects to clean up at shutdown\n"
    assert first(told + left) == "memory.host"
