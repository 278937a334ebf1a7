"""What a framework takes of a GPU before and around its first tensors; one JSON file, for `gpuwhy fit`'s base rows.

    python3 -m lab.fit_overheads --python /opt/torch/.venv/bin/python3 --out "$OUT" [--jobs 4] [--only NAME …] [--cpu]

Each scenario is a fresh process. After every step it notes what NVML sees of the process and of the whole card, and
what the framework's allocator says. Where NVML does not tell processes apart, scenarios run one after the other and the
card's own use counts. `--cpu` tries the script itself where there is no GPU.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.metadata
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = str(Path(__file__).resolve().parent.parent)
CPU = os.environ.get("FIT_LAB_CPU") == "1"
PACKAGES = [
    "torch", "torchvision", "triton", "jax", "jaxlib", "jax-cuda13-plugin", "jax-cuda12-plugin", "cupy-cuda13x",
    "cupy-cuda12x", "transformers", "accelerate", "diffusers", "safetensors", "onnx", "onnxruntime", "bitsandbytes",
    "flash-attn", "optax", "flax", "timm", "numpy", "nvidia-cublas", "nvidia-cudnn-cu13", "peft", "nvidia-nccl-cu13",
    "gguf", "vllm", "tensorflow", "keras",
]  # fmt: skip


class _Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong)]


class _Process(ctypes.Structure):
    _fields_ = [
        ("pid", ctypes.c_uint),
        ("used", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    ]


class Nvml:
    """The card's memory and the processes on it, by the driver's own library; nothing where there is none."""

    def __init__(self) -> None:
        self.lib: Any = None
        try:
            self.lib = ctypes.CDLL("libnvidia-ml.so.1")
            self.gpu = ctypes.c_void_p()
            self.lib.nvmlInit_v2()
            if self.lib.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.gpu)):
                self.lib = None
        except OSError:
            self.lib = None

    def memory(self) -> dict[str, int]:
        """Total, free and used bytes of the card."""
        if self.lib is None:
            return {}
        got = _Memory()
        self.lib.nvmlDeviceGetMemoryInfo(self.gpu, ctypes.byref(got))
        return {"total": got.total, "free": got.free, "used": got.used}

    def processes(self) -> dict[int, int]:
        """Bytes of each process on the card, where NVML tells."""
        if self.lib is None:
            return {}
        count = ctypes.c_uint(256)
        room = (_Process * 256)()
        if self.lib.nvmlDeviceGetComputeRunningProcesses_v3(self.gpu, ctypes.byref(count), room):
            return {}
        return {one.pid: one.used for one in room[: count.value] if one.used < 1 << 60}

    def text(self, call: str) -> str:
        """A property of the card or the system as text."""
        if self.lib is None:
            return ""
        room = ctypes.create_string_buffer(96)
        gpu = () if call.startswith("nvmlSystem") else (self.gpu,)
        return room.value.decode() if not getattr(self.lib, call)(*gpu, room, 96) else ""


class Steps:
    """The steps of one scenario: each is run, timed and followed by a look at all the counters."""

    def __init__(self, counters: Callable[[], dict[str, Any]]) -> None:
        self.nvml, self.counters = Nvml(), counters

    def __call__(self, name: str, work: Callable[[], Any] = lambda: None) -> Any:
        """Run `work`; print what the counters say after it."""
        start, kept, error = time.monotonic(), None, ""
        try:
            kept = work()
        except Exception as exc:
            error = f"{type(exc).__name__}: {str(exc)[:300]}"
        row = {"step": name, "seconds": round(time.monotonic() - start, 3), **self._look()}
        if error:
            row["error"] = error
        print(json.dumps(row), flush=True)
        return kept

    def _look(self) -> dict[str, Any]:
        try:
            counters = self.counters()
        except Exception as exc:
            counters = {"counters_error": str(exc)[:200]}
        own = self.nvml.processes().get(os.getpid())
        return {"process": own, "used": self.nvml.memory().get("used"), **counters}


# ---------------------------------------------------------------- torch


def _torch() -> tuple[Any, str, Steps]:
    before = Steps(dict)
    before("nothing")
    import torch

    device = "cpu" if CPU else "cuda"

    def counters() -> dict[str, Any]:
        if CPU or not torch.cuda.is_initialized():
            return {}
        torch.cuda.synchronize()
        got = {
            "allocated": torch.cuda.memory_allocated(),
            "reserved": torch.cuda.memory_reserved(),
            "peak_allocated": torch.cuda.max_memory_allocated(),
            "peak_reserved": torch.cuda.max_memory_reserved(),
        }
        torch.cuda.reset_peak_memory_stats()
        return got

    step = Steps(counters)
    step("import")
    step("context", lambda: None if CPU else torch.cuda.init() or torch.cuda.synchronize())
    step("first tensor", lambda: torch.ones(8, device=device).sum().item())
    return torch, device, step


def torch_base() -> None:
    """The context, the first kernels, then random numbers, sorting, indexing, copies."""
    torch, device, step = _torch()
    step("elementwise", lambda: (torch.ones(1 << 20, device=device) * 2).relu().sum().item())
    step("random", lambda: torch.randn(1 << 20, device=device).sum().item())
    step("softmax", lambda: torch.softmax(torch.randn(512, 512, device=device), -1).sum().item())
    step("sort", lambda: torch.sort(torch.randn(1 << 20, device=device))[0][0].item())
    step(
        "embedding", lambda: torch.nn.Embedding(1000, 64, device=device)(torch.arange(100, device=device)).sum().item()
    )
    step("empty_cache", lambda: None if CPU else torch.cuda.empty_cache())


def torch_matmul() -> None:
    """cuBLAS in each type: its handle, kernels and workspace."""
    torch, device, step = _torch()
    for name, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16), ("f16", torch.float16)):
        a = torch.ones(1024, 1024, device=device, dtype=dtype)
        step(f"tensors {name}")
        step(f"matmul {name}", lambda a=a: (a @ a).sum().item())
        step(f"linear {name}", lambda a=a: torch.nn.functional.linear(a, a, a[0]).sum().item())
        step(f"bmm {name}", lambda a=a: torch.bmm(a.view(4, 256, 1024), a.view(4, 1024, 256)).sum().item())
    step("empty_cache", lambda: None if CPU else torch.cuda.empty_cache())


def torch_conv() -> None:
    """cuDNN: forward and backward, in two types, without and with the search for the fastest."""
    torch, device, step = _torch()
    nn = torch.nn.functional
    for name, dtype in (("f32", torch.float32), ("f16", torch.float16)):
        x = torch.randn(8, 64, 112, 112, device=device, dtype=dtype, requires_grad=True)
        w = torch.randn(64, 64, 3, 3, device=device, dtype=dtype, requires_grad=True)
        step(f"tensors {name}")
        step(f"conv {name}", lambda x=x, w=w: nn.conv2d(x, w, padding=1).sum().item())
        step(f"conv backward {name}", lambda x=x, w=w: nn.conv2d(x, w, padding=1).sum().backward())
        step(f"batch norm {name}", lambda x=x: nn.batch_norm(x, None, None, training=True).sum().backward())
        step(f"max pool {name}", lambda x=x: nn.max_pool2d(x, 2).sum().backward())
    torch.backends.cudnn.benchmark = True
    x = torch.randn(8, 128, 56, 56, device=device, requires_grad=True)
    w = torch.randn(128, 128, 3, 3, device=device, requires_grad=True)
    step("conv benchmark", lambda: nn.conv2d(x, w, padding=1).sum().backward())
    step("empty_cache", lambda: None if CPU else torch.cuda.empty_cache())


def torch_attention() -> None:
    """Scaled dot-product attention by each backend, forward and backward."""
    torch, device, step = _torch()
    from torch.nn.attention import SDPBackend, sdpa_kernel

    def call(backend: Any, dtype: Any, backward: bool, mask: bool = False) -> None:
        q = torch.randn(2, 16, 1024, 64, device=device, dtype=dtype, requires_grad=backward)
        bias = torch.zeros(2, 1, 1024, 1024, device=device, dtype=dtype) if mask else None
        with sdpa_kernel(backend):
            out = torch.nn.functional.scaled_dot_product_attention(q, q, q, attn_mask=bias, is_causal=not mask)
        out.sum().backward() if backward else out.sum().item()

    kinds = {
        "flash": SDPBackend.FLASH_ATTENTION,
        "efficient": SDPBackend.EFFICIENT_ATTENTION,
        "cudnn": SDPBackend.CUDNN_ATTENTION,
        "math": SDPBackend.MATH,
    }
    for name, kind in kinds.items():
        step(f"{name} bf16", lambda kind=kind: call(kind, torch.bfloat16, False))
        step(f"{name} bf16 backward", lambda kind=kind: call(kind, torch.bfloat16, True))
    step("efficient f32 backward", lambda: call(SDPBackend.EFFICIENT_ATTENTION, torch.float32, True))
    step("math f32 backward", lambda: call(SDPBackend.MATH, torch.float32, True))
    step("chosen bf16 mask", lambda: call(list(kinds.values()), torch.bfloat16, True, True))
    step("empty_cache", lambda: None if CPU else torch.cuda.empty_cache())


def _small_lm(torch: Any, device: str, dtype: Any) -> Any:
    nn = torch.nn
    layer = nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True, norm_first=True)
    model = nn.Sequential(nn.Embedding(8000, 512), nn.TransformerEncoder(layer, 4, enable_nested_tensor=False))
    model.append(nn.Linear(512, 8000))
    return model.to(device=device, dtype=dtype)


def _train(torch: Any, device: str, name: str, options: dict[str, Any], tokens: int = 256) -> Callable[[], None]:
    def work() -> None:
        model = _small_lm(torch, device, torch.float32)
        optimizer = getattr(torch.optim, name)(model.parameters(), lr=1e-4, **options)
        for length in (tokens, tokens // 2, tokens):
            ids = torch.randint(0, 8000, (8, length), device=device)
            with torch.autocast(device, dtype=torch.bfloat16):
                out = model(ids)
            torch.nn.functional.cross_entropy(out.float().flatten(0, 1), ids.flatten()).backward()
            optimizer.step()
            optimizer.zero_grad()

    return work


def torch_training() -> None:
    """A small language model trained: the optimizers, amp, and how much is reserved above what is allocated."""
    torch, device, step = _torch()
    step("sgd", _train(torch, device, "SGD", {"momentum": 0.9}))
    step("adamw", _train(torch, device, "AdamW", {}))
    step("adamw not foreach", _train(torch, device, "AdamW", {"foreach": False}))
    step("adamw fused", _train(torch, device, "AdamW", {"fused": True}))
    step("adafactor", _train(torch, device, "Adafactor", {}))
    step("empty_cache", lambda: None if CPU else torch.cuda.empty_cache())


def torch_fragments() -> None:
    """Batches of changing length: reserved above allocated; once more with expandable segments if a variable is set."""
    torch, device, step = _torch()
    model = _small_lm(torch, device, torch.float32)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def lengths(count: int) -> None:
        for i in range(count):
            ids = torch.randint(0, 8000, (8, 64 + (i * 149) % 448), device=device)
            out = model(ids)
            torch.nn.functional.cross_entropy(out.flatten(0, 1), ids.flatten()).backward()
            optimizer.step()
            optimizer.zero_grad()

    step("fixed", _train(torch, device, "AdamW", {}, 512))
    for _ in range(3):
        step("changing", lambda: lengths(2 if CPU else 12))
    step("empty_cache", lambda: None if CPU else torch.cuda.empty_cache())


def torch_compile() -> None:
    """A compiled small model: what Inductor's kernels and autotuning add."""
    torch, device, step = _torch()
    nn = torch.nn
    model = nn.Sequential(nn.Linear(512, 2048), nn.GELU(), nn.Linear(2048, 512), nn.LayerNorm(512)).to(device)
    x = torch.randn(256, 512, device=device)
    step("eager", lambda: model(x).sum().backward())
    compiled = torch.compile(model)
    step("compiled", lambda: compiled(x).sum().backward())
    if not CPU:
        graphed = torch.compile(model, mode="reduce-overhead")
        step("cuda graphs", lambda: [graphed(x).sum().backward() for _ in range(3)] and None)


