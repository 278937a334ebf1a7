"""device.selection: a GPU is asked for that does not exist, or that CUDA_VISIBLE_DEVICES hides."""

from __future__ import annotations

from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, mild, proof, saw, weak
from gpuwhy.model.expect import gpu_present
from gpuwhy.model.fact import Fact, Known, Source, Unknown, value_or
from gpuwhy.model.facts import Visibility
from gpuwhy.rooms.shared.nodes import seen_otherwise
from gpuwhy.rooms.shared.preset import hiding, out_of
from gpuwhy.rooms.shared.probed import answered


def hidden(case: Case) -> Finding | None:
    """The variable as CUDA reads it, against the devices that exist."""
    devices = case.facts.devices
    choice = devices.visibility.need()
    if choice is None:
        return _within(case) or against("CUDA_VISIBLE_DEVICES is not set", saw("not set", devices.visibility))
    present = gpu_present(case.facts)
    if isinstance(present, Unknown) and hidden_by_a_file(case):
        return None
    written = saw(f'{choice.variable}="{choice.value}"', devices.visibility)
    if _hides_whatever_is_there(case, choice, present):
        text = f'{choice.variable}="{choice.value}" leaves no GPU visible, whichever there is'
        return proof(text, written, saw("a driver for one", case.facts.driver.module_version))
    if present.need() is None:
        return against("there is no NVIDIA GPU to hide", saw("no NVIDIA GPU", present))
    there = saw(f"a GPU: {present.need()}", present)
    found = devices.devices
    if isinstance(found, Known) and not found.value:
        return against("no GPU answers, whatever the variable says", saw("no device", found))
    shown = ", ".join(map(str, choice.visible))
    why = f": {choice.first_bad!r} {choice.why_bad}" if choice.first_bad else ""
    if not shown:
        return proof(f'{choice.variable}="{choice.value}" leaves no GPU visible{why}', written, there)
    if choice.first_bad and not choice.first_bad.startswith("-"):  # -1 ends a list by design
        text = f'CUDA reads {choice.variable}="{choice.value}" only as far as GPU {shown}{why}'
        return mild(proof(text, written, there))
    return against(f'{choice.variable}="{choice.value}" selects GPU {shown}, which is there', written)


def _hides_whatever_is_there(case: Case, choice: Visibility, present: Fact[str]) -> bool:
    """A disk that holds NVIDIA's driver, and a value that hides every GPU: which one there is need not be known."""
    offline = isinstance(case.facts.surroundings.offline, Known) and isinstance(present, Unknown)
    driven = isinstance(case.facts.driver.module_version, Known)
    return offline and driven and not choice.visible and choice.value.strip() in ("", "-1")


def hidden_by_a_file(case: Case) -> Finding | None:
    """A file that goes along with the environment hides every GPU, on whatever machine."""
    one, present = hiding(case), gpu_present(case.facts)
    if one is None:
        return None
    text = f'{one.name}="{one.value}", which {one.set_in} sets: {one.faults[0].text}'
    written = saw(f'{one.name}="{one.value}"', Source("file", one.set_in))
    if isinstance(present, Unknown) and isinstance(case.facts.surroundings.offline, Known):
        return proof(f"{text}, whichever GPU the machine has", written)
    return proof(text, written, saw(f"a GPU: {present.need()}", present)) if present.need() is not None else None


def _within(case: Case) -> Finding | None:
    """A program that CUDA shows no device, where a GPU answers: it, or a file that it reads, sets the variable."""
    found = case.facts.devices.devices
    none = any(one.signature in NONE and one.role == "error" for one in case.symptoms)
    if not none or seen_otherwise(case) or not case.facts.run.failed or not isinstance(found, Known) or not found.value:
        return None
    text = f"{found.value[0].name} answers here, and the program sees no device: it, or a file it reads, hides the GPU"
    return weak(text, saw("the GPU answers", found), saw("not set outside the program", case.facts.devices.visibility))


NONE = ("cuda.no_device", "torch.no_gpus", "torch.deserialize_cpu", "jax.no_visible")
"""By which CUDA or a framework says that there is none."""


def fixes(case: Case) -> tuple[Fix, ...]:
    """Unset it, or name GPUs that exist."""
    by_file = hiding(case)
    if by_file is not None:
        return (out_of(case, by_file),)
    choice = case.facts.devices.visibility.need()
    name = choice.variable if choice else "CUDA_VISIBLE_DEVICES"
    fix = Fix("Show every GPU in this shell", f"unset {name}", safe=True)
    devices = value_or(case.facts.devices.devices, ())
    if not devices:
        return (fix,)
    every = ",".join(str(d.index) for d in devices)
    return fix, Fix("Or set it to GPUs that exist", f"export {name}={every}", safe=True)


CAUSE = Cause(
    id="device.selection",
    title="the program asks for a GPU that does not exist, or that CUDA_VISIBLE_DEVICES hides",
    signs=(hidden, hidden_by_a_file, answered("device.selection")),
    fixes=fixes,
    effect="CUDA_VISIBLE_DEVICES hides GPUs from every program",
)
