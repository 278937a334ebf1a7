"""driver.missing: there is an NVIDIA GPU, and no NVIDIA kernel module drives it."""

from __future__ import annotations

from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, proof, saw
from gpuwhy.model.expect import gpu_present


def no_kernel_module(case: Case) -> Finding | None:
    """A GPU on the bus without a loaded NVIDIA module is the whole story."""
    driver, around = case.facts.driver, case.facts.surroundings
    version = driver.module_version.need()
    if version:
        return against(f"kernel module {version} is loaded", saw(f"NVRM version {version}", driver.module_version))
    if around.wsl.need():
        return against("under WSL the driver is Windows' own", saw("this is WSL", around.wsl))
    container = around.container.need()
    if container:
        return against(
            f"inside {container} the host's driver is judged by what was injected", saw(container, around.container)
        )
    present = gpu_present(case.facts)
    name = present.need()
    if not name:
        return against("no NVIDIA GPU on the PCI bus", saw("no NVIDIA display controller", present))
    nouveau = driver.nouveau.need()
    holder = ", and nouveau holds the card" if nouveau else ""
    return proof(
        f"{name} is on the PCI bus, but no NVIDIA kernel module is loaded{holder}",
        saw(name, present),
        saw("no NVIDIA kernel module", driver.module_version),
        *((saw("nouveau is loaded", driver.nouveau),) if nouveau else ()),
    )


def fixes(case: Case) -> tuple[Fix, ...]:
    """Load what is installed; else install from the distribution."""
    return (
        Fix("Load the module, if a driver is installed", "sudo modprobe nvidia", root=True),
        Fix(
            "Install the distribution's driver package",
            "sudo ubuntu-drivers install    # Debian: sudo apt install nvidia-driver",
            root=True,
            reboot=True,
        ),
    )


CAUSE = Cause(
    id="driver.missing",
    title="no NVIDIA driver is loaded",
    signs=(no_kernel_module,),
    fixes=fixes,
    hides=("driver.permission", "driver.not_ready", "device.selection"),
)
