"""Remedies for limits, launches, order and peers: by the message that told of them."""

from __future__ import annotations

from gpuwhy.causes.clues.meant import Meant, meant

_SMALLER = "Make the kernel smaller: block or tile sizes, num_stages, num_warps"

LIMITS: tuple[Meant, ...] = (
    meant("Allow more open files in this shell, then start the program from it", "ulimit -n $(ulimit -Hn)", said="limit.files", safe=True),
    meant("PyTorch: pass tensors between processes by file, not by open descriptor; in the program", "torch.multiprocessing.set_sharing_strategy('file_system')", said="limit.files", by="torch"),
    meant("Containers: start with a higher limit", "docker run --ulimit nofile=65536:65536 IMAGE", said="limit.files"),
    meant("For good: in /etc/security/limits.conf, or LimitNOFILE= of the service", "echo '* - nofile 65536' | sudo tee -a /etc/security/limits.conf", said="limit.files", root=True),
    meant("Make fewer threads and processes", "export OMP_NUM_THREADS=4 OPENBLAS_NUM_THREADS=4 MKL_NUM_THREADS=4", said="limit.process", safe=True),
    meant("Allow more of them in this shell", "ulimit -u $(ulimit -Hu)", said="limit.process", safe=True),
    meant("Containers: lift the limit of processes", "docker run --pids-limit=-1 IMAGE", said="limit.process"),
    meant("See what is there already", "ps -eLf --no-headers | wc -l; ulimit -u; cat /sys/fs/cgroup/pids.max", said="limit.process", safe=True, look=True),
    meant("Lift the limit on addresses in this shell", "ulimit -v unlimited", said="limit.address loader.no_map memory.cpu_allocator memory.xla", safe=True),
    meant("Allow locked memory: containers and services have little", "docker run --ulimit memlock=-1 IMAGE    # a service: LimitMEMLOCK=infinity", said="limit.locked"),
    meant("Lift the limit on the size of files", "ulimit -f unlimited", said="limit.file_size", safe=True),
    meant("Lift the limit of processor time, or ask the batch system for more", "ulimit -t unlimited", said="limit.cpu_time signal.kill", safe=True),
    meant("See which place is full: of bytes, and of files", "df -h; df -i", said="limit.space limit.half_written", safe=True, look=True),
    meant("See the user's quota", "quota -s", said="limit.space", line="quota|edquot|errno 122", safe=True, look=True),
    meant("Make room, or let the program write elsewhere: temporary files and caches follow these variables", "export TMPDIR=/BIG/tmp XDG_CACHE_HOME=/BIG/cache", said="limit.space limit.half_written", safe=True),
    meant("pip and uv: put the cache and temporary files on the larger disk", "TMPDIR=/BIG/tmp pip install --cache-dir /BIG/pip PACKAGE", said="limit.space", line="install packages|pip", safe=True),
    meant("Let caches go where this user may write", "export TRITON_CACHE_DIR=/tmp/triton TORCHINDUCTOR_CACHE_DIR=/tmp/inductor XDG_CACHE_HOME=/tmp/cache NUMBA_CACHE_DIR=/tmp/numba MPLCONFIGDIR=/tmp/mpl", said="limit.cache limit.read_only limit.closed", safe=True),
    meant("Containers started with --user have no home: give them one", "docker run --user $(id -u):$(id -g) -e HOME=/tmp IMAGE", said="limit.cache limit.closed", line=r"'/\.|/root"),
    meant("See who owns the folder, and how it is mounted", "ls -ld FOLDER; findmnt -T FOLDER", said="limit.cache limit.read_only limit.closed limit.no_exec", safe=True, look=True),
    meant("Name a temporary folder that exists and can be written", "mkdir -p ~/tmp && export TMPDIR=~/tmp", said="limit.temporary limit.preprocess nvrtc.temp", safe=True),
    meant("Install or build outside a folder that is mounted noexec", "export TMPDIR=~/tmp", said="limit.no_exec", safe=True),
    meant("Allow more watched files", "sudo sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=1024", said="limit.watches", root=True),
    meant("See all limits of this shell", "ulimit -a", safe=True, look=True),
    meant("Start the program from a shell with the limit lifted, as far as the hard limit allows", "ulimit -n $(ulimit -Hn); ulimit -v unlimited", safe=True),
)  # fmt: skip

