"""Feature ways: a number format, an attention kernel or a quantisation that this GPU does not have: what to use in its place."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.ways import tried

_BF16 = Later(r"\bb(?:f|float)16\b", re.IGNORECASE)
_FLASH = Later(r"flash[-_ ]?att", re.IGNORECASE)
_QUANT = Later(r"\b(?:awq|gptq|marlin|fp8|nvfp4|mxfp4|w8a8|quantization method)\b", re.IGNORECASE)
_CT2 = Later(r"compute type|efficient (?:float16|int8|bfloat16) computation", re.IGNORECASE)
_TRITON = Later(r"triton[^\n]{0,80}(?:capability|too old)|too old to be supported by the triton", re.IGNORECASE)
_ENGINE = Later(r"engine plan file|deserializ\w*engine", re.IGNORECASE)


def without_feature(case: Asked) -> Iterator[Fix]:
    """The way around, by what the message says is missing; nothing where the build itself lacks code for the GPU."""
    lines = case.lines
    if _ENGINE.search(lines):
        yield from _engine()
    elif _CT2.search(lines):
        yield tried("Ask for a number format that this device has: int8, or float32", on.code('WhisperModel("small", device="cuda", compute_type="int8")    # ctranslate2: compute_type="auto" chooses one'))  # fmt: skip
        yield tried("Where the GPU was meant and the CPU is used: name it, and have cuBLAS and cuDNN found", on.code('WhisperModel("small", device="cuda", compute_type="float32")'))  # fmt: skip
    elif _TRITON.search(lines):
        yield tried("Run without the compiler, whose Triton does not know this card: no torch.compile, or by the variable", "export TORCHDYNAMO_DISABLE=1 TORCH_COMPILE_DISABLE=1")  # fmt: skip
    elif _FLASH.search(lines):
        yield from _attention(case)
    elif _QUANT.search(lines):
        yield from _quantised(case)
    elif _BF16.search(lines):
        yield from _half(case)


def _engine() -> Iterator[Fix]:
    yield tried("Build the engine again on the GPU, and with the TensorRT, that are to run it: an engine fits no other", "trtexec --onnx=MODEL.onnx --saveEngine=MODEL.engine")  # fmt: skip
    yield tried("Where a program keeps engines in a cache (ONNX Runtime, torch-tensorrt, Frigate, the web UI): delete its files, and it builds them anew", on.linux("find . -name '*.engine' -o -name '*.trt' -o -name '*.plan'"), safe=False)  # fmt: skip


def _named(case: Asked, *names: str) -> bool:
    return any(one.name in names for one in case.programs)


def _half(case: Asked) -> Iterator[Fix]:
    """bfloat16 begins with compute capability 8.0: float16 serves older cards."""
    if _named(case, "vllm", "sglang"):
        flag = "vllm serve MODEL --dtype half" if _named(case, "vllm") else "python -m sglang.launch_server --model-path MODEL --dtype half"  # fmt: skip
        yield tried("Use float16 in place of bfloat16, which this GPU does not have", flag)
    if _named(case, "deepspeed"):
        yield tried("DeepSpeed: float16 in its JSON file", on.code('"bf16": {"enabled": false}, "fp16": {"enabled": true}'))  # fmt: skip
    if _named(case, "lightning"):
        yield tried("Lightning: float16 in place of bfloat16", on.code('Trainer(precision="16-mixed")'))
    yield tried("Training with transformers: fp16 in place of bf16 (accelerate: --mixed_precision fp16)", on.code("TrainingArguments(OUTPUT, fp16=True, bf16=False)"))  # fmt: skip
    yield tried("Loading and answering: load the model in float16, and use that in autocast", on.code('model = AutoModel.from_pretrained(MODEL, torch_dtype=torch.float16)    # torch.autocast("cuda", dtype=torch.float16)'))  # fmt: skip


def _attention(case: Asked) -> Iterator[Fix]:
    """FlashAttention 2 begins with Ampere: PyTorch's own attention serves every card."""
    if _named(case, "vllm"):
        yield tried("vLLM: take another attention, and float16", "VLLM_ATTENTION_BACKEND=TRITON_ATTN vllm serve MODEL --dtype half    # older releases: XFORMERS")  # fmt: skip
    yield tried("Use PyTorch's own attention in place of FlashAttention 2", on.code('AutoModelForCausalLM.from_pretrained(MODEL, attn_implementation="sdpa", torch_dtype=torch.float16)'))  # fmt: skip
    yield tried("Where the program only tries to import it: take the package out; it then uses another attention", "pip uninstall -y flash-attn")  # fmt: skip


def _quantised(case: Asked) -> Iterator[Fix]:
    """A quantisation whose kernels need a newer card."""
    if _named(case, "vllm"):
        yield tried("vLLM: a model in another form that this GPU runs: GPTQ (from 6.0 on), or the plain one in float16", "vllm serve MODEL --quantization gptq --dtype half")  # fmt: skip
    yield tried("Take the model in another quantisation: GGUF (llama.cpp, Ollama), bitsandbytes in 4 bits, or float16", on.code('AutoModelForCausalLM.from_pretrained(MODEL, quantization_config=BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.float16))'))  # fmt: skip
