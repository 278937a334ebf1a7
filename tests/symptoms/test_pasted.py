"""Messages of limits, order, launch and peers as people paste them: cut, wrapped, without colons; and near misses."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text

TOLD = {
    "env.limit": [
        "OSError [Errno 24] Too many open files",
        "OSError: [Errno 24] Too many open\nfiles: '/data/x'",
        "...rno 28] No space left on device",
        "OSError: [Errno 28] No space left on devi",
        "RuntimeError can't start new thread",
        "BlockingIOError: [Errno 11] Resource temporarily\nunavailable",
        "terminate called after throwing an instance of 'std::system_error'\n  what():  Resource temporarily unavailable\nAborted (core dumped)",
        "OSError: [Errno 122] Disk quota exceeded",
        "tar: Cannot write: No space left on device",
        "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n",
        "IOError: [Errno 24] Too many open files",
        "ImportError: libcublas.so.12: cannot open shared object file: Too many open files",
        "PermissionError: [Errno 13] Permission denied: '/root/.cache/huggingface'",
        "PermissionError: [Errno 13] Permission denied: '/home/u/.triton/cache/abc'",
        "OSError: [Errno 30] Read-only file system: '/opt/model/tmp'",
        "FileNotFoundError: [Errno 2] No usable temporary directory found in ['/tmp',\n'/var/tmp', '/usr/tmp', '/app']",
        "RuntimeError: [enforce fail at inline_container.cc:424] . unexpected pos 128 vs 0",
        'safetensors_rust.SafetensorError: Error while serializing: IoError(Os { code: 28, kind: StorageFull, message: "No space left on device" })',
        "wandb: ERROR Unable to write to /x: [Errno 30] Read-only file system",
        "OMP: Error #34: System unable to allocate necessary resources for OMP thread:\nOMP: System error #11: Resource temporarily unavailable",
        "OSError: [Errno 12] Cannot allocate memory: ulimit -v",
        "torch/multiprocessing/reductions.py RuntimeError: received 0 items of ancdata",
        "x.so: failed to map segment from shared object: Operation not permitted",
        "sqlite3.OperationalError: database or disk is full",
        "h5py: OSError: Can't write data (file write failed: errno = 28, error message = 'No space left on device')",
    ],
    "program.order": [
        "RuntimeError CUDA error operation not permitted when stream is capturing",
        "CUDA error: operation not permitted when stream is\ncapturing",
        "RuntimeError: Capturing NCCL collectives is only allowed with NCCL >= 2.9.6",
        "This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new instance.",
        "RuntimeError: philox_cuda_state for an unexpected CUDA generator used during capture.",
        "RuntimeError: Cannot prepare for replay during capturing stage.",
        "cudaErrorStreamCaptureInvalidated: operation failed due to a previous error during capture",
        "RuntimeError: CUDA error: operation would make the legacy stream depend on a capturing blocking stream",
        "cupy_backends.cuda.api.runtime.CUDARuntimeError: cudaErrorStreamCaptureUnsupported: operation not permitted when stream is capturing",
        "Memory growth cannot differ between GPU devices",
        "ValueError: Cannot set memory growth on device when virtual devices configured",
        "RuntimeError: Visible devices cannot be modified after being\ninitialized",
        "RuntimeError: jax.distributed.initialize() must be called before any JAX computations are executed.",
        "RuntimeError: Attempted to call torch.cuda.memory.change_current_allocator: Can't swap an already initialized allocator",
        "AssertionError: Torch distributed package: init_process_group must be called before DistributedDataParallel",
        "RuntimeError: Cannot set XLA_PYTHON_CLIENT_MEM_FRACTION after backend was initialized",
        "RuntimeError: Maybe you called ray.init twice by accident? This error can be suppressed by passing in 'ignore_reinit_error=True'",
        "ValueError: Horovod has not been initialized; use hvd.init().",
        "tf.config.run_functions_eagerly: Cannot modify logical devices once initialized.",
        "RuntimeError: The Accelerator has already been initialized",
        "RuntimeError: Cannot re-initialize: the context has already been set",
    ],
    "program.launch": [
        "RuntimeError CUDA error invalid configuration argument",
        "RuntimeError: CUDA error: too many resources requested for\nlaunch",
        "triton.runtime.errors.OutOfResources: out of resource: shared memory, Required: 131072, Hardware limit:",
        "torch._inductor.exc.InductorError: RuntimeError: No valid triton configs. OutOfMemoryError: out of resource: triton_mm Required: 196608 Hardware limit:101376 Reducing block sizes or `num_stages` may help.",
        "cupy_backends.cuda.api.driver.CUDADriverError: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES: too many resources requested for launch",
        "pycuda._driver.LaunchError: cuLaunchKernel failed: too many resources requested for launch",
        "pycuda._driver.LogicError: cuLaunchKernel failed: invalid value",
        "GPUassert: invalid configuration argument kernel.cu 42",
        'CUDA error at main.cu:31 code=9(cudaErrorInvalidConfiguration) "cudaGetLastError()"',
        "terminate called after throwing an instance of 'thrust::system::system_error'\n  what():  parallel_for failed: cudaErrorInvalidConfiguration: invalid configuration argument",
        "XlaRuntimeError: INTERNAL: Failed to launch CUDA kernel: fusion_12 with block dimensions: 1024x1x1 and grid dimensions: 4294967295x1x1: CUDA_ERROR_INVALID_VALUE: invalid argument",
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Shared memory size limit exceeded: requested 311296, available: 232448",
        "ptxas error : Entry function 'foo' uses too much shared data (0x11000 bytes, 0xc000 max)",
        "cudaErrorCooperativeLaunchTooLarge: too many blocks in cooperative launch",
        "ValueError: Number of threads per block exceeds the maximum 1024",
        "RuntimeError: Triton Error [CUDA]: invalid argument",
        "F tensorflow/core/util/gpu_launch_config.h:129] Check failed: work_element_count > 0 (0 vs. 0)",
        "Check failed: status == OkStatus() INTERNAL: GpuLaunchKernel failed: invalid configuration argument",
    ],
    "distributed.peer": [
        "RuntimeError The server socket has failed to listen on any local network address",
        "RuntimeError: Address already in use",
        "[W socket.cpp:601] [c10d] The client socket has failed to connect to [node1]:29500 (errno: 111 - Connection refused).\nTimeoutError: The client socket has timed out after 300s while trying to connect to (node1, 29500).",
        "torch.distributed.DistBackendError: NCCL error in: ../ProcessGroupNCCL.cpp:1251, remote process exited or there was a network error, NCCL version 2.18.1\nncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.",
        "[1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: Connection reset by peer. This may indicate a possible application crash on rank 0 or a network set up issue.",
        "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.",
        "ray.exceptions.RayActorError: The actor died because its node has died.",
        "ConnectionError: Could not find any running Ray instance. Please specify the one to connect to by setting `--address` flag",
        "mpirun noticed that process rank 1 with PID 0 on node n2 exited on signal 9 (Killed).",
        "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES",
        "UnavailableError: Collective ops is aborted by: Socket closed",
        "tensorflow.python.framework.errors_impl.UnavailableError: failed to connect to all addresses; last error: UNKNOWN: ipv4:10.0.0.4:2222: Failed to connect to remote host: Connection refused",
        "jaxlib.xla_extension.XlaRuntimeError: DEADLINE_EXCEEDED: Barrier timed out. Id: PjRT_Client_Connect. The first task at the barrier: /job:jax_worker/replica:0/task:0. Some timed out task names: /job:jax_worker/replica:0/task:3",
        "torch.distributed.elastic.rendezvous.api.RendezvousConnectionError: The connection to the C10d store has failed. See inner exception for details.",
        "RuntimeError: Timed out initializing process group in store based barrier on rank: 0, for key: store_based_barrier_key:1 (world_size=4, worker_count=2, timeout=0:30:00)",
        "RuntimeError: [2] is setting up NCCL communicator: Socket Timeout",
        "distributed.comm.core.CommClosedError: in <TCP (closed)>: Stream is closed",
        "distributed.scheduler.KilledWorker: Attempted to run task x on 3 different workers, but all those workers died while running it.",
        "horovod.common.exceptions.HorovodInternalError: [/tmp/gloo/tcp/pair.cc:589] Connection reset by peer",
        "slurmstepd: error: *** STEP 12.0 ON n1 CANCELLED AT 2026 DUE TO TASK FAILURE ***\nsrun: error: n2: task 3: Exited with exit code 1",
    ],
}
CALM = [
    "TensorBoard is already running on port 6006",
    "INFO: Logging is already initialized, skipping",
    "Ray runtime is already started; reusing it",
    "wandb: run was already initialized",
    "The tokenizer has already been set up.\nEpoch 1: 0.3",
    "[W] Address family not supported; retrying\nEpoch 1 done",
    "socket closed cleanly",
    "worker process finished, 3 alive",
    "heartbeat interval 10 s",
    "INFO heartbeat missed 1 time, recovered",
    "Training captured in tensorboard\nloss 0.2",
    "capture_output=True",
    "GPU shared memory per block: 49152 bytes",
    "max threads per block: 1024",
    "launching kernel with block size 256",
    "cache directory /home/u/.cache/x created",
    "[INFO] disk quota: 50 GB, used 12 GB",
    "ulimit -n 65536",
    "max open files: 65536",
    "note: temporary files are written to /tmp/x",
    "connected to rank 3 at 10.0.0.2:29500",
    "timeout is 1800 s",
    "rendezvous complete: 2 of 2 nodes",
    "store based barrier passed",
    "rank 1 joined",
    "Process group has been initialized",
    "memory growth enabled on 2 GPUs",
    "set_memory_growth(True)",
    "UserWarning: Unable to write cache file: [Errno 30] Read-only file system\nepoch 1",
    "INFO:torch.distributed.elastic.agent: Waiting for clients",
    "WARNING:__main__: port 29500 already in use, trying 29501\nepoch 1 acc 0.9",
    "Epoch 3: loss 0.3, captured 20 frames",
    "Model launched on port 8080",
    "closed 3 files, disk usage 80%",
    "the grid size is larger than 10",
    "Rank 0 finished; connection closed",
    "All workers exited normally",
    "WARNING: cache directory is on NFS",
    "Using temporary directory /tmp/x",
    "INFO: ulimit -n is 1024",
    "block size: 128, grid size: 64",
    "Address: 10.0.0.1 port 29500 in use by trainer: ok",
    "healthy: nofile 64, tmp 10 MB free",
    "slurm: ulimit -v unlimited",
    "Saved checkpoint, 3 MB left on /scratch",
    "NCCL INFO Connected all rings",
    "Opening listener on port 29500",
    "the capture of the graph took 3 s",
    "retrying, the port was taken before",
]


@pytest.mark.parametrize("cause, text", [(cause, text) for cause, texts in TOLD.items() for text in texts])
def test_told(cause, text):
    report = explain_text(text)
    assert report.causes[0].id == cause, [(c.id, c.confidence) for c in report.causes]
    assert report.causes[0].fixes


@pytest.mark.parametrize("text", CALM)
def test_calm(text):
    assert not [c for c in explain_text(text).causes if c.confidence >= 0.5]


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("thread 'main' panicked at src/main.rs:3:5:\nTorch(\"mat1 and mat2 shapes cannot be multiplied (3x4 and 5x6)\")", "program.shape"),
        ("thread 'main' panicked at src/main.rs:3:5:\nindex out of bounds: the len is 3 but the index is 7", "other.not_gpu"),
        ("RuntimeError: unable to open shared memory object </torch_1> in read-write mode\nOSError: [Errno 24] Too many open files", "env.limit"),
    ],
)  # fmt: skip
def test_what_another_word_of_the_text_explains(text, cause):
    assert explain_text(text).causes[0].id == cause


SITE = "/v/lib/python3.12/site-packages"
FAILED = "E0000 00:00:1.5 1 cuda_platform.cc:52] failed call to cuInit: INTERNAL: CUDA error: Failed call to cuInit: UNKNOWN ERROR (802)\n"
FRAME = 'Traceback (most recent call last):\n  File "{file}", line 2, in <module>\n    {code}\n{end}\n'


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (FAILED + FRAME.format(file="/home/u/a.py", code="d = tf.config.list_physical_devices('GPU')[0]", end="IndexError: list index out of range"), "driver.not_ready"),
        (FAILED + FRAME.format(file="/home/u/a.py", code="d = rows[7]", end="IndexError: list index out of range"), "other.not_gpu"),
        (FRAME.format(file=f"{SITE}/ml_dtypes/_finfo.py", code="from ml_dtypes._ml_dtypes_ext import x", end="ModuleNotFoundError: No module named 'ml_dtypes._ml_dtypes_ext'"), "install.corrupted"),
        ("bin D:\\x\\bitsandbytes\\libbitsandbytes_cpu.so\nCUDA SETUP: Required library version not found: libcudart.so\nTypeError: argument of type 'WindowsPath' is not iterable", "framework.platform_dropped"),
        ("FileNotFoundError: Could not find module 'nvvm.dll' (or one of its dependencies).\nNvvmSupportError: libNVVM cannot be found.", "cuda.compiler_missing"),
    ],
)  # fmt: skip
def test_an_ending_and_what_leads_there(text, cause):
    assert explain_text(text).causes[0].id == cause


def test_a_value_ends_where_the_program_does():
    told = explain_text("Unknown flag in XLA_FLAGS: --xla_gpu_foo=1Aborted (core dumped)").causes[0]
    assert told.id == "env.setting"
    assert told.because[0].text.endswith("--xla_gpu_foo=1")


def test_a_quota_is_no_full_disk():
    told = explain_text("OSError: [Errno 122] Disk quota exceeded: '/home/x/ckpt.pt'").causes[0]
    assert "quota" in told.because[0].text
    assert "quota -s" in [fix.command for fix in told.fixes]
    assert not [fix for fix in told.fixes if fix.command.startswith("df ")]
    full = explain_text("OSError: [Errno 28] No space left on device: '/home/x/ckpt.pt'").causes[0]
    assert [fix for fix in full.fixes if fix.command.startswith("df ")]
