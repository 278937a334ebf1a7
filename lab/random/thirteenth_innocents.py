"""Thirteenth operators, no matter of the GPU: programs that compute well and end by options, signals from outside, pipes, full places, data and slips of their own; and healthy ones after failures that they caught, with frightening warnings, beside odd files."""

from __future__ import annotations

from collections.abc import Mapping

from lab.random.eleventh import ANY, HOST, LIGHT, LIM, NVCC, OT, PATH, PEER, SET, SHA, SHADOW, Case
from lab.random.eleventh_cpp import HEAD, cu
from lab.random.eleventh_innocents import ends
from lab.random.thirteenth import enter, well
from lab.random.twelfth import shell


def options(target: str, spec: str, given: str, expect: str, also: tuple[str, ...] = (SET,)) -> Case:
    """A program whose options are not what it takes."""
    code = f"import argparse\np = argparse.ArgumentParser('train.py')\n{spec}\np.parse_args({given.split()!r})\n"
    return ends(target, code, expect, also)


enter(
    "innocent-options",
    options("needed and not given", "p.add_argument('--data', required=True)", "", "(?i)required: --data"),
    options("number that is a word", "p.add_argument('--cuda-streams', type=int)", "--cuda-streams many", "invalid int value"),
    options("one of two, given both", "g = p.add_mutually_exclusive_group()\ng.add_argument('--gpu', action='store_true')\ng.add_argument('--cpu', action='store_true')", "--gpu --cpu", "not allowed with"),
    options("step of another name", "s = p.add_subparsers(required=True)\ns.add_parser('train')", "finetune", "invalid choice"),
    options("short for two", "p.add_argument('--gpu-memory')\np.add_argument('--gpu-count')", "--gpu 2", "ambiguous option"),
    options("too many words", "p.add_argument('model')", "m cuda:0", "unrecognized arguments"),
    options("list without an end", "p.add_argument('--layers', nargs=3, type=int)", "--layers 1 2", "expected 3 arguments"),
)  # fmt: skip
WAITS = "\nimport sys as _s, time as _t\n_s.stdout.flush()\nopen('up', 'w').close()\n_t.sleep(20)\n"


def struck(signal: str, also: tuple[str, ...] = (LIM, PEER), before: str = "", how: str = "") -> Case:
    """A program that works and waits, ended by a signal from outside."""
    command = f"cd $(dirname $SCRIPT); $PYTHON $SCRIPT & p=$!; for i in $(seq 150); do [ -e up ] && break; sleep 0.2; done; [ -e up ] || exit 96; echo 'operator: stopping the run'; kill -{signal} $p; wait $p; exit $?"
    return Case(LIGHT, signal + how, OT, also, command=command, before=before, after=WAITS, expect="stopping the run", void="", dress="none")  # fmt: skip


enter(
    "innocent-struck-from-outside",
    struck("TERM"),
    struck("KILL", (LIM, PEER, HOST)),
    struck("HUP"),
    struck("USR1"),
    struck("ALRM"),
    struck("ABRT"),
    struck("TERM", before="import signal, sys\nsignal.signal(signal.SIGTERM, lambda *a: sys.exit('train: caught SIGTERM, checkpoint kept, cuda:0 released'))\n", how=", caught"),
    struck("INT", before="import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"),
)  # fmt: skip


def piped(target: str, after: str, reader: str, expect: str = "(?i)Broken pipe") -> Case:
    """A program whose reader goes before it has said all."""
    command = f"set -o pipefail; $PYTHON $SCRIPT | {reader}"
    return Case(LIGHT, target, OT, (LIM,), command=command, after=after, expect=expect, void="", dress="none")


MANY = "import sys, time\ntime.sleep(0.3)\nfor i in range(60000):\n    print('step', i, 'cuda:0 loss 0.1')\nsys.stdout.flush()\n"
enter(
    "innocent-readers-that-go",
    piped("only the first line wanted", MANY, "head -n 1"),
    piped("reader that ends at once", MANY, "true"),
    piped("reader that looks for one word", MANY, "grep -m 1 RESULT"),
    piped("told by the program itself", "import sys, time\ntime.sleep(0.5)\ntry:\n    for i in range(60000):\n        print('row', i, flush=True)\nexcept BrokenPipeError as e:\n    print('metrics sink went away:', e, file=sys.stderr)\n    sys.exit(74)\n", "head -n 2", "sink went away"),
)  # fmt: skip
DISK = "mkdir -p $W/data; mount -t tmpfs -o size=1m none $W/data; chmod 777 $W/data"


