"""`gpuwhy code` from outside: what several names and numbers share, and errors in one line."""

import json

import pytest

from tests import started


def shown(*argv: str) -> str:
    done = started.gpuwhy(["code", *argv])
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_negative_numbers_are_no_options_and_hexadecimal_ones_are_numbers():
    assert "driver.stub" in shown("-1")
    assert shown("0x4") == shown("4")


def test_json():
    [match] = json.loads(shown("cudnn", "4", "--json"))["matches"]
    assert (match["api"], match["names"]) == ("cudnn", ["CUDNN_STATUS_INTERNAL_ERROR"])
    numbers = [{"code": 4, "where": "cuDNN 8 and older"}, {"code": 4000, "where": "cuDNN 9"}]
    assert match["numbers"] == numbers
    assert match["causes"][0] == "memory.oom"


@pytest.mark.parametrize(
    "argv, said",
    [
        (("CUDNN_STATUS_INTERAL_ERROR",), "did you mean CUDNN_STATUS_INTERNAL_ERROR"),
        (("xid", "99999"), "did you mean xid"),
        (("plan9", "3"), "name one of cuda, cudnn"),
        (("\x1b[31m" + "x" * 5000,), "no code"),
    ],
)
def test_unknown_in_one_line(argv, said):
    done = started.gpuwhy(["code", *argv])
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert len(done.stderr) < 400
    assert "\x1b" not in done.stderr
