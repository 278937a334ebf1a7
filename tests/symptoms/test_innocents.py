"""Harmless notes of real frameworks and endings of real programs that are no matter of the GPU, composed at random.

lab/innocents.py composes thousands of them; this is a seeded sample of kept outputs.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from lab.innocents import Composed, accused, composed, rows

from gpuwhy.logs import explain_text
from gpuwhy.model.threshold import FOUND

HERE = Path(__file__).parent / "innocent"
SAMPLE = 60


def test_nobody_is_accused_of_what_only_preceded_the_end():
    texts = composed(rows(HERE / "notes.jsonl"), rows(HERE / "endings.jsonl"), random.Random(3), SAMPLE)
    assert [(one.name, found) for one in texts if (found := accused(one))] == []


def test_nor_where_another_language_or_tool_tells_its_end():
    texts = composed(rows(HERE / "notes.jsonl"), rows(HERE / "tongues.jsonl"), random.Random(7), SAMPLE)
    assert [(one.name, found) for one in texts if (found := accused(one))] == []


def test_nor_after_the_banner_of_another_program():
    texts = composed(rows(Path("texts")), rows(Path("ends")), random.Random(11), SAMPLE)
    assert [(one.name, found) for one in texts if (found := accused(one))] == []


def test_nor_by_a_text_in_which_nothing_failed():
    texts = (Composed(row["name"], row["log"], ()) for row in rows(Path("wholes")))
    assert [(one.name, found) for one in texts if (found := accused(one))] == []


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("raise MatReadError('cut')", "scipy.io.matlab.MatReadError: Mat file appears to be truncated"),
        ("raise ValueError(", "ValueError: Writing 2.0 files requires pyarrow>=21.0, while pyarrow 12 is installed."),
    ],
)
def test_a_package_for_data_speaks_of_data(code, message):
    log = f"""Using device: cuda:0 NVIDIA A40
Traceback (most recent call last):
  File "/home/mara/proj/train.py", line 12, in <module>
    save(features)
  File "/home/mara/proj/keep.py", line 8, in save
    np.save(path, features)
  File "/opt/venv/lib/python3.11/site-packages/h5py/io.py", line 236, in write
    {code}
{message}
"""
    first = next(iter(explain_text(log).causes))
    assert first.id == "other.not_gpu"


def test_a_traceback_that_the_program_does_without_is_no_end():
    log = """A matching Triton is not available, some optimizations will not be enabled
Traceback (most recent call last):
  File "/opt/venv/lib/python3.11/site-packages/xformers/__init__.py", line 57, in _is_triton_available
    import triton  # noqa
ModuleNotFoundError: No module named 'triton'
Traceback (most recent call last):
  File "/home/mara/proj/train.py", line 12, in <module>
    raise ValueError("fold 7 of 5")
