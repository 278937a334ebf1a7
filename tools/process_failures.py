"""Failures of limits, places, order, launch and peers, for tools/capture_process.py: the cause by the provocation.

Shell variables: T, J, F, R, M (Pythons with torch; JAX, Numba and Triton; TensorFlow; Ray, Dask and Matplotlib; MPI),
NOBODY (starts a command as another user who may read everything and write nothing), WORK (an empty folder, the working
directory), SMALL (an empty file system of 1 MB with 12 inodes), FULL (one with no byte left), RO (a read-only one), PORT (a free port), DRIVER.
"""

from __future__ import annotations

from typing import NamedTuple

ENVIRONMENTS = {
    "T": "torch==2.13.0+cpu numpy",
    "J": "jax numba numpy cupy-cuda12x numba-cuda triton",
    "F": "tensorflow-cpu",
    "R": "ray matplotlib dask distributed accelerate",
    "M": "mpich mpi4py",
}


class Failure(NamedTuple):
    """One way to fail: the cause, how it is provoked, the shell command, and what the text cannot tell from the cause."""

    cause: str
    how: str
    shell: str
    also: tuple[str, ...] = ()
    why: str = ""
    seconds: int = 90


GROUP = (
    "import os, sys, time, datetime, signal, torch, torch.distributed as dist\n"
    "seconds = datetime.timedelta(seconds=5)\n"
)
JOIN = "dist.init_process_group('gloo', timeout=seconds)\nrank = dist.get_rank()\n"
STORE = "export MASTER_ADDR=127.0.0.1 MASTER_PORT=$PORT; "


def py(python: str, code: str, before: str = "", prefix: str = "", name: str = "train.py") -> str:
    """A shell command that writes a script and runs it."""
    return f"cat > {name} <<'END_OF_SCRIPT'\n{code}\nEND_OF_SCRIPT\n{before}{prefix} {python} {name}"


def ranks(code: str, count: int = 2, options: str = "") -> str:
    """Ranks of one job under torchrun."""
    return f"cat > train.py <<'END_OF_SCRIPT'\n{GROUP}{code}\nEND_OF_SCRIPT\n$T -m torch.distributed.run --nproc-per-node {count} --master-port $PORT {options} train.py"


def numba(code: str, answers: str, copied: bool = True) -> str:
    """Numba on the stand-in driver."""
    lines = "import numpy as np\nfrom numba import cuda\n@cuda.jit\ndef k(x):\n    i = cuda.grid(1)\n    if i < x.size: x[i] += 1\n"
    copy = "x = cuda.to_device(np.zeros(4096, np.float32))\n" if copied else ""
    return py("$J", f"{lines}{copy}{code}", f"export LD_LIBRARY_PATH=$DRIVER FAKECUDA='driver=12080;cc=90;{answers}'; ")


TRITON = py("$J", """import ctypes
import triton
import triton.language as tl


@triton.jit
def k(x, B: tl.constexpr):
    i = tl.arange(0, B)
    a = tl.load(x + i[:, None] * B + i[None, :])
    tl.store(x + i[:, None] * B + i[None, :], tl.dot(a, a))


class Buffer:
    dtype = "fp16"
    room = ctypes.create_string_buffer(1 << 20)

    def data_ptr(self):
        return ctypes.addressof(self.room)


k[(1,)](Buffer(), B=SIZE, num_warps=4)""", "export LD_LIBRARY_PATH=$DRIVER TRITON_LIBCUDA_PATH=$DRIVER FAKECUDA='driver=12080;cc=90;ANSWERS'; ")  # fmt: skip

TRAIN = (
    "import torch\nmodel = torch.nn.Linear(512, 512)\nopt = torch.optim.SGD(model.parameters(), 0.1)\n"
    "for step in range(3):\n    loss = model(torch.randn(8, 512)).square().mean()\n    loss.backward()\n    opt.step()\n    print('step', step, float(loss))\n"
)
LOADER = (
    "import torch\nfrom torch.utils.data import DataLoader, Dataset\nclass Images(Dataset):\n    def __len__(self): return 400\n"
    "    def __getitem__(self, i): return torch.randn(3, 16, 16)\n"
)
FILES = LOADER.replace("torch.randn(3, 16, 16)", "open(__file__), torch.randn(4)")

