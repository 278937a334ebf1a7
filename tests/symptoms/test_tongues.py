"""Ends told in the forms of other languages and tools: their words decide, whatever was noted before them."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text, read_text

NOTE = (
    "2026-11-10 09:12:01.3: E external/local_xla/xla/stream_executor/cuda/cuda_driver.cc:152] failed call to cuInit: "
    "INTERNAL: CUDA error: Failed call to cuInit: UNKNOWN ERROR (303)\n"
    "[12.1] NVRM: Xid (PCI:0000:65:00): 31, pid=88121, name=other_job, MMU Fault\n"
)
OWN = {
    "perl": "Can't open 'results/gpu_metrics.tsv': No such file or directory at collect.pl line 31.",
    "ruby": 'dispatcher.rb:44:in `fetch\': key not found: "CUDA_VISIBLE_DEVICES" (KeyError)',
    "php": "PHP Fatal error:  Uncaught Error: Call to undefined function gpu_label() in /srv/report.php:77",
    "lua": "lua: client.lua:18: attempt to index a nil value (global 'gpu')\nstack traceback:\n\tclient.lua:18: in main",
    "julia": "ERROR: LoadError: UndefVarError: `batchsize` not defined\nStacktrace:\n [1] top-level scope",
    "r": "Error in library(gputools) : there is no package called ‘gputools’\nExecution halted",
    "haskell": "sim: Prelude.head: empty list\nCallStack (from HasCallStack):\n  error, called at List.hs:1646:3",
    "elixir": "** (KeyError) key :lr not found in: %{batch: 32}",
    "ocaml": "Fatal error: exception Not_found",
    "zig": "thread 20211 panic: index out of bounds: index 8, len 8\nAborted (core dumped)",
    "fortran": "Fortran runtime error: End of file",
    "dotnet": "Unhandled exception. System.IO.FileNotFoundException: Could not find file '/data/gpu/run7.json'.",
    "go": "panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.pickGPU(...)",
    "rust": "thread 'worker-3' panicked at src/queue.rs:12:9:\nindex out of bounds: the len is 4 but the index is 4\n"
    "stack backtrace:\n   0: rust_begin_unwind\n   2: gpu_queue::pop",
}


@pytest.mark.parametrize("tongue", OWN)
def test_an_end_of_its_own_leaves_nothing_to_what_was_noted(tongue):
    told = explain_text(NOTE + OWN[tongue] + "\n")
    assert told.ending.own
    assert [cause.id for cause in told.causes][:1] == ["other.not_gpu"]


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("thread 'main' panicked at src/main.rs:20:55:\ncalled `Result::unwrap()` on an `Err` value: "
         'Cuda(Cuda(DriverError(CUDA_ERROR_OUT_OF_MEMORY, "out of memory")))', "memory.oom"),
        ("ERROR: LoadError: CUDA error: an illegal memory access was encountered (code 700, ERROR_ILLEGAL_ADDRESS)\n"
         "Stacktrace:\n [1] throw_api_error", "program.illegal_access"),
        ("panic: Unable to initialize NVML: Driver/library version mismatch\n\ngoroutine 1 [running]:\nmain.main()",
         "driver.library_mismatch"),
        ("Error using gpuArray/mtimes\nOut of memory on device. To view more detail about available memory on the GPU, "
         "use 'gpuDevice()'.\n\nError in train (line 22)", "memory.oom"),
        ('Exception in thread "main" ai.djl.engine.EngineException: CUDA error: no kernel image is available for '
         "execution on the device\n\tat ai.djl.pytorch.jni.PyTorchLibrary.run(Native Method)", "framework.gpu_unsupported"),
    ],
)  # fmt: skip
def test_a_failure_of_the_stack_in_the_same_forms_is_named(text, cause):
    assert explain_text(text + "\n").causes[0].id == cause


def test_names_that_somebody_gave_say_nothing_of_the_gpu():
    told = read_text("step 1\nError: INSTALLATION FAILED: cannot re-use a name that is still in use: gpu-operator\n")
    assert told.ending.own
    assert not told.ending.near


def test_a_word_that_only_something_failed_is_no_reason():
    assert not read_text("nvidia-smi: Failed to initialize NVML\ncommand failed at watch.pl line 9.\n").ending.own
