"""driver.too_old: the driver against each framework's CUDA, and against the card."""

from gpuwhy.facts.fact import Known, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Finding, Weight, saw
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge import archs
from gpuwhy.knowledge.drivers import Floor, cuda_of_driver, floor, packaged, runs
from gpuwhy.knowledge.gpus import segment
from gpuwhy.signs import say
from gpuwhy.signs.case import Case, rows


def older_than_the_build_needs(case: Case) -> Finding | None:
    """The floor of the CUDA a framework was built for, against the loaded kernel module."""
    one, facts = case.framework, case.facts
    cuda = one.built_for_cuda.need()
    if cuda is None:
        return say.against(f"{case.named} is built without CUDA")
    if isinstance(facts.system.wsl, Known):
        return _under_wsl(case, cuda)
    loaded = facts.driver.module_version.need()
    if loaded is None:
        return say.against("no NVIDIA driver is loaded")
    wanted = floor(cuda, value_or(facts.system.os, "linux"))
    if wanted is None:
        Unknown(f"no driver floor is known for CUDA {cuda}").need()
        return None
    found = _compared(case, wanted, loaded)
    return None if found.weight is Weight.AGAINST and older_than_the_card(case) else found


def _compared(case: Case, wanted: Floor, loaded: str) -> Finding:
    facts, one, cuda = case.facts, case.framework, wanted.cuda
    if at_least(loaded, wanted.driver):
        return say.against(f"driver {loaded} runs CUDA {cuda}")
    bridge = _bridged(facts, cuda)
    if bridge:
        return say.against(f"cuda-compat runs CUDA {cuda} on driver {loaded}")
    what = "driver" if case.windows else "kernel module"
    return say.sure(bridge is not None)(
        f"{case.named} is built for CUDA {cuda}, which needs driver {wanted.driver}; {loaded} is "
        "loaded",
        saw(f"{case.named} is built for CUDA {cuda}", one.built_for_cuda),
        say.table(f"CUDA {cuda} runs on driver {wanted.driver} or newer", wanted.source),
        saw(f"{what} {loaded}", facts.driver.module_version),
    )


def _bridged(facts: Facts, cuda: str) -> bool | None:
    """Whether a cuda-compat library lets an old kernel module run this CUDA; None: not known."""
    copies = facts.loads.libcuda
    if isinstance(copies, Unknown):
        return None
    first = next(iter(copies.need() or ()), None)
    if first is None or first.kind != "compat":
        return False
    supported = cuda_of_driver(value_or(first.version, ""))
    if supported is None:
        return None
    gpus = value_or(facts.devices.gpus, ())
    center = bool(gpus) and all(segment(gpu.name) == "data center" for gpu in gpus)
    return runs(supported, cuda) and center


def _under_wsl(case: Case, cuda: str) -> Finding:
    """Under WSL the driver is Windows' own: what counts is the CUDA that it supports."""
    fact, own = case.facts.driver.driver_cuda, major_minor(cuda)
    supported = fact.need()
    if supported is None:
        return say.against("no NVIDIA driver answers")
    if runs(supported, cuda):
        return say.against(f"Windows' driver supports CUDA {supported} and runs CUDA {own}")
    return say.proof(
        f"{case.named} is built for CUDA {own}; Windows' driver supports only CUDA {supported}",
        saw(f"{case.named} is built for CUDA {cuda}", case.framework.built_for_cuda),
        saw(f"the driver supports CUDA {supported}", fact),
    )


def older_than_the_card(case: Case) -> Finding | None:
    """A driver of a branch from before the GPU's architecture does not drive such a card."""
    facts = case.facts
    loaded, system = facts.driver.module_version, value_or(facts.system.os, "linux")
    without_cuda = value_or(case.framework.gpu_build, True) is False
    if without_cuda or not isinstance(loaded, Known) or isinstance(facts.system.wsl, Known):
        return None
    gpus = [(one.name, value_or(one.capability, "")) for one in value_or(facts.devices.gpus, ())]
    bus = value_or(facts.devices.pci, ())
    on_bus = [(value_or(one.name, "the GPU"), value_or(one.capability, "")) for one in bus]
    for name, capability in [one for one in gpus or on_bus if one[1]]:
        first = archs.first_driver_branch(capability, system)
        if not first or numbers(loaded.value)[:1] >= (first - archs.LAUNCH,):
            continue
        toolkit, code = archs.first_toolkit(capability), f"sm_{capability.replace('.', '')}"
        known = f"CUDA {toolkit}, the first for {code}, came with driver {first}"
        return say.proof(
            f"{name} needs driver {first} or newer; {loaded.value} is older than the card",
            saw(f"{name}, compute capability {capability}", facts.devices.gpus),
            say.table(known, packaged()),
            saw(f"driver {loaded.value}", loaded),
        )
    return None


SIGNS = rows("driver.too_old", "framework", older_than_the_card, older_than_the_build_needs)
