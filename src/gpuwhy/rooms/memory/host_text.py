"""memory.host in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

from gpuwhy.knowledge.messages import NO_ANSWER, NO_CUDNN, NO_DRIVER, NO_MEMORY, NO_START
from gpuwhy.model import on
from gpuwhy.model.signature import error
from gpuwhy.rooms.text.common import FIGURES, OF_SHM, nothing_else
from gpuwhy.rooms.text.conditions import any_of, counting, field, in_wsl, line, no, whole, with_
from gpuwhy.rooms.text.env_ways import of_the_host
from gpuwhy.rooms.text.figures import free_but_refused
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.remedies import PAGING, SHARED_MEMORY, WSL_MEMORY
from gpuwhy.rooms.text.room import Text

TEXT = Text(
    "memory.host",
    signatures=(
        error("memory.all_ram",
              r"crashed after using all (?:of the )?available ram|tried to allocate more memory than is available",
              "available ram", "more memory than is available", covers=("title.", "python.")),
        error("memory.node", r"due to (?:the )?node running low on memory", "running low on memory"),
        error("memory.killer", r"out of memory: kill(?:ed)? process|oom[-_ ]kill(?:er|ed)?\b|oom_reaper: reaped|memory cgroup out of memory|oomkilled"
              r"|cgroup out of memory", "oom-kill", "oom_kill", "oom kill", "out of memory: kill", "oom_reaper", "cgroup out of memory", "oomkilled",
              covers=("memory.oom_words",)),
        error("signal.kill", r"^\s*(?:[\w./-]+: line \d+: +\d+ )?killed\b|signal: ?killed|sigkill|signal 9\b"
              r"|exit(?:ed with)? ?code:? ?-?(?:9|137)\b|\bexitcode ?: ?-9"
              r"|\bexit(?:s|ed)?(?: with)?(?: return)?(?: code| status)? ?[=:]? ?-9\b",
              "killed", "sigkill", "signal 9", "exit code 137", "exit code -9", "exitcode: -9", "exitcode : -9",
              "exited with code 137", "exit code: 137", "code 137", "code = -9", "with -9", "status -9", "status: -9"),
        error("title.killed", r"\b(?:gett?(?:s|ing)?|got|was|is|be|being|been|ends? with|process(?:es)?|training|trainer|script|python)(?: \w+)? killed\b(?! by signal)", "killed"),
    ),
    clues=(
        ("memory.heap", 2.6, "the heap of another runtime is full: a limit of its own, or the machine's memory"),
        ("memory.all_ram", 4.6, "the session used all of the machine's own memory"),
        ("signal.bus", 4.4, "a bus error in a data loader's worker: /dev/shm is full", line(r"data ?loader|worker|docker|container|shm|num_workers")),
        ("said.host_memory", 4.0, "the program says that the machine's own memory does not suffice"),
        ("said.no_memory", 1.2, "the memory may be the machine's own"),
        ("windows.load_library", 3.4, "Windows has no memory left for a DLL ({number})", field("number", r"(?:8|14|1450|1455)$")),
        ("windows.load_library", 1.8, "a DLL's start may have failed for memory (1114)", field("number", "1114")),
        ("ntstatus.no_memory", 3.4, "Windows ends it for want of memory (0xC0000017)"),
        ("ntstatus.commitment_limit", 4.2, "Windows promises no more memory than RAM and paging file have (0xC000012D)"),
        ("ntstatus.dll_init_failed", 2.0, "a DLL does not start (0xC0000142); this happens when memory is short"),
        ("remark.ram", 3.0, "the text tells of the machine's memory", with_("signal.kill", "memory.killer", "title.killed", "peer.", "memory.cpu")),
        ("memory.compiler_killed", 3.4, "the compiler was killed for memory"),
        ("cuda.out_of_memory", 3.8, "pinned host memory could not be had", any_of(line(r"cudahost|pinned"), with_("memory.pin_here"))),
        ("memory.system_ram", 4.4, "{wanted} of host memory is needed, {free} is there"),
        ("memory.worker_killed", 5.0, "a data-loader worker was ended by the system ({signal})", no(field("signal", "seg|abort"))),
        ("memory.worker_killed", 2.0, "a data-loader worker crashed", field("signal", "seg|abort")),
        ("memory.worker_gone", 2.8, "a data-loader worker vanished"),
        ("memory.shm", 4.4, "shared memory is used up"),
        ("memory.cpu_allocator", 4.6, "the host's memory is used up"),
        ("memory.tf_oom", 4.8, "a tensor did not fit into the host's memory", field("device", "cpu")),
        ("memory.pinned", 4.0, "pinned host memory could not be had"),
        ("memory.killer", 5.2, "the kernel killed a process for memory"),
        ("memory.node", 5.0, "the machine ran low on memory"),
        ("memory.wsl_resident", 2.4, "Windows ran out of memory that the GPU can use"),
        ("signal.kill", 3.6, "the process was killed; the kernel does this when memory runs out"),
        ("signal.bus", 4.4, "a bus error in a program that keeps blocks of shared memory: /dev/shm is full", whole(r"leaked shared_memory objects|sharedmemory\(|\bshm_open\b")),
        ("signal.bus", 2.9, "a bus error; this happens when /dev/shm is full"),
        ("windows.page_file", 5.0, "Windows' paging file is too small"),
        ("windows.dll_load_failed", 4.6, "Windows' paging file is too small", field("paging", ".")),
        ("loader.cudnn_windows", 3.8, "Windows has no memory left for {library}", field("number", "1455|8$|14$")),
        ("nccl.shm", 3.0, "NCCL could not get shared memory"),
        ("cuda.out_of_memory", 3.5, "under WSL the limit of host memory gives the same error", in_wsl),
        ("cuda.out_of_memory", 1.9, "pinned host memory gives the same error"),
        ("cuda.out_of_memory", 3.6, "memory ran out while the devices were counted, before any GPU memory is used: it is the host's", counting),
        ("memory.torch_oom", 1.8, FIGURES + ", yet it was refused", free_but_refused),
        ("memory.oom_words", 1.0, "the host's memory may be meant"),
        ("cuda.map_failed", 2.2, "memory could not be mapped (error 205)"),
        ("cuda.host_memory_", 2.6, "host memory could not be registered"),
        ("cudnn.internal_error_host_allocation_failed", 4.2, "cuDNN could not get host memory"),
        ("signal.kernel_died", 1.6, "the notebook's kernel died; this happens when host memory is used up"),
        ("memory.tf_oom_bare", 1.2, "the host's memory may be meant"),
        ("told.shm_df", 1.6, "/dev/shm has 64 MB"),
        ("limit.space", 4.6, "shared memory is full", OF_SHM),
        ("loader.no_map", 2.6, "{library} could not be mapped into memory"),
        ("limit.locked", 1.6, "host memory could not be locked"),
        ("peer.died", 2.2, "a process was killed; the kernel does this when memory runs out", any_of(field("signal", r"9\b|sigkill|kill"), field("name", "sigkill"))),
        ("peer.died", 1.6, "a process vanished; this happens when the kernel kills for memory"),
        ("title.oom", 2.4, "the host's the text says that memory ran out", line(r"\b(?:ram|system memory|host memory|cpu memory)\b")),
        ("title.oom", 0.9, "the text says that memory ran out", nothing_else),
        ("title.killed", 2.2, "the text says that the process was killed; the kernel does this when memory runs out"),
        ("title.shutdown", 0.6, "the machine goes down", nothing_else),
        ("title.crash", 0.5, "it crashes", nothing_else),
        ("nvrtc.out_of_memory", 2.0),
        ("nvml.memory", 3.0),
    ),
    ladder=of_the_host,
    remedies=(
        meant("Have the loader take this library first, while its room for thread-local storage is free; or import what needs it before all else",
              on.linux("export LD_PRELOAD={path}"), said="loader. limit. memory. python.", line=r"(?P<path>/[\w./+-]+\.so[\d.]*): cannot allocate memory in static TLS",
              safe=True),
        meant("Load less at once: fewer data-loader workers, no pinned memory"),
        meant("Slurm: ask for more memory", on.linux("sbatch --mem=64G JOB    # or, in the script: #SBATCH --mem=64G"), said="memory.killer signal.kill title.", by="slurm"),
        meant("Slurm: check what the job took, and what it had asked for", on.linux("sacct -j JOBID --format=JobID,MaxRSS,ReqMem,State"),
              said="memory.killer signal.kill title.", by="slurm", safe=True, look=True),
        meant("Kubernetes: give the container more memory, in the pod's manifest", on.code("resources: {limits: {memory: 32Gi}}"), said="memory.killer", line="oomkilled"),
        meant("Docker: start it without a limit, or with a higher one", "docker run --memory=SIZE IMAGE", said="memory.killer", line="oomkilled|memory cgroup"),
        meant("Start the container with more shared memory", "docker run --gpus all --shm-size=8g IMAGE", said="memory.shm signal.bus memory.worker_killed told.shm_df",
              unless="kubernetes compose"),
        *SHARED_MEMORY,
        meant("Or use fewer data-loader workers (num_workers=0 needs no shared memory)", said="memory.shm signal.bus memory.worker_killed memory.worker_gone"),
        meant("Compile with fewer jobs at once", "export MAX_JOBS=2", said="memory.compiler_killed", safe=True),
        *PAGING,
        *WSL_MEMORY,
        meant(on.in_wsl("raise memory= in .wslconfig, below [wsl2], then stop WSL"), on.across("wsl --shutdown")),
    ),
    admitted_by=(*NO_CUDNN, *NO_START, *NO_ANSWER, *NO_DRIVER, *NO_MEMORY),
)  # fmt: skip
