"""Files as people's programs leave them: whole folders of transformers, diffusers and peft, exports, checkpoints of training.

`python make_wild.py OUT`: needs torch, transformers, diffusers, peft, onnx, onnxscript and gguf in an environment of its own.
Each line of OUT/expected.json is told by the library that reads the format; OUT/told.json has what the configuration said.
"""

from __future__ import annotations

import argparse
import collections
import json
import math
import sys
import warnings
from pathlib import Path

import gguf
import numpy as np
import onnx
import torch
import transformers

sys.path.insert(0, str(Path(__file__).parent.parent))
from make import row
from make_parameters import CLASSES, small
from safetensors import safe_open

warnings.simplefilter("ignore")
transformers.logging.set_verbosity_error()


def in_safetensors(folder: Path) -> list:
    """Every tensor of every file of a folder."""
    rows = []
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, "pt") as file:
            rows += [row(name, file.get_tensor(name)) for name in file.keys()]  # noqa: SIM118
    return rows


def of_transformers(out: Path, expected: dict, told: dict) -> None:
    """A folder for each architecture: every third in shards, every fifth in torch's own files."""
    for number, (label, name) in enumerate(CLASSES.items()):
        try:
            cls = getattr(transformers, name)
            config = small(cls.config_class())
            model = cls(config).to([torch.float32, torch.bfloat16, torch.float16][number % 3])
            folder = out / f"hf-{label}"
            model.save_pretrained(folder, max_shard_size="100KB" if number % 3 == 0 else "5GB")
            expected[folder.name] = in_safetensors(folder)
            told[folder.name] = {"parameters": sum(math.prod(one[2]) for one in expected[folder.name])}
        except Exception as error:
            print("transformers does not save", label, str(error)[:90])


def of_diffusers(out: Path, expected: dict) -> None:
    """A pipeline with a U-Net, an autoencoder and a text encoder."""
    from diffusers import (
        AutoencoderKL,
        DDIMScheduler,
        DiTTransformer2DModel,
        StableDiffusionPipeline,
        UNet2DConditionModel,
    )

    unet = UNet2DConditionModel(
        sample_size=16, block_out_channels=(32, 64), layers_per_block=1, cross_attention_dim=32, attention_head_dim=8,
        down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
    )  # fmt: skip
    vae = AutoencoderKL(
        block_out_channels=(32, 64),
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
    )
    text = transformers.CLIPTextModel(
        transformers.CLIPTextConfig(
            hidden_size=32, intermediate_size=37, num_hidden_layers=2, num_attention_heads=4, vocab_size=100
        )
    )
    pipe = StableDiffusionPipeline(
        unet=unet,
        vae=vae,
        text_encoder=text,
        tokenizer=None,
        scheduler=DDIMScheduler(),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )
    pipe.save_pretrained(out / "pipeline")
    expected["pipeline"] = [
        [f"{part}.{name}", *rest]
        for part in ("unet", "vae", "text_encoder")
        for name, *rest in in_safetensors(out / "pipeline" / part)
    ]
    DiTTransformer2DModel(num_layers=2, attention_head_dim=8, num_attention_heads=2, sample_size=8).save_pretrained(
        out / "dit"
    )
    expected["dit"] = in_safetensors(out / "dit")


def of_peft(out: Path, expected: dict) -> None:
    """An adapter."""
    from peft import LoraConfig, get_peft_model

    base = transformers.LlamaForCausalLM(small(transformers.LlamaConfig()))
    get_peft_model(base, LoraConfig(r=4, target_modules=["q_proj", "v_proj"])).save_pretrained(out / "adapter")
    expected["adapter"] = in_safetensors(out / "adapter")


def leaves(value: object, name: str = "") -> dict:
    """Every tensor of a loaded checkpoint, by its path."""
    if isinstance(value, torch.Tensor):
        return {name: value}
    if isinstance(value, dict):
        pairs = value.items()
    elif isinstance(value, (list, tuple)):
        pairs = enumerate(value)
    else:
        return {}
    return {k: v for key, one in pairs for k, v in leaves(one, f"{name}.{key}" if name else str(key)).items()}


def of_torch(out: Path, expected: dict) -> None:
    """Checkpoints as training leaves them, traced and exported programs, odd containers."""
    from make import told

    net = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(16, 2, 32), 2)
    optimizer = torch.optim.SGD(net.parameters(), 0.1, momentum=0.9)
    net(torch.zeros(2, 3, 16)).sum().backward()
    optimizer.step()
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    made = {
        "state_dict": {f"module.{k}": v for k, v in net.state_dict().items()}, "optimizer_states": [optimizer.state_dict()],
        "lr_schedulers": [scheduler.state_dict()], "hyper_parameters": argparse.Namespace(lr=0.1, name="x"), "epoch": 3,
        "rng": {"torch": torch.get_rng_state(), "numpy": np.random.get_state()}, "best": np.float64(0.5), "path": Path("/x"),
        "counter": collections.Counter("abc"), "default": collections.defaultdict(list, {"a": [torch.zeros(2)]}),
    }  # fmt: skip
    torch.save(made, out / "lightning.ckpt")
    expected["lightning.ckpt"] = told(leaves({**made, "hyper_parameters": None}))
    for name, value in {
        "list.pt": [torch.zeros(3), (torch.zeros(2, 2), {"deep": {"er": torch.zeros(1)}})],
        "one.pt": torch.zeros(3, 4, dtype=torch.bfloat16),
        "ema.pt": {"model": net.state_dict(), "ema": {k: v.clone() for k, v in net.state_dict().items()}},
        "numbers.pt": {1: torch.zeros(2), 2: {3: torch.zeros(3)}},
    }.items():
        torch.save(value, out / name)
        expected[name] = told(leaves(value)) if name != "one.pt" else [["", "bf16", [3, 4], 24]]
    torch.save(net, out / "whole.pt")
    expected["whole.pt"] = told(net.state_dict())
    torch.save(
        {"csr": torch.eye(3).to_sparse_csr(), "param": torch.nn.ParameterDict({"a": torch.zeros(2)})}, out / "odd.pt"
    )
    expected["odd.pt"] = [
        ["csr.crow", "i64", [4], 32],
        ["csr.col", "i64", [3], 24],
        ["csr.values", "f32", [3], 12],
        ["param.a", "f32", [2], 8],
    ]
    traced = torch.jit.trace(net.eval(), torch.zeros(2, 3, 16), check_trace=False)
    traced.save(str(out / "traced.pt"))
    expected["traced.pt"] = told(net.state_dict())