# fmt: off
FIRST: dict[str, Failure] = {
    # ---- env.limit: open files
    "files-loader": Failure("env.limit", "ulimit -n 40, data loader with 12 workers", py("$T", LOADER + "kept = []\nfor batch in DataLoader(Images(), batch_size=1, num_workers=12):\n    kept.append(batch)\nprint(len(kept))", "ulimit -n 40; ")),
    "files-open": Failure("env.limit", "ulimit -n 30, files kept open", py("$T", "import torch\nshards = [open('/etc/hostname') for _ in range(100)]\n", "ulimit -n 30; ")),
    "files-import-torch": Failure("env.limit", "ulimit -n 4, import torch", py("$T", "import torch\n", "ulimit -n 4; ")),
    "files-import-tf": Failure("env.limit", "ulimit -n 5, import tensorflow", py("$F", "import tensorflow as tf\nprint(tf.__version__)", "ulimit -n 5; ")),
    "files-keep-tf": Failure("env.limit", "ulimit -n 40, tf.data over many files", py("$F", "import tensorflow as tf\nfor i in range(100):\n    with tf.io.TFRecordWriter(f'{i}.rec') as w: w.write(b'x' * 100)\nnames = tf.constant([f'{i}.rec' for i in range(100)])\nd = tf.data.Dataset.from_tensor_slices(names).interleave(tf.data.TFRecordDataset, cycle_length=100, block_length=1)\nkeep = [open('/etc/hostname') for _ in range(20)]\nfor x in d.take(300): pass\nprint('done')", "ulimit -n 48; ")),
    "files-jax": Failure("env.limit", "ulimit -n 8, JAX starts its backend", py("$J", "import jax\nkept = []\ntry:\n    while True: kept.append(open('/etc/hostname'))\nexcept OSError: kept.pop()\nimport jax.numpy as jnp\nprint(jnp.ones(3).sum())", "ulimit -n 300; ")),
    "files-shared": Failure("env.limit", "ulimit -n 64, tensors passed by file descriptor", py("$T", "import torch, torch.multiprocessing as mp\ndef work(q):\n    for i in range(200): q.put(torch.ones(4))\n    import time; time.sleep(3)\nif __name__ == '__main__':\n    mp.set_sharing_strategy('file_descriptor')\n    q = mp.Queue()\n    p = mp.Process(target=work, args=(q,)); p.start()\n    kept = [q.get(timeout=10) for _ in range(200)]\n    print(len(kept))", "ulimit -n 64; ")),
    "files-sockets": Failure("env.limit", "ulimit -n 25, sockets", py("$T", "import socket, torch\nkept = [socket.socket() for _ in range(60)]", "ulimit -n 25; ")),
    # ---- processes and threads
    "procs-openblas": Failure("env.limit", "ulimit -u 1, import numpy (OpenBLAS threads)", py("$J", "import numpy\nprint(numpy.ones((200, 200)) @ numpy.ones((200, 200)))", "export OPENBLAS_NUM_THREADS=8; ", "$NOBODY bash -c 'ulimit -u 1; exec \"$@\"' x")),
    "procs-threads": Failure("env.limit", "ulimit -u 12, Python threads", py("$T", "import threading, time, torch\nkept = [threading.Thread(target=time.sleep, args=(5,), daemon=True) for _ in range(60)]\nfor t in kept: t.start()", "", "$NOBODY bash -c 'ulimit -u 12; exec \"$@\"' x")),
    "procs-loader": Failure("env.limit", "ulimit -u 8, data loader workers", py("$T", LOADER + "for batch in DataLoader(Images(), batch_size=4, num_workers=16): pass", "export OMP_NUM_THREADS=1; ", "$NOBODY bash -c 'ulimit -u 8; exec \"$@\"' x")),
    "procs-gomp": Failure("env.limit", "ulimit -u 1, OpenMP threads of torch", py("$T", "import torch\ntorch.set_num_threads(16)\nprint((torch.randn(2000, 2000) @ torch.randn(2000, 2000)).sum())\nprint(torch.randn(4000, 4000).exp().sum())", "", "$NOBODY bash -c 'ulimit -u 1; exec \"$@\"' x")),
    "procs-tf": Failure("env.limit", "ulimit -u 6, TensorFlow's thread pools", py("$F", "import tensorflow as tf\nprint(tf.reduce_sum(tf.ones((20, 20))))", "", "$NOBODY bash -c 'ulimit -u 6; exec \"$@\"' x")),
    "procs-jax": Failure("env.limit", "ulimit -u 6, JAX's thread pools", py("$J", "import jax.numpy as jnp\nprint(jnp.ones(3).sum())", "export OPENBLAS_NUM_THREADS=1; ", "$NOBODY bash -c 'ulimit -u 6; exec \"$@\"' x")),
    "procs-fork": Failure("env.limit", "ulimit -u 2, subprocess", py("$T", "import subprocess, torch\nkept = [subprocess.Popen(['sleep', '4']) for _ in range(30)]", "export OMP_NUM_THREADS=1; ", "$NOBODY bash -c 'ulimit -u 6; exec \"$@\"' x")),
    # ---- address space, file size, time
    "as-torch": Failure("env.limit", "ulimit -v 600000, import torch", py("$T", "import torch\nprint(torch.__version__)", "ulimit -v 400000; ")),
    "as-tensor": Failure("env.limit", "ulimit -v 4000000, a tensor of 4 GB", py("$T", "import torch\nx = torch.zeros(1 << 30)\nprint(x.sum())", "ulimit -v 4000000; "), ("memory.host",), "the message is the one of exhausted memory; only the limit tells"),
    "as-numpy": Failure("env.limit", "ulimit -v 1500000, an array of 4 GB", py("$J", "import numpy as np\nx = np.ones(1 << 29)\n", "ulimit -v 1500000; "), ("memory.host",), "the message is the one of exhausted memory; only the limit tells"),
    "as-jax": Failure("env.limit", "ulimit -v 2500000, JAX", py("$J", "import jax.numpy as jnp\nprint(jnp.ones((1 << 28,)).sum())", "ulimit -v 1800000; "), ("memory.host",), "the message is the one of exhausted memory; only the limit tells"),
    "as-tf": Failure("env.limit", "ulimit -v 1500000, import tensorflow", py("$F", "import tensorflow as tf\nprint(tf.__version__)", "ulimit -v 900000; "), ("memory.host",), "the message is the one of exhausted memory; only the limit tells"),
    "size-save": Failure("env.limit", "ulimit -f 100, torch.save", py("$T", TRAIN + "torch.save(model.state_dict(), 'model.pt')", "ulimit -f 100; ")),
    "size-numpy": Failure("env.limit", "ulimit -f 100, numpy.save", py("$J", "import numpy as np\nnp.save('x.npy', np.ones(1 << 20))", "ulimit -f 100; ")),
    "cpu-time": Failure("env.limit", "ulimit -t 3, a long loop", py("$T", "import torch\nwhile True: torch.randn(500, 500) @ torch.randn(500, 500)", "ulimit -t 4; ") + "; echo exit $?"),
    # ---- full places
    "full-save": Failure("env.limit", "torch.save into a full file system", py("$T", TRAIN + "import os\ntorch.save(model.state_dict(), os.environ['FULL'] + '/model.pt')")),
    "small-save": Failure("env.limit", "torch.save of 1 MB into 1 MB", py("$T", TRAIN + "import os\nfor epoch in range(3): torch.save(model.state_dict(), os.environ['SMALL'] + f'/epoch{epoch}.pt')")),
    "full-numpy": Failure("env.limit", "numpy.save into a full file system", py("$J", "import os, numpy as np\nnp.save(os.environ['SMALL'] + '/x.npy', np.ones(1 << 20))")),
    "full-tf": Failure("env.limit", "a TensorFlow checkpoint into a full file system", py("$F", "import os, tensorflow as tf\nv = tf.Variable(tf.ones((1024, 1024)))\nprint(tf.train.Checkpoint(v=v).save(os.environ['SMALL'] + '/ckpt'))")),
    "full-events": Failure("env.limit", "TensorBoard events into a full file system", py("$F", "import os, tensorflow as tf\nw = tf.summary.create_file_writer(os.environ['FULL'] + '/logs')\nwith w.as_default():\n    for i in range(100): tf.summary.scalar('loss', 0.5, step=i)\nw.flush()")),
    "full-inodes": Failure("env.limit", "no inode left", py("$T", "import os, torch\nfor i in range(40): torch.save(torch.ones(2), os.environ['SMALL'] + f'/{i}.pt')")),
    "full-print": Failure("env.limit", "the log itself on a full file system", py("$T", "import torch\nfor i in range(100000): print('step', i, 'loss', 0.5)", "", "") + " > $SMALL/log.txt"),
    "full-tmp-compile": Failure("env.limit", "TMPDIR full, torch.compile", py("$T", "import torch\nf = torch.compile(lambda x: (x.sin() + x.cos()).sum())\nprint(f(torch.randn(1000)))", "export TMPDIR=$FULL; ")),
    "small-tmp-compile": Failure("env.limit", "TMPDIR of 1 MB, torch.compile", py("$T", "import torch\nf = torch.compile(lambda x: (x.sin() + x.cos()).sum())\nprint(f(torch.randn(1000)))", "export TMPDIR=$SMALL; ")),
    "full-nvcc": Failure("env.limit", "TMPDIR full, nvcc", "echo '__global__ void k(int*p){*p=1;} int main(){k<<<1,1>>>(0);}' > k.cu; TMPDIR=$FULL nvcc k.cu -o k"),
    "full-gcc": Failure("env.limit", "TMPDIR full, gcc of an extension", "printf '#include <stdio.h>\\nint main(){puts(\"x\");}\\n' > k.c; TMPDIR=$FULL gcc -O2 k.c -o k"),
    "full-pip": Failure("env.limit", "pip install into a full file system", "$T -m venv --without-pip v >/dev/null; python3 -m pip install -q --no-deps --target $SMALL/site numpy 2>&1 | grep -v '^WARNING: Location'"),
    "full-ray": Failure("env.limit", "Ray's session folder on a full file system", py("$R", "import os, ray\nray.init(num_cpus=1, _temp_dir=os.environ['SMALL'] + '/r', include_dashboard=False)\nprint(ray.cluster_resources())")),
    # ---- closed places
    "ro-save": Failure("env.limit", "torch.save onto a read-only file system", py("$T", "import os, torch\ntorch.save(torch.ones(2), os.environ['RO'] + '/model.pt')")),
    "ro-triton": Failure("env.limit", "TRITON_CACHE_DIR on a read-only file system", py("$J", "from triton.runtime.cache import FileCacheManager\nFileCacheManager('abc').put(b'kernel', 'kernel.cubin')", "export TRITON_CACHE_DIR=$RO/triton; ")),
    "denied-triton": Failure("env.limit", "TRITON_HOME of another user", py("$J", "from triton.runtime.cache import FileCacheManager\nFileCacheManager('abc').put(b'kernel', 'kernel.cubin')", "export HOME=/; ", "$NOBODY")),
    "ro-inductor": Failure("env.limit", "TORCHINDUCTOR_CACHE_DIR read-only", py("$T", "import torch\nf = torch.compile(lambda x: (x.sin() + x.cos()).sum())\nprint(f(torch.randn(1000)))", "export TORCHINDUCTOR_CACHE_DIR=$RO/inductor; ")),
    "no-tmp": Failure("env.limit", "no usable temporary folder", py("$T", "import torch, tempfile\nprint(tempfile.mkdtemp())", "export TMPDIR=$RO TEMP=$RO TMP=$RO; cd $RO; mount --bind $RO /tmp; mount --bind $RO /var/tmp; mount --bind $RO /usr/tmp 2>/dev/null; ", "", "$WORK/train.py")),
    "numba-cache": Failure("env.limit", "Numba's cache folders closed", py("$J", "from numba import njit\n@njit(cache=True)\ndef f(x): return x + 1\nprint(f(1))", "cp train.py $SMALL; cd $SMALL; chmod 555 $SMALL; export HOME=/nowhere; ", "$NOBODY")),
    "numba-cache-ro": Failure("env.limit", "NUMBA_CACHE_DIR read-only", py("$J", "from numba import njit\n@njit(cache=True)\ndef f(x): return x + 1\nprint(f(1))", "export NUMBA_CACHE_DIR=$RO/numba; ")),
    "extension-ro": Failure("env.limit", "TORCH_EXTENSIONS_DIR read-only", py("$T", "from torch.utils.cpp_extension import load_inline\nm = load_inline('e', 'int f() { return 1; }', functions=['f'])", "export TORCH_EXTENSIONS_DIR=$RO/ext; ")),
    "hub-home": Failure("env.limit", "the home folder of another user", py("$T", "import torch\ntorch.hub.load_state_dict_from_url('http://127.0.0.1:1/w.pth')", "export HOME=/; ", "$NOBODY")),
    "denied-save": Failure("env.limit", "a checkpoint folder of another user", py("$T", "import torch\ntorch.save(torch.ones(2), 'model.pt')", "", "$NOBODY")),
    "nvcc-tmp-gone": Failure("env.limit", "TMPDIR does not exist, nvcc", "echo '__global__ void k(int*p){*p=1;} int main(){k<<<1,1>>>(0);}' > k.cu; TMPDIR=/nowhere nvcc k.cu -o k"),
    "mpl-home": Failure("env.limit", "Matplotlib's folders closed, and no temporary one", py("$R", "import matplotlib.pyplot as plt\nprint(plt.get_backend())", "export HOME=/ TMPDIR=$RO TEMP=$RO TMP=$RO; cd $RO; mount --bind $RO /tmp; mount --bind $RO /var/tmp; ", "$NOBODY", "$WORK/train.py")),
    "quota": Failure("env.limit", "a user's quota", "mkdir q; mount -t tmpfs -o usrquota,usrquota_block_hardlimit=1M none q && chmod 777 q && " + py("$T", "import torch\nfor i in range(5): torch.save(torch.ones(1 << 17), f'q/{i}.pt')", "", "$NOBODY")),
    # ---- program.order
    "tf-visible": Failure("program.order", "visible devices set after the runtime started", py("$F", "import tensorflow as tf\nprint(tf.ones(2))\ntf.config.set_visible_devices([], 'GPU')")),
    "tf-logical": Failure("program.order", "logical devices set after the runtime started", py("$F", "import tensorflow as tf\nprint(tf.ones(2))\ncpu = tf.config.list_physical_devices('CPU')[0]\ntf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)")),
    "tf-interop": Failure("program.order", "thread pools set after the runtime started", py("$F", "import tensorflow as tf\nprint(tf.ones(2))\ntf.config.threading.set_inter_op_parallelism_threads(2)")),
    "tf-eager-late": Failure("program.order", "eager execution enabled after a graph", py("$F", "import tensorflow.compat.v1 as tf\ntf.disable_eager_execution()\na = tf.constant(1)\ntf.enable_eager_execution()")),
    "tf-growth-differs": Failure("program.order", "memory growth on one of two GPUs", py("$F", "import tensorflow as tf\nfrom tensorflow.python.eager import context\nc = context.context()\ng = [context.PhysicalDevice(f'/physical_device:GPU:{i}', 'GPU') for i in (0, 1)]\nc._initialize_physical_devices()\nc._physical_devices += g\nc._visible_device_list += g\nc._physical_device_to_index.update({d: i for i, d in enumerate(c._physical_devices)})\ntf.config.experimental.set_memory_growth(g[0], True)\nprint(tf.ones(2))")),
    "tf-growth-late": Failure("program.order", "memory growth after the runtime started", py("$F", "import tensorflow as tf\nfrom tensorflow.python.eager import context\nc = context.context()\ng = [context.PhysicalDevice('/physical_device:GPU:0', 'GPU')]\nc._initialize_physical_devices()\nc._physical_devices += g\nprint(tf.ones(2))\ntf.config.experimental.set_memory_growth(g[0], True)")),
    "tf-collective-late": Failure("program.order", "collective strategy after the runtime started", py("$F", "import json, os\nos.environ['TF_CONFIG'] = json.dumps({'cluster': {'worker': ['localhost:%s' % os.environ['PORT']]}, 'task': {'type': 'worker', 'index': 0}})\nimport tensorflow as tf\nprint(tf.ones(2))\ns = tf.distribute.MultiWorkerMirroredStrategy()")),
    "start-method": Failure("program.order", "the start method set twice", py("$T", "import torch.multiprocessing as mp\nmp.set_start_method('spawn')\nmp.set_start_method('fork')")),
    "interop-late": Failure("program.order", "interop threads set after parallel work", py("$T", "import torch\ntorch.set_num_interop_threads(4)\ntorch.set_num_interop_threads(2)")),
    "group-twice": Failure("program.order", "the process group initialised twice", py("$T", GROUP + "dist.init_process_group('gloo', rank=0, world_size=1)\ndist.init_process_group('gloo', rank=0, world_size=1)", STORE)),
    "group-missing": Failure("program.order", "a collective before the process group", py("$T", GROUP + "x = torch.ones(2)\ndist.all_reduce(x)")),
    "jax-distributed-late": Failure("program.order", "jax.distributed.initialize after an array", py("$J", "import os, jax, jax.numpy as jnp\nprint(jnp.ones(2))\njax.distributed.initialize('127.0.0.1:' + os.environ['PORT'], 1, 0)")),
    "jax-devices-late": Failure("program.order", "jax_num_cpu_devices after an array", py("$J", "import jax, jax.numpy as jnp\nprint(jnp.ones(2))\njax.config.update('jax_num_cpu_devices', 4)")),
    "jax-donated": Failure("program.order", "a donated array used again", py("$J", "import jax, jax.numpy as jnp\nf = jax.jit(lambda x: x + 1, donate_argnums=0)\nx = jnp.ones(4)\ny = f(x)\nprint(x + 1)"), ("other.not_gpu",), "a use after a donation is also a plain mistake"),
    "spawn-main": Failure("program.order", "processes started while the main module is imported", py("$T", "import torch, torch.multiprocessing as mp\nmp.set_start_method('spawn', force=True)\ndef work(): print(torch.ones(1))\np = mp.Process(target=work)\np.start()\np.join()"), ("program.fork", "other.not_gpu"), "a missing main guard"),
    "numba-threads-late": Failure("program.order", "NUMBA_NUM_THREADS changed after the threads started", py("$J", "import os, numba\nfrom numba import njit, prange\nimport numpy as np\n@njit(parallel=True)\ndef f(x):\n    s = 0.0\n    for i in prange(x.size): s += x[i]\n    return s\nprint(f(np.ones(100)))\nnumba.config.NUMBA_NUM_THREADS = 7\nfrom numba.core.config import reload_config\nos.environ['NUMBA_NUM_THREADS'] = '7'\nreload_config()")),
    "ray-twice": Failure("program.order", "ray.init twice", py("$R", "import ray\nray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)\nray.init(num_cpus=1)")),
    "accelerate-twice": Failure("program.order", "accelerate's state changed after its start", py("$T", "import sys\nsys.path.append(SITE_R)\nfrom accelerate import Accelerator\nAccelerator(cpu=True)\nAccelerator(mixed_precision='bf16')".replace("SITE_R", "__import__('os').environ['SITE_R']"))),
    # ---- distributed.peer
    "peer-absent": Failure("distributed.peer", "rank 1 never comes", py("$T", GROUP + "dist.init_process_group('gloo', rank=0, world_size=2, timeout=seconds)", STORE)),
    "master-absent": Failure("distributed.peer", "rank 0 never comes", py("$T", GROUP + "dist.init_process_group('gloo', rank=1, world_size=2, timeout=seconds)", STORE)),
    "port-taken": Failure("distributed.peer", "the master's port is taken", py("$T", GROUP + "import socket\ns = socket.socket(); s.bind(('', int(os.environ['PORT']))); s.listen()\ndist.init_process_group('gloo', rank=0, world_size=1, timeout=seconds)", STORE)),
    "peer-exits": Failure("distributed.peer", "rank 1 exits before a collective", ranks(JOIN + "if rank == 1: os._exit(3)\nx = torch.ones(4)\ndist.all_reduce(x)")),
    "peer-killed": Failure("distributed.peer", "rank 1 is killed", ranks(JOIN + "if rank == 1: os.kill(os.getpid(), 9)\ntime.sleep(1)\nx = torch.ones(4)\ndist.all_reduce(x)")),
    "peer-raises": Failure("other.not_gpu", "rank 1 raises a KeyError; the others lose it", ranks(JOIN + "if rank == 1: {}['learning_rate']\nx = torch.ones(4)\ndist.all_reduce(x)"), ("distributed.peer",), "the first error is a plain one of rank 1"),
    "peer-late": Failure("distributed.peer", "rank 1 does not come to a collective", ranks(JOIN + "if rank == 1: time.sleep(12)\nx = torch.ones(4)\ndist.all_reduce(x)")),
    "barrier": Failure("distributed.peer", "monitored_barrier without rank 1", ranks(JOIN + "if rank == 0: dist.monitored_barrier(timeout=seconds)\nelse: time.sleep(9)")),
    "store-gone": Failure("distributed.peer", "rank 0 with the store leaves first", ranks(JOIN + "if rank == 0: os._exit(0)\ntime.sleep(1)\nfrom torch.distributed.distributed_c10d import _get_default_store\n_get_default_store().get('epoch')")),
    "name-unknown": Failure("distributed.peer", "the master's name is not known", py("$T", GROUP + "dist.init_process_group('gloo', rank=1, world_size=2, timeout=seconds)", "export MASTER_ADDR=node-17.cluster MASTER_PORT=$PORT; ")),
    "torchrun-endpoint": Failure("distributed.peer", "torchrun's rendezvous endpoint is not there", "echo 'print(1)' > train.py; $T -m torch.distributed.run --nnodes 2 --nproc-per-node 1 --rdzv-backend c10d --rdzv-endpoint 127.0.0.1:$PORT --rdzv-conf is_host=0,timeout=6,read_timeout=6 train.py", seconds=150),
    "torchrun-alone": Failure("distributed.peer", "the second node never joins", "echo 'print(1)' > train.py; $T -m torch.distributed.run --nnodes 2 --nproc-per-node 1 --rdzv-backend c10d --rdzv-endpoint 127.0.0.1:$PORT --rdzv-conf join_timeout=6,timeout=6 train.py", seconds=150),
    "torchrun-port": Failure("distributed.peer", "torchrun's port is taken", "echo 'print(1)' > train.py; $T -c \"import socket,time; s=socket.socket(); s.bind(('', $PORT)); s.listen(); time.sleep(25)\" & sleep 1; $T -m torch.distributed.run --nproc-per-node 1 --master-port $PORT train.py"),
    "jax-peer-absent": Failure("distributed.peer", "JAX: process 1 never comes", py("$J", "import os, jax\njax.distributed.initialize('127.0.0.1:' + os.environ['PORT'], 2, 0, initialization_timeout=6)")),
    "jax-coordinator-absent": Failure("distributed.peer", "JAX: the coordinator is not there", py("$J", "import os, jax\njax.distributed.initialize('127.0.0.1:' + os.environ['PORT'], 2, 1, initialization_timeout=6)")),
    "jax-peer-killed": Failure("distributed.peer", "JAX: process 1 is killed", py("$J", "import os, sys, jax, time, signal\nme = int(sys.argv[1])\njax.distributed.initialize('127.0.0.1:' + os.environ['PORT'], 2, me, heartbeat_timeout_seconds=10)\nif me == 1: os.kill(os.getpid(), 9)\ntime.sleep(60)").removesuffix("$J train.py") + "($J train.py 1 2>/dev/null &); $J train.py 0", seconds=120),
    "tf-port-taken": Failure("distributed.peer", "TensorFlow: the worker's port is taken", py("$F", "import json, os, socket\nport = int(os.environ['PORT'])\ns = socket.socket(); s.bind(('', port)); s.listen()\nos.environ['TF_CONFIG'] = json.dumps({'cluster': {'worker': ['localhost:%d' % port, 'localhost:1']}, 'task': {'type': 'worker', 'index': 0}})\nimport tensorflow as tf\ns = tf.distribute.MultiWorkerMirroredStrategy()")),
    "tf-peer-killed": Failure("distributed.peer", "TensorFlow: worker 1 is killed", py("$F", "import json, os, sys, time\nme, port = int(sys.argv[1]), int(os.environ['PORT'])\nos.environ['TF_CONFIG'] = json.dumps({'cluster': {'worker': ['localhost:%d' % port, 'localhost:%d' % (port + 1)]}, 'task': {'type': 'worker', 'index': me}})\nimport tensorflow as tf\ns = tf.distribute.MultiWorkerMirroredStrategy()\n@tf.function\ndef step():\n    return s.reduce('SUM', s.run(lambda: tf.ones(3)), axis=None)\nprint(step())\nif me == 1: os.kill(os.getpid(), 9)\ntime.sleep(2)\nprint(step())").removesuffix("$F train.py") + "($F train.py 1 2>/dev/null >/dev/null &); $F train.py 0", seconds=150),
    "ray-worker": Failure("distributed.peer", "Ray: the worker of a task is killed", py("$R", "import os, ray\nray.init(num_cpus=1, include_dashboard=False)\n@ray.remote(max_retries=0)\ndef work(): os.kill(os.getpid(), 9)\nray.get(work.remote())")),
    "ray-actor": Failure("distributed.peer", "Ray: an actor dies", py("$R", "import os, ray\nray.init(num_cpus=1, include_dashboard=False)\n@ray.remote\nclass Trainer:\n    def step(self): os._exit(1)\nt = Trainer.remote()\nray.get(t.step.remote())")),
    "ray-address": Failure("distributed.peer", "Ray: no cluster at the address", py("$R", "import os, ray\nos.environ['RAY_gcs_rpc_server_reconnect_timeout_s'] = '5'\nray.init(address='127.0.0.1:1')"), seconds=60),
    "spawn-killed": Failure("distributed.peer", "torch.multiprocessing.spawn: process 1 is killed", py("$T", "import os, torch.multiprocessing as mp\ndef work(rank):\n    if rank == 1: os.kill(os.getpid(), 9)\nif __name__ == '__main__': mp.spawn(work, nprocs=2)"), ("memory.host",), "a killed process is most often killed for memory"),
    "pool-killed": Failure("distributed.peer", "a process pool loses a process", py("$T", "import os, torch\nfrom concurrent.futures import ProcessPoolExecutor\ndef work(i): os.kill(os.getpid(), 9)\nif __name__ == '__main__':\n    with ProcessPoolExecutor(2) as p: print(list(p.map(work, range(4))))"), ("memory.host",), "a killed process is most often killed for memory"),
    "dask-absent": Failure("distributed.peer", "Dask: no scheduler at the address", py("$R", "from dask.distributed import Client\nClient('tcp://127.0.0.1:1', timeout='3s')")),
    "mpi-abort": Failure("distributed.peer", "MPI: rank 1 aborts", "cat > train.py <<'END_OF_SCRIPT'\nfrom mpi4py import MPI\nimport os\nc = MPI.COMM_WORLD\nif c.rank == 1: os.kill(os.getpid(), 9)\nc.Barrier()\nEND_OF_SCRIPT\n$MPIEXEC -n 2 $M train.py"),
    "rpc-peer": Failure("distributed.peer", "torch RPC: worker 1 never comes", py("$T", "import os, torch.distributed.rpc as rpc\nrpc.init_rpc('a', rank=0, world_size=2, rpc_backend_options=rpc.TensorPipeRpcBackendOptions(rpc_timeout=4, init_method='tcp://127.0.0.1:' + os.environ['PORT'] + '?timeout=5'))", "timeout 40"), seconds=60),
    # ---- program.launch: the compiler refuses what the card cannot have
    "ptxas-shared": Failure("program.launch", "static shared memory beyond 48 KB", "echo '__global__ void k(float*p){__shared__ float s[20000]; s[threadIdx.x]=p[0]; __syncthreads(); p[1]=s[19999-threadIdx.x];} int main(){k<<<1,1>>>(0);}' > k.cu; nvcc -arch=sm_90 k.cu -o k"),
    "ptxas-params": Failure("program.launch", "kernel arguments beyond the limit", "echo 'struct S{int x[9000];}; __global__ void k(S s,int*p){*p=s.x[*p];} int main(){S s; k<<<1,1>>>(s,0);}' > k.cu; nvcc -arch=sm_90 k.cu -o k", ("program.build",), "the compiler says it while the program is built"),
    "triton-resources": Failure("program.launch", "Triton's class for more shared memory than the card has", py("$J", "from triton.runtime.errors import OutOfResources\ndef launch(needed, limit):\n    if needed > limit: raise OutOfResources(needed, limit, 'shared memory')\nlaunch(147456, 101376)")),
    "triton-threads": Failure("program.launch", "Triton's class for more threads than the card has", py("$J", "from triton.runtime.errors import OutOfResources\ndef launch(needed, limit):\n    if needed > limit: raise OutOfResources(needed, limit, 'threads')\nlaunch(2048, 1024)")),
    # ---- a stand-in driver that refuses one call: $DRIVER holds libcuda.so.1, FAKECUDA says which call and code
    "numba-argument": Failure("program.launch", "cuLaunchKernelEx answers 1", numba("k[4, 2048](x)", "cuLaunchKernelEx=1;cuLaunchKernel=1")),
    "numba-resources": Failure("program.launch", "cuLaunchKernelEx answers 701", numba("k[4, 1024](x)", "cuLaunchKernelEx=701;cuLaunchKernel=701")),
    "numba-cooperative": Failure("program.launch", "cuLaunchKernelEx answers 720", numba("k[4000, 1024](x)", "cuLaunchKernelEx=720;cuLaunchKernel=720")),
    "numba-illegal": Failure("program.illegal_access", "cuCtxSynchronize answers 700", numba("k[4, 32](x)\ncuda.synchronize()", "cuCtxSynchronize=700;cuStreamSynchronize=700")),
    "numba-capturing": Failure("program.order", "cuLaunchKernelEx answers 900", numba("k[4, 32](x)", "cuLaunchKernelEx=900;cuLaunchKernel=900")),
    "numba-capturing-sync": Failure("program.order", "cuCtxSynchronize answers 906", numba("k[4, 32](x)\ncuda.synchronize()", "cuCtxSynchronize=906;cuStreamSynchronize=906")),
    "numba-oom": Failure("memory.oom", "cuMemAlloc answers 2", numba("y = cuda.device_array(1 << 30)", "cuMemAlloc=2", copied=False)),
    # ---- neighbours
    "shm-full": Failure("memory.host", "/dev/shm of 1 MB, data loader", "mount --bind $SMALL /dev/shm; " + py("$T", LOADER.replace("16, 16", "512, 512") + "for batch in DataLoader(Images(), batch_size=4, num_workers=2): pass")),
    "oom-killed-loader": Failure("memory.host", "a data-loader worker is killed", py("$T", LOADER.replace("return torch.randn", "__import__('os').kill(__import__('os').getpid(), 9); return torch.randn") + "for batch in DataLoader(Images(), num_workers=2): pass")),
    "plain-missing-file": Failure("other.not_gpu", "a data file that is not there", py("$T", "import torch\ntorch.load('weights.pt')")),
    "plain-key": Failure("other.not_gpu", "a KeyError", py("$F", "import tensorflow as tf\nprint(tf.ones(1))\n{}['lr']")),
    "plain-connect": Failure("other.not_gpu", "a download refused", py("$T", "import torch\ntorch.hub.load_state_dict_from_url('http://127.0.0.1:1/w.pth')")),
    "plain-argument": Failure("other.not_gpu", "a wrong argument", py("$T", "import argparse, torch\np = argparse.ArgumentParser()\np.add_argument('--epochs', type=int)\np.parse_args(['--epochs', 'x'])")),
    "shape": Failure("program.shape", "a matrix product that does not fit", py("$T", "import torch\ntorch.ones(3, 4) @ torch.ones(5, 6)")),
    "cpu-build": Failure("framework.cpu_only", "CUDA asked of a CPU build", py("$T", "import torch\ntorch.ones(2, device='cuda')")),
    "healthy-low": Failure("healthy", "low limits, everything works", py("$T", TRAIN + "torch.save(model.state_dict(), 'model.pt')\nprint('saved')", "ulimit -n 64 -f 100000; ")),
    "healthy-jax": Failure("healthy", "JAX on the CPU", py("$J", "import jax.numpy as jnp\nprint(jnp.ones(3).sum())")),
    "healthy-mpl": Failure("healthy", "Matplotlib makes a temporary cache", py("$R", "import matplotlib\nmatplotlib.use('Agg')\nimport matplotlib.pyplot as plt\nprint(plt.get_backend())", "export HOME=/; ", "$NOBODY")),
    "healthy-ranks": Failure("healthy", "two ranks, nothing wrong", ranks(JOIN + "x = torch.ones(2)\ndist.all_reduce(x)\nprint(rank, x)\ndist.destroy_process_group()")),
    "healthy-caught": Failure("healthy", "a full folder, caught", py("$T", "import os, torch\ntry:\n    open(os.environ['FULL'] + '/x', 'w').write('x')\nexcept OSError as e:\n    print('no cache:', e)\nprint('accuracy 0.93')")),
}

