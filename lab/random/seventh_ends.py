"""Seventh operators, endings of the program's own (in Python, shell, C++, other tools), and odd but small surroundings."""

from __future__ import annotations

from lab.random.seventh import (
    ANY,
    BAD,
    BUILD,
    HOST,
    ILL,
    LIM,
    NVCC,
    OOM,
    ORD,
    OT,
    PATH,
    PEER,
    SEL,
    SET,
    SHA,
    C,
    Case,
    J,
    N,
    T,
    enter,
)

enter(
    "shell-around",
    Case(ANY, "variable misspelt", OT, (PATH, SET), command="set -u; $PYTHON $SCRIPT; echo \"gpu hours: $GPU_HUORS\""),
    Case(ANY, "number with a comma", OT, (), command="$PYTHON $SCRIPT; mem='81,559'; [ \"$mem\" -gt 40000 ] || { echo \"not enough: $mem MiB\" >&2; exit 4; }"),
    Case(ANY, "octal number", OT, (), command="set -e; $PYTHON $SCRIPT; card=08; next=$((card + 1)); echo $next"),
    Case(ANY, "quote never closed", OT, (), command="$PYTHON $SCRIPT; bash -c 'echo \"CUDA job done'"),
    Case(ANY, "trap tells the line", OT, (), command="trap 'echo \"error on line $LINENO of train.sh, GPU 0 released\" >&2' ERR; set -e; $PYTHON $SCRIPT; mv result.json archive/"),
    Case(ANY, "array passed as one word", OT, (PATH,), command="args='$PYTHON $SCRIPT'; $PYTHON $SCRIPT && \"$args --resume\""),
    Case(ANY, "loop over nothing", OT, (), command="$PYTHON $SCRIPT; shopt -s failglob; for f in shards/*.tar; do echo $f; done"),
    Case(ANY, "no right to start the next step", OT, (PATH, LIM), command="printf '#!/bin/sh\\necho eval\\n' > $W/d/eval.sh; chmod 644 $W/d/eval.sh; $PYTHON $SCRIPT && $W/d/eval.sh"),
    Case(ANY, "xargs counts failures", OT, (), command="$PYTHON $SCRIPT; printf 'a\\nb\\n' | xargs -n 1 sh -c 'echo \"convert $0 failed\" >&2; exit 1'"),
    Case(ANY, "waits for a pipe's end", OT, (LIM,), command="$PYTHON $SCRIPT; mkfifo $W/p$$; timeout 3 cat $W/p$$ || { echo 'collector: nothing came through the pipe in 3 s' >&2; exit 6; }"),
    Case(ANY, "harmless: the last command decides", OT, (), command="false; ls /nonexistent/results; nvidia-smi -q -x -d NOPE >/dev/null; $PYTHON $SCRIPT"),
    Case(ANY, "harmless: second try", OT, (), command="for i in 1 2; do if [ $i = 1 ]; then echo 'CUDA_ERROR_NOT_READY: try again' >&2; else exec $PYTHON $SCRIPT; fi; done"),
)  # fmt: skip
MAKE = 'mkdir -p $W/d; printf \'{0}\' > $W/d/Makefile; cd $W/d; PY="$PYTHON" SC="$SCRIPT" make -s {1}'
enter(
    "other-tools",
    Case(ANY, "make: recipe fails after the run", OT, (PATH,), command=MAKE.format("all:\\n\\t$(PY) $(SC)\\n\\ttest -s metrics.json\\n", "all")),
    Case(ANY, "make: no rule", OT, (PATH,), command="$PYTHON $SCRIPT; " + MAKE.format("train: data/train.bin\\n\\t$(PY) $(SC)\\n", "train")),
    Case(ANY, "make: spaces for a tab", OT, (PATH,), command="$PYTHON $SCRIPT; " + MAKE.format("gpu:\\n    $(PY) $(SC)\\n", "gpu")),
    Case(ANY, "git: no repository", OT, (PATH,), command="set -e; $PYTHON $SCRIPT; cd $W/d; GIT_CEILING_DIRECTORIES=$W git rev-parse --short HEAD > version.txt"),
    Case(ANY, "perl dies", OT, (PATH,), command="$PYTHON $SCRIPT | perl -ne 'die \"cuda column missing in line $.\\n\" unless /,/'; exit ${PIPESTATUS[1]}"),
    Case(ANY, "awk's own judgement", OT, (PATH,), command="$PYTHON $SCRIPT | awk 'END { if (NR < 100) { print \"only \" NR \" lines from the GPU run\" > \"/dev/stderr\"; exit 7 } }'; exit ${PIPESTATUS[1]}"),
    Case(ANY, "tar of a file that changed", OT, (PATH,), command="set -e; $PYTHON $SCRIPT; tar cf $W/out.tar -C $W/d cuda_results"),
    Case(ANY, "diff with the expected output", OT, (PATH,), command="$PYTHON $SCRIPT > $W/now.txt; echo 'RESULT cuda reference' > $W/want.txt; diff -u $W/want.txt $W/now.txt"),
    Case(ANY, "sha256sum", OT, (PATH, BAD), command="$PYTHON $SCRIPT > $W/out.txt; echo \"$(printf 0%.0s $(seq 64))  $W/out.txt\" | sha256sum -c"),
    Case(ANY, "sed with a slip", OT, (PATH,), command="$PYTHON $SCRIPT | sed 's/cuda/gpu'; exit ${PIPESTATUS[1]}"),
    Case(ANY, "ssh to a host that is not there", OT, (PEER, PATH), command="set -e; $PYTHON $SCRIPT; ssh -o ConnectTimeout=3 -o BatchMode=yes gpu-login.invalid true"),
    Case(ANY, "env file for another shell", OT, (PATH, SET), command="$PYTHON $SCRIPT; echo 'setenv CUDA_HOME /usr/local/cuda' > $W/d/e.csh; set -e; . $W/d/e.csh"),
)  # fmt: skip
TEST = "import unittest\nclass TestKernels(unittest.TestCase):\n"
enter(
    "tests-fail",
    Case(ANY, "arrays differ", OT, (SHA,), after="import numpy\nnumpy.testing.assert_allclose(numpy.array([1.0, 2.0, 3.0]), numpy.array([1.0, 2.0, 3.1]), rtol=1e-3, err_msg='GPU against CPU')\n"),
    Case("torch", "tensors differ", OT, (SHA,), after="torch.testing.assert_close(torch.ones(4, device='@D@'), torch.ones(4, device='@D@') * 1.01)\n"),
    Case("torch-graph", "tensors in two places", SHA, (OT, SEL), after="torch.testing.assert_close(torch.ones(4, device='cuda'), torch.ones(4))\n"),
    Case("torch", "gradient check", OT, (SHA, ORD), code=T + "class Sq(torch.autograd.Function):\n    @staticmethod\n    def forward(ctx, x):\n        ctx.save_for_backward(x)\n        return x * x\n    @staticmethod\n    def backward(ctx, g):\n        return 3 * ctx.saved_tensors[0] * g\ntorch.autograd.gradcheck(Sq.apply, torch.ones(3, dtype=torch.double, device='@D@', requires_grad=True))\n"),
    Case(ANY, "doctest", OT, (), after='def blocks(n):\n    """\n    >>> blocks(1000)\n    8\n    """\n    return n // 256\nimport doctest, sys\nsys.exit(bool(doctest.testmod().failed))\n'),
    Case(ANY, "an error in a test's set-up", OT, (), after=TEST + "    def setUp(self):\n        self.device = DEVICES['cuda']\n    def test_sum(self):\n        pass\nunittest.main(argv=['t'])\n"),
    Case(ANY, "unexpected success", OT, (), after=TEST + "    @unittest.expectedFailure\n    def test_cudnn_is_flaky(self):\n        self.assertTrue(True)\n    def test_out_of_memory_is_told(self):\n        with self.assertRaises(MemoryError):\n            pass\nunittest.main(argv=['t'])\n"),
    Case(ANY, "an error was expected", OT, (), after=TEST + "    def test_text(self):\n        with self.assertRaisesRegex(RuntimeError, 'CUDA out of memory'):\n            raise RuntimeError('card is full')\nunittest.main(argv=['t'])\n"),
    Case(ANY, "harmless: all pass, loudly", OT, (), before=TEST + "    def test_oom(self):\n        with self.assertRaises(RuntimeError):\n            print('CUDA error: out of memory')\n            raise RuntimeError('CUDA error: out of memory')\n    @unittest.skip('no second GPU')\n    def test_peer(self):\n        pass\nunittest.main(argv=['t'], exit=False, verbosity=2)\n"),
)  # fmt: skip
enter(
    "own-service",
    Case(ANY, "its own port twice", OT, (PEER,), after="import socketserver\na = socketserver.TCPServer(('127.0.0.1', @O@), None)\nb = socketserver.TCPServer(('127.0.0.1', @O@), None)\n"),
    Case(ANY, "address of another machine", OT, (PEER, LIM), after="import socket\ns = socket.socket()\ns.bind(('203.0.113.9', @O@))\n"),
    Case(ANY, "answers no JSON", OT, (), after="import http.server, json, threading, urllib.request\nclass H(http.server.BaseHTTPRequestHandler):\n    def do_GET(self):\n        self.send_response(200)\n        self.end_headers()\n        self.wfile.write(b'<html>GPU pool is busy</html>')\n    def log_message(self, *a):\n        pass\ns = http.server.HTTPServer(('127.0.0.1', 0), H)\nthreading.Thread(target=s.serve_forever, daemon=True).start()\njson.load(urllib.request.urlopen('http://127.0.0.1:%d/' % s.server_port, timeout=5))\n"),
    Case(ANY, "socket times out", OT, (PEER,), after="import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 0))\ns.listen()\nc = socket.create_connection(s.getsockname())\nc.settimeout(2)\nc.recv(10)\n"),
    Case(ANY, "helper process of a pool is gone", OT, (HOST, PEER), after="import concurrent.futures as cf, multiprocessing as mp, os\nwith cf.ProcessPoolExecutor(1, mp.get_context('fork')) as ex:\n    ex.submit(os._exit, 4).result()\n"),
    Case(ANY, "pipe's other end closed", OT, (PEER,), after="import multiprocessing as mp\na, b = mp.Pipe()\nb.close()\na.recv()\n"),
    Case(ANY, "certificate", OT, (PEER,), after="import ssl\nssl.create_default_context(cafile='/etc/ssl/company-gpu-proxy.pem')\n"),
    Case(ANY, "task cancelled", OT, (), after="import asyncio\nasync def serve():\n    t = asyncio.create_task(asyncio.sleep(30), name='gpu-worker-0')\n    await asyncio.sleep(0.1)\n    t.cancel()\n    await t\nasyncio.run(serve())\n"),
    Case(ANY, "secret not given", OT, (SET,), after="import os\ntoken = os.environ['HUB_TOKEN_GPU']\n"),
)  # fmt: skip
enter(
    "own-data",
    Case(ANY, "pickled array", OT, (), after="import numpy\nnumpy.save('w.npy', numpy.array([{'cuda': 1}], dtype=object))\nnumpy.load('w.npy')\n"),
    Case(ANY, "archive cut", OT, (BAD,), after="import numpy, os\nnumpy.savez('w.npz', a=numpy.ones(1000))\nos.truncate('w.npz', 900)\nnumpy.load('w.npz')['a']\n"),
    Case(ANY, "no gzip", OT, (BAD,), after="import gzip\nopen('d.gz', 'wb').write(b'tensor data')\ngzip.open('d.gz').read()\n"),
    Case(ANY, "pickle of a class that moved", OT, (BAD,), after="import pickle\npickle.loads(b'ccuda_models.net\\nGpuNet\\n.')\n"),
    Case(ANY, "key missing in an archive", OT, (), after="import numpy\nnumpy.savez('w.npz', a=numpy.ones(3))\nnumpy.load('w.npz')['gpu_weights']\n"),
    Case(ANY, "too wide for its type", OT, (), after="import numpy\nnumpy.array([300, -5]).astype('u1')\nnumpy.uint8(300 + 0)\n"),
    Case(ANY, "memory map longer than its file", OT, (HOST,), after="import numpy\nopen('m.bin', 'wb').write(bytes(100))\nnumpy.memmap('m.bin', dtype='f4', mode='r', shape=(1000,))\n"),
    Case(ANY, "decimal comma", OT, (), after="float('0,75')\n"),
    Case(ANY, "rows of unlike length", OT, (SHA,), after="import numpy\nnumpy.array([[1, 2], [3]], dtype='f')\n"),
    Case(ANY, "frozen settings", OT, (), after="import dataclasses\n@dataclasses.dataclass(frozen=True)\nclass GpuConfig:\n    device: str = 'cuda'\nGpuConfig().device = 'cpu'\n"),
    Case(ANY, "enumeration", OT, (), after="import enum\nclass Precision(enum.Enum):\n    FP16 = 'fp16'\nPrecision('fp8_cuda')\n"),
)  # fmt: skip
HEAD = '#include <cstdio>\n#include <cstdlib>\n@INC@__global__ void fill(float* p) { p[threadIdx.x] = 1; }\nint main(int argc, char** argv) { float* d; if (cudaMalloc(&d, 4096)) return 70; fill<<<1, 64>>>(d); if (cudaDeviceSynchronize()) return 71; printf("kernel done\\n"); fflush(stdout);\n@BODY@\nreturn 0; }\n'


