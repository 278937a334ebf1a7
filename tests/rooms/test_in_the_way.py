"""What the container runtime refuses, by what it names: files of a driver in the image, a GPU that is not there."""

from __future__ import annotations

import pytest

from gpuwhy.logs import explain_text

HOOK = (
    "docker: Error response from daemon: OCI runtime create failed: error running hook #0: exit status 1, "
    "stderr: Auto-detected mode as 'legacy'\nnvidia-container-cli: "
)
EXISTS = "mount error: file creation failed: /x/merged/usr/lib/{}: file exists: unknown."


@pytest.mark.parametrize(
    "text, cause",
    [
        (EXISTS.format("libnvidia-ml.so.1"), "install.conflict"),
        (EXISTS.format("libcuda.so.1"), "install.conflict"),
        ("device error: 3: unknown device: unknown", "device.selection"),
    ],
)
def test_the_cause_is_what_the_runtime_names(text, cause):
    assert explain_text(HOOK + text).causes[0].id == cause
