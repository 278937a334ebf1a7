"""wsl.setup: under WSL the way to the Windows driver is missing or covered by a Linux driver."""

from __future__ import annotations

from gpuwhy.model.cause import Case, Cause, Finding, Fix, against, proof, saw, strong
from gpuwhy.model.expect import gpu_claimed
from gpuwhy.model.fact import Known, source_of
from gpuwhy.model.facts import DriverLibrary

NOT_ON_PATH = "not on the search path"
FOLDER = "/usr/lib/wsl/lib"


def way_to_windows(case: Case) -> Finding | None:
    """WSL 2, /dev/dxg and Windows' libcuda, in this order; each is useless without the one before."""
    around = case.facts.surroundings
    version = around.wsl.need()
    if not version:
        return against("this is not WSL", saw("not a WSL kernel", around.wsl))
    container = around.container.need()
    if container:
        return against(f"inside {container} it matters what the container was given", saw(container, around.container))
    copies = case.facts.loads.libcuda.need() or ()
    case.facts.target.distributions.need()  # what was not looked at may be what asks for the GPU
    if not isinstance(gpu_claimed(case.facts), Known):
        return against("nothing here asks for a GPU", saw("no GPU package, no libcuda", case.facts.loads.libcuda))
    if version == "1":
        return proof("this is WSL 1, which has no way to the GPU; WSL 2 has one", saw("a WSL 1 kernel", around.wsl))
    if not around.wsl_device.need():
        return proof(
            "/dev/dxg, WSL 2's way to the GPU, is missing: Windows, its driver or the WSL kernel is too old",
            saw("no /dev/dxg", around.wsl_device),
        )
    return _library(case, copies)


def _library(case: Case, copies: tuple[DriverLibrary, ...]) -> Finding:
    """Windows brings its own libcuda along; any other real one on the path cannot reach the GPU."""
    seen = case.facts.loads.libcuda
    winner = next((c for c in copies if c.found_via != NOT_ON_PATH), None)
    windows = next((c for c in copies if c.kind == "wsl"), None)
    if winner and winner.kind == "driver":
        version = f" {winner.version.value}" if isinstance(winner.version, Known) else ""
        text = f"libcuda{version} at {winner.path} belongs to a Linux driver, which does not work under WSL"
        text += f"; the one of Windows in {FOLDER} comes later" if windows else ""
        return proof(text, saw(f"{winner.path}, by {winner.found_via}", source_of(winner.version)))
    if windows is None:
        text = f"{FOLDER} has no libcuda.so.1: Windows has no NVIDIA driver, or one without WSL support"
        return strong(text, saw("no libcuda.so.1 of Windows", seen))
    if winner is None:
        text = f"libcuda.so.1 is in {FOLDER}, but the loader does not look there"
        return proof(text, saw(f"{windows.path}, {NOT_ON_PATH}", seen))
    return against(f"libcuda comes from {winner.path}", saw(winner.path, seen))


def fixes(case: Case) -> tuple[Fix, ...]:
    """By what is missing: WSL 2, a newer Windows side, or a Linux driver less."""
    around = case.facts.surroundings
    if around.wsl.need() == "1":
        return (Fix("Convert the distribution to WSL 2, in Windows' PowerShell", "wsl --set-version DISTRIBUTION 2"),)
    copies = case.facts.loads.libcuda.need() or ()
    update = Fix("Update WSL and start it again, in Windows' PowerShell", "wsl --update; wsl --shutdown")
    driver = Fix("Install or update NVIDIA's driver in Windows, never inside WSL", check="nvidia-smi.exe")
    path = f"export LD_LIBRARY_PATH={FOLDER}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
    first = Fix("Put Windows' library first, in this shell", path, safe=True)
    if around.wsl_device.need() and any(c.kind == "wsl" for c in copies):
        remove = "sudo apt remove --purge 'libnvidia-compute-*' 'nvidia-driver-*' && sudo ldconfig"
        conf = f"echo {FOLDER} | sudo tee /etc/ld.so.conf.d/ld.wsl.conf && sudo ldconfig"
        if any(c.kind == "driver" for c in copies):
            return first, Fix("Remove the Linux driver from WSL", remove, root=True)
        return first, Fix("Tell the loader about the folder", conf, root=True)
    return update, driver


CAUSE = Cause(
    id="wsl.setup",
    title="WSL has no working way to the Windows driver",
    signs=(way_to_windows,),
    fixes=fixes,
    effect="WSL does not reach the GPU",
    hides=("driver.missing", "driver.library_mismatch", "driver.permission", "env.path"),
)
