"""Tenth operators, processes: spawned without a guard, pools and their beginnings, forks, launchers' words, ranks on one card."""

from __future__ import annotations

from lab.random.tenth import FORK, LIM, NCCL, ORD, OT, PATH, PEER, SEL, SET, SHA, C, Case, T, enter

MP = "import multiprocessing as mp, os, sys, time\n"


def proc(target: str, cause: str, also: tuple[str, ...], code: str, expect: str, needs: str = "torch-graph") -> Case:
    """A program that starts processes itself; nothing in its own process stands around it."""
    return Case(needs, target, cause, also, code=code, expect=expect, dress="shell", seconds=40)


enter(
    "spawned-without-a-guard",
    proc("pool at the top of the file", OT, (FORK, ORD), MP + T + "x = torch.ones(2, device='@D@')\ndef f(i):\n    return i\nfrom concurrent.futures import ProcessPoolExecutor\nwith ProcessPoolExecutor(1, mp_context=mp.get_context('spawn')) as p:\n    print(list(p.map(f, range(4))))\n", "(?i)bootstrapping|freeze_support", "torch-matmul"),
    proc("loader's workers at the top of the file", OT, (FORK, ORD), T + "from torch.utils.data import DataLoader\nx = torch.ones(2, device='@D@')\nfor b in DataLoader([1.0, 2.0], num_workers=1, multiprocessing_context='spawn'):\n    print(b)\n", "(?i)bootstrapping|freeze_support", "torch-loader"),
    proc("process at the top of the file", OT, (FORK, ORD), "import torch.multiprocessing as tmp\n" + T + "def f(q):\n    q.put(torch.ones(1).item())\nx = torch.ones(2, device='@D@')\nctx = tmp.get_context('spawn')\nq = ctx.Queue()\np = ctx.Process(target=f, args=(q,))\np.start()\np.join(20)\nprint(q.get(timeout=2))\n", "(?i)bootstrapping|Empty", "torch-matmul"),
)  # fmt: skip
POOL = "from concurrent.futures import ProcessPoolExecutor\n" + MP + T
ENDS = "if __name__ == '__main__':\n    with ProcessPoolExecutor(@N@, mp_context=mp.get_context('spawn'), initializer=begin@A@) as pool:\n        print(list(pool.map(work, range(4), timeout=25)))\n"
enter(
    "pools-that-begin-badly",
    proc("card by the number of the worker", SEL, (OT,), POOL + "def begin():\n    n = mp.current_process()._identity[0]\n    torch.cuda.set_device(n + 2)\n    torch.ones(1, device='cuda')\ndef work(i):\n    return i\n" + ENDS.replace("@N@", "2").replace("@A@", ""), "(?i)ordinal|device"),
    proc("model's file is not there", OT, (), POOL + "def begin():\n    global net\n    net = torch.load('weights/encoder.pt', map_location='@D@')\ndef work(i):\n    return i\n" + ENDS.replace("@N@", "1").replace("@A@", ""), "encoder.pt", "torch-matmul"),
    proc("tensor of the card handed to a forked pool", FORK, (), MP + T + "x = torch.ones(4, device='cuda')\ndef work(i):\n    return (x * i).sum().item()\nif __name__ == '__main__':\n    p = mp.get_context('fork').Pool(2)\n    print(p.imap(work, range(4)).next(timeout=25))\n", "(?i)re-initialize|initialization|fork"),
    proc("card taken before the first worker", FORK, (), MP + T + "def work(i):\n    torch.cuda.set_device(0)\n    return torch.rand(2, device='cuda').sum().item()\nif __name__ == '__main__':\n    print(torch.cuda.memory_allocated(), torch.zeros(1, device='cuda').item(), flush=True)\n    with mp.get_context('fork').Pool(1) as p:\n        print(p.apply_async(work, (1,)).get(timeout=25))\n", "(?i)re-initialize|initialization|fork"),
    proc("worker ended from outside", OT, (LIM, "memory.host", FORK), POOL + "import signal\ndef begin():\n    pass\ndef work(i):\n    if i == 2:\n        os.kill(os.getpid(), signal.SIGKILL)\n    return torch.ones(2, device='@D@').sum().item()\n" + ENDS.replace("@N@", "1").replace("@A@", ""), "(?i)abruptly|BrokenProcess", "torch-matmul"),
)  # fmt: skip
enter(
    "forks-of-other-kinds",
    proc("stream of data made on the card", FORK, (), T + "from torch.utils.data import DataLoader, IterableDataset\nbase = torch.arange(8.0, device='cuda')\nclass S(IterableDataset):\n    def __iter__(self):\n        for i in range(4):\n            yield (base * i).cpu()\nif __name__ == '__main__':\n    for b in DataLoader(S(), num_workers=1, multiprocessing_context='fork'):\n        print(b.sum().item())\n", "(?i)re-initialize|initialization|fork|CUDA", "torch-loader"),
    proc("web server that loads first and forks then", FORK, (), "import os, sys\n" + C + "model = cupy.ones((64, 64))\nprint('preloaded', float(model.sum()), flush=True)\nkids = []\nfor w in range(2):\n    pid = os.fork()\n    if not pid:\n        try:\n            print('worker', w, float((model @ model)[0, 0]), flush=True)\n        except Exception as e:\n            print(f'[ERROR] worker {w}: {type(e).__name__}: {e}', flush=True)\n            os._exit(3)\n        os._exit(0)\n    kids.append(pid)\ncodes = [os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]) for p in kids]\nif any(codes):\n    sys.exit(f'[ERROR] workers left with {codes}')\n", "(?i)initiali|fork|worker", "cupy-matmul"),
    proc("goes to the background", FORK, (), "import os, sys\n" + T + "x = torch.ones(4, device='cuda')\nprint('up', flush=True)\nr, w = os.pipe()\nif os.fork():\n    os.close(w)\n    words = os.read(r, 4000).decode()\n    if 'ok' not in words:\n        sys.exit('daemon did not come up:\\n' + words)\nelse:\n    import traceback\n    os.setsid()\n    try:\n        (x + 1).sum().item()\n        os.write(w, b'ok')\n    except Exception:\n        os.write(w, traceback.format_exc().encode())\n    os._exit(0)\n", "(?i)re-initialize|initialization|fork|CUDA"),
    proc("before the start of a program", FORK, (OT,), "import subprocess\n" + T + "x = torch.ones(4, device='cuda')\nprint('up', flush=True)\nsubprocess.run(['true'], preexec_fn=lambda: torch.ones(1, device='cuda').item(), check=True)\n", "(?i)preexec|re-initialize"),
)  # fmt: skip
RUN = "$PYTHON -m torch.distributed.run"


