"""The GPUs: healthy, visible, free for another program, and with memory left."""

from gpuwhy.facts.devices import BadEntry, Ecc, GpuProcess
from gpuwhy.facts.fact import Absent, Known, Source, Unknown, value_or
from gpuwhy.facts.finding import Finding, saw
from gpuwhy.facts.system import KernelLine
from gpuwhy.knowledge.codes import xid_row
from gpuwhy.signs import say
from gpuwhy.signs.case import Case, otherwise, rows
from gpuwhy.signs.expect import gpu_present, installed, offline, on_other_gpu

GIB = 1 << 30
_DAY = 86400.0
_LOST = ("NVML_ERROR_GPU_IS_LOST", "NVML_ERROR_RESET_REQUIRED")
_HOT = ("hw_thermal", "hw_power_brake")
_FELL_OFF = 79

# ---------------------------------------------------------------- device.hardware


def lost(case: Case) -> Finding | None:
    """A GPU that NVML lists but cannot reach."""
    gpus = case.facts.devices.gpus.need() or ()
    errors = [(gpu, error) for gpu in gpus if (error := gpu.error.need())]
    gone = [(gpu, error) for gpu, error in errors if error in _LOST]
    shown = gone or errors
    if not shown:
        return None
    answers = [
        f"GPU {gpu.index} ({gpu.pci or 'address unknown'}) answers {error}" for gpu, error in shown
    ]
    seen = (saw(error, gpu.error) for gpu, error in shown)
    return (say.proof if gone else say.weak)(say.listed(answers), *seen)


def memory_errors(case: Case) -> Finding | None:
    """Errors that ECC could not correct; retired pages alone are repaired and no fault."""
    gpus = case.facts.devices.gpus.need() or ()
    pairs = [(gpu, ecc) for gpu in gpus if (ecc := gpu.ecc.need())]
    bad = [(gpu, ecc) for gpu, ecc in pairs if _fault_of(ecc)]
    if not bad:
        return None
    weigh = say.strong if any(ecc.uncorrected for _, ecc in bad) else say.weak
    weigh = say.proof if any(ecc.remap_failed for _, ecc in bad) else weigh
    faults = [f"GPU {gpu.index}: {_fault_of(ecc)}" for gpu, ecc in bad]
    return weigh(say.listed(faults), *(saw(_fault_of(ecc), gpu.ecc) for gpu, ecc in bad))


def _fault_of(ecc: Ecc) -> str:
    if ecc.remap_failed:
        return "a bad memory row could not be replaced"
    if ecc.uncorrected:
        return f"{ecc.uncorrected} memory errors since boot that ECC could not correct"
    return "a bad memory row waits for a reset to be replaced" if ecc.pending else ""


def xid(case: Case) -> Finding | None:
    """The latest Xid of a failing GPU in the kernel log; those of failing programs do not count."""
    facts, log = case.facts, case.facts.system.kernel_log
    faults = [one for one in log.need() or () if _is_fault(one) and not on_other_gpu(facts, one)]
    if not faults:
        return None
    worst = faults[-1]
    row = xid_row(worst.xid or _FELL_OFF)
    what = f"Xid {worst.xid}" if worst.xid else "an NVRM line"
    where = f" from the GPU at {worst.pci}" if worst.pci else ""
    age = value_or(facts.system.uptime, -1.0) - worst.seconds
    ago = f"{age / 60:.0f} minutes ago" if age < 7200 else f"{age / 3600:.0f} hours ago"
    meaning = row.text if row else worst.text
    recovered = worst.xid is not None and row is not None and row.recovered
    return (say.weak if recovered or age > _DAY else say.strong)(
        f"the kernel log has {what}{where}{f', {ago}' if age >= 0 else ''}: {meaning}",
        saw(worst.text, log),
        *((say.table(f"Xid {row.number}: {row.text}", row.source),) if row else ()),
    )


def _is_fault(line: KernelLine) -> bool:
    row = xid_row(line.xid) if line.xid is not None else None
    return line.event == "fell off the bus" or bool(row and row.hardware)


