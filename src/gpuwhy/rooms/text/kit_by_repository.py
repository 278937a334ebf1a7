"""Kit by repository: nvcc of the CUDA that PyTorch was built for, from NVIDIA's own repository of the distribution, where nothing tells of conda."""

from __future__ import annotations

from collections.abc import Iterator

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.shown import CONDA
from gpuwhy.rooms.text.ways import tried

_NO_KIT = Later(
    r"CUDA_HOME environment variable is not set|nvcc(?:: command)? not found|which nvcc|No such file[^\n]*nvcc"
)
_BUILT = Later(r"\d\.\d+\.\d+\+cu(1[123])(\d)\b")
_SYSTEM = Later(r"\b(?P<name>Ubuntu|Debian)[^\n]{0,12}? (?P<major>1[12]|2[0246])(?:\.(?P<minor>04))?\b")
_SHARED = Later(r"#SBATCH|\bsbatch\b|\bsrun\b|\bmodule (?:load|avail)|not in the sudoers|no (?:sudo|root)\b|\broot@[0-9a-f]{12}")  # fmt: skip
_FIRST = {"ubuntu2404": (12, 5), "ubuntu2604": (13, 0), "debian12": (12, 3)}
"""The first CUDA that a repository has, where it is later than 11.8."""


def kit_by_repository(case: Asked) -> Iterator[Fix]:
    """The toolkit's package with nvcc, then its folder named to the build; the driver is not touched."""
    built, told = _BUILT.search(case.text), _SYSTEM.search(case.text)
    wsl = "wsl" in case.tools
    if not built or not (told or wsl) or not _NO_KIT.search(case.text) or case.windows:
        return
    if CONDA.search(case.text) or _SHARED.search(case.text) or "container" in case.tools:
        return
    name = "wsl-ubuntu" if wsl or not told else f"{told['name'].lower()}{told['major']}{told['minor'] or ''}"
    number = (int(built[1]), int(built[2]))
    if number < _FIRST.get(name, (11, 0)):
        return
    deb = f"https://developer.download.nvidia.com/compute/cuda/repos/{name}/x86_64/cuda-keyring_1.1-1_all.deb"
    lines = (
        f"wget {deb} && sudo dpkg -i cuda-keyring_1.1-1_all.deb && sudo apt-get update",
        f"sudo apt-get install -y cuda-toolkit-{number[0]}-{number[1]} build-essential",
        f"export CUDA_HOME=/usr/local/cuda-{number[0]}.{number[1]} PATH=/usr/local/cuda-{number[0]}.{number[1]}/bin:$PATH",
    )
    yield tried(f"Install the toolkit of CUDA {number[0]}.{number[1]}, which this PyTorch was built for, from NVIDIA's repository (the toolkit alone, no driver), name its folder, and build again in the same shell", on.linux("\n".join(lines)), root=True)  # fmt: skip
