"""`gpuwhy releases` from outside: tables, one row with its evidence, JSON, and errors in one line."""

import json

import pytest

from tests import started

LINUX = ("--platform", "linux-x86_64")
FITS = ("--works-with", "driver=535", "gpu=sm_89", "python=3.10")


def shown(*argv: str) -> str:
    done = started.gpuwhy(["releases", *argv])
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(*argv: str) -> list[dict]:
    return json.loads(shown(*argv, "--json"))["releases"]


def test_a_table_newest_last():
    lines = shown("torch", *LINUX).splitlines()
    assert lines[0].split()[:4] == ["version", "platform", "CUDA", "cuDNN"]
    versions = [line.split()[0] for line in lines[1:] if line[:3].strip()]
    assert versions.index("2.5.1") < versions.index("2.6.0")
    every = shown("torch", *LINUX, "-v")
    assert every.index(" 1.0.0 ") < every.index(" 2.5.0 ") < every.index(" 2.5.1 ")


@pytest.mark.parametrize("argv", ["", "tensorflow", "torch", "cudnn", "tensorflow 2.1", FITS[:3]])
def test_at_most_thirty_lines_of_eighty_columns(argv, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    lines = shown(*(argv.split() if isinstance(argv, str) else argv)).splitlines()
    assert len([line for line in lines if line]) <= 30
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    "argv, there, not_there",
    [
        ("torch 2.1", "2.1.2 · linux-x86_64", ""),
        ("pytorch 2.6", "torch 2.6.0 · linux-x86_64", ""),
        ("tensorflow-gpu 1.15", "1.15 is read as 1.15.5, the newest 1.15.x; there is also", ""),
        ("tensorflow --works-with cuda=10.1 cudnn=7.6.5", "2.3.4", "1.15.0 2.4.0"),
        ("torch --works-with driver=535 gpu=sm_89 python=3.10", "2.10.0", "2.11.0 1.12.1"),
        ("torch 2.5.1 --works-with python=3.6", "none fits", ""),
        ("tensorflow 2.10.1 -v", "libtensorflow_framework.so.2", ""),
    ],
)
def test_what_is_named_and_what_fits(argv, there, not_there):
    text = " ".join(shown(*argv.split(), *LINUX).split())
    assert there in text
    assert not set(not_there.split()) & set(text.split())


def test_a_filter_without_a_name_keeps_the_newest_of_each_project():
    found = {row["name"]: row for row in rows(*FITS)}
    assert found["torch"]["version"] == "2.10.0", "2.11 is built for CUDA 13"
    assert found["tensorflow"]["version"] == "2.21.0", "2.22.0rc0 is no release yet"
    assert "jax-cuda13-plugin" not in found
    assert " torch " in shown(*FITS)
    windows = shown("--platform", "windows-x86_64")
    assert (" windows-x86_64 " in windows, " linux" in windows) == (True, False)


def test_json_is_the_contract():
    [row] = rows("tensorflow-gpu", "1.15.0", *LINUX)
    assert (row["name"], row["version"], row["platform"]) == ("tensorflow-gpu", "1.15.0", LINUX[1])
    assert (row["cuda"], row["cudnn"], row["requires"]) == ("10.0", "7.6.0", {})
    assert (row["uploaded"], "libcudnn.so.7" in row["opens"]) == ("2019-10-16", True)
    assert set(row["evidence"]["cudnn"]) >= {"file", "member", "sha256", "how"}


def test_json_of_a_build_without_cuda_and_of_what_nobody_could_read():
    [row] = rows("torch", "2.5.1", "--platform", "windows-x86_64")
    assert (row["cuda"], "unknown" in row) == (None, False)
    [row] = rows("flash-attn", "2.5.0")
    assert "cuda" not in row, "null would say: a build without CUDA"
    assert (row["cudnn"], row["sass"], row["opens"]) == (None, None, None)
    assert set(row["unknown"]) == {"cuda", "cudnn", "sass", "ptx", "opens"}


@pytest.mark.parametrize(
    "argv, said",
    [
        ("tensroflow", "did you mean tensorflow"),
        ("torch 9.9", "torch 9.9 is not known"),
        ("torch 2.5.1 --platform plan9", "there is linux-aarch64"),
        ("torch --works-with gpu=x", "expected driver=535"),
        ("--works-with driver=535 torch", "a package's name stands before --works-with"),
        ("--platform plan9", "nothing that fits is known for plan9"),
    ],
)
def test_errors_in_one_line(argv, said):
    done = started.gpuwhy(["releases", *argv.split()])
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
