"""The account against figures known from elsewhere; splits, cards, changes, forms, the command."""

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

import gpuwhy
from gpuwhy.answer import html, markdown, terminal
from gpuwhy.answer.text import size
from gpuwhy.answer.tree import Bar
from gpuwhy.cli.parser import parsed
from gpuwhy.fit import ask as cards
from gpuwhy.fit import dtypes
from gpuwhy.fit.answer import SCHEMA, Card, Fit, FitError, Use, values
from gpuwhy.fit.ask import fit, used
from gpuwhy.fit.changes import smallest
from gpuwhy.fit.config import Config
from gpuwhy.fit.judge import judged, largest, settled
from gpuwhy.fit.model import Model, Tensor
from gpuwhy.fit.read import of_config
from gpuwhy.fit.report import document
from gpuwhy.fit.shape import Flow, layer, shape_of
from gpuwhy.knowledge import gpus

GIB = 1 << 30
DOCS = Path(__file__).parents[2] / "docs"


CONFIG = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "intermediate_size": 11008,
    "num_attention_heads": 32,
    "vocab_size": 32000,
    "max_position_embeddings": 4096,
    "torch_dtype": "bfloat16",
}


def llama(**more: object) -> Model:
    """Llama-2 7B, unless told."""
    return of_config(Config({**CONFIG, **more}), "llama")


SEVEN = llama()
EIGHT = llama(num_key_value_heads=8, intermediate_size=14336, vocab_size=128256)


def into(model: Model, gpu: str = "A100-80GB", changes: bool = False, **use: object) -> Fit:
    return judged(model, Use(**use), cards.described((gpu,)), changes=changes)


def part(found: Fit, name: str) -> int:
    return sum(one.bytes for one in found.shares[0].parts if one.name == name)


def test_figures_that_everybody_knows():
    found = into(SEVEN, tokens=1)
    assert SEVEN.bytes == 13_476_831_232  # 12.55 GiB
    assert part(found, "weights") == pytest.approx(SEVEN.bytes, rel=1e-5)
    assert part(found, "kv cache") == 524_288  # half a MiB for each token
    assert EIGHT.parameters == 8_030_261_248
    assert part(into(EIGHT, tokens=1), "kv cache") == 131_072  # 128 KiB
    assert part(found, "framework") == 686 << 20  # as measured
    for gpu, how in (("H200", "know"), ("RTX 3060", "assumed")):  # on one card, and not on others
        parts = into(SEVEN, gpu).shares[0].parts
        assert {one.how for one in parts if one.name == "framework"} == {how}
    trained = into(SEVEN, task="train", tokens=512, amp=True)
    for name, each in {"optimizer": 8, "weights": 4, "gradients": 4}.items():  # 16 a parameter
        assert part(trained, name) == pytest.approx(each * SEVEN.parameters, rel=0.001)


SAVED = [(2.0, False, 88200), (4.0, False, 159880), (4.0, True, 108680)]


@pytest.mark.parametrize("width, amp, seen", SAVED)
def test_a_layer_keeps_what_autograd_was_seen_to_keep(width, amp, seen):
    """Measured on a CPU with autograd's hooks: bytes for a token in a layer."""
    small = llama(hidden_size=2048, intermediate_size=5632, num_key_value_heads=8)
    shape = shape_of(small)
    assert shape is not None
    low, stream = (2.0, 4.0) if amp else (width, width)
    assert layer(shape, Flow(low, stream, 64, True)) == pytest.approx(seen, rel=0.005)


def test_the_cache_of_every_kind():
    def cached(tokens: int, size: float = 2, **more: object) -> int:
        shape = shape_of(llama(**more))
        assert shape is not None
        return shape.cached(1, tokens, size)

    assert cached(1000, num_key_value_heads=8) == 1000 * 32 * 2 * 8 * 128 * 2
    assert cached(1000, 1) * 2 == cached(1000, 2)
    assert cached(4096, sliding_window=256) == cached(256)
    near, mixed = cached(4096, sliding_window=256), {"sliding_window": 256}
    every = cached(4096, **mixed, sliding_window_pattern=2)
    assert every == (near + cached(4096)) // 2
    assert cached(1000, kv_lora_rank=512, qk_rope_head_dim=64) == 1000 * 32 * 576 * 2


