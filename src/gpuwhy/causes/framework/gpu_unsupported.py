"""framework.gpu_unsupported: the build carries no code that this GPU can run."""

from __future__ import annotations

from gpuwhy.causes.needs import named, the
from gpuwhy.knowledge.archs import first_toolkit, last_toolkit, runs_on
from gpuwhy.knowledge.flavours import compiles_at_run_time
from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, proof, saw, strong, weak
from gpuwhy.model.fact import Absent, Fact, Known, Undetermined, Unknown, value_or
from gpuwhy.model.facts import Facts


def no_code_for_it(case: Case) -> Finding | None:
    """Neither machine code for its architecture nor PTX that the driver could compile for it."""
    framework = the(case)
    if isinstance(framework.gpu_build, Absent) or value_or(framework.gpu_build, True) is False:
        return against(f"{named(case)} is a build without CUDA", saw("CPU build", framework.gpu_build))
    if compiles_at_run_time(framework.name):
        return against(f"{framework.title} compiles for the GPU that it finds", saw(named(case), framework.sass))
    gpus = _gpus(case.facts)
    if not gpus:
        return against("this machine has no NVIDIA GPU", saw("no NVIDIA GPU", case.facts.devices.pci))
    sass, ptx = framework.sass.need() or (), framework.ptx.need() or ()
    if not sass and not ptx:
        raise Undetermined(Unknown(f"no GPU code was found in the files of {named(case)}"))
    unfit = [gpu for gpu in gpus if runs_on(sass, ptx, gpu[1].need() or "") == "no"]
    if not unfit:
        return _fits(case, gpus, sass, ptx)
    name, capability = unfit[0]
    text = f"{named(case)} carries {_carried(sass, ptx)}; {name} is {_sm(capability)}"
    evidence = (saw(_carried(sass, ptx), framework.sass), saw(f"{name}, {_sm(capability)}", capability))
    if len(unfit) < len(gpus):
        return weak(f"{text}, while {len(gpus) - len(unfit)} of {len(gpus)} GPUs can run it", *evidence)
    # XLA compiles most of what JAX runs; only its own few kernels are carried.
    return (strong if framework.name == "jax" else proof)(text, *evidence)


def _fits(case: Case, gpus: list[tuple[str, Fact[str]]], sass: tuple[str, ...], ptx: tuple[str, ...]) -> Finding:
    name, capability = gpus[0]
    if runs_on(sass, ptx, capability.need() or "") == "ptx":
        how = f"{named(case)} has PTX that the driver compiles for {name} ({_sm(capability)}) at the first start"
    else:
        how = f"{named(case)} has code for {name} ({_sm(capability)})"
    return against(how, saw(_carried(sass, ptx), the(case).sass))


def _gpus(facts: Facts) -> list[tuple[str, Fact[str]]]:
    """Name and compute capability of every GPU that programs see: by NVML, else from the PCI bus."""
    found = facts.devices.devices
    if isinstance(found, Known) and found.value:
        visible = facts.devices.visibility.value.visible if isinstance(facts.devices.visibility, Known) else ()
        chosen = [d for d in found.value if d.index in visible] or found.value
        return [(d.name, d.capability) for d in chosen]
    bus = facts.devices.pci.need() or ()
    return [(value_or(d.name, f"NVIDIA device {d.device_id}"), d.capability) for d in bus]


def _sm(capability: Fact[str]) -> str:
    return "sm_" + value_or(capability, "").replace(".", "")


def _carried(sass: tuple[str, ...], ptx: tuple[str, ...]) -> str:
    if not sass:
        return f"only PTX for {', '.join(ptx)}"
    code = sass[0] if len(sass) == 1 else f"{sass[0]} … {sass[-1]}" if len(sass) > 4 else ", ".join(sass)
    return f"code for {code} and {'PTX for ' + ', '.join(ptx) if ptx else 'no PTX'}"


def fixes(case: Case) -> tuple[Fix, ...]:
    """A build that has the architecture: an older one for old GPUs, a newer one for new ones."""
    framework = the(case)
    sass, ptx = value_or(framework.sass, ()), value_or(framework.ptx, ())
    capability = next((c for _, c in _gpus(case.facts) if runs_on(sass, ptx, value_or(c, "")) == "no"), Unknown(""))
    first, last = first_toolkit(value_or(capability, "")), last_toolkit(value_or(capability, ""))
    if last:
        text = f"Install a release of {framework.title} built for CUDA {last} or older, which still compiles for it"
    else:
        text = (
            f"Install a release of {framework.title} built for {f'CUDA {first} or newer' if first else 'a newer CUDA'}"
        )
    return (Fix(text, safe=True), Fix(f"Or build {framework.title} from source for {_sm(capability)}"))


CAUSE = Cause(
    id="framework.gpu_unsupported",
    title="the framework has no code for this GPU",
    signs=(no_code_for_it,),
    fixes=fixes,
    scope="framework",
    effect="{subject} has no code for this GPU",
)
