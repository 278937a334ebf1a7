"""memory.other_process: other processes hold most of a GPU's memory."""

from __future__ import annotations

from gpuwhy.knowledge.messages import GPU_MEMORY, STARVED
from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, proof, saw, strong
from gpuwhy.model.fact import Absent, Known, value_or
from gpuwhy.model.facts import Device, GpuProcess
from gpuwhy.model.words import and_more
from gpuwhy.rooms.shared.watched import of, said, wanted

GIB = 1 << 30


def little_left(total: int, free: int) -> bool:
    """Less than a tenth is free, or less than 1 GiB where that is less than a quarter."""
    return free < max(total // 10, min(GIB, total // 4))


def memory_is_held(case: Case) -> Finding | None:
    """Numbers decide: what is free, and who holds the rest."""
    device = case.device
    assert device is not None
    total, free = device.memory_total.need(), device.memory_free.need()
    if not total or free is None:
        return against("this GPU has no memory of its own", saw("no memory figure", device.memory_total))
    mig = value_or(device.mig, None)
    if mig and mig.current:
        return against("the memory is divided among MIG instances", saw("MIG is on", device.mig))
    numbers = f"{free / GIB:.1f} of {total / GIB:.1f} GiB"
    figures = saw(f"{numbers} free", device.memory_free)
    if not little_left(total, free):
        return against(f"{numbers} are free", figures)
    holders = _holders(device.processes.need() or ())
    held = sum(value_or(p.memory, 0) for p in holders)
    if held * 2 >= total - free:
        return proof(f"only {numbers} are free: {_who(holders)}", figures, saw(_who(holders), device.processes))
    if holders:
        text = f"only {numbers} are free, and the driver does not say how much each of {_who(holders)} holds"
        return strong(text, figures, saw(_who(holders), device.processes))
    text = f"only {numbers} are free, and no process that can be seen from here holds the rest"
    return strong(text, figures, saw("no process on this GPU", device.processes))


def held_meanwhile(case: Case) -> Finding | None:
    """What others held while a watched program was refused memory, even where they have gone since."""
    assert case.device is not None
    message = said(case, *GPU_MEMORY, *STARVED)
    gpus = value_or(case.facts.run.gpus, ())
    use = next((use for use in gpus if use.index == case.device.index), None)
    if message is None or use is None or use.others_then < max(0.35 * use.total, 0.6 * use.own):
        return None
    if use.free_then > max(1.5 * wanted(message), 0.3 * use.total):
        return None
    own = f"while this program held at most {use.own / GIB:.1f} GiB"
    text = f"other processes held {of(use.others_then, use.total)} of GPU {use.index} {own}"
    return proof(text, saw(f"{use.others_then} bytes of others", case.facts.run.gpus))


def _holders(processes: tuple[GpuProcess, ...]) -> list[GpuProcess]:
    return sorted(processes, key=lambda p: -value_or(p.memory, 0))


def _who(holders: list[GpuProcess]) -> str:
    more = and_more(len(holders), 3)
    return ", ".join(_one(p) for p in holders[:3]) + more


def _one(process: GpuProcess) -> str:
    name = value_or(process.name, "a process")
    size = f" holds {process.memory.value / GIB:.1f} GiB" if isinstance(process.memory, Known) else ""
    state = value_or(process.state, "")
    notes = {"zombie": ", a zombie", "gone": ", not visible from here", "stopped": ", stopped"}
    note = notes.get(state, "")
    return f"{name} (pid {process.pid}{note}){size}"


def fixes(case: Case) -> tuple[Fix, ...]:
    """Go to another GPU; end what is left over; else find the holder from the host."""
    assert case.device is not None
    out = []
    other = _roomiest(case)
    if other is not None:
        free = value_or(other.memory_free, 0) / GIB
        text = f"Use GPU {other.index}, which has {free:.1f} GiB free"
        out.append(Fix(text, f"export CUDA_VISIBLE_DEVICES={other.index}", safe=True))
    for process in _holders(value_or(case.device.processes, ()))[:3]:
        out += _ending(case, process)
    find = f"nvidia-smi -i {case.device.index} --query-compute-apps=pid,name,used_memory --format=csv"
    out.append(
        Fix(
            "On the host, outside of any container, find the process that holds the memory",
            find,
            safe=True,
            role="look",
        )
    )
    return tuple(out)


def _ending(case: Case, process: GpuProcess) -> list[Fix]:
    """How to end a process that holds more than a little; what a container cannot see, the host can."""
    least = value_or(case.device.memory_total, 0) // 20 if case.device else 0
    state = value_or(process.state, "")
    outside = isinstance(case.facts.surroundings.container, Absent)
    if value_or(process.memory, least) < least or (state == "gone" and not outside):
        return []
    if state in ("zombie", "gone"):
        text = (
            f"Process {process.pid} is dead and still listed: end its parent; if the memory stays in use, reset the GPU"
        )
        return [Fix(text, on.linux("sudo nvidia-smi --gpu-reset"), root=True)]
    theirs = value_or(process.owner, "you") != "you"
    text = f"End {value_or(process.name, 'the process')}, if nobody needs it"
    return [Fix(text, f"{'sudo ' * theirs}kill {process.pid}", root=theirs)]


def _roomiest(case: Case) -> Device | None:
    """The GPU with the most free memory, if it has plenty."""
    devices = case.facts.devices.devices.need() or ()
    known = [d for d in devices if d != case.device and isinstance(d.memory_free, Known)]
    best = max(known, key=lambda d: value_or(d.memory_free, 0), default=None)
    if best is None or little_left(value_or(best.memory_total, 0), value_or(best.memory_free, 0)):
        return None
    return best


CAUSE = Cause(
    id="memory.other_process",
    title="other programs hold the GPU's memory",
    signs=(memory_is_held, held_meanwhile),
    fixes=fixes,
    scope="device",
    effect="{subject} has little memory left for another program",
    stops=False,
)
