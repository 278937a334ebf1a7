"""Eighth operators, the innocents: real work on the card, notes that mean nothing, then an end of the program's own, or none."""

from __future__ import annotations

import random

from lab.random.draw import Draw, Machine, operator
from lab.random.eighth import ANY, LIM, OT, PART, PEER, SET, Case, enter
from lab.random.eighth_dress import DRESSES, SHELLS, dressed, shelled
from lab.random.marks import filled

WORK = {
    "torch": "import torch\nnet = torch.nn.Sequential(torch.nn.Linear(32, 64), torch.nn.GELU(), torch.nn.Linear(64, 8)).to('@D@')\nopt = torch.optim.AdamW(net.parameters(), 3e-4)\nfor step in range(4):\n    loss = torch.nn.functional.mse_loss(net(torch.randn(16, 32, device='@D@')), torch.zeros(16, 8, device='@D@'))\n    opt.zero_grad()\n    loss.backward()\n    opt.step()\nprint(f'step 4 loss {loss.item():.4f} device @D@', flush=True)\n",
    "jax": "import jax, jax.numpy as jnp\nf = jax.jit(lambda w, x: jnp.tanh(x @ w).mean())\nw = jax.device_put(jnp.ones((32, 8)), jax.devices('@J@')[0])\nprint('objective', float(f(w, jnp.ones((4, 32)))), w.devices(), flush=True)\n",
    "cupy": "import cupy\na = cupy.random.rand(200, 200)\nprint('eigenvalue', float(cupy.linalg.eigvalsh(a + a.T)[-1]), 'pool', cupy.get_default_memory_pool().total_bytes(), flush=True)\n",
}
NOTES = {
    "nothing": "",
    "registering twice": "import sys\nprint('E0000 00:00:1760000000.123456 4711 cuda_dnn.cc:8310] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered', file=sys.stderr)\n",
    "NUMA": "import sys\nprint('I0000 00:00:1760000000.1 99 cuda_executor.cc:1015] successful NUMA node read from SysFS had negative value (-1), but there must be at least one NUMA node, so returning NUMA node zero.', file=sys.stderr)\n",
    "no TensorRT": "import warnings\nwarnings.warn('TF-TRT Warning: Could not find TensorRT')\nwarnings.warn('xFormers is not available (CUDA extension not built)')\n",
    "tries a library": "import ctypes, logging\nlogging.basicConfig()\ntry:\n    ctypes.CDLL('libcudnn_infer_plus.so.8')\nexcept OSError as e:\n    logging.getLogger('accel').warning('optional fast path off: %s', e)\n",
    "no fused optimiser": "import logging\nlogging.basicConfig()\nlogging.warning('apex is not installed; using torch.optim (this is fine)')\nlogging.warning('bitsandbytes was compiled without GPU support. 8-bit optimizers are not available.')\n",
    "slow path": "import warnings\nwarnings.warn('You are using a CUDA device that has Tensor Cores. To properly utilize them, set float32 matmul precision', stacklevel=1)\nwarnings.warn('lazyInitCUDA: CUDA lazy loading is on', ResourceWarning)\n",
    "memory told": "import sys\nprint('[mem] reserved 1.2 GiB of 139.8 GiB, peak 0.9 GiB, 0 OOM retries, 0 fragmentation events', file=sys.stderr)\n",
    "retry told": "import logging\nlogging.basicConfig()\nlogging.error('CUDA error: out of memory on batch 512; going on with 256')\nlogging.info('recovered')\n",
    "neighbour's line": "import sys\nprint('dcgm: GPU 3 (other tenant) Xid 31 at 03:12, not ours', file=sys.stderr)\n",
}
ENDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "schema": ("rows = [{'id': 1, 'device': 'cuda'}]\nfor row in rows:\n    if 'label' not in row:\n        raise ValueError(f'row {row} has no label')", ()),
    "typed settings": ("settings = {'devices': '2'}\nif not isinstance(settings['devices'], int):\n    raise TypeError('devices: expected int, got str')", ()),
    "subcommand": ("import argparse, sys\np = argparse.ArgumentParser(prog='gputrain')\ns = p.add_subparsers(dest='cmd', required=True)\ns.add_parser('fit')\np.parse_args(['fitt'])", ()),
    "plan of rates": ("schedule = [(0, 1e-3), (10, 1e-4)]\nepoch = -1\nrate = next(r for e, r in schedule if e <= epoch)", ()),
    "nothing improved": ("import sys\nprint('validation loss rose for 5 epochs; stopping (exit 9)', file=sys.stderr)\nsys.exit(9)", ()),
    "diverged": ("loss = float('nan')\nif loss != loss:\n    raise ArithmeticError('loss is NaN at step 1200, lr=0.3')", ()),
    "metric gate": ("got, want = 0.812, 0.9\nassert got >= want, f'BLEU {got} below the release gate {want}'", ()),
    "database": ("import sqlite3\nsqlite3.connect(':memory:').execute('insert into runs values (1)')", ()),
    "bucket": ("class NoSuchBucket(Exception):\n    pass\nraise NoSuchBucket('an error occurred (NoSuchBucket) when calling PutObject: gpu-artifacts-prod')", ()),
    "token": ("raise PermissionError('401 Client Error: Unauthorized for url: /api/models/acme/llm-7b-gpu (token expired)')", ()),
    "image": ("data = b'GIF89a'\nif not data.startswith(b'\\xff\\xd8'):\n    raise OSError('cannot identify image file frames/000017.jpg')", ()),
    "video": ("import subprocess\nsubprocess.run(['sh', '-c', 'echo \"[h264_nvenc] frame=0 dropped, input has no packets\" >&2; exit 187'], check=True)", ()),
    "yaml": ("text = 'model:\\n\\tlayers: 4'\nif '\\t' in text:\n    raise SyntaxError('config.yaml, line 2: found character that cannot start any token (tab)')", ()),
    "list too short": ("names = ['cuda:0']\nprint(names[1])", ()),
    "bad slice": ("splits = {'train': 0.8, 'val': 0.3}\nif sum(splits.values()) != 1:\n    raise ValueError(f'splits must sum to 1, got {sum(splits.values()):.2f}')", ()),
    "no such column": ("table = {'gpu_ms': [1.0]}\ntable['cpu_ms']", ()),
    "clock": ("import datetime\ndatetime.datetime(2026, 2, 30)", ()),
    "names clash": ("from collections import namedtuple\nnamedtuple('Device', ['id', 'id'])", ()),
    "abstract": ("import abc\nclass Backend(abc.ABC):\n    @abc.abstractmethod\n    def launch(self): ...\nBackend()", ()),
    "string for a number": ("workers = '4'\nprint(workers + 1)", ()),
    "hash": ("cache = {}\ncache[[1, 2]] = 'kernel'", ()),
    "too deep": ("def walk(n):\n    return walk(n + 1)\nwalk(0)", ()),
    "base64": ("import base64\nbase64.b64decode('gpu=', validate=True)", ()),
    "port of the dashboard": ("import socket\na = socket.socket()\na.bind(('127.0.0.1', 0))\na.listen()\nb = socket.socket()\nb.bind(a.getsockname())", (PEER,)),
    "callback": ("import threading\nerrors = []\ndef watch():\n    try:\n        {}['gpu0']\n    except KeyError as e:\n        errors.append(e)\nt = threading.Thread(target=watch)\nt.start()\nt.join()\nraise RuntimeError('monitor thread failed') from errors[0]", ()),
    "cancelled": ("import asyncio\nasync def main():\n    async with asyncio.timeout(0.2):\n        await asyncio.sleep(5)\nasyncio.run(main())", (LIM,)),
    "grouped": ("raise ExceptionGroup('export', [KeyError('onnx_opset'), ValueError('batch axis is fixed')])", ()),
    "told to stop": ("import os, signal\nos.kill(os.getpid(), signal.SIGTERM)", (LIM,)),
    "own code": ("import os\nprint('quota of run minutes used up, job parked', flush=True)\nos._exit(75)", (LIM,)),
    "warnings as errors": ("import warnings\nwarnings.simplefilter('error')\nwarnings.warn('option amp_level is deprecated', FutureWarning)", ()),
    "locale": ("import locale\nlocale.setlocale(locale.LC_ALL, 'xx_XX.UTF-8')", (SET,)),
    "missing extra": ("raise ImportError('to log images install the extra: acme-trainer[vision]')", ()),
    "licence": ("raise SystemExit('licence: 8 GPU seats in use, none left (see /opt/acme/licence.log)')", ()),
    "tokens": ("prompt = 'x ' * 5000\nif len(prompt.split()) > 4096:\n    raise ValueError('prompt has 5000 tokens, the context is 4096')", ()),
    "checksum": ("import hashlib\nd = hashlib.md5(b'weights').hexdigest()\nif d != '0' * 32:\n    raise OSError(f'model.safetensors: checksum {d[:8]} differs from the index')", ("install.corrupted",)),
    "tree": ("import xml.dom.minidom as m\nm.parseString('<gpus><gpu></gpus>')", ()),
}  # fmt: skip