def of_exports(out: Path, expected: dict) -> None:
    """ONNX as torch writes it."""

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = torch.nn.Sequential(
                torch.nn.Conv2d(3, 8, 3, stride=2, padding=1), torch.nn.BatchNorm2d(8), torch.nn.ReLU(), torch.nn.Conv2d(8, 16, 3, stride=2, groups=2),
                torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten(), torch.nn.Linear(16, 5),
            )  # fmt: skip

        def forward(self, x):
            return self.body(x)

    torch.onnx.export(Net().eval(), (torch.zeros(1, 3, 32, 32),), out / "export.onnx", dynamo=True, verbose=False)
    loaded = onnx.load(out / "export.onnx")
    types = {1: "f32", 7: "i64", 6: "i32", 9: "bool", 10: "f16", 11: "f64"}
    rows = [
        [t.name, types[t.data_type], list(t.dims), onnx.numpy_helper.to_array(t).nbytes]
        for t in loaded.graph.initializer
    ]
    for node in loaded.graph.node:
        for one in node.attribute:
            if one.type == onnx.AttributeProto.TENSOR:
                rows.append(
                    [node.output[0], types[one.t.data_type], list(one.t.dims), onnx.numpy_helper.to_array(one.t).nbytes]
                )
    expected["export.onnx"] = rows


GGUFS = {
    "llama": {"block_count": 3, "embedding_length": 64, "feed_forward_length": 128, "head_count": 8, "head_count_kv": 2, "context_length": 4096},
    "mixtral": {"block_count": 2, "embedding_length": 64, "feed_forward_length": 96, "head_count": 4, "head_count_kv": 2, "expert_count": 8, "expert_used_count": 2},
    "qwen2": {"block_count": 2, "embedding_length": 64, "feed_forward_length": 96, "head_count": 4, "head_count_kv": 2, "context_length": 32768},
    "gemma2": {"block_count": 4, "embedding_length": 64, "feed_forward_length": 96, "head_count": 4, "head_count_kv": 2, "key_length": 32, "sliding_window": 4096},
    "gemma3": {"block_count": 6, "embedding_length": 64, "feed_forward_length": 96, "head_count": 4, "head_count_kv": 1, "key_length": 32, "sliding_window": 512},
    "deepseek2": {"block_count": 3, "embedding_length": 64, "feed_forward_length": 96, "head_count": 4, "head_count_kv": 1, "kv_lora_rank": 16, "q_lora_rank": 24,
                  "rope_dimension_count": 8, "key_length": 24, "value_length": 16, "expert_count": 6, "expert_used_count": 2, "expert_feed_forward_length": 24},
}  # fmt: skip


def of_gguf(out: Path, expected: dict, told: dict) -> None:
    """Metadata as llama.cpp's converters write it."""
    for label, values in GGUFS.items():
        writer = gguf.GGUFWriter(out / f"{label}.gguf", "llama" if label == "mixtral" else label)
        for key, value in values.items():
            getattr(writer, f"add_{key}")(value)
        writer.add_tokenizer_model("llama")
        writer.add_token_list([f"token{n}" for n in range(3000)])
        writer.add_token_scores([0.0] * 3000)
        writer.add_tensor("token_embd.weight", np.zeros((3000, 68), np.uint8), raw_dtype=gguf.GGMLQuantizationType.Q8_0)
        if label != "gemma2":
            writer.add_tensor("output.weight", np.zeros((3000, 64), np.float16))
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        reader = gguf.GGUFReader(out / f"{label}.gguf")
        expected[f"{label}.gguf"] = [
            [t.name, t.tensor_type.name.lower(), [int(n) for n in reversed(t.shape.tolist())], int(t.n_bytes)]
            for t in reader.tensors
        ]
        told[f"{label}.gguf"] = values


def main(out: str) -> None:
    """All of them."""
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    expected, told = {}, {}
    of_gguf(folder, expected, told)
    of_transformers(folder, expected, told)
    for part in (of_diffusers, of_peft, of_torch, of_exports):
        try:
            part(folder, expected)
        except Exception as error:
            print(part.__name__, type(error).__name__, str(error)[:300])
    (folder / "expected.json").write_text(json.dumps(expected))
    (folder / "told.json").write_text(json.dumps(told))
    print(len(expected), "files and folders")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent.parent))
    main(*sys.argv[1:])
