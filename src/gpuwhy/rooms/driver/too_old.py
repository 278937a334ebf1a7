"""driver.too_old: the loaded driver is older than the CUDA that a framework is built for needs."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.knowledge import archs
from gpuwhy.knowledge.archs import first_driver_branch as _first_branch
from gpuwhy.knowledge.distributions import NEWEST_DRIVER
from gpuwhy.knowledge.drivers import PACKAGED, Floor, cuda_of_driver, floor, runs
from gpuwhy.knowledge.flavours import is_follower
from gpuwhy.knowledge.gpus import segment
from gpuwhy.knowledge.requirements import RULES, VARIABLE, consumer, first_wish, met
from gpuwhy.knowledge.windows import tensorflow_for
from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Evidence, Finding, Fix, against, know, proof, saw, strong
from gpuwhy.model.fact import Known, Unknown, value_or
from gpuwhy.model.facts import DriverLibrary, Framework
from gpuwhy.model.version import at_least, major_minor, numbers
from gpuwhy.rooms.shared.builds import older_builds
from gpuwhy.rooms.shared.commands import change, python_of
from gpuwhy.rooms.shared.windows import on_windows


def older_than_the_build_needs(case: Case) -> Finding | None:
    """The floor of the CUDA a framework was built for, against the kernel module that is loaded."""
    one, facts = _framework(case), case.facts
    cuda = one.built_for_cuda.need()
    if cuda is None:
        return against(f"{_called(one)} is built without CUDA", saw("no CUDA in this build", one.built_for_cuda))
    if isinstance(facts.surroundings.wsl, Known):
        return _by_driver_cuda(case, one, cuda)
    loaded = facts.driver.module_version.need()
    if loaded is None:
        return against("no NVIDIA driver is loaded", saw("no NVIDIA kernel module", facts.driver.module_version))
    wanted = floor(cuda, value_or(facts.surroundings.system, "linux"))
    if wanted is None:
        Unknown(f"no driver floor is known for CUDA {cuda}").need()
    said = _compared(case, one, wanted, loaded)
    return None if said.weight == "against" and (older_than_the_card(case) or image_asks_for_more(case)) else said


def _compared(case: Case, one: Framework, wanted: Floor, loaded: str) -> Finding:
    what = "driver" if on_windows(case.facts) else "kernel module"
    seen = saw(f"{what} {loaded}", case.facts.driver.module_version)
    built = saw(f"{_called(one)} is built for CUDA {wanted.cuda}", one.built_for_cuda)
    rule = know(f"CUDA {wanted.cuda} runs on driver {wanted.driver} or newer", wanted.source)
    if at_least(loaded, wanted.driver):
        return against(f"driver {loaded} runs CUDA {wanted.cuda}", seen, built, rule)
    text = (
        f"{_called(one)} is built for CUDA {wanted.cuda}, which needs driver {wanted.driver} or newer; "
        f"{loaded} is loaded"
    )
    bridge = _bridge(case, wanted.cuda)
    if bridge is None and (asker := _asked_otherwise(case, one)):
        return against(f"{asker} asks for another release of {one.title}, which decides the driver", seen, built)
    if bridge is None:
        return proof(text, built, rule, seen, *_wish(case))
    if isinstance(bridge, Unknown):
        return strong(text, built, rule, seen, *_wish(case))
    return against(
        f"forward compatibility bridges it: libcuda {value_or(bridge.version, '')} from {bridge.path} runs CUDA "
        f"{wanted.cuda} on driver {loaded}",
        saw(f"{bridge.path} is a cuda-compat library", case.facts.loads.libcuda),
    )


def _asked_otherwise(case: Case, one: Framework) -> str:
    """Who states that it needs another release of a package that only follows it: with that one the driver may do."""
    found = value_or(case.facts.target.contradictions, ()) if is_follower(one.name) else ()
    return next((f"{c.by} {c.by_version}" for c in found if c.name == one.distribution and c.installed), "")


def older_than_the_card(case: Case) -> Finding | None:
    """A driver of a branch that came before the GPU's architecture; it does not drive such a card at all."""
    loaded, system = case.facts.driver.module_version, value_or(case.facts.surroundings.system, "linux")
    without_cuda = value_or(_framework(case).gpu_build, True) is False
    if without_cuda or not isinstance(loaded, Known) or isinstance(case.facts.surroundings.wsl, Known):
        return None
    hit = next(((n, c) for n, c in _cards(case) if _before(loaded.value, _first_branch(c, system))), None)
    if hit is None:
        return None
    (name, capability), first = hit, _first_branch(hit[1], system)
    toolkit = archs.first_toolkit(capability)
    return proof(
        f"{name} needs driver {first} or newer; {loaded.value} is older than the card and does not drive it",
        saw(f"{name}, compute capability {capability}", case.facts.devices.devices),
        know(f"CUDA {toolkit}, the first for sm_{capability.replace('.', '')}, came with driver {first}", PACKAGED),
        saw(f"driver {loaded.value}", loaded),
    )


