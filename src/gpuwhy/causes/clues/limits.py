"""Clues for limits and closed or full places, for launches, for order, and for other processes of a job."""

from __future__ import annotations

import re

from gpuwhy.causes.clues import of
from gpuwhy.causes.clues.conditions import all_of, any_of, counting, field, line, no, with_
from gpuwhy.model.symptom import Clue, Reading, Symptom

_SHM = any_of(line(r"/dev/shm|semlock|shared memory|torch_\d|psm_"), with_("memory.shm", "limit.shm_here"))
_GPU_STATUS = (
    "cuda.",
    "cublas.",
    "cudnn.",
    "memory.torch_oom",
    "memory.bfc",
    "memory.xla",
    "program.",
    "kernel.xid",
    "nvidia.",
)
_JOB = any_of(
    with_("peer.", "nccl.", "torch.elastic"),
    line(r"rank|worker|tcp|grpc|gloo|store|master|c10d|coordinat|node|scheduler|ray"),
)
_LAUNCH = any_of(with_("launch."), line(r"launch"))


_NCCL = line(r"nccl|socketstartconnect|socketpollconnect|net/socket|misc/socket|ibv_")


def _no_compiler(s: Symptom, r: Reading) -> bool:
    """The host compiler itself is not there."""
    return bool(
        re.search(r"(?:\+\+|cc|clang|cl\.exe)['\"]?: (?:no such file|(?:command )?not found)", r.excerpt, re.IGNORECASE)
    )


def _of_network(s: Symptom, r: Reading) -> bool:
    """A plain download or web request, not a process of the job."""
    return r.has("python.http") or "urllib" in s.text or "http" in s.text.lower()


