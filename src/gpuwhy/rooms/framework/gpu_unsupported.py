"""framework.gpu_unsupported: the build carries no code that this GPU can run."""

from __future__ import annotations

from gpuwhy.knowledge.archs import ARCHS, MATRIX, first_toolkit, last_toolkit, runs_on
from gpuwhy.knowledge.cudnn_rules import DROPPED_SM, oldest_gpu
from gpuwhy.knowledge.flavours import compiles_at_run_time
from gpuwhy.knowledge.installs import wheel_of
from gpuwhy.knowledge.windows import tensorflow_for
from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, know, mild, proof, saw, strong, weak
from gpuwhy.model.fact import Absent, Fact, Known, Undetermined, Unknown, value_or
from gpuwhy.model.facts import Facts
from gpuwhy.model.release import Release
from gpuwhy.model.version import at_least, numbers
from gpuwhy.rooms.shared import trees
from gpuwhy.rooms.shared.commands import change, python_of
from gpuwhy.rooms.shared.needs import named, the
from gpuwhy.rooms.shared.windows import on_windows


def no_code_for_it(case: Case) -> Finding | None:
    """Neither machine code for its architecture nor PTX that the driver could compile for it."""
    framework = the(case)
    if isinstance(framework.gpu_build, Absent) or value_or(framework.gpu_build, True) is False:
        return against(f"{named(case)} is a build without CUDA", saw("CPU build", framework.gpu_build))
    if compiles_at_run_time(framework.name):
        text = f"{framework.title} compiles for the GPU that it finds"
        return _too_old(case, _gpus(case.facts)) or against(text, saw(named(case), framework.sass))
    gpus = _gpus(case.facts)
    if not gpus:
        return against("this machine has no NVIDIA GPU", saw("no NVIDIA GPU", case.facts.devices.pci))
    unread = not isinstance(framework.sass, Known) or not isinstance(framework.ptx, Known)
    return ((_too_new(case, gpus) or _too_old(case, gpus)) if unread else None) or _by_code(case, gpus)


def _too_old(case: Case, gpus: list[tuple[str, Fact[str]]]) -> Finding | None:
    """Whatever its files carry: its CUDA no longer compiles for the card, nor do that CUDA's own libraries know it."""
    built = value_or(the(case).built_for_cuda, "")
    lasts = [(gpu, last_toolkit(value_or(gpu[1], "")) or "") for gpu in gpus]
    if not numbers(built) or not lasts or not all(last and numbers(built) > numbers(last) for _, last in lasts):
        return None
    (card, capability), last = lasts[0]
    return strong(
        f"{named(case)} is built for CUDA {built}, which has no code for {card} ({_sm(capability)}) any more; "
        f"CUDA {last} was the last that does",
        saw(f"built for CUDA {built}", the(case).built_for_cuda),
        saw(f"{card}, {_sm(capability)}", capability),
        know(f"CUDA {last} is the last that compiles for compute capability {value_or(capability, '')}", MATRIX),
    )


def _by_code(case: Case, gpus: list[tuple[str, Fact[str]]]) -> Finding | None:
    """By the machine code and the PTX that its files carry."""
    framework = the(case)
    sass, ptx = framework.sass.need() or (), framework.ptx.need() or ()
    if not sass and not ptx:
        raise Undetermined(Unknown(f"no GPU code was found in the files of {named(case)}"))
    unfit = [gpu for gpu in gpus if runs_on(sass, ptx, gpu[1].need() or "") == "no"]
    if not unfit:
        return _older_than_the_card(case, gpus, sass, ptx) or _fits(case, gpus, sass, ptx)
    name, capability = unfit[0]
    text = f"{named(case)} carries {_carried(sass, ptx)}; {name} is {_sm(capability)}"
    evidence = (saw(_carried(sass, ptx), framework.sass), saw(f"{name}, {_sm(capability)}", capability))
    if len(unfit) < len(gpus):
        return weak(f"{text}, while {len(gpus) - len(unfit)} of {len(gpus)} GPUs can run it", *evidence)
    # XLA compiles most of what JAX runs; only its own few kernels are carried.
    return (strong if framework.name == "jax" else proof)(text, *evidence)


def _too_new(case: Case, gpus: list[tuple[str, Fact[str]]]) -> Finding | None:
    """Where the files do not tell their code: a CUDA that could not compile for any card of this generation."""
    built = value_or(the(case).built_for_cuda, "")
    if the(case).name != "torch":  # others carry PTX, which the driver compiles for newer cards
        return None
    card, capability = gpus[0]
    major = value_or(capability, "").split(".")[0]
    known = [first_toolkit(row.capability) for row in ARCHS if row.capability.split(".")[0] == major]
    if not major or len(numbers(built)) < 2 or not known or any(first and at_least(built, first) for first in known):
        return None
    first = first_toolkit(value_or(capability, "")) or ""
    return strong(
        f"{named(case)} is built for CUDA {built}, which has no code for the generation of {card} ({_sm(capability)}); "
        f"CUDA {first} was the first that does",
        saw(f"built for CUDA {built}", the(case).built_for_cuda),
        saw(f"{card}, {_sm(capability)}", capability),
        know(f"CUDA {first} is the first that compiles for compute capability {value_or(capability, '')}", MATRIX),
    )


