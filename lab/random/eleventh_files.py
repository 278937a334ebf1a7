"""Eleventh operators, files and limits: single libraries exchanged or emptied, names in packages, limits that the program sets for itself, caches, places, processes."""

from __future__ import annotations

from lab.random.eleventh import (  # fmt: skip
    ABI,
    BAD,
    BUG,
    BUILD,
    COMPILER,
    DNN_MIXED,
    DNN_NEED,
    DNN_NONE,
    DNN_OTHER,
    FORK,
    HOST,
    LIB,
    LIGHT,
    LIM,
    MIXED,
    NCCL,
    ODD,
    OOM,
    ORD,
    OT,
    PATH,
    PEER,
    SEL,
    SET,
    SHA,
    VERSION,
    C,
    Case,
    T,
    enter,
)

FIND = 'O=$(find -L @SITE@/nvidia @SITE@/torch/lib -name "@N@" -type f 2>/dev/null | sort | head -1); [ -n "$O" ] || exit 97; F=$(dirname $O); over $F; B=$(basename $O); O=$LOWER/$B; P=$F/$B; '


def lib(needs: str, name: str, target: str, cause: str, also: tuple[str, ...], how: str, expect: str = "") -> Case:
    """One library of the wheels is not as it was."""
    return Case(needs, f"{name}: {target}", cause, also, setup=FIND.replace("@N@", name) + how, expect=expect, void="", dress="shell")  # fmt: skip


SPARSE = "rm -f $P; truncate -s $(stat -c %s $O) $P"
UPPER = "cp $O $W/k; rm -f $P; cp $W/k ${P}.bak"
EARLY = "cp $O $W/k; rm -f $P; cp $W/k $P; dd if=/dev/zero of=$P bs=1 count=16 conv=notrunc 2>/dev/null"
TABLES_OFF = (
    "cp $O $W/k; rm -f $P; cp $W/k $P; printf '\\377\\377\\377\\377' | dd of=$P bs=1 seek=32 conv=notrunc 2>/dev/null"
)
enter(
    "downloads-with-holes",
    *(lib(needs, name, "all zeros", BAD, (LIB, ABI), SPARSE) for needs, name in (("torch-matmul", "libcublasLt.so.1*"), ("torch-train jax-conv", "libcudnn_graph.so.9*"), ("torch-fft cupy-fft", "libcufft.so.1*"), ("torch-solve", "libcusolver.so.1*"), ("torch-nccl", "libnccl.so.2*"))),
    *(lib(needs, name, "first bytes lost", BAD, (LIB, ABI), EARLY) for needs, name in (("torch-matmul", "libcudart.so.1*"), ("torch-matmul jax-matmul", "libcusparse.so.1*"), ("torch-matmul", "libcurand.so.1*"))),
    *(lib(needs, name, "table of parts lies elsewhere", BAD, (LIB, ABI), TABLES_OFF) for needs, name in (("torch-matmul", "libnvJitLink.so.1*"), ("torch-train jax-conv", "libcudnn.so.9*"))),
)  # fmt: skip
enter(
    "renamed-by-hand",
    *(lib(needs, name, "kept under another name", cause, also, UPPER) for needs, name, cause, also in (("torch-train jax-conv", "libcudnn.so.9*", DNN_NONE, (PATH, LIB, BAD)), ("torch-train jax-conv", "libcudnn_ops.so.9*", DNN_NONE, (DNN_NEED, BAD, DNN_MIXED, LIB)), ("torch-fft", "libcufft.so.1*", LIB, (PATH, BAD)), ("torch-solve jax-solve", "libcusolver.so.1*", LIB, (PATH, BAD)), ("torch-matmul", "libnvrtc.so.1*", LIB, (PATH, BAD, COMPILER, DNN_NEED)), ("torch-matmul", "libcupti.so.1*", LIB, (PATH, BAD)), ("torch-matmul", "libnvshmem_host.so*", LIB, (PATH, BAD)))),
)  # fmt: skip
STAND = "printf 'int {0}(void) {{ return 0; }}\\n' > $W/s.c; gcc -shared -fPIC -Wl,-soname,$B -o $W/s.so $W/s.c || exit 97; rm -f $P; cp $W/s.so $P"
enter(
    "stand-ins-without-functions",
    *(lib(needs, name, "a library with one function only", cause, also, STAND.format(function)) for needs, name, function, cause, also in (("torch-matmul", "libcusparse.so.1*", "cusparseCreate", BAD, (ABI, MIXED, VERSION, LIB)), ("torch-fft torch-matmul", "libcufft.so.1*", "cufftPlan1d", BAD, (ABI, MIXED, VERSION, LIB)), ("torch-nccl torch-matmul", "libnccl.so.2*", "ncclGetVersion", BAD, (ABI, MIXED, NCCL, ODD, "install.conflict")), ("torch-train", "libcudnn.so.9*", "cudnnGetVersion", BAD, (ABI, DNN_OTHER, DNN_MIXED, DNN_NONE)), ("torch-matmul", "libcupti.so.1*", "cuptiGetVersion", BAD, (ABI, MIXED, VERSION, LIB)))),
)  # fmt: skip
META = 'M=$(ls -d @SITE@/@N@*.dist-info | head -1); [ -d "$M" ] || exit 97; over $M; '


