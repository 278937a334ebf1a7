"""program.fork in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re

from gpuwhy.model import on
from gpuwhy.model.signature import error, told
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.rooms.text.conditions import line, whole, with_
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.program_ways import not_forked
from gpuwhy.rooms.text.room import Text

_STARTS = re.compile(
    r"multiprocessing\.(?:Process|Pool)|\bmp\.(?:Process|Pool)|\bPool\(|os\.fork\(|ProcessPoolExecutor|ForkProcess|popen_fork|_worker_loop"
)
_BEFORE = re.compile(r"device_count\(|\.cuda\(|\.to\(|set_device\(|is_available\(|_lazy_init|initialization error")


def _forks(s: Symptom, r: Reading) -> bool:
    """The text shows processes that are started by fork, and CUDA that is used around it."""
    return bool(_STARTS.search(r.excerpt) and _BEFORE.search(r.excerpt)) and "spawn" not in r.excerpt


TEXT = Text(
    "program.fork",
    signatures=(
        error("program.forked", r"os\.fork\(\) (?:was called|is incompatible)"
              r"|\bfork(?:ed|ing)?\b[^\n]{0,40}\bmultithreaded\b[^\n]{0,60}\b(?:jax|cuda|deadlock)"
              r"|\binitiali[sz]ed before fork\w*", "os.fork()", "fork", covers=("title.", "python.", "harmless.")),
        told("remark.child",
             r"\b(?:of|from|by|in) (?:the |its )?(?:parent|master)(?: process)?\b[^\n]{0,60}\b(?:child|worker"
             r"|subprocess|fork)|\b(?:prefork|pre-fork|--preload|lazy-apps|multiprocessing\.pool)\b"
             r"|\bin (?:the |a )?(?:child|forked)(?: process)?\b|\bin another thread\b", "parent", "master", "prefork",
             "pre-fork", "--preload", "lazy-apps", "multiprocessing.pool", "child", "forked", "another thread"),
        error("remark.notebook", r"should only be initialized inside your training function"
              r"|no cells? initiali[sz]es? (?:an? )?`?(?:accelerator|cuda)", "inside your training function",
              "no cell", covers=("python.", "title.")),
        error("numba.forked", r"cuda initialized before forking", "initialized before forking"),
        error("program.fork", r"(?:cuda|gpu)[^\n]{0,60}\bfork(?:ed|ing)?\b|must use the 'spawn' start method", "fork", "'spawn' start method"),
        error("program.context", r"(?:invalid device context|no currently active context|context (?:stack|is destroyed|was not)|"
              r"cucontext|explicit_context_dependent failed|pycuda\.driver\.context)", "device context", "active context", "context stack",
              "cucontext", "explicit_context"),
        error("torch.fork", r"cannot re-initialize cuda in forked subprocess", "cuda in forked subprocess"),
        error("torch.fork_bad", r"poison_fork|in_bad_fork", "bad_fork"),
        error("torch.ipc", r"producer process has been terminated before all shared cuda tensors released"
              r"|send cuda tensor received from another process"
              r"|received (?:a )?cuda tensors? from (?:a|another) process", "shared cuda tensors", "cuda tensor"),
    ),
    clues=(
        ("program.forked", 3.6, "the process was forked after the framework had started its threads"),
        ("remark.child", 4.0, "the GPU was set up in the parent process, or another thread, and used in a child",
         with_("cuda.not_initialized", "cuda.initialization", "cuda.invalid_", "cuda.context", "said.dead_context",
               "cuda.invalid_context", "cuda.invalid_handle", "program.forked", "torch.fork")),
        ("remark.notebook", 4.6, "the notebook used the GPU before the processes were started"),
        ("cuda.unknown", 4.0, "the driver does not start in a process that was forked from one that had used CUDA", _forks),
        ("cuda.not_initialized", 3.6, "the driver does not start in a process that was forked from one that had used CUDA", _forks),
        ("said.dead_context", 2.6, "the CUDA context is not that of this thread or process"),
        ("torch.fork", 5.4, "CUDA was started before the process forked"),
        ("torch.fork_bad", 4.4, "CUDA was started before the process forked"),
        ("numba.forked", 5.2, "CUDA was started before the process forked"),
        ("program.fork", 3.8, "CUDA and fork are named together"),
        ("program.fork_here", 1.2, "the process forks"),
        ("cuda.not_initialized", 3.4, "CUDA does not initialise (error 3); this happens in a forked child", with_("torch.", "python.", "numba.", "tf.", "cupy.")),
        ("cuda.not_initialized", 2.4, "CUDA does not initialise (error 3); this happens in a forked child"),
        ("cuda.deinitialized", 1.4, "CUDA is shutting down (error 4); this happens in a forked child"),
        ("cuda.invalid_context", 3.0, "the CUDA context belongs to another thread or process (error 201)"),
        ("cuda.context_is_destroyed", 3.0, "the context is gone (error 709)"),
        ("program.context", 3.4, "a CUDA context is used where it is not current"),
        ("cuda.invalid_handle", 2.0, "a handle of another context is used (error 400)"),
        ("torch.ipc", 4.2, "shared CUDA tensors outlived their process"),
        ("cuda.primary_context_active", 1.8, "the context was already active (error 708)"),
        ("cuda.incompatible_driver_context", 2.6, "the context was made by another API (error 49)"),
        ("cuda.map_failed", 4.2,
         "memory of another process could not be mapped: the handle is none, or not of a living process (error 205)",
         whole(r"ipc|share_memory|rebuild_cuda|shared_cuda")),
        ("cuda.map_failed", 1.2, "memory of another process could not be mapped (error 205)"),
        ("order.main_guard", 2.4, "processes are started without a main guard"),
        ("order.twice", 1.4, "the start method is set a second time", line("context has already been set")),
        ("cufft.invalid_plan", 3.0),
    ),
    ladder=not_forked,
    remedies=(
        meant("Start processes with spawn, before CUDA is used", on.code("multiprocessing.set_start_method('spawn')")),
        meant("Make one context per thread, and push it before use", said="program.context cuda.invalid_context cuda.context_is_destroyed cuda.primary_context_active cuda.incompatible_driver_context"),
    ),
)  # fmt: skip
