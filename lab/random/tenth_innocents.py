"""Tenth operators, no matter of the GPU: programs that compute well and end by themselves, and healthy ones in odd company."""

from __future__ import annotations

from collections.abc import Mapping

from lab.random.tenth import ANY, BAD, BUG, CPU, HOST, LIGHT, LIM, ODD, OT, PATH, PEER, SHA, Case, enter
from lab.random.tenth_cpp import cx


def ends(target: str, after: str, also: tuple[str, ...] = (), expect: str = "", before: str = "", needs: str = ANY) -> Case:  # fmt: skip
    """A program that works, and an end of its own behind it."""
    return Case(needs, target, OT, also, before=before, after=after, expect=expect, void="")


enter(
    "innocent-learning",
    ends("loss that is none", "import math\nloss = float('nan')\nif not math.isfinite(loss):\n    raise FloatingPointError('loss is nan at step 12, learning rate 3.0 on cuda:0')\n", expect="loss is nan"),
    ends("patience is over", "import sys\nprint('[early-stop] no gain for 5 epochs, best 0.412 on GPU 0', file=sys.stderr)\nsys.exit(20)\n", expect="no gain"),
    ends("target never reached", "class NotConverged(Exception):\n    pass\nraise NotConverged('residual 2.1e-3 after 400 iterations of the CUDA solver, wanted 1e-6')\n", expect="residual"),
    ends("more classes in the labels", "classes, seen = 10, {0, 3, 9, 11}\nextra = sorted(v for v in seen if v >= classes)\nassert not extra, f'labels {extra} have no class; check the list before it reaches the GPU'\n", ("program.index",), "have no class"),
    ends("scheduler without its steps", "raise ValueError('OneCycleLR: expected positive integer total_steps, but got -1')\n", expect="total_steps"),
)  # fmt: skip
enter(
    "innocent-downloads",
    ends("models from nowhere", "import urllib.request\nurllib.request.urlopen('https://models.invalid/cuda/resnet.pt', timeout=4)\n", (PEER,), "(?i)urlopen|resol|name"),
    ends("torch's own hub", "import torch.hub\ntorch.hub.load_state_dict_from_url('http://127.0.0.1:9/gpu.pt', progress=False)\n", (PEER,), "(?i)refused|urlopen", needs="torch-matmul torch-fft"),
    ends("sum of a file differs", "import hashlib\nwant, got = '9f86d081', hashlib.sha256(b'cudnn').hexdigest()[:8]\nif want != got:\n    raise RuntimeError(f'invalid hash value of model_cuda.bin (expected \"{want}\", got \"{got}\")')\n", (BAD,), "invalid hash"),
    ends("gated model", "class GatedRepoError(OSError):\n    pass\nraise GatedRepoError('401 Client Error. Access to model acme/gpu-llm is restricted. You must be authenticated to access it.')\n", (), "restricted"),
    ends("offline and not in the cache", "class LocalEntryNotFoundError(FileNotFoundError):\n    pass\nraise LocalEntryNotFoundError('Cannot find the requested files in the disk cache and outgoing traffic has been disabled.')\n", (PEER,), "disk cache"),
)  # fmt: skip
enter(
    "innocent-releases",
    ends("name that NumPy no longer has", "import numpy\nprint(numpy.float_(3))\n", (ODD, BUG), "float_"),
    ends("argument that is gone", "import numpy\nnumpy.array([1], device='cuda')\n", (ODD, SHA, "device.selection"), "device"),
    ends("module of the old standard library", "import imp\n", (ODD,), "imp"),
    ends("package of another name", "import sklearn_cuda_tools\n", (PATH,), "sklearn_cuda_tools"),
    ends("release wanted in words", "have, want = (2, 1), (9, 0)\nif have < want:\n    raise ImportError(f'plot-kit needs gpu-report>=9.0, found {have[0]}.{have[1]}')\n", (ODD,), "plot-kit"),
    ends("collections of old", "import collections\ncollections.Mapping\n", (ODD,), "Mapping"),
)  # fmt: skip
enter(
    "innocent-words",
    ends("memory of an agent", "raise MemoryError('agent memory exhausted: 512 of 512 episodes, none may be forgotten')\n", (HOST,), "agent memory"),
    ends("kernel of a support vector machine", "raise ValueError('kernel must be one of linear, rbf; got cuda')\n", (), "kernel must"),
    ends("driver of a car", "class DriverError(Exception):\n    pass\nraise DriverError('driver not found for car 12, version mismatch of the roster')\n", (), "roster"),
    ends("device of the Internet of things", "raise ConnectionError('device cuda-lamp-3 is busy or unavailable; last seen 41 s ago')\n", (PEER,), "lamp"),
    ends("library with books", "raise LookupError('library libcu-4711 not found: no shelf of that name')\n", (), "shelf"),
    ends("stream of a river", "raise RuntimeError('stream capture failed: sensor 5 of the river gauge sends nothing')\n", (PEER,), "river"),
    ends("graph of friends", "raise RuntimeError('illegal access: user 7 may not read the graph of user 9')\n", (), "user 7"),
)  # fmt: skip
enter(
    "innocent-measures",
    ends("slower than wanted", "got, want = 71.3, 90.0\nassert got >= want, f'throughput {got} TFLOP/s below the gate of {want} on H200'\n", (), "below the gate"),
    ends("results of two runs differ", "raise SystemExit('determinism check: run 1 and run 2 differ in 3 of 4096 values (max 2.4e-7)')\n", (), "determinism"),
    ends("tolerance", "import numpy\nnumpy.testing.assert_array_almost_equal(numpy.array([0.1, 0.2]), numpy.array([0.1, 0.25]), err_msg='cuda against numpy')\n", (SHA,), "cuda against numpy"),
    ends("memory watched and too high", "peak, limit = 3.2, 3.0\nif peak > limit:\n    raise SystemExit(f'CI gate: peak {peak} GiB is above the budget of {limit} GiB')\n", ("memory.oom",), "CI gate"),
    ends("energy budget", "raise SystemExit('policy: run used 0.31 kWh of 0.30 kWh, later steps are not started')\n", (LIM,), "policy"),
)  # fmt: skip
enter(
    "innocent-commands",
    ends("argument that is no choice", "import argparse\np = argparse.ArgumentParser(prog='bench')\np.add_argument('--backend', choices=('cudnn', 'triton'))\np.parse_args(['--backend', 'cudnn9'])\n", (), "invalid choice"),
    ends("needed and not given", "import argparse\np = argparse.ArgumentParser(prog='infer')\np.add_argument('--engine', required=True)\np.parse_args([])\n", (), "required"),
    ends("two that exclude each other", "import argparse\np = argparse.ArgumentParser(prog='infer')\ng = p.add_mutually_exclusive_group()\ng.add_argument('--cpu', action='store_true')\ng.add_argument('--gpu', action='store_true')\np.parse_args(['--cpu', '--gpu'])\n", (), "not allowed with"),
    ends("sub-command of another release", "import sys\nprint(\"error: unknown command 'gpu-bench', did you mean 'bench'?\", file=sys.stderr)\nsys.exit(64)\n", (), "unknown command"),
    ends("help is printed and that is wrong", "import sys\nprint('usage: train [--device {cpu,cuda}] DATA', file=sys.stderr)\nsys.exit(2)\n", (), "usage"),
)  # fmt: skip
enter(
    "innocent-runtimes",
    ends("model of words as a file", "import onnxruntime\nonnxruntime.InferenceSession('model_cuda.onnx', providers=['CPUExecutionProvider'])\n", (PATH, BAD), "model_cuda.onnx", needs="torch-matmul"),
    ends("input of another name", "import numpy, onnxruntime\nfrom onnx import TensorProto, helper\nv = lambda n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [4])\nm = helper.make_model(helper.make_graph([helper.make_node('Relu', ['x'], ['y'])], 'g', [v('x')], [v('y')]), opset_imports=[helper.make_opsetid('', 13)], ir_version=8)\ns = onnxruntime.InferenceSession(m.SerializeToString(), providers=['CPUExecutionProvider'])\ns.run(None, {'input': numpy.ones(4, dtype='f')})\n", (SHA,), "(?i)input", needs="torch-matmul"),
    ends("input of another rank", "import numpy, onnxruntime\nfrom onnx import TensorProto, helper\nv = lambda n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [4])\nm = helper.make_model(helper.make_graph([helper.make_node('Relu', ['x'], ['y'])], 'g', [v('x')], [v('y')]), opset_imports=[helper.make_opsetid('', 13)], ir_version=8)\ns = onnxruntime.InferenceSession(m.SerializeToString(), providers=['CPUExecutionProvider'])\ns.run(None, {'x': numpy.ones((2, 4), dtype='f')})\n", (SHA,), "(?i)rank|dimension", needs="torch-matmul"),
    Case("torch-matmul", "memory of the card asked of a build without it", CPU, ("install.conflict",), after="import numpy, onnxruntime\nv = onnxruntime.OrtValue.ortvalue_from_numpy(numpy.ones(4, dtype='f'), 'cuda', 0)\nprint(v.device_name())\n", expect="(?i)CUDA"),
)  # fmt: skip
enter(
    "innocent-threads-and-tasks",
    ends("deadline of a task", "import asyncio\nasync def serve():\n    async with asyncio.timeout(0.2):\n        await asyncio.sleep(5)\nasyncio.run(serve())\n", (LIM,), "(?i)timeout"),
    ends("two of three tasks", "import asyncio\nasync def shard(i):\n    if i:\n        raise ValueError(f'shard {i}: empty after filtering')\nasync def main():\n    async with asyncio.TaskGroup() as g:\n        for i in range(3):\n            g.create_task(shard(i))\nasyncio.run(main())\n", (), "empty after filtering"),
    ends("barrier that breaks", "import threading\nb = threading.Barrier(2, timeout=0.3)\nb.wait()\n", (PEER,), "(?i)Barrier"),
    ends("pool already closed", "from concurrent.futures import ThreadPoolExecutor\np = ThreadPoolExecutor(1)\np.shutdown()\np.submit(print)\n", ("program.order",), "(?i)shutdown"),
    ends("queue is full", "import queue\nq = queue.Queue(maxsize=1)\nq.put('frame 1')\nq.put('frame 2', timeout=0.2)\n", (LIM,), "(?i)Full"),
    ends("loop inside a loop", "import asyncio\nasync def main():\n    asyncio.run(asyncio.sleep(0))\nasyncio.run(main())\n", ("program.order",), "(?i)running event loop"),
)  # fmt: skip
LINE = 'fprintf(stderr, "wave: card 0: %d MB free, 0 Xid since boot\\n", 139000); '
enter(
    "innocent-cpp-tools",
    cx("grid that is no power of two", OT, (SHA,), LINE + 'throw std::invalid_argument("grid size 1000 is not a power of two");', expect="power of two"),
    cx("restart from a file of another run", OT, (BAD,), LINE + 'throw std::runtime_error("restart.bin: checksum of block 3 differs");', expect="checksum"),
    cx("steps too long", OT, (), LINE + 'double cfl = 1.7; if (cfl > 1) { fprintf(stderr, "wave: CFL number %.1f is above 1, stopping before step 1\\n", cfl); return 8; }', expect="CFL"),
    cx("energy below nothing", OT, (), LINE + 'fprintf(stderr, "wave: total energy negative (-3.1e+02) on rank 0 / GPU 0\\n"); abort();', expect="energy negative"),
    cx("licence of the solver", OT, (PEER,), LINE + 'fprintf(stderr, "wave: licence server lic-2:27000 does not answer, feature GPU_SOLVER\\n"); return 50;', expect="licence"),
)  # fmt: skip


