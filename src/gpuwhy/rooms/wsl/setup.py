"""wsl.setup: under WSL the way to the Windows driver is missing or covered by a Linux driver."""

from __future__ import annotations

from gpuwhy.model import on
from gpuwhy.model.cause import Case, Cause, Evidence, Finding, Fix, against, know, mild, proof, saw, strong
from gpuwhy.model.expect import gpu_claimed
from gpuwhy.model.fact import Known, Source, source_of, value_or
from gpuwhy.model.facts import DriverLibrary, Rule
from gpuwhy.model.version import at_least

FOLDER = "/usr/lib/wsl/lib"
NEEDS_HELPER = "13.0"
DRIVER_PACKAGES = ("libnvidia-compute", "nvidia-driver", "libcuda1", "cuda-drivers", "nvidia-dkms", "nvidia-kernel")
SEEN = Source("know", "NVIDIA Container Toolkit, list of WSL driver-store files", "with reports of cuInit 500 under it")


def way_to_windows(case: Case) -> Finding | None:
    """WSL 2, /dev/dxg and Windows' libcuda, in this order; each is useless without the one before."""
    around = case.facts.surroundings
    version = around.wsl.need()
    if not version:
        return against("this is not WSL", saw("not a WSL kernel", around.wsl))
    if isinstance(around.offline, Known):
        return _exported(case)
    container = around.container.need()
    if container:
        return _toolkit(case, container)
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


def _exported(case: Case) -> Finding | None:
    """Files of a WSL distribution: a Linux driver among them is wrong wherever it runs; the rest is Windows' matter."""
    copies = case.facts.loads.libcuda.need() or ()
    winner, linux = (next((c for c in copies if fits(c)), None) for fits in (_on_path, _of_linux))
    if winner and winner.kind == "driver":
        return _library(case, (winner,))
    if winner is None and any(one.kind == "wsl" for one in copies):
        return _library(case, copies)
    if linux is None or winner is None:
        return None
    text = f"a Linux driver is installed beside Windows' own: {linux.path} belongs to it, and does not work under WSL"
    return mild(
        strong(
            f"{text}; {winner.path} is found before it, as things are",
            saw(linux.path, source_of(linux.version)),
            *_installed(case),
        )
    )


def _on_path(one: DriverLibrary) -> bool:
    return one.on_path


def _of_linux(one: DriverLibrary) -> bool:
    return one.kind == "driver"


def _toolkit(case: Case, container: str) -> Finding:
    """A container toolkit older than Windows' driver brings libcuda, but not a library that it calls."""
    around, cuda = case.facts.surroundings, case.facts.driver.driver_cuda
    given = around.injected.need()
    if given is None or not given.lacking or not given.libraries:
        return against(f"inside {container} it matters what the container was given", saw(container, around.container))
    if not at_least(cuda.need() or "0", NEEDS_HELPER):
        text = f"{given.lacking[0]} is not in this container, and a driver of CUDA {value_or(cuda, '')} may do without"
        return against(text, saw(f"no {given.lacking[0]}", around.injected))
    driver = f"Windows' driver {value_or(case.facts.driver.behind_wsl, '')}".rstrip()
    return strong(
        f"this container ({container}) has libcuda of {driver} (CUDA {cuda.need()}), but not "
        f"{given.lacking[0]}: the NVIDIA Container Toolkit is older than the driver, and cuInit fails with 500",
        saw(f"no {given.lacking[0]}", around.injected),
        know("since CUDA 13.0 Windows' libcuda calls it; the toolkit brings the libraries that it knows by name", SEEN),
    )


