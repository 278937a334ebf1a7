"""driver.missing: there is an NVIDIA GPU, and no NVIDIA kernel module drives it, or its libraries are not there."""

from __future__ import annotations

from gpuwhy.knowledge.distributions import NEWEST_DRIVER
from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Evidence, Finding, Fix, against, proof, saw
from gpuwhy.model.expect import gpu_present
from gpuwhy.model.fact import Absent, Known, Unknown, value_or
from gpuwhy.rooms.shared.windows import on_windows

DOWNLOAD = Fix("Install NVIDIA's driver for this card, from nvidia.com/drivers", root=True, reboot=True)


def no_kernel_module(case: Case) -> Finding | None:
    """A GPU on the bus without a loaded NVIDIA module is the whole story."""
    driver, around = case.facts.driver, case.facts.surroundings
    version = driver.module_version.need()
    if version and no_driver_library(case):
        return None
    if version:
        return against(f"kernel module {version} is loaded", saw(f"NVRM version {version}", driver.module_version))
    answering = case.facts.devices.devices
    if value_or(answering, ()) and not isinstance(around.offline, Known):
        return against("a GPU answers through NVML, so a driver is there", saw("NVML answers", answering))
    if around.wsl.need():
        return against("under WSL the driver is Windows' own", saw("this is WSL", around.wsl))
    container = around.container.need()
    if container:
        return against(
            f"inside {container} the host's driver is judged by what was injected", saw(container, around.container)
        )
    if found := _none_on_disk(case):
        return found
    present = gpu_present(case.facts)
    name = present.need()
    if not name:
        return against("no NVIDIA GPU on the PCI bus", saw("no NVIDIA display controller", present))
    if on_windows(case.facts):
        return _no_driver_of_windows(case, name)
    holder = _holder(case)
    return proof(
        f"{name} is on the PCI bus, but no NVIDIA kernel module is loaded"
        + (f", and {holder} holds the card" if holder else ""),
        saw(name, present),
        saw("no NVIDIA kernel module", driver.module_version),
        *_reasons(case),
    )


def _none_on_disk(case: Case) -> Finding | None:
    """A disk tells of no card, but of the driver's files: a framework built for CUDA has nothing to open there."""
    facts = case.facts
    if not (on_windows(facts) and isinstance(facts.surroundings.offline, Known)):
        return None
    built = [one for one in value_or(facts.target.frameworks, ()) if value_or(one.gpu_build, False)]
    if not built or not isinstance(gpu_present(facts), Unknown):
        return None
    return proof(
        "no NVIDIA driver is on this disk: nvcuda.dll is neither in System32 nor in the driver store, and "
        f"{built[0].title} {built[0].version} needs it",
        saw("nvcuda.dll is not there", facts.driver.module_version),
        saw(f"{built[0].title} is a build with CUDA", built[0].gpu_build),
    )


def _no_driver_of_windows(case: Case, name: str) -> Finding:
    holder, version = _holder(case), case.facts.driver.module_version
    held = f", and Windows' own {holder} drives the card" if holder else ""
    return proof(
        f"{name} is in this machine, but no NVIDIA driver is installed: nvcuda.dll is not in System32{held}",
        saw(name, gpu_present(case.facts)),
        saw("nvcuda.dll is not there", version),
    )


def no_driver_library(case: Case) -> Finding | None:
    """The kernel's half without the programs' half: no libcuda anywhere the loader looks."""
    around, module, copies = case.facts.surroundings, case.facts.driver.module_version, case.facts.loads.libcuda
    version = module.need()
    if not version or around.container.need() or around.wsl.need():
        return None
    if any(one.on_path for one in copies.need() or ()):
        return None
    if on_windows(case.facts):
        text = f"driver {version} is loaded, but its nvcuda.dll is nowhere in the DLL search"
        return proof(text, saw(f"driver {version}", module), saw("no nvcuda.dll", copies))
    return proof(
        f"kernel module {version} is loaded, but the driver's library libcuda.so.1 is nowhere the loader looks",
        saw(f"NVRM version {version}", module),
        saw("the loader finds no libcuda.so.1", copies),
    )