def _before(driver: str, first: int) -> bool:
    return bool(first) and numbers(driver)[:1] < (first - archs.LAUNCH,)


def _cards(case: Case) -> list[tuple[str, str]]:
    """Each GPU with its compute capability, as the driver or the PCI bus tells it."""
    devices = [(d.name, value_or(d.capability, "")) for d in value_or(case.facts.devices.devices, ())]
    cards = [(value_or(c.name, "the GPU"), value_or(c.capability, "")) for c in value_or(case.facts.devices.pci, ())]
    return [one for one in devices or cards if one[1]]


def image_asks_for_more(case: Case) -> Finding | None:
    """What the image demands of the host's driver: no container of it starts without; a running one did."""
    one, image = _framework(case), isinstance(case.facts.surroundings.offline, Known)
    wish = _wish(case) if image or isinstance(one.built_for_cuda, Unknown) else ()
    if not wish:
        return None
    driver = case.facts.driver
    text = f"the image asks for {_first(case)}; driver {value_or(driver.module_version, '')} speaks CUDA "
    return strong(f"{text}{value_or(driver.driver_cuda, '')}", *wish, saw("the host's driver", driver.module_version))


def _wish(case: Case) -> tuple[Evidence, ...]:
    """The image's own demand, where the host certainly does not meet it."""
    facts = case.facts
    wish = facts.environment.value(VARIABLE)
    has = {"driver": value_or(facts.driver.module_version, ""), "cuda": value_or(facts.driver.driver_cuda, "")}
    card = consumer([name for name, _ in _cards(case)])
    if not isinstance(wish, Known) or "" in has.values() or met(wish.value, {**has, "card": card}) is not False:
        return ()
    return saw(f"{VARIABLE} asks for {_first(case)}", wish), know("alternatives are words, commas join", RULES)


def _first(case: Case) -> str:
    wish = value_or(case.facts.environment.value(VARIABLE), "")
    cuda = first_wish(wish)
    return f"CUDA {cuda} or newer" if cuda else wish[:80]


def _bridge(case: Case, cuda: str) -> DriverLibrary | Unknown | None:
    """The cuda-compat library that makes an old kernel module do; None when there is none, Unknown when not seen."""
    copies = case.facts.loads.libcuda
    if isinstance(copies, Unknown):
        return copies
    first = next(iter(copies.need() or ()), None)
    if first is None or first.kind != "compat":
        return None
    speaks = cuda_of_driver(value_or(first.version, ""))
    if speaks is None:
        return Unknown("the version of the cuda-compat library")
    return first if runs(speaks, cuda) and _data_center(case) else None


def _by_driver_cuda(case: Case, one: Framework, cuda: str) -> Finding:
    """Under WSL the driver is Windows' own; what counts is the CUDA it says it speaks."""
    fact = case.facts.driver.driver_cuda
    speaks = fact.need()
    if speaks is None:
        return against("no NVIDIA driver answers", saw("no driver CUDA version", fact))
    seen = saw(f"the driver speaks CUDA {speaks}", fact)
    built = saw(f"{_called(one)} is built for CUDA {cuda}", one.built_for_cuda)
    if runs(speaks, cuda):
        return against(f"Windows' driver speaks CUDA {speaks} and runs CUDA {major_minor(cuda)}", seen, built)
    return proof(f"{_called(one)} is built for CUDA {cuda}; Windows' driver speaks only CUDA {speaks}", built, seen)


def _framework(case: Case) -> Framework:
    assert case.framework is not None
    return case.framework


def _called(one: Framework) -> str:
    return f"{one.title} {one.version}"


def _data_center(case: Case) -> bool:
    devices = value_or(case.facts.devices.devices, ())
    return bool(devices) and all(segment(device.name) == "data center" for device in devices)


def fixes(case: Case) -> tuple[Fix, ...]:
    """A build that the driver runs; a newer driver; on data-center cards the compat package."""
    one, driver = _framework(case), case.facts.driver
    cuda = value_or(one.built_for_cuda, "")
    speaks = value_or(driver.driver_cuda, None)
    if not isinstance(case.facts.surroundings.wsl, Known):
        speaks = cuda_of_driver(value_or(driver.module_version, "")) or speaks
    if on_windows(case.facts):
        return _on_windows(case, one, cuda, speaks or "")
    if isinstance(case.facts.surroundings.offline, Known) and image_asks_for_more(case):
        return _for_the_image(case)
    too_new = older_than_the_card(case) is not None  # the card: no build of the framework helps
    out = list(older_builds(one, speaks, case.facts)) if speaks and not too_new else []
    if left := _left_behind(case, cuda):
        return (*out, _no_newer(one, *left))
    return (*out, *_newer_driver(case, cuda, too_new))


