"""`gpuwhy code` from outside: one, several, JSON, and errors in one line."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests import started


def gpuwhy(*argv: str) -> subprocess.CompletedProcess:
    return started.gpuwhy(["code", *argv], text=False)


def shown(*argv: str) -> str:
    done = gpuwhy(*argv)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_a_number():
    text = shown("719")
    assert "cudaErrorLaunchFailure · CUDA_ERROR_LAUNCH_FAILED" in text
    assert "program.illegal_access" in text
    assert "driver_types.h" in text


def test_many_meanings_get_a_line_each():
    lines = shown("4").splitlines()
    assert lines[0].startswith("4 depends on the library")
    for api in ("cuda", "cudnn", "nccl", "nvml"):
        assert any(line.startswith(f"  {api} ") for line in lines[1:]), api
    assert len(lines) <= 30


def test_hexadecimal_reads_like_decimal():
    assert shown("0x4") == shown("4")


def test_negative_numbers_are_no_options():
    assert "driver.stub" in shown("-1")


def test_json():
    said = json.loads(shown("cudnn", "4", "--json"))
    assert said["schema"] == "gpuwhy.code/1"
    assert said["asked"] == "cudnn 4"
    [match] = said["matches"]
    assert (match["api"], match["names"]) == ("cudnn", ["CUDNN_STATUS_INTERNAL_ERROR"])
    assert match["numbers"] == [{"code": 4, "where": "cuDNN 8 and older"}, {"code": 4000, "where": "cuDNN 9"}]
    assert match["meaning"]
    assert match["causes"][0] == "memory.oom"
    assert "cuDNN" in match["source"]


@pytest.mark.parametrize(
    "argv, said",
    [
        (("CUDNN_STATUS_INTERAL_ERROR",), "did you mean CUDNN_STATUS_INTERNAL_ERROR"),
        (("xid", "99999"), "did you mean xid"),
        (("plan9", "3"), "behind one of cuda, cudnn"),
        (("\x1b[31m" + "x" * 5000,), "no code"),
    ],
)
def test_unknown_in_one_line(argv, said):
    done = gpuwhy(*argv)
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert done.stderr.count(b"\n") == 1
    assert len(done.stderr) < 400
    assert b"\x1b" not in done.stderr