def test_quantised_and_converted_weights():
    eight, four = (part(into(SEVEN, quantise=bits), "weights") for bits in ("8bit", "4bit"))
    assert 6.6e9 < eight < 7.2e9
    assert 3.6e9 < four < 4.2e9, "the table of words stays in 16 bits"
    assert part(into(SEVEN, dtype="f32"), "weights") == pytest.approx(26.95e9, rel=0.001)
    use = {"task": "lora", "quantise": "4bit", "tokens": 512, "checkpointing": True}
    assert into(SEVEN, "RTX 4090", **use).status == "fits", "QLoRA of 7B on 24 GB"


def test_splits_share_what_they_share():
    one = into(SEVEN, task="train", tokens=512)
    found = [into(SEVEN, task="train", tokens=512, zero=n, gpus=8) for n in (1, 2, 3)]
    assert part(found[0], "optimizer") == pytest.approx(2 * part(one, "optimizer") / 8, rel=0.01)
    assert found[0].bytes > found[1].bytes > found[2].bytes
    half = into(SEVEN, tp=2)
    assert part(half, "weights") == pytest.approx(part(into(SEVEN), "weights") / 2, rel=0.01)
    assert part(half, "kv cache") * 2 == part(into(SEVEN), "kv cache")
    assert len(half.shares) == 2
    both = judged(SEVEN, Use(tokens=512), cards.described(("RTX 4090", "RTX 3060")))
    assert both.use.tp == 2
    assert both.shares[0].card.name == "GeForce RTX 3060", "the one with the least left"