def step(target: str, command: str, expect: str, also: tuple[str, ...] = ()) -> Case:
    """The program ends well; what the script does next does not."""
    return Case(LIGHT, target, OT, also, command=command, expect=expect, void="", dress="none")


enter(
    "innocent-steps-after",
    step("report with a slip", "$PYTHON $SCRIPT > $W/o.txt; $PYTHON - <<'X'\nrows = open('/nonexistent/gpu_report.csv').read()\nX", "gpu_report.csv", (PATH,)),
    step("gate of lines", "$PYTHON $SCRIPT | grep -c CUDA_OK > $W/n || { echo 'gate: no line CUDA_OK in the output' >&2; exit 6; }", "gate:"),
    step("branch that is protected", "$PYTHON $SCRIPT; echo 'remote: error: GH006: Protected branch update failed for refs/heads/main.' >&2; exit 1", "Protected branch"),
    step("folder that is full of runs", "$PYTHON $SCRIPT; mkdir -p $W/runs; [ $(ls /usr/bin | wc -l) -lt 5 ] || { echo 'archive: more than 5 runs kept, refusing' >&2; exit 14; }", "archive:", (LIM,)),
    step("variable without a value", "$PYTHON $SCRIPT; : ${GPU_BUCKET:?set the bucket for results}", "GPU_BUCKET", ("env.setting",)),
    step("tests of the site", f"{'$PYTHON $SCRIPT'}; test 139 -gt 400 || {{ echo 'site check: host has 128 GB of RAM, the class wants 400' >&2; exit 9; }}", "site check", (HOST,)),
)  # fmt: skip


