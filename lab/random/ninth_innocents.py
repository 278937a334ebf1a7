"""Ninth operators, the innocents: good work on the card, frightening notes, then an end of the program's own, or none at all."""

from __future__ import annotations

from collections.abc import Mapping

from lab.random.ninth import ANY, BAD, LIGHT, LIM, OT, PEER, Case, enter
from lab.random.ninth_cpp import cc

ERR = "import sys\n"


def ends(target: str, after: str, before: str = "", also: tuple[str, ...] = (), expect: str = "") -> Case:
    """A program that works, notes before it, an end of its own behind it."""
    return Case(ANY, target, OT, also, before=before, after=after, expect=expect, void="")


SMI = "print('''+-----------------------------------------------------------------+\\n| GPU  Name           Temp  Perf   Pwr:Usage/Cap |   Memory-Usage  |\\n|   0  NVIDIA H200     31C    P0     77W / 700W |  139GiB / 140GiB |\\n|   1  ERR!           ERR!   ERR!   ERR! / ERR! |  Unknown Error  |\\n+-----------------------------------------------------------------+ (node gpu-02, for reference)''', flush=True)\n"
METRICS = 'print(\'dcgm_fi_dev_xid_errors{gpu="3",host="other"} 79\\ndcgm_fi_dev_ecc_dbe_vol_total{gpu="3"} 1\\nnode_gpu_oom_total 17\', flush=True)\n'
enter(
    "innocent-after-a-monitor",
    ends("quota of the team", "raise RuntimeError('budget: 812 of 800 GPU hours used by team vision, job refused')\n", SMI, (LIM,)),
    ends("report cannot be sorted", "print(sorted([{'gpu': 0}, {'gpu': 1}]))\n", SMI),
    ends("label twice", "seen = set()\nfor name in ('gpu0', 'gpu1', 'gpu0'):\n    assert name not in seen, f'metric {name} registered twice'\n    seen.add(name)\n", METRICS),
    ends("template without a field", "print('{host}: {util} %'.format(host='gpu-02'))\n", METRICS),
    ends("threshold in words", "limit = float('eighty')\n", SMI),
)  # fmt: skip
SWEEP = "for batch, told in ((64, 'ok 11.2 ms'), (256, 'ok 40.9 ms'), (1024, 'CUDA out of memory (skipped)'), (4096, 'CUDNN_STATUS_NOT_SUPPORTED (skipped)')):\n    print(f'batch {batch:5d}  {told}', flush=True)\n"
enter(
    "innocent-sweep",
    ends("slower than the last release", "got, was = 40.9, 31.0\nif got > was * 1.1:\n    raise SystemExit(f'regression: {got} ms against {was} ms')\n", SWEEP),
    ends("no base to compare with", "import json\njson.load(open('baseline/h200.json'))\n", SWEEP),
    ends("results are not written twice", "open('results.csv', 'x').close()\nopen('results.csv', 'x').close()\n", SWEEP),
    ends("plot needs two points", "xs = [64]\nstep = (xs[-1] - xs[0]) / (len(xs) - 1)\n", SWEEP),
    ends("unit of another table", "units = {'ms': 1e-3, 's': 1.0}\nprint(units['µs'])\n", SWEEP),
)  # fmt: skip
CHECKS = "for name in ('test_cuda_graph_replay', 'test_cudnn_conv_backward', 'test_nccl_allreduce'):\n    print(f'{name} PASSED', flush=True)\nprint('test_illegal_memory_access_is_reported XFAIL (expected: an illegal memory access was encountered)', flush=True)\n"
enter(
    "innocent-own-tests",
    ends("one digit off", "got, want = 0.70710, 0.70711\nassert abs(got - want) < 1e-6, f'test_norm: {got} != {want}'\n", CHECKS),
    ends("order of the words", "assert ['conv', 'relu'] == ['relu', 'conv'], 'test_export: order of layers differs'\n", CHECKS),
    ends("too few were run", "ran, wanted = 4, 12\nraise SystemExit(f'collected {ran} GPU tests, the plan has {wanted}')\n", CHECKS),
    ends("fixture is missing", "def fixture(name):\n    raise LookupError(f\"fixture '{name}' not found; available: cuda_device, tmp_path\")\nfixture('cuda_stream_pool')\n", CHECKS),
    ends("flaky marker", "import random\nrandom.seed(4)\nassert random.random() > 0.99, 'test_dropout_rate: 0.236 is not above 0.99'\n", CHECKS),
    ends("snapshot differs", "import difflib\nd = list(difflib.unified_diff(['loss 0.51'], ['loss 0.52'], 'golden/cuda.txt', 'now', lineterm=''))\nprint('\\n'.join(d))\nraise AssertionError('output differs from golden/cuda.txt')\n", CHECKS),
)  # fmt: skip
enter(
    "innocent-settings",
    ends("fields that are not known", "import dataclasses\n@dataclasses.dataclass\nclass Run:\n    device: str = 'cuda'\nRun(devices='cuda')\n"),
    ends("many at once", "errors = ['train.gpu_ids: Input should be a valid list', 'train.amp: Input should be a valid boolean', 'data.root: field required']\nraise ValueError(f'{len(errors)} validation errors for Settings\\n' + '\\n'.join(errors))\n"),
    ends("included file in a circle", "def read(name, seen=()):\n    if name in seen:\n        raise RecursionError(f'config includes itself: {seen + (name,)}')\n    return read({'base': 'gpu', 'gpu': 'base'}[name], seen + (name,))\nread('base')\n"),
    ends("old key", "raise KeyError(\"'trainer.gpus' was removed in 2.0, use trainer.devices\")\n"),
    ends("number with a unit", "int('40GB')\n"),
    ends("secret in the wrong place", "import os\nos.environ['TRACKER_TOKEN_' + 'X']\n"),
    ends("seeds that clash", "if 17 == 17:\n    raise ValueError('seed of the sampler and seed of the model must differ (both 17)')\n"),
)  # fmt: skip
enter(
    "innocent-data",
    ends("magic of another format", "head = b'ARROW1'\nif head != b'PAR1':\n    raise OSError(f'part-000.parquet: magic bytes {head!r}, want PAR1')\n", also=(BAD,)),
    ends("vocabulary without the sign", "vocab = {'<pad>': 0, 'gpu': 1}\nprint([vocab[w] for w in 'a gpu'.split()])\n"),
    ends("half a character", "bytes([0xe2, 0x82]).decode()\n"),
    ends("rows that are no rectangle", "import numpy\nnumpy.vstack([numpy.ones(3), numpy.ones(4)])\n", also=("program.shape",)),
    ends("mean of nothing", "import statistics\nstatistics.mean([])\n"),
    ends("labels and pictures unlike", "pictures, labels = 50000, 49999\nassert pictures == labels, f'{pictures} pictures, {labels} labels'\n"),
    ends("link that leads nowhere", "import os\nos.symlink('/mnt/datasets/imagenet', 'data')\nprint(os.listdir('data'))\n", also=(LIM, "env.path")),
    ends("compressed by another tool", "import lzma\nlzma.decompress(b'\\x1f\\x8b\\x08gpu')\n", also=(BAD,)),
    ends("line that is too long", "import csv\ncsv.field_size_limit(10)\nlist(csv.reader(['x' * 100]))\n"),
)  # fmt: skip
enter(
    "innocent-services",
    ends("too many requests", "class HTTPError(Exception):\n    pass\nraise HTTPError('429 Client Error: Too Many Requests for url: https://hub.invalid/api/models/gpu-llm')\n", also=(PEER,)),
    ends("tracker has another project", "raise ConnectionError('tracker: project gpu-bench not found or you have no rights (403)')\n", also=(PEER,)),
    ends("message above the size", "raise OverflowError('queue: message of 9.1 MB is above max.message.bytes=1048588')\n"),
    ends("schema of the server changed", "reply = {'status': 'ok'}\nprint(reply['result']['device'])\n"),
    ends("clock is off", "raise RuntimeError('signature not yet valid: clock of this host is 412 s behind')\n"),
    ends("lease lost", "raise TimeoutError('lease on run 1188 was lost, another worker has it now')\n", also=(PEER,)),
    ends("table is locked", "import sqlite3\na = sqlite3.connect('r.db')\na.execute('create table r (id integer primary key)')\na.execute('insert into r values (1)')\na.execute('insert into r values (1)')\n"),
)  # fmt: skip
SAID = 'fprintf(stderr, "[sim] note: cudaErrorNotReady seen 3 times while polling (fine)\\n"); '
enter(
    "innocent-cpp",
    cc("energy is not kept", OT, (), SAID + 'double e0 = 1.0, e1 = 1.31; if (e1 > 1.1 * e0) { fprintf(stderr, "[sim] energy drift 31 %%, stopping\\n"); return 3; }', expect="drift"),
    cc("input without a mesh", OT, (), SAID + 'FILE* f = fopen("mesh.vtk", "r"); if (!f) { perror("[sim] mesh.vtk"); return 2; }', expect="mesh.vtk"),
    cc("argument that is no number", OT, (), SAID + 'throw std::invalid_argument("--steps: not a number: gpu");', "#include <stdexcept>\n", "steps"),
    cc("own limit of steps", OT, (), SAID + 'int left = 0; if (!left) { fprintf(stderr, "[sim] no convergence after 500 iterations, residual 3e-2\\n"); exit(5); }', expect="convergence"),
    cc("own memory on the host", OT, ("memory.host", "program.illegal_access"), SAID + "std::vector<int> v; v.at(3) = 1;", expect="(?i)range|at"),
    cc("version of a file", OT, (), SAID + 'int version = 7; if (version != 9) { fprintf(stderr, "[sim] restart file has version %d, want 9 (written on another GPU cluster)\\n", version); abort(); }', expect="restart file"),
)  # fmt: skip


