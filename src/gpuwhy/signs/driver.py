"""The driver: installed, loaded, of one version with its libraries; stubs and cuda-compat."""

from __future__ import annotations

from gpuwhy.facts.fact import Known, Source, Unknown, value_or
from gpuwhy.facts.facts import Facts
from gpuwhy.facts.finding import Evidence, Finding, know, saw
from gpuwhy.facts.loads import DriverLibrary, Rule
from gpuwhy.facts.version import numbers
from gpuwhy.knowledge.gpus import segment
from gpuwhy.signs import driver_library as libraries
from gpuwhy.signs.case import Case, against, proof, release, rows, slows, strong, sure, weak
from gpuwhy.signs.driver_library import UNLESS, depends_on_start, how, saw_copy, selected
from gpuwhy.signs.expect import gpu_present, installed, is_image, offline

_RULES = Source("know", "NVIDIA CUDA compatibility guide", "forward compatibility")
_SEEN_803 = Source("know", "an H200, 2026-11-15", "tests/hosts/h200-compat-first.json")
_LINKS = Source("know", "libnvidia-container, issues 213 and 266", "a newer driver in the image")

# ---------------------------------------------------------------- driver.missing


def no_kernel_module(case: Case) -> Finding | None:
    """A GPU on the bus without a loaded NVIDIA module."""
    facts = case.facts
    driver, system = facts.driver, facts.system
    version = driver.module_version.need()
    if version:
        loaded = against("kernel module {version} is loaded", version=version)
        return None if no_driver_library(case) else loaded
    if value_or(facts.devices.gpus, ()) and not offline(facts):
        return against("a GPU answers through NVML, so a driver is loaded")
    if system.wsl.need():
        return against("under WSL the driver is Windows' own")
    if container := system.container.need():
        text = "inside {container} the host's driver is judged by what was passed in"
        return against(text, container=container)
    if found := _none_on_disk(case):
        return found
    present = gpu_present(facts)
    gpu = present.need()
    if not gpu:
        return against("no NVIDIA GPU on the PCI bus")
    holder = _holder(facts)
    values = {"gpu": gpu, "holder": holder}
    seen = (saw(gpu, present), saw("no NVIDIA kernel module", driver.module_version))
    if case.windows:
        text = "{gpu} is in this machine, but no NVIDIA driver is: System32 has no nvcuda.dll"
        more = ", and Windows' own {holder} drives the card" if holder else ""
        return proof(text + more, *seen, **values)
    text = "{gpu} is on the PCI bus, but no NVIDIA kernel module is loaded"
    more = ", and {holder} holds the card" if holder else ""
    return proof(text + more, *seen, *_reasons(facts, holder), **values)


def _none_on_disk(case: Case) -> Finding | None:
    """A Windows disk shows no card, but no driver's files, which a build for CUDA needs."""
    facts = case.facts
    built = next((one for one in installed(facts) if value_or(one.gpu_build, False)), None)
    unseen = isinstance(gpu_present(facts), Unknown)
    if not case.windows or not offline(facts) or built is None or not unseen:
        return None
    return proof(
        "no NVIDIA driver is on this disk: nvcuda.dll is neither in System32 nor in the driver "
        "store, and {framework} needs it",
        saw("no nvcuda.dll", facts.driver.module_version),
        saw(f"{built.title} is a build with CUDA", built.gpu_build),
        framework=release(built),
    )


def no_driver_library(case: Case) -> Finding | None:
    """The kernel's half without the programs' half: no libcuda anywhere the loader looks."""
    facts = case.facts
    module, copies = facts.driver.module_version, facts.loads.libcuda
    version = module.need()
    if not version or facts.system.container.need() or facts.system.wsl.need():
        return None
    if any(one.on_path for one in copies.need() or ()):
        return None
    name, text = "libcuda.so.1", "kernel module {version} is loaded, but the loader finds no "
    if case.windows:
        name, text = "nvcuda.dll", "driver {version} is loaded, but the DLL search finds no "
    seen = (saw(f"driver {version}", module), saw(f"no {name} is found", copies))
    return proof(text + name, *seen, version=version)


def _reasons(facts: Facts, holder: str) -> list[Evidence]:
    """Another driver on the card, Secure Boot, a module not built for this kernel."""
    driver, out = facts.driver, []
    if holder:
        out.append(saw(f"{holder} drives the card", facts.devices.pci))
    if value_or(driver.secure_boot, False):
        out.append(saw("Secure Boot is on: only signed modules load", driver.secure_boot))
    builds = value_or(driver.dkms, ())
    if builds and not any(one.built for one in builds):
        out.append(saw(f"DKMS has no nvidia module for kernel {builds[0].kernel}", driver.dkms))
    return out


def _holder(facts: Facts) -> str:
    """The other kernel driver that has the card, "" when none is seen."""
    if value_or(facts.driver.nouveau, False):
        return "nouveau"
    bound = (value_or(card.driver, "") for card in value_or(facts.devices.pci, ()))
    return next((name for name in bound if name not in ("", "nvidia")), "")


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
    text = "libraries and kernel module are both {version}"
    return against(text, version=module) if agree else None