def torch_graph() -> None:
    """A CUDA graph captured by hand: its private pool."""
    torch, device, step = _torch()
    linear = torch.nn.Linear(1024, 1024, device=device)
    x = torch.randn(4096, 1024, device=device)
    step("eager", lambda: linear(x).sum().item())
    if not CPU:
        graph = torch.cuda.CUDAGraph()

        def capture() -> Any:
            with torch.cuda.graph(graph):
                return linear(linear(x))

        step("captured", capture)


def torch_nccl() -> None:
    """NCCL with one rank: what the communicator takes."""
    torch, device, step = _torch()
    import torch.distributed as dist

    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29577", RANK="0", WORLD_SIZE="1")
    step("init", lambda: dist.init_process_group("gloo" if CPU else "nccl"))
    x = torch.ones(1 << 20, device=device)
    step("all_reduce", lambda: dist.all_reduce(x))
    step("all_gather", lambda: dist.all_gather_into_tensor(torch.empty_like(x), x))
    dist.destroy_process_group()


# ---------------------------------------------------------------- JAX, CuPy


def _jax() -> tuple[Any, Steps]:
    Steps(dict)("nothing")
    import jax

    def counters() -> dict[str, Any]:
        got = jax.devices()[0].memory_stats() or {}
        names = ("bytes_in_use", "peak_bytes_in_use", "bytes_reserved", "pool_bytes", "peak_pool_bytes", "bytes_limit")
        return {name: got.get(name) for name in names}

    step = Steps(counters)
    step("import and devices", jax.devices)
    step("first array", lambda: jax.numpy.ones(8).sum().block_until_ready())
    return jax, step


