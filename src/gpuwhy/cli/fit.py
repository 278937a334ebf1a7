"""`gpuwhy fit`: will this use of a model fit into this GPU, and what is the smallest change by which it would?"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from gpuwhy.cli import FOUND, HEALTHY, PERHAPS, forms, refused
from gpuwhy.cli.terminal import paper, write

if TYPE_CHECKING:
    from gpuwhy.fitting import Fit as Fit

FRAMEWORKS = ("torch", "jax", "cupy", "tensorflow", "llama.cpp", "vllm")
OPTIMIZERS = ("sgd", "momentum", "adam", "adamw", "adamw-fused", "adamw8bit", "lion", "adafactor", "muon")
_SAME = (
    "batch", "tokens", "image", "optimizer", "dtype", "amp", "checkpointing", "quantise", "kv_dtype", "kv_block",
    "attention", "logits", "framework", "tp", "pp", "zero", "gpus",
)  # fmt: skip
"""Options that are fields of Use by the same name."""
CODES: dict[str, int] = {"fits": HEALTHY, "only_just": PERHAPS, "unknown": PERHAPS, "does_not_fit": FOUND}


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the command."""
    parser = commands.add_parser("fit", help="will this model fit into this GPU, and what change would make it fit?")
    add_use(parser)
    split = parser.add_argument_group("several GPUs")
    split.add_argument("--tp", type=_count, default=1, metavar="N", help="tensor parallel over N GPUs")
    split.add_argument("--pp", type=_count, default=1, metavar="N", help="split the layers into N pipeline stages")
    split.add_argument("--zero", type=int, choices=(1, 2, 3), default=0, help="ZeRO stage over --gpus")
    split.add_argument("--gpus", type=_count, default=1, metavar="N", help="data parallel over N GPUs")
    split.add_argument("--fsdp", type=_count, default=0, metavar="N", help="the same as --zero 3 --gpus N")
    where = parser.add_argument_group("where")
    where.add_argument("--gpu", action="append", default=[], metavar="G", help='"RTX 4090", "2x A100-80GB", 1g.10gb')
    where.add_argument(
        "--gpu-memory", action="append", default=[], metavar="SIZE", help="a GPU with this much memory: 24GB"
    )
    parser.add_argument("--json", action="store_true", help="the answer as JSON (gpuwhy.fit/1)")
    parser.add_argument("-v", "--verbose", action="store_true", help="every part of every GPU, with its bounds")
    forms.add_forms(parser)
    parser.set_defaults(go=go)


def add_use(parser: argparse.ArgumentParser) -> None:
    """Declare the model and how it is used."""
    parser.add_argument(
        "model", metavar="MODEL", help="a file or a folder: safetensors, GGUF, ONNX, .pt, config.json …"
    )
    parser.add_argument("--batch", type=_count, default=1, metavar="N", help="sequences or pictures at a time (1)")
    parser.add_argument(
        "--tokens", type=_count, default=0, metavar="N", help="tokens in each sequence, prompt and answer together"
    )
    parser.add_argument("--image", type=_count, default=0, metavar="N", help="side of a picture in pixels")
    parser.add_argument(
        "--train",
        nargs="?",
        const="full",
        choices=("full", "lora"),
        help="train all weights, or LoRA",
    )
    names = ", ".join(OPTIMIZERS)
    parser.add_argument(
        "--optimizer", default="adamw", choices=OPTIMIZERS, metavar="O", help=f"{names} (default: adamw)"
    )
    parser.add_argument("--dtype", default="", metavar="T", help="data type of the weights: f32, bf16, f16, fp8")
    parser.add_argument("--amp", action="store_true", help="f32 weights, computed in bf16 by autocast")
    parser.add_argument("--checkpointing", action="store_true", help="compute activations again in the backward pass")
    parser.add_argument(
        "--quantise",
        "--quantize",
        default="",
        choices=("8bit", "4bit"),
        help="quantise the weights to so many bits while they are loaded",
    )
    parser.add_argument("--kv-dtype", default="", metavar="T", help="data type of the KV cache: fp8, int8")
    parser.add_argument(
        "--kv-block", type=_count, default=0, metavar="N", help="tokens in one page of the KV cache (vLLM: 16)"
    )
    parser.add_argument(
        "--attention",
        default="",
        choices=("fused", "eager"),
        help="fused (SDPA, flash) or eager (the whole score matrix)",
    )
    parser.add_argument(
        "--logits", default="last", choices=("last", "all"), help="tokens that get logits: last (the default) or all"
    )
    parser.add_argument("--framework", default="", choices=FRAMEWORKS, help="torch; llama.cpp for GGUF")
    parser.add_argument("--lora-rank", type=_count, default=16, metavar="N", help="rank of the adapters (16)")
    parser.add_argument("--offload", action="append", default=[], choices=("optimizer", "weights", "cache"))


def _count(text: str) -> int:
    try:
        number = int(text.replace("_", ""))
    except ValueError:
        number = 0
    if not 1 <= number <= 1 << 31:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of things")
    return number


def go(options: argparse.Namespace) -> int:
    """Read, count, print."""
    forms.ready(options)
    from gpuwhy import fitting

    with refused(fitting.FitError):
        found = fitting.fit(
            options.model,
            train=options.train or "",
            gpu=tuple(options.gpu),
            gpu_memory=tuple(options.gpu_memory),
            **_use(options),
        )
    if not (forms.asked(options) and forms.shown(options, found)):
        write(_text(found, options))
    return CODES[found.status]


def _use(options: argparse.Namespace) -> dict[str, Any]:
    out: dict[str, Any] = {name: getattr(options, name) for name in _SAME}
    out |= {"rank": options.lora_rank, "offload": tuple(options.offload)}
    if options.fsdp:
        out |= {"zero": 3, "gpus": options.fsdp}
    return out


def _text(found: Fit, options: argparse.Namespace) -> str:
    from gpuwhy.render import fit as render

    return render.as_json(found) if options.json else render.render(found, paper(), options.verbose)