def _library(case: Case, copies: tuple[DriverLibrary, ...]) -> Finding:
    """Windows brings its own libcuda along; any other real one on the path cannot reach the GPU."""
    seen = case.facts.loads.libcuda
    winner = next((c for c in copies if c.on_path), None)
    windows = next((c for c in copies if c.kind == "wsl"), None)
    if winner and winner.kind == "driver":
        version = f" {winner.version.value}" if isinstance(winner.version, Known) else ""
        text = f"libcuda{version} at {winner.path} belongs to a Linux driver, which does not work under WSL"
        text += f"; the one of Windows in {FOLDER} comes later" if windows else ""
        return proof(text, saw(f"{winner.path}, by {winner.found_via}", source_of(winner.version)), *_installed(case))
    if windows is None:
        text = f"{FOLDER} has no libcuda.so.1: Windows has no NVIDIA driver, or one without WSL support"
        return strong(text, saw("no libcuda.so.1 of Windows", seen))
    if winner is None:
        text = f"libcuda.so.1 is in {FOLDER}, but the loader does not look there"
        return proof(text, saw(f"{windows.path}, {Rule.OFF_PATH.value}", seen))
    return against(f"libcuda comes from {winner.path}", saw(winner.path, seen))


def _driver_packages(case: Case) -> list[str]:
    """The Linux driver's packages that somebody installed inside WSL."""
    found = value_or(case.facts.driver.packages, ())
    return [p.name for p in found if p.name.startswith(DRIVER_PACKAGES) and p.status != "config-files"]


def _installed(case: Case) -> tuple[Evidence, ...]:
    names = _driver_packages(case)
    return (saw(f"installed: {', '.join(names[:3])}", case.facts.driver.packages),) if names else ()


def fixes(case: Case) -> tuple[Fix, ...]:
    """By what is missing: WSL 2, a newer Windows side, or a Linux driver less."""
    around = case.facts.surroundings
    if around.wsl.need() == "1":
        return (
            Fix(
                "Convert the distribution to WSL 2, in Windows' PowerShell",
                on.across("wsl --set-version DISTRIBUTION 2"),
            ),
        )
    if isinstance(around.container, Known):
        return _IN_CONTAINER
    copies = case.facts.loads.libcuda.need() or ()
    offline = isinstance(around.offline, Known)
    if not offline and not (around.wsl_device.need() and any(copy.kind == "wsl" for copy in copies)):
        update = Fix("Update WSL and start it again, in Windows' PowerShell", on.across("wsl --update; wsl --shutdown"))
        return update, _DRIVER
    path = f"export LD_LIBRARY_PATH={FOLDER}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"
    first = Fix("Put Windows' library first, in this shell", path, safe=True)
    if any(copy.kind == "driver" for copy in copies):
        names = " ".join(_driver_packages(case)) or "'libnvidia-compute-*' 'nvidia-driver-*'"
        remove = on.wsl(f"sudo apt remove --purge {names} && sudo ldconfig")
        away = Fix("Remove the Linux driver from WSL", remove, root=True)
        return (away, _DRIVER) if offline else (first, away)
    conf = on.wsl(f"echo {FOLDER} | sudo tee /etc/ld.so.conf.d/ld.wsl.conf && sudo ldconfig")
    return first, Fix("Add the folder to the loader's configuration", conf, root=True)


_DRIVER = Fix("Install or update NVIDIA's driver in Windows, never inside WSL", check="nvidia-smi.exe")
_IN_CONTAINER = (
    Fix(
        "Update the container toolkit in WSL",
        on.linux(
            "sudo apt update && sudo apt install --only-upgrade nvidia-container-toolkit    # or a newer Docker Desktop"
        ),
        root=True,
    ),
    Fix(
        "Or mount the whole folder into the container",
        on.wsl("docker run --gpus all -v /usr/lib/wsl:/usr/lib/wsl:ro -e LD_LIBRARY_PATH=/usr/lib/wsl/lib IMAGE"),
    ),
)


CAUSE = Cause(
    id="wsl.setup",
    title="WSL cannot reach the Windows driver",
    signs=(way_to_windows,),
    fixes=fixes,
    effect="WSL does not reach the GPU",
    hides=("driver.missing", "driver.library_mismatch", "driver.permission", "env.path"),
)