def test_uses_that_make_no_sense_are_told_in_a_sentence():
    rows = tuple(Tensor(t.name, "q4_0", t.shape, t.elements * 18 // 32) for t in SEVEN.tensors)
    packed = Model("q.gguf", "gguf", rows, SEVEN.architecture)
    with pytest.raises(FitError, match="--train lora"):
        into(packed, task="train")
    assert into(packed, task="lora", tokens=128).status == "fits"
    with pytest.raises(FitError, match="are not counted"):
        into(SEVEN, tp=1 << 20)
    with pytest.raises(FitError, match="asks for 4 GPUs"):
        judged(SEVEN, Use(tp=4), cards.described(("T4", "V100")))
    served = into(packed, tokens=4096)
    assert served.use.framework == "llama.cpp"
    assert part(served, "activations") < 64 << 20


CARDS = {
    "RTX 4090": 23.99,
    "NVIDIA H100 80GB HBM3": 79.6,
    "A100-SXM4-40GB": 40.0,
    "3090": 24.0,
    "1g.10gb": 9.5,
    "RTX 3060 Laptop": 6.0,
    "2x V100-32GB": 32.0,
}


@pytest.mark.parametrize("word", CARDS)
def test_cards_as_people_write_them(word):
    found = cards.described((word,))
    assert found[0].total / GIB == pytest.approx(CARDS[word], rel=0.005)
    assert found[0].room < found[0].total
    assert len(found) == (2 if word.startswith("2x") else 1)


def test_cards_that_make_no_sense():
    for word, memory, say in (
        ("sm_89", (), "--gpu-memory"),
        ("RTX 4091", (), "no such GPU"),
        ("RTX 4090", (5,), "no size"),
        ("T4", (8 * GIB, 9 * GIB), "one for each"),
    ):
        with pytest.raises(FitError, match=say):
            cards.described((word,), memory)


def test_every_row_of_the_table_is_found_by_its_own_name():
    for name, held in gpus.memory().sizes.items():
        last = name.split()[-1]
        text = name + "gb" if last.isdigit() and len(last) <= 2 else name
        assert gpus.size_of(text) == held << 20, name


def test_the_changes_really_fit_and_are_of_different_kinds(tmp_path, capsys):
    where = cards.described(("A100-80GB",))
    use, _ = settled(SEVEN, Use(task="train", batch=32, tokens=1024), where)
    found = smallest(SEVEN, use, where)
    assert len({change.kind for change in found}) == 3
    assert all(change.status == "fits" and change.bytes <= change.room for change in found)
    words = ["fit", str(tmp_path), "--train", "--batch", "32", "--tokens", "1024", "--json"]
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    for change in (one for one in found if one.kind != "gpu"):
        options = parsed([*words, "--gpu", "A100-80GB", *change.options.split()])
        options.go(options)
        again = json.loads(capsys.readouterr().out)
        assert (again["status"], again["bytes"]) == ("fits", change.bytes)


def test_the_largest_batch_is_the_edge():
    where = cards.described((), (40 * GIB,))
    use, _ = settled(SEVEN, Use(task="train", tokens=1024, optimizer="sgd"), where)
    best = largest(SEVEN, use, where)
    edges = [judged(SEVEN, msgspec.structs.replace(use, batch=best + n), where) for n in (0, 1)]
    assert edges[0].margin >= 0 > edges[1].margin


def test_what_has_no_layers_that_are_known_is_said_to_be_unknown():
    model = Model("x", "safetensors", (Tensor("a.weight", "f32", (2048, 2048), 16 << 20),))
    found = into(model, "RTX 3060")
    assert (found.status, found.largest) == ("unknown", 0)
    assert "weights alone take 16 MiB" in found.headline
    assert "not counted" in found.unknown[0]
    buffers = ("bn.weight", "bn.running_mean", "bn.num_batches_tracked")
    model = Model("x", "torch", tuple(Tensor(name, "f32", (64,), 256) for name in buffers))
    assert model.parameters == 64, "buffers are no parameters"


def test_vllm_gets_its_two_numbers():
    found = into(EIGHT, "RTX 4090", framework="vllm", tokens=8192)
    assert found.serving is not None
    assert found.serving.length == 8192
    assert found.serving.tokens == int(found.serving.concurrency * 8192)
    assert found.serving.tokens == pytest.approx(found.serving.cache / 131_072, rel=0.01)
    assert into(EIGHT, "RTX 4090").serving is None
    assert "8,192 tokens at once" in terminal.write(document(found))


def schema() -> dict[str, object]:
    """The JSON Schema of the contract, from the types."""
    out = msgspec.json.schema(Fit)
    found = out["$defs"]["Fit"]
    found["properties"]["schema"] = {"const": SCHEMA}
    found["required"] = ["schema", *found["required"]]
    draft = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": draft, "title": SCHEMA, **out}


def test_forms_and_contract():
    found = into(SEVEN, "RTX 3060", changes=True, tokens=2048)
    told = json.loads(json.dumps(values(found)))
    jsonschema.validate(told, schema())
    assert json.loads((DOCS / "fit.schema.json").read_text()) == json.loads(json.dumps(schema()))
    text = terminal.write(document(found))
    start = "✗ LlamaForCausalLM: inference does not fit into GeForce RTX 3060"
    assert text.startswith(start)
    assert "What would make it fit" in text
    assert "--quantise 8bit" in html.page(document(found))
    assert "weights" in markdown.write(document(found, 1))
    names = [one.name for one in found.shares[0].parts]
    assert len(names) == len(set(names))


def test_the_command_and_the_api_agree(tmp_path, capsys):
    (tmp_path / "config.json").write_text(json.dumps({**CONFIG, "num_hidden_layers": 2}))
    options = parsed(["fit", str(tmp_path), "--gpu-memory", "8GB", "--json"])
    assert options.go(options) == 0
    told = json.loads(capsys.readouterr().out)
    found = gpuwhy.fit(str(tmp_path), gpu_memory="8GB")
    assert (told["status"], told["bytes"]) == (found.status, found.bytes)
    assert found.model.how == "know"
    with pytest.raises(FitError, match="nothing"):
        gpuwhy.fit(str(tmp_path / "nothing"), gpu="T4")
    with pytest.raises(FitError, match="no such option"):
        gpuwhy.fit(str(tmp_path), gpu="T4", bach=3)


def test_words():
    asked = used("", {"dtype": "bfloat16", "kv_dtype": "fp8"})
    assert (asked.dtype, asked.kv_dtype) == ("bf16", "f8_e4m3")
    assert (dtypes.memory("24GB"), dtypes.memory("2G")) == (24 * 10**9, 2 * GIB)
    with pytest.raises(ValueError, match="is no size"):
        dtypes.memory("9" * 5000 + "GB")
    with pytest.raises(FitError, match="no type"):
        used("", {"dtype": "q17"})
    with pytest.raises(FitError, match="expected"):
        fit(SEVEN, train="some", gpu="T4")


@pytest.mark.parametrize("gib", [12, 15, 16.2, 24])
def test_the_bar_says_what_the_headline_says(gib):
    """At 16.2 GiB only what fragmentation gives back makes it fit."""
    found = judged(llama(), Use(), (Card("a GPU", int(gib * GIB), int(gib * GIB), "told", ""),))
    bar = next(one for one in document(found).blocks if isinstance(one, Bar))
    left = bar.whole - sum(count for _, count in bar.parts)
    assert f"{size(abs(left))} {'to spare' if left >= 0 else 'too much'}" in found.headline
