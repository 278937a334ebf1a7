"""What the live stages of `--probe` were answered."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.facts.fact import Undetermined, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Finding, saw
from gpuwhy.facts.probe import Stage
from gpuwhy.knowledge.gpus import FAR_BELOW, slowest
from gpuwhy.signs.case import Case, proof, rows, slows, strong
from gpuwhy.signs.driver_library import selected
from gpuwhy.signs.words import table

_DRIVER_STAGES = ("libcuda", "init", "devices", "context", "memory", "cudart")
_CODES: tuple[tuple[int, str, str], ...] = (
    (34, "driver.stub", "libcuda says of itself that it is a stub"),
    (46, "device.busy", "the GPU lets no further program in"),
    (101, "device.selection", "there is no GPU of that number"),
    (214, "device.hardware", "an ECC error that could not be corrected"),
    (220, "device.hardware", "an NVLink error that could not be corrected"),
    (802, "driver.not_ready", "the GPUs' fabric is not ready yet"),
    (803, "driver.library_mismatch", "libcuda does not fit the loaded kernel module"),
    (803, "driver.compat_misuse", "the cuda-compat library does not fit the loaded kernel module"),
    (804, "driver.compat_misuse", "forward compatibility does not work on this GPU"),
)


def answered(case: Case) -> Iterator[Finding]:
    """Each code that decides a cause."""
    stages = case.facts.probe.stages
    for stage in value_or(stages, ()):
        call = stage.failing
        if stage.name not in _DRIVER_STAGES or call is None:
            continue
        for code, cause, means in _CODES:
            if code != call.code or not _rightful(case.facts, code, cause):
                continue
            where = f" in {stage.library}" if stage.library else ""
            text = "{call} answered the probe with {code} {status}: {means}"
            values = {"call": call.name, "code": code, "status": call.status, "means": means}
            seen = saw(f"{call.name}{where} returned {code}", stages)
            found = proof(text, seen, **values)
            subject = _subject(case.facts, stage)
            yield Finding(cause, found.weight, text, found.values, (seen,), subject)


def _subject(facts: Facts, stage: Stage) -> str:
    """The GPU as NVML numbers it: CUDA's number leads there through what is visible."""
    if stage.device is None:
        return ""
    choice = value_or(facts.devices.visibility, None)
    order = choice.visible if choice else ()
    index = order[stage.device] if stage.device < len(order) else stage.device
    return f"GPU {index}"


def _rightful(facts: Facts, code: int, cause: str) -> bool:
    """803 comes from a driver library or from a compat one: the file that is loaded decides."""
    if code != 803:
        return True
    try:
        one = selected(facts.loads.libcuda)
    except Undetermined:
        return cause == "driver.library_mismatch"
    return (one is not None and one.kind == "compat") == (cause == "driver.compat_misuse")


def far_too_slow(case: Case) -> Finding | None:
    """A rate far below the slowest card of its kind, where nobody else was on the card."""
    measured = case.facts.probe.rates
    for rate in value_or(measured, ()):
        if rate.device != case.gpu.index or value_or(case.gpu.processes, ("unseen",)):
            continue
        row = slowest(value_or(case.gpu.capability, ""))
        usual = row and {"copy on the GPU": row.bytes_per_second, "float32 matmul": row.flops}
        wanted = usual.get(rate.what, 0.0) if usual else 0.0
        if row and rate.per_second < wanted * FAR_BELOW:
            reached = f"{_big(rate.per_second)}{rate.unit}"
            fact = table(f"a {row.card} does {_big(wanted)}{rate.unit}", row.source)
            text = "{what} reached {reached} with nobody else on the GPU"
            return slows(
                strong(text, saw(reached, measured), fact, what=rate.what, reached=reached)
            )
    return None


def _big(number: float) -> str:
    return f"{number / 1e12:.2g} T" if number >= 1e12 else f"{number / 1e9:.2g} G"


SIGNS = (*rows("driver.stub", "machine", answered), *rows("device.hardware", "gpu", far_too_slow))
