"""Thirteenth operators, memory and company: stages that still hold the card, habits that fill it, rings in small places, ranks that watch each other, children that fail, meeting places by file, kernels' asserts told by Python's pools."""

from __future__ import annotations

from lab.random.eleventh import (  # fmt: skip
    FRAG,
    HOST,
    IDX,
    ILL,
    LAU,
    LIM,
    NCCL,
    OOM,
    ORD,
    OT,
    PEER,
    SEL,
    SET,
    SHA,
    TAKEN,
    C,
    Case,
    T,
    py,
)
from lab.random.eleventh_cpp import cu
from lab.random.thirteenth import enter
from lab.random.twelfth import ON, card, shell

CHILD = "import atexit, subprocess, sys\nchild = subprocess.Popen([sys.executable, '-c', 'import torch, time; x = torch.empty(12 << 30, dtype=torch.uint8, device=chr(99) + chr(117) + chr(100) + chr(97)); print(1, flush=True); time.sleep(50)'], stdout=subprocess.PIPE)\natexit.register(child.kill)\nchild.stdout.readline()\nprint('@STAGE@ (pid', child.pid, ') is up', flush=True)\n"
NEAR = (OOM,)


def holds(needs: str, target: str, stage: str, code: str) -> Case:
    """A program whose own helper holds 12 GiB of the card while it asks for all but 8 GiB."""
    return py(needs, target, TAKEN, NEAR, CHILD.replace("@STAGE@", stage) + code, "(?i)out of memory|OUT_OF_MEMORY")


enter(
    "stages-that-still-hold",
    holds(ON, "reference model's process, torch", "reference model", T + "t = torch.cuda.get_device_properties(0).total_memory\nw = torch.empty(t - (8 << 30), dtype=torch.uint8, device='cuda')\n"),
    holds(ON, "evaluation of the last epoch, torch", "evaluation of epoch 3", T + "f, t = torch.cuda.mem_get_info()\nprint(f'{(t - f) >> 20} MiB in use before training', flush=True)\nw = [torch.empty((t >> 1) - (4 << 30), dtype=torch.uint8, device='cuda') for _ in range(2)]\n"),
    holds("cupy-matmul cupy-fft", "preprocessing, CuPy", "preprocessing", C + "f, t = cupy.cuda.runtime.memGetInfo()\nb = cupy.empty(t - (8 << 30), dtype='u1')\nprint('cuda')\n"),
    holds("numba-kernel", "server of yesterday, Numba", "embedding server", "import numpy\nfrom numba import cuda\nf, t = cuda.current_context().get_memory_info()\nb = cuda.device_array(t - (8 << 30), dtype='u1')\nprint('cuda')\n"),
)  # fmt: skip
SHARE = "torch.cuda.set_per_process_memory_fraction((@M@ << 20) / torch.cuda.get_device_properties(0).total_memory)\n"


def habit(target: str, share: int, body: str) -> Case:
    """A program that fills its share of the card in a way that people have."""
    return card(target, OOM, (), SHARE.replace("@M@", str(share)) + body, "(?i)out of memory")


