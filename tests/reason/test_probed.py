"""The staircase: where there is no GPU, what needs one has not failed."""

from __future__ import annotations

import msgspec
import pytest

from gpuwhy.model.fact import Known, Source
from gpuwhy.model.facts import Facts, FrameworkRun, Probe, Stage
from gpuwhy.reason.probed import failures, staircase
from gpuwhy.render.terminal import Paper, render
from tests.render.reports import healthy
from tests.rooms.facts import base

SEEN = Source("call", "probe")
NATIVE = (
    Stage("libcuda", "failed", why="libcuda.so.1 cannot be loaded: cannot open shared object file"),
    Stage("init", "skipped", why="needs the driver library, which failed"),
    Stage("nvrtc", "passed", ms=40),
    Stage("cudnn", "failed", why="libcudnn.so.9 cannot be loaded"),
)
TORCH = (Stage("import", "passed", ms=900), Stage("devices", "failed", why="no driver"), Stage("matmul", "skipped"))


def probed(gpu: bool) -> Facts:
    facts = msgspec.convert(base("healthy"), type=Facts)
    run = FrameworkRun("torch", TORCH)
    probe = msgspec.structs.replace(facts.probe, stages=Known(NATIVE, SEEN), frameworks=Known((run,), SEEN))
    if gpu:
        return msgspec.structs.replace(facts, probe=probe)
    devices = msgspec.structs.replace(facts.devices, devices=Known((), SEEN), pci=Known((), SEEN))
    return msgspec.structs.replace(facts, probe=probe, devices=devices)


def test_without_a_gpu_what_needs_one_is_not_tried():
    rows = {row.name: (row.mark, row.text, row.note) for row in staircase(probed(gpu=False))}
    for name in ("loading the driver library", "cuInit", "PyTorch devices", "PyTorch matmul"):
        assert rows[name] == ("none", "", "no GPU here")
    assert rows["compile a kernel (NVRTC)"] == ("ok", "40 ms", "")
    assert rows["cuDNN and its parts"][0] == "bad", "a library that cannot be loaded is broken, GPU or not"
    assert [one.stage.name for one in failures(probed(gpu=False))] == ["cudnn"]


def test_with_a_gpu_the_same_has_failed():
    rows = {row.name: (row.mark, row.note) for row in staircase(probed(gpu=True))}
    assert rows["loading the driver library"] == ("bad", NATIVE[0].why)
    assert rows["cuInit"] == ("none", NATIVE[1].why)
    assert rows["PyTorch devices"] == ("bad", "no driver")


@pytest.mark.parametrize("width", [80, 60])
def test_notes_are_folded_below_their_text(width):
    rows = staircase(probed(gpu=True))
    text = render(msgspec.structs.replace(healthy(), stairs=rows), Paper(width))
    lines = text[text.index("  probe\n") :].splitlines()[1 : len(rows) + 3]
    names = max(len(row.name) for row in rows)
    folded = [line for line in lines if not line[2:3].strip()]
    assert folded or width == 80
    assert all(line[: names + 6].strip() == "" and line[names + 6] != " " for line in folded)
    assert all(len(line) <= names + 6 or line[names + 6] != " " for line in lines)


def test_the_probe_is_empty_where_none_was_made():
    assert staircase(Facts(probe=Probe())) == ()
