"""What is told of a text: a cause never without a reason."""

from __future__ import annotations

import pytest

from gpuwhy import logs
from gpuwhy.reason.telling import filled

NOTE = (
    "W tensorflow/stream_executor/platform/default/dso_loader.cc:55] Could not load dynamic library "
    "'libnvinfer.so.6'; dlerror: libnvinfer.so.6: cannot open shared object file: No such file or directory\n2.1.4\n"
)


def test_a_harmless_note_alone_accuses_nobody_and_clears_nobody_without_a_reason():
    report = logs.report_on(logs.read((NOTE.encode(),)), None)
    assert not [cause.id for cause in report.causes if cause.confidence >= 0.5]
    assert all(cause.because for cause in report.causes)


@pytest.mark.parametrize("number, said", [("8904", "8.9.4 (8904)"), ("90100", "9.1.0 (90100)"), ("7.6.5", "7.6.5")])
def test_a_number_of_cudnn_is_told_as_people_write_it(number, said):
    assert filled("{v:cudnn}", {"v": number}) == said


@pytest.mark.parametrize("name, said", [("TF_XLA_FLAGS", "belong in XLA_FLAGS"), ("XLA_FLAGS", "does not accept")])
def test_a_flag_of_xla_is_judged_and_unset_in_the_variable_that_holds_it(name, said):
    cause = logs.explain_text(f"F0000 Unknown flag in {name}: --xla_gpu_foo=2\n").causes[0]
    assert said in cause.because[0].text
    unsets = [fix.command.split("\n")[0] for fix in cause.fixes if "unset" in fix.command]
    assert unsets == [f"unset {name}"]