def launched(target: str, cause: str, also: tuple[str, ...], options: str, expect: str, code: str = "") -> Case:
    """torchrun told something odd about a good script."""
    code = (
        code or "import os, torch\nprint('RANK', os.environ['RANK'], torch.ones(1, device='@D@').item(), flush=True)\n"
    )
    return Case("torch-matmul", target, cause, also, code=code, command=f"{RUN} {options}", expect=expect, seconds=40, void="")  # fmt: skip


RANKED = "import os, torch\nr = int(os.environ['LOCAL_RANK'])\n"
enter(
    "torchrun-options",
    launched("place for logs that is closed", LIM, (OT, PATH), "--standalone --nproc-per-node 1 --log-dir /proc/self/logs --redirects 3 $SCRIPT", "(?i)/proc|denied|No such|not permitted"),
    launched("meeting by a service that is not installed", OT, (PEER, SET), "--nnodes 1 --nproc-per-node 1 --rdzv-backend etcd-v2 --rdzv-endpoint localhost:@O@ $SCRIPT", "(?i)etcd"),
    launched("meeting by a name nobody knows", SET, (OT, PEER), "--nnodes 1 --nproc-per-node 1 --rdzv-backend zookeeper --rdzv-endpoint localhost:@O@ $SCRIPT", "(?i)zookeeper|backend"),
    launched("fewer nodes than none", OT, (SET, PEER), "--nnodes 4:2 --nproc-per-node 1 --rdzv-backend c10d --rdzv-endpoint localhost:@O@ $SCRIPT", "(?i)min|max|node|assert"),
    launched("streams told by a word", OT, (SET,), "--standalone --nproc-per-node 1 --tee both $SCRIPT", "(?i)tee|both|invalid|Std"),
    launched("a module of that name", OT, (PATH,), "--standalone --nproc-per-node 1 -m trainer.main", "(?i)trainer"),
    launched("every rank on its own card", SEL, (), "--standalone --nproc-per-node 3 $SCRIPT", "(?i)ordinal|device", RANKED + "torch.cuda.set_device(r)\nprint(r, torch.ones(1, device='cuda').item(), flush=True)\n"),
    launched("one rank has no file", OT, (PEER,), "--standalone --nproc-per-node 2 $SCRIPT", "(?i)shard-1", RANKED + "x = torch.ones(1, device='@D@')\nif r:\n    open(f'shards/shard-{r}.bin', 'rb')\n"),
)  # fmt: skip
GROUP = "import datetime, os, torch\nimport torch.distributed as dist\nr = int(os.environ['LOCAL_RANK'])\n"
TWO = "--standalone --nproc-per-node 2 $SCRIPT"
enter(
    "ranks-on-one-card",
    launched("gathered by NCCL", NCCL, (SEL,), TWO, "(?i)NCCL|Duplicate", GROUP + "torch.cuda.set_device(0)\ndist.init_process_group('nccl', timeout=datetime.timedelta(seconds=15))\nx = torch.ones(4, device='cuda')\nout = [torch.empty_like(x) for _ in range(2)]\ndist.all_gather(out, x)\ntorch.cuda.synchronize()\nprint(out)\n"),
    launched("met at a barrier of NCCL", NCCL, (SEL,), TWO, "(?i)NCCL|Duplicate", GROUP + "dist.init_process_group('nccl', device_id=torch.device('cuda', 0), timeout=datetime.timedelta(seconds=15))\ndist.barrier()\n"),
    launched("model wrapped for all ranks", NCCL, (SEL,), TWO, "(?i)NCCL|Duplicate", GROUP + "torch.cuda.set_device(0)\ndist.init_process_group('nccl', timeout=datetime.timedelta(seconds=15))\nm = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4).to('cuda'))\nprint(m)\n"),
    launched("card by the rank, two ranks", SEL, (NCCL,), TWO, "(?i)ordinal|device", GROUP + "torch.cuda.set_device(r)\ndist.init_process_group('nccl', timeout=datetime.timedelta(seconds=15))\ndist.barrier()\nprint('cuda')\n"),
    launched("models of unlike width", SHA, (PEER, OT, NCCL), TWO, "(?i)shape|size|param", GROUP + "dist.init_process_group('gloo', timeout=datetime.timedelta(seconds=15))\nx = torch.ones(1, device='@D@')\nm = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 4 + r))\nprint(m)\n"),
    launched("one rank gives up in the middle", PEER, (OT,), TWO, "(?i)closed|reset|peer|exitcode|failed", GROUP + "dist.init_process_group('gloo', timeout=datetime.timedelta(seconds=15))\nx = torch.ones(1, device='@D@')\nif r == 1:\n    os._exit(17)\nfor i in range(50):\n    dist.all_reduce(torch.ones(8))\n"),
)  # fmt: skip


