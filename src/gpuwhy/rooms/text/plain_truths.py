"""Plain truths: what is so at a place whatever failed there, and the way that follows: a Mac has no NVIDIA GPU, a machine without a toolkit needs one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.version import numbers
from gpuwhy.rooms.text.asked import Asked
from gpuwhy.rooms.text.beyond import beyond
from gpuwhy.rooms.text.boxes import box_of
from gpuwhy.rooms.text.built_on import with_newer_tensorflow, with_nvcc
from gpuwhy.rooms.text.later import Later
from gpuwhy.rooms.text.network_truths import of_a_build, of_its_own_torch, of_the_network, of_the_queue
from gpuwhy.rooms.text.premises import host_works, no_toolkit, on_a_mac
from gpuwhy.rooms.text.told_names import image_of
from gpuwhy.rooms.text.ways import tried
from gpuwhy.rooms.text.wheels_there import found_by_folder, hidden_in_wsl, with_its_cudnn

_UNSEEN = ("container.no_gpu", "driver.", "device.", "cuda.", "framework.cpu_only", "framework.platform_dropped")
_LIBRARY = ("env.path", "cuda.missing_library", "cuda.compiler_missing", "cuda.version_mismatch")


def plainly(cause: str, case: Asked) -> Iterator[Fix]:
    """The ways that a place alone decides."""
    for truth in _TRUTHS:
        yield from truth(cause, case)


def _of_a_mac(cause: str, case: Asked) -> Iterator[Fix]:
    if not on_a_mac(case) or not cause.startswith(_UNSEEN):
        return
    if case.tools & {"docker", "compose", "container"}:
        yield tried("A Mac has no NVIDIA GPU, and Docker passes none in: start it without one. Delete the devices block (deploy, resources, reservations) or the gpus: line of the compose file, or --gpus all; where the project has a compose file for the CPU, take that one (docker compose -f FILE up)")  # fmt: skip
    yield tried("For Apple's own GPU start the program outside of a container (PyTorch: the device mps); for CUDA, on a machine with Linux and an NVIDIA card", on.code("device = torch.device('mps' if torch.backends.mps.is_available() else 'cpu')"))  # fmt: skip


_OF_WHEEL = Later(r"[-_+](?:cu|cuda)(1[1-3])\.?(\d)(?!\d)")


def _without_a_kit(cause: str, case: Asked) -> Iterator[Fix]:
    """Windows: nothing of CUDA is there, and what was installed brings none: the toolkit of its own number."""
    if cause not in _LIBRARY or not no_toolkit(case) or case.framework == "tensorflow":  # which needs cuDNN as well
        return
    built = _OF_WHEEL.search(case.text)
    cuda = f"{built[1]}.{built[2]}" if built else case.cuda if "." in case.cuda else ""
    if not cuda:
        return
    new = numbers(cuda) >= (11, 8)
    where = "" if new else " from developer.nvidia.com/cuda-toolkit-archive"
    command = on.cmd(f"winget install --exact --id Nvidia.CUDA --version {cuda}") if new else ""
    yield tried(on.in_windows(f"no CUDA toolkit is on this machine, and this build looks for the DLLs of CUDA {cuda}: install that one{where} (it sets CUDA_PATH and PATH), then open a new window; or take the package's build for the CPU"), command)  # fmt: skip


_NO_DRIVER = Later(r"could not select device driver|no known GPU vendor|unknown or invalid runtime name|nvidia-container-cli: initialization error", re.IGNORECASE)  # fmt: skip


def _of_docker_desktop(cause: str, case: Asked) -> Iterator[Fix]:
    """Docker Desktop brings NVIDIA's toolkit itself, and passes a GPU with its engine of WSL 2 alone."""
    if cause != "container.no_gpu" or box_of(case) != "desktop" or not _NO_DRIVER.search(case.text):
        return
    yield tried("Docker Desktop brings NVIDIA's toolkit itself, and passes a GPU only by its engine of WSL 2: choose that in its Settings, under General (Use the WSL 2 based engine), with Linux containers; install its newest release and NVIDIA's driver in Windows, update WSL, then start Docker Desktop anew", on.across("wsl --update && wsl --shutdown"))  # fmt: skip
    yield tried("Then see whether a container has the GPU, before the service is started", "docker run --rm --gpus all ubuntu nvidia-smi", look=True)  # fmt: skip


_SHUT = Later(r"/dev/(?:kfd|dri|nvidia)\S*[^\n]*(?:Permission denied|not permitted)|\bnogroup\b", re.IGNORECASE)


