"""Folders: indexes with and without their files, configurations beside weights, pipelines, adapters; GGUF's keys."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path

import pytest

from gpuwhy.fit import Unreadable, read
from gpuwhy.fit.model import How
from gpuwhy.fit.readers.safetensors import read_index, read_sharded
from gpuwhy.fit.source import Disk

FILES = Path(__file__).parent / "files"
INDEX = "model.safetensors.index.json"


@pytest.fixture
def sharded(tmp_path):
    return Path(shutil.copytree(FILES / "sharded", tmp_path / "model"))


def opened(folder: Path) -> int:
    disk = Disk(str(folder))
    try:
        return read_sharded(disk, read_index(disk.open(INDEX))).opened
    finally:
        disk.close()


def test_as_few_files_are_opened_as_tell_the_rest(sharded):
    assert 0 < opened(sharded) < len(list(sharded.glob("*.safetensors")))
    assert read(str(sharded)).tensors == read(str(sharded / INDEX)).tensors


def test_without_a_total_every_file_tells_itself(sharded):
    index = json.loads((sharded / INDEX).read_text())
    whole = read(str(sharded))
    (sharded / INDEX).write_text(json.dumps({"weight_map": index["weight_map"]}))
    assert opened(sharded) == len(list(sharded.glob("*.safetensors")))
    assert read(str(sharded)).bytes == whole.bytes
    index["metadata"]["total_size"] += 8
    (sharded / INDEX).write_text(json.dumps(index))
    model = read(str(sharded))
    assert model.bytes == whole.bytes
    assert "the headers are counted" in model.unknown[0]


def test_files_that_are_not_here_yet(sharded):
    whole = read(str(sharded))
    *_, last = sorted(sharded.glob("*.safetensors"))
    last.unlink()
    model = read(str(sharded))
    assert model.bytes == whole.bytes == model.total  # like their neighbours, proven by the total
    assert "the index's total agrees" in model.unknown[0]
    for file in sharded.glob("*.safetensors"):
        file.unlink()
    model = read(str(sharded))
    assert (model.tensors, model.total) == ((), whole.total)
    assert "tensors are not counted" in model.unknown[0]
    assert model.partial
    assert not whole.partial


def test_the_configuration_beside_weights_tells_the_architecture(sharded):
    assert read(str(sharded)).architecture.how is How.ASSUMED
    values = {
        "model_type": "llama",
        "num_hidden_layers": 6,
        "hidden_size": 16,
        "num_attention_heads": 4,
        "torch_dtype": "bfloat16",
    }
    (sharded / "config.json").write_text(json.dumps(values))
    model = read(str(sharded))
    assert (model.dtype, model.architecture.kv_heads, model.architecture.head_dim) == ("bf16", 4, 4)
    assert model.format == "safetensors"


def test_an_adapter_names_the_model_that_comes_on_top():
    model = read(str(FILES / "adapter"))
    assert model.format == "adapter"
    assert model.parameters == 4224
    assert model.partial
    assert "lora of rank 4" in model.unknown[-1]


def test_a_pipeline_is_the_sum_of_its_parts(tmp_path, sharded):
    parts = {
        "unet": ["diffusers", "UNet2DConditionModel"],
        "text_encoder": ["transformers", "CLIPTextModel"],
        "vae": ["diffusers", "X"],
    }
    (tmp_path / "model_index.json").write_text(
        json.dumps({"_class_name": "P", **parts, "safety_checker": [None, None]})
    )
    (tmp_path / "unet").mkdir()
    shutil.copy(FILES / "types.safetensors", tmp_path / "unet" / "diffusion_pytorch_model.safetensors")
    unet = {
        "_class_name": "UNet2DConditionModel",
        "block_out_channels": [32, 64],
        "layers_per_block": 1,
        "sample_size": 16,
        "in_channels": 4,
    }
    (tmp_path / "unet" / "config.json").write_text(json.dumps(unet))
    (tmp_path / "text_encoder").mkdir()
    (tmp_path / "text_encoder" / "config.json").write_text(
        '{"model_type": "clip_text_model", "architectures": ["CLIPTextModel"]}'
    )
    model = read(str(tmp_path))
    assert [part.name for part in model.parts] == ["unet", "text_encoder"]
    assert model.bytes == sum(part.model.bytes for part in model.parts)
    assert model.architecture.kind == "unet"
    assert [one.outputs for one in model.architecture.stages][:3] == [32, 32, 32]
    assert "vae is not here and not counted" in model.unknown
    assert model.partial


def gguf(path: Path, name: str, **values: int | list[int]) -> str:
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    body = text("general.architecture") + struct.pack("<I", 8) + text(name)
    for key, value in values.items():
        body += text(f"{name}.{key.replace('__', '.')}")
        if isinstance(value, list):
            body += struct.pack("<IIQ", 9, 4, len(value)) + struct.pack(f"<{len(value)}I", *value)
        else:
            body += struct.pack("<II", 4, value)
    path.write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, len(values) + 1) + body)
    return str(path)


@pytest.mark.parametrize(
    "name, values, told",
    [
        ("llama", {"block_count": 4, "embedding_length": 64, "attention__head_count": 8, "attention__head_count_kv": 2},
         {"kind": "decoder", "layers": 4, "kv_heads": 2, "head_dim": 8, "experts": None}),
        ("llama", {"expert_count": 8, "expert_used_count": 2, "feed_forward_length": 96},
         {"experts": 8, "experts_used": 2, "expert_intermediate": 96}),
        ("gemma2", {"attention__sliding_window": 4096, "attention__key_length": 256},
         {"window": 4096, "window_every": 2, "head_dim": 256}),
        ("gemma3", {"attention__sliding_window": 512}, {"window": 512, "window_every": 6}),
        ("deepseek2", {"attention__kv_lora_rank": 512, "rope__dimension_count": 64, "expert_feed_forward_length": 9,
                       "expert_count": 4},
         {"kv_rank": 512, "rope_dim": 64, "expert_intermediate": 9}),
        ("deci", {"attention__head_count_kv": [4, 0, 8]}, {"kv_heads": 8}),
        ("bert", {"block_count": 2}, {"kind": "encoder"}),
    ],
)  # fmt: skip
def test_what_the_keys_of_gguf_mean(tmp_path, name, values, told):
    model = read(gguf(tmp_path / "m.gguf", name, **values))
    assert {key: getattr(model.architecture, key) for key in told} == told
    assert bool(model.unknown) == (name == "deci")


def test_several_models_in_a_folder_are_not_guessed_at(tmp_path):
    for name in ("a.gguf", "b.gguf"):
        gguf(tmp_path / name, "llama")
    with pytest.raises(Unreadable, match="several models"):
        read(str(tmp_path))


def test_data_beside_an_onnx_file(tmp_path):
    folder = Path(shutil.copytree(FILES / "outside", tmp_path / "o"))
    whole = read(str(folder / "net.onnx"))
    assert (whole.unknown, whole.architecture.stages[0].stride) == ((), 2)
    (folder / "net.data").write_bytes(b"")
    assert "cut short" in read(str(folder / "net.onnx")).unknown[0]
    (folder / "net.data").unlink()
    assert "counted by their shapes" in read(str(folder)).unknown[0]
    assert read(str(folder)).bytes == whole.bytes


def test_what_belongs_to_training_is_told_apart():
    for name in ("training.pt", "cnn.keras", "cnn.h5", "training.index", "lightning.ckpt"):
        model = read(str(FILES / name))
        assert model.tensors, name
        assert model.beside, name


def test_the_cache_of_hugging_face(tmp_path, sharded):
    cache = tmp_path / "models--a--b"
    for state in ("aaa", "bbb"):
        shutil.copytree(sharded, cache / "snapshots" / state)
    with pytest.raises(Unreadable, match="2 states"):
        read(str(cache))
    (cache / "refs").mkdir()
    (cache / "refs" / "main").write_text("bbb\n")
    (cache / "snapshots" / "bbb" / "config.json").write_text('{"model_type": "llama"}')
    assert read(str(cache)).tensors == read(str(sharded)).tensors
    assert read(str(cache)).architecture.name == "llama"


def test_split_parts_that_are_not_here(tmp_path):
    first = "split-00001-of-00003.gguf"
    shutil.copy(FILES / first, tmp_path / first)
    model = read(str(tmp_path / first))
    assert len(model.unknown) == 2
    assert model.partial
