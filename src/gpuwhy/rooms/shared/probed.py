"""What the driver itself answered the probe: codes that leave one reading, and the causes they prove."""

from __future__ import annotations

from collections.abc import Mapping

from gpuwhy.model.cause import Case, Evidence, Finding, Sign, proof, saw
from gpuwhy.model.fact import Known, Undetermined, value_or
from gpuwhy.model.facts import Call, Stage
from gpuwhy.rooms.shared.winner import winner

DRIVER_STAGES = ("libcuda", "init", "devices", "context", "memory", "cudart")
CODES: Mapping[str, Mapping[int, str]] = {
    "driver.stub": {34: "libcuda says of itself that it is a stub"},
    "driver.not_ready": {802: "the GPUs' fabric is not ready yet"},
    "driver.library_mismatch": {803: "libcuda does not fit the loaded kernel module"},
    "driver.compat_misuse": {
        803: "the cuda-compat library does not fit the loaded kernel module",
        804: "forward compatibility does not work on this GPU",
    },
    "device.busy": {46: "the GPU lets no further program in"},
    "device.selection": {101: "there is no GPU of that number"},
    "device.hardware": {
        214: "an ECC error that could not be corrected",
        220: "an NVLink error that could not be corrected",
    },
}
"""Cause → code of the driver → what that says. 2, 35, 100, 304, 999 have several readings: the facts decide those."""


def answered(cause: str) -> Sign:
    """A sign: the probe was given one of this cause's codes."""

    def probe_was_told(case: Case) -> Finding | None:
        stage, call = _first(case, CODES[cause]) or (None, None)
        if stage is None or call is None or call.code is None or not _rightful(cause, call.code, case):
            return None
        text = f"{call.name} answered the probe with {call.code} {call.status}: {CODES[cause][call.code]}"
        return proof(text, _seen(stage, call, case))

    return probe_was_told


def _first(case: Case, codes: Mapping[int, str]) -> tuple[Stage, Call] | None:
    for stage in value_or(case.facts.probe.stages, ()):
        call = stage.failing
        if stage.name in DRIVER_STAGES and call and call.code in codes and _concerns(stage, case):
            return stage, call
    return None


def _concerns(stage: Stage, case: Case) -> bool:
    """A device's cause hears of its own device; CUDA's number leads to NVML's through what is visible."""
    if case.device is None or stage.device is None:
        return True
    visible = case.facts.devices.visibility
    order = visible.value.visible if isinstance(visible, Known) else ()
    index = order[stage.device] if stage.device < len(order) else stage.device
    return index == case.device.index


def _rightful(cause: str, code: int, case: Case) -> bool:
    """803 comes from a driver library or from a compat one: the file that wins tells which."""
    if code != 803:
        return True
    try:
        one = winner(case.facts.loads.libcuda)
    except Undetermined:
        return cause == "driver.library_mismatch"
    return (one is not None and one.kind == "compat") == (cause == "driver.compat_misuse")


def _seen(stage: Stage, call: Call, case: Case) -> Evidence:
    where = f" in {stage.library}" if stage.library else ""
    return saw(f"{call.name}{where} returned {call.code}", case.facts.probe.stages)