def _rootless(cause: str, case: Asked) -> Iterator[Fix]:
    """Podman without root drops the groups of its user, and with them the right to open device files."""
    if cause not in ("container.no_gpu", "driver.permission") or "podman" not in case.tools or not _SHUT.search(case.text):  # fmt: skip
        return
    options, image = image_of(case.text)
    given = [one for one in options if not one.startswith("--group-add")] or ["-it", "--rm"]
    yield tried("Podman without root drops your groups, which may open the device files: keep them (crun must be the runtime), and see that your user is in video and render on the host", on.engine(f"sudo usermod -aG video,render $USER    # then log in anew\npodman run --group-add keep-groups {' '.join(given)} {image or 'IMAGE'}"))  # fmt: skip


_RUNNER = Later(
    r"docker/build-push-action|actions/|\bGITHUB_|##\[(?:error|group)\]|runs-on:|/home/runner/", re.IGNORECASE
)
_FULL = Later(r"No space left on device|disk is full|ENOSPC", re.IGNORECASE)


def _of_a_runner(cause: str, case: Asked) -> Iterator[Fix]:
    """A hosted runner has some 14 GB free, and three times that in tools that the job does not use."""
    if cause != "env.limit" or not _RUNNER.search(case.text) or not _FULL.search(case.text):
        return
    yield tried("The runner's disk is full: remove what it brings and this job does not use, in a step before the build", on.code("- uses: jlumbroso/free-disk-space@main    # removes Android, .NET and Haskell, some 30 GB"))  # fmt: skip
    yield tried("Or, where the image needs no GPU, install PyTorch's build for the CPU, which is a tenth in size", on.code("pip install torch --index-url https://download.pytorch.org/whl/cpu    # in the Dockerfile: RUN"))  # fmt: skip


_MODULE = Later(
    r"Kernel Module(?: for \S+)? +(\d{3}\.[\d.]+)|the kernel module has the version (\d{3}\.[\d.]+)|driver_version[^\n]*\n(\d{3}\.[\d.]+)"
)


def _as_on_the_host(case: Asked) -> Iterator[Fix]:
    """LXC shares the host's kernel module: the libraries in the container must be of its very number."""
    found = _MODULE.search(case.text)
    version = next(filter(None, found.groups()), "") if found else ""
    if version:
        file = f"NVIDIA-Linux-x86_64-{version}.run"
        yield tried(f"The host's module is {version}, and this container's driver libraries are of another release: take the container's driver packages out, and install the very same release in it, without the module", on.linux(f"apt purge 'nvidia-*' 'libnvidia-*'\nwget https://us.download.nvidia.com/XFree86/Linux-x86_64/{version}/{file}\nsh {file} --no-kernel-module"))  # fmt: skip


_INSIDE = Later(r"NVML library version:? (\d{3}\.\d+)")


def _files_of_the_image(cause: str, case: Asked) -> Iterator[Fix]:
    """The host's driver works, and the image brings driver files of its own."""
    if cause != "driver.library_mismatch" or not host_works(case):
        return
    if box_of(case) == "lxc":
        yield from _as_on_the_host(case)
        return
    brought = _INSIDE.search(case.text)
    mine = f" ({brought[1]})" if brought else ""
    host = f" ({case.driver})" if case.driver else ""
    yield tried(f"The host's driver{host} works; the image brings driver files of its own{mine}, which do not belong there: take another tag of it, or build it without the packages nvidia-utils, nvidia-driver and libnvidia-* in its Dockerfile")  # fmt: skip
    image = image_of(case.text)[1] or "IMAGE"
    yield tried("Or build an image on it that lacks them: the driver is mounted from the host", on.dockerfile(f"FROM {image}\nUSER root\nRUN rm -f /usr/bin/nvidia-smi && find / -xdev \\( -name 'libnvidia-*.so*' -o -name 'libcuda.so*' \\) -not -path '*/stubs/*' -delete; ldconfig"))  # fmt: skip
    if re.fullmatch(r"\d{3}\.\d+", brought[1] if brought else ""):
        yield tried(
            f"Or bring the host's driver to exactly {brought[1] if brought else ''}, which the image was made for; then restart"
        )


_TRUTHS = (
    beyond, found_by_folder, hidden_in_wsl, with_its_cudnn, with_nvcc, with_newer_tensorflow, _of_a_mac,
    _without_a_kit, _of_docker_desktop, _rootless, _of_a_runner, _files_of_the_image,
    of_the_network, of_the_queue, of_a_build, of_its_own_torch,
)  # fmt: skip