def _end(rng: random.Random, machine: Machine, name: str, ends: list[str]) -> Draw | None:
    """Real work, a harmless note before or after it, then one of these ends, dressed as failures are."""
    here = [f for f in sorted(WORK) if machine.programs(f)]
    if not here:
        return None
    family, end, note = rng.choice(here), rng.choice(ends), rng.choice(sorted(NOTES))
    parts = [NOTES[note], WORK[family]] if rng.random() < 0.5 else [WORK[family], NOTES[note]]
    code = "".join(parts) + ENDS[end][0] + "\n"
    for mark, value in filled(rng, machine).items():
        code = code.replace(mark, value)
    dress = rng.choice(["", "", *sorted(DRESSES), *sorted(SHELLS)])
    if dress == "torchrun" and family != "torch":
        dress = ""
    target = f"{end} after {note} [{dress}]"
    files, command = {}, ""
    if dress in SHELLS:
        command = shelled(dress, "")
    elif dress:
        files, code = {"job.py": code}, dressed(dress)
    return Draw(name, target, f"{family}-own", OT, ENDS[end][1], code=code, files=files, command=command)


def _enter(number: int) -> None:
    ends = sorted(ENDS)[number::6]
    operator(f"innocent-{number + 1}", PART)(lambda rng, machine: _end(rng, machine, f"innocent-{number + 1}", ends))


