"""Twelfth operators, no matter of the GPU: programs that compute well and end by themselves, and healthy ones started otherwise or with frightening words."""

from __future__ import annotations

from lab.random.eleventh import ANY, LIGHT, LIM, OT, PATH, PEER, SET, Case
from lab.random.eleventh_cpp import cu
from lab.random.eleventh_innocents import ends
from lab.random.twelfth import enter

enter(
    "innocent-queues",
    ends("message that nobody understands", "import json\nmsg = json.loads('{\"task\": \"embed\", \"device\": \"cuda:0\"}')\nprint(msg['inputs'])\n", "KeyError"),
    ends("broker that is not here", "import socket\nsocket.create_connection(('127.0.0.1', 5671), timeout=2)\n", "(?i)refused|timed", (PEER,)),
    ends("name of a broker nobody knows", "import socket\nsocket.getaddrinfo('rabbit.acme.invalid', 5672)\n", "(?i)name|resolution|service", (PEER,)),
    ends("task older than allowed", "class TaskExpired(Exception):\n    pass\nraise TaskExpired('task 7f2 for queue gpu-large waited 3605 s, limit 3600 s')\n", "TaskExpired", (LIM,)),
    ends("acknowledged twice", "import queue\nq = queue.Queue()\nq.put('gpu-job-1')\nq.get()\nq.task_done()\nq.task_done()\n", "task_done"),
)  # fmt: skip
enter(
    "innocent-async",
    ends("waits for a function that is none", "import asyncio\nasync def main():\n    await print('cuda')\nasyncio.run(main())\n", "(?i)await|NoneType"),
    ends("loop begun inside a loop", "import asyncio\nasync def main():\n    asyncio.run(asyncio.sleep(0))\nasyncio.run(main())\n", "(?i)running event loop"),
    ends("answer later than allowed", "import asyncio\nasync def main():\n    await asyncio.wait_for(asyncio.sleep(5), 0.2)\nasyncio.run(main())\n", "(?i)Timeout", (PEER, LIM)),
    ends("cancelled by its owner", "import asyncio\nasync def main():\n    t = asyncio.create_task(asyncio.sleep(5), name='gpu-poll')\n    await asyncio.sleep(0)\n    t.cancel()\n    await t\nasyncio.run(main())\n", "(?i)Cancelled"),
    ends("lock asked for twice, with a limit", "import threading\nl = threading.Lock()\nl.acquire()\nif not l.acquire(timeout=0.3):\n    raise RuntimeError('gpu_lock: not free after 0.3 s (held by MainThread)')\n", "gpu_lock", ("program.order", "device.busy")),
)  # fmt: skip
enter(
    "innocent-numbers",
    ends("loss is no number, found by its own guard", "loss = float('nan')\nif loss != loss:\n    raise FloatingPointError('loss is nan at step 12 (lr 0.3, scale 65536.0); stopping')\n", "loss is nan"),
    ends("division by the number of workers", "workers = []\nprint(64 // len(workers))\n", "ZeroDivision"),
    ends("power beyond all", "import math\nprint(math.exp(4000.0))\n", "Overflow"),
    ends("fraction of a decimal", "import decimal\nprint(decimal.Decimal('1,5') * 2)\n", "(?i)ConversionSyntax|Invalid"),
    ends("digits beyond the limit", "print(len(str(7 ** 20000)))\n", "(?i)digits|Exceeds", (SET, LIM)),
    ends("words to a number", "print(int('80GB'))\n", "80GB"),
)  # fmt: skip
enter(
    "innocent-files",
    ends("folder of results is there already", "import os\nos.makedirs('runs/gpu0')\nos.makedirs('runs/gpu0')\n", "(?i)exists"),
    ends("name too long", "open('cuda_' + 'x' * 300, 'w')\n", "(?i)too long"),
    ends("archive is none", "import tarfile\nopen('w.tar', 'w').write('hello' * 200)\ntarfile.open('w.tar')\n", "(?i)ReadError|could not be opened"),
    ends("picture is none", "import io, struct\nd = io.BytesIO(b'GIF89a' + bytes(4))\nw, h = struct.unpack('<HHI', d.read()[6:])\nprint(w, h)\n", "(?i)struct|unpack"),
    ends("check sum differs", "import hashlib\ngot = hashlib.sha256(b'weights').hexdigest()[:12]\nraise OSError(f'checksum of model.bin is {got}, manifest says 00aa11bb22cc; delete it and download again')\n", "checksum", ("install.corrupted",)),
    ends("reads a closed file", "f = open(__file__)\nf.close()\nprint(f.read())\n", "(?i)closed file"),
    ends("output's reader is gone", "import os, signal\nr, w = os.pipe()\nos.close(r)\nos.write(w, b'gpu metrics')\n", "(?i)Broken pipe"),
)  # fmt: skip
enter(
    "innocent-settings-files",
    ends("section that is not there", "import configparser\nc = configparser.ConfigParser()\nc.read_string('[gpu]\\nids = 0\\n')\nprint(c['trainer']['lr'])\n", "trainer"),
    ends("text of another form", "import configparser\nc = configparser.ConfigParser()\nc.read_string('gpu: 0\\n')\n", "(?i)MissingSection|no section"),
    ends("variable of its own not set", "import os\nprint(os.environ['ACME_MODEL_DIR'])\n", "ACME_MODEL_DIR", (SET, PATH)),
    ends("template with a name too many", "print('{model}-{gpu_count}'.format(model='m'))\n", "gpu_count"),
    ends("choice of its own list", "import enum\nclass Device(enum.Enum):\n    CPU = 'cpu'\n    GPU = 'gpu'\nprint(Device('cuda'))\n", "is not a valid Device", (SET, "device.selection")),
    ends("version written oddly", "print(tuple(int(p) for p in '13.0rc1'.split('.')))\n", "0rc1"),
)  # fmt: skip
enter(
    "innocent-after-warnings",
    ends("warnings of the card, then a key", "import sys\nprint('W1116 04:12:07 cuda_executor.cc:1228] could not read NUMA node, defaulting to 0', file=sys.stderr)\nprint({'a': 1}['loss'])\n", "KeyError"),
    ends("retries that worked, then its own end", "import sys\nfor i in (1, 2):\n    print(f'attempt {i}: CUDA out of memory, batch halved', file=sys.stderr)\nprint('attempt 3: ok, batch 16', file=sys.stderr)\nraise AssertionError('validation split is empty')\n", "validation split", ("memory.oom",)),
    ends("list of known problems, then a type", "print('known issues: #12 NCCL timeout on 2 nodes; #31 cuDNN 9.1 slow on L4')\nprint(len(7))\n", "(?i)has no len"),
    ends("driver's version told, then an attribute", "print('driver 580.95 / CUDA 13.0 / insufficient quota for region eu-2')\n(3).to('cuda')\n", "(?i)no attribute"),
    ends("looks for a second card, then a sum", "print('cuda:1 not present, using cuda:0 only')\nprint(sum(['a', 'b']))\n", "(?i)unsupported operand"),
)  # fmt: skip
enter(
    "innocent-cpp-guards",
    cu("option that nobody knows", OT, (SET,), 'fprintf(stderr, "mesh: unrecognized option \'--gpu-solver=amg\'\\nTry \'mesh --help\' for more information.\\n"); return 64;', expect="unrecognized"),
    cu("file of the mesh has no nodes", OT, (PATH,), 'FILE* f = fopen("cube.msh", "r"); if (!f) { perror("mesh: cube.msh"); return 66; }', expect="cube.msh"),
    cu("text turned into a number", OT, (), 'try { std::stoi("H200"); } catch (const std::exception& e) { fprintf(stderr, "mesh: bad value for cells: %s\\n", e.what()); return 65; }', "#include <string>\n#include <stdexcept>\n", expect="bad value"),
    cu("step too small", OT, (), 'double dt = 1e-19; if (dt < 1e-16) { fprintf(stderr, "mesh: time step %g below the minimum, CFL violated at cell 88 (GPU solver)\\n", dt); abort(); }', expect="CFL violated"),
    cu("licence not found", OT, (LIM, PEER), 'fprintf(stderr, "mesh: license checkout failed for feature GPU_SOLVER (-15,570): cannot connect to server 27000@lic\\n"); return 69;', expect="license checkout"),
)  # fmt: skip


