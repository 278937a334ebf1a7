"""The driver: installed, loaded, of one version with its libraries; stubs and cuda-compat."""

from gpuwhy.facts.fact import Absent, Known, Source, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Evidence, Finding, know, saw
from gpuwhy.facts.loads import DriverLibrary, Rule
from gpuwhy.facts.version import numbers
from gpuwhy.knowledge.gpus import segment
from gpuwhy.signs import driver_library as libraries
from gpuwhy.signs import say
from gpuwhy.signs.case import Case, rows
from gpuwhy.signs.driver_library import UNLESS, depends_on_start, how, saw_copy, selected
from gpuwhy.signs.expect import gpu_present, installed, is_image, offline

_RULES = Source("know", "NVIDIA CUDA compatibility guide", "forward compatibility")
_SEEN_803 = Source("know", "an H200, 2026-11-15", "tests/hosts/h200-compat-first.json")
_LINKS = Source("know", "libnvidia-container, issues 213 and 266", "a newer driver in the image")

# ---------------------------------------------------------------- driver.missing


def no_kernel_module(case: Case) -> Finding | None:
    """A GPU on the bus without a loaded NVIDIA module."""
    facts, driver, system = case.facts, case.facts.driver, case.facts.system
    if version := driver.module_version.need():
        loaded = say.against(f"kernel module {version} is loaded")
        return None if no_driver_library(case) else loaded
    if value_or(facts.devices.gpus, ()) and not offline(facts):
        return say.against("a GPU answers through NVML, so a driver is loaded")
    if system.wsl.need():
        return say.against("under WSL the driver is Windows' own")
    if container := system.container.need():
        text = f"inside {container} the host's driver is judged by what was passed in"
        return say.against(text)
    present = gpu_present(facts)
    built = next((one for one in installed(facts) if value_or(one.gpu_build, False)), None)
    if case.windows and offline(facts) and built and isinstance(present, Unknown):
        return say.proof(
            "no NVIDIA driver is on this disk: nvcuda.dll is neither in System32 nor in the driver "
            f"store, and {say.release(built)} needs it",
            saw("no nvcuda.dll", driver.module_version),
            saw(f"{built.title} is a build with CUDA", built.gpu_build),
        )
    gpu = present.need()
    if not gpu:
        return say.against("no NVIDIA GPU on the PCI bus")
    bound = (value_or(card.driver, "") for card in value_or(facts.devices.pci, ()))
    holder = next((name for name in bound if name not in ("", "nvidia")), "")
    holder = "nouveau" if "nouveau" in value_or(driver.modules, ()) else holder
    text = f"{gpu} is on the PCI bus, but no NVIDIA kernel module is loaded"
    more = f", and {holder} holds the card" if holder else ""
    if case.windows:
        text = f"{gpu} is in this machine, but no NVIDIA driver is: System32 has no nvcuda.dll"
        more = f", and Windows' own {holder} drives the card" if holder else ""
    seen = (saw(gpu, present), saw("no NVIDIA kernel module", driver.module_version))
    return say.proof(text + more, *seen, *_reasons(facts, holder))


def _reasons(facts: Facts, holder: str) -> list[Evidence]:
    """Another driver on the card, Secure Boot, a module not built for this kernel."""
    driver = facts.driver
    out = [saw(f"{holder} drives the card", facts.devices.pci)] if holder else []
    if value_or(driver.secure_boot, False):
        out.append(saw("Secure Boot is on: only signed modules load", driver.secure_boot))
    if isinstance(driver.module_on_disk, Absent):
        out.append(saw("no nvidia module for the running kernel", driver.module_on_disk))
    return out


def no_driver_library(case: Case) -> Finding | None:
    """The kernel's half without the programs' half: no libcuda anywhere the loader looks."""
    facts = case.facts
    module, copies = facts.driver.module_version, facts.loads.libcuda
    version = module.need()
    if not version or facts.system.container.need() or facts.system.wsl.need():
        return None
    if any(one.on_path for one in copies.need() or ()):
        return None
    what, search, name = f"kernel module {version}", "loader", "libcuda.so.1"
    if case.windows:
        what, search, name = f"driver {version}", "DLL search", "nvcuda.dll"
    seen = (saw(f"driver {version}", module), saw(f"no {name} is found", copies))
    return say.proof(f"{what} is loaded, but the {search} finds no {name}", *seen)


# ---------------------------------------------------------------- driver.library_mismatch


def versions_differ(case: Case) -> Finding | None:
    """The library a program gets, against the module that is loaded."""
    facts = case.facts
    if objection := libraries.no_driver(facts):
        return objection
    module = facts.driver.module_version.need() or ""
    agree = False
    for one in filter(None, map(selected, (facts.loads.libcuda, facts.loads.libnvml))):
        version = one.version.need() if one.kind == "driver" else None
        if version and numbers(version) != numbers(module):
            differ = _newer_in_the_image if one.outranks else _other_version
            return differ(facts, one, version, module)
        agree = agree or version is not None
    return say.against(f"libraries and kernel module are both {module}") if agree else None