ValueError: fold 7 of 5
"""
    assert next(iter(explain_text(log).causes)).id == "other.not_gpu"


def test_a_real_failure_after_the_same_notes_is_named():
    notes = rows(HERE / "notes.jsonl")
    ending = {
        "name": "oom",
        "log": "Traceback (most recent call last):\n"
        '  File "train.py", line 3, in <module>\n    x = torch.empty(1 << 40, device="cuda")\n'
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4096.00 GiB. "
        "GPU 0 has a total capacity of 79.15 GiB of which 78.64 GiB is free.\n",
    }
    named = [accused(one) for one in composed(notes, [ending], random.Random(3), 12)]
    assert [one[0] for one in named if one] == ["memory.oom"] * 12


FRAME = 'Traceback (most recent call last):\n  File "/home/mara/{file}", line 7, in <module>\n    {code}\n{end}\n'
OWN = {
    "a file's name": ("a.py", 'h5.open("runs/gpu_best.h5")', "FileNotFoundError: [Errno 2] No such file: 'runs/gpu_best.h5'"),
    "a key": ("a.py", 'plan["gpu"]', "KeyError: 'gpu'"),
    "own words": ("a.py", 'raise RuntimeError("simulator out of memory budget")', "RuntimeError: simulator out of memory budget"),
    "an archive": ("a.py", 'ZipFile("cudnn_notes.zip")', "zipfile.BadZipFile: File is not a zip file"),
    "a setting": ("a.py", "print(cfg.trainer.device)", "omegaconf.errors.InterpolationKeyError: Interpolation key 'hw.cuda.device' not found"),
    "a tool": ("a.py", "subprocess.run(cmd, check=True)", "subprocess.CalledProcessError: Command '['git', '-C', '/opt/cuda-samples', 'status']' returned non-zero exit status 128."),
    "a condition of a test": ("t.py", "self.assertEqual(parsed(line), wanted)", "AssertionError: 'off: Driver/library version mismatch' != 'off (Driver/library version mismatch)'"),
    "a value of a service": ("a.py", 'store.put("device", "cpu")', "mlflow.exceptions.MlflowException: Param 'device' was already logged with value='cuda'"),
}  # fmt: skip
LAST_WORDS = [
    "thread 'main' panicked at src/device.rs:41:9:\nindex out of bounds: the len is 2 but the index is 5",
    "Error: near line 3: out of memory",
    "[launcher] device=cuda:0\nrun.sh: line 2: DATA_DIR: unbound variable",
    "fatal: '/srv/git/gpu-kernels.git' does not appear to be a git repository",
    "_______ test_shape _______\n\n    def test_shape():\n>       assert f().shape == (2, 4)\nE       assert TensorShape([2, 3]) == (2, 4)\n\n"
    "test_model.py:5: AssertionError\n---- Captured stderr call ----\nE0000 00:00:1.0 1 cuda_platform.cc:52] failed call to cuInit: UNKNOWN ERROR (303)\n"
    "FAILED test_model.py::test_shape - assert TensorShape([2, 3]) == (2, 4)\n1 failed, 1 passed in 50.31s",
]  # fmt: skip


@pytest.mark.parametrize("name", OWN)
def test_a_name_is_no_word_of_the_stack(name):
    file, code, end = OWN[name]
    assert explain_text(FRAME.format(file=file, code=code, end=end)).causes[0].id == "other.not_gpu"


@pytest.mark.parametrize("text", LAST_WORDS)
def test_the_last_word_of_another_program(text):
    assert explain_text(text).causes[0].id == "other.not_gpu"


NOBODYS = [
    "gzip: stdin: unexpected end of file\ntar: Unexpected EOF in archive\ntar: Error is not recoverable: exiting now",
    "[info] gpu metrics disabled: libnvidia-ml.so.1: cannot open shared object file: No such file or directory\n[info] 1 sample; exiting normally",
    "ERROR pool: worker-3: CUDA error: an illegal memory access was encountered (attempt 1/3)\nINFO pool: jobs=120 done=120 retried=1 exit=0",
    "    GPU Reset Status\n        Reset Required                    : Requested functionality has been deprecated\n    Clocks Event Reasons\n            HW Thermal Slowdown           : Not Active",
    "device: Cuda(CudaDevice(DeviceId(1)))\nretrieved the files in 40µs\nError: cannot find tensor model.layers.0.self_attn.qkv_proj.weight",
    '**alloc.cc** line 12\n\n> +    if (st == cudaErrorMemoryAllocation) {\n> +      LOG(ERROR) << "CUDA out of memory. Tried to allocate " << bytes;\n\nnit: say which stream.',
]  # fmt: skip


@pytest.mark.parametrize("text", NOBODYS)
def test_what_nobody_of_the_stack_says_or_all_outlived_is_possible_at_most(text):
    assert all(one.confidence < FOUND or one.id == "other.not_gpu" for one in explain_text(text).causes)


@pytest.mark.parametrize(
    ("end", "cause"),
    [
        ("FileNotFoundError: [Errno 2] No such file or directory: '/usr/local/cuda/bin/nvcc'", "cuda.compiler_missing"),
        ("RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB", "memory.oom"),
        ("AttributeError: /opt/cuda-12.1/lib64/stubs/libcuda.so: undefined symbol: _undef", "driver.stub"),
    ],
)
def test_what_belongs_to_the_stack_still_does(end, cause):
    assert explain_text(FRAME.format(file="a.py", code="f()", end=end)).causes[0].id == cause
