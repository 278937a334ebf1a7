"""`gpuwhy fit`: the account against figures known from elsewhere, splits, cards, changes, forms, the command."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

import gpuwhy
from gpuwhy.border.kept import KEPT, Kept
from gpuwhy.cli.fit import _use as asked
from gpuwhy.cli.parser import parsed
from gpuwhy.fit import activations as act
from gpuwhy.fit import bits, cache, cards
from gpuwhy.fit.answer import BadUseError, fit
from gpuwhy.fit.changes import smallest
from gpuwhy.fit.guess import described
from gpuwhy.fit.images import network
from gpuwhy.fit.measured import corrected, largest
from gpuwhy.fit.model import Architecture, Model, Tensor
from gpuwhy.fit.shape import shape_of
from gpuwhy.fit.view import shares
from gpuwhy.fitting import FitError, used
from gpuwhy.inside.batch import Fitted, Try
from gpuwhy.knowledge import gpu_memory
from gpuwhy.logs import explained as explain_text
from gpuwhy.model.fit import Fit, Use
from gpuwhy.page.page import page
from gpuwhy.refit import advised, predicted
from gpuwhy.render.fit import fit_dict, render, schema
from gpuwhy.render.terminal import Paper
from gpuwhy.showing import markdown, plain_values

GIB = 1 << 30
DOCS = Path(__file__).parents[2] / "docs"


def llama(layers: int = 32, hidden: int = 4096, inner: int = 11008, heads: int = 32, kv: int = 32, **more) -> Model:
    """A decoder as Llama is: Llama-2 7B unless told."""
    vocab, head = more.pop("vocab", 32000), hidden // heads
    rows = [
        ("model.embed_tokens.weight", (vocab, hidden)),
        ("lm_head.weight", (vocab, hidden)),
        ("model.norm.weight", (hidden,)),
    ]
    for n in range(layers):
        at = f"model.layers.{n}."
        rows += [
            (f"{at}self_attn.{p}_proj.weight", (w * head, hidden)) for p, w in (("q", heads), ("k", kv), ("v", kv))
        ]
        rows += [(f"{at}self_attn.o_proj.weight", (hidden, hidden)), (f"{at}mlp.down_proj.weight", (hidden, inner))]
        rows += [(f"{at}mlp.{p}_proj.weight", (inner, hidden)) for p in ("gate", "up")]
        rows += [(f"{at}{p}_layernorm.weight", (hidden,)) for p in ("input", "post_attention")]
    dtype = more.pop("dtype", "bf16")
    size = 2 if dtype == "bf16" else 4
    tensors = [Tensor(name, dtype, shape, size * Tensor(name, dtype, shape, 0).elements) for name, shape in rows]
    arch = Architecture(
        kind="decoder", name="LlamaForCausalLM", layers=layers, hidden=hidden, intermediate=inner, heads=heads,
        kv_heads=kv, head_dim=head, vocab=vocab, positions=4096, **more,
    )  # fmt: skip
    return Model("llama", "safetensors", tuple(tensors), arch)


def convolutions() -> Model:
    """ResNet-50 by torchvision's names, without its norms' numbers."""
    rows, inputs = [("conv1.weight", (64, 3, 7, 7)), ("bn1.running_mean", (64,)), ("bn1.weight", (64,))], 64
    for stage, depth in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for n in range(depth):
            at = f"layer{stage + 1}.{n}."
            rows += [(f"{at}conv1.weight", (width, inputs, 1, 1)), (f"{at}conv2.weight", (width, width, 3, 3))]
            rows += [(f"{at}conv3.weight", (4 * width, width, 1, 1))]
            rows += [(f"{at}downsample.0.weight", (4 * width, inputs, 1, 1))] if n == 0 else []
            inputs = 4 * width
    return Model(
        "resnet", "safetensors", tuple(Tensor(n, "f32", s, 4 * Tensor(n, "f32", s, 0).elements) for n, s in rows)
    )


def into(model: Model, gpu: str = "A100-80GB", changes: bool = False, **use) -> Fit:
    return fit(model, Use(**use), cards.described((gpu,)), changes=changes)


def part(found: Fit, name: str) -> int:
    return sum(one.bytes for one in found.shares[0].parts if one.name == name)


SEVEN = llama()


def test_llama_7b_in_figures_that_everybody_knows():
    found = into(SEVEN, tokens=4096)
    assert part(found, "weights") == pytest.approx(13.48e9, rel=0.001)  # 6.74 billion in bf16
    assert part(found, "kv cache") == 2 * GIB  # half a MiB for each token
    assert part(found, "framework") == 686 << 20  # as measured
    assert found.status == "fits"
    assert found.shares[0].bytes == sum(one.bytes for one in found.shares[0].parts)
    trained = into(SEVEN, task="train", batch=1, tokens=512, optimizer="adamw")
    assert (part(trained, "optimizer"), trained.status) == (pytest.approx(26.95e9, rel=0.001), "fits")


SAVED = [  # measured on a CPU with autograd's hooks, bytes for a token in a layer of transformers' Llama
    ({"hidden": 2048, "inner": 5632, "heads": 32, "kv": 8}, 2.0, False, 88200),
    ({"hidden": 2048, "inner": 5632, "heads": 32, "kv": 8}, 4.0, False, 159880),
    ({"hidden": 2048, "inner": 5632, "heads": 32, "kv": 8}, 4.0, True, 108680),
]


@pytest.mark.parametrize("sizes, width, amp, seen", SAVED)
def test_a_layer_keeps_what_autograd_was_seen_to_keep(sizes, width, amp, seen):
    shape = shape_of(llama(layers=2, **sizes))
    assert act.layer(shape, act.Width.of(width, amp), 64, True) == pytest.approx(seen, rel=0.005)


def test_resnet_50_keeps_what_autograd_was_seen_to_keep():
    net = network(convolutions(), 96)
    assert not net.sure, "no file tells strides"
    assert net.kept == pytest.approx(3.97e6, rel=0.03)
    found = into(convolutions(), task="train", batch=64, image=224, dtype="f32")
    assert 5.0 < part(found, "activations") / GIB < 7.0  # people see about 90 MiB a picture
    assert any("strides" in note for note in found.notes)


def test_convolutions_in_groups_and_linear_layers_between_them_count_in_full():
    rows = [("embeddings.weight", (96, 3, 4, 4)), ("stages.0.layers.0.dwconv.weight", (96, 1, 7, 7))]
    rows += [("stages.0.layers.0.pwconv1.weight", (384, 96)), ("stages.0.layers.0.pwconv2.weight", (96, 384))]
    rows += [("stages.0.layers.0.norm.weight", (96,)), ("stages.1.downsampling_layer.1.weight", (192, 96, 2, 2))]
    net = network(Model("x", "safetensors", tuple(Tensor(name, "f32", shape, 1) for name, shape in rows)), 96)
    sizes = [(layer.before, layer.behind) for layer in net.layers]
    wide, half = 24 * 24 * 96, 12 * 12 * 192
    assert sizes == [(96 * 96 * 3, wide), (wide, wide), (wide, 4 * wide), (4 * wide, wide), (wide, half)]


def test_the_cache_of_every_kind():
    plain = shape_of(llama(kv=8))
    assert cache.cached(plain, 1, 1000, 2) == 1000 * 32 * 2 * 8 * 128 * 2
    assert cache.cached(plain, 1, 1000, 1) * 2 == cache.cached(plain, 1, 1000, 2)
    assert cache.cached(plain, 1, 1000, 2, block=16) == cache.cached(plain, 1, 1008, 2)
    near = shape_of(llama(window=256))
    assert cache.cached(near, 1, 4096, 2) == cache.cached(shape_of(llama()), 1, 256, 2)
    mixed = shape_of(llama(window=256, window_every=2))
    assert cache.cached(mixed, 1, 4096, 2) == (cache.cached(near, 1, 4096, 2) + cache.cached(near, 1, 256, 2)) // 2 + (
        16 * 2 * 4096 * 2 * (4096 - 256)
    )
    latent = shape_of(llama(kv_rank=512, rope_dim=64))
    assert cache.cached(latent, 1, 1000, 2) == 1000 * 32 * 576 * 2


def test_quantised_and_converted_weights():
    eight, four = (part(into(SEVEN, quantise=q), "weights") for q in ("8bit", "4bit"))
    assert 6.6e9 < eight < 7.2e9
    assert 3.6e9 < four < 4.2e9, "the table of words stays in 16 bits"
    assert part(into(SEVEN, dtype="f32"), "weights") == pytest.approx(26.95e9, rel=0.001)
    lora = into(SEVEN, task="lora", quantise="4bit", tokens=512, checkpointing=True, gpu="RTX 4090")
    assert lora.status == "fits", "QLoRA of 7B on 24 GB is what it was made for"


def test_splits_share_what_they_share():
    one = into(SEVEN, task="train", tokens=512)
    first, second, third = (into(SEVEN, task="train", tokens=512, zero=n, gpus=8) for n in (1, 2, 3))
    assert part(first, "optimizer") == pytest.approx(2 * part(one, "optimizer") / 8, rel=0.01)  # f32 states there
    assert first.bytes > second.bytes > third.bytes
    half = into(SEVEN, tp=2)
    assert part(half, "weights") == pytest.approx(part(into(SEVEN), "weights") / 2, rel=0.01)
    assert part(half, "kv cache") * 2 == part(into(SEVEN), "kv cache")
    assert len(half.shares) == 2
    assert shares(32, (24, 8)) == [24, 8]
    assert sum(shares(5, (1, 1, 100))) == 5


def test_uses_that_make_no_sense_are_told_in_a_sentence():
    packed = Model(
        "q.gguf", "gguf", tuple(Tensor(t.name, "q4_0", t.shape, t.elements * 18 // 32) for t in SEVEN.tensors)
    )
    with pytest.raises(BadUseError, match="--train lora"):
        into(packed, task="train")
    assert into(packed, task="lora", tokens=128).status == "fits"
    with pytest.raises(BadUseError, match="are not counted"):
        into(SEVEN, tp=1 << 20, pp=1 << 20)
    with pytest.raises(BadUseError, match="asks for 4 GPUs"):
        fit(SEVEN, Use(tp=4), cards.described(("T4", "V100")))
    assert len(into(SEVEN, tp=64, gpus=64).shares) == 16
    served = into(packed, tokens=4096)
    assert (served.use.framework, part(served, "activations") < 64 << 20) == ("llama.cpp", True)


def test_gpus_of_different_sizes_get_layers_by_their_room():
    found = fit(SEVEN, Use(tokens=512), cards.described(("RTX 4090", "RTX 3060")), changes=False)
    sizes = {share.card.name: share.bytes for share in found.shares}
    assert sizes["GeForce RTX 4090"] > 1.5 * sizes["GeForce RTX 3060"]
    assert found.use.pp == 2


@pytest.mark.parametrize(
    "word, gib",
    [("RTX 4090", 23.99), ("NVIDIA H100 80GB HBM3", 79.6), ("A100-SXM4-40GB", 40.0), ("3090", 24.0), ("T4", 15.0),
     ("1g.10gb", 9.5), ("RTX 3060 Laptop", 6.0), ("2x V100-32GB", 32.0)],
)  # fmt: skip
def test_cards_as_people_write_them(word, gib):
    found = cards.described((word,))
    assert found[0].total / GIB == pytest.approx(gib, rel=0.005)
    assert found[0].room < found[0].total
    assert len(found) == (2 if word.startswith("2x") else 1)


NONSENSE = [
    (("sm_89",), (), "--gpu-memory"),
    (("RTX 4091",), (), "no such GPU"),
    (("RTX 4090",), (5,), "no size"),
    (("T4",), (8 * GIB, 9 * GIB), "one for each"),
]


@pytest.mark.parametrize("words, memory, say", NONSENSE)
def test_cards_that_make_no_sense(words, memory, say):
    with pytest.raises(cards.BadCardError, match=say):
        cards.described(words, memory)


def test_every_row_of_the_table_is_found_by_its_own_name():
    for name, size in gpu_memory.SIZES:
        text = name + "gb" if name.split()[-1].isdigit() and len(name.split()[-1]) <= 2 else name
        assert gpu_memory.size_of(text) == size << 20, name


def test_the_changes_really_fit_and_are_of_different_kinds():
    use = Use(task="train", batch=32, tokens=1024, framework="torch", attention="fused")
    where = cards.described(("A100-80GB",))
    found = smallest(SEVEN, use, where)
    assert len(found) == 3
    assert len({change.kind for change in found}) == 3
    for change in found:
        assert change.status == "fits"
        assert change.bytes <= change.room
    words = ["fit", "x", "--train", "--batch", "32", "--tokens", "1024"]
    for change in (one for one in found if one.kind != "gpu"):
        options = parsed([*words, *change.options.split()])
        again = fit(SEVEN, used(options.train, asked(options)), where, changes=False)
        assert (again.status, again.bytes) == ("fits", change.bytes), "what is proposed is what the command takes"


def test_the_largest_batch_is_the_edge_and_a_measurement_moves_it():
    where, use = cards.described((), (40 * GIB,)), Use(task="train", tokens=1024, optimizer="sgd")
    best = largest(SEVEN, use, where)
    assert fit(SEVEN, msgspec.structs.replace(use, batch=best), where, changes=False).margin >= 0
    assert fit(SEVEN, msgspec.structs.replace(use, batch=best + 1), where, changes=False).margin < 0
    tried = Fitted(best * 2, (Try(best * 2, True, 1.0), Try(best * 2 + 1, False, 1.0)), 64)
    moved = corrected(SEVEN, use, where, tried)
    assert moved.scale < 1
    assert largest(SEVEN, moved, where) == best * 2


def test_what_has_no_layers_that_are_known_is_said_to_be_unknown():
    model = Model("x", "safetensors", (Tensor("a.weight", "f32", (1000, 1000), 4_000_000),))
    found = into(model)
    assert found.status == "unknown"
    assert "not counted" in found.unknown[0]
    rows = (("layers.0.self_attn.in_proj_weight", (3072, 1024)), ("layers.0.linear1.weight", (4096, 1024)))
    own = tuple(Tensor(name, "f32", shape, 1) for name, shape in rows)
    arch = described(Model("x", "safetensors", own)).architecture
    assert (arch.kind, arch.layers, arch.hidden, arch.intermediate) == ("encoder", 1, 1024, 4096)


def test_forms_and_contract():
    found = into(SEVEN, gpu="RTX 3060", changes=True, tokens=2048)
    jsonschema.validate(json.loads(json.dumps(fit_dict(found))), schema())
    assert json.loads((DOCS / "fit.schema.json").read_text()) == json.loads(json.dumps(schema()))
    text = render(found, Paper(80))
    assert text.startswith("✗ LlamaForCausalLM: inference does not fit into GeForce RTX 3060")
    assert all(len(line) <= 80 for line in text.splitlines() if not line.lstrip().startswith("--"))
    assert "what would make it fit" in text
    values = plain_values(found)
    assert "What would make it fit" in page(values)
    assert "| weights |" in markdown(values)


def test_the_command_and_the_api_agree(tmp_path, capsys):
    sizes = {"hidden_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 512}
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 1000, **sizes}
    (tmp_path / "config.json").write_text(json.dumps(config))
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
    assert (bits.word("bfloat16"), bits.word("fp8")) == ("bf16", "f8_e4m3")
    assert (bits.size("24GB"), bits.size("2G")) == (24 * 10**9, 2 * GIB)
    with pytest.raises(ValueError, match="is no size"):
        bits.size("9" * 5000 + "GB")
    with pytest.raises(FitError, match="no type"):
        used("", {"dtype": "q17"})


LOG = """Model config LlamaConfig {
  "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008,
  "num_attention_heads": 32, "num_hidden_layers": 32, "vocab_size": 32000, "torch_dtype": "bfloat16"
}
per_device_train_batch_size=4, max_seq_length=2048
    loss.backward()
torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.95 GiB. GPU 0 has a total capacity of 79.15 GiB of which
1.20 GiB is free. Of the allocated memory 76.30 GiB is allocated by PyTorch, and 812.00 MiB is reserved by PyTorch.
"""


def test_an_out_of_memory_log_that_names_its_model_gets_what_would_have_fitted(tmp_path):
    report = advised(explain_text(LOG), LOG)
    assert report.causes[0].id == "memory.oom"
    assert "of 79.1 GiB, with this change" in report.causes[0].fixes[0].text
    bare = LOG.partition("}\n")[2]
    assert predicted(bare) is None, "no model is named"
    config = json.loads(LOG[LOG.index("{") : LOG.index("}") + 1])
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert predicted(f"model_name_or_path={tmp_path}\n{bare}").changes == predicted(LOG).changes
    assert (
        advised(explain_text("ImportError: libcudnn.so.9: cannot open shared object file\n"), LOG).causes[0].id
        != "memory.oom"
    )


def test_what_is_kept_of_a_text_is_bounded():
    kept = Kept()
    for n in range(4000):
        assert kept.feed(b"%06d %s\n" % (n, b"x" * 1000)).startswith(b"00")
    text = kept.text()
    assert text.startswith("000000")
    assert "003999" in text
    assert len(text) < 3 * KEPT