def started(target: str, command: str, needs: str = LIGHT) -> Case:
    """A good program, started in a way of its own."""
    return Case(needs, f"harmless: {target}", OT, (), command=command, dress="none")


enter(
    "healthy-started-otherwise",
    started("from an archive", "cd $W; mkdir z; cp $SCRIPT z/__main__.py; $PYTHON -m zipapp z -o z.pyz; exec $PYTHON z.pyz"),
    started("from standard input", "$PYTHON - < $SCRIPT"),
    started("as a module", "cd $(dirname $SCRIPT); exec $PYTHON -m main"),
    started("by a word of its text", 'exec $PYTHON -c "exec(compile(open(\'$SCRIPT\').read(), \'job\', \'exec\'))"'),
    started("with a limit of time", "exec timeout 30 $PYTHON $SCRIPT"),
    started("in a session of its own", "exec setsid -w $PYTHON $SCRIPT"),
    started("slowly", "exec nice -n 12 $PYTHON $SCRIPT"),
    started("through a link", "ln -s $SCRIPT $W/link.py; exec $PYTHON $W/link.py"),
)  # fmt: skip
enter(
    "healthy-with-variables-that-choose",
    *(Case(needs, f"harmless: {k}={v}", SET, (OT,), environ={k: v}) for needs, k, v in (("torch-matmul torch-train", "TORCH_BLAS_PREFER_CUBLASLT", "1"), (LIGHT, "NVIDIA_VISIBLE_DEVICES", "void"), ("jax-matmul", "JAX_TRACEBACK_FILTERING", "off"), ("cupy-matmul cupy-fft", "CUPY_ACCELERATORS", "cub"), (LIGHT, "CUDA_CACHE_DISABLE", "1"), ("torch-matmul torch-train", "TORCH_LINALG_PREFER_CUSOLVER", "1"), (LIGHT, "PYTHONFAULTHANDLER", "1"), (LIGHT, "CUDA_HOME", "/opt/cuda-nowhere"))),
)  # fmt: skip


def said(target: str, words: str) -> Case:
    """A good program with somebody's words around it."""
    return Case(ANY, f"harmless: {target}", OT, (), after=f"import sys\nprint({words!r}, file=sys.stderr)\n")


enter(
    "healthy-with-old-words",
    said("last night's failure told", "resume: previous run 70 ended with RuntimeError: CUDA error: an illegal memory access was encountered; this run is clean"),
    said("list of what may happen", "exit codes: 2 out of memory, 3 no kernel image is available for execution on the device, 4 NCCL error"),
    said("a peer's complaint", "[monitor] gpu-09: Xid 79, GPU has fallen off the bus (not this node)"),
    said("a warning of a package", "UserWarning: CUDA initialization: The NVIDIA driver on your system is too old (simulated by test_banner)"),
    said("a search without finds", "grep 'cudnn|libcuda.so: cannot open shared object file' train.log: 0 matches"),
)  # fmt: skip