def healthy(target: str, before: str = "", needs: str = LIGHT, command: str = "", environ: Mapping[str, str] | None = None) -> Case:  # fmt: skip
    """A program that ends well, in company that frightens."""
    return Case(needs, f"harmless: {target}", OT, (), before=before, command=command, environ=environ or {})


enter(
    "healthy-under-launchers",
    *(healthy(name, command=command) for name, command in (
        ("a wide limit of time", "timeout -k 5 300 $PYTHON $SCRIPT"), ("a lock of its own", "flock $W/own.lock $PYTHON $SCRIPT"), ("a session of its own", "setsid -w $PYTHON $SCRIPT"), ("low on every list", "ionice -c 3 nice -n 19 $PYTHON $SCRIPT"),
        ("lines kept whole", "stdbuf -oL -eL $PYTHON $SCRIPT"), ("with development checks", "$PYTHON -X dev -W ignore $SCRIPT"), ("without asserts", "$PYTHON -OO $SCRIPT"), ("through xargs", "echo $SCRIPT | xargs $PYTHON"), ("second attempt is good", "false || $PYTHON $SCRIPT"),
        ("as a module's file", "cd $(dirname $SCRIPT) && $PYTHON -m main"), ("with every signal ignored", "trap '' HUP INT USR1; $PYTHON $SCRIPT"), ("behind a subshell that fails first", "(exit 3); $PYTHON $SCRIPT"),
    )),
)  # fmt: skip
TRY = "import sys, traceback\ntry:\n    {0}\nexcept Exception:\n    traceback.print_exc()\n    print('not needed, going on', file=sys.stderr)\n"
enter(
    "healthy-after-real-errors",
    healthy("a capsule opened twice", "import torch\nfrom torch.utils.dlpack import from_dlpack, to_dlpack\nc = to_dlpack(torch.ones(2))\nfrom_dlpack(c)\n" + TRY.format("from_dlpack(c)"), "torch-matmul torch-fft"),
    healthy("a share too small, then widened", "import torch\nif '@D@' == 'cuda':\n    torch.cuda.set_per_process_memory_fraction(0.001)\n" + TRY.format("torch.empty(1 << 30, dtype=torch.uint8, device='@D@')") + "if '@D@' == 'cuda':\n    torch.cuda.set_per_process_memory_fraction(1.0)\n", "torch-matmul torch-fft"),
    healthy("a capture that was broken off", "import torch\nif '@D@' == 'cuda':\n    x = torch.ones(8, device='cuda')\n    g = torch.cuda.CUDAGraph()\n    try:\n        with torch.cuda.graph(g):\n            raise KeyError('layer 3')\n    except Exception as e:\n        print('capture:', repr(e))\n", "torch-matmul torch-fft"),
    healthy("a block too large, refused", "import cupy\nk = cupy.RawKernel('extern \"C\" __global__ void k() {}', 'k')\n" + TRY.format("k((1,), (4096,), ())"), "cupy-matmul cupy-fft"),
    healthy("a mapped function with unlike lengths", "import jax, jax.numpy as jnp\n" + TRY.format("jax.vmap(jnp.dot)(jnp.ones((2, 3)), jnp.ones((4, 3)))"), "jax-matmul jax-grad"),
    healthy("a library of another year", "import ctypes\n" + TRY.format("ctypes.CDLL('libcudnn.so.7')")),
    healthy("a worker that failed and was replaced", "import subprocess, sys\nfor code in (1, 0):\n    r = subprocess.run([sys.executable, '-c', f\"import sys; print('CUDA error: out of memory (worker, try)', file=sys.stderr) if {code} else None; sys.exit({code})\"])\n    print('worker', r.returncode)\n"),
)  # fmt: skip
enter(
    "healthy-with-old-papers",
    healthy("a core file beside", "open('core.4711', 'wb').write(bytes(64))\nopen('train.err', 'w').write('torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 80.00 GiB\\n')\nprint(open('train.err').read(), end='')\n"),
    healthy("log of the kernel from another machine", "print('[77120.1] NVRM: GPU 0000:04:00.0: RmInitAdapter failed! (0x26:0x56:1474)\\n[77120.2] nvidia-uvm: probe failed (copied from ticket 991)', flush=True)\n"),
    healthy("advice of a handbook", "print('Hint: \"CUDA driver version is insufficient for CUDA runtime version\" means an old driver; \"undefined symbol: __nvJitLinkComplete_12_4\" means mixed libraries.', flush=True)\n"),
    healthy("counts of errors, all of them none", "for n in ('cuda_oom', 'nccl_timeout', 'device_assert', 'illegal_access', 'cudnn_not_initialized'):\n    print(f'{n}_total 0', flush=True)\n"),
    healthy("names of tests", "for n in ('test_cuda_out_of_memory_is_raised', 'test_device_side_assert', 'test_nccl_unhandled_system_error'):\n    print(n, '... ok', flush=True)\n"),
)  # fmt: skip