def meta(needs: str, name: str, target: str, cause: str, also: tuple[str, ...], how: str, after: str, expect: str) -> Case:  # fmt: skip
    """What an installer wrote about a package is not as it was, and the program asks."""
    return Case(needs, f"{name}: {target}", cause, also, setup=META.replace("@N@", name) + how, after=after, expect=expect, void="")  # fmt: skip


ASK = "import importlib.metadata as m\nprint(m.version('@N@'))\n"
WANT = "from importlib.metadata import version\nfrom packaging.version import Version\nif Version(version('@N@')) < Version('@V@'):\n    raise ImportError(f'@N@>=@V@ is required for a normal functioning of this module, but found @N@=={version(\"@N@\")}.')\n"
enter(
    "papers-of-packages",
    meta("torch-matmul", "torch-", "papers are empty", BAD, (OT, ODD), "rm -f $M/METADATA; : > $M/METADATA", ASK.replace("@N@", "torch") + "assert m.version('torch'), 'torch has no version'\n", "(?i)version|torch|KeyError|None"),
    meta("cupy-matmul", "cupy_cuda13x-", "papers are gone", BAD, (OT, ODD), "rm -f $M/*", ASK.replace("@N@", "cupy-cuda13x"), "(?i)cupy"),
    meta("torch-matmul jax-matmul", "numpy-", "a later release demanded", ODD, (OT, BUG, VERSION), ":", WANT.replace("@N@", "numpy").replace("@V@", "9.1"), "numpy>=9.1"),
    meta("torch-matmul torch-train", "torch-", "a later release demanded", ODD, (OT, BUG, VERSION), ":", WANT.replace("@N@", "torch").replace("@V@", "9.1"), "torch>=9.1"),
    meta("jax-matmul jax-grad", "jax-", "a later release demanded", ODD, (OT, BUG, VERSION), ":", WANT.replace("@N@", "jax").replace("@V@", "9.1"), "jax>=9.1"),
    meta("triton-add torch-compile", "triton-", "release told is another", ODD, (OT, BUG, VERSION, BAD), "sed -i 's/^Version: .*/Version: 1.0.0/' $M/METADATA", WANT.replace("@N@", "triton").replace("@V@", "2.0"), "triton>=2.0"),
)  # fmt: skip
SELF = "import resource\nresource.setrlimit(resource.@R@, (@N@, @N@))\n"


def lim(needs: str, target: str, limit: str, number: str, also: tuple[str, ...], after: str, expect: str) -> Case:
    """A program that limits itself after its first work, then goes on."""
    code = SELF.replace("@R@", limit).replace("@N@", number)
    return Case(needs, target, LIM, also, after=code + after, expect=expect, void="")


