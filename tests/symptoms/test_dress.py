"""Marks before each line and broken lines: found by their shape, and only where they are none of the program's own."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from lab.restated import first, same
from lab.restating import KINDS, PREFIXES, STYLES

from gpuwhy.logs import explain_text
from gpuwhy.symptoms.dress import even, mark_of, rejoined
from gpuwhy.symptoms.reader import read_text

TRACE = """Traceback (most recent call last):
  File "/home/mara/proj/train.py", line 12, in <module>
    model.cuda()
RuntimeError: CUDA error: no kernel image is available for execution on the device"""
NOTES = """2026-11-15 06:39:27.024547: I tensorflow/core/util/util.cc:169] oneDNN custom operations are on.
2026-11-15 06:39:27.036153: W tensorflow/stream_executor/dso_loader.cc:64] Could not load dynamic library 'libcudart.so'
2026-11-15 06:39:27.036264: I tensorflow/stream_executor/cuda/cudart_stub.cc:29] Ignore above cudart dlerror"""
LOGS = [
    row["log"]
    for row in map(json.loads, (Path(__file__).parent / "captured/h200.jsonl").read_text(encoding="utf-8").splitlines())
]


@pytest.mark.parametrize("name", ["basic-config", "foreman", "comment", "pdsh", "cloud", "numbered-bar"])
def test_a_mark_is_found_and_lines_keep_their_numbers(name):
    text = PREFIXES[name](TRACE, random.Random(1))
    mark = mark_of(text.encode())
    assert mark is not None
    assert mark.sub(b"", text.encode()).decode() == TRACE
    assert read_text(text).ending.line == 4


@pytest.mark.parametrize("text", [TRACE, NOTES, "RuntimeError: a\nRuntimeError: b\nRuntimeError: c", "one line"])
def test_what_a_program_prints_itself_is_no_mark(text):
    assert mark_of(text.encode()) is None


def test_broken_lines_are_made_whole_and_the_rest_keeps_its_number():
    text = STYLES["wrap-80"](NOTES + "\n" + TRACE, random.Random(1))
    whole = next(iter(rejoined(text)))
    assert whole.sure
    assert [line for line in whole.text.split("\n") if line] == (NOTES + "\n" + TRACE).split("\n")
    assert whole.text.count("\n") == text.count("\n")
    assert not [one for one in rejoined(NOTES + "\n" + TRACE) if one.sure]


def test_answers_survive_harmless_changes():
    draw = random.Random(14)
    kept = n = 0
    for changes in KINDS.values():
        for name, change in changes.items():
            text = draw.choice(LOGS)
            changed = change(text, draw)
            before = first(text)
            if changed != text and before[0]:
                n += 1
                stays = same(before, first(changed))
                kept += stays
                assert stays or name in ("torchrun", "accelerate", "exc-only", "java"), (name, changed)
    assert n > 60
    assert kept / n > 0.97


@pytest.mark.parametrize(
    "text",
    [
        f"skipped: CUDA out of memory. Tried to allocate 3.91 GiB. GPU 0 has a total capacity of 23.68 GiB.\n{rest}"
        for rest in ("Trial 1 failed\nTrial 2 failed", "step 1 loss 0.5\nstep 2 loss 0.4", "False\n[]", "12/400 ok")
    ],
)
def test_a_line_that_tells_something_of_its_own_is_no_rest(text):
    assert not list(rejoined(text))


def test_a_listing_is_not_read_as_one_wrapped_line():
    listing = "julia> CUDA.versioninfo()\nCUDA runtime 12.5, artifact installation\nCUDA driver 12.5\n1 device\n"
    assert even("one line of about this length\nand another that is as long\nend\n")
    assert not even(listing)
    assert not read_text(listing).errors


ENDED = """Traceback (most recent call last):
  File "/home/mara/proj/train.py", line 12, in <module>
    step(model)
  File "/home/mara/proj/train.py", line 4, in step
    raise Refused(f'{call} returned {code}')
Refused: cufftExecC2C returned 1"""
KEPT = {
    "summary": lambda text: "\n".join(f"summary | {line}" for line in text.splitlines()),
    "step": lambda text: "\n".join(f"job 88 step {at}: {line}" for at, line in enumerate(text.splitlines())),
    "mail": lambda text: "To: oncall\n\n" + "\n".join(f"> {line}" for line in text.splitlines()),
    "list": lambda text: json.dumps({"error": {"stack_trace": text.splitlines()}, "service": {"name": "x"}}, indent=1),
    "list in one line": lambda text: json.dumps({"level": "error", "stack": text.splitlines(), "run": 7}),
    "one text": lambda text: json.dumps({"level": "error", "error": {"stack": text}}, indent=2),
    "repr": lambda text: f"worker said: {text + chr(10)!r}",
    "bytes": lambda text: f"stderr={text.encode()!r}",
    "pairs": lambda text: f"level=error msg=failed stack={json.dumps(text)} run=7",
    "syslog": lambda text: "Nov 16 04:12:07 gpu-07 trainer[22]: " + "#012".join(text.splitlines()),
}


@pytest.mark.parametrize("name", KEPT)
def test_a_traceback_is_read_out_of_what_keeps_it(name):
    ending = read_text(f"torch works\nstage 1 begins\n{KEPT[name](ENDED)}\n").ending
    assert (ending.type, ending.message) == ("Refused", "cufftExecC2C returned 1")
    assert [frame.line for frame in ending.stack] == [12, 4]


def test_lines_that_only_look_like_a_mark_stay():
    text = 'note: Traceback (most recent call last):\nother:   File "a.py", line 1, in f\nValueError: x'
    assert read_text(text).ending.type == "ValueError"


@pytest.mark.parametrize(
    ("code", "said", "whole"),
    [
        ("raise Refused(f'{call} returned {code}')", "Refused: cufftExecC2C returned 1", True),
        ("raise RuntimeError('no answer') from None", "RuntimeError: no answer", True),
        ("print(max(rows))", "ValueError: max() iterable argument is empty", True),
        ("table['x']", "KeyError: 'x'", True),
        ("raise RuntimeError(f'failed: {error}')", "RuntimeError: failed: CUDA error: unknown error", False),
        ("y = torch.mm(a, b)", "RuntimeError: CUDA error: unknown error", False),
    ],
)
def test_what_was_printed_before_and_written_later_is_no_part_of_a_message(code, said, whole):
    frame = 'Traceback (most recent call last):\n  File "/home/mara/a.py", line 2, in <module>\n'
    text = f"{frame}    {code}\n{said}\nsearched for the GPU timeout\non cuda:0\n"
    assert "cuda:0" not in read_text(text).ending.message
    assert ("timeout" in read_text(text).ending.message) is not whole


def test_what_compose_says_itself_hides_no_service():
    lines = "".join(f"trainer-1  |   line {n} of it\n" for n in range(3))
    text = f"{lines}trainer-1  | ERROR: Unexpected bus error encountered in worker. insufficient shared memory (shm).\n"
    for end in ("", "trainer-1 exited with code 1\n"):
        reading = read_text(text + end)
        assert reading.service == "trainer-1"
        assert explain_text(text + end).causes[0].fixes[0].command.startswith("shm_size:")