def cpp(target: str, body: str, include: str = "", also: tuple[str, ...] = ()) -> Case:
    """A C++ program whose work on the card is good and which then ends in its own way."""
    code = HEAD.replace("@INC@", "".join(f"#include <{name}>\n" for name in include.split())).replace("@BODY@", body)
    return Case("cpp-add", target, OT, also, code=code, command=NVCC)


enter(
    "cpp-ends-other",
    cpp("thread never joined", "std::thread t([] {});", "thread"),
    cpp("exception in a thread", 'std::thread t([] { throw std::runtime_error("decoder: frame 17 has no data"); }); t.join();', "thread stdexcept"),
    cpp("length of minus one", "std::vector<float> v; v.resize(static_cast<size_t>(-1)); printf(\"%zu\", v.size());", "vector", (HOST,)),
    cpp("recursion without an end", "struct R { static int f(volatile int n) { volatile char pad[4096]; pad[n & 1] = n; return f(n + 1) + pad[0]; } }; return R::f(0);", "", (ILL, LIM)),
    cpp("freed twice on the host", "void* volatile p = malloc(64); free(p); free(p);", "", (ILL,)),
    cpp("folder that is not there", 'for (auto& f : std::filesystem::directory_iterator("cuda_cache/meshes")) printf("%s", f.path().c_str());', "filesystem", (PATH,)),
    cpp("expression with a slip", 'std::regex r("(gpu[0-9"); return std::regex_match("gpu0", r);', "regex"),
    cpp("pure virtual", "struct A { A() { g(); } void g() { f(); } virtual void f() = 0; }; struct B : A { void f() override {} }; B b;", "", (ILL,)),
    cpp("optional without a value", "std::optional<int> gpu; printf(\"%d\", gpu.value());", "optional"),
    cpp("map without the key", 'std::map<std::string, int> m; return m.at("cuda:1");', "map string", (SEL,)),
    cpp("locale", 'std::locale l("de_GPU.UTF-8");', "locale"),
    cpp("raised by itself", "fprintf(stderr, \"watchdog: solver made no progress\\n\"); raise(SIGTERM);", "csignal"),
    cpp("alarm", "alarm(1); for (;;) pause();", "unistd.h", (LIM,)),
)  # fmt: skip
enter(
    "own-signal",
    Case(ANY, "reads address eight", OT, (ILL,), after="import ctypes\nctypes.string_at(8)\n"),
    Case(ANY, "aborts", OT, (ILL,), after="import os, sys\nprint('native decoder: assertion failed', file=sys.stderr, flush=True)\nos.abort()\n"),
    Case(ANY, "illegal instruction of its own", OT, (ILL,), after="import os, signal\nos.kill(os.getpid(), signal.SIGILL)\n"),
    Case(ANY, "its own watchdog", OT, (LIM,), after="import faulthandler, time\nfaulthandler.dump_traceback_later(3, exit=True)\ntime.sleep(20)\n"),
    Case(ANY, "its own alarm", OT, (LIM,), after="import signal, time\nsignal.alarm(2)\ntime.sleep(20)\n"),
    Case(ANY, "told to end while it cleans up", OT, (LIM,), after="import os, signal, sys\nsignal.signal(signal.SIGTERM, lambda *a: sys.exit('SIGTERM: preempted, checkpoint is not complete'))\nos.kill(os.getpid(), signal.SIGTERM)\n"),
    Case(ANY, "fails at the very end", OT, (), after="import atexit, os\ndef flush():\n    print('could not flush gpu metrics', flush=True)\n    os._exit(9)\natexit.register(flush)\n"),
    Case(ANY, "many errors at once", OT, (), after="raise ExceptionGroup('3 of 4 uploads failed', [OSError('bucket is read-only'), ValueError('gpu.json: no digest'), TimeoutError('slot 2')])\n"),
    Case(ANY, "error with a note", OT, (), after="e = ValueError('lr must be positive')\ne.add_note('seen on GPU 0, CUDA 13.0, step 400')\nraise e\n"),
    Case(ANY, "harmless: ignores what is sent", OT, (), before="import os, signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nos.kill(os.getpid(), signal.SIGTERM)\nos.kill(os.getpid(), signal.SIGWINCH)\n"),
)  # fmt: skip
enter(
    "tool-asked",
    Case("torch-graph", "nvidia-smi of another name", OT, (PATH, "driver.missing"), after="import subprocess\n'cuda'\nsubprocess.check_output(['nvidia-smi-pro', '-L'])\n"),
    Case("torch-graph", "field that nobody knows", OT, (SET,), after="import subprocess\n'cuda'\nsubprocess.run(['nvidia-smi', '--query-gpu=temperature.soul', '--format=csv'], check=True)\n"),
    Case("torch-graph", "answer read with the wrong eye", OT, (), after="import subprocess\n'cuda'\nout = subprocess.check_output(['nvidia-smi', '--query-gpu=memory.total', '--format=csv'], text=True)\nprint(int(out.splitlines()[1]))\n"),
    Case("torch-graph", "card seven asked for", SEL, (OT,), after="import subprocess\n'cuda'\nsubprocess.run(['nvidia-smi', '-i', '7', '-q'], check=True)\n"),
    Case("torch-graph", "watching needs a package", OT, (BAD, "install.inconsistent"), after="import sys\nsys.modules['pynvml'] = None\nprint(torch.cuda.utilization(), 'cuda')\n"),
    Case("torch-graph", "NVML before it is begun", ORD, (OT, "driver.not_ready"), after="import ctypes\n'cuda'\nn = ctypes.CDLL('libnvidia-ml.so.1')\nc = ctypes.c_uint()\nr = n.nvmlDeviceGetCount_v2(ctypes.byref(c))\nif r:\n    raise SystemExit(f'nvmlDeviceGetCount_v2 returned {r}')\n"),
    Case("torch-graph", "NVML asked for card nine", SEL, (OT, "program.index"), after="import ctypes\n'cuda'\nn = ctypes.CDLL('libnvidia-ml.so.1')\nn.nvmlInit_v2()\nh = ctypes.c_void_p()\nr = n.nvmlDeviceGetHandleByIndex_v2(9, ctypes.byref(h))\nif r:\n    n.nvmlErrorString.restype = ctypes.c_char_p\n    raise SystemExit('nvml: ' + n.nvmlErrorString(r).decode())\n"),
    Case("torch-matmul torch-train", "harmless: tool is missing and not needed", OT, (PATH,), before="import subprocess\ntry:\n    subprocess.run(['nvidia-smi-pro'], check=True)\nexcept OSError as e:\n    print('no monitor:', e)\n"),
)  # fmt: skip
NAMELESS = "setpriv --reuid=54321 --regid=54321 --clear-groups env -u USER -u LOGNAME -u LNAME -u USERNAME"
CHECKED = "setpriv --reuid=54321 --regid=54321 --clear-groups @P@ -c pass || exit 97"
enter(
    "nameless-user",
    Case("torch-compile", "no name, home is the root", LIM, (OT, SET, PATH), setup=CHECKED, command=f"{NAMELESS} HOME=/ $PYTHON $SCRIPT"),
    Case("triton-add cupy-raw", "home is the root", LIM, (OT, SET, PATH), setup=CHECKED, command=f"{NAMELESS} HOME=/ $PYTHON $SCRIPT"),
    Case("torch", "asks who it is", OT, (LIM, SET), setup=CHECKED, after="import getpass\nprint(getpass.getuser())\n", command=f"{NAMELESS} $PYTHON $SCRIPT"),
    Case("torch cupy", "no home at all", OT, (LIM, SET, PATH), setup=CHECKED, after="import pathlib\nprint(pathlib.Path('~/data').expanduser())\n", command=f"{NAMELESS} -u HOME $PYTHON $SCRIPT"),
    Case("torch-matmul jax-matmul cupy-matmul", "harmless: nobody asks", OT, (LIM,), setup=CHECKED, command=f"{NAMELESS} $PYTHON $SCRIPT"),
)  # fmt: skip
DATED = '#include <cstdio>\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); printf("RESULT cuda %s\\n", __DATE__); return cudaDeviceSynchronize(); }\n'
enter(
    "clock-and-language",
    Case("cpp-add", "a date for builds that is none", SET, (BUILD, OT), code=DATED, environ={"SOURCE_DATE_EPOCH": "yesterday"}, command=NVCC),
    Case(ANY, "prints what the terminal cannot", OT, (SET,), after="print('Genauigkeit \\u00fcber 90 \\u2713')\n", environ={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"}),
    Case(ANY, "reads what is not ASCII", OT, (SET,), files={"labels.txt": "Gr\u00fc\u00dfe\n"}, after="open('labels.txt', encoding='ascii').read()\n"),
    Case(ANY, "a language that is not there", OT, (SET,), after="import locale\nlocale.setlocale(locale.LC_ALL, '')\n", environ={"LC_ALL": "gpu_XX.UTF-8"}),
    Case(ANY, "a zone that is not there", OT, (SET,), after="import os, zoneinfo\nzoneinfo.ZoneInfo(os.environ['TZ'])\n", environ={"TZ": "Mars/Olympus"}),
    Case(ANY, "date in another order", OT, (), after="import datetime\ndatetime.date.fromisoformat('31.12.2026')\n"),
    Case(ANY, "harmless: odd zone and language", SET, (OT,), environ={"TZ": "Mars/Olympus", "LANGUAGE": "xx", "LC_ALL": "C"}),
    Case("triton-add torch-compile cupy-raw", "harmless: build date of 1970", SET, (OT, BUILD), environ={"SOURCE_DATE_EPOCH": "0"}),
)  # fmt: skip
enter(
    "limit-midway",
    Case("torch-matmul torch-train cupy-matmul jax-matmul", "files, set in the middle", LIM, (OT,), after="import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (3, 3))\nopen('/etc/hostname').read()\nimport sqlite3\n"),
    Case("torch-matmul torch-train cupy-matmul", "size of a file, while saving", LIM, (OT,), after="import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nresource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\nopen('checkpoint.bin', 'wb').write(bytes(1 << 20))\n"),
    Case("torch-matmul jax-matmul cupy-matmul", "time on the processor", LIM, (OT,), after="import resource\nn = int(resource.getrusage(resource.RUSAGE_SELF).ru_utime) + 2\nresource.setrlimit(resource.RLIMIT_CPU, (n, n))\nwhile True:\n    pass\n"),
    Case("torch-matmul cupy-matmul", "lowered from outside", LIM, (HOST, OT), command="$PYTHON $SCRIPT & P=$!; for i in $(seq 400); do [ -e $W/d/ready ] && break; sleep 0.1; done; prlimit --pid $P --as=2000000000:2000000000; touch $W/d/go; wait $P; c=$?; rm -f $W/d/ready $W/d/go; exit $c", after="import os, time\nopen('ready', 'w').close()\nwhile not os.path.exists('go'):\n    time.sleep(0.1)\nblocks = [bytearray(256 << 20) for _ in range(4)]\n"),
    Case("torch-matmul cupy-matmul jax-matmul numba-kernel triton-add", "harmless: limits that nobody meets", LIM, (HOST, OT), limit="ulimit -c 0; ulimit -l 0; ulimit -i 64; ulimit -q 0; ulimit -x 4"),
    Case("torch-matmul cupy-matmul jax-matmul numba-kernel", "harmless: low priority, wide limits", LIM, (OT,), limit="ulimit -n 512; ulimit -s 16384; renice -n 15 $$ >/dev/null"),
)  # fmt: skip
BOTH = (
    J
    + T
    + "a = torch.ones(4, device='@D@')\nb = jax.device_put(jnp.ones(4), jax.devices('@J@')[0])\nprint(a.sum().item(), float(b.sum()), flush=True)\n"
)
enter(
    "two-in-one",
    Case("jax-matmul", "torch takes a share, then jax's is too small", OOM, (SET, "memory.preallocation", LIM), environ={"XLA_PYTHON_CLIENT_MEM_FRACTION": ".008"}, code=BOTH + "'cuda'\nx = jax.device_put(jnp.ones((3, 1 << 28)), jax.devices('@J@')[0])\nprint(float((x @ x.T).sum()))\n"),
    Case("jax-matmul", "torch's tensor in a jitted function", SHA, (OT,), code=BOTH + "print(jax.jit(lambda x: x * 2)(a))\n"),
    Case("jax-matmul", "jax's array in a layer of torch", SHA, (OT,), code=BOTH + "print(torch.nn.Linear(4, 4).to('@D@')(b))\n"),
    Case("cupy-matmul", "cupy's array and torch's tensor", SHA, (OT, SEL), code=C + T + "print(cupy.ones(4) @ torch.ones(4, device='cuda'))\n"),
    Case("numba-kernel", "torch's tensor that needs a gradient in numba", ORD, (OT, SHA), code=N + T + "@cuda.jit\ndef k(x):\n    x[0] = 1\nk[1, 1](torch.ones(4, device='cuda', requires_grad=True))\n"),
    Case("cupy-matmul", "pool of cupy limited under torch", OOM, (SET, LIM), code=C + T + "x = torch.ones(1 << 20, device='cuda')\ncupy.get_default_memory_pool().set_limit(fraction=0.0001)\nprint(cupy.zeros(1 << 26).sum())\n"),
    Case("torch-matmul torch-train", "harmless: torch after jax has computed", OOM, ("memory.preallocation", "cudnn.mixed_libraries"), before="import jax.numpy as jnp\nprint(float(jnp.ones(8).sum()))\n"),
    Case("cupy-matmul cupy-fft", "harmless: cupy after numba", ORD, (OOM,), before="from numba import cuda\nprint(cuda.get_current_device().name)\n"),
)  # fmt: skip