enter(
    "memory-by-habit",
    habit("looks for the largest batch and keeps the last", 600, "b = 1 << 20\nwhile True:\n    y = torch.ones(b, 8, device='cuda')\n    print('batch', b, 'fits', flush=True)\n    b *= 2\n"),
    habit("validates with gradients", 500, "m = nn.Sequential(*[nn.Sequential(nn.Linear(1024, 1024), nn.GELU()) for _ in range(16)]).cuda()\nprint(m(torch.ones(4096, 1024, device='cuda')).mean().item())\n"),
    habit("first step of the optimiser", 420, "m = nn.Linear(4096, 8192).cuda()\no = torch.optim.AdamW(m.parameters())\nm(torch.ones(8, 4096, device='cuda')).sum().backward()\nprint('backward done', flush=True)\no.step()\n"),
    habit("keys and values grow with the text", 500, "k = torch.zeros(8, 32, 0, 128, device='cuda', dtype=torch.float16)\nstep = torch.zeros(8, 32, 256, 128, device='cuda', dtype=torch.float16)\nfor i in range(64):\n    k = torch.cat([k, step], 2)\nprint(k.shape)\n"),
    habit("answers over a large vocabulary", 900, "h = torch.ones(4096, 64, device='cuda', requires_grad=True)\nw = torch.ones(64, 50000, device='cuda')\nF.cross_entropy(h @ w, torch.zeros(4096, dtype=torch.long, device='cuda')).backward()\n"),
    habit("all pictures at once", 500, "p = torch.ones(600, 3, 224, 224, device='cuda')\nprint(F.conv2d(p, torch.ones(64, 3, 7, 7, device='cuda'), stride=2).shape)\n"),
    habit("copies of the weights for every worker", 500, "import copy, threading\nm = nn.Linear(4096, 4096).cuda()\nms = [copy.deepcopy(m) for _ in range(16)]\nprint(len(ms))\n"),
    habit("double precision by a default", 500, "torch.set_default_dtype(torch.float64)\nws = [torch.randn(4096, 4096, device='cuda') for _ in range(6)]\nprint(len(ws))\n"),
)  # fmt: skip
CUT = "(?i)out of memory"
enter(
    "shares-in-pieces",
    card("a quarter of every segment kept", FRAG, (OOM,), SHARE.replace("@M@", "600") + "keep = [torch.empty(5 << 20, dtype=torch.uint8, device='cuda') for _ in range(104)][::4]\nprint(f'{torch.cuda.memory_allocated() >> 20} MiB of 600 MiB used', flush=True)\ny = torch.empty(200 << 20, dtype=torch.uint8, device='cuda')\n", CUT),
    card("one of two neighbours kept", FRAG, (OOM,), SHARE.replace("@M@", "640") + "keep = [torch.empty(8 << 20, dtype=torch.uint8, device='cuda') for _ in range(50)][::2]\nprint(f'{torch.cuda.memory_allocated() >> 20} MiB of 640 MiB used', flush=True)\ny = torch.empty(170 << 20, dtype=torch.uint8, device='cuda')\n", CUT),
    py("cupy-matmul cupy-fft", "pool with a limit, a piece of every chunk kept", FRAG, (OOM, SET), C + "pool = cupy.get_default_memory_pool()\npool.set_limit(size=512 << 20)\nfirst = [cupy.empty(64 << 20, dtype='u1') for _ in range(7)]\ndel first\nkeep = [cupy.empty(16 << 20, dtype='u1') for _ in range(28)][::4]\nprint(pool.used_bytes() >> 20, 'MiB used of 512, cuda', flush=True)\nbig = cupy.empty(150 << 20, dtype='u1')\n", CUT),
    card("not in pieces, only too small", OOM, (), SHARE.replace("@M@", "300") + "keep = [torch.empty(20 << 20, dtype=torch.uint8, device='cuda') for _ in range(20)]\n", CUT),
)  # fmt: skip
UNI = "#include <cerrno>\n#include <sys/mman.h>\n#include <sys/shm.h>\n#include <fcntl.h>\n#include <unistd.h>\n"
SMALL = "mount -t tmpfs -o size=4m none /dev/shm"


def ring(target: str, cause: str, also: tuple[str, ...], body: str, setup: str = "") -> Case:
    """A program of torch that works, then makes a ring of shared memory."""
    code = f"import mmap, os, torch\nprint('ready', torch.ones(3, device='@D@').sum().item(), flush=True)\n{body}"
    return Case(ON, target, cause, also, code=code, setup=setup, expect="(?i)memory|space|Errno|bus error|SIGBUS", void="")  # fmt: skip


enter(
    "rings-in-small-places",
    ring("huge pages that nobody reserved", HOST, (LIM, OT, SET), "m = mmap.mmap(-1, 1 << 30, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x40000)\nm[0] = 1\n"),
    ring("file of huge pages", HOST, (LIM, OT, SET), "f = os.memfd_create('ring', 4)\nos.ftruncate(f, 1 << 30)\nm = mmap.mmap(f, 1 << 30)\nm[0] = 1\n"),
    ring("shared place of four megabytes, reserved", HOST, (LIM, OT), "f = os.open('/dev/shm/ring@O@', os.O_CREAT | os.O_RDWR)\nos.posix_fallocate(f, 0, 64 << 20)\n", SMALL),
    ring("shared place of four megabytes, written", HOST, (LIM, OT), "open('/dev/shm/ring@O@', 'wb').write(bytes(64 << 20))\n", SMALL),
    ring("shared place without leave", LIM, (HOST, OT), "from multiprocessing import shared_memory\nshared_memory.SharedMemory(create=True, size=4096)\n", "mount -t tmpfs -o size=4m,ro none /dev/shm"),
    ring("locks without a place", LIM, (HOST, OT), "import multiprocessing as mp\nmp.get_context('spawn').Lock()\n", "mount -t tmpfs -o size=4m,ro none /dev/shm"),
    cu("huge pages that nobody reserved, C++", HOST, (LIM, OT), 'void* p = mmap(nullptr, 1 << 30, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0); if (p == MAP_FAILED) { perror("[fatal] staging ring: mmap"); return 3; } memset(p, 0, 1 << 30);', UNI),
    cu("old kind of shared memory, C++", HOST, (LIM, OT), 'int i = shmget(IPC_PRIVATE, 1ull << 50, IPC_CREAT | 0600); if (i < 0) { perror("[fatal] staging ring: shmget"); return 3; }', UNI),
)  # fmt: skip
RANKS = "import datetime, os, sys, time, torch, torch.distributed as dist\nr = int(os.environ['RANK'])\nx = torch.ones(4, device='@D@')\ndist.init_process_group('gloo', timeout=datetime.timedelta(seconds=6))\nprint('rank', r, 'joined', flush=True)\n"
TWO = "export MASTER_ADDR=127.0.0.1 MASTER_PORT=@O@ WORLD_SIZE=2; ( RANK=1 $PYTHON $SCRIPT > $W/rank1.log 2>&1 & ); RANK=0 $PYTHON $SCRIPT; c=$?; sed 's/^/[rank1] /' $W/rank1.log; exit $c"
LATE = "(?i)timed? ?out|closed|reset|peer|rank|refused"