def jax_steps() -> None:
    """JAX: first array, matmul, convolution, attention, gradient."""
    jax, step = _jax()
    jnp = jax.numpy
    for name in ("float32", "bfloat16"):
        a = jnp.ones((1024, 1024), dtype=name)
        step(f"matmul {name}", lambda a=a: (a @ a).block_until_ready())
        step(f"jit {name}", lambda a=a: jax.jit(lambda x: jax.nn.softmax(x @ x) @ x)(a).block_until_ready())
    x, w = jnp.ones((8, 112, 112, 64)), jnp.ones((3, 3, 64, 64))

    def conv(x: Any, w: Any) -> Any:
        return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    step("conv", lambda: jax.jit(conv)(x, w).block_until_ready())
    step("conv gradient", lambda: jax.block_until_ready(jax.jit(jax.grad(lambda x, w: conv(x, w).sum(), (0, 1)))(x, w)))
    q = jnp.ones((2, 1024, 16, 64), dtype="bfloat16")
    kinds = ("xla",) if CPU else ("xla", "cudnn")
    for kind in kinds:

        def attend(q: Any, kind: str = kind) -> Any:
            return jax.nn.dot_product_attention(q, q, q, is_causal=True, implementation=kind)

        step(f"attention {kind}", lambda attend=attend: jax.jit(attend)(q).block_until_ready())
        gradient = jax.jit(jax.grad(lambda q, attend=attend: attend(q).sum().astype("float32")))
        step(f"attention gradient {kind}", lambda gradient=gradient: gradient(q).block_until_ready())


