"""driver.not_ready: the GPU is there and driven, but not yet usable: fabric not up, MIG change pending."""

from __future__ import annotations

from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, proof, saw, strong
from gpuwhy.model.fact import Known, Unknown, value_or
from gpuwhy.model.facts import Device
from gpuwhy.rooms.shared.probed import answered


def fabric_not_up(case: Case) -> Finding | None:
    """A GPU behind NVSwitch answers CUDA only after the fabric manager has registered it (error 802)."""
    device, manager = _device(case), case.facts.driver.fabricmanager
    if isinstance(device.fabric, Unknown):
        return _unseen_fabric(case, device.fabric)
    state = device.fabric.need()
    if state is None or state in ("not supported", "completed"):
        return None
    seen = saw(f"fabric state of {device.name}: {state}", device.fabric)
    service = value_or(manager, "")
    text = f"{device.name} is not registered with the NVSwitch fabric: {state}"
    if state.startswith("failed") or state == "in progress":
        return proof(text, seen)
    if service == "stopped":
        return proof(f"{text}, and nvidia-fabricmanager is stopped", seen, saw("service stopped", manager))
    return strong(text, seen)


def _unseen_fabric(case: Case, fabric: Unknown) -> Finding | None:
    """Without a fabric manager on the machine an unanswered fabric question decides nothing; with one it stays open."""
    if value_or(case.facts.driver.fabricmanager, "") == "stopped":
        fabric.need()
    return None


def mig_change_pending(case: Case) -> Finding | None:
    """A change of MIG mode waits for a reset of the GPU; until then the instances asked for do not exist."""
    fact = _device(case).mig
    mig = value_or(fact, None)
    if mig is None or mig.current == mig.pending:
        return None
    now, then = ("on" if mig.current else "off"), ("on" if mig.pending else "off")
    return strong(
        f"MIG mode is {now} and will be {then} only after a reset of the GPU", saw(f"MIG {now}, {then}", fact)
    )


def ready(case: Case) -> Finding | None:
    """What speaks against it: a completed registration, and no change that waits."""
    device = _device(case)
    if value_or(device.fabric, "") == "completed" and mig_change_pending(case) is None:
        return against(f"{device.name} is registered with the NVSwitch fabric", saw("fabric: completed", device.fabric))
    return None


def _device(case: Case) -> Device:
    assert case.device is not None
    return case.device


def fixes(case: Case) -> tuple[Fix, ...]:
    """Start what the fabric waits for; reset for MIG."""
    device = _device(case)
    mig, out = value_or(device.mig, None), []
    if value_or(device.fabric, "not supported") not in ("not supported", "completed"):
        if isinstance(case.facts.surroundings.container, Known):
            out.append(Fix("Start nvidia-fabricmanager on the host; its version must be the driver's", root=True))
        else:
            version = value_or(case.facts.driver.module_version, "the driver's version")
            out.append(
                Fix(
                    f"Start the fabric manager; its version must be the driver's ({version})",
                    on.host("sudo systemctl enable --now nvidia-fabricmanager"),
                    root=True,
                    check="nvidia-smi -q | grep -A2 Fabric",
                )
            )
    if mig is not None and mig.current != mig.pending:
        out.append(
            Fix(
                "Stop what uses the GPU, then reset it",
                on.linux(f"sudo nvidia-smi --gpu-reset -i {device.index}"),
                root=True,
                check=f"nvidia-smi -i {device.index} --query-gpu=mig.mode.current,mig.mode.pending --format=csv",
            )
        )
        out.append(
            Fix(
                "Or undo the change",
                on.linux(f"sudo nvidia-smi -i {device.index} -mig {1 if mig.current else 0}"),
                root=True,
            )
        )
    return tuple(out)


CAUSE = Cause(
    id="driver.not_ready",
    title="the GPU is not ready for CUDA yet",
    signs=(fabric_not_up, mig_change_pending, ready, answered("driver.not_ready")),
    fixes=fixes,
    scope="device",
    effect="{subject} is not ready for CUDA yet",
)
