"""`gpuwhy explain` as a program: answers, exit codes, JSON, batch, follow."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from gpuwhy.api.text import explain as explain_text
from tests import started

ERROR = "RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
SCHEMA = Path(__file__).parents[2] / "docs" / "report.schema.json"


def gpuwhy(*argv: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
    return started.gpuwhy(["explain", *argv], given=text)


def test_a_log_on_standard_input():
    done = gpuwhy("--log-only", text="starting\n" + ERROR)
    assert done.returncode == 1, done.stderr
    assert "framework.gpu_unsupported" in done.stdout
    assert "line 2" in done.stdout


def test_a_file_and_json(tmp_path):
    jsonschema = pytest.importorskip("jsonschema")
    log = tmp_path / "train.log"
    log.write_text(ERROR)
    done = gpuwhy(str(log), "--log-only", "--json")
    report = json.loads(done.stdout)
    jsonschema.validate(report, json.loads(SCHEMA.read_text()))
    assert report["causes"][0]["id"] == "framework.gpu_unsupported"
    assert report["causes"][0]["because"][0]["told"][0]["source"] == "train.log (line 1)"
    assert report["symptoms"][0]["id"] == "cuda.no_binary_for_gpu"


def test_nothing_wrong_is_0():
    done = gpuwhy("--log-only", text="epoch 1 loss 0.5\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert "No known failure" in done.stdout


@pytest.mark.parametrize(
    "argv, says",
    [
        (["/nowhere.log"], "cannot read /nowhere.log"),
        (["/"], "it is a folder"),
        (["--answer", "x=y", "-"], "the answers are"),
    ],
)
def test_bad_usage_is_2(argv, says):
    done = gpuwhy("--log-only", *argv, text=ERROR)
    assert done.returncode == 2
    assert says in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_why_tells_every_cause_in_full():
    text = "OSError: libcudnn.so.8: cannot open shared object file: No such file or directory\n"
    short, long = gpuwhy("--log-only", text=text).stdout, gpuwhy("--log-only", "--why", text=text).stdout
    assert "test   " in short
    assert short.count("cause  ") == 1
    assert long.count("cause  ") >= 3
    assert "found in the text" in long


def test_an_answer_settles():
    text = "OSError: libcudnn.so.8: cannot open shared object file: No such file or directory\n"
    done = gpuwhy("--log-only", "--answer", "library=there", text=text)
    assert "cause  env.path" in done.stdout


@pytest.mark.parametrize("fed", [b"", b"\x7fELF\x02\x01\x01" + bytes(200) + b"CUDA out of memory\n"])
def test_no_text_is_2(tmp_path, fed):
    log = tmp_path / "odd.log"
    log.write_bytes(fed)
    for argv in ([], ["--answer", "library=there"]):
        done = gpuwhy(str(log), "--log-only", *argv)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"gpuwhy: nothing to explain: no text in {log}\n"


def test_the_next_command_repeats_this_one(tmp_path):
    log = tmp_path / "my train.log"
    log.write_text("OSError: libcudnn.so.8: cannot open shared object file: No such file or directory\n")
    done = gpuwhy(str(log), "--log-only", "--python", sys.executable)
    assert f"gpuwhy explain '{log}' --log-only --python {sys.executable} --answer library=there\n" in done.stdout


def test_the_next_command_after_a_pipe_says_that_the_log_comes_again():
    text = "OSError: libcudnn.so.8: cannot open shared object file: No such file or directory\n"
    for argv in ([], ["-"]):
        said = gpuwhy(*argv, "--log-only", text=text).stdout
        assert f"… | {' '.join(['gpuwhy explain', *argv])} --log-only --answer library=there\n" in said


def test_an_error_given_as_words():
    done = gpuwhy(ERROR.strip(), "--log-only")
    assert done.returncode == 1, done.stderr
    assert "framework.gpu_unsupported" in done.stdout
    assert "[input (line 1)]" in done.stdout.replace("\n          ", " ")
    following = gpuwhy(ERROR.strip(), "--log-only", "--follow")
    assert following.returncode == 1, "there is nothing to wait for"


def test_words_that_may_be_a_file_are_a_file():
    for name in ("my cuda error run.log", "/nowhere/out of memory.txt", "train", "logs/train"):
        done = gpuwhy(name, "--log-only")
        assert done.returncode == 2
        assert f"cannot read {name}: No such file or directory; what does it say? gpuwhy explain" in done.stderr


def test_words_are_explained_with_and_without_quotes():
    for words in (
        ["CUDA out of memory"],
        ["RuntimeError:", "CUDA", "error:", "out", "of", "memory"],
        ["CUDNN_STATUS_ALLOC_FAILED"],
    ):
        done = gpuwhy(*words, "--log-only")
        assert done.returncode in (1, 4)
        assert "memory" in done.stdout.splitlines()[0]


def test_a_cause_that_is_only_possible_has_its_own_exit_code():
    assert gpuwhy("CUDNN_STATUS_INTERNAL_ERROR", "--log-only").returncode == 4
    assert (
        gpuwhy(
            "--log-only", text="RuntimeError: CUDA error: no kernel image is available for execution on the device\n"
        ).returncode
        == 1
    )


def test_a_plain_python_error_is_no_fault_of_the_gpu_stack():
    done = gpuwhy("--log-only", text="TypeError: unsupported operand type(s) for +: 'int' and 'str'\n")
    assert done.returncode == 1
    assert done.stdout.startswith("! Not a GPU problem: TypeError: unsupported operand")
    assert "numpy" not in done.stdout


def test_a_good_log_has_no_cause_block():
    done = gpuwhy("--log-only", text="Unable to register cuDNN factory: Attempting to register factory\n")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 1


def test_no_two_blank_lines():
    done = gpuwhy(text=ERROR)
    assert "\n\n\n" not in done.stdout


def test_batch():
    fed = "".join(json.dumps({"id": n, "log": log}) + "\n" for n, log in enumerate([ERROR, "fine"]))
    done = gpuwhy("--log-only", "--batch", "-", text=fed)
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert said[0]["causes"][0]["id"] == "framework.gpu_unsupported"
    assert said[1] == {"id": 1, "causes": []}
    assert done.returncode == 1


def test_batch_answers_every_line_also_a_bad_one():
    fed = [
        "no json",
        json.dumps({"id": 1, "log": ERROR}),
        "[1]",
        '{"id": 3, "lgo": "x"}',
        "",
        '{"id": 5, "log": "fine"}',
    ]
    done = gpuwhy("--batch", "-", text="\n".join(fed))
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["id"] for one in said] == [None, 1, None, 3, 5]
    assert [one.get("error", "")[:7] for one in said] == ["line 1:", "", "line 3:", "line 4:", ""]
    assert said[1]["causes"]
    assert done.returncode == 2
    assert "line 1: no JSON" in done.stderr
    assert "(and 2 more lines)" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@contextlib.contextmanager
def following(log: Path, *argv: str) -> Iterator[Callable[[], str]]:
    """`--follow` on a file, as a function that waits for its next line; killed at the end, and after a minute."""
    command = [sys.executable, "-m", "gpuwhy", "explain", "--log-only", "--follow", str(log), *argv]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        late = threading.Timer(60, child.kill)
        late.start()
        try:
            assert child.stdout is not None
            yield child.stdout.readline
        finally:
            late.cancel()
            child.kill()


def test_follow_speaks_of_what_is_there_already(tmp_path):
    log = tmp_path / "old.log"
    log.write_text("epoch 1\n" + ERROR)
    with following(log) as line:
        assert "no code for this GPU" in line()


def test_follow_reads_a_misspelt_line_as_explain_does(tmp_path):
    log = tmp_path / "typed.log"
    log.write_text("cuda out of memry")
    said = gpuwhy(str(log), "--log-only").stdout.splitlines(keepends=True)[0]
    assert "memory" in said
    with following(log) as line:
        assert line() == said


@pytest.mark.parametrize("anew", ["grown", "cut", "replaced"])
def test_follow_speaks_when_the_file_grows(tmp_path, anew):
    """Each later line is written only after the report on the earlier one was read: no sleep decides."""
    log = tmp_path / "grows.log"
    log.write_text("epoch 1\n" + ERROR + "more\n" * 9)
    with following(log, "--json") as line:
        assert "no code for this GPU" in headline(line)
        later = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n"
        if anew == "replaced":
            (tmp_path / "next.log").write_text(later)
            os.replace(tmp_path / "next.log", log)
        else:
            with log.open("a" if anew == "grown" else "w") as file:
                file.write(later)
        assert headline(line)


def headline(line: Callable[[], str]) -> str:
    """The headline of the next report in JSON; empty where the program ended."""
    whole = ""
    while not whole.endswith("\n}\n") and (more := line()):
        whole += more
    return json.loads(whole)["headline"] if whole else ""


def test_control_characters_do_not_reach_the_terminal():
    done = gpuwhy("--log-only", text="\x1b]0;title\x07" + ERROR.replace("RuntimeError", "Runtime\x07Error"))
    assert "\x07" not in done.stdout
    assert "\x1b" not in done.stdout


def test_in_python():
    assert explain_text(ERROR).causes[0].id == "framework.gpu_unsupported"
    import gpuwhy

    assert gpuwhy.explain(ERROR, log_only=True).causes[0].id == "framework.gpu_unsupported"
