"""device.busy: a GPU's mode lets no further program in."""

from __future__ import annotations

from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, proof, saw, strong
from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.facts import GpuProcess
from gpuwhy.rooms.shared.probed import answered

EXCLUSIVE = ("exclusive_process", "exclusive_thread")
MPS = (
    "nvidia-cuda-mps"  # the server's name as the kernel cuts it; its clients share the one context that the mode allows
)
DESKTOP = ("Xorg", "X", "Xwayland", "gnome-shell", "kwin_wayland", "kwin_x11")  # graphics does not count


def mode(case: Case) -> Finding | None:
    """Compute mode: prohibited always, exclusive while somebody is on it."""
    device = case.device
    assert device is not None
    said = device.compute_mode.need()
    if said == "prohibited":
        return proof(
            "the compute mode is prohibited: no program may use this GPU", saw("prohibited", device.compute_mode)
        )
    if said not in EXCLUSIVE:
        return None
    holders = [p for p in device.processes.need() or () if value_or(p.name, "") not in DESKTOP]
    if not holders or any(value_or(p.name, "") == MPS for p in holders):
        return None
    who = _named(holders[0])
    text = f"the compute mode is {said}, which lets one program in, and {who} is already there"
    return proof(text, saw(said, device.compute_mode), saw(who, device.processes))


def _named(process: GpuProcess) -> str:
    return f"{value_or(process.name, 'a process')} (pid {process.pid})"


def mig_without_instances(case: Case) -> Finding | None:
    """With MIG on, programs can use instances only, and there are none until somebody makes them."""
    device = case.device
    assert device is not None
    mig = device.mig.need()
    if mig is None or not mig.current or mig.instances:
        return None
    parts = case.facts.driver.mig_parts
    if isinstance(parts, Known):  # there are some, and this user may not see them
        return None
    shown = proof if isinstance(parts, Absent) else strong
    return shown("MIG is on, and no instance was made: there is nothing to run on", saw("no instance", device.mig))


def open_to_all(case: Case) -> Finding | None:
    """Both were looked at, and a further program may come."""
    assert case.device is not None
    if mode(case) or mig_without_instances(case):
        return None
    said = case.device.compute_mode.need() or "not used here"
    return against(f"the compute mode is {said}, and a program may enter", saw(said, case.device.compute_mode))


def fixes(case: Case) -> tuple[Fix, ...]:
    """Make an instance, or set the mode back, or wait for the holder."""
    assert case.device is not None
    index = case.device.index
    mig = value_or(case.device.mig, None)
    if mig is not None and mig.current and not mig.instances:
        make = Fix(
            "Make an instance of the whole GPU", on.linux(f"sudo nvidia-smi mig -i {index} -cgi 0 -C"), root=True
        )
        return make, Fix("Or switch MIG off", on.linux(f"sudo nvidia-smi -i {index} -mig 0"), root=True)
    shared = Fix(
        "Set the compute mode to DEFAULT, so that programs can share the GPU",
        f"sudo nvidia-smi -i {index} -c DEFAULT",
        root=True,
    )
    if value_or(case.device.compute_mode, "") == "prohibited":
        return (shared,)
    holders = [p for p in value_or(case.device.processes, ()) if value_or(p.name, "") not in DESKTOP]
    theirs = any(value_or(p.owner, "you") != "you" for p in holders[:1])
    kill = "".join(f"{'sudo ' * theirs}kill {p.pid}" for p in holders[:1])
    return Fix("Wait for that program, or end it, if nobody needs it", kill, root=theirs), shared


CAUSE = Cause(
    id="device.busy",
    title="the GPU is in use, and its mode allows no second program",
    signs=(mode, mig_without_instances, open_to_all, answered("device.busy")),
    fixes=fixes,
    scope="device",
    effect="{subject} lets no further program in",
)