def cupy_steps() -> None:
    """CuPy: first array, elementwise, matmul, FFT, sort, and its pool."""
    Steps(dict)("nothing")
    import cupy

    pool = cupy.get_default_memory_pool()
    step = Steps(lambda: {"allocated": pool.used_bytes(), "reserved": pool.total_bytes()})
    step("import")
    step("first array", lambda: cupy.ones(8).sum().item())
    a = cupy.ones((1024, 1024), dtype="f4")
    step("elementwise", lambda: (a * 2 + 1).sum().item())
    step("matmul", lambda: (a @ a).sum().item())
    step("fft", lambda: cupy.fft.fft2(a).real.sum().item())
    step("sort", lambda: cupy.sort(a.ravel())[0].item())
    step("solve", lambda: cupy.linalg.solve(a + cupy.eye(1024, dtype="f4"), a).sum().item())


SCENARIOS: dict[str, tuple[Callable[[], None], dict[str, str]]] = {
    "torch_base": (torch_base, {}),
    "torch_base_eager": (torch_base, {"CUDA_MODULE_LOADING": "EAGER"}),
    "torch_matmul": (torch_matmul, {}),
    "torch_conv": (torch_conv, {}),
    "torch_attention": (torch_attention, {}),
    "torch_training": (torch_training, {}),
    "torch_fragments": (torch_fragments, {}),
    "torch_fragments_expandable": (torch_fragments, {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}),
    "torch_compile": (torch_compile, {}),
    "torch_graph": (torch_graph, {}),
    "torch_nccl": (torch_nccl, {}),
    "jax_growing": (jax_steps, {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}),
    "jax_platform": (jax_steps, {"XLA_PYTHON_CLIENT_ALLOCATOR": "platform"}),
    "cupy": (cupy_steps, {}),
    "jax_preallocating": (jax_steps, {"XLA_PYTHON_CLIENT_MEM_FRACTION": ".40"}),
}
"""Each: its steps, and the variables it runs under. The last takes much of the card and runs alone."""