SECOND: dict[str, Failure] = {
    "tempfile-full": Failure("env.limit", "a temporary file on a full file system", py("$T", "import tempfile, os, torch\nwith tempfile.NamedTemporaryFile(dir=os.environ['FULL']) as f:\n    torch.save(torch.ones(100000), f)\n    f.flush()")),
    "log-ro": Failure("env.limit", "a log file on a read-only file system", py("$T", "import logging, os\nlogging.basicConfig(filename=os.environ['RO'] + '/train.log')")),
    "sqlite-full": Failure("env.limit", "SQLite on a full file system", py("$T", "import os, sqlite3\nc = sqlite3.connect(os.environ['FULL'] + '/runs.db')\nc.execute('create table t (x)')\nc.executemany('insert into t values (?)', [('x' * 1000,)] * 500)\nc.commit()")),
    "copy-full": Failure("env.limit", "a data set copied to a full file system", py("$T", "import os, shutil, pathlib\nd = pathlib.Path('data'); d.mkdir(exist_ok=True)\n(d / 'a.bin').write_bytes(b'x' * 100000)\nshutil.copytree(d, os.environ['FULL'] + '/data')")),
    "pickle-size": Failure("env.limit", "ulimit -f, pickle", py("$T", "import pickle, torch\npickle.dump(torch.ones(1 << 20), open('x.pkl', 'wb'), protocol=4)", "ulimit -f 100; ")),
    "asyncio-files": Failure("env.limit", "ulimit -n, asyncio", py("$T", "import asyncio, torch\nkept = [open('/etc/hostname') for _ in range(14)]\nasync def main(): pass\nasyncio.run(main())", "ulimit -n 20; ")),
    "popen-files": Failure("env.limit", "ulimit -n, subprocess", py("$T", "import subprocess, torch\nkept = []\nwhile True: kept.append(subprocess.Popen(['sleep', '2'], stdout=subprocess.PIPE))", "ulimit -n 32; ")),
    "import-files": Failure("env.limit", "no descriptor left for a library", py("$T", "import sys, torch\nkept = []\ntry:\n    while True: kept.append(open('/etc/hostname'))\nexcept OSError: pass\nimport ctypes\nctypes.CDLL('libz.so.1')\n", "ulimit -n 40; ")),
    "jit-ro": Failure("env.limit", "a scripted module saved onto a read-only file system", py("$T", "import os, torch\nm = torch.jit.script(torch.nn.Linear(2, 2))\nm.save(os.environ['RO'] + '/m.pt')")),
    "filestore-ro": Failure("env.limit", "a rendezvous file on a read-only file system", py("$T", "import os, datetime, torch.distributed as dist\ndist.init_process_group('gloo', init_method='file://' + os.environ['RO'] + '/store', rank=0, world_size=1, timeout=datetime.timedelta(seconds=5))")),
    "memmap-full": Failure("env.limit", "a memory-mapped array beyond the file system", py("$T", "import os, numpy as np\nx = np.memmap(os.environ['SMALL'] + '/x.dat', dtype='f4', mode='w+', shape=(1 << 20,))\nx.tofile(os.environ['SMALL'] + '/y.dat')")),
    "mkdir-ro": Failure("env.limit", "an output folder on a read-only file system", py("$T", "import os, pathlib\npathlib.Path(os.environ['RO'], 'runs', 'exp1').mkdir(parents=True)")),
    "threads-as": Failure("env.limit", "ulimit -v, threads", py("$T", "import threading, time\nthreading.stack_size(64 << 20)\nkept = [threading.Thread(target=time.sleep, args=(3,), daemon=True) for _ in range(200)]\nfor t in kept: t.start()", "ulimit -v 9000000; ")),
    "tf-write-ro": Failure("env.limit", "tf.io.write_file onto a read-only file system", py("$F", "import os, tensorflow as tf\ntf.io.write_file(os.environ['RO'] + '/x.txt', 'abc')")),
    "tf-record-full": Failure("env.limit", "TFRecordWriter on a full file system", py("$F", "import os, tensorflow as tf\nwith tf.io.TFRecordWriter(os.environ['FULL'] + '/x.rec') as w:\n    for i in range(1000): w.write(b'x' * 1000)")),
    "tf-saved-full": Failure("env.limit", "a SavedModel on a full file system", py("$F", "import os, tensorflow as tf\nm = tf.Module(); m.v = tf.Variable(tf.ones((1000, 1000)))\ntf.saved_model.save(m, os.environ['SMALL'] + '/m')")),
    "tf-keras-full": Failure("env.limit", "a Keras model saved on a full file system", py("$F", "import os, tensorflow as tf\nm = tf.keras.Sequential([tf.keras.layers.Input((600,)), tf.keras.layers.Dense(600)])\nm.save(os.environ['SMALL'] + '/m.keras')")),
    "tf-dataset-full": Failure("env.limit", "a data set saved on a full file system", py("$F", "import os, tensorflow as tf\ntf.data.Dataset.from_tensors(tf.ones((1000, 1000))).save(os.environ['SMALL'] + '/d')")),
    "jax-cache-ro": Failure("healthy", "JAX's cache folder is read-only; it goes on", py("$J", "import jax, jax.numpy as jnp\nprint(jax.jit(lambda x: x + 1)(jnp.ones(3)))", "export JAX_COMPILATION_CACHE_DIR=$RO/jax JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0; ")),
    "scaler-twice": Failure("program.order", "a scaler's step twice", py("$T", "import torch\nm = torch.nn.Linear(2, 2)\no = torch.optim.SGD(m.parameters(), 0.1)\ns = torch.amp.GradScaler('cpu')\ns.scale(m(torch.ones(2)).sum()).backward()\ns.step(o)\ns.step(o)")),
    "scaler-unscale": Failure("program.order", "a scaler's unscale twice", py("$T", "import torch\nm = torch.nn.Linear(2, 2)\no = torch.optim.SGD(m.parameters(), 0.1)\ns = torch.amp.GradScaler('cpu')\ns.scale(m(torch.ones(2)).sum()).backward()\ns.unscale_(o)\ns.unscale_(o)")),
    "ddp-early": Failure("program.order", "DDP before the process group", py("$T", "import torch\nfrom torch.nn.parallel import DistributedDataParallel as DDP\nDDP(torch.nn.Linear(2, 2))")),
    "rank-early": Failure("program.order", "the rank asked before the process group", py("$T", "import torch.distributed as dist\nprint(dist.get_world_size(dist.new_group([0])))")),
    "destroy-early": Failure("program.order", "the process group destroyed before it was made", py("$T", "import torch.distributed as dist\ndist.barrier()")),
    "rpc-early": Failure("program.order", "an RPC before its start", py("$T", "import torch, torch.distributed.rpc as rpc\nrpc.rpc_sync('b', torch.add, args=(torch.ones(1), 1))")),
    "jax-distributed-twice": Failure("program.order", "jax.distributed.initialize twice", py("$J", "import os, jax\na = '127.0.0.1:' + os.environ['PORT']\njax.distributed.initialize(a, 1, 0)\njax.distributed.initialize(a, 1, 0)")),
    "jax-donated-jit": Failure("program.order", "a donated array passed to a compiled function", py("$J", "import jax, jax.numpy as jnp\nf = jax.jit(lambda x: x * 2, donate_argnums=0)\nx = jnp.ones(8)\nf(x)\nf(x)"), ("other.not_gpu",), "a use after a donation is also a plain mistake"),
    "tf-logical-twice": Failure("program.order", "virtual devices of a device changed after the start", py("$F", "import tensorflow as tf\ntf.ones(1)\ntf.config.set_logical_device_configuration(tf.config.list_physical_devices('CPU')[0], [tf.config.LogicalDeviceConfiguration()] * 3)")),
    "tf-intraop": Failure("program.order", "intra-op threads after the start", py("$F", "import tensorflow as tf\ntf.ones(1)\ntf.config.threading.set_intra_op_parallelism_threads(3)")),
    "tf-v2-late": Failure("program.order", "TF 1 behaviour chosen after a tensor", py("$F", "import tensorflow.compat.v1 as tf\ntf.ones(1)\ntf.disable_eager_execution()\ntf.enable_v2_behavior()\ntf.disable_v2_behavior()\nwith tf.Graph().as_default():\n    tf.enable_eager_execution()")),
    "numba-launch-717": Failure("program.launch", "cuFuncSetAttribute answers 1", numba("k[4, 32](x)", "cuFuncSetAttribute=1;cuLaunchKernelEx=1;cuLaunchKernel=1")),
    "numba-merge": Failure("program.order", "cuLaunchKernelEx answers 902", numba("k[4, 32](x)", "cuLaunchKernelEx=902;cuLaunchKernel=902")),
    "numba-copy-capture": Failure("program.order", "cuMemcpyDtoH answers 901", numba("k[4, 32](x)\nprint(x.copy_to_host())", "cuMemcpyDtoH=901")),
    "numba-launch-failed": Failure("program.illegal_access", "cuStreamSynchronize answers 719", numba("k[4, 32](x)\ncuda.synchronize()", "cuCtxSynchronize=719;cuStreamSynchronize=719")),
    "triton-shared": Failure("program.launch", "Triton: a tile beyond the shared memory", TRITON.replace("SIZE", "128").replace("ANSWERS", "shared=20000")),
    "triton-argument": Failure("program.launch", "Triton: cuLaunchKernelEx answers 1", TRITON.replace("SIZE", "32").replace("ANSWERS", "cuLaunchKernelEx=1;cuLaunchKernel=1")),
    "triton-out-of-resources": Failure("program.launch", "Triton: cuLaunchKernelEx answers 701", TRITON.replace("SIZE", "32").replace("ANSWERS", "cuLaunchKernelEx=701;cuLaunchKernel=701")),
    "store-wait": Failure("distributed.peer", "a key that no rank sets", py("$T", "import os, datetime, torch.distributed as dist\ns = dist.TCPStore('127.0.0.1', int(os.environ['PORT']), 1, True, timeout=datetime.timedelta(seconds=3))\ns.wait(['ready'])")),
    "store-port": Failure("distributed.peer", "a store on a port that is taken", py("$T", "import os, socket, torch.distributed as dist\np = int(os.environ['PORT']) + 3\ns = socket.socket(); s.bind(('', p)); s.listen()\ndist.TCPStore('127.0.0.1', p, 1, True)")),
    "manager-refused": Failure("distributed.peer", "a manager of another process that is not there", py("$T", "from multiprocessing.managers import BaseManager\nm = BaseManager(address=('127.0.0.1', 1), authkey=b'x')\nm.connect()"), ("other.not_gpu",), "nothing names a job"),
    "server-port": Failure("distributed.peer", "a server on a port that is taken", py("$T", "import os, socket, torch, http.server\np = int(os.environ['PORT']) + 5\ns = socket.socket(); s.bind(('', p)); s.listen()\nhttp.server.HTTPServer(('', p), http.server.BaseHTTPRequestHandler)")),
    "pipe-broken": Failure("distributed.peer", "the other end of a pipe died", py("$T", "import os, torch.multiprocessing as mp\ndef work(c): os._exit(1)\na, b = mp.Pipe()\np = mp.get_context('fork').Process(target=work, args=(b,)); p.start(); b.close(); p.join()\nfor i in range(100): a.send(b'x' * 100000)")),
    "pool-init": Failure("distributed.peer", "processes of a pool die at their start", py("$T", "import os, torch, multiprocessing as mp\nfrom concurrent.futures import ProcessPoolExecutor\ndef die(): os._exit(1)\nwith ProcessPoolExecutor(2, mp_context=mp.get_context('fork'), initializer=die) as p: print(p.submit(len, 'x').result())"), ("memory.host", "other.not_gpu"), "nothing tells why they died"),
    "gloo-exits": Failure("distributed.peer", "gloo: rank 1 exits before a broadcast", py("$T", "import os, time, datetime, torch, torch.distributed as dist\nos.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(int(os.environ['PORT']) + 7))\nme = 0 if os.fork() else 1\ndist.init_process_group('gloo', rank=me, world_size=2, timeout=datetime.timedelta(seconds=6))\nif me == 1: os._exit(0)\ntime.sleep(1)\nx = torch.ones(4)\ndist.broadcast(x, 1)\ndist.all_reduce(x)")),
    "gloo-late": Failure("distributed.peer", "gloo: rank 1 never receives", py("$T", "import os, time, datetime, torch, torch.distributed as dist\nos.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(int(os.environ['PORT']) + 9))\nme = 0 if os.fork() else 1\ndist.init_process_group('gloo', rank=me, world_size=2, timeout=datetime.timedelta(seconds=4))\nif me == 1: time.sleep(12); os._exit(0)\nx = torch.ones(4)\ndist.recv(x, 1)")),
    "gloo-error": Failure("program.shape", "gloo: rank 1 fails in its own product", py("$T", "import os, time, datetime, torch, torch.distributed as dist\nos.environ.update(MASTER_ADDR='127.0.0.1', MASTER_PORT=str(int(os.environ['PORT']) + 11))\nme = 0 if os.fork() else 1\ndist.init_process_group('gloo', rank=me, world_size=2, timeout=datetime.timedelta(seconds=6))\nif me == 1:\n    import traceback\n    try: torch.ones(3, 4) @ torch.ones(5, 6)\n    except Exception: traceback.print_exc(); os._exit(1)\ntime.sleep(1)\ndist.all_reduce(torch.ones(4))")),
    "spawn-raises": Failure("other.not_gpu", "a spawned process raises a KeyError", py("$T", "import torch.multiprocessing as mp\ndef work(i): {}['lr']\nmp.start_processes(work, nprocs=2, start_method='fork')"), ("distributed.peer",), "the error is a plain one of the child"),
    "tf-server-port": Failure("distributed.peer", "a TensorFlow server on a port that is taken", py("$F", "import os, socket, tensorflow as tf\np = int(os.environ['PORT']) + 13\ns = socket.socket(); s.bind(('', p)); s.listen()\ntf.distribute.Server({'worker': ['localhost:%d' % p]}, job_name='worker', task_index=0)")),
    "plain-value": Failure("other.not_gpu", "a ValueError after TensorFlow's notes", py("$F", "import tensorflow as tf\nprint(tf.ones(1))\nint('x')")),
    "plain-no-file": Failure("other.not_gpu", "a file that is not there", py("$T", "import torch\nopen('/data/imagenet/train.txt')")),
    "plain-url": Failure("other.not_gpu", "a download refused", py("$T", "import urllib.request, torch\nurllib.request.urlopen('http://127.0.0.1:1/model.bin')")),
    "healthy-small": Failure("healthy", "small limits and a small folder, nothing wrong", py("$T", "import os, torch\ntorch.save(torch.ones(10), os.environ['SMALL'] + '/m.pt')\nprint('saved, accuracy 0.91')", "ulimit -n 128 -f 20000; ")),
    "healthy-retry": Failure("healthy", "a port is taken, the next one is free", py("$T", "import os, socket, torch\np = int(os.environ['PORT']) + 15\na = socket.socket(); a.bind(('', p)); a.listen()\nb = socket.socket()\ntry: b.bind(('', p))\nexcept OSError as e: print('port', p, 'not free, taking', p + 1)\nb.bind(('', p + 1))\nprint('epoch 1 done')")),
    "healthy-tf": Failure("healthy", "TensorFlow on the CPU", py("$F", "import tensorflow as tf\nprint(tf.reduce_sum(tf.ones((3, 3))))")),
}
