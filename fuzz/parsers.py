"""Mutated inputs for every parser: `python -m fuzz.parsers [COUNT [SEED [NAME]]]`, 20,000 over all of them.

Each parser may refuse an input in its own words and nothing else, within ten seconds. Prints, for each parser, how many
inputs it got, how many crashed it or held it, and the slowest; exits with 1 where there is any.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import random
import resource
import shutil
import signal
import sys
import time
import traceback
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

CORPUS = Path(__file__).parent / "corpus"
SECONDS = 10
COUNT = 20_000


class Target(NamedTuple):
    """A parser: what it is given to begin with, how it is called, and in which words it may refuse."""

    name: str
    seeds: list[bytes]
    parse: Callable[[bytes], object]
    refuses: tuple[type[BaseException], ...] = ()
    in_place: bool = False
    """Half of the damage keeps every offset: it gets past the first header."""


class Result(NamedTuple):
    """What came of one parser."""

    name: str
    inputs: int
    crashes: list[str]
    hangs: int
    slowest: float


class Held(BaseException):
    """The time for one input is over."""


ODD = (0, 1, 0x7F, 0x80, 0xFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63 - 1, 2**64 - 1)
TEXTS = (
    b"\0", b"\xff\xfe", b"\n" * 50, b"9" * 5000, b"[" * 3000, b"{" * 3000, b'"', b"\\", b"\x1b]52;c;QUJD\x07", b"\r", b"\xe2\x80\xae", b"\xed\xa0\x80",
    b"../" * 50, b"::error::x\n", b"%s%n", b"$(id)", b"-" * 2000, b"a." * 2000, b"\t" * 300, b"torch==", b" @ https://u:p@x/", b"\x1f\x8b", b"1e999", b"NaN",
)  # fmt: skip


def mutated(seed: bytes, chooser: random.Random) -> bytes:
    """A seed with some damage."""
    data = bytearray(seed)
    for _ in range(chooser.choice([1, 1, 2, 4, 12])):
        at = chooser.randrange(len(data) + 1)
        kind = chooser.randrange(7)
        if kind == 0 and data:
            data[at % len(data)] ^= 1 << chooser.randrange(8)
        elif kind == 1:
            size = chooser.choice([1, 2, 4, 8])
            data[at : at + size] = (chooser.choice(ODD) & (1 << 8 * size) - 1).to_bytes(
                size, chooser.choice(["little", "big"])
            )
        elif kind == 2:
            del data[at : at + chooser.choice([1, 7, 64, 1000])]
        elif kind == 3:
            other = chooser.randrange(len(data) + 1)
            data[at:at] = data[other : other + chooser.choice([1, 16, 200])] * chooser.choice([1, 3, 40])
        elif kind == 4:
            data[at:at] = chooser.choice(TEXTS)
        elif kind == 5:
            del data[at:]
        else:
            data[at:at] = bytes(chooser.randrange(256) for _ in range(chooser.choice([1, 8, 60])))
    return bytes(data[: 1 << 18])


def overwritten(seed: bytes, chooser: random.Random) -> bytes:
    """A seed of the same length with a few bytes or numbers changed."""
    data = bytearray(seed[: 1 << 18])
    for _ in range(chooser.choice([1, 2, 4, 8])):
        at, size = chooser.randrange(max(len(data), 1)), chooser.choice([1, 1, 2, 4, 8])
        odd = chooser.choice((*ODD, chooser.randrange(256), len(data), at, max(at - 8, 0)))
        if at + size <= len(data):
            data[at : at + size] = (odd & (1 << 8 * size) - 1).to_bytes(size, "little")
    return bytes(data)


def over(data: bytes) -> Callable[[int, int], bytes]:
    """A pread over bytes that refuses what the operating system's refuses."""

    def pread(offset: int, size: int) -> bytes:
        assert 0 <= offset < 2**63, offset
        assert 0 <= size < 64 << 20, size
        return data[offset : offset + size]

    return pread


def _corpus(name: str) -> list[bytes]:
    return [file.read_bytes() for file in sorted((CORPUS / name).iterdir()) if file.is_file()]


def _zip() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as wheel:
        wheel.writestr("torch-2.5.1.dist-info/METADATA", "Name: torch\nVersion: 2.5.1\nRequires-Dist: numpy\n")
        wheel.writestr("torch-2.5.1.dist-info/RECORD", "torch/lib/libx.so,sha256=abc,1\n")
        wheel.writestr("torch/lib/libx.so", (_corpus("elf") or [b""])[0])
    return made.getvalue()