for _number in range(6):
    _enter(_number)
CAUGHT = "import sys, traceback\ntry:\n    {0}\nexcept Exception:\n    traceback.print_exc()\n    print('handled, going on', file=sys.stderr)\n"
enter(
    "healthy-and-loud",
    *(Case(ANY, f"harmless: {name}", OT, (), before=text) for name, text in sorted(NOTES.items()) if text),
    Case(ANY, "harmless: a bad import, handled", OT, (), before=CAUGHT.format("import tensorrt_plugin_acme")),
    Case(ANY, "harmless: a library not there, handled", OT, (), before=CAUGHT.format("import ctypes; ctypes.CDLL('libcublas.so.10')")),
    Case("torch-matmul torch-fft", "harmless: a real out of memory, handled", OT, (), before="import torch\n" + CAUGHT.format("torch.empty(1 << 49, dtype=torch.uint8, device='@D@')")),
    Case("torch-matmul torch-fft", "harmless: real shapes that do not fit, handled", OT, (), before="import torch\n" + CAUGHT.format("torch.ones(2, 3, device='@D@') @ torch.ones(2, 3, device='@D@')")),
    Case("cupy-matmul cupy-fft", "harmless: a real refusal of a launch, handled", OT, (), before="import cupy\n" + CAUGHT.format("cupy.RawKernel('extern \"C\" __global__ void k(float* p) { p[0] = 1; }', 'k')((1,), (4096,), (cupy.zeros(4, dtype='f'),))")),
    Case("jax-matmul jax-grad", "harmless: a platform not there, handled", OT, (), before="import jax\n" + CAUGHT.format("jax.devices('rocm')")),
    Case(ANY, "harmless: a child that dies", OT, (), before="import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import os; os.abort()'])\nprint('preview renderer is gone, not needed')\n"),
    Case(ANY, "harmless: an old log shown", OT, (), before="print('last run, for comparison:\\n  RuntimeError: CUDA error: an illegal memory access was encountered\\n  exit code 1')\n"),
)  # fmt: skip
