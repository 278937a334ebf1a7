"""What the stages show: rows, failures, and what counts where something was seen to work."""

import pytest
from msgspec.structs import replace

from gpuwhy.api.machine import observe
from gpuwhy.api.probed import observed
from gpuwhy.facts.devices import Devices
from gpuwhy.facts.fact import Known, Source
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Effect, Finding, Weight
from gpuwhy.facts.probe import FrameworkRun, Probe, Stage
from gpuwhy.look.look import Options
from gpuwhy.machine.machine import Machine
from gpuwhy.machine.recording import Recording, recorded_machine
from gpuwhy.probe.outcome import failures, rows

from ..signs.test_hosts import NAMES, answers, described

SEEN = Source("call", "probe")
NATIVE = (
    Stage("libcuda", "failed", why="libcuda.so.1 cannot be loaded: cannot open shared object file"),
    Stage("init", "skipped", why="needs the driver library, which failed"),
    Stage("nvrtc", "passed", ms=40),
    Stage("cudnn", "failed", why="libcudnn.so.9 cannot be loaded"),
)
TORCH = (Stage("import", "passed", ms=900), Stage("devices", "failed", why="no driver"), Stage("matmul", "skipped"))
HOSTS = [name for name in NAMES if name.startswith("h200-probe")]


def probed(gpu: bool) -> Facts:
    runs = (FrameworkRun("torch", TORCH),)
    facts = Facts(probe=Probe(Known(NATIVE, SEEN), Known(runs, SEEN)))
    if gpu:
        return facts
    return replace(facts, devices=Devices(gpus=Known((), SEEN), pci=Known((), SEEN)))


def host(name: str) -> tuple[Machine, Options]:
    options, known = answers(name)
    machine = recorded_machine(Recording("gpuwhy.record/1", "0", options, known))
    asked = machine.recording.options
    return machine, Options(asked["python"], asked["folder"], probe=asked["probe"])


def test_without_a_gpu_what_needs_one_is_not_tried_and_with_one_it_has_failed():
    found = {row.name: (row.mark, row.text, row.note) for row in rows(probed(gpu=False))}
    for name in ("loading the driver library", "cuInit", "torch devices", "torch matmul"):
        assert found[name] == ("none", "", "no GPU here")
    assert found["compile a kernel (NVRTC)"] == ("ok", "40 ms", "")
    assert found["cuDNN and its parts"][0] == "bad", "a library that cannot be loaded is broken"
    assert [one.stage.name for one in failures(probed(gpu=False))] == ["cudnn"]
    with_gpu = {row.name: (row.mark, row.note) for row in rows(probed(gpu=True))}
    assert with_gpu["loading the driver library"] == ("bad", NATIVE[0].why)
    assert with_gpu["cuInit"] == ("none", NATIVE[1].why)
    assert with_gpu["torch devices"] == ("bad", "no driver")


@pytest.mark.parametrize(
    ("cause", "left"),
    [
        ("driver.too_old", {Weight.AGAINST}),  # a context was made
        ("cuda.missing_library", {Weight.STRONG}),  # no framework was seen to work
        ("device.hardware", {Weight.STRONG}),  # a small test says nothing of it
    ],
)
def test_what_was_seen_to_work_rules_a_prediction_out(cause, left):
    facts = Facts(probe=Probe(Known((Stage("context", "passed", device=0),), SEEN)))
    found = observed([Finding(cause, Weight.STRONG, "it will not work")], facts)
    assert {one.weight for one in found} == left
    passed = tuple(Stage(name, "passed") for name in ("import", "devices", "matmul", "convolution"))
    facts = Facts(probe=Probe(frameworks=Known((FrameworkRun("torch", passed),), SEEN)))
    found = observed([Finding("cudnn.mixed_libraries", Weight.STRONG, "two releases")], facts)
    assert {one.effect for one in found} == {Effect.SLOWS}, "another operation may still fail"


@pytest.mark.parametrize("name", HOSTS)
def test_host(name):
    answer = observe(*host(name)).report
    expected = described(name)["expect"]
    found = {one.id for one in answer.causes if one.confidence >= 0.5}
    assert found >= set(expected)
    assert answer.probe
    assert answer.verdict == ("found" if expected else "healthy"), answer.headline