def step(target: str, command: str, also: tuple[str, ...] = ()) -> Case:
    """The program ends well; what the script does next does not."""
    return Case(ANY, target, OT, also, command=command, void="")


enter(
    "innocent-next-step",
    step("size of the result", "$PYTHON $SCRIPT | tee $W/o.txt; s=$(stat -c %s $W/o.txt); [ $s -gt 100000 ] || { echo \"post: o.txt has $s bytes, gpu dump incomplete?\" >&2; exit 3; }"),
    step("function that is not there", "set -e; $PYTHON $SCRIPT; notify_team 'gpu job done'", ("env.path",)),
    step("two results wanted", "$PYTHON $SCRIPT > $W/a.txt; cmp $W/a.txt $W/b.txt", ("env.path",)),
    step("arithmetic on a word", "set -e; $PYTHON $SCRIPT; n=cuda; echo $((n / 0))"),
    step("guard of the disk", "$PYTHON $SCRIPT; echo 'cleanup: /scratch is 91 % full, refusing to keep checkpoints' >&2; exit 28", (LIM,)),
    step("inline check", "$PYTHON $SCRIPT && $PYTHON -c \"import sys; sys.exit('verify: 3 of 4 GPU outputs match the reference')\""),
    step("list read to its end", "$PYTHON $SCRIPT; while read -r gpu; do echo $gpu; done < $W/d/gpus.txt", ("env.path",)),
)  # fmt: skip
enter(
    "innocent-signals",
    ends("told by its parent", "import os, signal\nos.kill(os.getpid(), signal.SIGUSR2)\n", also=(LIM,)),
    ends("reader has gone", "import os, signal\nsignal.signal(signal.SIGPIPE, signal.SIG_DFL)\nr, w = os.pipe()\nos.close(r)\nos.write(w, b'frame')\n", also=(LIM,)),
    ends("timer of its own", "import signal, time\nsignal.setitimer(signal.ITIMER_REAL, 0.3)\ntime.sleep(5)\n", also=(LIM,)),
    ends("stopped by hand", "raise KeyboardInterrupt\n"),
    ends("code of its own", "import sys\nprint('nothing new to train on (exit 42)', file=sys.stderr)\nsys.exit(42)\n"),
    ends("ends inside a thread", "import os, threading\ndef watch():\n    print('watchdog: no heartbeat from the loader, ending the job', flush=True)\n    os._exit(12)\nt = threading.Thread(target=watch)\nt.start()\nt.join()\n", also=(LIM,)),
    ends("several at once", "raise BaseExceptionGroup('workers', [ValueError('w0: empty batch'), SystemExit(3)])\n"),
)  # fmt: skip