def _left_behind(case: Case, cuda: str) -> tuple[str, str, str] | None:
    """A card, its capability, and the last driver branch that drives it, where the wanted driver is newer."""
    wanted = numbers(_wanted(case, cuda))[:1]
    for name, capability in _cards(case):
        last = archs.last_driver_branch(capability)
        if last and wanted and wanted > numbers(last.removeprefix("R"))[:1]:
            return name, capability, last
    return None


def _no_newer(one: Framework, name: str, capability: str, last: str) -> Fix:
    """Nothing newer drives the card, cuda-compat neither: only a build of its time does."""
    speaks = archs.last_toolkit(capability) or "11.8"
    text = (
        f"Install a release of {one.title} built for CUDA {speaks} or older: {last} is the last driver branch for "
        f"{name}, no newer one drives it, and cuda-compat does not either"
    )
    return Fix(text, safe=True, wishes=(one.distribution,))


def _for_the_image(case: Case) -> tuple[Fix, ...]:
    """The image's own demand is not met: a newer driver, an older image, or no check where CUDA runs all the same."""
    asked = first_wish(value_or(case.facts.environment.value(VARIABLE), ""))
    row = floor(asked) if asked else None
    least = f" to {row.native} or newer, which speaks CUDA {asked}" if row and row.native else ""
    speaks = value_or(case.facts.driver.driver_cuda, "")
    older = (
        f"Or start from an image for CUDA {speaks} or older" if speaks else "Or start from an image of an older CUDA"
    )
    out = [Fix(f"Update the host's driver{least}", root=True, reboot=True), Fix(older)]
    if row and row.minor_compatible and at_least(value_or(case.facts.driver.module_version, "0"), row.driver):
        text = f"Or leave the check out: CUDA {asked} runs on driver {row.driver} and newer"
        out.append(Fix(text, "docker run --gpus all -e NVIDIA_DISABLE_REQUIRE=1 IMAGE", safe=True))
    return tuple(out)


def _newer_driver(case: Case, cuda: str, too_new: bool) -> Iterator[Fix]:
    """A newer driver where it belongs; on data-center cards the compat package before it."""
    wanted = _wanted(case, cuda)
    at = f" {wanted} or newer" if wanted else ""
    if isinstance(case.facts.surroundings.wsl, Known):
        yield Fix("Install a newer NVIDIA driver in Windows (none inside WSL), then: wsl --shutdown")
        return
    if isinstance(case.facts.surroundings.container, Known):
        yield Fix(f"Install driver{at} on the host: a container cannot bring its own", root=True, reboot=True)
        return
    if _data_center(case) and not too_new:
        package, folder = major_minor(cuda).replace(".", "-"), f"/usr/local/cuda-{major_minor(cuda)}/compat"
        yield Fix("Install the forward-compatibility package (data-center GPUs only) and put its folder first",
                  on.linux(f"sudo apt install cuda-compat-{package}; export LD_LIBRARY_PATH={folder}:$LD_LIBRARY_PATH"),
                  root=True)  # fmt: skip
    yield Fix(f"Install driver{at}", NEWEST_DRIVER, root=True, reboot=True)


def _wanted(case: Case, cuda: str) -> str:
    """The oldest driver that does for the framework (or else the image, which asks for CUDA too) and for every card."""
    system = value_or(case.facts.surroundings.system, "linux")
    known = floor(cuda, system)
    asked = first_wish(value_or(case.facts.environment.value(VARIABLE), "")) if not cuda and _wish(case) else ""
    image = floor(asked, system) if asked else None
    firsts = [str(first) for _, capability in _cards(case) if (first := _first_branch(capability, system))]
    wanted = (known.driver if known else "", image.native if image else "", *firsts)
    return max(filter(None, wanted), key=numbers, default="")


def _on_windows(case: Case, one: Framework, cuda: str, speaks: str) -> tuple[Fix, ...]:
    """A newer driver; or the newest TensorFlow that this one runs."""
    at = f" {_wanted(case, cuda)} or newer" if _wanted(case, cuda) else ""
    left = _left_behind(case, cuda)
    newer = Fix(f"Install driver{at} for this card, from nvidia.com/drivers", root=True, reboot=True)
    out = [_no_newer(one, *left) if left else newer]
    row = tensorflow_for(python_of(case.facts), speaks) if one.name == "tensorflow" and speaks else None
    if row is not None:
        text = f"Or install TensorFlow {row.version}, built for CUDA {row.cuda}, which this driver runs"
        out.append(change(case.facts, text, f"tensorflow-gpu=={row.version}", because_of=one.distribution))
    return tuple(out)


CAUSE = Cause(
    id="driver.too_old",
    title="the NVIDIA driver is too old for the framework's CUDA version",
    signs=(older_than_the_card, older_than_the_build_needs, image_asks_for_more),
    fixes=fixes,
    scope="framework",
    effect="{subject} will not see the GPU",
)