def binaries() -> Iterator[Target]:
    """Everything that reads bytes."""
    from gpuwhy.formats import MalformedError
    from gpuwhy.formats.cuda_version import read_cuda_version
    from gpuwhy.formats.elf import read_elf
    from gpuwhy.formats.fatbin import read_gpu_code
    from gpuwhy.formats.ldcache import read_ldcache
    from gpuwhy.formats.pe import read_pe
    from gpuwhy.formats.symbols import Symbols, read_versions
    from gpuwhy.formats.wheel import read_wheel

    refuses = (MalformedError,)
    yield Target("elf", _corpus("elf"), lambda d: read_elf(over(d), len(d)), refuses)
    yield Target("versions", _corpus("elf"), lambda d: read_versions(over(d), len(d)), refuses)
    yield Target("symbols", _corpus("symbols"), lambda d: Symbols(over(d), len(d)).imports("cu"), refuses)
    yield Target("fatbin", _corpus("fatbin"), lambda d: read_gpu_code(over(d), len(d), 64), refuses)
    yield Target(
        "cuda version", _corpus("cudaversion"), lambda d: read_cuda_version(over(d), len(d), "libcudart.so.12"), refuses
    )
    yield Target("ld.so.cache", _corpus("ldcache"), read_ldcache, refuses)
    yield Target("pe", _corpus("pe"), lambda d: read_pe(over(d), len(d)), refuses)
    yield Target("wheel", [_zip()], lambda d: read_wheel(over(d), len(d)), refuses)


LOG = b"""Traceback (most recent call last):
  File "/home/ada/train.py", line 3, in <module>
RuntimeError: CUDA error: no kernel image is available for execution on the device
ImportError: libcudnn.so.9: cannot open shared object file: No such file or directory
2024-05-06 07:08:09.123: E external/xla/cuda_dnn.cc:9261] Unable to register cuDNN factory
NCCL WARN Cuda failure 'out of memory' token=abc123def456 from 192.168.1.7:29500
NVRM: Xid (PCI:0000:01:00): 79, pid=1234, GPU has fallen off the bus.
{"log": "torch.cuda.OutOfMemoryError: CUDA out of memory.\\nTried to allocate 2.00 GiB"}
"""


def texts() -> Iterator[Target]:
    """Everything that reads text."""
    from gpuwhy.cli.terminal import one_line, plain
    from gpuwhy.look.frameworks.builds import assigned
    from gpuwhy.machine.allowlist import kept
    from gpuwhy.machine.recording import BadRecordingError, read_recording, recorded_machine
    from gpuwhy.answer import blocks, terminal
    from gpuwhy.answer.contract import as_json as as_report
    from gpuwhy.api.text import explain
    from gpuwhy.plan.requirements import RequirementError, from_file

    def text(data: bytes) -> str:
        return data.decode("utf-8", "surrogateescape")

    def log(data: bytes) -> None:
        answer = explain((data,))
        assert "\x1b" not in terminal.write(blocks.document(answer, 2))
        json.loads(as_report(answer))

    def shown(data: bytes) -> None:
        for made in (plain(text(data)), one_line(text(data))):
            assert not set(made) & set("\x1b\x07\x9b\u202e\x00")
        json.loads(as_report({"text": text(data), text(data)[:20]: [text(data)]}))

    def recording(data: bytes) -> None:
        machine = recorded_machine(read_recording(data, "x"))
        for question in ("uname", "environ", "ldcache"):
            machine.ask(question)

    keep = b'{"schema": "gpuwhy.record/1", "gpuwhy": "0", "options": {}, "answers": {"uname": {"state": "known", "value": 3}}}'
    yield Target("log", [LOG, gzip.compress(LOG), LOG.decode().encode("utf-16")], log)
    yield Target("redaction and terminal", [LOG], shown)
    yield Target("recording", [keep, gzip.compress(keep)], recording, (BadRecordingError,))
    yield Target(
        "requirements",
        [b"torch==2.5.1 ; python_version > '3.8'\n-r x.txt\n--hash=sha256:abc\n-e git+https://x#egg=y\n"],
        lambda d: from_file("r", lambda n: text(d) if n == "r" else ""),
        (RequirementError,),
    )
    yield Target(
        "generated module",
        [b"cuda = '12.4'\nversion: str = \"2.5\"\nbuild_info = OrderedDict([('cuda_version', '12')])\n"],
        lambda d: assigned(kept("/version.py", text(d))),
    )
    yield Target(
        "kernel.json",
        [b'{"argv": ["/usr/bin/python3", "-m"], "env": {"A": "b"}}'],
        lambda d: kept("/kernel.json", text(d)),
    )


