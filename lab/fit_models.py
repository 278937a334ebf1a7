"""What models really take of a GPU, for `gpuwhy fit`: 34 models, 230 uses; predicted before, measured on the card.

    python -m lab.fit_models --describe FOLDER          needs torch, no GPU: config.json and empty weights of each model
    python -m lab.fit_models --predict FOLDER FILE      needs gpuwhy: one line for each case, before any run
    python -m lab.fit_models --python PY --out OUT [--jobs 6] [--minutes 8] [--only MODEL …] [--cpu]

Each model and mode is a fresh process. A case runs three steps (or a prompt and four more tokens) and notes the
allocator's peaks and what NVML says of the process; then it runs again under the limits of the two card sizes around
that, which is the truth for "does it fit". `--cpu` tries the script itself with small sizes, where there is no GPU.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import struct
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from lab.fit_cases import BY_NAME, MODELS, Case, Made, cases
from lab.fit_overheads import ROOT, Nvml

CPU = os.environ.get("FIT_LAB_CPU") == "1"
GIB = 1 << 30
LADDER = [2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96]
"""Sizes of cards in GiB, for the question whether it fits."""
NAMES = {"torch.float32": "F32", "torch.bfloat16": "BF16", "torch.float16": "F16", "torch.int64": "I64"}
BYTES = {"F32": 4, "BF16": 2, "F16": 2, "I64": 8}


# ---------------------------------------------------------------- describing


def tiny(made: Made) -> Made:
    """Two layers of it, for a try of the script on a CPU."""
    names = ("num_hidden_layers", "n_layer", "num_layers", "num_decoder_layers")
    fewer = {name: 2 for name in names if name in made.config}
    return replace(made, config={**made.config, **fewer})


def build(made: Made) -> Any:
    """The model, wherever torch's default device is."""
    if made.by == "plain":
        from lab.fit_zoo import FAMILIES

        return FAMILIES[made.family](made.config)
    import transformers

    given = {name: value for name, value in made.config.items() if not name.startswith("_") and name != "architectures"}
    config = transformers.AutoConfig.for_model(given.pop("model_type"), **given)
    return getattr(transformers, made.family)(config)


