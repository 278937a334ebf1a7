"""driver.library_mismatch: the driver's libraries and its loaded kernel module are of different versions."""

from __future__ import annotations

from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Evidence, Finding, Fix, against, know, mild, proof, saw, strong
from gpuwhy.model.fact import Known, Source, value_or
from gpuwhy.model.facts import DriverLibrary, Rule
from gpuwhy.model.version import numbers
from gpuwhy.rooms.shared.probed import answered
from gpuwhy.rooms.shared.winner import (
    also_serves,
    as_the_cache_stands,
    folder_of,
    foreign,
    in_image,
    no_driver,
    off_the_path,
    winner,
)


def versions_differ(case: Case) -> Finding | None:
    """The library a program gets, against the module that is loaded; only the driver's own copies count."""
    facts = case.facts
    objection = no_driver(facts)
    if objection:
        return objection
    module = facts.driver.module_version.need() or ""
    agreeing: list[DriverLibrary] = []
    for one in filter(None, map(winner, (facts.loads.libcuda, facts.loads.libnvml))):
        version = one.version.need() if one.kind == "driver" else None
        if version and numbers(version) != numbers(module):
            if one.outranks:
                return _newer_in_the_image(case, one, version, module)
            unless = as_the_cache_stands(facts, one)
            before = f" ({one.path}, found before the driver's own)" if foreign(one) else ""
            return (strong if unless else proof)(
                f"{one.name} is {version}{before}, the loaded kernel module is {module}{_since_boot(case)}{unless}",
                saw(f"{one.real}, found by {one.found_via}", one.version),
                saw(f"NVRM version {module}", facts.driver.module_version),
                *_upgrade(case),
            )
        agreeing += [one] if version else []
    if agreeing:
        return against(f"libraries and kernel module are both {module}", saw(agreeing[0].real, agreeing[0].version))
    return None


def _newer_in_the_image(case: Case, one: DriverLibrary, version: str, module: str) -> Finding:
    """Both drivers' files lie in one folder: of two with one name inside, ldconfig links to the newer."""
    nvml = one.name.startswith("libnvidia-ml")
    then = "; nvidia-smi and what else asks NVML then end with a version mismatch" if nvml else ""
    found = strong(
        f"the image carries {one.name} of driver {version}, and the host's is {module}: NVIDIA's container runtime "
        f"puts the host's beside it and runs ldconfig, which links the name to the newer of the two{then}",
        saw(one.real, one.version),
        saw(f"the host's driver {module}", case.facts.driver.module_version),
        know("ldconfig links a library's name to the highest version in the folder", LINKS),
    )
    return mild(found) if nvml else found  # CUDA itself goes on without NVML


LINKS = Source("know", "libnvidia-container, issues 213 and 266", "a newer driver's libraries in the image")


def baked_in(case: Case) -> Finding | None:
    """An image that carries a driver of its own: the host's libraries come beside it, and both have one name."""
    around, loads = case.facts.surroundings, case.facts.loads
    image = value_or(around.container, "") == "image"
    both = (*value_or(loads.libcuda, ()), *value_or(loads.libnvml, ()))
    if not isinstance(around.offline, Known) or any(one.outranks for one in both):
        return None
    own = _carried(case, image)
    if not own and not image:
        return None
    if not own:
        return against("the image carries no driver library of its own", saw("no libcuda of a driver", loads.libcuda))
    version, told = value_or(own[0].version, "of unknown version"), value_or(case.facts.driver.module_version, "")
    if told and numbers(told) == numbers(version):
        return against(f"the image's own driver library is {version}, as the host's", saw(own[0].real, own[0].version))
    what = own[0].name.partition(".so")[0]
    whose = f"the image carries a driver's {what} of its own" if image else f"these files carry a driver's {what}"
    text = f"{whose} ({version}), which fits hosts of that driver only"
    return mild(strong(text, saw(own[0].real, own[0].version)))


def _carried(case: Case, image: bool) -> list[DriverLibrary]:
    """The driver's libraries among the files: of an image all of libcuda, else those where no driver puts them."""
    loads = case.facts.loads
    cuda = [one for one in loads.libcuda.need() or () if one.kind == "driver" and one.rule is not Rule.BROUGHT]
    return [
        *(one for one in cuda if image or foreign(one)),
        *(one for one in value_or(loads.libnvml, ()) if foreign(one)),
    ]


def nvml_refuses(case: Case) -> Finding | None:
    """NVML compares the two itself, and says so with code 18."""
    fact = case.facts.devices.nvml_error
    error = fact.need()
    if error is None or error.code != 18:
        return None
    module = value_or(case.facts.driver.module_version, "of another version")
    return proof(
        f"{error.call} refuses with {error.name}: its library does not fit the loaded kernel module {module}",
        saw(f"{error.call} returned {error.code}", fact),
        *_upgrade(case),
    )