FILES = {
    "requirements.txt": b"torch==2.5.1+cu124\ntensorflow[and-cuda]>=2.15\n--index-url https://download.pytorch.org/whl/cu124\n",
    "pyproject.toml": b"[project]\ndependencies = ['torch>=2', 'jax[cuda12]']\n[tool.uv.sources]\ntorch = {index = 'x'}\n",
    "environment.yml": b"name: x\nchannels: [pytorch]\ndependencies:\n  - python=3.11\n  - pytorch-cuda=12.4\n  - pip:\n    - torch==2.5.1\n",
    "Dockerfile": b"ARG V=12.4\nFROM nvidia/cuda:${V}-runtime-ubuntu22.04 AS x\nENV CUDA_HOME=/usr\nRUN pip install torch==2.5.1 \\\n  && true\n",
    "compose.yaml": b"services:\n  a:\n    image: x\n    deploy: {resources: {reservations: {devices: [{driver: nvidia, count: 1}]}}}\n    shm_size: 64m\n",
    "pod.yaml": b"apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - image: nvidia/cuda:12.4.1-base\n    resources: {limits: {nvidia.com/gpu: '1'}}\n",
    "devcontainer.json": b'{"image": "x", "runArgs": ["--gpus", "all"], // c\n "features": {"a": {}}}',
    "Pipfile.lock": b'{"default": {"torch": {"version": "==2.5.1"}}, "_meta": {"requires": {"python_version": "3.11"}}}',
    "uv.lock": b'version = 1\n[[package]]\nname = "torch"\nversion = "2.5.1"\nsource = { registry = "x" }\n',
    "job.sbatch": b"#!/bin/bash\n#SBATCH --gres=gpu:1\nmodule load cuda/12.4\npip install torch==2.5.1\nsrun python t.py\n",
    "setup.py": b"from setuptools import setup\nsetup(install_requires=['torch==2.5.1', 'jax[cuda12]'], extras_require={'a': ['cupy']})\n",
    "setup.cfg": b"[options]\ninstall_requires =\n  torch==2.5.1\n  tensorflow-gpu==2.4\n[options.extras_require]\na = jax\n",
    "app.py": b"import modal\nimage = modal.Image.debian_slim().pip_install('torch==2.5.1', index_url='x')\n@app.function(gpu='H100')\ndef f(): pass\n",
    "n.ipynb": b'{"cells": [{"cell_type": "code", "source": ["!pip install torch==2.0.0+cu118\\n", "%pip install jax"]}], "nbformat": 4}',
    "install.sh": b"set -e\npip install torch==2.5.1 --index-url https://download.pytorch.org/whl/cu124\ndocker run --gpus all x:y\n",
    ".github/workflows/t.yml": b"on: push\njobs:\n  a:\n    runs-on: gpu\n    container: nvidia/cuda:12.4.1-base\n    steps:\n    - run: pip install torch==2.5.1\n",
    ".gitlab-ci.yml": b"a:\n  image: nvidia/cuda:12.4.1-base\n  script:\n  - pip install torch==2.5.1\n",
    "sky.yaml": b"resources:\n  accelerators: H100:1\nsetup: |\n  pip install torch==2.5.1\nrun: python t.py\n",
    "cog.yaml": b"build:\n  gpu: true\n  cuda: '12.4'\n  python_packages:\n  - torch==2.5.1\npredict: p.py:P\n",
    "conda-lock.yml": b"version: 1\npackage:\n- name: pytorch\n  version: 2.5.1\n  manager: conda\n  platform: linux-64\n  url: https://x/pytorch-2.5.1-py3.11_cuda12.4_0.conda\n",
    "notes": b"\n\n# a\nARG V=1\nFROM nvidia/cuda:12.4.1-base\nRUN pip install torch\n",
    "c/templates/d.yaml": b"apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - image: {{ .Values.i | quote }}\n    {{- if .Values.g }}\n    resources: {limits: {nvidia.com/gpu: {{ .Values.n }}}}\n    {{- end }}\n",
}
BESIDE = {"c/Chart.yaml": "name: c\nversion: 1\n", "c/values.yaml": "i: nvidia/cuda:12.4.1-base\ng: true\nn: 1\n"}


