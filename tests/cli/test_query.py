"""`gpuwhy check --query`: plain values of recorded machines, a line each."""

import pytest

from gpuwhy.api.machine import Seen, observe
from gpuwhy.cli import UsageError
from gpuwhy.cli.check import queried
from gpuwhy.look.look import Options
from gpuwhy.machine.recording import Recording, recorded_machine
from tests.signs.test_hosts import answers


def seen(host: str) -> Seen:
    machine = recorded_machine(Recording("gpuwhy.record/1", "0", *answers(host)))
    asked = machine.recording.options
    return observe(machine, Options(asked.get("python", ""), asked.get("folder", "")))


def test_values_of_a_gpu_machine_in_the_order_asked():
    asked = ["driver", "driver_cuda", "gpus", "gpu", "capability", "torch", "torch.cuda", "tensorflow", "status"]
    lines = queried(seen("h200-wheels"), asked).splitlines()
    values = dict(zip(asked, lines, strict=True))
    assert values["gpus"] == "1"
    assert values["gpu"].startswith("NVIDIA H200")
    assert values["capability"] == "9.0"
    assert values["driver"].count(".") == 2
    assert values["torch"].startswith("2.")
    assert values["torch.cuda"].count(".") == 1
    assert values["tensorflow"] == ""


def test_what_is_not_there_is_an_empty_line_and_what_is_not_known_a_question_mark():
    lines = queried(seen("h200-no-module"), ["driver", "gpus", "status", "cause"]).splitlines()
    assert lines[0] in ("", "?")
    assert lines[2] == "broken"
    assert lines[3].startswith("driver.")


@pytest.mark.parametrize("name", ["speed", "torch.speed", ""])
def test_a_name_that_nobody_knows_is_answered_with_the_names(name):
    with pytest.raises(UsageError, match="driver_cuda"):
        queried(seen("h200-wheels"), [name])