def no_fault(case: Case) -> Finding | None:
    """No GPU at all, or everything was looked at and nothing is wrong."""
    facts = case.facts
    present, log = gpu_present(facts), facts.system.kernel_log
    if isinstance(present, Absent) and not any(_is_fault(one) for one in value_or(log, ())):
        return say.against("there is no NVIDIA GPU")
    gpus = facts.devices.gpus.need() or ()
    hot = any(reason in _HOT for gpu in gpus for reason in value_or(gpu.throttle, ()))
    if hot or any(sign(case) for sign in (xid, lost, memory_errors)):
        return None
    well = "every GPU answers, without uncorrected memory errors and without a hardware Xid"
    return say.against(well)


# ---------------------------------------------------------------- device.busy

_MPS = "nvidia-cuda-mps"  # as the kernel cuts it; its clients share the one context
_DESKTOP = ("Xorg", "X", "Xwayland", "gnome-shell", "kwin_wayland", "kwin_x11")


def compute_mode(case: Case) -> Finding | None:
    """Prohibited always, exclusive while somebody is on it; graphics does not count."""
    gpu = case.gpu
    mode = gpu.compute_mode.need()
    seen = saw(str(mode), gpu.compute_mode)
    if mode == "prohibited":
        return say.proof("the compute mode is prohibited: no program may use this GPU", seen)
    if mode not in ("exclusive_process", "exclusive_thread"):
        return None
    holders = [one for one in gpu.processes.need() or () if value_or(one.name, "") not in _DESKTOP]
    if not holders or any(value_or(one.name, "") == _MPS for one in holders):
        return None
    who = f"{value_or(holders[0].name, 'a process')} (pid {holders[0].pid})"
    text = f"the compute mode is {mode}, which lets one program in, and {who} is using it"
    return say.proof(text, seen, saw(who, gpu.processes))


def mig_without_instances(case: Case) -> Finding | None:
    """With MIG on, programs can use instances only, and there are none until one is made."""
    mig, parts = case.gpu.mig.need(), case.facts.driver.mig_nodes
    if mig is None or not mig.current or mig.instances or isinstance(parts, Known):
        return None
    text = "MIG is on, and no instance was made: there is nothing to run on"
    return say.sure(isinstance(parts, Absent))(text, saw("no instance", case.gpu.mig))


# ---------------------------------------------------------------- device.selection

_WHY = {
    BadEntry.EMPTY: "leaves an entry empty",
    BadEntry.NEGATIVE: "ends the list",
    BadEntry.NO_NUMBER_OR_UUID: "is neither an index nor a GPU's UUID",
    BadEntry.NO_SUCH_GPU: "is no GPU of this machine, which has {count}",
    BadEntry.NO_SUCH_UUID: "is the UUID of no GPU here",
    BadEntry.SEVERAL_FIT: "fits more than one GPU",
    BadEntry.UUID_AMONG_INDEXES: "is a UUID in a list that starts with an index",
    BadEntry.INDEX_AMONG_UUIDS: "is an index in a list that starts with a UUID",
    BadEntry.BLANK_BEFORE: "has a blank before it, where CUDA allows none",
    BadEntry.TWICE: "is named twice, and cuInit then fails with error 101",
}
VISIBLE = "CUDA_VISIBLE_DEVICES"


def hidden(case: Case) -> Finding | None:
    """The variable as CUDA reads it, against the GPUs that exist."""
    facts, module = case.facts, case.facts.driver.module_version
    devices, present = facts.devices, gpu_present(facts)
    choice = devices.visibility.need()
    if choice is None:
        return say.against("CUDA_VISIBLE_DEVICES is not set")
    unseen = isinstance(present, Unknown)
    if unseen and hidden_by_a_file(case):
        return None
    set_to = f'{VISIBLE}="{choice.value}"'
    written = saw(set_to, devices.visibility)
    hides_any = not choice.visible and choice.value.strip() in ("", "-1")
    if unseen and offline(facts) and isinstance(module, Known) and hides_any:
        text = f"{set_to} leaves no GPU visible, whichever there is"
        return say.proof(text, written, saw("a driver for one", module))
    name, gpus = present.need(), value_or(devices.gpus, (None,))
    if name is None or not gpus:
        return say.against("no GPU answers, whatever the variable says")
    last, bad = len(gpus) - 1, choice.bad_entry
    count = f"GPUs 0 to {last}" if last else "GPU 0 only"
    why = f": '{bad}' {_WHY[choice.bad].format(count=count)}" if bad else ""
    there = saw(f"a GPU: {name}", present)
    if not choice.visible:
        return say.proof(f"{set_to} leaves no GPU visible{why}", written, there, count=count)
    visible = say.listed([str(index) for index in choice.visible])
    if bad and not bad.startswith("-"):  # -1 ends a list by design
        text = f"CUDA reads {set_to} only as far as GPU {visible}{why}"
        return say.slows(say.proof(text, written, there, count=count))
    return say.against(f"{set_to} selects GPU {visible}, which is there")