def full(target: str, after: str, expect: str = "(?i)No space left", limit: str = "", needs: str = LIGHT) -> Case:
    """A program that works and then finds no room for what it writes."""
    setup = "" if limit else DISK
    return Case(needs, target, LIM, (OT,), setup=setup, environ={"DATA": "$W/data"}, limit=limit, after="import os, sys\n" + after, expect=expect, void="", dress="shell")  # fmt: skip


TM = "torch-matmul torch-train"
QUIET = "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
enter(
    "innocent-places-that-are-full",
    full("log of the run", "with open(os.environ['DATA'] + '/run.log', 'w') as f:\n    for i in range(200000):\n        f.write(f'step {i} cuda:0 ok\\n')\n"),
    full("table of numbers", "import numpy\nnumpy.save(os.environ['DATA'] + '/embeddings.npy', numpy.ones(1 << 20))\n", "(?i)No space left|requested and|written"),
    full("copy of the data", "import shutil\nopen('big.bin', 'wb').write(bytes(4 << 20))\nshutil.copy('big.bin', os.environ['DATA'])\n"),
    full("its own base of records", "import sqlite3\nc = sqlite3.connect(os.environ['DATA'] + '/runs.db')\nc.execute('create table r (b blob)')\nfor i in range(100):\n    c.execute('insert into r values (?)', (bytes(1 << 16),))\nc.commit()\n", "(?i)disk is full|full"),
    full("weights of the host", "torch.save({'w': torch.ones(1 << 20)}, os.environ['DATA'] + '/last.pt')\n", "(?i)No space left|PytorchStreamWriter|unexpected pos|write", needs=TM),
    full("many small files", "os.makedirs(os.environ['DATA'] + '/s', exist_ok=True)\nfor i in range(100000):\n    with open(os.environ['DATA'] + f'/s/{i}.json', 'w') as f:\n        f.write('{}' * 300)\n"),
    full("file beyond a limit", QUIET + "f = open('out.bin', 'wb', buffering=0)\nfor i in range(64):\n    f.write(bytes(1 << 20))\n    if os.path.getsize('out.bin') != (i + 1) << 20:\n        raise OSError(27, 'File too large', 'out.bin')\n", "(?i)File too large", "ulimit -f 4096"),
)  # fmt: skip
enter(
    "innocent-bases-of-records",
    ends("held by another", "import sqlite3\na, b = sqlite3.connect('q.db'), sqlite3.connect('q.db', timeout=0.2)\na.execute('create table gpu_jobs (i)')\na.execute('begin exclusive')\nb.execute('insert into gpu_jobs values (1)')\n", "(?i)locked", ("device.busy", PEER)),
    ends("table of another release", "import sqlite3\nc = sqlite3.connect(':memory:')\nc.execute('create table runs (id)')\nc.execute('select gpu_hours from runs')\n", "gpu_hours"),
    ends("the same key twice", "import sqlite3\nc = sqlite3.connect(':memory:')\nc.execute('create table r (device primary key)')\nc.executemany('insert into r values (?)', [('cuda:0',), ('cuda:0',)])\n", "UNIQUE"),
    ends("no base at all", "import sqlite3\nopen('m.db', 'w').write('not a database, but long enough to be read' * 40)\nsqlite3.connect('m.db').execute('select * from t')\n", "not a database"),
    ends("shelf of nothing", "import dbm\ndbm.open('kernels-cache', 'r')\n", "(?i)db type|exist|No such", (PATH,)),
)  # fmt: skip
enter(
    "innocent-bytes",
    ends("packed text cut", "import gzip, io\nb = io.BytesIO(gzip.compress(b'weights' * 999)[:-9])\ngzip.open(b).read()\n", "(?i)EOF|end-of-stream"),
    ends("letters of another table", "b'gr\\xf6\\xdfe der GPU'.decode()\n", "UnicodeDecodeError"),
    ends("letters that the answer cannot show", "'GPU \\u2713'.encode('ascii')\n", "UnicodeEncodeError"),
    ends("packed by a later Python", "import pickle\npickle.loads(b'\\x80\\x09K\\x01.')\n", "(?i)protocol"),
    ends("class that moved", "import pickle\npickle.loads(b'cacme.models\\nGpuNet\\n.')\n", "acme"),
    ends("number beyond its bytes", "(1 << 40).to_bytes(4, 'little')\n", "Overflow"),
    ends("letters of sixty-four cut", "import base64\nbase64.b64decode('Y3VkYQ')\n", "(?i)padding"),
    ends("numbers kept with objects", "import io, numpy\nb = io.BytesIO()\nnumpy.save(b, numpy.array([{'gpu': 0}], dtype=object))\nb.seek(0)\nnumpy.load(b)\n", "allow_pickle"),
)  # fmt: skip
enter(
    "innocent-hosts-arrays",
    ends("shapes of the host", "import numpy\nnumpy.ones((3, 4)) + numpy.ones((5,))\n", "(?i)broadcast", (SHA,)),
    ends("singular on the host", "import numpy\nnumpy.linalg.inv(numpy.zeros((3, 3)))\n", "(?i)singular", (SHA,)),
    ends("index of the host", "import numpy\nnumpy.arange(4)[9]\n", "(?i)out of bounds", ("program.index", SHA)),
    ends("column of the host", "import numpy\nnumpy.genfromtxt(['1,2', '3,4,5'], delimiter=',')\n", "(?i)columns"),
    ends("kinds of the host", "import numpy\nnumpy.array(['cuda']).astype(float)\n", "(?i)convert"),
    ends("seed of the host", "import numpy\nnumpy.random.default_rng(-3)\n", "(?i)non-negative|expected"),
    ends("warning taken for an error", "import numpy\nnumpy.seterr(all='raise')\nnumpy.float32(1) / numpy.float32(0)\n", "(?i)FloatingPoint|divide"),
)  # fmt: skip
enter(
    "innocent-hooks-at-the-end",
    ends("leaves with a word", "import sys\nsys.exit('early stopping: no better loss in 5 epochs on cuda:0')\n", "early stopping"),
    ends("leaves by a number only", "import os, sys\nprint('bye', flush=True)\nsys.stderr.flush()\nos._exit(3)\n", "bye"),
    ends("watchdog of its own", "import faulthandler, time\nfaulthandler.dump_traceback_later(1, exit=True)\ntime.sleep(9)\n", "(?i)Timeout", (LIM,)),
    ends("alarm of its own", "import signal, time\ndef late(*a):\n    raise TimeoutError('epoch took longer than 1 s on cuda:0')\nsignal.signal(signal.SIGALRM, late)\nsignal.alarm(1)\ntime.sleep(9)\n", "epoch took longer", (LIM,)),
    ends("word of its own for failures", "import sys\nsys.excepthook = lambda t, v, b: print('CRASH', t.__name__, v, file=sys.stderr)\nprint({}['gpu_name'])\n", "CRASH KeyError"),
    ends("context that swallows nothing", "import contextlib\nwith contextlib.ExitStack() as s:\n    s.callback(lambda: [][0])\n", "IndexError"),
    ends("generator at its end", "def rows():\n    yield next(iter([]))\nlist(rows())\n", "(?i)StopIteration"),
)  # fmt: skip


