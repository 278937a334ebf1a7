"""driver.library_mismatch in texts: its messages and their weights, and what to do about them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from gpuwhy.knowledge.distributions import NEWEST_DRIVER
from gpuwhy.knowledge.messages import NO_ANSWER, NO_CUDNN, NO_DRIVER, NO_GPU, NO_START
from gpuwhy.model import on
from gpuwhy.model.cause import Fix
from gpuwhy.model.signature import error
from gpuwhy.model.symptom import Reading, Symptom
from gpuwhy.model.version import numbers
from gpuwhy.rooms.text.common import BARE, SAID_TO_FAIL, nothing_else, said_of
from gpuwhy.rooms.text.conditions import all_of, field, in_container, no, with_
from gpuwhy.rooms.text.meant import meant
from gpuwhy.rooms.text.room import Text
from gpuwhy.rooms.text.versions import drivers_differ

_CONTAINER = re.compile(
    r"hostname: [0-9a-f]{12}\b|/compat\b|cuda-compat"
)  # docker's name for a container; its own libcuda


_RELOAD_TEXT = "without a restart: stop every program on the GPU (sudo fuser -v /dev/nvidia* lists them; a desktop too), reload the NVIDIA kernel modules, then start containers and services that use it anew"
_RELOAD = on.host(
    "sudo systemctl stop nvidia-persistenced; sudo rmmod nvidia_drm nvidia_modeset nvidia_uvm nvidia; sudo modprobe nvidia && sudo modprobe nvidia_uvm"
)
_STAYS_UP = re.compile(r"(?:rather not|can(?:no|')t|cannot|not allowed to|don'?t want to|without a?|avoid) ?re(?:boot|start)", re.IGNORECASE)  # fmt: skip
_CLUSTER = re.compile(r"device[- ]plug-?in|kubectl|kubelet|gpu-operator", re.IGNORECASE)


def _at_node(reading: Reading) -> Iterator[Fix]:
    """A node of Kubernetes, whose pods have to go before its driver; a machine that is to stay up."""
    if _CLUSTER.search(reading.excerpt):
        yield Fix("The node's driver was updated under its running module: take its pods away, restart it, and let it have pods again", on.linux("kubectl drain NODE --ignore-daemonsets --delete-emptydir-data && ssh NODE sudo reboot; kubectl uncordon NODE"), root=True, reboot=True)  # fmt: skip
    elif _STAYS_UP.search(reading.excerpt):
        yield Fix(_RELOAD_TEXT[0].upper() + _RELOAD_TEXT[1:], _RELOAD, root=True)


def _version(reading: Reading, signature: str) -> str:
    return next((one.get("version") for one in reading.all(signature)), "")


def _named(symptoms: Sequence[Symptom], reading: Reading) -> Iterator[Fix]:
    """A library older than the running module is left over from an earlier driver: a restart keeps it."""
    yield from _at_node(reading)
    both = next(reading.all("tf.dso_mismatch"), None)
    old = both.get("library") if both else _version(reading, "tf.libcuda_version")
    new = both.get("kernel") if both else _version(reading, "tf.kernel_version")
    if numbers(old) and numbers(new) and (reading.told.container or _CONTAINER.search(reading.excerpt)):
        text = f"The host's module is {new}, and this container brings a libcuda of {old}: leave its /usr/local/cuda/compat out"
        yield Fix(text, on.linux("docker run --gpus all -e LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu IMAGE"))
        if numbers(old) > numbers(new):
            yield Fix(f"Or update the host's driver to {old} or newer", NEWEST_DRIVER, root=True, reboot=True)
        return
    if not (numbers(old) and numbers(old) < numbers(new)):
        return
    text = f"The libcuda that is found, {old}, is older than the running module, {new}: it is left over from an earlier driver. Find the copies"
    yield Fix(text, on.linux("ldconfig -p | grep libcuda.so; find / -name 'libcuda.so.*' 2>/dev/null"), safe=True)
    branch = numbers(new)[0]
    package = f"libnvidia-compute-{branch}" if branch >= 390 else f"libcuda1-{branch}"
    yield Fix(
        f"Delete the one of {old} (or the package that holds it), then install the module's own again",
        on.linux(f"sudo apt install --reinstall {package} && sudo ldconfig"),
        root=True,
    )


def _apart(s: Symptom, r: Reading) -> bool:
    """The two numbers are of different releases."""
    both = [s.get("client"), s.get("kernel")]
    return not both[0].startswith(both[1]) and not both[1].startswith(both[0])


TEXT = Text(
    "driver.library_mismatch",
    signatures=(
        error("nvidia.versions_apart",
              r"\b(?:nvml|rm|driver|library|client)/(?:rm|kernel|library|module|driver)(?: module)? version mismatch",
              "version mismatch", covers=("title.", "python.")),
        error("nvidia.two_drivers",
              r"\b(?:nvml|library|libraries|user[- ]space|libcuda|libnvidia-ml|nvidia-utils\S{0,5}|client"
              r"|nvidia-smi)\b[^\n\d]{0,40}(?P<client>[3-6]\d\d\.\d{2,3}(?:\.\d{2})?)\b[^\n\d]{0,60}\b(?:kernel(?: module"
              r"| driver| side)?|module|nvrm|driver/nvidia/version"
              r"|loaded)\b[^\n\d]{0,24}(?P<kernel>[3-6]\d\d\.\d{2,3}(?:\.\d{2})?)\b"
              r"|\b(?:kernel(?: module| driver| side)?|module|nvrm"
              r"|driver/nvidia/version)\b[^\n\d]{0,24}(?P<kernel2>[3-6]\d\d\.\d{2,3}(?:\.\d{2})?)\b[^\n\d]{0,60}\b(?:nvml"
              r"|library|libraries|user[- ]space|libcuda|libnvidia-ml|nvidia-utils\S{0,5}"
              r"|client)\b[^\n\d]{0,40}(?P<client2>[3-6]\d\d\.\d{2,3}(?:\.\d{2})?)\b",
              "kernel", "module", "nvrm", "driver/nvidia/version", "loaded", covers=("title.",)),
        error("kernel.api_mismatch", r"nvrm: api mismatch(?:[^\n]*version (?P<client>[\d.]+))?|this kernel module has the version"
              r"|(?:the client has the version)", "api mismatch", "this kernel module has", "the client has the version"),
        error("nvidia.mismatch", r"driver/library version mismatch|nvml_error_lib_rm|lib/?rm version mismatch|nvml(?:'s)? (?:library )?version mismatch", "version mismatch"),
    ),
    clues=(
        ("wsl.smi_crash", 3.8, "nvidia-smi itself crashes, as where its library and the driver are of different releases"),
        ("nvidia.two_drivers", 4.8, "the driver's libraries are of {client}, its kernel module of {kernel}", _apart),
        ("nvidia.versions_apart", 5.0, "the driver's libraries and its kernel module are of different versions"),
        ("nvidia.mismatch", 5.2, "the driver's libraries and its kernel module are of different versions"),
        ("nvml.lib_rm_version_mismatch", 5.2, "the driver's libraries and its kernel module are of different versions"),
        ("kernel.api_mismatch", 5.2, "the kernel module and the driver library have different versions"),
        ("tf.dso_mismatch", 3.2, "the kernel module is {kernel}, the library {library}", BARE),
        ("tf.dso_mismatch", 2.4, "the kernel module is {kernel}, the library {library}", in_container),
        ("cuda.system_driver_mismatch", 3.6, "driver version mismatch: libcuda and the kernel module have different versions (error 803)", no(with_("told.compat", "tf.dso"))),
        ("cuda.system_driver_mismatch", 2.6, "driver version mismatch: libcuda and the kernel module have different versions (error 803)", with_("told.compat", "tf.dso")),
        ("cuda.compat_not_supported_on_device", 2.2, "libcuda is newer than the kernel module (error 804)"),
        ("torch.nvml_init", 3.4, "NVML did not initialise inside PyTorch; this happens after an update without a reboot"),
        ("torch.nvml_cant", 2.0, "NVML does not initialise"),
        ("title.804", 1.8, "803 is the number of a mismatched driver", field("digit", "3")),
        ("told.module", 0.5, "a kernel module version is named"),
        ("tf.cuinit", 4.2, "libcuda and the kernel module are of different versions", all_of(drivers_differ, BARE, no(with_("cuda.compat_not")))),
        ("tf.cuinit", 3.0, "libcuda and the kernel module are of different versions", all_of(drivers_differ, no(with_("cuda.compat_not")))),
        ("told.after_update", 1.4, "it began with an update of the system", with_("nvidia.", "nvml.", "cuda.", "torch.no_")),
        ("told.after_reboot", 1.0, "a restart of the machine cures it", with_("nvidia.mis", "nvml.", "cuda.system")),
        ("title.trouble", 0.9, "versions of the driver are said to be wrong", said_of(r"driver[^\n]{0,40}(?:version|mismatch)")),
        ("title.trouble", 0.1, SAID_TO_FAIL, nothing_else),
    ),
    remedies=(
        meant("In a container, where a driver was installed inside it: remove those packages, and start it anew; the driver is the host's",
              on.linux("apt purge 'nvidia-driver-*' 'nvidia-utils-*' 'libnvidia-compute-*'    # inside the container; then, on the host: docker restart CONTAINER"),
              line="failed to initialize nvml", said="nvidia. nvml.", by="container docker", more=True, unless="kubernetes plugin"),
        meant("Restart, so that the kernel loads the module of the installed version", on.host("sudo reboot"), root=True, reboot=True),
        meant("Outside a container: restart, so that the kernel loads the module of the installed version", on.host("sudo reboot"),
              said="cuda.system_driver_mismatch", root=True, reboot=True, unless="container"),
        meant("In a container: its own libcuda, of /usr/local/cuda/compat, may be found before the host's; leave it out",
              on.linux("docker run --gpus all -e LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu IMAGE"), said="cuda.system_driver_mismatch"),
        meant(f"Or {_RELOAD_TEXT}", _RELOAD, root=True),
        meant("If the error stays: finish an interrupted upgrade of the driver packages", on.host("sudo apt install --fix-broken"), root=True),
    ),
    admitted_by=(*NO_GPU, *NO_CUDNN, *NO_START, *NO_ANSWER, *NO_DRIVER),
    named=_named,
)  # fmt: skip
