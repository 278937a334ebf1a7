"""Tensors computed from config.json, judged by transformers and diffusers (make_parameters.py, make_diffusers.py)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gpuwhy.fit import read
from gpuwhy.fit.config import Config
from gpuwhy.fit.model import How
from gpuwhy.fit.parameters import computed

HERE = Path(__file__).parent
CASES = [
    json.loads(line)
    for made in ("parameters.jsonl", "diffusers.jsonl")
    for line in (HERE / made).read_text().splitlines()
]
OTHER_NAMES = {
    "gpt_neox": "its output is embed_out in the published files, lm_head in transformers 5",
    "clip-text": "text_model. before the names", "clip-vision": "vision_model. before the names",
    "dinov2": "the gated form's names",
}  # fmt: skip


def test_counts_are_those_of_transformers():
    assert len({label.split()[0] for label, *_ in CASES}) > 60
    wrong = {}
    for label, config, tensors, count in CASES:
        got = computed(Config(config))
        if (len(got.tensors), sum(one.elements for one in got.tensors)) != (tensors, count):
            wrong[label] = (len(got.tensors), tensors, sum(one.elements for one in got.tensors), count, got.unknown)
    assert wrong == {}


def test_published_models_have_their_published_counts():
    for line in (HERE / "published.jsonl").read_text().splitlines():
        label, config, count = json.loads(line)
        assert (label, sum(one.elements for one in computed(Config(config)).tensors)) == (label, count)


KNOWN_DIFFERENCES = ("marian wild 3",)
"""A decoder with a vocabulary of its own."""


@pytest.mark.real
def test_names_and_shapes_are_those_of_transformers():
    """GPUWHY_FIT_PARAMETERS=OUT.json of make_parameters.py."""
    cases = json.loads(Path(os.environ["GPUWHY_FIT_PARAMETERS"]).read_text())
    wrong = []
    for label, case in cases.items():
        got = {one.name: list(one.shape) for one in computed(Config(case["config"])).tensors}
        if got != case["tensors"] and label.split()[0] not in OTHER_NAMES and label not in KNOWN_DIFFERENCES:
            wrong.append(label)
    assert wrong == []


CLIP = {
    "model_type": "clip",
    "architectures": ["CLIPModel"],
    "projection_dim": 512,
    "text_config": {},
    "vision_config": {"patch_size": 16},
}


def test_what_parts_do_not_say_is_their_default():
    got = computed(Config(CLIP))
    assert sum(one.elements for one in got.tensors) == 149_620_737  # CLIP ViT-B/16
    assert any("the defaults of transformers are counted" in said for said in got.unknown)


def config(folder: Path, **values: object) -> str:
    (folder / "config.json").write_text(json.dumps(values))
    return str(folder)


LLAMA = {
    "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "num_hidden_layers": 32,
    "vocab_size": 32000,
    "intermediate_size": 11008, "num_attention_heads": 32, "torch_dtype": "float16",
}  # fmt: skip


def test_a_config_alone_is_a_model(tmp_path):
    model = read(config(tmp_path, **LLAMA))
    assert model.format == "config"
    assert model.how is How.KNOW
    assert model.parameters == 6_738_415_616  # Llama 2 7B
    assert model.bytes == 2 * model.parameters
    assert model.architecture is not None
    assert (model.architecture.kv_heads, model.architecture.head_dim) == (32, 128)


def test_quantised_weights_take_what_their_blocks_take(tmp_path):
    four = {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": False}
    model = read(config(tmp_path, **LLAMA, quantization_config=four))
    assert model.quantisation == "bitsandbytes-4bit"
    linear = 6_738_415_616 - 2 * 32000 * 4096 - 65 * 4096
    assert model.bytes == linear // 2 + linear // 16 + 2 * (2 * 32000 * 4096 + 65 * 4096)


@pytest.mark.parametrize(
    "values, said",
    [
        ({"model_type": "mamba9"}, "the architecture mamba9 is not known: nothing is counted"),
        ({"model_type": "llama", "num_hidden_layers": 2}, "does not say"),
        ({**LLAMA, "num_hidden_layers": 2**40}, "does not say how many layers"),
        ({**LLAMA, "architectures": ["LlamaForSomethingNew"]}, "the head of LlamaForSomethingNew is not known"),
        ({**LLAMA, "quantization_config": {"quant_method": "brandnew"}}, "how much brandnew saves is not known"),
        ({**LLAMA, "num_hidden_layers": 9_999_999}, "a count of layers"),
        ({"_class_name": "UNet2DConditionModel", "block_out_channels": [32], "cross_attention_dim": 8,
          "down_block_types": ["K"]}, "how the block K is built"),
        ({"_class_name": "UNet2DConditionModel", "block_out_channels": [2**40]}, "block_out_channels"),
        ({"_class_name": "AutoencoderKL"}, "block_out_channels"),
    ],
)  # fmt: skip
def test_what_is_not_known_is_said(tmp_path, values, said):
    model = read(config(tmp_path, **values))
    assert any(said in sentence for sentence in model.unknown)
    assert model.partial == (not model.tensors)