def _other_version(facts: Facts, one: DriverLibrary, version: str, module: str) -> Finding:
    open_end, upgrade = depends_on_start(facts, one), _upgrade(facts)
    where = f" ({one.path}, found before the driver's own)" if libraries.foreign(one) else ""
    text = f"{one.name} is {version}{where}, the loaded kernel module is {module}"
    text += UNLESS if open_end else ""
    return say.sure(not open_end)(
        text,
        saw(f"{one.real}, found by {how(one.found)}", one.version),
        saw(f"NVRM version {module}", facts.driver.module_version),
        *upgrade,
        module=module,
        path=one.path,
    )


def _newer_in_the_image(facts: Facts, one: DriverLibrary, version: str, module: str) -> Finding:
    """Both drivers' files lie in one folder: ldconfig links the name to the newer."""
    nvml = one.name.startswith("libnvidia-ml")
    then = "; what asks NVML then ends with a version mismatch" if nvml else ""
    found = say.strong(
        f"the image contains {one.name} of driver {version}, and the host's is {module}: NVIDIA's "
        "container runtime puts the host's beside it and runs ldconfig, which links the name to "
        f"the newer of the two{then}",
        saw(one.real, one.version),
        saw(f"the host's driver {module}", facts.driver.module_version),
        know("ldconfig links a library's name to the highest version in the folder", _LINKS),
        module=module,
    )
    return say.slows(found) if nvml else found


def baked_in(case: Case) -> Finding | None:
    """An image that contains a driver of its own: the host's libraries come beside it."""
    facts = case.facts
    image = value_or(facts.system.container, "") == "image"
    cuda, nvml = facts.loads.libcuda, value_or(facts.loads.libnvml, ())
    if not offline(facts) or any(one.outranks for one in (*value_or(cuda, ()), *nvml)):
        return None
    drivers = [one for one in cuda.need() or () if one.kind == "driver"]
    mine = [one for one in drivers if one.found.rule is not Rule.CONTAINER]
    own = [one for one in mine if image or libraries.foreign(one)]
    own += [one for one in nvml if libraries.foreign(one)]
    if not own:
        none = say.against("the image contains no driver library of its own")
        return none if image else None
    version = value_or(own[0].version, "of unknown version")
    if numbers(value_or(facts.driver.module_version, "x")) == numbers(version):
        return say.against(f"the image's own driver library is {version}, as the host's")
    library = own[0].name.partition(".so")[0]
    what = f"there is a {library}"
    what = f"the image contains a driver's {library} of its own" if image else what
    text = f"{what} ({version}), which fits hosts of that driver only"
    return say.slows(say.strong(text, saw(own[0].real, own[0].version)))


def nvml_refuses(case: Case) -> Finding | None:
    """NVML compares the two itself, and says so with code 18."""
    facts = case.facts
    error = facts.devices.nvml_error.need()
    if error is None or error.code != 18:
        return None
    module = value_or(facts.driver.module_version, "of another version")
    return say.proof(
        f"{error.call} refuses with {error.name}: its library does not fit the loaded kernel "
        f"module {module}",
        saw(f"{error.call} returned {error.code}", facts.devices.nvml_error),
        *_upgrade(facts),
        module=module,
    )


def _upgrade(facts: Facts) -> list[Evidence]:
    """Traces of an upgrade that the running kernel has not followed."""
    driver, booted = facts.driver, value_or(facts.system.booted, float("inf"))
    packages = value_or(driver.packages, ())
    late = [one for one in packages if value_or(one.changed, 0.0) > booted]
    names = ", ".join(f"{one.name} {one.version}" for one in late[:3])
    out = [saw(f"changed since boot: {names}", driver.packages)] if late else []
    disk, loaded = value_or(driver.module_on_disk, ""), value_or(driver.module_version, "")
    if disk and loaded and numbers(disk) != numbers(loaded):
        text = f"the module on disk is {disk}: a restart would load that one"
        out.append(saw(text, driver.module_on_disk))
    return out


# ---------------------------------------------------------------- driver.stub


def stub_selected(case: Case) -> Finding | None:
    """A stub can be linked against and does nothing: cuInit answers 34."""
    facts = case.facts
    cuda = facts.loads.libcuda
    real = [one for one in value_or(cuda, ()) if one.kind in ("driver", "wsl")]
    usable = isinstance(facts.system.wsl, Known) or (offline(facts) and real)
    objection = None if usable else libraries.unreachable(facts)
    if objection:
        return objection
    one = selected(cuda)
    if one and one.kind == "stub":
        open_end = depends_on_start(facts, one)
        others = [two for two in real[:1] if two.path != one.path]
        others = [two for two in others if two.found.rule is not Rule.ASSUMED]
        text = f"programs get the stub {one.path} instead of the driver's libcuda (error 34)"
        return say.sure(not open_end)(
            text + (UNLESS if open_end else ""),
            saw_copy(one, cuda),
            *(saw(f"the real one: {two.path}", cuda) for two in others),
            path=one.path,
        )
    if theirs := libraries.in_trees(facts, "stub"):
        who, loaded = theirs
        seen = saw(f"{loaded.path}, found by {how(loaded.found)}", facts.loads.trees)
        text = f"{who} gets the stub {loaded.path} instead of the driver's libcuda (error 34)"
        return say.proof(text, seen, framework=who, path=loaded.path)
    return say.against("libcuda is no stub")


