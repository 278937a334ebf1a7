"""What readers make of values: grammars, releases, slips of the finger, and the readers' own answers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gpuwhy.knowledge.readings import every_flag, flags, known_names, readers
from gpuwhy.knowledge.settings import ANYTHING, faults
from gpuwhy.knowledge.spelling import distance, misspelt

TORCH, JAX, TF = {"torch": "2.8.0"}, {"jax": "0.7.2"}, {"tensorflow": "2.21.0"}


def kinds(name: str, value: str, installed: dict[str, str]) -> list[str]:
    return [fault.kind for fault in faults(name, value, installed)]


@pytest.mark.parametrize(
    "value, instead",
    [
        ("max_splits_mb:64", ""),
        ("max_split_size:64", "max_split_size_mb:64"),
        ("max_split_size_mb=128", "max_split_size_mb:128"),
        ("expandable_segments:true", "expandable_segments:True"),
        ("expandable_segments", ""),
        ("max_split_size_mb:5", ""),
        ("garbage_collection_threshold:1.5", ""),
        ("backend:async", ""),
        ("roundup_power2_divisions:3", ""),
    ],
)
def test_allocator_options_that_stop_pytorch(value, instead):
    (fault,) = faults("PYTORCH_CUDA_ALLOC_CONF", value, TORCH)
    assert fault.kind == "rejected"
    assert fault.frameworks == ("torch",)
    assert not instead or fault.instead == instead


def test_an_option_of_a_later_pytorch():
    assert kinds("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", {"torch": "1.13.1"}) == ["rejected"]
    assert kinds("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True", TORCH) == []


@pytest.mark.parametrize(
    "value, kind, instead",
    [
        ("cpu", "off", "cuda,cpu"),
        ("tpu,cpu", "off", "cuda,cpu"),
        ("CPU", "rejected", "cpu"),
        ("nvidia", "rejected", "cuda"),
        ("cuda:0", "rejected", "cuda"),
        ("cpu,", "rejected", "cpu"),
    ],
)
def test_platforms_of_jax(value, kind, instead):
    (fault,) = faults("JAX_PLATFORMS", value, JAX)
    assert (fault.kind, fault.instead) == (kind, instead)


@pytest.mark.parametrize(
    "value, instead",
    [("sm_90", "9.0"), ("90", "9.0"), ("8.0,9.0", "8.0;9.0"), ("8.6+ptx", "8.6+PTX"), ("Amper", "Ampere"), ("all", "")],
)
def test_architectures_that_pytorch_does_not_know(value, instead):
    (fault,) = faults("TORCH_CUDA_ARCH_LIST", value, TORCH)
    assert fault.kind == "rejected"
    assert not instead or fault.instead == instead


@pytest.mark.parametrize(
    "value, release, kind",
    [
        ("--xla_gpu_autotune_level=2", "0.7.2", ""),
        ("--xla_gpu_autotune_level=high", "0.7.2", "rejected"),
        ("--xla_gpu_autotune_level=high", "0.4.20", "ignored"),  # so old a release writes a line and goes on
        ("--xla_gpu_autotune_levle=2", "0.7.2", "rejected"),
        ("--xla_gpu_graph_level=0", "0.6.2", ""),
        ("--xla_gpu_graph_level=0", "0.7.2", "rejected"),
        ("--xla_gpu_deterministic_ops", "0.7.2", ""),
        ("--xla_gpu_cuda_data_dir", "0.7.2", "rejected"),
        ("xla_gpu_autotune_level=2", "0.7.2", "rejected"),
        ("-xla_gpu_autotune_level=2", "0.7.2", "rejected"),
        ("--xla_new_flag_of_tomorrow=1", "99.0", ""),  # newer than what was read: not for us to say
        ("", "0.7.2", ""),
    ],
)
def test_flags_of_xla(value, release, kind):
    assert kinds("XLA_FLAGS", value, {"jax": release}) == ([kind] if kind else [])


def test_the_right_flag_is_offered():
    (fault,) = faults("XLA_FLAGS", "--xla_gpu_autotune_levle=2", JAX)
    assert fault.instead == "--xla_gpu_autotune_level=2"
    (fault,) = faults("XLA_FLAGS", "--xla_dump_to=/data --xla_gpu_autotune_levle=2 --xla_gpu_deterministic_ops", JAX)
    assert fault.instead == "--xla_dump_to=/data --xla_gpu_autotune_level=2 --xla_gpu_deterministic_ops"
    (fault,) = faults("PYTORCH_CUDA_ALLOC_CONF", "backend:native,expandable_segments:true", TORCH)
    assert fault.instead == "backend:native,expandable_segments:True"
    (fault,) = faults("TORCH_CUDA_ARCH_LIST", "8.0;sm_90", TORCH)
    assert fault.instead == "8.0;9.0"


@pytest.mark.parametrize(
    "name, value, installed, kind",
    [
        ("JAX_ENABLE_X64", "maybe", JAX, "rejected"),
        ("JAX_ENABLE_X64", "maybe", TORCH, ""),
        ("JAX_ENABLE_X64", "YES", JAX, ""),
        ("JAX_DEFAULT_MATMUL_PRECISION", "bf16", JAX, "rejected"),
        ("TORCHINDUCTOR_COMPILE_THREADS", "many", TORCH, "rejected"),
        ("TORCHINDUCTOR_COMPILE_THREADS", "8", TORCH, ""),
        ("XLA_PYTHON_CLIENT_MEM_FRACTION", "90%", JAX, "rejected"),
        ("XLA_PYTHON_CLIENT_ALLOCATOR", "cuda", JAX, "rejected"),
        ("TF_FORCE_GPU_ALLOW_GROWTH", "1", TF, "ignored"),
        ("TF_GPU_ALLOCATOR", "cuda_malloc_asynch", TF, "ignored"),
        ("NUMBA_ENABLE_CUDASIM", "1", {"numba": "0.61.2"}, "off"),
        ("NUMBA_NUM_THREADS", "0", {"numba": "0.61.2"}, "rejected"),
        ("TRITON_INTERPRET", "1", {"triton": "3.4.0"}, "off"),
        ("CUPY_GPU_MEMORY_LIMIT", "4GB", {"cupy": "13.4.1"}, "rejected"),
        ("CUBLAS_WORKSPACE_CONFIG", "4096:8", {}, "ignored"),
        ("NCCL_DEBUG", "verbose", {}, "ignored"),
        ("NCCL_P2P_DISABLE", "true", {}, "ignored"),
        ("CUDA_MODULE_LOADING", "later", {}, "ignored"),
    ],
)
def test_values(name, value, installed, kind):
    assert kinds(name, value, installed) == ([kind] if kind else [])


@pytest.mark.parametrize(
    "name, meant",
    [
        ("CUDA_VISIBLE_DEVICE", "CUDA_VISIBLE_DEVICES"),
        ("JAX_PLATFORM", "JAX_PLATFORMS"),
        ("XLA_FLAG", "XLA_FLAGS"),
        ("PYTORCH_CUDA_ALLOC_CONFIG", "PYTORCH_CUDA_ALLOC_CONF"),
        ("TF_FORCE_GPU_ALLOW_GROWHT", "TF_FORCE_GPU_ALLOW_GROWTH"),
        ("CUDA_VISIBLE_DEVICES1", ""),
        ("CUDA_VISIBLE_DEVICES_ORIG", ""),
        ("TORCH_USE_CUDA_DSA", ""),
        ("TF_VAR_FORCE_GPU_ALLOW_GROWTH", ""),
        ("TORCH_MODEL_DIR", ""),
    ],
)
def test_slips_of_the_finger(name, meant):
    found = faults(name, "1", {**TORCH, **JAX, **TF})
    assert [(f.kind, f.instead) for f in found] == ([("misspelt", meant)] if meant else [])


def test_a_slip_needs_one_right_name():
    assert misspelt("JAX_OPTION_AX", ["JAX_OPTION_AB", "JAX_OPTION_AC"]) == ""
    assert distance("BLOCKING", "BLOKCING", 2) == 1
    assert distance("ABC", "XYZ", 2) == 3


def test_who_reads_what():
    assert {"JAX_ENABLE_X64", "TORCHINDUCTOR_MAX_AUTOTUNE", "TRITON_CACHE_DIR", "NUMBA_DISABLE_JIT"} <= known_names()
    (reader,) = (r for r in readers("JAX_ENABLE_X64") if r.family == "jax")
    assert (reader.type, reader.at("0.7.2"), reader.at("0.1.0")) == ("bool", "1", "?")
    assert len(every_flag()) > 350
    table = flags("jaxlib", "0.7.2")
    assert table.before["xla_gpu_autotune_level"].type == "int32"
    assert table.release == "0.7.2"


def test_nothing_known_of_what_is_installed():
    assert kinds("PYTORCH_CUDA_ALLOC_CONF", "foo:1", dict(ANYTHING)) == ["rejected"]
    assert kinds("XLA_FLAGS", "--xla_foo=1", dict(ANYTHING)) == []
    assert kinds("JAX_ENABLE_X64", "maybe", dict(ANYTHING)) == []


PROVOKED = Path(__file__).parent / "provoked.jsonl"
RELEASES = json.loads((Path(__file__).parent / "releases.json").read_text())
ROWS = [json.loads(line) for line in PROVOKED.read_text().splitlines()]


def test_what_a_reader_took_is_not_called_wrong():
    """Every value that a real reader took without a word is left alone, but for readers that were not asked."""
    wrong = [
        row["id"]
        for row in ROWS
        if row["outcome"] == "silent" and not row.get("unasked")
        for name, value in row["set"].items()
        if "rejected" in kinds(name, value, RELEASES[row["of"]])
    ]
    assert wrong == []


def test_what_stopped_a_reader_is_known():
    """Of the values that stopped a real reader, at least four of five are known to."""
    stopped = [row for row in ROWS if row["outcome"] == "refused" and not row.get("also")]
    known = [r for r in stopped for n, v in r["set"].items() if "rejected" in kinds(n, v, RELEASES[r["of"]])]
    assert len(stopped) > 60
    assert len(known) / len(stopped) >= 0.8, sorted({r["id"] for r in stopped} - {r["id"] for r in known})
