"""Harvested rows: laws that hold for all of them, and a frozen sample of what the files say."""

from __future__ import annotations

import re

import pytest
from msgspec import UNSET

from gpuwhy.knowledge import releases
from gpuwhy.knowledge.releases import FIELDS, Release
from gpuwhy.facts.version import at_least, numbers

PROJECTS = sorted(releases.projects())
PLATFORM = re.compile(r"(linux|musl|windows|macos)-\w+|any|source")


def rows(name: str) -> tuple[Release, ...]:
    known = releases.family(name)
    assert known is not None
    return known.rows


@pytest.fixture(scope="module")
def everything() -> list[Release]:
    return [row for name in PROJECTS for row in rows(name)]


def test_rows_are_many_and_unique(everything):
    keys = [(r.name, r.version, r.platform) for r in everything]
    assert len(keys) > 4000
    assert len(set(keys)) == len(keys)


def test_headers_count_right():
    seen: dict[str, int] = {}
    for name in PROJECTS:
        known = releases.family(name)
        seen[known.header.family] = seen.get(known.header.family, 0) + len(known.rows)
    for name in PROJECTS:
        header = releases.family(name).header
        assert header.rows == seen[header.family]


def test_names_versions_and_platforms_make_sense(everything):
    for r in everything:
        assert numbers(r.version), r
        assert PLATFORM.fullmatch(r.platform), r
        assert re.fullmatch(r"[0-9a-f]{64}", r.sha256), r
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", r.uploaded), r
        assert r.pythons or r.platform == "source", r


def test_every_value_has_evidence_and_the_other_way_round(everything):
    for r in everything:
        told = {field for field in FIELDS if getattr(r, field) is not UNSET}
        assert told == set(r.evidence), r


def test_evidence_is_spelled_out():
    for name in PROJECTS:
        known = releases.family(name)
        for row in known.rows[-3:]:
            for evidence in known.describe(row).evidence.values():
                assert evidence.how
                assert evidence.confidence in ("binary", "metadata", "document")


def test_values_have_their_shapes(everything):
    for r in everything:
        if isinstance(r.cuda, str):
            assert re.fullmatch(r"\d+(\.\d+)?", r.cuda), r
        if isinstance(r.cudnn, str):
            assert re.fullmatch(r"\d+(\.\d+){0,2}", r.cudnn), r
        for prefix, codes in (("sm", r.sass), ("compute", r.ptx)):
            assert codes is UNSET or all(re.fullmatch(rf"{prefix}_\d+[af]?", c) for c in codes), r


def test_a_build_without_cuda_has_nothing_of_it(everything):
    for r in everything:
        if r.cuda is None:
            assert (r.cudnn, r.sass, r.ptx, r.opens) == (None, (), (), ()), r


def test_requirements_are_not_newer_than_their_release(everything):
    """A pinned runtime is of the build's CUDA, and the compiled cuDNN is not newer than the pinned one."""
    for r in everything:
        pins = r.requires if isinstance(r.requires, dict) else {}
        for name, spec in pins.items():
            runtime = re.fullmatch(r"nvidia-cuda-runtime(-cu\d+)?", name) and re.fullmatch(r"==(\d[\d.]*)", spec)
            if runtime and isinstance(r.cuda, str) and r.name == "torch":
                assert numbers(runtime[1])[:2] == numbers(r.cuda), r
            cudnn = re.fullmatch(r"nvidia-cudnn-cu\d+", name) and re.fullmatch(r"==(\d[\d.]*)", spec)
            if cudnn and isinstance(r.cudnn, str) and r.name.startswith(("tensorflow", "torch")):
                assert at_least(cudnn[1], r.cudnn), r


def test_two_ways_of_reading_jax_agree():
    """The version module of the plugin and the machine code of the pjrt wheel tell the same cuDNN."""
    told = 0
    for major in (11, 12, 13):
        for row in rows(f"jax-cuda{major}-pjrt"):
            plugin = releases.find(f"jax-cuda{major}-plugin", row.version, row.platform)
            if isinstance(row.cudnn, str) and plugin:
                assert row.cudnn == plugin.cudnn, row
                told += 1
    assert told > 50


def test_names_that_are_opened_are_shipped_by_some_library(everything):
    """On Linux, for CUDA 11 and newer: what came before was never published as wheels."""
    shipped = {n for r in everything if r.ships is not UNSET and r.platform.startswith("linux") for n in r.ships}
    wanted = {
        (name, r.name)
        for r in everything
        if r.platform.startswith("linux") and isinstance(r.cuda, str) and numbers(r.cuda)[0] >= 11
        for name in (r.opens if isinstance(r.opens, tuple) else ())
        if not re.search(r"-[0-9a-f]{8}\.so", name)  # bundled under a name of its own
    }
    exceptions = {"libcusolver.so.10"}  # of CUDA 11.0; the wheels begin with a later minor release
    missing = {name for name, _ in wanted} - shipped - exceptions
    assert missing == set()


