"""Twelfth operators, surroundings: cards by launchers' variables, forks in disguise, words for higher libraries, blocks of Triton."""

from __future__ import annotations

from collections.abc import Mapping

from lab.random.eleventh import (  # fmt: skip
    BAD,
    BUILD,
    FORK,
    LAU,
    OT,
    SEL,
    SET,
    SHA,
    C,
    Case,
    J,
    N,
    T,
)
from lab.random.eleventh_kernels import RUN, tri
from lab.random.twelfth import ON, card, enter

JM, CM = "jax-matmul jax-grad", "cupy-matmul cupy-fft"


def ranked(needs: str, target: str, environ: Mapping[str, str], code: str, expect: str = "(?i)ordinal|device|index|range") -> Case:  # fmt: skip
    """A program that takes its card by what a launcher tells it."""
    return Case(needs, target, SEL, (SET, OT), code=f"import os\n{code}", environ=environ, expect=expect, void="")


enter(
    "cards-by-launchers-variables",
    ranked(ON, "task of Slurm", {"SLURM_LOCALID": "3", "SLURM_NTASKS": "4"}, T + "torch.cuda.set_device(int(os.environ['SLURM_LOCALID']))\nprint(torch.ones(1, device='cuda'))\n"),
    ranked(ON, "rank of MVAPICH", {"MV2_COMM_WORLD_LOCAL_RANK": "7"}, T + "with torch.cuda.device(int(os.environ['MV2_COMM_WORLD_LOCAL_RANK'])):\n    print(torch.ones(4, device='cuda'))\n"),
    ranked(JM, "rank of PALS, JAX", {"PALS_LOCAL_RANKID": "1"}, J + "assert jax.default_backend() == 'gpu' or 'cuda' == ''\nd = jax.local_devices()[int(os.environ['PALS_LOCAL_RANKID'])]\nprint(jax.device_put(jnp.ones(3), d))\n"),
    ranked(CM, "task of Flux, CuPy", {"FLUX_TASK_LOCAL_ID": "5"}, C + "cupy.cuda.Device(int(os.environ['FLUX_TASK_LOCAL_ID'])).use()\nprint(cupy.ones(3).sum())\n"),
    ranked("numba-kernel", "rank of jsrun, Numba", {"JSM_NAMESPACE_LOCAL_RANK": "3"}, N + "cuda.select_device(int(os.environ['JSM_NAMESPACE_LOCAL_RANK']))\nprint(cuda.to_device(numpy.ones(3)).shape)\n", "(?i)device|ordinal|index"),
    ranked(ON, "list of cards in a variable of its own", {"ACME_GPUS": "0,1,2,3"}, T + "shards = [torch.ones(2, device=f'cuda:{g}') for g in os.environ['ACME_GPUS'].split(',')]\nprint(len(shards))\n"),
    ranked(ON, "two numbers in one word", {"TRAIN_DEVICE": "cuda:0,1"}, T + "print(torch.ones(2).cuda().to(os.environ['TRAIN_DEVICE']))\n", "(?i)invalid device|cuda:0,1"),
)  # fmt: skip
TAIL = "(?i)re-initialize|fork|initialization error|CUDA error"
CHILD = "import os, sys, traceback\ndef work():\n    try:\n        print((x * 2).sum().item())\n    except BaseException:\n        traceback.print_exc()\n        sys.stderr.flush()\n        os._exit(17)\n    os._exit(0)\n"
WAIT = "_, s = os.waitpid(p, 0)\nsys.exit(os.waitstatus_to_exitcode(s))\n"
enter(
    "forks-in-disguise",
    card("server that loads, then makes its workers", FORK, (), CHILD + "model = nn.Linear(4, 4).cuda()\npids = []\nfor w in range(2):\n    p = os.fork()\n    if not p:\n        print(f'[worker {w}] booting', flush=True)\n        x = model(torch.ones(2, 4, device='cuda'))\n        work()\n    pids.append(p)\ncodes = [os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]) for p in pids]\nprint('[arbiter] workers ended with', codes, file=sys.stderr)\nsys.exit(max(codes))\n", TAIL),
    card("becomes a daemon after its start", FORK, (), CHILD + "p = os.fork()\nif not p:\n    os.setsid()\n    q = os.fork()\n    if not q:\n        work()\n    os._exit(os.waitstatus_to_exitcode(os.waitpid(q, 0)[1]))\n" + WAIT, TAIL),
    card("terminal of its own", FORK, (), CHILD + "import pty\np, fd = pty.fork()\nif not p:\n    work()\ntry:\n    while True:\n        b = os.read(fd, 4096)\n        if not b:\n            break\n        sys.stderr.write(b.decode(errors='replace'))\nexcept OSError:\n    pass\n" + WAIT, TAIL),
    card("step before a command", FORK, (OT,), "import subprocess\ndef ready():\n    torch.ones(3, device='cuda').sum().item()\nsubprocess.run(['true'], preexec_fn=ready, check=True)\n", "(?i)preexec_fn|re-initialize"),
    card("manager's helpers", FORK, (), "import multiprocessing as mp\nmp.set_start_method('fork')\ndef f(i):\n    return (x + i).sum().item()\nwith mp.Pool(2) as p:\n    print(p.map(f, range(4)))\n", TAIL),
    card("signal's helper process", FORK, (), CHILD + "import signal\ndef on(*a):\n    p = os.fork()\n    if not p:\n        work()\n    _, s = os.waitpid(p, 0)\n    sys.exit(os.waitstatus_to_exitcode(s))\nsignal.signal(signal.SIGUSR1, on)\nos.kill(os.getpid(), signal.SIGUSR1)\n", TAIL),
)  # fmt: skip


