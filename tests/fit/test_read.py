"""Models as their files describe them: parameters by config.json, real files, hostile ones."""

import json
import os
import pickle
import runpy
import struct
import subprocess
import zipfile
from pathlib import Path

import pytest

from gpuwhy.fit.config import Config
from gpuwhy.fit.families import families, tensors_of
from gpuwhy.fit.model import Model, Unreadable
from gpuwhy.fit.read import read

HERE = Path(__file__).parent
FILES = HERE / "files"
CASES = [json.loads(line) for line in (HERE / "parameters.jsonl").read_text().splitlines()]
EXPECTED = json.loads((FILES / "expected.json").read_text())
LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "vocab_size": 32000,
    "intermediate_size": 11008,
    "num_attention_heads": 32,
    "torch_dtype": "float16",
}
PLAIN = 2 * 32000 * 4096 + 65 * 4096
"""Numbers of Llama 2 7B outside of linear layers."""


def config(folder: Path, **values: object) -> Model:
    (folder / "config.json").write_text(json.dumps(values))
    return read(str(folder))


def refused(path: Path) -> str:
    with pytest.raises(Unreadable) as found:
        read(str(path))
    assert len(str(found.value)) < 400
    return str(found.value)


def test_counts_are_those_of_transformers():
    """Counted with transformers on the meta device: tensors, elements."""
    wrong = {}
    for label, values, tensors, count in CASES:
        made, said, _ = tensors_of(Config(values), "f32")
        got = (len(made), sum(one.elements for one in made))
        if got != (tensors, count):
            wrong[label] = (*got, tensors, count, said)
    assert wrong == {}
    assert len(families()) > 60
    for line in (HERE / "published.jsonl").read_text().splitlines():
        label, values, count = json.loads(line)
        made, _, _ = tensors_of(Config(values), "f32")
        assert (label, sum(one.elements for one in made)) == (label, count)


def test_what_parts_do_not_say_is_their_default():
    clip = {"model_type": "clip", "architectures": ["CLIPModel"], "projection_dim": 512}
    clip |= {"text_config": {}, "vision_config": {"patch_size": 16}}
    made, said, partial = tensors_of(Config(clip), "f32")
    assert sum(one.elements for one in made) == 149_620_737  # CLIP ViT-B/16
    assert any("the defaults of transformers are counted" in one for one in said)
    assert not partial


def test_quantised_weights_take_what_their_blocks_take(tmp_path):
    four = {"quant_method": "bitsandbytes", "load_in_4bit": True}
    model = config(tmp_path, **LLAMA, quantization_config=four)
    linear = 6_738_415_616 - PLAIN
    assert model.quantisation == "bitsandbytes-4bit"
    assert model.bytes == linear // 2 + linear // 16 + 2 * PLAIN


@pytest.mark.parametrize(
    "values, said",
    [
        ({"model_type": "mamba9"}, "the architecture mamba9 is not known: nothing is counted"),
        ({"model_type": "bloomz", "num_hidden_layers": 2}, "is not known"),
        ({**LLAMA, "num_hidden_layers": 2**40}, "does not say num_hidden_layers"),
        ({**LLAMA, "architectures": ["LlamaForSomethingNew"]}, "the head of LlamaForSomethingNew"),
        ({**LLAMA, "quantization_config": {"quant_method": "brandnew"}}, "how much brandnew saves"),
        ({**LLAMA, "num_hidden_layers": 9_999_999}, "a count of layers"),
    ],
)
def test_what_is_not_known_is_said(tmp_path, values, said):
    model = config(tmp_path, **values)
    assert any(said in sentence for sentence in model.unknown)
    assert model.partial == (not model.tensors)


@pytest.mark.parametrize("path", EXPECTED)
def test_tensors_are_those_of_the_reference_library(path):
    """Made by safetensors, gguf and torch themselves; optimizer states are left out."""
    wanted = EXPECTED[path]
    silent = {name for name, *_, size in wanted if size is None}
    found = read(str(FILES / path)).tensors
    rows = [[t.name, t.dtype, list(t.shape), None if t.name in silent else t.bytes] for t in found]
    assert sorted(rows) == sorted(wanted)


