"""device.hardware: the GPU, its memory, its link or its power failed."""

from __future__ import annotations

from gpuwhy.knowledge.rates import FAR_BELOW, slowest
from gpuwhy.knowledge.xid import meaning
from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Evidence, Finding, Fix, against, know, mild, proof, saw, strong, weak
from gpuwhy.model.expect import gpu_present, on_other_gpu
from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.facts import Ecc, KernelLine
from gpuwhy.rooms.shared.probed import answered

DAY = 86400.0
LOST = ("NVML_ERROR_GPU_IS_LOST", "NVML_ERROR_RESET_REQUIRED")
HOT = ("hw_thermal", "hw_power_brake")
FALLEN = 79


def lost(case: Case) -> Finding | None:
    """A GPU that NVML lists but cannot reach."""
    devices = case.facts.devices.devices.need() or ()
    errors = [(device, said) for device in devices if (said := device.error.need())]
    gone = [(device, said) for device, said in errors if said in LOST]
    if not errors:
        return None
    told = gone or errors
    text = ", ".join(f"GPU {one.index} ({one.pci or 'address unknown'}) answers {said}" for one, said in told)
    return (proof if gone else weak)(text, *(saw(said, one.error) for one, said in told))


def memory_errors(case: Case) -> Finding | None:
    """Errors that ECC could not correct; retired pages alone are repaired and no fault."""
    devices = case.facts.devices.devices.need() or ()
    bad = [(one, ecc) for one in devices if (ecc := one.ecc.need()) and _says(ecc)]
    if not bad:
        return None
    text = ", ".join(f"GPU {one.index}: {_says(ecc)}" for one, ecc in bad)
    say = strong if any(ecc.uncorrected for _, ecc in bad) else weak
    if any(ecc.remap_failed for _, ecc in bad):
        say = proof
    return say(text, *(saw(_says(ecc), one.ecc) for one, ecc in bad))


def _says(ecc: Ecc) -> str:
    if ecc.remap_failed:
        return "a bad memory row could not be replaced"
    if ecc.uncorrected:
        return f"{ecc.uncorrected} memory errors since boot that ECC could not correct"
    return "a bad memory row waits for a reset to be replaced" if ecc.pending else ""


def xid(case: Case) -> Finding | None:
    """The latest Xid of a failing GPU in the kernel log; those of failing programs do not count."""
    log = case.facts.surroundings.kernel_log
    faults = [line for line in log.need() or () if _fault(line) and not on_other_gpu(case.facts, line)]
    if not faults:
        return None
    worst = faults[-1]
    row = meaning(worst.xid or FALLEN)
    text = f"the kernel log has {_told(worst)}{_ago(case, worst)}: {row.text if row else worst.text}"
    known: tuple[Evidence, ...] = (know(f"Xid {row.number}: {row.text}", row.source),) if row else ()
    say = weak if _settled(case, worst) else strong
    return say(text, saw(worst.text, log), *known)


def _told(line: KernelLine) -> str:
    number = f"Xid {line.xid}" if line.xid else "an NVRM line"
    return f"{number} from the GPU at {line.pci}" if line.pci else number


def _fault(line: KernelLine) -> bool:
    row = meaning(line.xid) if line.xid is not None else None
    return (row is not None and row.hardware) or line.event == "fallen"


def _settled(case: Case, line: KernelLine) -> bool:
    """The GPU went on by itself, or the line is older than a day."""
    row = meaning(line.xid) if line.xid is not None else None
    uptime = case.facts.surroundings.uptime
    return (row is not None and row.recovered) or (isinstance(uptime, Known) and uptime.value - line.seconds > DAY)


def _ago(case: Case, line: KernelLine) -> str:
    uptime = case.facts.surroundings.uptime
    if not isinstance(uptime, Known) or uptime.value < line.seconds:
        return ""
    minutes = (uptime.value - line.seconds) / 60
    return f", {minutes:.0f} minutes ago" if minutes < 120 else f", {minutes / 60:.0f} hours ago"


def far_too_slow(case: Case) -> Finding | None:
    """The probe's rates, where nobody else was on the card: far below the slowest card of its kind."""
    measured = case.facts.probe.rates
    for rate in value_or(measured, ()):
        device = next((d for d in value_or(case.facts.devices.devices, ()) if d.index == rate.device), None)
        row = slowest(value_or(device.capability, "")) if device else None
        if device is None or row is None or value_or(device.processes, ("unseen",)):
            continue
        wanted = {"copy on the GPU": row.bytes_per_second, "float32 matmul": row.flops}.get(rate.what, 0.0) * FAR_BELOW
        if rate.per_second < wanted:
            text = (
                f"{rate.what} on GPU {device.index} reached {_big(rate.per_second)}{rate.unit} with nobody else there"
            )
            fact = know(f"a {row.card} does {_big(wanted / FAR_BELOW)}{rate.unit}", row.source)
            return mild(strong(text, saw(f"{_big(rate.per_second)}{rate.unit}", measured), fact))
    return None


def _big(number: float) -> str:
    return f"{number / 1e12:.2g} T" if number >= 1e12 else f"{number / 1e9:.2g} G"


def too_hot(case: Case) -> Finding | None:
    """The card slows itself down to survive: cooling or power is short."""
    for device in case.facts.devices.devices.need() or ():
        active = [reason for reason in value_or(device.throttle, ()) if reason in HOT]
        if active:
            text = f"GPU {device.index} slows itself down: {', '.join(active)}"
            return weak(text, saw(", ".join(active), device.throttle))
    return None


def sound(case: Case) -> Finding | None:
    """No GPU at all, or everything was looked at and nothing is wrong."""
    present = gpu_present(case.facts)
    log = case.facts.surroundings.kernel_log
    if isinstance(present, Absent) and not any(_fault(line) for line in value_or(log, ())):
        return against("there is no NVIDIA GPU", saw("no NVIDIA device on the PCI bus", present))
    if any(sign(case) for sign in (xid, lost, memory_errors, too_hot)):
        return None
    text = "every GPU answers, without uncorrected memory errors and without a hardware Xid in the kernel log"
    return against(text, saw("no fault", case.facts.devices.devices), saw("no hardware Xid", log))


def fixes(case: Case) -> tuple[Fix, ...]:
    """Reset, restart, then look at the metal."""
    return (
        Fix("Keep the evidence for the vendor", on.linux("sudo nvidia-bug-report.sh"), root=True, role="look"),
        Fix("Reset the GPU while no program uses it", on.linux("sudo nvidia-smi --gpu-reset"), root=True),
        Fix("Switch the machine off and on again: a warm reboot may not restore the card", root=True, reboot=True),
        Fix(
            "If it comes back: check power cables, seating and cooling, then run the vendor's test",
            on.linux("dcgmi diag -r 3"),
        ),
    )


CAUSE = Cause(
    id="device.hardware",
    title="the GPU reports a hardware fault",
    signs=(lost, memory_errors, xid, too_hot, sound, far_too_slow, answered("device.hardware")),
    fixes=fixes,
    effect="A GPU of this machine has a hardware fault",
    hides=("driver.not_ready", "driver.permission"),
)