def hidden_by_a_file(case: Case) -> Finding | None:
    """A file that belongs to the environment hides every GPU, on whatever machine."""
    facts = case.facts
    able = any(value_or(one.gpu_build, True) is not False for one in installed(facts))
    found = value_or(facts.variables.variables, ()) if able else ()
    mine = (one for one in found if one.name == VISIBLE and one.set_in and one.faults)
    one, present = next(mine, None), gpu_present(facts)
    if one is None:
        return None
    set_to = f'{one.name}="{one.value}"'
    text = f"{set_to}, which {one.set_in} sets: {one.faults[0].text}"
    written = saw(set_to, Source("file", one.set_in))
    if isinstance(present, Unknown) and offline(facts):
        return say.proof(f"{text}, whichever GPU the machine has", written)
    name = present.need()
    return say.proof(text, written, saw(f"a GPU: {name}", present)) if name else None


# ---------------------------------------------------------------- memory.other_process


def memory_is_held(case: Case) -> Finding | None:
    """Numbers decide: what is free, and who holds the rest."""
    gpu = case.gpu
    total, free, mig = gpu.memory_total.need(), gpu.memory_free.need(), value_or(gpu.mig, None)
    if not total or free is None or (mig and mig.current):
        none = "this GPU has no memory of its own, or it is divided among MIG instances"
        return say.against(none)
    left = f"{free / GIB:.1f} of {total / GIB:.1f} GiB"
    if held_by_others(case):
        return None
    if free >= max(total // 10, min(GIB, total // 4)):
        return say.against(f"{left} are free")
    holders = sorted(gpu.processes.need() or (), key=lambda one: -value_or(one.memory, 0))
    held = sum(value_or(one.memory, 0) for one in holders)
    who = say.and_more(map(_holder, holders), 3)
    seen = saw(f"{left} free", gpu.memory_free), saw(who or "no process on this GPU", gpu.processes)
    rest = f", and the driver does not say how much each of {who} holds"
    if not holders:
        rest = ", and no process that can be seen from here holds the rest"
    if holders and held * 2 >= total - free:
        return say.slows(say.proof(f"only {left} are free: {who}", *seen))
    return say.slows(say.strong(f"only {left} are free{rest}", *seen))


def _holder(process: GpuProcess) -> str:
    memory = process.memory
    size = f" holds {memory.value / GIB:.1f} GiB" if isinstance(memory, Known) else ""
    notes = {"zombie": ", a zombie", "gone": ", not visible from here", "stopped": ", stopped"}
    note = notes.get(value_or(process.state, ""), "")
    return f"{value_or(process.name, 'a process')} (pid {process.pid}{note}){size}"


def held_by_others(case: Case) -> Finding | None:
    """What others held while a watched program failed, even where they have gone since."""
    run = case.facts.run
    gpus = value_or(run.gpus, ()) if run.failed else ()
    use = next((one for one in gpus if one.index == case.gpu.index), None)
    if use is None or use.free_then > 0.3 * use.total:
        return None
    if use.others_then < max(0.35 * use.total, 0.6 * use.own):
        return None
    text = (
        f"other processes held {use.others_then / GIB:.1f} of {use.total / GIB:.1f} GiB of this "
        f"GPU while the program held at most {use.own / GIB:.1f} GiB"
    )
    return say.slows(say.strong(text, saw(f"{use.others_then} bytes of others", run.gpus)))


SIGNS = (
    *rows("device.hardware", "machine", lost, memory_errors, xid, no_fault),
    *rows("device.busy", "gpu", compute_mode, mig_without_instances),
    otherwise("device.busy", "gpu", "its compute mode lets a further program in"),
    *rows("device.selection", "machine", hidden, hidden_by_a_file),
    *rows("memory.other_process", "gpu", memory_is_held, held_by_others),
)
