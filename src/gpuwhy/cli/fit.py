"""`gpuwhy fit`: will this use of a model fit into this GPU, and what change would make it fit?"""

from __future__ import annotations

import argparse
from typing import Any

from gpuwhy.cli import FOUND, HEALTHY, PERHAPS, forms, output, refused

FRAMEWORKS = ("torch", "jax", "cupy", "tensorflow", "llama.cpp", "vllm")
OPTIMIZERS = (
    *("sgd", "momentum", "adam", "adamw", "adamw-fused", "adamw8bit"),
    *("lion", "adafactor", "muon"),
)
_SAME = (
    *("batch", "tokens", "image", "optimizer", "dtype", "amp", "checkpointing", "quantise"),
    *("kv_dtype", "kv_block", "attention", "logits", "framework", "tp", "pp", "zero", "gpus"),
)
"""Options that are fields of Use by the same name."""
CODES = {"fits": HEALTHY, "only_just": PERHAPS, "unknown": PERHAPS, "does_not_fit": FOUND}
_COUNTS: dict[str, tuple[int, str]] = {
    "--batch": (1, "sequences or pictures at a time (1)"),
    "--tokens": (0, "tokens in each sequence, prompt and answer together"),
    "--image": (0, "side of a picture in pixels"),
    "--kv-block": (0, "tokens in one page of the KV cache (vLLM: 16)"),
    "--lora-rank": (16, "rank of the adapters (16)"),
}
_SPLITS: dict[str, tuple[int, str]] = {
    "--tp": (1, "tensor parallel over N GPUs"),
    "--pp": (1, "split the layers into N pipeline stages"),
    "--gpus": (1, "data parallel over N GPUs"),
    "--fsdp": (0, "the same as --zero 3 --gpus N"),
}
_CHOICES: dict[str, tuple[tuple[str, ...], str]] = {
    "--attention": (("fused", "eager"), "fused (SDPA, flash) or eager (the whole score matrix)"),
    "--framework": (FRAMEWORKS, "torch; llama.cpp for GGUF"),
    "--logits": (("last", "all"), "tokens that get logits: last (the default) or all"),
}


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("fit", help="will this model fit, and what would make it fit?")
    add_use(parser)
    split = parser.add_argument_group("several GPUs")
    _add_counts(split, _SPLITS)
    split.add_argument("--zero", type=int, choices=(1, 2, 3), default=0, help="ZeRO over --gpus")
    where = parser.add_argument_group("where")
    text = '"RTX 4090", "2x A100-80GB", 1g.10gb'
    where.add_argument("--gpu", action="append", default=[], metavar="G", help=text)
    text = "a GPU with this much memory: 24GB"
    where.add_argument("--gpu-memory", action="append", default=[], metavar="SIZE", help=text)
    parser.add_argument("--json", action="store_true", help="the answer as JSON (gpuwhy.fit/1)")
    parser.add_argument("-v", "--verbose", action="store_true", help="every part, with its bounds")
    forms.add_forms(parser)
    parser.set_defaults(go=go)


def _add_counts(group: Any, rows: dict[str, tuple[int, str]]) -> None:
    for option, (default, text) in rows.items():
        group.add_argument(option, type=_count, default=default, metavar="N", help=text)


def add_use(parser: argparse.ArgumentParser) -> None:
    """Declare the model and how it is used."""
    text = "a file or a folder: safetensors, GGUF, .pt, config.json"
    parser.add_argument("model", metavar="MODEL", help=text)
    _add_counts(parser, _COUNTS)
    text = "train all weights, or LoRA"
    parser.add_argument("--train", nargs="?", const="full", choices=("full", "lora"), help=text)
    text = f"{', '.join(OPTIMIZERS)} (default: adamw)"
    parser.add_argument("--optimizer", default="adamw", choices=OPTIMIZERS, metavar="O", help=text)
    text = "data type of the weights: f32, bf16, f16, fp8"
    parser.add_argument("--dtype", default="", metavar="T", help=text)
    text = "f32 weights, computed in bf16 by autocast"
    parser.add_argument("--amp", action="store_true", help=text)
    text = "compute activations again in the backward pass"
    parser.add_argument("--checkpointing", action="store_true", help=text)
    text = "quantise the weights to so many bits while they are loaded"
    names = ("--quantise", "--quantize")
    parser.add_argument(*names, default="", choices=("8bit", "4bit"), help=text)
    text = "data type of the KV cache: fp8, int8"
    parser.add_argument("--kv-dtype", default="", metavar="T", help=text)
    for option, (choices, text) in _CHOICES.items():
        default = "last" if option == "--logits" else ""
        parser.add_argument(option, default=default, choices=choices, help=text)
    places = ("optimizer", "weights", "cache")
    text = "what is kept in the host's memory; repeatable"
    parser.add_argument("--offload", action="append", default=[], choices=places, help=text)


def _count(text: str) -> int:
    plain = text.replace("_", "")
    number = int(plain) if plain.isdigit() and len(plain) < 11 else 0
    if not 1 <= number <= 1 << 31:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of things")
    return number


def go(options: argparse.Namespace) -> int:
    """Read, count, print."""
    forms.ready(options)
    from gpuwhy.fit import ask, report
    from gpuwhy.fit.answer import FitError, values

    with refused(FitError):
        found = ask.fit(
            options.model,
            train=options.train or "",
            gpu=tuple(options.gpu),
            gpu_memory=tuple(options.gpu_memory),
            **_use(options),
        )
    output.put(options, report.document(found, int(options.verbose)), values(found))
    return CODES[found.status]


def _use(options: argparse.Namespace) -> dict[str, Any]:
    out: dict[str, Any] = {name: getattr(options, name) for name in _SAME}
    out |= {"rank": options.lora_rank, "offload": tuple(options.offload)}
    if options.fsdp:
        out |= {"zero": 3, "gpus": options.fsdp}
    return out
