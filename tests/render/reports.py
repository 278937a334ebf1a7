"""Reports for the renderers' tests: a broken machine, a healthy one, one that nobody looked at, and an awkward one."""

from __future__ import annotations

from pathlib import Path

import msgspec

from gpuwhy.model.cause import Finding, Fix, know, saw
from gpuwhy.model.fact import Source
from gpuwhy.model.facts import Facts
from gpuwhy.model.report import Layer, Open, Report, RuledOut, Shown
from gpuwhy.reason.report import report
from gpuwhy.rooms import CAUSES

from ..rooms.facts import base, load

FIXTURES = Path(__file__).parent.parent / "rooms"


def broken() -> Report:
    return report(CAUSES, load(FIXTURES / "driver" / "missing" / "shown.json")[1], 0.1234)


def healthy() -> Report:
    return report(CAUSES, msgspec.convert(base("healthy"), type=Facts), 0.1)


def blind() -> Report:
    return report(CAUSES, Facts(), 0.0)


def awkward() -> Report:
    """Long sentences, unbreakable paths, several subjects, control characters in a file name."""
    path = "~/" + "a-very-long-folder-name/" * 6 + "libcudnn.so.9"
    words = "torch 2.9.0 is built for CUDA 13.0, which needs driver 580.65.06 or newer; 550.54.15 is loaded " * 3
    finding = Finding(
        "proof",
        words.strip(),
        (
            saw("evil \x1b[2J\x07 name\rhere", Source("file", path)),
            know("CUDA 13.0 needs 580.65.06", Source("know", "r")),
        ),
    )
    fix = Fix(
        "Install a newer driver, " * 6 + "then look again", f"export LD_LIBRARY_PATH={path}\necho done", root=True
    )
    cause = Shown(
        id="driver.too_old",
        title="the driver is older than the CUDA runtime needs",
        confidence=0.85,
        subject=", ".join(f"Framework{n} 2.{n}.0" for n in range(8)),
        because=(finding,),
        explains=("cuda.version_mismatch", "framework.gpu_unsupported"),
        fixes=(fix, Fix("Reboot", reboot=True)),
        stops=True,
    )
    return Report(
        status="broken",
        headline=f"{cause.subject} will not use the GPU",
        causes=(cause,),
        ruled_out=tuple(RuledOut(f"layer.name_{n}", "an observation that excludes it, with numbers") for n in range(9)),
        undetermined=(Open("device.hardware", "the kernel log could not be read", "sudo dmesg | gpuwhy explain"),),
        crashed=(Open("env.path", "KeyError: 'x' (path.py:7)", "please report this"),),
        layers=(
            Layer("GPU", "NVIDIA H200 · sm_90 · 139.3 of 139.8 GiB free", "ok"),
            Layer("driver", "550.54.15 · CUDA 12.4", "bad", "driver.too_old"),
            Layer(
                "CUDA",
                ", ".join(f"12.{n} (wheel of some environment)" for n in range(5)),
                "warn",
                "cuda.mixed_libraries",
            ),
            Layer("cuDNN", "not found", "none"),
            Layer("ONNX Runtime", "1.31.1 · built for CUDA 13", "unknown"),
        ),
        unseen=tuple(f"surroundings.field_{n}: /proc/x: permission denied (run it again as root)" for n in range(6)),
        facts={"driver": {"module_version": {"state": "unknown", "reason": "not observed"}}},
        gpuwhy="0.1.0",
        took=0.2,
    )


ALL = {"broken": broken, "healthy": healthy, "blind": blind, "awkward": awkward}