def test_an_index_whose_files_are_missing(tmp_path):
    (tmp_path / "model.safetensors.index.json").write_bytes(
        (FILES / "sharded" / "model.safetensors.index.json").read_bytes()
    )
    model = read(str(tmp_path))
    assert model.partial
    assert "of the index are not here" in model.unknown[0]
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    whole = read(str(tmp_path))
    assert (whole.parameters, whole.partial) == (6_738_415_616, False)


def test_paths_that_are_no_models(tmp_path):
    hub = refused(Path("meta-llama/Llama-2-7b-hf"))
    assert "hf download meta-llama/Llama-2-7b-hf config.json" in hub
    assert "there is nothing at" in refused(tmp_path / "none")
    assert "no config.json" in refused(tmp_path)
    (tmp_path / "lora").mkdir()
    (tmp_path / "lora" / "adapter_config.json").write_text("{}")
    assert "give the folder of the model that it changes" in refused(tmp_path / "lora")
    for name, data, said in (
        ("a.h5", b"\x89HDF\r\n\x1a\n", "HDF5 (Keras) is not read here"),
        ("a.onnx", b"\x08\x01", "ONNX is not read here"),
        ("a.bin", b"", "it is empty"),
        ("b.bin", b"version https://git-lfs", "git lfs pull"),
        ("c.json", b"[1]", "no object"),
        ("d.gguf", b"GGUF" + struct.pack("<IQQ", 3, 1 << 40, 0), "more than any real file"),
        ("e.safetensors", struct.pack("<Q", 20) + b"{" + b" " * 8, "of no format"),
    ):
        (tmp_path / name).write_bytes(data)
        assert said in refused(tmp_path / name)


def test_an_index_cannot_lead_out_of_its_folder(tmp_path):
    path = tmp_path / "model.safetensors.index.json"
    path.write_text('{"weight_map": {"a": "../../../etc/passwd"}}')
    assert "which is not below its own folder" in refused(path)


class Calls:
    """What unpickling would call."""

    def __init__(self, function, *args) -> None:
        self.made = (function, args)

    def __reduce__(self):
        return self.made


def archive(folder: Path, data: bytes) -> Path:
    path = folder / "model.pt"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("model/data.pkl", data)
    return path


EVIL = [
    (os.system, ("touch pwned",)),
    (eval, ("1",)),
    (subprocess.Popen, (["true"],)),
    (getattr, ("x", "y")),
    (pickle.loads, (b"N.",)),
    (runpy.run_path, ("x",)),
]


@pytest.mark.parametrize("protocol", [2, 4])
def test_a_pickle_that_would_run_code_is_refused(tmp_path, monkeypatch, protocol):
    monkeypatch.chdir(tmp_path)
    for function, args in EVIL:
        data = pickle.dumps({"weight": Calls(function, *args)}, protocol)
        assert "do not load it" in refused(archive(tmp_path, data))
    assert not (tmp_path / "pwned").exists()


NESTED = b"".join(b"h%ch%c\x86q%c" % (n, n, n + 1) for n in range(60))


@pytest.mark.parametrize(
    "data",
    [
        b"ctorch.hub\nload\n(X\x01\x00\x00\x00ltR.",
        b"cdill._dill\n_create_function\n)R.",
        b"(ios\nsystem\nX\x01\x00\x00\x00l.",
        b"}}R.",
        b"\x80\x02\x8b\xff\xff\xff\x7f.",
        b"X\xff\xff\xff\xff.",
        b"\x80\x02}(K\x01\x85q\x00" + NESTED + b"K\x01s.",  # a key whose hash takes for ever
        b"",
    ],
)
def test_a_damaged_or_hostile_pickle_is_a_sentence(tmp_path, data):
    assert "pickle" in refused(archive(tmp_path, data))