def _reasons(case: Case) -> tuple[Evidence, ...]:
    """What explains the absence: another driver on the card, Secure Boot, a module not built for this kernel."""
    driver, out = case.facts.driver, []
    holder = _holder(case)
    if holder == "nouveau":
        out.append(saw("nouveau is loaded", driver.nouveau))
    elif holder:
        out.append(saw(f"{holder} drives the card", case.facts.devices.pci))
    if value_or(driver.secure_boot, False):
        out.append(saw("Secure Boot is on: only signed modules load", driver.secure_boot))
    if _unbuilt(case):
        kernel = value_or(case.facts.surroundings.kernel, "")
        out.append(saw(f"DKMS has no nvidia module for kernel {kernel}", driver.dkms))
    return tuple(out)


def _holder(case: Case) -> str:
    """The other kernel driver that has the card, "" when none is seen."""
    if value_or(case.facts.driver.nouveau, False):
        return "nouveau"
    bound = (value_or(card.driver, "") for card in value_or(case.facts.devices.pci, ()))
    return next((name for name in bound if name not in ("", "nvidia")), "")


def _unbuilt(case: Case) -> bool:
    """DKMS knows an nvidia module, and has none built for the running kernel."""
    kernel, modules = case.facts.surroundings.kernel, value_or(case.facts.driver.dkms, ())
    if not modules or not isinstance(kernel, Known):
        return False
    return not any(f" {kernel.value}:" in line and line.endswith("built") for line in modules)


def fixes(case: Case) -> tuple[Fix, ...]:
    """Load or build what is installed; else install from the distribution."""
    driver, out = case.facts.driver, []
    if on_windows(case.facts):
        return (DOWNLOAD,)
    version = value_or(driver.module_version, "")
    if version:
        major = version.split(".")[0]
        return (
            Fix(
                f"Install the libraries of the same driver ({version})",
                on.host(f"sudo apt install libnvidia-compute-{major}    # Debian: sudo apt install libcuda1"),
                root=True,
            ),
            Fix(
                "If they are in another folder (here /usr/local/nvidia/lib64), add it to the loader's configuration",
                on.linux("echo /usr/local/nvidia/lib64 | sudo tee /etc/ld.so.conf.d/nvidia.conf && sudo ldconfig"),
                root=True,
            ),
        )
    if _unbuilt(case):
        out.append(
            Fix(
                "Build the installed driver for the running kernel, then load it",
                on.host("sudo apt install linux-headers-$(uname -r) && sudo dkms autoinstall && sudo modprobe nvidia"),
                root=True,
            )
        )
    elif not isinstance(driver.module_on_disk, Absent):
        version = value_or(driver.module_on_disk, "if a driver is installed")
        out.append(
            Fix(f"Load the module ({version}) and read what it says", on.host("sudo modprobe nvidia"), root=True)
        )
    if value_or(driver.secure_boot, False):
        out.append(
            Fix(
                "Enrol the key that signed the module (asked for at the next boot), or use the signed package",
                on.host("sudo mokutil --import /var/lib/shim-signed/mok/MOK.der"),
                root=True,
                reboot=True,
            )
        )
    if _holder(case) == "vfio-pci":
        out.append(
            Fix(
                "Give the card back to the host: remove its ids from the vfio-pci options, then restart",
                on.host("grep -rn vfio-pci /etc/modprobe.d /proc/cmdline"),
                root=True,
                reboot=True,
            )
        )
    if not isinstance(driver.module_on_disk, Known):
        out.append(Fix("Install the distribution's driver package", NEWEST_DRIVER, root=True, reboot=True))
    return tuple(out)


CAUSE = Cause(
    id="driver.missing",
    title="the NVIDIA driver is not installed, or not loaded",
    signs=(no_kernel_module, no_driver_library),
    fixes=fixes,
    hides=("driver.permission", "driver.not_ready", "device.selection"),
)
