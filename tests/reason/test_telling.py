"""What is told of a text: a cause never without a reason."""

from __future__ import annotations

from gpuwhy import logs

NOTE = (
    "W tensorflow/stream_executor/platform/default/dso_loader.cc:55] Could not load dynamic library "
    "'libnvinfer.so.6'; dlerror: libnvinfer.so.6: cannot open shared object file: No such file or directory\n2.1.4\n"
)


def test_a_harmless_note_alone_accuses_nobody_and_clears_nobody_without_a_reason():
    report = logs.report_on(logs.read((NOTE.encode(),)), None)
    assert not [cause.id for cause in report.causes if cause.confidence >= 0.5]
    assert all(cause.because for cause in report.causes)