def _other_version(facts: Facts, one: DriverLibrary, version: str, module: str) -> Finding:
    open_end, upgraded = depends_on_start(facts, one), _upgraded(facts)
    where = " ({path}, found before the driver's own)" if libraries.foreign(one) else ""
    text = f"{{library}} is {{version}}{where}, the loaded kernel module is {{module}}"
    text += "; the packages were upgraded after the last boot" if upgraded else ""
    return sure(not open_end)(
        text + (UNLESS if open_end else ""),
        saw(f"{one.real}, found by {how(one.found)}", one.version),
        saw(f"NVRM version {module}", facts.driver.module_version),
        *_upgrade(facts),
        library=one.name,
        version=version,
        module=module,
        path=one.path,
    )


def _newer_in_the_image(facts: Facts, one: DriverLibrary, version: str, module: str) -> Finding:
    """Both drivers' files lie in one folder: ldconfig links the name to the newer."""
    nvml = one.name.startswith("libnvidia-ml")
    then = "; what asks NVML then ends with a version mismatch" if nvml else ""
    found = strong(
        "the image contains {library} of driver {version}, and the host's is {module}: NVIDIA's "
        "container runtime puts the host's beside it and runs ldconfig, which links the name to "
        f"the newer of the two{then}",
        saw(one.real, one.version),
        saw(f"the host's driver {module}", facts.driver.module_version),
        know("ldconfig links a library's name to the highest version in the folder", _LINKS),
        library=one.name,
        version=version,
        module=module,
    )
    return slows(found) if nvml else found


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
        return against("the image contains no driver library of its own") if image else None
    version = value_or(own[0].version, "of unknown version")
    if numbers(value_or(facts.driver.module_version, "x")) == numbers(version):
        return against(
            "the image's own driver library is {version}, as the host's", version=version
        )
    what = "the image contains a driver's {library} of its own" if image else "there is a {library}"
    text = f"{what} ({{version}}), which fits hosts of that driver only"
    library, seen = own[0].name.partition(".so")[0], saw(own[0].real, own[0].version)
    return slows(strong(text, seen, library=library, version=version))


def nvml_refuses(case: Case) -> Finding | None:
    """NVML compares the two itself, and says so with code 18."""
    facts = case.facts
    error = facts.devices.nvml_error.need()
    if error is None or error.code != 18:
        return None
    return proof(
        "{call} refuses with {error}: its library does not fit the loaded kernel module {module}",
        saw(f"{error.call} returned {error.code}", facts.devices.nvml_error),
        *_upgrade(facts),
        call=error.call,
        error=error.name,
        module=value_or(facts.driver.module_version, "of another version"),
    )


def _upgrade(facts: Facts) -> list[Evidence]:
    """Traces of an upgrade that the running kernel has not followed."""
    driver, late, out = facts.driver, _upgraded(facts), []
    if late:
        out.append(saw(f"changed since boot: {', '.join(late[:3])}", driver.packages))
    disk, loaded = value_or(driver.module_on_disk, ""), value_or(driver.module_version, "")
    if disk and loaded and numbers(disk) != numbers(loaded):
        text = f"the module on disk is {disk}: a restart would load that one"
        out.append(saw(text, driver.module_on_disk))
    return out


def _upgraded(facts: Facts) -> list[str]:
    """The driver's packages that changed after the last boot."""
    booted = value_or(facts.system.booted, float("inf"))
    packages = value_or(facts.driver.packages, ())
    late = (one for one in packages if value_or(one.changed, 0.0) > booted)
    return [f"{one.name} {one.version}" for one in late]


# ---------------------------------------------------------------- driver.stub


def stub_selected(case: Case) -> Finding | None:
    """A stub can be linked against and does nothing: cuInit answers 34."""
    facts = case.facts
    cuda, nvml = facts.loads.libcuda, facts.loads.libnvml
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
        text = "programs get the stub {path} instead of the driver's libcuda (error 34)"
        return sure(not open_end)(
            text + (UNLESS if open_end else ""),
            saw_copy(one, cuda),
            *(saw(f"the real one: {two.path}", cuda) for two in others),
            path=one.path,
        )
    if theirs := libraries.in_trees(facts, "stub"):
        who, loaded = theirs
        seen = saw(f"{loaded.path}, found by {how(loaded.found)}", facts.loads.trees)
        text = "{framework} gets the stub {path} instead of the driver's libcuda (error 34)"
        return proof(text, seen, framework=who, path=loaded.path)
    other = selected(nvml)
    if other and other.kind == "stub":
        text = "nvidia-smi and NVML programs get the stub {path}"
        return strong(text, saw_copy(other, nvml), path=other.path)
    return against("libcuda is no stub")


# ---------------------------------------------------------------- driver.compat_misuse


def compat_selected(case: Case) -> Finding | None:
    """Forward compatibility is for data-center GPUs under a module older than the library."""
    facts, module = case.facts, case.facts.driver.module_version
    one = _compat(facts)
    if one is None:
        return against("libcuda does not come from cuda-compat")
    if objection := libraries.no_driver(facts):
        return objection
    if is_image(facts) and isinstance(module, Unknown):
        return _in_image(facts, one)
    loaded, version = module.need() or "", one.version.need() or ""
    if numbers(version) == numbers(loaded):
        return against("the cuda-compat libcuda is of the kernel module's own version")
    return (_older if numbers(version) < numbers(loaded) else _newer)(facts, one, version, loaded)