def cudnn_has_none(case: Case) -> Finding | None:
    """The framework has code for an old GPU, the cuDNN that it loads has dropped it."""
    tree = next((one for one in value_or(case.facts.loads.trees, ()) if one.framework == the(case).name), None)
    one = trees.reporter(tree) if tree else None
    if one is None:
        return None
    version = value_or(one.version, "")
    floor = oldest_gpu(version) if version else ""
    gpus = _gpus(case.facts) if floor else []
    if not gpus or not all(isinstance(fact, Known) and not at_least(fact.value, floor) for _, fact in gpus):
        return None
    name, capability = gpus[0]
    return proof(
        f"{named(case)} loads cuDNN {trees.short(version)}, which has no code below sm_{floor.replace('.', '')}; "
        f"{name} is {_sm(capability)}",
        trees.saw_loaded(one),
        saw(f"{name}, {_sm(capability)}", capability),
        know(f"cuDNN from 9.11 on needs compute capability {floor} or newer", DROPPED_SM),
    )


def _older_than_the_card(
    case: Case, gpus: list[tuple[str, Fact[str]]], sass: tuple[str, ...], ptx: tuple[str, ...]
) -> Finding | None:
    """Only PTX, and a CUDA of the major before the card: its cuDNN and cuBLAS do not know the card either."""
    name, capability = gpus[0]
    first, built = first_toolkit(value_or(capability, "")), value_or(the(case).built_for_cuda, "")
    compiled = [g for g in gpus if runs_on(sass, ptx, value_or(g[1], "")) == "ptx"]
    if not first or not numbers(built) or numbers(built)[0] >= numbers(first)[0] or len(compiled) < len(gpus):
        return None
    return mild(
        strong(
            f"{named(case)} carries {_carried(sass, ptx)}; {name} is {_sm(capability)}, so the driver compiles PTX at "
            f"the first start, for minutes, and cuDNN and cuBLAS of CUDA {built} are older than the card, which CUDA "
            f"{first} was the first to know: slow at best, errors or wrong numbers at worst",
            saw(_carried(sass, ptx), the(case).sass),
            saw(f"{name}, {_sm(capability)}", capability),
            know(f"CUDA {first} is the first that compiles for compute capability {value_or(capability, '')}", MATRIX),
        )
    )


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
    if not isinstance(capability, Known) and cudnn_has_none(case):
        return (_older_cudnn(case),)
    if not isinstance(capability, Known):
        capability = _gpus(case.facts)[0][1]
    first, last = first_toolkit(value_or(capability, "")), last_toolkit(value_or(capability, ""))
    if last:
        text = f"Install a release of {framework.title} built for CUDA {last} or older, which still compiles for it"
    else:
        text = (
            f"Install a release of {framework.title} built for {f'CUDA {first} or newer' if first else 'a newer CUDA'}"
        )
    if row := _on_windows(case, first, last, value_or(capability, "")):
        cuda = f"CUDA {row.cuda} and cuDNN {row.cudnn}" if isinstance(row.cudnn, str) else f"CUDA {row.cuda}"
        text = f"Install TensorFlow {row.version}, whose build for {cuda} knows the card"
        return (change(case.facts, text, f"tensorflow-gpu=={row.version}", because_of=framework.distribution),)
    if last and on_windows(case.facts):
        return (Fix(text, safe=True, wishes=(framework.distribution,)), _old_card(case, value_or(capability, "")))
    return (
        Fix(text, safe=True, wishes=(framework.distribution,)),
        Fix(f"Or build {framework.title} from source for {_sm(capability)}"),
    )


def _on_windows(case: Case, first: str | None, last: str | None, card: str) -> Release | None:
    """The newest TensorFlow for Windows, this Python and driver with a CUDA of the card's time, and code for it."""
    if not on_windows(case.facts) or the(case).name != "tensorflow" or not first:
        return None
    speaks = value_or(case.facts.driver.driver_cuda, "")
    if last:
        return tensorflow_for(python_of(case.facts), speaks, card=card)
    return tensorflow_for(python_of(case.facts), speaks, since=f"{numbers(first)[0]}.0")


def _old_card(case: Case, card: str) -> Fix:
    """For a card that no wheel for this Python knows: the newest release that does, and the Python it wants."""
    row = tensorflow_for(card=card) if the(case).name == "tensorflow" else None
    if row is None:
        return Fix(f"Or use a newer card: no release of {the(case).title} that is known has code for this one")
    python = row.pythons[-1] if row.pythons else ""
    made = f"tensorflow-gpu {row.version} (CUDA {row.cuda}), which has code for it"
    text = f"Or make an environment with Python {python} for {made}"
    return Fix(
        text,
        on.cmd(f"py -{python} -m venv tf\ntf\\Scripts\\python -m pip install tensorflow-gpu=={row.version}"),
        safe=True,
    )


def _older_cudnn(case: Case) -> Fix:
    major = numbers(value_or(the(case).built_for_cuda, ""))[:1]
    wheel = wheel_of("libcudnn.so.9", major[0] if major else None)
    text = "Install the last cuDNN that has code for it, 9.10"
    return change(case.facts, text, f"{wheel}<9.11", because_of=wheel) if wheel else Fix(text, safe=True)


CAUSE = Cause(
    id="framework.gpu_unsupported",
    title="this version of the framework does not support this GPU",
    signs=(no_code_for_it, cudnn_has_none),
    fixes=fixes,
    scope="framework",
    effect="{subject} has no code for this GPU",
)