def word(needs: str, environ: Mapping[str, str], code: str, expect: str, cause: str = SET, also: tuple[str, ...] = (OT,)) -> Case:  # fmt: skip
    """A variable that a library above the frameworks reads."""
    return Case(needs, " ".join(f"{k}={v}" for k, v in environ.items()), cause, also, environ=environ, after=code, expect=expect, void="")  # fmt: skip


ACC = "from accelerate import Accelerator\na = Accelerator()\nprint(a.device)\n"
enter(
    "words-for-higher-libraries",
    word(ON, {"ACCELERATE_MIXED_PRECISION": "fp9"}, ACC, "(?i)fp9|mixed"),
    word(ON, {"ACCELERATE_GRADIENT_ACCUMULATION_STEPS": "four"}, ACC, "(?i)four|invalid literal"),
    word(ON, {"ACCELERATE_USE_CPU": "perhaps"}, ACC, "(?i)perhaps|truth"),
    word(ON, {"ACCELERATE_DYNAMO_BACKEND": "TURBO"}, ACC, "(?i)TURBO|backend"),
    word(ON, {"TORCH_FORCE_WEIGHTS_ONLY_LOAD": "1", "TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD": "1"}, "import io\nb = io.BytesIO()\ntorch.save({'w': torch.ones(2)}, b)\nb.seek(0)\nprint(torch.load(b))\n", "(?i)WEIGHTS_ONLY"),
    word(ON, {"TORCH_FORCE_WEIGHTS_ONLY_LOAD": "1"}, "import io\nclass Cfg:\n    pass\nb = io.BytesIO()\ntorch.save({'c': Cfg()}, b)\nb.seek(0)\nprint(torch.load(b, weights_only=False))\n", "(?i)weights", SET, (OT, BAD)),
    word(ON, {"TRANSFORMERS_VERBOSITY": "warn"}, "import transformers\nc = transformers.BertConfig(hidden_size=30, num_attention_heads=4)\ntransformers.BertModel(c)\n", "(?i)hidden size|multiple", OT, (SHA, SET)),
)  # fmt: skip
WIDE = "i = tl.arange(0, B)\n"
KIND = (OT, SHA)
enter(
    "triton-blocks",
    tri("product of too thin a block", BUILD, (SHA, OT, LAU), "a = tl.zeros((16, 4), tl.float16)\nb = tl.zeros((4, 16), tl.float16)\ntl.store(x, tl.sum(tl.dot(a, b)))", RUN, "(?i)>=|shape|dot|16"),
    tri("product of unlike sizes", SHA, (BUILD, OT), "a = tl.zeros((16, 32), tl.float16)\nb = tl.zeros((16, 16), tl.float16)\ntl.store(x, tl.sum(tl.dot(a, b)))", RUN, "(?i)shape|dot|input"),
    tri("block of a hundred", BUILD, KIND, "v = tl.arange(0, 100)\ntl.store(x + v, 1.0)", RUN, "(?i)power of 2|power of two"),
    tri("form with another number", SHA, (BUILD, OT), WIDE + "tl.store(x, tl.sum(tl.sum(tl.reshape(i, (5, 8)), 0), 0).to(tl.float32))", RUN, "(?i)reshape|element|size|power"),
    tri("mask of another length", SHA, (BUILD, OT), WIDE + "tl.store(x + i, 1.0, mask=tl.arange(0, 32) < n)", RUN, "(?i)shape|broadcast|incompatible"),
    tri("three warps", LAU, (BUILD, SET, OT), "tl.store(x + tl.arange(0, B), 1.0)", "k[(1,)](x, 64, B=64, num_warps=3)", "(?i)power of 2|num_warps|warps"),
    tri("sum along an axis that is not", SHA, (BUILD, OT, "program.index"), WIDE + "tl.store(x, tl.sum(i, axis=2).to(tl.float32))", RUN, "(?i)axis|rank|index|dim"),
    tri("block of a size known late", BUILD, KIND, "v = tl.arange(0, n)\ntl.store(x + v, 1.0)", RUN, "(?i)constexpr|constant"),
)  # fmt: skip