def job(target: str, cause: str, also: tuple[str, ...], command: str, expect: str = "") -> Case:
    """A good program, started by something that says no."""
    return Case("torch-matmul jax-matmul cupy-matmul", target, cause, also, command=command, expect=expect, void="", dress="none")  # fmt: skip


enter(
    "started-by-others",
    job("time is over by a signal that nobody hears", LIM, (OT,), "timeout -s KILL 0.4 $PYTHON $SCRIPT; c=$?; [ $c = 0 ] || echo \"job: stopped by the queue after 0.4 s (code $c)\"; exit $c", "stopped by the queue"),
    job("lock of another job", OT, (LIM, "device.busy"), "exec 9> $W/gpu.lock; flock 9; flock -n -E 75 $W/gpu.lock $PYTHON $SCRIPT || { c=$?; echo 'job: gpu.lock is held by another job, giving up' >&2; exit $c; }", "gpu.lock"),
    job("queue that is not installed", OT, (PATH,), "srun --gres=gpu:1 $PYTHON $SCRIPT", "(?i)srun"),
    job("start under MPI that is not installed", OT, (PATH,), "mpirun.acme -np 2 $PYTHON $SCRIPT", "(?i)mpirun"),
    job("first rights, then the program", OT, (LIM, PATH), "chrt -f 99 setpriv --reuid=54321 --regid=54321 --clear-groups sh -c 'cd /root/jobs && exec $PYTHON $SCRIPT'", "(?i)denied|cd|chrt|can.t|not permitted|No such"),
    job("list of arguments through xargs", OT, (), "$PYTHON $SCRIPT; printf '0\\n1\\n' | xargs -n1 sh -c 'echo \"shard $0: checksum differs from the list\" >&2; exit 3'", "checksum"),
    job("image of a container", OT, (PATH, "container.no_gpu"), "singularity.acme exec --nv train.sif $PYTHON $SCRIPT", "(?i)singularity"),
    job("environment of modules", OT, (PATH, SET), "set -e; module load cuda/12.2 pytorch; $PYTHON $SCRIPT", "(?i)module"),
)  # fmt: skip