def tensors(made: Made) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Names, types and shapes of what a checkpoint of the model would hold."""
    if made.by == "jax":
        from lab.fit_zoo_jax import shapes

        return {name: ("F32", shape) for name, shape in shapes(made.family, made.config).items()}
    import torch

    with torch.device("meta"):
        model = build(made)
    tied = (
        set(getattr(model, "_tied_weights_keys", None) or ()) if made.config.get("tie_word_embeddings", True) else set()
    )
    state = {name: value for name, value in model.state_dict().items() if name not in tied}
    return {name: (NAMES[str(value.dtype)], tuple(value.shape)) for name, value in state.items()}


def describe(folder: Path) -> None:
    """Write each model as a user would have it: config.json and safetensors, the weights being a hole in the file."""
    for made in MODELS:
        at = folder / made.name
        at.mkdir(parents=True, exist_ok=True)
        config = {name: value for name, value in made.config.items() if not name.startswith("_a")}
        if made.described:
            (at / "config.json").write_text(json.dumps(config, indent=1))
        header: dict[str, Any] = {}
        place = 0
        for name, (dtype, shape) in sorted(tensors(made).items()):
            size = BYTES[dtype]
            for side in shape:
                size *= side
            header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [place, place + size]}
            place += size
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with (at / "model.safetensors").open("wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            file.truncate(8 + len(text) + place)


# ---------------------------------------------------------------- predicting


def use_of(case: Case) -> dict[str, Any]:
    """The case as arguments of `gpuwhy.fit`."""
    made = BY_NAME[case.model]
    out: dict[str, Any] = {**case.options, "batch": case.batch, "framework": "jax" if made.by == "jax" else "torch"}
    out["image" if made.image else "tokens"] = case.size
    if made.config.get("_attention") == "eager" or (made.by == "jax" and made.config.get("_attention") != "cudnn"):
        out["attention"] = "eager"
    if made.family == "T5ForConditionalGeneration" and case.options["task"] == "inference":
        out["logits"] = "all"
    return out


def predict(folder: Path, file: Path) -> None:
    """One line for each case: what gpuwhy says it takes."""
    from gpuwhy.fit.answer import fit
    from gpuwhy.fit.cards import told
    from gpuwhy.fit.reading import read
    from gpuwhy.model.fit import Use

    known: dict[str, Any] = {}
    with file.open("w") as out:
        for case in cases():
            row: dict[str, Any] = {"id": case.id, "model": case.model, "mode": case.mode}
            try:
                model = known.setdefault(case.model, None) or read(str(folder / case.model))
                known[case.model] = model
                found = fit(model, Use(**use_of(case)), (told("card", 1 << 40),), changes=False)
                share = found.shares[0]
                parts = {f"{n}:{one.name}": one.bytes for n, one in enumerate(share.parts)}
                row |= {
                    "bytes": share.bytes,
                    "least": share.least,
                    "most": share.most,
                    "allocator": share.allocator,
                    "needs": share.needs,
                }
                row |= {"parts": parts, "status": found.status}
            except Exception as error:
                row["error"] = f"{type(error).__name__}: {error}"
            out.write(json.dumps(row) + "\n")
    print(f"{file}: {len(cases())} predictions")


# ---------------------------------------------------------------- measuring, torch


class TorchBench:
    """One model in one mode, on the card."""

    def __init__(self, made: Made, options: dict[str, Any]) -> None:
        import torch

        self.torch, self.made, self.options = torch, made, options
        self.device = "cpu" if CPU else "cuda"
        self.nvml = Nvml()
        self.training = options["task"] == "train"
        kind = torch.bfloat16 if options.get("dtype") == "bf16" else torch.float32
        with torch.device(self.device):
            torch.manual_seed(0)
            before = torch.get_default_dtype()
            torch.set_default_dtype(kind)
            self.model = build(made)
            torch.set_default_dtype(before)
        self.model = self.model.to(kind).train(self.training)
        self.kind = kind
        if options.get("checkpointing"):
            self._checkpoint()

    def _checkpoint(self) -> None:
        if self.made.by == "plain":
            self.model.checkpointing = True
        else:
            self.model.gradient_checkpointing_enable()

    def inputs(self, case: Case) -> Any:
        """Words or pictures."""
        torch = self.torch
        if self.made.image:
            channels = self.made.config.get("in_channels", 3)
            return torch.randn(case.batch, channels, case.size, case.size, device=self.device, dtype=self.kind)
        return torch.randint(0, self.made.config.get("vocab_size", 1000), (case.batch, case.size), device=self.device)

    def run(self, case: Case) -> None:
        """The case itself."""
        (self._train if self.training else self._infer)(case)

    def _infer(self, case: Case) -> None:
        torch, last = self.torch, self.options.get("logits") != "all"
        with torch.no_grad():
            x = self.inputs(case)
            if self.made.by == "transformers":
                return self._infer_transformers(x, last)
            if self.made.family not in ("decoder", "gpt"):
                self.model(x)
                return None
            layers = self.made.config.get("num_hidden_layers") or self.made.config["n_layer"]
            caches: list[list[Any]] = [[] for _ in range(layers)]
            word, start = x, 0
            for _ in range(4):
                out = self.model(word, caches, start, last)
                start += word.shape[1]
                word = out[:, -1].argmax(-1, keepdim=True)
                del out
        return None

    def _infer_transformers(self, x: Any, last: bool) -> None:
        if self.made.image or "MaskedLM" in self.made.family:
            self.model(x)
        elif self.made.family == "T5ForConditionalGeneration":
            self.model(input_ids=x, decoder_input_ids=x)
        else:
            out = self.model(x, use_cache=True, **({"logits_to_keep": 1} if last else {}))
            for _ in range(3):
                word, past = out.logits[:, -1:].argmax(-1), out.past_key_values
                del out
                out = self.model(word, past_key_values=past, use_cache=True)

    def _train(self, case: Case) -> None:
        torch = self.torch
        optimizer = self._optimizer()
        x = self.inputs(case)
        for _ in range(3):
            mixed = torch.autocast(self.device, dtype=torch.bfloat16) if self.options.get("amp") else nullcontext()
            with mixed:
                loss = self._loss(x, case)
            loss.backward()
            del loss
            optimizer.step()
            optimizer.zero_grad()

    def _loss(self, x: Any, case: Case) -> Any:
        torch, fn = self.torch, self.torch.nn.functional
        if self.made.by == "transformers":
            labels = torch.zeros(case.batch, dtype=torch.long, device=self.device) if self.made.image else x
            words = {"pixel_values": x} if self.made.image else {"input_ids": x}
            return self.model(**words, labels=labels).loss
        out = self.model(x)
        if self.made.family in ("unet", "diffusion"):
            return fn.mse_loss(out.float(), torch.zeros_like(out, dtype=torch.float32))
        if out.dim() == 3:
            return fn.cross_entropy(out.float().flatten(0, 1), x.flatten())
        return fn.cross_entropy(out.float(), torch.zeros(case.batch, dtype=torch.long, device=self.device))

    def _optimizer(self) -> Any:
        name, optim = self.options["optimizer"], self.torch.optim
        own = self.model.parameters()
        if name == "momentum":
            return optim.SGD(own, lr=1e-4, momentum=0.9)
        if name == "adam":
            return optim.Adam(own, lr=1e-5)
        return optim.AdamW(own, lr=1e-5, **({"fused": True} if name == "adamw-fused" else {}))

    def clean(self) -> None:
        """Nothing but the model stays."""
        for one in self.model.parameters():
            one.grad = None
        gc.collect()
        if not CPU:
            self.torch.cuda.synchronize()
            self.torch.cuda.empty_cache()
            self.torch.cuda.reset_peak_memory_stats()

    def measure(self, case: Case) -> dict[str, Any]:
        """The peaks of one case, then whether it runs under the limits around them."""
        self.clean()
        self.run(case)
        if CPU:
            return {"allocated": 0, "reserved": 0, "process": None}
        cuda = self.torch.cuda
        cuda.synchronize()
        row = {"allocated": cuda.max_memory_allocated(), "reserved": cuda.max_memory_reserved()}
        row |= {"process": self.nvml.processes().get(os.getpid()), "held": cuda.memory_reserved()}
        row |= {"used": self.nvml.memory().get("used")}
        if row["process"]:
            row["verdicts"] = self._verdicts(case, row["process"], row["process"] - row["held"])
        return row

    def _verdicts(self, case: Case, whole: int, outside: int) -> list[dict[str, Any]]:
        total = self.torch.cuda.get_device_properties(0).total_memory
        out = []
        for limit in around(whole):
            self.clean()
            self.torch.cuda.set_per_process_memory_fraction(max(0.0, (limit - outside) / total))
            out.append({"limit": limit, "fits": self._fits(case)})
            self.torch.cuda.set_per_process_memory_fraction(1.0)
        return out

    def _fits(self, case: Case) -> bool:
        try:
            self.run(case)
            self.torch.cuda.synchronize()
        except self.torch.cuda.OutOfMemoryError:
            return False
        return True


def around(size: int) -> list[int]:
    """The two sizes of cards on both sides."""
    above = next((i for i, one in enumerate(LADDER) if one * GIB >= size), len(LADDER) - 1)
    return [one * GIB for one in LADDER[max(0, above - 1) : above + 1]]


# ---------------------------------------------------------------- measuring, JAX


def measure_jax(made: Made, case: Case) -> dict[str, Any]:
    """One case in this process: JAX does not reset its peak."""
    import jax
    import jax.numpy as jnp

    from lab.fit_zoo_jax import applied, trainer
    from lab.fit_zoo_jax import made as parameters

    config = made.config if not CPU else {**made.config, "_attention": "xla"}
    training = case.options["task"] == "train"
    dtype = "bfloat16" if case.options.get("dtype") == "bf16" else "float32"
    forward = applied(made.family, config, bool(case.options.get("checkpointing")), not training)
    p = parameters(made.family, config, dtype)
    shape = (case.batch, case.size, case.size, 3) if made.image else (case.batch, case.size)
    x = jnp.ones(shape, dtype) if made.image else jnp.ones(shape, "int32")
    if not training:
        run = jax.jit(forward)
        for _ in range(2):
            jax.block_until_ready(run(p, x))
    else:
        y = x if not made.image and config.get("causal", True) else jnp.zeros(case.batch, "int32")
        step, start = trainer(forward, {"momentum": "sgd"}.get(case.options["optimizer"], "adam"))
        state = start(p)
        for _ in range(3):
            p, state, loss = step(p, state, x, y)
        loss.block_until_ready()
    got = jax.devices()[0].memory_stats() or {}
    row = {"allocated": got.get("peak_bytes_in_use"), "reserved": got.get("peak_pool_bytes") or got.get("pool_bytes")}
    return {**row, "process": Nvml().processes().get(os.getpid()), "stats": dict(got)}


# ---------------------------------------------------------------- workers and the bench


def small(case: Case) -> Case:
    """The same on a CPU, for a try of the script."""
    size = case.size if "vit" in case.model else min(case.size, 64)
    return Case(case.model, case.mode, 1, size, case.options)


def worker(model: str, mode: str) -> None:
    """Measure the cases of one model in one mode (one of them for JAX) and print a line for each."""
    made = tiny(BY_NAME[model]) if CPU else BY_NAME[model]
    mode, _, only = mode.partition("#")
    todo = [
        case for case in cases() if case.model == model and case.mode == mode and (not only or case.id.endswith(only))
    ]
    bench = None
    for case in todo:
        start = time.monotonic()
        row: dict[str, Any] = {"id": case.id, "model": model, "mode": mode, "by": made.by}
        try:
            if made.by == "jax":
                row |= measure_jax(made, small(case) if CPU else case)
            else:
                bench = bench or TorchBench(made, case.options)
                row |= bench.measure(small(case) if CPU else case)
        except Exception as error:
            row["error"] = f"{type(error).__name__}: {str(error)[:400]}"
        row["seconds"] = round(time.monotonic() - start, 2)
        print(json.dumps(row), flush=True)


class Bench:
    """Starts workers side by side and keeps their lines."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options, self.lock = options, threading.Lock()
        self.end = time.monotonic() + 60 * options.minutes
        folder = Path(options.out)
        folder.mkdir(parents=True, exist_ok=True)
        self.file = (folder / "fit_models.jsonl").open("w")
        self.failed: list[tuple[str, str]] = []

    def one(self, job: tuple[str, str], extra: dict[str, str] | None = None) -> list[dict[str, Any]]:
        """One worker to its end."""
        left = self.end - time.monotonic()
        if left < 5:
            return []
        environment = {**os.environ, "FIT_LAB_CPU": "1" if self.options.cpu else "0", **(extra or {})}
        environment |= (
            {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"} if "XLA_PYTHON_CLIENT_MEM_FRACTION" not in environment else {}
        )
        if self.options.cpu:
            environment["JAX_PLATFORMS"] = "cpu"
        command = [self.options.python, "-m", "lab.fit_models", "--worker", *job]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=min(left, 150), env=environment, cwd=ROOT
            )
            out, err = done.stdout, done.stderr
        except subprocess.TimeoutExpired as ended:
            out, err = (
                (ended.stdout or b"").decode() if isinstance(ended.stdout, bytes) else ended.stdout or "",
                "too long",
            )
        rows = [json.loads(line) for line in out.splitlines() if line.startswith('{"id"')]
        if not rows:
            rows = [{"model": job[0], "mode": job[1], "error": f"no lines: {err[-600:]}"}]
        return rows

    def keep(self, job: tuple[str, str]) -> None:
        """One worker's lines into the file; what failed is tried again alone."""
        rows = self.one(job)
        with self.lock:
            for row in rows:
                self.file.write(json.dumps(row) + "\n")
            self.file.flush()
            if any("error" in row for row in rows):
                self.failed.append(job)
        said = [row.get("error", "")[:200] for row in rows if row.get("error")]
        print(f"{job[0]} {job[1]}: {len(rows)} {' | '.join(said)}", flush=True)
        if BY_NAME[job[0]].by == "jax" and not self.options.cpu:
            self._jax_verdicts(job, rows)

    def _jax_verdicts(self, job: tuple[str, str], rows: list[dict[str, Any]]) -> None:
        """The same case again with a pool of fixed size, for the sizes around what the process took."""
        total = Nvml().memory().get("total", 0)
        for row in rows:
            if (
                "error" in row
                or not row.get("process")
                or not row.get("reserved")
                or zlib.crc32(row["id"].encode()) % 3
            ):
                continue
            outside = row["process"] - row["reserved"]
            for limit in around(row["allocated"] + outside):
                share = max(0.001, (limit - outside) / max(1, total))
                again = self.one(job, {"XLA_PYTHON_CLIENT_MEM_FRACTION": f"{share:.5f}", "PYTHONHASHSEED": "0"})
                fits = bool(again) and "error" not in again[0]
                with self.lock:
                    told = again[0].get("error", "")[:200] if again else "no time"
                    line = {"verdict": row["id"], "limit": limit, "fits": fits, "told": told}
                    self.file.write(json.dumps(line) + "\n")
                    self.file.flush()

    def all(self) -> None:
        """Every job; those that failed once more, alone."""
        jobs = [job for job in jobs_of() if not self.options.only or job[0] in self.options.only]
        with ThreadPoolExecutor(self.options.jobs) as pool:
            list(pool.map(self.keep, jobs))
        again, self.failed = self.failed, []
        for job in again:
            if not self.options.cpu:
                self.keep(job)
        print(f"{len(jobs)} jobs, {len(again)} tried again, {len(self.failed)} failed", flush=True)


def jobs_of() -> list[tuple[str, str]]:
    """Workers: a model and a mode, for JAX a single case; first one mode of every model, then the next."""
    seen: dict[tuple[str, str], None] = {}
    for case in cases():
        tail = f"#{case.batch}x{case.size}" if BY_NAME[case.model].by == "jax" else ""
        seen.setdefault((case.model, case.mode + tail))
    by_model: dict[str, list[tuple[str, str]]] = {}
    for job in seen:
        by_model.setdefault(job[0], []).append(job)
    deep = max(len(jobs) for jobs in by_model.values())
    return [jobs[n] for n in range(deep) for jobs in by_model.values() if n < len(jobs)]


def main() -> None:
    """Parse, then describe, predict or measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--describe", type=Path)
    parser.add_argument("--predict", type=Path, nargs=2)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--out", default=".")
    parser.add_argument("--jobs", type=int, default=6)
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--worker", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    doors: list[tuple[Any, Callable[[], None]]] = [
        (options.worker, lambda: worker(*options.worker)),
        (options.describe, lambda: describe(options.describe)),
        (options.predict, lambda: predict(*options.predict)),
        (True, lambda: Bench(options).all()),
    ]
    next(door for asked, door in doors if asked)()


if __name__ == "__main__":
    main()