def linted() -> Iterator[Target]:
    """Every kind of file that lint understands, and every form of its answer."""
    from gpuwhy.answer import ci, html, markdown, terminal
    from gpuwhy.answer.contract import as_json
    from gpuwhy.lint import report
    from gpuwhy.lint.linter import lint
    from gpuwhy.lint.mistakes import contract

    def check(name: str, data: bytes) -> None:
        result = lint({name: data.decode("utf-8", "surrogateescape")}, BESIDE.get, None, {})
        notes, document = report.notes(result), report.document(result, 1)
        json.loads(ci.sarif(notes, "x"))
        json.loads(ci.gitlab(notes))
        json.loads(as_json(contract(result, "x")))
        assert "<script>a" not in html.page(document)
        markdown.write(document)
        assert "\x1b" not in terminal.write(document)
        for line in ci.github(notes).splitlines():
            assert line.startswith(("::error ", "::warning ", "::notice ")), line

    for name, seed in FILES.items():
        yield Target(f"lint {name}", [seed], lambda data, name=name: check(name, data))


MODELS = Path(__file__).parent.parent / "tests" / "fit" / "files"
CONFIG = b"""{"model_type": "deepseek_v3", "architectures": ["DeepseekV3ForCausalLM"], "hidden_size": 96, "vocab_size": 131,
"num_hidden_layers": 3, "num_attention_heads": 6, "num_key_value_heads": 2, "intermediate_size": 80, "n_routed_experts": 6,
"moe_intermediate_size": 24, "kv_lora_rank": 12, "q_lora_rank": 28, "qk_rope_head_dim": 8, "qk_nope_head_dim": 12,
"v_head_dim": 10, "first_k_dense_replace": 1, "n_shared_experts": 2, "layer_types": ["full_attention"], "sliding_window": 7,
"text_config": {"model_type": "llama"}, "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 128}}"""


def models() -> Iterator[Target]:
    """Every format of models: one file damaged, those beside it whole."""
    import tempfile

    from gpuwhy.fit.model import Unreadable
    from gpuwhy.fit.read import read

    place = Path(tempfile.mkdtemp(prefix="gpuwhy-fuzz-"))

    def check(files: dict[str, bytes], name: str, data: bytes, folder: bool) -> None:
        for other, held in {**files, name: data}.items():
            (place / other).parent.mkdir(parents=True, exist_ok=True)
            (place / other).write_bytes(held)
        try:
            model = read(str(place if folder else place / name))
        except Unreadable as error:
            assert 0 < len(str(error)) < 300
            return
        finally:
            shutil.rmtree(place, ignore_errors=True)
        assert len(model.tensors) < 1_000_000
        assert model.bytes >= 0
        assert model.parameters >= 0
        assert all(isinstance(one, str) and len(one) < 300 for one in model.unknown)

    def below(folder: str) -> dict[str, bytes]:
        root = MODELS / folder
        return {file.relative_to(root).as_posix(): file.read_bytes() for file in root.rglob("*") if file.is_file()}

    def one(label: str, name: str, files: dict[str, bytes] | None = None, folder: bool = False, *more: bytes) -> Target:
        held = files or {}
        first = held.get(name) or (MODELS / name).read_bytes()
        return Target(f"model {label}", [first, *more], lambda d: check(held, name, d, folder), (Unreadable,), True)

    single = (
        ("safetensors", "types.safetensors"), ("gguf", "types.gguf"), ("gguf split", "split-00001-of-00003.gguf"),
        ("torch", "types.pt"), ("torch older", "legacy.pt"), ("torch module", "module.pt"), ("torch script", "script.pt"),
    )  # fmt: skip
    yield from (one(label, name) for label, name in single)
    shards = below("sharded")
    yield one("index", "model.safetensors.index.json", shards, True)
    yield one("shard", next(name for name in shards if name.endswith(".safetensors")), shards, True)
    cases = [line.encode() for line in (MODELS.parent / "parameters.jsonl").read_text().splitlines()[::9]]
    yield one(
        "config",
        "config.json",
        {"config.json": CONFIG},
        True,
        *(json.dumps(json.loads(line)[1]).encode() for line in cases),
    )
    pickles = (_pickle(MODELS / name) for name in ("types.pt", "module.pt", "training.pt", "quantised.pt"))
    yield Target("model pickle", list(pickles), _read_pickle, (Unreadable,), True)