def watch(target: str, cause: str, also: tuple[str, ...], body: str, expect: str = LATE) -> Case:
    """Two ranks on one machine; the first one's end is the job's."""
    return shell("torch-nccl", target, cause, also, TWO, expect, RANKS + body)


SUM = "y = torch.ones(4)\ndist.all_reduce(y)\nprint(y)\n"
enter(
    "ranks-that-watch",
    watch("the other leaves before the barrier", PEER, (OT,), "if r == 1:\n    print('rank 1: nothing to do', flush=True)\n    os._exit(0)\ntime.sleep(1)\n" + SUM),
    watch("the other is out of patience", PEER, (OT, ORD), "if r == 1:\n    time.sleep(14)\n" + SUM),
    watch("the other stumbles over its data", PEER, (OT,), "if r == 1:\n    open('shard-00001.tar')\ntime.sleep(1)\n" + SUM),
    watch("the other is killed", PEER, (OT, HOST), "import signal\nif r == 1:\n    os.kill(os.getpid(), signal.SIGKILL)\ntime.sleep(1)\n" + SUM),
    watch("the other sends a shorter list", SHA, (NCCL, PEER, OT), "y = torch.ones(4 if r == 0 else 2 << 16)\ndist.all_reduce(y)\nprint(y.sum())\n", "(?i)size|mismatch|closed|reset|timed|enforce"),
    watch("an object that cannot be packed", OT, (PEER,), "o = [lambda: 1, None]\nif r == 0:\n    dist.broadcast_object_list(o, 0)\n", "(?i)pickle"),
    watch("parts for three of two", SHA, (OT, PEER), "out = torch.zeros(2)\ndist.scatter(out, [torch.ones(2)] * 3 if r == 0 else None, 0)\n", "(?i)list|size|length|ranks"),
    watch("other cards for each rank", SEL, (PEER, OT), "torch.cuda.set_device(r + 1)\nprint('cuda', torch.ones(1, device='cuda'))\n", "(?i)ordinal|device"),
)  # fmt: skip
SPAWN = "import os, sys, torch, torch.multiprocessing as mp\ndef work(rank):\n    x = torch.ones(8, device='cuda')\n@B@\nif __name__ == '__main__':\n    print('parent', flush=True)\n    mp.spawn(work, nprocs=2)\n"


def spawned(target: str, cause: str, also: tuple[str, ...], body: str, expect: str) -> Case:
    """Children by torch's spawn that fail; the parent tells of it."""
    text = "\n".join("    " + line for line in body.split("\n"))
    return Case(ON, target, cause, also, code=SPAWN.replace("@B@", text), expect=expect, dress="shell")


enter(
    "spawned-children-that-fail",
    spawned("each takes its own card", SEL, (OT,), "torch.cuda.set_device(rank)\nprint(torch.ones(3, device='cuda').sum().item())", "(?i)ordinal|device"),
    spawned("a label beyond the classes", IDX, (), "print(x[torch.tensor([90], device='cuda')].item())", "(?i)assert|CUDA error"),
    spawned("widths that do not fit", SHA, (), "x.view(2, 4) @ x.view(2, 4)", "(?i)shapes cannot"),
    spawned("more than any card", OOM, (), "torch.empty(900 << 30, dtype=torch.uint8, device='cuda')", "(?i)out of memory"),
    spawned("one is killed", OT, (HOST, LIM, PEER), "import signal\nif rank == 1:\n    os.kill(os.getpid(), signal.SIGKILL)", "(?i)SIGKILL|exit"),
    spawned("one says that it is enough", OT, (PEER,), "if rank == 1:\n    sys.exit(5)", "(?i)exit code 5|terminated"),
    spawned("a file that is not there", OT, ("env.path",), "open('shards/%d.bin' % rank)", "(?i)No such file"),
)  # fmt: skip
FILE = "import datetime, os, torch, torch.distributed as dist\nx = torch.ones(4, device='@D@')\nprint('card', x.device, flush=True)\n"


