"""`gpuwhy releases` from outside: a table, one row with its evidence, JSON, and errors in one line."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests import started


def gpuwhy(*argv: str) -> subprocess.CompletedProcess:
    return started.gpuwhy(["releases", *argv], text=False)


def shown(*argv: str) -> str:
    done = gpuwhy(*argv)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_names():
    assert "tensorflow-gpu" in shown()


def test_a_table_newest_last():
    lines = shown("torch", "--platform", "linux-x86_64").splitlines()
    assert lines[0].split()[:4] == ["version", "platform", "CUDA", "cuDNN"]
    assert len(lines) <= 30
    versions = [line.split()[0] for line in lines[1:] if line[:3].strip()]
    assert versions.index("2.5.1") < versions.index("2.6.0")
    every = shown("torch", "--platform", "linux-x86_64", "-v")
    assert every.index(" 1.0.0 ") < every.index(" 2.5.0 ") < every.index(" 2.5.1 ")


@pytest.mark.parametrize(
    "argv",
    [
        (),
        ("tensorflow",),
        ("cudnn",),
        ("tensorflow", "2.1"),
        ("--works-with", "driver=535", "gpu=sm_89"),
    ],
)
def test_at_most_thirty_lines(argv):
    assert len([line for line in shown(*argv).splitlines() if line]) <= 30


def test_what_people_write_is_understood():
    for argv, said in [
        (
            ("tensorflow-gpu", "1.15"),
            "tensorflow-gpu 1.15 is read as 1.15.5, the newest 1.15.x; there is also 1.15.0",
        ),
        (
            ("tensorflow", "1.15"),
            "tensorflow 1.15.5 is built without CUDA; tensorflow-gpu has it, with CUDA 10.0",
        ),
        (("torch==2.5",), "torch 2.5 is read as 2.5.0"),
        (("pytorch", "2.6"), "torch 2.6.0 · linux-x86_64"),
        (("cudnn", "8.9"), "nvidia-cudnn-cu12 8.9.7.29"),
        (("torch>=2.0,<2.2",), "2.1.2 linux-x86_64"),
        (("tensorflow", "--works-with", "cuda=10.1", "cudnn=7.6.5"), "2.3.4 "),
    ]:
        text = " ".join(shown(*argv, "--platform", "linux-x86_64").split())
        assert " ".join(said.split()) in text, (argv, text[-400:])
    fits = shown(
        "tensorflow", "--works-with", "cuda=10.1", "cudnn=7.6.5", "--platform", "linux-x86_64"
    )
    assert not {"1.15.0", "2.4.0"} & set(fits.split())


def test_a_table_for_a_machine():
    text = shown(
        "torch",
        "--platform",
        "linux-x86_64",
        "--works-with",
        "driver=535",
        "gpu=sm_89",
        "python=3.10",
    )
    versions = text.split()
    assert "2.10.0" in versions
    assert "2.11.0" not in versions, "CUDA 13 needs a newer driver"
    assert "1.12.1" not in versions, "no code for sm_89"


def test_a_table_fits_eighty_columns(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    for name in ("torch", "nvidia-cudnn-cu12"):
        assert max(map(len, shown(name).splitlines())) <= 80


def test_a_filter_without_a_name_keeps_the_newest_of_each_project():
    argv = ("--works-with", "driver=535", "gpu=sm_89", "python=3.10")
    rows = {row["name"]: row for row in json.loads(shown(*argv, "--json"))["releases"]}
    assert rows["torch"]["version"] == "2.10.0", "2.11 is built for CUDA 13"
    assert rows["tensorflow"]["version"] == "2.21.0", "2.22.0rc0 is no release yet"
    assert "jax-cuda13-plugin" not in rows
    assert " torch " in shown(*argv)


def test_a_platform_without_a_name():
    assert " windows-x86_64 " in shown("--platform", "windows-x86_64")
    assert " linux" not in shown("--platform", "windows-x86_64")


def test_one_release_says_which_file_tells():
    text = shown("tensorflow", "2.10.1", "--platform", "linux-x86_64", "-v")
    assert "8.1.0" in text
    assert "libtensorflow_framework.so.2" in text
    assert "20f1d579b849afaea7b10f7693dc43b1d07321d279a016f01e2ddfe971d0d8af" in text


def test_json_is_the_contract():
    said = json.loads(shown("tensorflow-gpu", "1.15.0", "--platform", "linux-x86_64", "--json"))
    assert said["schema"] == "gpuwhy.releases/1"
    [row] = said["releases"]
    assert (row["name"], row["version"], row["platform"]) == (
        "tensorflow-gpu",
        "1.15.0",
        "linux-x86_64",
    )
    assert (row["cuda"], row["cudnn"]) == ("10.0", "7.6.0")
    assert "libcudnn.so.7" in row["opens"]
    assert row["uploaded"] == "2019-10-16"
    assert set(row["evidence"]["cudnn"]) >= {"file", "member", "sha256", "how"}
    assert row["requires"] == {}


def test_json_of_a_build_without_cuda():
    [row] = json.loads(shown("torch", "2.5.1", "--platform", "windows-x86_64", "--json"))[
        "releases"
    ]
    assert row["cuda"] is None
    assert "unknown" not in row


def test_json_of_what_nobody_could_read():
    [row] = json.loads(shown("flash-attn", "2.5.0", "--json"))["releases"]
    assert "cuda" not in row, "null would say: a build without CUDA"
    assert (row["cudnn"], row["sass"], row["opens"]) == (None, None, None)
    assert set(row["unknown"]) == {"cuda", "cudnn", "sass", "ptx", "opens"}


def test_errors_in_one_line():
    for argv, said in [
        (("tensroflow",), "did you mean tensorflow"),
        (("torch", "9.9"), "torch 9.9 is not known"),
        (("torch", "2.5.1", "--platform", "plan9"), "there is linux-aarch64"),
        (("torch", "--works-with", "gpu=x"), "expected driver=535"),
        (("--works-with", "gpu=x"), "expected driver=535"),
        (("--works-with", "driver=535", "torch"), "a package's name stands before --works-with"),
        (("--platform", "plan9"), "nothing that fits is known for plan9"),
    ]:
        done = gpuwhy(*argv)
        assert done.returncode == 2
        assert said in done.stderr.decode()
        assert done.stderr.count(b"\n") == 1


def test_nothing_fits():
    assert "none fits" in shown(
        "torch", "2.5.1", "--platform", "linux-x86_64", "--works-with", "python=3.6"
    )