# ---------------------------------------------------------------- driver.compat_misuse


def compat_selected(case: Case) -> Finding | None:
    """Forward compatibility is for data-center GPUs under a module older than the library."""
    facts, module, copies = case.facts, case.facts.driver.module_version, case.facts.loads.libcuda
    first, theirs = selected(copies), libraries.in_trees(facts, "compat")
    one = first if first and first.kind == "compat" else theirs and theirs[1]
    if one is None:
        return say.against("libcuda does not come from cuda-compat")
    if objection := libraries.no_driver(facts):
        return objection
    seen, rule = saw_copy(one, copies), "cuda-compat is for kernel modules older than itself"
    if is_image(facts) and isinstance(module, Unknown):
        return say.strong(
            f"the image puts {one.path} of cuda-compat before the host's libcuda: that works on a "
            f"data-center GPU whose driver is older than {value_or(one.version, 'it')}, and fails "
            "with error 803 under a newer one and 804 on other cards",
            seen,
            know(rule, _RULES),
            path=one.path,
        )
    loaded, version = module.need() or "", one.version.need() or ""
    if numbers(version) == numbers(loaded):
        return say.against("the cuda-compat libcuda is of the kernel module's own version")
    if numbers(version) > numbers(loaded):
        return _newer(facts, one.path, seen, f"libcuda {version} from cuda-compat", loaded)
    open_end = depends_on_start(facts, one)
    return say.sure(not open_end)(
        f"libcuda {version} from cuda-compat hides the driver's own {loaded}: an older libcuda "
        f"does not fit a newer kernel module (error 803){UNLESS if open_end else ''}",
        seen,
        saw(f"kernel module {loaded}", module),
        know(rule, _RULES),
        know("cuInit returned 803 with 580.95.05 over module 580.159.04", _SEEN_803),
        path=one.path,
    )


def _newer(facts: Facts, path: str, seen: Evidence, what: str, module: str) -> Finding:
    """A compat library that is newer than the module: the kind of card decides."""
    names = [gpu.name for gpu in value_or(facts.devices.gpus, ())]
    if not names:
        names = [value_or(card.name, "") for card in facts.devices.pci.need() or ()]
        if not any(names):
            facts.devices.gpus.need()
    names = [name for name in names if name] or ["this GPU"]
    kinds = [segment(name) for name in names]
    text = f"{what} is found before that of kernel module {module}"
    if set(kinds) == {"data center"}:
        return say.against(f"{text}, as intended on {names[0]}")
    rule = "forward compatibility works on data-center GPUs only; elsewhere it ends in error 804"
    told = (seen, saw(", ".join(names), facts.devices.gpus), know(rule, _RULES))
    if "consumer" in kinds:
        card = names[kinds.index("consumer")]
        return say.proof(f"{text}, on {card}, which does not allow it", *told, path=path)
    return say.weak(f"{text}; {names[0]} may not allow it", *told, path=path)


# ---------------------------------------------------------------- driver.not_ready


def fabric_not_up(case: Case) -> Finding | None:
    """A GPU behind NVSwitch answers CUDA only after the fabric manager registered it (802)."""
    gpu, manager = case.gpu, case.facts.driver.fabricmanager
    stopped = value_or(manager, None) is False
    if isinstance(gpu.fabric, Unknown) and not stopped:
        return None
    fabric = gpu.fabric.need()
    if fabric is None or fabric.state == "not supported":
        return None
    if fabric.state == "completed":
        registered = say.against(f"{gpu.name} is registered with the NVSwitch fabric")
        return None if mig_change_pending(case) else registered
    state = f"{fabric.state}: {fabric.error}" if fabric.error else fabric.state
    text = f"{gpu.name} is not registered with the NVSwitch fabric: {state}"
    seen = [saw(f"fabric state of {gpu.name}: {fabric.state}", gpu.fabric)]
    certain = fabric.state in ("failed", "in progress")
    if stopped and not certain:
        text += ", and nvidia-fabricmanager is stopped"
        seen.append(saw("service stopped", manager))
    return say.sure(certain or stopped)(text, *seen)


def mig_change_pending(case: Case) -> Finding | None:
    """A change of MIG mode waits for a reset: until then the instances do not exist."""
    mig = value_or(case.gpu.mig, None)
    if mig is None or mig.current == mig.pending:
        return None
    now, then = ("on", "off") if mig.current else ("off", "on")
    text = f"MIG mode is {now} and will be {then} only after a reset of the GPU"
    return say.strong(text, saw(f"MIG {now}, {then} pending", case.gpu.mig))


SIGNS = (
    *rows("driver.missing", "machine", no_kernel_module, no_driver_library),
    *rows("driver.library_mismatch", "machine", versions_differ, baked_in, nvml_refuses),
    *rows("driver.stub", "machine", stub_selected),
    *rows("driver.compat_misuse", "machine", compat_selected),
    *rows("driver.not_ready", "gpu", fabric_not_up, mig_change_pending),
)
