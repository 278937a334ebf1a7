"""driver.too_old: the driver against each framework's CUDA, the card, an image's demand."""

from __future__ import annotations

from gpuwhy.facts.fact import Absent, Known, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Evidence, Finding, Weight, saw
from gpuwhy.facts.version import at_least, major_minor, numbers
from gpuwhy.knowledge import archs
from gpuwhy.knowledge.drivers import Floor, cuda_of_driver, floor, packaged, runs
from gpuwhy.knowledge.gpus import segment
from gpuwhy.knowledge.images import RULES, consumer, first_wish, met
from gpuwhy.knowledge.packages import is_follower
from gpuwhy.signs.case import Case, against, proof, rows, strong, table
from gpuwhy.signs.expect import offline

_REQUIRE = "NVIDIA_REQUIRE_CUDA"


def older_than_the_build_needs(case: Case) -> Finding | None:
    """The floor of the CUDA a framework was built for, against the loaded kernel module."""
    one, facts = case.framework, case.facts
    cuda = one.built_for_cuda.need()
    if cuda is None:
        return against("{framework} is built without CUDA")
    if isinstance(facts.system.wsl, Known):
        return _under_wsl(case, cuda)
    loaded = facts.driver.module_version.need()
    if loaded is None:
        return against("no NVIDIA driver is loaded")
    wanted = floor(cuda, value_or(facts.system.os, "linux"))
    if wanted is None:
        Unknown(f"no driver floor is known for CUDA {cuda}").need()
        return None
    found = _compared(case, wanted, loaded)
    decided = older_than_the_card(case) or image_asks_for_more(case)
    return None if found.weight is Weight.AGAINST and decided else found


def _compared(case: Case, wanted: Floor, loaded: str) -> Finding:
    facts, one = case.facts, case.framework
    values = {"cuda": wanted.cuda, "needs": wanted.driver, "loaded": loaded}
    if at_least(loaded, wanted.driver):
        return against("driver {loaded} runs CUDA {cuda}", **values)
    bridge = _bridged(facts, wanted.cuda)
    if bridge:
        return against("cuda-compat runs CUDA {cuda} on driver {loaded}", **values)
    if bridge is False and (asker := _asked_otherwise(case)):
        text = "{asker} requires another release of {framework}, which decides the driver"
        return against(text, asker=asker, **values)
    return (strong if bridge is None else proof)(
        "{framework} is built for CUDA {cuda}, which needs driver {needs}; {loaded} is loaded",
        saw(f"{case.named} is built for CUDA {wanted.cuda}", one.built_for_cuda),
        table(f"CUDA {wanted.cuda} runs on driver {wanted.driver} or newer", wanted.source),
        saw(
            f"{'driver' if case.windows else 'kernel module'} {loaded}", facts.driver.module_version
        ),
        *_wish(facts),
        **values,
    )


def _asked_otherwise(case: Case) -> str:
    """Who requires another release of a package that only follows it."""
    found = value_or(case.facts.installs.contradictions, ())
    mine = (one for one in found if one.name == case.framework.package and one.installed)
    return next((str(one.by) for one in mine), "") if is_follower(case.framework.name) else ""


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
    fact = case.facts.driver.driver_cuda
    supported = fact.need()
    if supported is None:
        return against("no NVIDIA driver answers")
    values = {"cuda": major_minor(cuda), "supported": supported}
    if runs(supported, cuda):
        return against("Windows' driver supports CUDA {supported} and runs CUDA {cuda}", **values)
    return proof(
        "{framework} is built for CUDA {cuda}; Windows' driver supports only CUDA {supported}",
        saw(f"{case.named} is built for CUDA {cuda}", case.framework.built_for_cuda),
        saw(f"the driver supports CUDA {supported}", fact),
        **values,
    )


def older_than_the_card(case: Case) -> Finding | None:
    """A driver of a branch from before the GPU's architecture does not drive such a card."""
    facts = case.facts
    loaded, system = facts.driver.module_version, value_or(facts.system.os, "linux")
    without_cuda = value_or(case.framework.gpu_build, True) is False
    if without_cuda or not isinstance(loaded, Known) or isinstance(facts.system.wsl, Known):
        return None
    for name, capability in _cards(facts):
        first = archs.first_driver_branch(capability, system)
        if not first or numbers(loaded.value)[:1] >= (first - archs.LAUNCH,):
            continue
        toolkit, code = archs.first_toolkit(capability), f"sm_{capability.replace('.', '')}"
        return proof(
            "{gpu} needs driver {needs} or newer; {loaded} is older than the card",
            saw(f"{name}, compute capability {capability}", facts.devices.gpus),
            table(f"CUDA {toolkit}, the first for {code}, came with driver {first}", packaged()),
            saw(f"driver {loaded.value}", loaded),
            gpu=name,
            needs=str(first),
            loaded=loaded.value,
        )
    return None


def _cards(facts: Facts) -> list[tuple[str, str]]:
    """Each GPU with its compute capability, by the driver or the PCI bus."""
    gpus = [(one.name, value_or(one.capability, "")) for one in value_or(facts.devices.gpus, ())]
    bus = value_or(facts.devices.pci, ())
    cards = [(value_or(one.name, "the GPU"), value_or(one.capability, "")) for one in bus]
    return [one for one in gpus or cards if one[1]]


def image_asks_for_more(case: Case) -> Finding | None:
    """What the image demands of the host's driver: no container of it starts without."""
    facts, driver = case.facts, case.facts.driver
    counts = offline(facts) or isinstance(case.framework.built_for_cuda, Unknown)
    wish = _wish(facts) if counts else ()
    if not wish:
        return None
    return strong(
        "the image requires {wish}; driver {loaded} supports CUDA {supported}",
        *wish,
        saw("the host's driver", driver.module_version),
        wish=_first(facts),
        loaded=value_or(driver.module_version, ""),
        supported=value_or(driver.driver_cuda, ""),
    )


def _wish(facts: Facts) -> tuple[Evidence, ...]:
    """The image's own demand, where the host certainly does not meet it."""
    wish = facts.variables.value(_REQUIRE)
    driver, cuda = facts.driver.module_version, value_or(facts.driver.driver_cuda, "")
    if not isinstance(wish, Known) or isinstance(driver, (Absent, Unknown)) or not cuda:
        return ()
    card = consumer([name for name, _ in _cards(facts)])
    if met(wish.value, {"driver": driver.value, "cuda": cuda, "card": card}) is not False:
        return ()
    rule = table("alternatives are words, commas join", RULES)
    return saw(f"{_REQUIRE} requires {_first(facts)}", wish), rule


def _first(facts: Facts) -> str:
    wish = value_or(facts.variables.value(_REQUIRE), "")
    cuda = first_wish(wish)
    return f"CUDA {cuda} or newer" if cuda else wish[:80]


SIGNS = rows(
    "driver.too_old",
    "framework",
    *(older_than_the_card, older_than_the_build_needs, image_asks_for_more),
)