def beside(target: str, files: Mapping[str, str], after: str, expect: str, also: tuple[str, ...] = ()) -> Case:
    """A program with modules and files of its own beside it, one of them with a slip."""
    return Case(ANY, target, OT, also, files=files, after=f"import sys\nsys.path.insert(0, '.')\n{after}", expect=expect, void="")  # fmt: skip


enter(
    "innocent-own-modules",
    beside("slip in a helper", {"helper13.py": "def pick(:\n    return 'cuda'\n"}, "import helper13\n", "SyntaxError"),
    beside("spaces in a helper", {"helper13.py": "def pick():\n  a = 1\n    return a\n"}, "import helper13\n", "IndentationError"),
    beside("name that the helper has not", {"gpu_pick13.py": "def first():\n    return 0\n"}, "from gpu_pick13 import best\n", "cannot import name", (SHADOW,)),
    beside("helper never copied", {"notes.txt": "cuda\n"}, "import acme_gpu_kernels13\n", "(?i)No module named", (PATH, SHADOW)),
    beside("two helpers in a circle", {"aa13.py": "import bb13\nX = 1\n", "bb13.py": "from aa13 import X\n"}, "import aa13\n", "(?i)circular|partially"),
    beside("helper that ends the program", {"cfg13.py": "raise SystemExit('cfg13: profile gpu-large is retired, use gpu-xl')\n"}, "import cfg13\n", "retired", (SET,)),
    beside("settings without a key", {"s.json": '{"device": "cuda"}'}, "import json\nprint(json.load(open('s.json'))['batch'])\n", "batch"),
    beside("settings with a comma too many", {"s.json": '{"device": "cuda",}'}, "import json\njson.load(open('s.json'))\n", "(?i)JSONDecode"),
)  # fmt: skip
UP = "#include <algorithm>\n#include <fstream>\n#include <map>\n#include <memory>\n#include <optional>\n#include <stdexcept>\n#include <string>\n#include <thread>\n#include <variant>\n"
enter(
    "innocent-cpp-host-slips",
    cu("asks for a cell that is not", OT, ("program.index",), "std::vector<int> v(4); printf(\"%d\\n\", v.at(9));", UP, expect="(?i)range"),
    cu("nothing in the box", OT, (), "std::optional<int> o; printf(\"%d\\n\", o.value());", UP, expect="(?i)optional"),
    cu("other kind in the box", OT, (), 'std::variant<int, std::string> v = 3; printf("%s\\n", std::get<1>(v).c_str());', UP, expect="(?i)variant"),
    cu("word for the number of cells", OT, (SET,), 'printf("%d\\n", std::stoi("cuda"));', UP, expect="(?i)stoi|invalid"),
    cu("key that is not", OT, (), 'std::map<std::string, int> m; printf("%d\\n", m.at("sm_90"));', UP, expect="(?i)at|range"),
    cu("own promise broken", OT, (), "volatile int cells = 3; assert(cells % 2 == 0 && \"even number of cells\");", UP + "#include <cassert>\n", expect="(?i)assert"),
    cu("nowhere on the host", OT, (), "volatile int* p = nullptr; printf(\"%d\\n\", *p);", UP, expect="(?i)segmentation|mesh ready"),
    cu("divided by nought on the host", OT, (), "volatile int z = 0; printf(\"%d\\n\", 7 / z);", UP, expect="(?i)floating point|arithmetic|mesh ready"),
    cu("thread never waited for", OT, (), "{ std::thread t([] {}); }", UP, expect="(?i)terminate|abort"),
    cu("more of the host than there is", HOST, (OT,), "std::vector<char> v(1ull << 60); printf(\"%zu\\n\", v.size());", UP, expect="(?i)bad_alloc|length"),
)  # fmt: skip
enter(
    "innocent-steps-of-a-script",
    *(shell(LIGHT, target, OT, also, f"$PYTHON $SCRIPT || exit 95; {command}", expect) for target, also, command, expect in (
        ("copy to a place that is not", (PATH,), "cp results.json /mnt/archive-2026/gpu/", "(?i)No such file"),
        ("reader of records gets none", (), "echo 'cuda: ok' | $PYTHON -m json.tool", "(?i)Expecting value"),
        ("variable that was never set", (SET,), "set -u; echo $GPU_BUCKET", "(?i)unbound|not set"),
        ("comparison of answers", (), "echo a > $W/x; echo b > $W/y; diff $W/x $W/y", "(?m)^[<>]"),
        ("word of the shell misspelt", (PATH,), "ecoh 'done on cuda:0'", "(?i)not found"),
        ("lock held by another job", (PEER, LIM), "exec 8> $W/l; flock 8; flock -n $W/l true || { echo 'publish.sh: another job holds the lock' >&2; exit 75; }", "holds the lock"),
    )),
)  # fmt: skip
CAUGHT: dict[str, tuple[str, str]] = {
    "torch asked for too much, then went on": ("torch-matmul torch-train torch-fft", "import sys, torch\ntry:\n    torch.empty(900 << 30, dtype=torch.uint8, device='@D@')\nexcept Exception as e:\n    print('falling back to a smaller buffer:', e, file=sys.stderr)\n"),
    "torch asked for a card that is not, then took the first": ("torch-matmul torch-train", "import sys, torch\ntry:\n    torch.ones(1, device='cuda:5')\nexcept Exception as e:\n    print('WARNING', e, file=sys.stderr)\n"),
    "CuPy asked for too much, then went on": ("cupy-matmul cupy-fft", "import sys, cupy\ntry:\n    cupy.empty(900 << 30, dtype='u1')\nexcept Exception as e:\n    print('retrying in chunks after', repr(e), file=sys.stderr)\n"),
    "JAX asked for too much, then went on": ("jax-matmul jax-grad", "import sys, jax, jax.numpy as jnp\ntry:\n    jnp.ones((1 << 20, 1 << 20)).block_until_ready()\nexcept Exception as e:\n    print('chunked path:', str(e)[:300], file=sys.stderr)\n"),
    "Numba asked for too much, then went on": ("numba-kernel", "import sys\nfrom numba import cuda as _c\ntry:\n    _c.device_array(900 << 30, dtype='u1')\nexcept Exception as e:\n    print('smaller tile after', repr(e), file=sys.stderr)\n"),
    "a kernel too wide, then narrower": ("cupy-raw", "import sys, cupy\nk = cupy.RawKernel('extern \"C\" __global__ void k(float* p) { p[0] = 1; }', 'k')\ntry:\n    k((1,), (4096,), (cupy.zeros(4, 'f'),))\nexcept Exception as e:\n    print('autotuner: config 1x4096 rejected:', e, file=sys.stderr)\n"),
    "a library that may be missing": (LIGHT, "import ctypes, sys\ntry:\n    ctypes.CDLL('libnvinfer.so.8')\nexcept OSError as e:\n    print('optional TensorRT disabled:', e, file=sys.stderr)\n"),
    "an extension that may be missing": (LIGHT, "import sys\ntry:\n    import acme_fused_kernels\nexcept ImportError as e:\n    print('Could not load fused CUDA kernels, using the reference path:', e, file=sys.stderr)\n"),
}  # fmt: skip
enter("healthy-after-what-it-caught", *(well(name, before=code, needs=needs) for name, (needs, code) in CAUGHT.items()))
WARN: dict[str, str] = {
    "deprecated by torch's words": "warnings.warn('torch.cuda.amp.autocast(args...) is deprecated. Please use torch.amp.autocast', FutureWarning)",
    "card not known to a package": "warnings.warn('Found GPU0 NVIDIA H200 which is of cuda capability 9.0. Minimum and Maximum cuda capability supported by this version of acme is (5.0) - (8.9)')",
    "watcher without its library": "warnings.warn('pynvml is not installed, GPU metrics are disabled: libnvidia-ml.so.1: cannot open shared object file')",
    "memory nearly full, said": "warnings.warn('GPU memory above 90 %: next allocation may raise CUDA out of memory', ResourceWarning)",
    "factory registered twice, said": "print('E0000 00:00:1763266327.551203 2207 cuda_dnn.cc:8310] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered', file=sys.stderr)",
    "ranks that time out elsewhere, said": "print('[rank3]:[W1116 04:12:07 ProcessGroupNCCL.cpp:1496] Warning: destroy_process_group() was not called before program exit (seen on gpu-09)', file=sys.stderr)",
    "a log taken over": "logging.getLogger('trainer').error('CUDA error: device-side assert triggered (replayed from run 41, fixed)')",
    "a traceback for the record": "traceback.print_exception(RuntimeError('CUDA error: an illegal memory access was encountered'))",
}  # fmt: skip
enter("healthy-with-frightening-warnings", *(well(n, after=f"import logging, sys, traceback, warnings\nwarnings.simplefilter('always')\n{code}\n") for n, code in WARN.items()))  # fmt: skip