SAMPLE = [
    # name, version, platform, CUDA, cuDNN
    ("tensorflow", "1.14.0", "linux-x86_64", None, None),
    ("tensorflow", "1.15.0", "linux-x86_64", "10.0", "7.6.0"),
    ("tensorflow", "1.15.2", "linux-x86_64", None, None),
    ("tensorflow", "2.0.4", "linux-x86_64", None, None),
    ("tensorflow-gpu", "1.0.1", "linux-x86_64", "8.0", "5.1.10"),
    ("tensorflow-gpu", "1.4.0", "linux-x86_64", "8.0", "6.0.21"),
    ("tensorflow-gpu", "1.14.0", "linux-x86_64", "10.0", "7.3.0"),
    ("tensorflow-gpu", "1.15.5", "linux-x86_64", "10.0", "7.6.0"),
    ("tensorflow", "2.1.4", "linux-x86_64", "10.1", "7.6.4"),
    ("tensorflow", "2.4.4", "linux-x86_64", "11.0", "8.0.4"),
    ("tensorflow", "2.10.1", "linux-x86_64", "11.2", "8.1.0"),
    ("tensorflow", "2.10.1", "windows-x86_64", "11.2", "8.1.0"),
    ("tensorflow", "2.11.0", "windows-x86_64", None, None),
    ("tensorflow", "2.18.1", "windows-x86_64", None, None),
    ("tensorflow", "2.15.1", "linux-x86_64", "12.2", "8.9.4"),
    ("tensorflow", "2.19.1", "linux-x86_64", "12.5", "9.3.0"),
    ("tensorflow", "2.16.1", "linux-aarch64", None, None),
    ("torch", "1.0.0", "linux-x86_64", "9.0", UNSET),
    ("torch", "1.13.1", "linux-x86_64", "11.7", "8.5.0"),
    ("torch", "2.5.1", "linux-x86_64", "12.4", "9.1.0"),
    ("torch", "2.5.1", "windows-x86_64", None, None),
    ("torch", "2.10.0", "linux-aarch64", None, None),
    ("torch", "2.11.0", "linux-aarch64", "13.0", "9.19.0"),
    ("jax-cuda12-plugin", "0.6.0", "linux-x86_64", "12.8", "9.8.0"),
    ("jax-cuda12-plugin", "0.8.0", "linux-aarch64", "12.9", "9.8.0"),
    ("jax-cuda13-plugin", "0.7.2", "linux-x86_64", "13.0", "9.12.0"),
    ("jaxlib", "0.4.30", "linux-x86_64", None, None),
    ("onnxruntime-gpu", "1.22.0", "linux-x86_64", "12.2", "9"),
    ("nvidia-cudnn-cu12", "8.9.2.26", "linux-x86_64", "12", "8.9.2"),
    ("nvidia-cuda-runtime-cu12", "12.4.127", "linux-x86_64", "12.4", UNSET),
]


@pytest.mark.parametrize("name, version, platform, cuda, cudnn", SAMPLE)
def test_frozen_sample(name, version, platform, cuda, cudnn):
    row = releases.find(name, version, platform)
    assert row is not None
    assert (row.cuda, row.cudnn) == (cuda, cudnn)


CODES = [
    ("tensorflow-gpu", "1.12.3", "linux-x86_64", "37", "37"),
    ("tensorflow-gpu", "1.12.3", "windows-x86_64", "37", "37"),
    ("tensorflow-gpu", "1.15.0", "linux-x86_64", "35 37 52 60 61 70", "35 37 52 60 61 70"),
    ("tensorflow", "2.10.1", "linux-x86_64", "35 50 60 70 75 80", "80"),
    ("torch", "1.7.1", "linux-x86_64", "37 50 60 70 75", ""),
    ("torch", "2.0.1", "linux-x86_64", "37 50 60 70 75 80 86", ""),
    ("torch", "2.5.1", "linux-x86_64", "50 60 70 75 80 86 90", ""),
    ("torch", "2.8.0", "linux-x86_64", "70 75 80 86 90 100 120", ""),
]


@pytest.mark.parametrize("name, version, platform, sass, ptx", CODES)
def test_frozen_gpu_code(name, version, platform, sass, ptx):
    row = releases.find(name, version, platform)
    assert row.sass == tuple(f"sm_{n}" for n in sass.split())
    assert row.ptx == tuple(f"compute_{n}" for n in ptx.split())


def test_find_asks_for_everything():
    assert releases.find("tensorflow", "2.10.1", "linux-x86_64", "3.10") is not None
    assert releases.find("tensorflow", "2.10.1", "linux-x86_64", "3.12") is None
    assert releases.find("tensorflow", "2.10.1", "linux-s390x") is None
    assert releases.find("tensorflow", "0.0.1", "linux-x86_64") is None
    assert releases.find("nothing", "1", "linux-x86_64") is None
    assert releases.find("TensorFlow_GPU", "1.15.0", "linux-x86_64") is not None


@pytest.mark.parametrize(
    "tags, python, there",
    [(("3.9",), "3.9", True), (("3.9",), "3.10", False), (("3",), "3.12", True), (("3.8+",), "3.12", True),
     (("3.8+",), "3.7", False), (("3.8+",), "3.13t", False), (("3.13t",), "3.13t", True), (("2", "3"), "3.6", True)],
)  # fmt: skip
def test_pythons(tags, python, there):
    row = Release("x", "1", "any", tags, (), "f", "h", {})
    assert releases.has_python(row, python) is there


def test_the_compiled_cudnn_comes_from_the_code_alone():
    version, source = releases.compiled_cudnn("tensorflow-gpu", "1.15.0", "linux-x86_64")
    assert version == "7.6.0"
    assert source.kind == "know"
    assert "tensorflow_gpu-1.15.0-" in source.where
    assert "sha256" in source.detail
    assert releases.compiled_cudnn("torch", "2.5.1", "linux-x86_64") is None, "a pin is not the code"
    assert releases.compiled_cudnn("tensorflow", "1.15.2", "linux-x86_64") is None