def _upgrade(case: Case) -> tuple[Evidence, ...]:
    """Traces of an upgrade that the running kernel has not followed."""
    driver, out = case.facts.driver, []
    late = _changed_after_boot(case)
    if late:
        out.append(saw(f"changed since boot: {', '.join(late[:3])}", driver.packages))
    on_disk, loaded = driver.module_on_disk, driver.module_version
    if isinstance(on_disk, Known) and isinstance(loaded, Known) and numbers(on_disk.value) != numbers(loaded.value):
        out.append(saw(f"the module on disk is {on_disk.value}: a restart would load that one", on_disk))
    return tuple(out)


def _changed_after_boot(case: Case) -> list[str]:
    booted = value_or(case.facts.surroundings.booted, None)
    packages = value_or(case.facts.driver.packages, ())
    if booted is None:
        return []
    return [f"{p.name} {p.version}" for p in packages if value_or(p.changed, 0.0) > booted]


def _since_boot(case: Case) -> str:
    return "; the packages were upgraded after the last boot" if _changed_after_boot(case) else ""


def fixes(case: Case) -> tuple[Fix, ...]:
    """In a container: drop the baked-in driver. Else load the module that fits, or build it first."""
    facts = case.facts
    if astray := _astray(case):
        return _taken_away(case, astray)
    if in_image(facts):
        return _out_of_the_image(case)
    if isinstance(facts.surroundings.container, Known):
        return (
            Fix("Remove the driver packages from the image; the runtime brings the host's libraries",
                on.linux("apt-get purge -y 'libnvidia-compute-*' 'nvidia-driver-*' 'nvidia-utils-*'"), root=True),
            Fix("If the host's driver was upgraded while this container ran: restart the container"),
        )  # fmt: skip
    disk, loaded = value_or(facts.driver.module_on_disk, None), value_or(facts.driver.module_version, None)
    if disk is not None and disk == loaded:
        return (
            Fix("Build the kernel module of the new version, then restart: the one on disk is still the old one",
                on.host("sudo dkms autoinstall && sudo update-initramfs -u && sudo reboot"), root=True, reboot=True),
        )  # fmt: skip
    return (
        Fix("Restart the machine", on.host("sudo reboot"), root=True, reboot=True),
        Fix("Or reload the module, when nothing uses the GPU (no desktop, no daemon)",
            on.host("sudo systemctl stop nvidia-persistenced; sudo rmmod nvidia_drm nvidia_modeset nvidia_uvm nvidia; "
            "sudo modprobe nvidia"), root=True),
    )  # fmt: skip


def _out_of_the_image(case: Case) -> tuple[Fix, ...]:
    """By the package manager of its distribution; whoever put them there, the files can go."""
    name = value_or(case.facts.surroundings.distribution, "").lower()
    text = "Remove the driver from the image, in its Dockerfile; the runtime brings the host's libraries"
    packages = (
        "libcuda1 libnvidia-ml1" if "debian" in name else "'libnvidia-compute-*' 'nvidia-driver-*' 'nvidia-utils-*'"
    )
    by_name = Fix(
        f"{text}: do not install the driver packages there", on.dockerfile(f"RUN apt-get purge -y {packages}")
    )
    loads = case.facts.loads
    copies = (*value_or(loads.libcuda, ()), *value_or(loads.libnvml, ()))
    own = [one for one in copies if one.kind == "driver" and one.rule in _IN_FILES]
    if not own:
        return (by_name,)
    folder = folder_of(own[0].real)
    gone = on.dockerfile(f"RUN rm -f {folder}/libcuda.so* {folder}/libnvidia-*.so* && ldconfig")
    return by_name, Fix("Or, where they were copied in, delete its libraries", gone)


_IN_FILES = (Rule.CACHE, Rule.DEFAULT, Rule.LD_LIBRARY_PATH)


def _astray(case: Case) -> DriverLibrary | None:
    """The copy of a driver's library that comes first from where no driver puts one."""
    loads = case.facts.loads
    firsts = (*value_or(loads.libcuda, ())[:1], *value_or(loads.libnvml, ())[:1])
    return next((one for one in firsts if one.on_path and foreign(one)), None)


def _taken_away(case: Case, one: DriverLibrary) -> tuple[Fix, ...]:
    """The driver brings its libraries itself: a copy of another one goes."""
    files = f"{folder_of(one.path)}/{one.name.removesuffix('.1')}*"
    text = f"Delete {files}, a copy of another driver's library; the driver brings its own"
    if in_image(case.facts):
        return (Fix(text, on.dockerfile(f"RUN rm {files} && ldconfig")),)
    out = (
        [off_the_path(folder_of(one.path))]
        if one.rule is Rule.LD_LIBRARY_PATH and not also_serves(case.facts, one)
        else []
    )
    return (*out, Fix(text, on.linux(f"sudo rm {files} && sudo ldconfig"), root=True))


CAUSE = Cause(
    id="driver.library_mismatch",
    title="the driver's library and its kernel module have different versions",
    signs=(versions_differ, baked_in, nvml_refuses, answered("driver.library_mismatch")),
    fixes=fixes,
    hides=("driver.too_old", "driver.not_ready"),
)