TOLD_ROWS: dict[str, tuple[Meant, ...]] = {
    "program.launch": (
        meant("Triton and Inductor: smaller blocks or fewer stages; in the program", "triton.Config({'BLOCK': 64}, num_stages=2, num_warps=4)", said="launch.resources triton.shared"),
        meant("Ask for more than 48 KB of shared memory, in the program, before the launch", "cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)", said="launch.shared launch.refused"),
        meant("Use dynamic shared memory (extern __shared__), or smaller arrays", said="launch.shared"),
        meant("Pass the arguments by a pointer to GPU memory", said="launch.parameters"),
        meant("Fewer threads in a block, or fewer registers", "nvcc -maxrregcount=64 …    # or __launch_bounds__(256) at the kernel; Numba: @cuda.jit(max_registers=64)", said="cuda.launch_out_of_resources"),
        meant("Ask how many blocks fit at once, and launch no more", "cudaOccupancyMaxActiveBlocksPerMultiprocessor", said="cuda.cooperative_launch_too_large"),
        meant("Look at the sizes: a block has 1 to 1024 threads, a grid at least one block and at most 65535 in y and z; an empty batch gives none", said="cuda.invalid_configuration cuda.invalid_value launch.block launch.refused"),
        meant(_SMALLER),
    ),
    "program.order": (
        meant("Run the step once before the capture, and keep allocation, .item(), .cpu() and prints out of it", said="cuda.stream_capture_ cuda.captured_event order.capturing"),
        meant("PyTorch: see whether graphs are at fault: compile without them", "torch.compile(model, mode='default')    # not 'reduce-overhead'", said="cuda.stream_capture_ order.capturing order.replayed", by="torch"),
        meant("Mark each step, or keep a copy of the output", "torch.compiler.cudagraph_mark_step_begin()    # or output.clone()", said="order.replayed"),
        meant("Set memory growth for every GPU, right after the import", "for gpu in tf.config.list_physical_devices('GPU'): tf.config.experimental.set_memory_growth(gpu, True)", said="order.growth tf.config_late", by="tensorflow"),
        meant("Or by a variable, before the program starts", "export TF_FORCE_GPU_ALLOW_GROWTH=true", said="order.growth tf.config_late", line="growth|physical", safe=True),
        meant("Move the set-up to the top of the program, before the first tensor and before other imports; restart a notebook's kernel", said="order.after_start tf.config_late"),
        meant("Initialise once: guard the call", "if not torch.distributed.is_initialized(): torch.distributed.init_process_group()", said="order.twice", line="process group"),
        meant("Set the start method once, in the main module", "if __name__ == '__main__': torch.multiprocessing.set_start_method('spawn', force=True)", said="order.twice", line="context has already"),
        meant("Initialise once: find the second call, or the library that makes the first", said="order.twice"),
        meant("Call the initialisation first, in every process", "torch.distributed.init_process_group()", said="order.not_yet", line="process group"),
        meant("Call the initialisation first, in every process", said="order.not_yet"),
        meant("Use the function's result, not the array that was donated; or do not donate it", said="order.deleted"),
        meant("Start processes only under the main guard", "if __name__ == '__main__': main()", said="order.main_guard"),
        meant("Move the set-up to the top of the program, before the first tensor"),
    ),
    "distributed.peer": (
        meant("See who has the port, and end it; or take another", "ss -ltnp | grep 29500\ntorchrun --master-port 29511 PROGRAM", said="peer.port", safe=True),
        meant("Compare what each node was told: address, port, number of nodes and processes", "env | grep -e MASTER_ -e RANK -e WORLD_SIZE", said="peer.absent peer.unreachable peer.late", safe=True, look=True),
        meant("Try the address from the other node", "nc -vz HOST 29500", said="peer.unreachable peer.absent", safe=True, look=True),
        meant("Name the network interface that the nodes share", "export GLOO_SOCKET_IFNAME=eth0 NCCL_SOCKET_IFNAME=eth0", said="peer.unreachable peer.gone peer.late", safe=True),
        meant("Read the log of the process that ended first: its error is the cause; keep one for each rank", "torchrun --log-dir logs --redirects 3 PROGRAM", said="peer.gone peer.late peer.died torch.elastic nccl.", safe=True),
        meant("Was it killed for memory?", "sudo dmesg | grep -i -e 'killed process' -e xid", said="peer.died", look=True),
        meant("Where a process is only slow: wait longer, in the program", "torch.distributed.init_process_group(timeout=datetime.timedelta(minutes=30))", said="peer.late peer.absent nccl.timeout", by="torch"),
        meant("Read the log of the process that ended first: its error is the cause"),
    ),
}  # fmt: skip