enter(
    "limits-set-by-itself",
    lim("torch-matmul torch-fft", "files open, then weights", "RLIMIT_NOFILE", "8", (OT, HOST), "for i in range(40):\n    globals()[f'f{i}'] = open('/dev/null')\n", "(?i)too many open"),
    lim("torch-matmul cupy-matmul", "address space, then a batch on the host", "RLIMIT_AS", "1 << 30", (HOST, OT, OOM), "import numpy\nb = numpy.ones(1 << 30, dtype='u1')\n", "(?i)memory|allocate"),
    lim(LIGHT, "file's size, then results", "RLIMIT_FSIZE", "4096", (OT,), "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nopen('r.bin', 'wb').write(bytes(1 << 20))\n", "(?i)too large|Errno 27"),
    lim("torch-matmul torch-train", "locked memory, then a watch", "RLIMIT_MEMLOCK", "0", (HOST, OT), "import ctypes, os\nc = ctypes.CDLL(None, use_errno=True)\nos.setuid(65534)\nb = ctypes.create_string_buffer(1 << 20)\nif c.mlock(b, 1 << 20):\n    raise OSError(ctypes.get_errno(), 'mlock of the staging ring failed: ' + os.strerror(ctypes.get_errno()))\n", "(?i)mlock"),
    lim(LIGHT, "processes, then a helper", "RLIMIT_NPROC", "1", (OT, HOST), "import os, subprocess\nos.setuid(65534)\nsubprocess.run(['true'], check=True)\nsubprocess.run(['sh', '-c', 'true & true & wait'], check=True)\n", "(?i)temporarily unavailable|BlockingIO|fork|non-zero"),
)  # fmt: skip
enter(
    "caches-in-bad-places",
    Case("cupy-raw", "kernels' folder is a broken link", LIM, (SET, OT, PATH, BAD), setup="ln -s /nonexistent/cache $W/kc", environ={"CUPY_CACHE_DIR": "$W/kc"}, expect="(?i)kc|exists|No such", void=""),
    Case("triton-add torch-compile", "kernels' folder is a broken link", LIM, (SET, OT, PATH, BAD), setup="ln -s /nonexistent/cache $W/kc", environ={"TRITON_CACHE_DIR": "$W/kc"}, expect="(?i)kc|exists|No such", void=""),
    Case("triton-add torch-compile", "kernels' folder has no room", LIM, (OT, BUILD, BAD), setup="mkdir -p $W/kc; mount -t tmpfs -o size=16k none $W/kc; chmod 777 $W/kc", environ={"TRITON_CACHE_DIR": "$W/kc"}, expect="(?i)space|Errno 28", void=""),
    Case("triton-add torch-compile", "kernels' folder may run nothing", LIM, (OT, BUILD, PATH, BAD, ABI), setup="mkdir -p $W/kc; mount -t tmpfs -o noexec none $W/kc; chmod 777 $W/kc", environ={"TRITON_CACHE_DIR": "$W/kc"}, expect="(?i)failed to map|not permitted|denied", void=""),
    Case("torch-compile", "compiled code's folder has few names", LIM, (OT, BUILD, BAD), setup="mkdir -p $W/ic; mount -t tmpfs -o nr_inodes=6 none $W/ic; chmod 777 $W/ic", environ={"TORCHINDUCTOR_CACHE_DIR": "$W/ic"}, expect="(?i)space|Errno 28", void=""),
    Case("numba-kernel jax-matmul", "harmless: driver's own cache without room", OT, (), setup="mkdir -p $W/cc; mount -t tmpfs -o size=8k none $W/cc; chmod 777 $W/cc", environ={"CUDA_CACHE_PATH": "$W/cc"}),
    Case("jax-matmul jax-grad", "harmless: kept compilations in a closed place", OT, (), environ={"JAX_COMPILATION_CACHE_DIR": "/proc/self/jaxcache", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}),
)  # fmt: skip
MP = "import multiprocessing as mp, os, sys, time\n"


def proc(target: str, cause: str, also: tuple[str, ...], code: str, expect: str, needs: str = "torch-graph") -> Case:
    """A program that starts processes itself."""
    return Case(needs, target, cause, also, code=code, expect=expect, dress="shell", seconds=40, void="")