def healthy(target: str, before: str, needs: str = LIGHT, after: str = "", environ: Mapping[str, str] | None = None) -> Case:  # fmt: skip
    """A program that ends well, with something frightening beside it."""
    return Case(needs, f"harmless: {target}", OT, (), before=before, after=after, environ=environ or {})


WARN = "import warnings\n"
enter(
    "healthy-with-warnings",
    healthy("card is older than wanted", WARN + "warnings.warn('Found GPU1 Tesla K40m which is of cuda capability 3.5. PyTorch no longer supports this GPU because it is too old.')\n"),
    healthy("loader's advice", WARN + "warnings.warn('This DataLoader will create 64 worker processes in total. Our suggested max number of worker in current system is 16, getting excessive worker creation might get DataLoader running slow or even freeze')\n"),
    healthy("plug-in left out", ERR + "print('WARNING:2026-11-16 04:00:00,123:jax._src.xla_bridge:966: An NVIDIA GPU may be present on this machine, but a CUDA-enabled jaxlib is not installed. Falling back to cpu. (line of the build job)', file=sys.stderr)\n"),
    healthy("peer told", ERR + "print('node-7:311:402 [0] NCCL INFO NET/IB : No device found.\\nnode-7:311:402 [0] NCCL INFO Failed to open libibverbs.so[.1]\\nnode-7:311:402 [0] NCCL INFO NET/Socket : Using [0]lo:127.0.0.1<0>', file=sys.stderr)\n"),
    healthy("compiler's notes", ERR + "print(\"ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored to maintain minimum register requirement.\\nptxas warning : Unresolved extern variable 'table' in whole program compilation, ignoring extern qualifier\", file=sys.stderr)\n"),
    healthy("slow constant", ERR + "print('E1116 04:00:01.000001 512 slow_operation_alarm.cc:73] Constant folding an instruction is taking > 1s:', file=sys.stderr)\n"),
    healthy("overflow told", WARN + "warnings.warn('overflow encountered in exp; gradients clipped, cuda loss scale halved to 32768', RuntimeWarning)\n"),
)  # fmt: skip
enter(
    "healthy-with-tracebacks",
    healthy("thread of the monitor dies", "import threading\ndef watch():\n    raise RuntimeError('NVML: Driver/library version mismatch (cached answer of the old node)')\nt = threading.Thread(target=watch, name='gpu-monitor')\nt.start()\nt.join()\n"),
    healthy("object told while it is taken down", "class Pool:\n    def __del__(self):\n        raise RuntimeError('CUDA error: driver shutting down')\np = Pool()\ndel p\n"),
    healthy("task nobody waited for", "import asyncio\nasync def fail():\n    raise ConnectionError('gpu-broker went away')\nasync def main():\n    t = asyncio.create_task(fail())\n    await asyncio.sleep(0.05)\nasyncio.run(main())\n"),
    healthy("future looked at and put aside", "import concurrent.futures as f, traceback\nwith f.ThreadPoolExecutor(1) as p:\n    e = p.submit(lambda: {}['cuda:1']).exception()\ntraceback.print_exception(e)\n"),
    healthy("child that is killed", "import subprocess, sys\np = subprocess.run(['sh', '-c', 'echo \"renderer: cuInit failed, error 100\" >&2; kill -9 $$'])\nprint('preview exit', p.returncode)\n"),
    healthy("stack shown on request", "import traceback\ntraceback.print_stack()\nprint('^ asked for by SIGUSR1; torch.cuda.OutOfMemoryError count: 0', flush=True)\n"),
    healthy("warning of the garbage collector", "import sys\nsys.unraisablehook = lambda a: print('ignored:', a.exc_value, file=sys.stderr)\nclass H:\n    def __del__(self):\n        raise OSError('cudaFreeHost: invalid argument (ignored at exit)')\nH()\n"),
)  # fmt: skip
TRY = "import sys, traceback\ntry:\n    {0}\nexcept Exception:\n    traceback.print_exc()\n    print('caught, plan B', file=sys.stderr)\n"
CHILD = "import subprocess, sys\nr = subprocess.run([sys.executable, '-c', {0!r}], capture_output=True, text=True)\nprint('probe in a child:', r.returncode, r.stderr[-400:], file=sys.stderr)\n"
enter(
    "healthy-after-a-real-failure",
    healthy("card seven asked for", "import torch\n" + TRY.format("torch.ones(2, device='cuda:7')"), "torch-matmul torch-fft"),
    healthy("type that is not made", "import torch\n" + TRY.format("torch.linalg.inv(torch.eye(3, device='@D@').half())"), "torch-matmul torch-fft"),
    healthy("child trips an assertion on the card", CHILD.format("import torch\nx = torch.zeros(4, device='@D@')\nx[torch.tensor([9], device='@D@')] = 1\ntorch.cuda.synchronize()"), "torch-matmul"),
    healthy("child asks for petabytes", CHILD.format("import cupy\ncupy.ones((1 << 47,))"), "cupy-matmul cupy-fft"),
    healthy("compiled kernel with a slip", "import cupy\n" + TRY.format("cupy.RawKernel('extern \"C\" __global__ void k() { gone(); }', 'k').compile()"), "cupy-matmul cupy-fft"),
    healthy("sharded over what is not there", "import jax\n" + TRY.format("jax.make_mesh((4,), ('d',))"), "jax-matmul jax-grad"),
    healthy("library of another release", "import ctypes\n" + TRY.format("ctypes.CDLL('libcudnn_ops_infer.so.8')")),
    healthy("back end that is not built in", "import torch.distributed as dist\n" + TRY.format("dist.init_process_group('mpi')"), "torch-matmul"),
)  # fmt: skip
enter(
    "healthy-in-odd-surroundings",
    *(healthy(" ".join(one), "", LIGHT, "", one) for one in (
        {"PYTORCH_NVML_BASED_CUDA_CHECK": "1"}, {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}, {"CUDA_ENABLE_COREDUMP_ON_EXCEPTION": "0", "CUDA_COREDUMP_FILE": "/proc/none/core"}, {"HIP_VISIBLE_DEVICES": "-1", "ROCR_VISIBLE_DEVICES": ""}, {"SLURM_JOB_ID": "9", "SLURM_GPUS": "0"},
        {"PYTHON_COLORS": "1", "FORCE_COLOR": "1"}, {"PYTHONASYNCIODEBUG": "1", "PYTHONNOUSERSITE": "1"}, {"LC_ALL": "xx_XX.UTF-8", "LANGUAGE": "de"}, {"CUDA_ROOT": "/opt/none", "CUDNN_PATH": "/opt/none", "NVHPC": "/opt/none"}, {"TF_CPP_VMODULE": "gpu_device=9", "ABSL_MIN_LOG_LEVEL": "x"}, {"TORCHDYNAMO_DISABLE": "1"},
    )),
)  # fmt: skip
