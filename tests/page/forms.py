"""Answers in plain values for the page's tests: recorded machines, watched runs, a proof, plans and others."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from gpuwhy.after import told
from gpuwhy.api.seen import seen
from gpuwhy.lint.linter import lint
from gpuwhy.lint.mistakes import contract
from gpuwhy.api.text import explain as explain_text
from gpuwhy.model.ending import Ending
from gpuwhy.model.fact import Source
from gpuwhy.model.inspected import Inspected, Library, Lost, Missing, Searched, Tree
from gpuwhy.model.proof import Arms, Change, Proof, Trial

from gpuwhy.choose import choose
from gpuwhy.plan.contract import plan_of
from gpuwhy.plan.describe import described
from gpuwhy.plan.requirements import from_words
from gpuwhy.showing import plain_values
from tests.hosts import hosts
from tests.rooms.facts import load

RUNS = Path(__file__).parents[1] / "run" / "cases"
TRACE = 'Traceback (most recent call last):\n  File "/home/zed/train.py", line 88, in <module>\n    loss.backward()\n'
OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 80.00 GiB of"
    " which 1.00 GiB is free."
)
LOG = "".join(f"step {n} loss {1 / (n + 1):.4f}\n" for n in range(300)) + TRACE + OOM + "\n"


@cache
def host(name: str) -> Any:
    return plain_values(hosts.run(name).report())


def watched(name: str) -> tuple[Any, str]:
    case = json.loads((RUNS / f"{name}.json").read_text())
    facts = load(RUNS / f"{name}.json")[1]
    machine = seen(by_facts([c for c in CAUSES if c.asked(facts)], facts, 0.0))
    return msgspec.to_builtins(told(case["log"], facts, machine)), case["log"]


def explained() -> tuple[Any, str]:
    return plain_values(explain_text(LOG)), LOG


def proof() -> Any:
    ending = Ending(kind="exception", type="RuntimeError", message="cuDNN error: CUDNN_STATUS_NOT_INITIALIZED")
    trials = (
        Trial("as it is", (), "same", 3, 4.2, ending, ("same",) * 3, purpose="as it is"),
        Trial("without LD_LIBRARY_PATH", ("a",), "passes", 3, 6.1, None, ("passes",) * 3, purpose="confirm"),
        Trial("without XLA_FLAGS", ("b",), "other", 1, 1.5, ending, ("other",), note="ran on the CPU"),
        Trial("with every layer speaking", ("loud",), "unclear", 1, 9.0, None, ("unclear",)),
    )
    change = Change("without LD_LIBRARY_PATH", unset=("LD_LIBRARY_PATH",), command="unset LD_LIBRARY_PATH")
    return plain_values(
        Proof("proven", "It runs without LD_LIBRARY_PATH", (), (), change, 8, trials, ending, Arms(3, 3, 3, 3, 0.05))
    )


RECORD = Path(__file__).parent / "data" / "proof.json"
"""A real proof: a program that fails where CUDA_VISIBLE_DEVICES is 7, as `gpuwhy prove --record` kept it."""


def proven() -> Any:
    from gpuwhy.proving.answer import proof_of
    from gpuwhy.proving.record import replay

    return plain_values(proof_of(replay(RECORD.read_bytes())))


def planned(*words: str, driver: str = "550.54.15", gpu: str = "A100", python: str = "3.12") -> Any:
    demand = described(tuple(from_words(words)), driver, (gpu,), python)
    return msgspec.json.decode(msgspec.json.encode(plan_of(choose(demand))))


def inspected() -> Any:
    lost = (Lost("/usr/lib/libcudnn.so.9", "ld.so.cache", "9.1.0"),)
    libraries = (
        Library("libtorch.so", "/v/libtorch.so", "path given", None, "/v/bin/python"),
        Library(
            "libcudnn.so.9", "/v/nvidia/libcudnn.so.9", "RPATH of /v/libtorch.so", "9.19.0", "/v/libtorch.so", lost
        ),
    )
    searched = (Searched("/v/nvidia", "RUNPATH", "not there"), Searched("/usr/lib", "default folder", "not there"))
    missing = (Missing("libnccl.so.2", "/v/libtorch.so", "not found", searched, ("/opt/libnccl.so.2",)),)
    return plain_values(Inspected("/v/libtorch.so", "library", ("libnccl.so.2",), tree=Tree(libraries, missing)))


def linted() -> Any:
    texts = {"requirements.txt": "tensorflow-gpu==2.12.0\ntorch==2.1.0\njax[cuda12]==0.4.30\n", "b.txt": "numpy\n"}
    return contract(lint(texts, lambda _: None), "x")


def fleet() -> Any:
    differs = [{"fact": "driver", "value": "535.54", "others": "580.82", "explains": "driver.too_old"}]
    return {
        "schema": "gpuwhy.fleet/1",
        "groups": [{"nodes": ["n1", "n2"], "status": "healthy"}, {"nodes": ["n3"], "status": "broken"}],
        "odd": [{"node": "n3", "differs": differs}],
        "silent": ["n4"],
    }


def ranked() -> Any:
    row = {"host": "n1", "text": "CUDA out of memory", "time": 12.5, "step": 11, "cause": "memory.oom"}
    rows = [{"name": "rank 0", "rank": 0, "ended": "waited"}, {"name": "rank 1", "rank": 1, "ended": "failed", **row}]
    parted = [{"text": "rank 0 is at all_reduce 12, rank 1 at 11"}]
    told, _ = explained()
    return {"schema": "gpuwhy.ranks/1", "first": ["rank 1"], "why": "the only one with a reason of its own",
            "ranks": rows, "mismatches": parted, "absent": [2], "report": told}  # fmt: skip


def fitted() -> Any:
    from gpuwhy.fit.answer import values
    from gpuwhy.fit.ask import fit
    from gpuwhy.fit.config import Config
    from gpuwhy.fit.read import of_config

    model = of_config(Config({"model_type": "llama", "architectures": ["LlamaForCausalLM"]}), "m")
    return values(fit(model, gpu="T4", train="full", batch=4096))


NAMES = ("run", "explain", "proof", "plan", "conflict", "inspect", "lint", "fleet", "ranks", "fit", "host")


@cache
def small() -> dict[str, Any]:
    """One of each form, without a machine: name → values and log."""
    watched_run, log = watched("fragmentation-held-unused")
    told_of, text = explained()
    return {
        "run": (watched_run, log),
        "explain": (told_of, text),
        "proof": (proof(), ""),
        "plan": (planned("torch"), ""),
        "conflict": (planned("tensorflow==2.20.0", driver="470.82", gpu="K80", python="3.12"), ""),
        "inspect": (inspected(), ""),
        "lint": (linted(), ""),
        "fleet": (fleet(), ""),
        "ranks": (ranked(), ""),
        "fit": (fitted(), ""),
        "host": (host("h200-probe-cudnn-gone"), ""),
    }


def lean(values: Any) -> Any:
    """The same with short lists: redaction of a whole machine takes most of a page's time."""
    if isinstance(values, dict):
        return {k: lean(v) for k, v in values.items() if k not in ("libraries", "distributions", "ruled_out")}
    return [lean(one) for one in values[:3]] if isinstance(values, list) else values


__all__ = ["Source", "explained", "host", "small", "watched"]