def _pickle(path: Path) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return archive.read(next(name for name in archive.namelist() if name.endswith("data.pkl")))


def _read_pickle(data: bytes) -> None:
    from gpuwhy.fit import torchfile

    list(torchfile._walk(torchfile._load(io.BytesIO(data)), "", set(), 0))


def attacked(target: Target, count: int, seed: int) -> Result:
    """Give a parser so many inputs."""
    chooser, crashes, hangs, slowest = random.Random(f"{seed} {target.name}"), [], 0, 0.0
    before = signal.signal(signal.SIGALRM, _held)
    for _ in range(count):
        damage = overwritten if target.in_place and chooser.random() < 0.5 else mutated
        data = damage(chooser.choice(target.seeds), chooser)
        start = time.thread_time()
        signal.setitimer(signal.ITIMER_REAL, SECONDS * 10)
        try:
            with contextlib.suppress(*target.refuses):
                target.parse(data)
        except Held:
            hangs += 1
        except Exception as error:
            frame = traceback.extract_tb(error.__traceback__)[-1]
            crashes.append(f"{type(error).__name__}: {str(error)[:80]} at {Path(frame.filename).name}:{frame.lineno}")
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        took = time.thread_time() - start
        hangs += took > SECONDS
        slowest = max(slowest, took)
    signal.signal(signal.SIGALRM, before)
    return Result(target.name, count, crashes, hangs, slowest)


def _held(*_: object) -> None:
    raise Held


def doors() -> Iterator[Target]:
    """What comes by the doors of agents and jobs."""
    from gpuwhy.mcp.server import Server
    from gpuwhy.api.text import answer_of
    from gpuwhy.fleet.ranks.decide import contract, decide
    from gpuwhy.fleet.ranks.gather import Gathered

    def job(data: bytes) -> None:
        gathered = Gathered(2026)
        for number, part in enumerate(data.split(b"\n--\n")):
            gathered.file(f"rank {number}", number, part.decode("utf-8", "replace").split("\n"))
        json.dumps(contract(decide(gathered, answer_of)))

    def client(data: bytes) -> None:
        sent: list[bytes] = []
        Server(sent.append).serve(data.split(b"\n"))
        for line in sent:
            assert set(json.loads(line)) <= {"jsonrpc", "id", "result", "error", "method", "params"}

    yield Target("job", [b"[rank0]: step 3\nRuntimeError: CUDA error: out of memory\n--\n" + RAY], job)
    yield Target("mcp", [CLIENT], client)


RAY = b"""(RayTrainWorker pid=12, ip=10.0.0.2) RuntimeError: NCCL error: connection closed by peer
2026-01-01 10:00:00,000 ERROR torchrun: exitcode: -9 (pid: 12) of binary
Jan  5 12:00:00 host kernel: NVRM: Xid (PCI:0000:01:00): 79, GPU has fallen off the bus
"""
CLIENT = b"""{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}
{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}
{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}
{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"more","arguments":{"answer":"a1","start":3}}}
{"jsonrpc":"2.0","id":4,"method":"ping"}
"""


def targets() -> list[Target]:
    """All of them."""
    return [*binaries(), *texts(), *linted(), *models(), *doors()]


def main(count: int = COUNT, seed: int = 1, only: str = "") -> int:
    """Attack, print, and say by the exit code whether anything gave way."""
    everyone = [target for target in targets() if target.name.startswith(only)]
    bad = total = 0
    for target in everyone:
        result = attacked(target, -(-count // len(everyone)), seed)
        total += result.inputs
        bad += len(result.crashes) + result.hangs
        print(
            f"{result.name:24} {result.inputs:6} inputs, {len(result.crashes)} crashes, {result.hangs} hangs, slowest {result.slowest:.2f} s"
        )
        for crash in sorted(set(result.crashes))[:5]:
            print(f"    {crash}")
        sys.stdout.flush()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"{total} inputs over {len(everyone)} parsers, {bad} that gave way, peak {peak} MiB")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3]), *sys.argv[3:4]))