CLUES: tuple[Clue, ...] = (
    *of(
        "env.limit",
        ("limit.files", 5.0, "the process may open no more files (ulimit -n)"),
        ("limit.processes", 4.6, "no more threads or processes could be started (ulimit -u, or the control group's limit)"),
        ("limit.process_count", 3.0, "the limit of processes is {soft}, at most {hard}"),
        ("limit.address", 4.0, "a limit on addresses (ulimit -v) is named"),
        ("limit.locked", 4.0, "memory could not be locked: the limit of locked memory (ulimit -l) is named"),
        ("limit.file_size", 4.8, "a file grew beyond what the process may write (ulimit -f)"),
        ("limit.cpu_time", 4.8, "the process used up its processor time (ulimit -t)"),
        ("limit.space", 4.8, "there is no space left where the program writes", no(_SHM)),
        ("limit.space", 2.6, "there is no space left, of shared memory it seems", _SHM),
        ("limit.half_written", 4.2, "a file was written in part only, as where no space is left"),
        ("limit.read_only", 4.8, "the program writes to a file system that is read-only"),
        ("limit.temporary", 4.4, "the folder for temporary files cannot be used"),
        ("limit.preprocess", 2.6, "nvcc could not run its host compiler, as where the folder for temporary files cannot be used", no(_no_compiler)),
        ("limit.cache", 4.4, "a cache folder cannot be written"),
        ("limit.closed", 4.0, "a file or folder cannot be written by this user"),
        ("limit.no_exec", 4.6, "a library may not be loaded from its folder, as from one mounted noexec"),
        ("loader.no_map", 3.0, "{library} could not be mapped, as under a limit on addresses (ulimit -v)"),
        ("limit.watches", 4.0, "the system's number of watched files is used up"),
        ("memory.cpu_allocator", 2.6, "a limit on addresses (ulimit -v) gives the same"),
        ("memory.xla_oom", 1.4, "a limit on addresses (ulimit -v) gives the same"),
        ("nvrtc.temp", 2.8, "the folder for temporary files is at fault"),
        ("cuda.out_of_memory", 3.2, "memory ran out while the devices were counted, as under a limit on addresses (ulimit -v)", counting),
    ),
    *of(
        "memory.host",
        ("limit.space", 4.6, "shared memory is full", _SHM),
        ("loader.no_map", 2.6, "{library} could not be mapped into memory"),
        ("limit.locked", 1.6, "host memory could not be locked"),
        ("peer.died", 2.2, "a process was killed, as the kernel does for memory", any_of(field("signal", r"9\b|sigkill|kill"), field("name", "sigkill"))),
        ("peer.died", 1.6, "a process vanished, as when the kernel kills for memory"),
    ),
    *of(
        "program.order",
        ("cuda.stream_capture_", 4.4, "the stream is being captured into a graph, where this call is not allowed"),
        ("cuda.captured_event", 4.2, "an event of a stream that is being captured was used outside"),
        ("cuda.graph_recapture_failure", 3.6, "the graph could not be captured again"),
        ("order.capturing", 4.4, "a call that is not allowed while a CUDA graph is captured"),
        ("order.replayed", 4.6, "the output of a CUDA graph was used after the graph ran again"),
        ("order.after_start", 4.4, "something was set up after the runtime had started"),
        ("order.growth", 5.0, "memory growth is set on some GPUs only, or beside virtual devices"),
        ("tf.config_late", 4.6, "the program sets up the GPU too late"),
        ("order.twice", 4.0, "something was initialised a second time"),
        ("order.not_yet", 4.2, "something was used before it was initialised"),
        ("order.deleted", 3.6, "an array was used after it had been given away (donated or deleted)"),
        ("order.main_guard", 3.8, "processes are started while the main module is still being imported"),
        ("cuda.primary_context_active", 2.8, "the context was already active (error 708)"),
        ("cuda.context_already_in_use", 2.6, "the context was already in use"),
    ),
    *of(
        "program.fork",
        ("order.main_guard", 2.4, "processes are started without a main guard"),
        ("order.twice", 1.4, "the start method is set a second time", line("context has already been set")),
    ),
    *of(
        "program.launch",
        ("launch.resources", 5.0, "the kernel needs {needed} of {what}; the card has {limit}", field("needed", ".")),
        ("launch.resources", 4.4, "the kernel needs more {what} than the card has"),
        ("launch.shared", 4.6, "the kernel uses more {what} memory than the card has"),
        ("launch.parameters", 4.2, "the kernel's arguments take {needed} bytes; {limit} are allowed"),
        ("launch.block", 4.2, "the block or the grid is larger than the card takes"),
        ("launch.refused", 4.2, "the launch itself was refused"),
        ("cuda.invalid_configuration", 4.0, "a kernel was launched with sizes that the card does not take (error 9)"),
        ("cuda.launch_out_of_resources", 4.4, "the launch asks for more registers or threads than the card has (error 701)"),
        ("cuda.cooperative_launch_too_large", 4.6, "a cooperative launch has more blocks than the card can hold at once (error 720)"),
        ("cuda.missing_configuration", 3.6, "a kernel was called without a configuration (error 52)"),
        ("cuda.launch_max_depth_exceeded", 3.8, "kernels launch kernels too deeply (error 65)"),
        ("cuda.launch_pending_count_exceeded", 3.8, "kernels have launched more kernels than may be pending (error 69)"),
        ("cuda.invalid_value", 3.6, "the launch has a wrong argument (error 1)", _LAUNCH),
        ("cuda.invalid_value", 2.6, "Triton's launch has a wrong argument (error 1)", line(r"triton error")),
        ("triton.shared", 4.4, "the kernel wants more {what} than the card has"),
    ),
    *of(
        "program.shape",
        ("launch.block", 1.4, "a shape may give such a grid"),
        ("launch.refused", 1.8, "a shape may give such a launch"),
    ),
    *of(
        "program.build",
        ("launch.shared", 1.8, "the compiler refuses the kernel", line("ptxas|error")),
        ("launch.parameters", 2.6, "the compiler refuses the kernel"),
        ("limit.preprocess", 2.4, "nvcc could not run its host compiler"),
    ),
    *of(
        "distributed.peer",
        ("peer.absent", 4.6, "not every process of the job came in time"),
        ("peer.port", 4.4, "the port is taken by another process"),
        ("peer.unreachable", 4.4, "another process of the job cannot be reached", no(any_of(_of_network, _NCCL))),
        ("peer.unreachable", 2.6, "another rank cannot be reached", _NCCL),
        ("peer.unreachable", 1.6, "an address cannot be reached", _of_network),
        ("peer.gone", 4.2, "another process of the job went away", all_of(_JOB, no(_of_network))),
        ("peer.gone", 2.4, "a connection was lost", no(_of_network)),
        ("peer.late", 4.4, "another process of the job did not come to the same point in time"),
        ("peer.died", 4.2, "a process of the job died"),
        ("nccl.remote_error", 4.2, "another rank failed or vanished"),
        ("nccl.timeout", 2.2, "a collective operation did not end, as when a rank is missing"),
        ("nccl.unhandled_system", 2.0, "a system call of NCCL failed, as when a rank has gone"),
        ("nccl.down", 2.4, "NCCL gave up, as when a rank has gone"),
        ("torch.elastic", 1.6, "a rank failed"),
        ("peer.elastic", 0.6, "a launcher lost a rank", no(with_(*_GPU_STATUS))),
    ),
    *of(
        "distributed.nccl",
        ("peer.gone", 2.4, "a rank went away while NCCL talked to it", any_of(with_("nccl."), line("nccl"))),
        ("peer.unreachable", 2.8, "NCCL's network does not connect", _NCCL),
        ("peer.late", 1.2, "a rank is late", with_("nccl.")),
    ),
    *of(
        "other.not_gpu",
        ("limit.closed", 1.6, "a matter of file rights"),
        ("limit.space", 1.4, "a matter of the disk", no(_SHM)),
        ("peer.port", 1.6, "ports or addresses, not the GPU"),
        ("peer.unreachable", 3.4, "a download or a service, not a process of the job", _of_network),
        ("peer.gone", 2.6, "a connection to a service was lost", _of_network),
        ("peer.died", 1.4, "a process of the program's own died"),
        ("order.deleted", 1.6, "a mistake of the program"),
        ("order.main_guard", 2.0, "a missing main guard"),
        ("order.twice", 1.4, "a mistake of the program"),
    ),
)  # fmt: skip
