"""The fixes of the driver causes fit the machine: what is offered, and what is not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gpuwhy.reason.judge import judge
from gpuwhy.rooms import CAUSES
from gpuwhy.rooms.shared.winner import off_the_path

from .facts import load

HERE = Path(__file__).parent


def shown(cause_id: str, fixture: str):
    """The shown verdict of a fixture."""
    _, facts = load(HERE.joinpath(*cause_id.split("."), f"{fixture}.json"))
    cause = next(c for c in CAUSES if c.id == cause_id)
    return next(v for v in judge((cause,), facts) if v.state == "shown")


def commands(cause_id: str, fixture: str) -> str:
    return "\n".join(f"{f.text}: {f.command}" for f in shown(cause_id, fixture).fixes)


def test_too_old_says_both_numbers_and_offers_a_build_first():
    verdict = shown("driver.too_old", "shown")
    assert verdict.findings[0].text == (
        "PyTorch 2.11.0 is built for CUDA 13.0, which needs driver 580.65.06 or newer; 550.54.15 is loaded"
    )
    assert verdict.fixes[0].command == 'pip install "torch<2.11"'
    assert verdict.fixes[0].safe
    assert "cuda-compat-13-0" in commands("driver.too_old", "shown"), "an H200 may use forward compatibility"
    assert "cuda-compat" not in commands("driver.too_old", "shown-compat-on-geforce")


def test_too_old_under_wsl_sends_to_windows():
    text = commands("driver.too_old", "shown-wsl")
    assert "Windows" in text
    assert "ubuntu-drivers" not in text


def test_too_old_is_only_likely_when_libcuda_was_not_seen():
    assert shown("driver.too_old", "shown-libcuda-unseen").confidence < shown("driver.too_old", "shown").confidence


def test_mismatch_restarts_hosts_and_cleans_images():
    assert shown("driver.library_mismatch", "shown").fixes[0].reboot
    assert "upgraded after the last boot" in shown("driver.library_mismatch", "shown").findings[0].text
    assert "purge" in commands("driver.library_mismatch", "shown-container")
    assert "reboot" not in commands("driver.library_mismatch", "shown-container")


def test_permission_tells_modes_from_device_rules():
    assert "usermod" in commands("driver.permission", "shown")
    assert "cgroup" in shown("driver.permission", "shown-cgroup").findings[0].text
    assert "--device /dev/nvidia-uvm" in commands("driver.permission", "shown-uvm-missing")
    assert "nvidia-modprobe" in commands("driver.permission", "shown-no-modprobe")


def test_missing_names_the_reason():
    verdict = shown("driver.missing", "shown-kernel-update")
    seen = " ".join(e.text for e in verdict.findings[0].evidence)
    assert "Secure Boot is on" in seen
    assert "no nvidia module for kernel 6.8.0-31-generic" in seen
    assert "dkms autoinstall" in verdict.fixes[0].command
    assert "vfio-pci holds the card" in shown("driver.missing", "shown-vfio").findings[0].text


@pytest.mark.parametrize(
    "before, after",
    [("/a:/stubs:/b", "/a:/b"), ("/stubs", ""), ("/stubs/more:/stubs", "/stubs/more"), ("/a:/b", "/a:/b")],
)
def test_the_command_takes_one_folder_out(before, after):
    script = off_the_path("/stubs").command + '; printf %s "$LD_LIBRARY_PATH"'
    done = subprocess.run(
        ["bash", "-c", script], env={"LD_LIBRARY_PATH": before, "PATH": "/usr/bin:/bin"}, capture_output=True, text=True
    )
    assert done.stdout == after


def test_older_builds_are_what_the_harvested_releases_say():
    """Each `<` in a fix is where the framework's releases turn to the next CUDA major."""
    import re

    from gpuwhy.knowledge.releases import family
    from gpuwhy.model.version import numbers
    from gpuwhy.rooms.shared.builds import BUILDS

    names = {"torch": "torch", "tensorflow": "tensorflow", "onnxruntime": "onnxruntime-gpu"}
    for framework, name in names.items():
        rows = [r for r in family(name).rows if r.platform == "linux-x86_64" and isinstance(r.cuda, str)]
        for oldest, _, wanted, _ in BUILDS[framework]:
            below = re.search(r"<([\d.]+)", wanted)[1]
            inside = [r for r in rows if numbers(r.version) < numbers(below)]
            newest = max(inside, key=lambda r: numbers(r.version))
            assert newest.cuda.split(".")[0] == oldest.split(".")[0], (framework, wanted, newest)