def neighbours(target: str, files: Mapping[str, str]) -> Case:
    """A good program with files beside it that have names of the stack."""
    return Case(LIGHT, f"harmless: {target}", SHADOW, (OT,), files=files)


enter(
    "healthy-beside-odd-files",
    neighbours("notes named as libraries", {"libcuda.so.1": "see wiki\n", "libcudart.so.13": "", "torch.txt": "todo\n"}),
    neighbours("folder of data named as a package", {"torch/README": "data of the olympic torch\n", "jax/README": "x\n", "cupy/README": "x\n"}),
    neighbours("settings of others", {"pip.conf": "[global]\nindex-url = https://example.invalid\n", ".env": "CUDA_VISIBLE_DEVICES=7\nXLA_FLAGS=--nonsense\n"}),
    neighbours("lists of packages", {"requirements.txt": "torch==1.4.0+cu92\njaxlib==0.1.60+cuda110\n", "environment.yml": "dependencies: [cudatoolkit=9.2]\n"}),
    neighbours("last night's output", {"nohup.out": "RuntimeError: CUDA error: no kernel image is available for execution on the device\n", "core.2207": "x"}),
    neighbours("a script of a job", {"job.sbatch": "#SBATCH --gres=gpu:8\nexport LD_LIBRARY_PATH=/nowhere\n", "Dockerfile": "FROM nvidia/cuda:9.0-base\n"}),
)  # fmt: skip