GUARD = "if __name__ == '__main__':\n"
enter(
    "processes-of-other-kinds",
    proc("forked while the card's own thread computes", FORK, (), MP + T + "import threading\nx = torch.ones(4, device='cuda')\nres = []\ndef kid():\n    r, w = os.pipe()\n    p = os.fork()\n    if not p:\n        try:\n            (x + 1).sum().item()\n        except Exception as e:\n            os.write(w, f'{type(e).__name__}: {e}'.encode())\n        os._exit(0)\n    os.waitpid(p, 0)\n    os.close(w)\n    res.append(os.read(r, 900).decode())\nt = threading.Thread(target=kid)\nt.start()\nt.join()\nif res[0]:\n    sys.exit('render worker: ' + res[0])\n", "(?i)re-initialize|initialization"),
    proc("loader's collate puts the batch on the card", FORK, (), T + "from torch.utils.data import DataLoader\ndef put(b):\n    return torch.tensor(b).to('cuda')\n" + GUARD + "    torch.ones(1, device='cuda')\n    for b in DataLoader(range(8), 4, num_workers=1, collate_fn=put, multiprocessing_context='fork'):\n        print(b.sum().item())\n", "(?i)re-initialize|fork"),
    proc("loader's start function takes the card", FORK, (), T + "from torch.utils.data import DataLoader\ndef begin(i):\n    torch.cuda.manual_seed(i)\n    torch.zeros(1, device='cuda')\n" + GUARD + "    torch.ones(1, device='cuda')\n    for b in DataLoader(range(8), 4, num_workers=1, worker_init_fn=begin, multiprocessing_context='fork'):\n        print(b.sum().item())\n", "(?i)re-initialize|fork"),
    proc("loader's worker runs out of data", OT, (), T + "from torch.utils.data import DataLoader, Dataset\nclass D(Dataset):\n    def __len__(self):\n        return 9\n    def __getitem__(self, i):\n        return torch.load(f'shards/{i}.pt')\n" + GUARD + "    print(torch.ones(1, device='@D@'), flush=True)\n    for b in DataLoader(D(), 3, num_workers=1):\n        print(b)\n", "shards/", "torch-loader torch-matmul"),
    proc("forked pool over CuPy's arrays", FORK, (), MP + C + "x = cupy.ones(8)\ndef f(i):\n    return float((x * i).sum())\n" + GUARD + "    with mp.get_context('fork').Pool(1) as p:\n        print(p.apply_async(f, (2,)).get(timeout=20))\n", "(?i)initiali|CUDA", "cupy-matmul"),
    proc("sent as a handle, parent gone first", FORK, (ORD, OT, PEER), MP + T + "import torch.multiprocessing as tmp\ndef give(q):\n    q.put(torch.ones(4, device='cuda'))\n" + GUARD + "    ctx = tmp.get_context('spawn')\n    q = ctx.Queue()\n    p = ctx.Process(target=give, args=(q,))\n    p.start()\n    p.join(25)\n    print(q.get(timeout=5).sum().item())\n", "(?i)invalid|Connection|refused|Error|EOF|No such"),
    proc("start method told twice", OT, (ORD, FORK), MP + "mp.set_start_method('spawn')\n" + T + "print(torch.ones(1, device='@D@'), flush=True)\nmp.set_start_method('forkserver')\n", "(?i)context has already been set", "torch-matmul"),
    proc("spawned function nobody can carry", OT, (FORK,), MP + T + GUARD + "    print(torch.ones(1, device='@D@'), flush=True)\n    p = mp.get_context('spawn').Process(target=lambda: 1)\n    p.start()\n    p.join()\n", "(?i)pickle|lambda", "torch-matmul"),
)  # fmt: skip
TWO = "import datetime, os, torch\nimport torch.distributed as dist\nr = int(os.environ['LOCAL_RANK'])\ndist.init_process_group('gloo', timeout=datetime.timedelta(seconds=@S1@))\nx = torch.ones(4, device='@D@')\nprint('rank', r, 'up', flush=True)\n"


def ranks(target: str, cause: str, also: tuple[str, ...], body: str, expect: str, seconds: str = "9") -> Case:
    """Two ranks of gloo on one machine."""
    return Case("torch-matmul", target, cause, also, code=TWO.replace("@S1@", seconds) + body, command="$PYTHON -m torch.distributed.run --standalone --nproc-per-node 2 $SCRIPT", expect=expect, void="", seconds=40)  # fmt: skip


enter(
    "two-ranks-disagree",
    ranks("one goes to another collective", PEER, (OT, SHA, ORD), "h = torch.ones(4)\nif r:\n    dist.barrier()\nelse:\n    dist.monitored_barrier(timeout=datetime.timedelta(seconds=5), wait_all_ranks=True)\n", "(?i)timed out|timeout|rank|monitored|failed"),
    ranks("one has no data left", PEER, (OT, ORD), "for step in range(4 - r * 2):\n    dist.all_reduce(torch.ones(3))\nif r:\n    raise StopIteration('rank 1: shard 1 has 2 batches, others have 4')\n", "(?i)shard 1 has|closed|reset"),
    ranks("one is slower than the limit", PEER, (OT, ORD), "import time\nif r:\n    time.sleep(14)\ndist.all_reduce(torch.ones(3))\n", "(?i)timed out|timeout|reset|closed", "4"),
    ranks("objects that cannot be sent", OT, (PEER,), "import threading\nout = [None, None]\ndist.all_gather_object(out, threading.Lock())\n", "(?i)pickle"),
    ranks("lists of unlike length gathered", SHA, (PEER, OT), "out = [torch.empty(4) for _ in range(1)]\ndist.all_gather(out, torch.ones(4))\n", "(?i)size|list|invalid|rank"),
    ranks("one runs out of its share of the card", OOM, (PEER,), "assert '@D@' == 'cuda'\nif r:\n    torch.cuda.set_per_process_memory_fraction(0.002)\n    y = torch.empty(1 << 30, dtype=torch.uint8, device='cuda')\ndist.barrier()\n", "(?i)out of memory"),
    ranks("one takes a card of its own", SEL, (PEER,), "assert '@D@' == 'cuda'\ntorch.cuda.set_device('cuda:%d' % (r * 3))\ndist.barrier()\n", "(?i)ordinal"),
)  # fmt: skip