def run(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """One scenario in a fresh process."""
    start = time.monotonic()
    environment = {**os.environ, **SCENARIOS[name][1], "FIT_LAB_CPU": "1" if options.cpu else "0"}
    if options.cpu:
        environment["JAX_PLATFORMS"] = "cpu"
    command = [options.python, "-m", "lab.fit_overheads", "--scenario", name]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.limit, env=environment, cwd=ROOT)
        out, err, code = done.stdout, done.stderr, done.returncode
    except subprocess.TimeoutExpired as ended:
        out = (ended.stdout or b"").decode() if isinstance(ended.stdout, bytes) else (ended.stdout or "")
        err, code = "too long", 124
    rows = [json.loads(line) for line in out.splitlines() if line.startswith('{"step"')]
    print(f"{name}: {len(rows)} steps, code {code}, {time.monotonic() - start:.1f} s", flush=True)
    extra = {"err": err[-1500:]} if code or not rows else {}
    return {"name": name, "environment": SCENARIOS[name][1], "code": code, "steps": rows, **extra}


def versions() -> dict[str, str]:
    """Which of the packages of interest the Python that runs this has."""
    got = {}
    for name in PACKAGES:
        try:
            got[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return got


def machine(python: str) -> dict[str, Any]:
    """The card, the driver, and the packages of the target Python."""
    nvml = Nvml()
    told = subprocess.run([python, "-m", "lab.fit_overheads", "--versions"], capture_output=True, text=True, cwd=ROOT)
    return {
        "date": time.strftime("%Y-%m-%d"),
        "gpu": nvml.text("nvmlDeviceGetName"),
        "driver": nvml.text("nvmlSystemGetDriverVersion"),
        "memory": nvml.memory(),
        "processes": nvml.processes(),
        "packages": json.loads(told.stdout or "{}"),
    }


def main() -> None:
    """Parse, run the scenarios, write the one file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--out", default=".")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--limit", type=float, default=75, help="seconds for one scenario")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--scenario", help=argparse.SUPPRESS)
    parser.add_argument("--versions", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.scenario:
        return SCENARIOS[options.scenario][0]()
    if options.versions:
        return print(json.dumps(versions()))
    return measure(options)


def measure(options: argparse.Namespace) -> None:
    """All scenarios: side by side only where NVML tells processes apart."""
    names = [name for name in SCENARIOS if not options.only or name in options.only]
    result: dict[str, Any] = {"machine": machine(options.python), "scenarios": []}
    first = run(names[0], options)
    apart = any(row.get("process") for row in first["steps"])
    result["processes_apart"] = apart
    with ThreadPoolExecutor(options.jobs if apart or options.cpu else 1) as pool:
        result["scenarios"] = [first, *pool.map(lambda name: run(name, options), names[1:-1])]
    if len(names) > 1:
        result["scenarios"].append(run(names[-1], options))
    out = Path(options.out) / "fit_overheads.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(result, indent=1))
    print(f"{out}: {len(result['scenarios'])} scenarios; processes apart: {apart}")


if __name__ == "__main__":
    main()