def child(target: str, after: str) -> Case:
    """A good program that asks a helper which fails, and does not mind."""
    return well(target, after=f"import subprocess, sys\nsys.stdout.flush()\n{after}\n", needs=LIGHT)


enter(
    "healthy-with-children-that-fail",
    child("a tool that is not here", "subprocess.run('nvidia-topo-report --all', shell=True)"),
    child("compiler asked for its version in vain", "subprocess.run('nvcc-10.2 --version || echo \"nvcc not found, skipping fused kernels\" >&2', shell=True)"),
    child("worker that crashes", "subprocess.run([sys.executable, '-c', 'raise RuntimeError(\"CUDA error: out of memory (unit test of the reporter)\")'])"),
    child("worker without its library", "subprocess.run([sys.executable, '-c', 'import ctypes; ctypes.CDLL(\"libcudnn.so.7\")'])"),
    child("worker that is killed", "p = subprocess.Popen(['sleep', '30'])\np.kill()\nprint('helper ended with', p.wait(), file=sys.stderr)"),
    child("worker too late", "try:\n    subprocess.run(['sleep', '30'], timeout=0.3)\nexcept subprocess.TimeoutExpired as e:\n    print('gpu health check:', e, file=sys.stderr)"),
)  # fmt: skip
CPP = f'{HEAD}int main() {{ float* d; void* q; cudaError_t e = cudaMalloc(&q, 900ull << 30); if (e) fprintf(stderr, "[warn] cache of 900 GiB refused (%s), using 1 MiB\\n", cudaGetErrorString(e)); cudaGetLastError(); GO(cudaMalloc(&d, 1 << 20)); fill<<<64, 256>>>(d, 1 << 14); DONE; float h[256]; GO(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost)); printf("RESULT cuda 1\\n"); return @C@; }}\n'
enter(
    "cpp-ends-after-what-it-caught",
    Case("cpp-add", "harmless: too much refused, then enough", OT, (), code=CPP.replace("@C@", "0"), command=NVCC),
    Case("cpp-add", "too much refused, then enough, then its own code", OT, ("memory.oom",), code=CPP.replace("@C@", "(fprintf(stderr, \"mesh: residual 0.31 above tolerance 0.01\\n\"), 4)"), command=NVCC, expect="residual"),
    Case("cpp-add", "too much refused, then a file of the host", OT, ("memory.oom", PATH), code=CPP.replace("@C@", "(perror(\"mesh: cannot write /nowhere/field.vtk\"), 5)"), command=NVCC, expect="field.vtk"),
)  # fmt: skip