def meets(target: str, cause: str, also: tuple[str, ...], body: str, expect: str) -> Case:
    """A group that meets by a file or by a store of its own."""
    return py("torch-nccl", target, cause, also, FILE + "T = datetime.timedelta(seconds=5)\n" + body, expect)


enter(
    "meeting-places-by-file",
    meets("folder that is not there", OT, (PEER, "env.path", LIM), "dist.init_process_group('gloo', init_method='file:///nowhere/meet', rank=0, world_size=1, timeout=T)\n", "(?i)No such|nowhere|open"),
    meets("file left by a larger job", PEER, (OT,), "s = dist.FileStore('meet', 2)\ns.set('old', '1')\ndist.init_process_group('gloo', init_method='file://' + os.path.abspath('meet'), rank=0, world_size=2, timeout=T)\n", "(?i)timed? ?out|wait|connect"),
    meets("way of another name", SET, (OT, PEER), "dist.init_process_group('gloo', init_method='redis://127.0.0.1', rank=0, world_size=1, timeout=T)\n", "(?i)redis|rendezvous"),
    meets("no rank told", SET, (OT, PEER), "dist.init_process_group('gloo', init_method='tcp://127.0.0.1:@O@', world_size=1, timeout=T)\n", "(?i)rank"),
    meets("number of ranks below nought", SET, (OT, PEER, SHA), "dist.init_process_group('gloo', init_method='tcp://127.0.0.1:@O@', rank=0, world_size=0, timeout=T)\n", "(?i)world|size|timed|Error"),
    meets("port beyond all", SET, (OT, PEER), "dist.TCPStore('127.0.0.1', 99999, 1, True, timeout=T)\n", "(?i)port|99999|range"),
    meets("key that nobody sets", PEER, (OT, ORD), "s = dist.TCPStore('127.0.0.1', 0, 1, True, timeout=datetime.timedelta(seconds=2))\ns.get('leader')\n", "(?i)timed? ?out|wait"),
    meets("name of a machine nobody knows", PEER, (OT, SET), "dist.TCPStore('node-00.cluster.invalid', @O@, 2, False, timeout=T)\n", "(?i)resol|known|name|timed|connect"),
)  # fmt: skip
POOL = "import concurrent.futures as cf, torch\nx = torch.ones(8, device='cuda')\nprint('parent', x.sum().item(), flush=True)\n"
enter(
    "failures-carried-by-threads",
    py(ON, "label in one of four threads", IDX, (), POOL + "def f(i):\n    return x[torch.tensor([i * 30], device='cuda')].item()\nwith cf.ThreadPoolExecutor(4) as p:\n    print(list(p.map(f, range(4))))\n", "(?i)assert|CUDA error"),
    py(ON, "too much in one of four threads", OOM, (), POOL + "def f(i):\n    return torch.empty((900 << 30) if i == 2 else 8, dtype=torch.uint8, device='cuda').numel()\nwith cf.ThreadPoolExecutor(4) as p:\n    print(list(p.map(f, range(4))))\n", "(?i)out of memory"),
    py(ON, "third card in a thread", SEL, (), POOL + "import threading, os, traceback\ndef f():\n    try:\n        torch.ones(2, device='cuda:2')\n    except Exception:\n        traceback.print_exc()\n        os._exit(9)\nthreading.Thread(target=f).start()\n", "(?i)ordinal|device"),
    py(ON, "shapes in a task", SHA, (), POOL + "import asyncio\nasync def main():\n    async with asyncio.TaskGroup() as g:\n        g.create_task(asyncio.to_thread(lambda: x.view(2, 4) @ x.view(2, 4)))\nasyncio.run(main())\n", "(?i)shapes cannot"),
    py("cupy-matmul cupy-raw", "wild kernel in a thread, CuPy", ILL, (), "import concurrent.futures as cf\n" + C + "k = cupy.RawKernel('extern \"C\" __global__ void k(float* p) { p[1ll << 37] = 1; }', 'k')\nx = cupy.ones(8, dtype='f')\ndef f():\n    k((1,), (1,), (x,))\n    cupy.cuda.Device().synchronize()\nprint('cuda', flush=True)\nwith cf.ThreadPoolExecutor(1) as p:\n    p.submit(f).result()\n", "(?i)illegal"),
    py("numba-kernel", "too many threads in a thread, Numba", LAU, (), "import concurrent.futures as cf, numpy\nfrom numba import cuda\n@cuda.jit\ndef k(a):\n    a[0] = 1\ndef f():\n    k[1, 4096](cuda.to_device(numpy.zeros(4)))\n    cuda.synchronize()\nprint('cuda', flush=True)\nwith cf.ThreadPoolExecutor(1) as p:\n    p.submit(f).result()\n", "(?i)CUDA_ERROR|invalid"),
)  # fmt: skip