def _compat(facts: Facts) -> DriverLibrary | None:
    """The cuda-compat libcuda that programs, or one framework's process, get."""
    one = selected(facts.loads.libcuda)
    if one and one.kind == "compat":
        return one
    theirs = libraries.in_trees(facts, "compat")
    if not theirs:
        return None
    loaded = theirs[1]
    same = [copy for copy in value_or(facts.loads.libcuda, ()) if copy.path == loaded.path]
    unread = Unknown(f"{loaded.path}: only its place was looked at")
    made = DriverLibrary(
        *(loaded.name, loaded.path, loaded.path, loaded.found, "compat", loaded.version, unread)
    )
    return same[0] if same else made


def _in_image(facts: Facts, one: DriverLibrary) -> Finding:
    """An image that puts cuda-compat before every host's driver: right on few machines."""
    return strong(
        "the image puts {path} of cuda-compat before the host's libcuda: that works on a "
        "data-center GPU whose driver is older than {version}, and fails with error 803 under a "
        "newer one and 804 on other cards",
        saw_copy(one, facts.loads.libcuda),
        know("cuda-compat is for kernel modules older than itself", _RULES),
        path=one.path,
        version=value_or(one.version, "it"),
    )


def _older(facts: Facts, one: DriverLibrary, version: str, module: str) -> Finding:
    open_end = depends_on_start(facts, one)
    text = (
        "libcuda {version} from cuda-compat hides the driver's own {module}: an older libcuda does "
        "not fit a newer kernel module (error 803)"
    )
    return sure(not open_end)(
        text + (UNLESS if open_end else ""),
        saw_copy(one, facts.loads.libcuda),
        saw(f"kernel module {module}", facts.driver.module_version),
        know("cuda-compat is for kernel modules older than itself", _RULES),
        know("cuInit returned 803 with 580.95.05 over module 580.159.04", _SEEN_803),
        version=version,
        module=module,
        path=one.path,
    )


def _newer(facts: Facts, one: DriverLibrary, version: str, module: str) -> Finding:
    names = _gpu_names(facts)
    kinds = [segment(name) for name in names]
    text = "libcuda {version} from cuda-compat is found before that of kernel module {module}"
    rule = "forward compatibility works on data-center GPUs only; elsewhere it ends in error 804"
    seen = (saw_copy(one, facts.loads.libcuda), saw(", ".join(names), facts.devices.gpus))
    values = {"version": version, "module": module, "path": one.path, "gpu": names[0]}
    if "consumer" in kinds:
        values["gpu"] = names[kinds.index("consumer")]
        text += ", on {gpu}, which does not allow it"
        return proof(text, *seen, know(rule, _RULES), **values)
    if set(kinds) == {"data center"}:
        return against(text + ", as intended on {gpu}", **values)
    return weak(text + "; {gpu} may not allow it", *seen, know(rule, _RULES), **values)


def _gpu_names(facts: Facts) -> list[str]:
    """The GPUs by NVML, else by the bus."""
    gpus = value_or(facts.devices.gpus, ())
    if gpus:
        return [gpu.name for gpu in gpus]
    names = [value_or(card.name, "") for card in facts.devices.pci.need() or ()]
    if not any(names):
        facts.devices.gpus.need()
    return [name for name in names if name] or ["this GPU"]


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
        registered = against("{gpu} is registered with the NVSwitch fabric", gpu=gpu.name)
        return None if mig_change_pending(case) else registered
    state = f"{fabric.state}: {fabric.error}" if fabric.error else fabric.state
    text = "{gpu} is not registered with the NVSwitch fabric: {state}"
    seen = [saw(f"fabric state of {gpu.name}: {fabric.state}", gpu.fabric)]
    certain = fabric.state in ("failed", "in progress")
    if stopped and not certain:
        text += ", and nvidia-fabricmanager is stopped"
        seen.append(saw("service stopped", manager))
    return sure(certain or stopped)(text, *seen, gpu=gpu.name, state=state)


def mig_change_pending(case: Case) -> Finding | None:
    """A change of MIG mode waits for a reset: until then the instances do not exist."""
    mig = value_or(case.gpu.mig, None)
    if mig is None or mig.current == mig.pending:
        return None
    now, then = ("on", "off") if mig.current else ("off", "on")
    text = "MIG mode is {now} and will be {then} only after a reset of the GPU"
    return strong(text, saw(f"MIG {now}, {then} pending", case.gpu.mig), now=now, then=then)


SIGNS = (
    *rows("driver.missing", "machine", no_kernel_module, no_driver_library),
    *rows("driver.library_mismatch", "machine", versions_differ, baked_in, nvml_refuses),
    *rows("driver.stub", "machine", stub_selected),
    *rows("driver.compat_misuse", "machine", compat_selected),
    *rows("driver.not_ready", "gpu", fabric_not_up, mig_change_pending),
)
